"""Databases that rows are kept in: SQLite and PostgreSQL; how they are opened, migrated and used."""

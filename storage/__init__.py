"""Databases that rows are kept in: an SQLite file or memory, and PostgreSQL; how they are opened, migrated and used."""

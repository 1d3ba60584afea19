"""Databases for rows: SQLite and PostgreSQL, with their opening, migration and use."""

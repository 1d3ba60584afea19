"""The databases that a store stands on: an SQLite file or memory, and PostgreSQL."""

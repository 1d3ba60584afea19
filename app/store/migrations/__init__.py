"""Migration of tables of an earlier version: alembic's revisions, run when a store is opened."""

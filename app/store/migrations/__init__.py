"""How the tables of an earlier version become this one's: alembic's revisions, run when a store is opened."""

"""How the ledgers' tables of an earlier version become this one's: alembic's revisions, run when books are opened."""

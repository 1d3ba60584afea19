"""The store of jobs: an SQLite file that one service has for itself, or a PostgreSQL database that replicas share.

Every method blocks, and is called in a thread; any number of threads may call at the same time.
"""

from __future__ import annotations

from epsilond.app.settings import PREFIX, Settings
from epsilond.app.store.adding import Adding
from epsilond.app.store.opening import opened, url_of
from epsilond.app.store.retention import Retention
from epsilond.storage.faults import shown
from epsilond.storage.transactions import Database


class Store(Adding, Retention):
    """Jobs and their results, where a restart, or another replica, finds them again."""

    @classmethod
    def open(cls, settings: Settings) -> Store:
        """The store of these settings, made if it is not there, and brought to this version if it is an earlier one's.

        What ran in a store that is not shared was left by a service that is gone, and is queued again.

        Raises:
            StoreLocked: another service on this machine has its file.
            StoreUnavailable: it cannot be read or written.
        """
        store = cls(opened(settings))
        if not store.shared:
            store.recover()
        return store

    @classmethod
    def fallback(cls, settings: Settings) -> tuple[Store, str]:
        """A store in memory, for a service whose file another one has, and the sentence that tells of it."""
        memory = settings.model_copy(update={"store_path": ":memory:", "store_url": ""})
        sentence = (
            f"Another service keeps its jobs and ledgers in {shown(url_of(settings))}; this one has a store in memory,"
            f" and forgets what is in it when it stops. Give it a file of its own with {PREFIX}STORE_PATH."
        )
        return cls.open(memory), sentence

    @property
    def database(self) -> Database:
        """Where the jobs are, for what is kept beside them."""
        return self._database

    def close(self) -> None:
        """Let go of the database and its lock; what is called afterwards is a StoreFault."""
        self._database.close()

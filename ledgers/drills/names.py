"""Names of the drills, apart from the drills so that the help of a command imports no database."""

from __future__ import annotations

from enum import StrEnum


class DrillName(StrEnum):
    """Name of a drill.

    Attributes:
        BACKUP_AND_RESTORE: copies of the database are restored.
        ROLLBACK: the database goes back in time under a running process.
        LAGGING_STANDBY: a standby that lacks entries is promoted.
        LOST_KEYS: the keys that sign are lost.
        KEY_ROTATION: another key signs from now on.
        CHANGED_ROW: a row is changed by SQL.
        WITNESS: the database goes back in time, and only a witness has the newest head.
    """

    BACKUP_AND_RESTORE = "backup-and-restore"
    ROLLBACK = "rollback"
    LAGGING_STANDBY = "lagging-standby"
    LOST_KEYS = "lost-keys"
    KEY_ROTATION = "key-rotation"
    CHANGED_ROW = "changed-row"
    WITNESS = "witness"

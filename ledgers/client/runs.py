"""Notes on used receipts, written durably before the work begins, so that no restart runs twice on one receipt.

A receipt is valid for one run, and used once its note is on the disk. A process that dies after that has spent the run.
A process that dies before it has committed runs that are never begun. Either way budget is lost and never gained. The
notes stay for ever, because they are small, and because a deleted note would allow a second run on one commit.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from epsilond.ledgers.client.errors import ReceiptUsed
from epsilond.ledgers.log.canonical import canonical
from epsilond.ledgers.log.receipts import Receipt
from epsilond.storage.replacing import create_file

HEAD: Final = "head"
"""Name of the file with the newest head of a file's log, which `book.restore.CheckpointFile` writes and reads."""


class RunNotes:
    """Folder with a file for each used receipt, so that no run is executed twice with one receipt.

    A receipt proves that the budget of a run was spent. All processes that may get the same receipt must use the same
    folder.
    """

    def __init__(self, folder: Path) -> None:
        """Use a folder, which is made at the first write.

        Args:
            folder: the folder, the same for all processes that may get the same receipt.
        """
        self.folder = folder

    def begin(self, receipts: Sequence[Receipt]) -> None:
        """Mark receipts as used, before their run begins. The marks are on the disk when the method returns.

        Args:
            receipts: receipts of committed runs; each permits one run.

        Raises:
            ReceiptUsed: a receipt was marked before, by any process with the same folder.
            OSError: a mark cannot be written; nothing may be run.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # only for its owner
        for receipt in receipts:
            self._note(receipt)
        _flush_folder(self.folder)

    @property
    def head(self) -> Path:
        """Path of the file with the newest head of a log, which is not in the log's database."""
        return self.folder / HEAD

    def _note(self, receipt: Receipt) -> None:
        """Mark one receipt as used, by a new file with its entry, this process and the time.

        A receipt permits one run. Creating a file fails if it exists, also when two processes try at the same time.

        Args:
            receipt: receipt of committed runs. Its digest determines the name of the file.

        Raises:
            ReceiptUsed: the file exists already, so that a run was begun with this receipt.
        """
        # The file is created only if it does not exist, so that of several processes only one can use the receipt.
        entry = receipt.entry
        note = {name: entry[name] for name in ("seq", "ledger", "reservation", "count") if name in entry}
        process = {"process": os.getpid(), "host": socket.gethostname(), "at": int(time.time())}
        try:
            create_file(self._path(receipt), json.dumps(note | process).encode())
        except FileExistsError:
            message = "a run was begun with this receipt before, and it is good for one: reserve and commit again"
            raise ReceiptUsed(f"entry {entry.get('seq')}: {message}") from None

    def _path(self, receipt: Receipt) -> Path:
        """Return the path of the file that marks a receipt as used.

        Args:
            receipt: receipt of committed runs. The digest of its log entry is the name of the file.
        """
        digest = hashlib.sha256(canonical(receipt.entry)).hexdigest()
        return self.folder / f"{digest}.json"


def _flush_folder(folder: Path) -> None:
    """Flush the list of files in a folder to the disk, so that a new file survives a crash of the machine.

    Nothing is done on a system that cannot open a folder, such as Windows.

    Args:
        folder: the folder, which exists.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

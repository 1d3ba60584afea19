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
"""Name of the file with the newest signed head (size and Merkle root) of a log.

`book.restore.CheckpointFile` writes and reads it.
"""


class RunNotes:
    """Folder with a file for each used receipt, which prevents a second run with the same receipt.

    A receipt proves that the budget of a run was spent. All processes that may get the same receipt must use the same
    folder.
    """

    def __init__(self, folder: Path) -> None:
        """Store the path of the folder, which is made when the first receipt is used."""
        self.folder = folder

    def begin(self, receipts: Sequence[Receipt]) -> None:
        """Mark receipts as used, before their run begins. The marks are on the disk when the method returns.

        If the method raises an error, some of several receipts may be marked.

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
        """Path of the file with the newest signed head (size and Merkle root) of a log."""
        return self.folder / HEAD

    def _note(self, receipt: Receipt) -> None:
        """Mark one receipt as used, by a new file with its entry, this process and the time.

        The creation fails if the file exists, so that only one of several simultaneous processes can use the receipt.

        Args:
            receipt: receipt of committed runs.

        Raises:
            ReceiptUsed: the file exists already, so that a run was begun with this receipt.
        """
        entry = receipt.entry
        note = {name: entry[name] for name in ("seq", "ledger", "reservation", "count") if name in entry}
        process = {"process": os.getpid(), "host": socket.gethostname(), "at": int(time.time())}
        try:
            create_file(self._path(receipt), json.dumps(note | process).encode())
        except FileExistsError:
            message = "a run was begun with this receipt before, and it is good for one: reserve and commit again"
            raise ReceiptUsed(f"entry {entry.get('seq')}: {message}") from None

    def _path(self, receipt: Receipt) -> Path:
        """Return the path of the file that marks a receipt as used, named by the digest of the receipt's log entry."""
        digest = hashlib.sha256(canonical(receipt.entry)).hexdigest()
        return self.folder / f"{digest}.json"


def _flush_folder(folder: Path) -> None:
    """Flush the list of files in a folder to the disk, so that new files survive a crash of the machine.

    A system that cannot open a folder, such as Windows, gives no such guarantee.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

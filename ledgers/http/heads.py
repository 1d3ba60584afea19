"""Heads of the log outside its database, in a file and with witnesses. They are kept before a move is answered."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import structlog

from epsilond.app.http.problems import Problem
from epsilond.app.settings import Settings
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.commits import MOST_TOGETHER
from epsilond.ledgers.book.errors import HeadUnavailable, NotReconciled
from epsilond.ledgers.cosigning.quorum import TooFewCosignatures, WitnessQuorum
from epsilond.ledgers.cosigning.remote import HeadRejected, read_addresses
from epsilond.ledgers.http.refusals import SOON
from epsilond.storage.together import Together

PAUSE: Final = 10.0
"""Time in seconds for which the head is answered without new cosignatures, after too few were given."""
AGAIN: Final = "Send it again with the same Idempotency-Key."


class KeptHeads:
    """Keeper of the log's signed heads outside the database: in a file, and at witnesses that cosign them.

    A head is the log's size with its Merkle root. A later head reveals a database that was restored from an old copy.
    Every method blocks, and may be called in any thread.
    """

    def __init__(self, book: Book, settings: Settings) -> None:
        """Prepare the checks of the log's heads, without reading a file or connecting to witnesses.

        Args:
            book: the ledgers, with the file for the log's head.
            settings: settings of the service, with the addresses of witnesses.
        """
        self._book = book
        addresses = read_addresses(settings.ledger_witnesses)
        self._witnesses = WitnessQuorum(addresses, settings.ledger_witnesses_needed, self._reject)
        self._queue = Together(self._keep, most=MOST_TOGETHER)
        self._paused_until = 0.0
        self._log = structlog.get_logger()

    def begin(self) -> None:
        """Check at the start of the service that the log has lost no entries. Problems are logged, and not raised.

        The log is compared with its known heads, that is, its size and Merkle root at earlier times.
        """
        # A failure to write the file is not fatal here: every change is answered 503 until the file can be written.
        try:
            self._book.continuity.begin(self._book.root, self._book.sign_as_it_is)
        except OSError as error:
            self._log.error("the checkpoint cannot be kept elsewhere", reason=error.strerror)

        try:
            self._book.require_continued()
            if self._witnesses.exists:
                self.keep()
        except (NotReconciled, HeadUnavailable) as trouble:
            self._log.error("ledgers refuse moves until they are reconciled", reason=str(trouble))
        except Problem:
            self._log.warning("ledgers refuse moves until the head of the log is kept elsewhere")

    def require(self) -> None:
        """Check before a change of ledgers that enough witnesses signed the latest head that they were sent.

        A head is the log's size and Merkle root. If too few signed it, the present head is stored and sent to them.

        Raises:
            NotReconciled: the log lacks entries that it had before.
            Problem: the head cannot be stored, or too few witnesses cosigned it. Nothing was written.
        """
        if not self._witnesses.is_confirmed:
            self.keep()

    def keep(self) -> None:
        """Store the log's present head (size and Merkle root) outside the database, and let the witnesses sign it.

        Nothing is done if the service has neither a file for the head nor witnesses. For calls that wait at the same
        time, the head is read and stored once.

        Raises:
            NotReconciled: the log lacks entries that it had before.
            Problem: the head cannot be stored, or too few witnesses cosigned it. Changes that were made stay, and a
                repeated request with the same key is answered.
        """
        if self._book.continuity.has_file or self._witnesses.exists:
            self._queue.submit(None)  # a call has no argument: `_keep` reads the head later

    def checkpoint(self) -> str:
        """Return the log's signed head, its size and Merkle root, with the signatures of witnesses.

        A witness is another party that signs a head only if it continues the earlier ones. Missing signatures are
        requested first, except for `PAUSE` seconds after a failed request.

        Returns:
            The signed note of the head, with the signatures of witnesses that are available.

        Raises:
            NotReconciled: the log lacks entries that it had before.
        """
        note = self._book.checkpoint()
        is_paused = time.monotonic() <= self._paused_until
        if self._witnesses.exists and not is_paused and not self._witnesses.has_cosigned(note):
            with suppress(Problem):  # the head is then shown with fewer cosignatures
                self.keep()
            note = self._book.checkpoint()
        return self._witnesses.cosignatures(note)

    def accept(self, note: str) -> None:
        """Accept a log that may have lost entries, as its operator declares, and forget its earlier heads.

        A head is the log's size and Merkle root. Witnesses get the present head, and may still reject it.

        Args:
            note: the signed head of the log.

        Raises:
            OSError: the file cannot be written.
        """
        self._book.continuity.accept(note)
        self._witnesses.begin_again()
        if self._witnesses.exists:
            self.begin()

    def close(self) -> None:
        """Close the connections to the witnesses."""
        self._witnesses.close()

    def _keep(self, calls: Sequence[None]) -> Sequence[None]:
        """Store the log's head (size and Merkle root) outside the database, once for several calls of `keep`.

        A queue collects the calls and runs this function for all that wait.

        Args:
            calls: one None for each call, as `keep` has no arguments.

        Returns:
            One None for each call, as the results of these calls.

        Raises:
            NotReconciled: a witness has cosigned more or other entries than the log has.
            Problem: the head cannot be stored, or too few witnesses cosigned it.
        """
        note = self._book.checkpoint()
        try:
            self._book.continuity.keep(note, self._book.root)
        except OSError as error:
            self._log.error("the checkpoint cannot be kept elsewhere", reason=error.strerror)
            detail = f"The newest checkpoint cannot be kept elsewhere. {AGAIN}"
            raise Problem("unavailable", detail, headers=SOON) from None
        # The witnesses sign the head only after it is stored.
        if self._witnesses.exists:
            self._cosign(note)
        return calls

    def _cosign(self, note: str) -> None:
        """Let the witnesses, other parties, sign a head of the log: its size and Merkle root.

        Args:
            note: text of the head, signed by the log.

        Raises:
            NotReconciled: a witness has cosigned more or other entries than the log has.
            Problem: too few witnesses cosigned the head. `checkpoint` then does not try again for `PAUSE` seconds.
        """
        try:
            self._witnesses.cosign(note, self._book)
        except HeadRejected as rejected:
            raise NotReconciled(str(rejected)) from None
        except TooFewCosignatures as few:
            self._paused_until = time.monotonic() + PAUSE
            self._log.error("too few witnesses cosigned the head of the log", reason=str(few))
            detail = f"Too few witnesses have cosigned the head of the log. {AGAIN}"
            raise Problem("unavailable", detail, headers=SOON) from None

    def _reject(self, rejected: HeadRejected) -> None:
        """Block all changes of ledgers, because a witness has signed a head that the log does not continue.

        If the log just lacks the last entries of that head, the block ends as soon as it has them.

        Args:
            rejected: the witness's answer, with the size of the head that it cosigned.
        """
        self._log.error("a witness has cosigned another head of the log", reason=str(rejected), size=rejected.size)
        size_to_reach = rejected.size if rejected.has_fewer else None
        self._book.continuity.reject(str(rejected), size_to_reach)

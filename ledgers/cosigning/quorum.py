"""The witnesses of one log: each head is shown to all of them at one time, and so many must cosign it."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from epsilond.ledgers.cosigning.remote import (
    LONGEST,
    TIMEOUT,
    HeadRejected,
    RemoteWitness,
    ShownLog,
    WitnessAddress,
    WitnessUnavailable,
)
from epsilond.ledgers.log import notes
from epsilond.ledgers.log.notes import Note, NoteSignature

PATIENCE: Final = LONGEST + TIMEOUT
"""Longest wait in seconds for the cosignatures of one head."""


class TooFewCosignatures(Exception):
    """Fewer witnesses than are needed have cosigned the head in time. The message has the reason of each."""


@dataclass(frozen=True)
class _CosignedHead:
    """The newest head of a log (its size and Merkle root) that a witness, that is, another party, has signed.

    Attributes:
        size: number of entries of the log.
        text: signed text of the head.
        lines: signature lines of the witnesses, by the text of each witness's public key (its vkey).
    """

    size: int
    text: str
    lines: Mapping[str, NoteSignature]


_NO_HEAD: Final = _CosignedHead(-1, "", {})
"""Initial value, which is smaller than every head."""


class WitnessQuorum:
    """The witnesses of one log: other parties that sign a head of the log only if it continues their earlier ones.

    A head is the log's size with its Merkle root. Call `cosign` in one thread at a time, and the other methods in any
    thread.

    Attributes:
        is_confirmed: whether as many witnesses as are needed cosigned the head that was shown last.
    """

    def __init__(
        self, addresses: Sequence[WitnessAddress], needed: int, on_rejection: Callable[[HeadRejected], None]
    ) -> None:
        """Prepare the requests to witnesses, other parties that sign heads of the log. Nothing is sent yet.

        A head is the log's size and Merkle root.

        Args:
            addresses: the witnesses.
            needed: number of witnesses that must cosign a head; 0 if all must.
            on_rejection: called when a witness has cosigned a head that the log does not continue. The call may come
                from any thread.
        """
        self._witnesses = [RemoteWitness(address) for address in addresses]
        self._needed = needed or len(addresses)
        self._on_rejection = on_rejection
        self._busy: set[RemoteWitness] = set()
        self._lock = threading.Lock()
        self._newest = _NO_HEAD
        self.is_confirmed = not addresses

    @property
    def exists(self) -> bool:
        """True if there are witnesses."""
        return bool(self._witnesses)

    def cosign(self, note: str, log: ShownLog) -> None:
        """Have witnesses sign a head of the log, and return once enough have signed it or a later one.

        A head is the log's size and Merkle root. A witness that still works on an earlier head is skipped, and counts
        as unreachable.

        Args:
            note: the signed head.
            log: provides consistency proofs, and the present head.

        Raises:
            HeadRejected: a witness has cosigned a head with more or other entries than the log.
            TooFewCosignatures: fewer witnesses than needed cosigned the head in time.
        """
        try:
            self._cosign(note, log)
        except BaseException:
            self.is_confirmed = False
            raise
        self.is_confirmed = True

    def _cosign(self, note: str, log: ShownLog) -> None:
        """Have all witnesses that are not busy sign a head of the log, each in a thread.

        A head is the log's size and Merkle root. A witness that answers after the return stores its cosignature all the
        same, so that `has_cosigned` counts it.

        Args:
            note: the signed head.
            log: provides consistency proofs, and the present head.

        Raises:
            HeadRejected: a witness has cosigned a head with more or other entries than the log.
            TooFewCosignatures: fewer witnesses than needed cosigned the head in time. The message has each witness's
                reason.
        """
        with self._lock:
            # A witness that still works on an earlier head gets no second request.
            free = [witness for witness in self._witnesses if witness not in self._busy]
            reasons = [f"The witness {witness.key.name} has not answered yet." for witness in self._busy]
            self._busy.update(free)

        outcomes: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()
        for witness in free:
            threading.Thread(target=self._request_cosignature, args=(witness, note, log, outcomes), daemon=True).start()

        # Return as soon as enough witnesses have signed. A rejection is raised at once, because the log may have lost
        # entries.
        cosigned = 0
        for error in _receive_outcomes(outcomes, len(free)):
            if error is None:
                cosigned += 1
                if cosigned >= self._needed:
                    return
            elif isinstance(error, WitnessUnavailable):
                reasons.append(str(error))
            else:
                raise error
        raise TooFewCosignatures(f"{cosigned} of {self._needed} witnesses cosigned. {' '.join(reasons)}")

    def cosignatures(self, note: str) -> str:
        """Return a signed head of the log with the signatures that witnesses have added to it so far.

        A witness is a party that signs heads of logs. Its signature is a further line of the signed note.

        Args:
            note: the head with the signatures of the log, as a signed note.

        Returns:
            The note, with one more signature line for each of these witnesses.
        """
        head = notes.parse(note)
        with self._lock:
            newest = self._newest
        if newest.text != head.text:  # the stored signatures belong to the newest head only
            return str(head)
        cosignatures = tuple(newest.lines.values())
        return str(Note(head.text, head.signatures + cosignatures))

    def has_cosigned(self, note: str) -> bool:
        """Return whether as many witnesses as are needed have cosigned this very head, and not only a later one.

        Args:
            note: signed note of the head (size and Merkle root of the log).

        Returns:
            True if there are enough signatures of this head.
        """
        text = notes.parse(note).text
        with self._lock:
            return self._newest.text == text and len(self._newest.lines) >= self._needed

    def begin_again(self) -> None:
        """Forget the heads (sizes and Merkle roots of the log) that witnesses cosigned.

        Witnesses are other parties that check the log. An operator has accepted the log, which may not continue these
        heads. So the witnesses are shown the next head as if it were the first.
        """
        self.is_confirmed = not self._witnesses  # without witnesses nothing has to be confirmed
        for witness in self._witnesses:
            witness.known = 0
        with self._lock:
            self._newest = _NO_HEAD

    def close(self) -> None:
        """Close the connections to the witnesses."""
        for witness in self._witnesses:
            witness.close()

    def _request_cosignature(
        self, witness: RemoteWitness, note: str, log: ShownLog, outcomes: queue.SimpleQueue[Exception | None]
    ) -> None:
        """Request one witness to sign a head of the log (size and Merkle root), and store its signature.

        The method runs in a thread of its own, so that errors are put into a queue.

        Args:
            witness: the witness.
            note: the signed head.
            log: provides consistency proofs, and the present head.
            outcomes: queue that gets None after a cosignature, or otherwise the error.
        """
        error: Exception | None = None
        try:
            text, line = witness.cosign(note, log)
            self._store(witness, text, line)
        except HeadRejected as rejected:
            self.is_confirmed = False
            self._on_rejection(rejected)
            error = rejected
        except Exception as failure:  # noqa: BLE001 (the caller of `cosign` raises it)
            error = failure
        with self._lock:
            self._busy.discard(witness)
        outcomes.put(error)

    def _store(self, witness: RemoteWitness, text: str, line: NoteSignature) -> None:
        """Store a witness's signature of a head of the log, unless witnesses have signed a newer head by now.

        A witness is another party that signs heads of the log.

        Args:
            witness: the witness. Its attribute `known` is the size of the head that it cosigned.
            text: text of the head.
            line: the cosignature.
        """
        with self._lock:
            newest = self._newest
            if witness.known < newest.size:
                return
            earlier_lines = newest.lines if newest.text == text else {}  # cosignatures of another head are dropped
            lines = {**earlier_lines, witness.key.vkey: line}
            self._newest = _CosignedHead(witness.known, text, lines)


def _receive_outcomes(outcomes: queue.SimpleQueue[Exception | None], count: int) -> Iterator[Exception | None]:
    """Yield the outcomes of requests to witnesses as they arrive, for at most `PATIENCE` seconds in all.

    If an outcome is missing then, one error is yielded and the iteration ends.

    Args:
        outcomes: queue into which the witnesses' threads put their outcomes.
        count: number of witnesses.

    Yields:
        None for a signature of a witness, or the error of a request.
    """
    deadline = time.monotonic() + PATIENCE
    for _ in range(count):
        try:
            outcome = outcomes.get(timeout=max(deadline - time.monotonic(), 0.0))
        except queue.Empty:
            yield WitnessUnavailable("A witness does not answer in time.")
            return
        yield outcome

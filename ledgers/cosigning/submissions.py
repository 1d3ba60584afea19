"""The body of `POST /add-checkpoint` (c2sp.org/tlog-witness): a known size, a consistency proof and a checkpoint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from epsilond.ledgers.log.encodings import from_base64, to_base64
from epsilond.ledgers.log.errors import Malformed
from epsilond.ledgers.log.tree import HASH_BYTES

ADD_CHECKPOINT: Final = "/add-checkpoint"
"""Path of the request, below the URL of the witness."""
SIZE_TYPE: Final = "text/x.tlog.size"
"""Media type of the answer 409, whose text is the size that the witness knows."""
MOST_HASHES: Final = 63
"""Largest number of lines of a proof; C2SP sets it."""
_OLD: Final = re.compile(r"old (0|[1-9][0-9]{0,18})")


@dataclass(frozen=True)
class Submission:
    """Request to a witness to sign a checkpoint, a log's size and Merkle root, too (C2SP tlog-witness).

    Attributes:
        old: size of the log when the witness signed last, as far as the log knows; 0 if it signed none.
        path: hashes of the consistency proof from that size.
        note: the checkpoint to sign, as a note that the log has signed.
    """

    old: int
    path: tuple[bytes, ...]
    note: str

    def to_bytes(self) -> bytes:
        """Return the body of the request: the line `old N`, the hashes in base 64, an empty line, and the note."""
        lines = (f"old {self.old}", *map(to_base64, self.path), "", self.note)
        return "\n".join(lines).encode()

    @classmethod
    def of_bytes(cls, body: bytes) -> Submission:
        """Read the body of a request. Neither the note nor the proof is verified.

        By the request, a log wants a witness to sign its newest head. The proof shows that the log continues the head
        that the witness signed last.

        Args:
            body: the line `old N`, the hashes of the proof, an empty line, and the signed head of the log.

        Returns:
            The submitted note, with the size of the earlier head and the consistency proof.

        Raises:
            Malformed: the body is not UTF-8 or has another form.
        """
        try:
            head, empty_line, note = body.decode("utf-8").partition("\n\n")
        except UnicodeDecodeError:
            raise Malformed("the body is not in UTF-8") from None

        # The head is the line "old N", with the size that the witness signed last, and one line for each hash of the
        # proof.
        size_line, *hash_lines = head.split("\n")
        size_match = _OLD.fullmatch(size_line)
        if not empty_line or size_match is None:
            raise Malformed("the body begins with a line 'old N', and has an empty line before the checkpoint")
        if len(hash_lines) > MOST_HASHES:
            raise Malformed(f"the proof has more than {MOST_HASHES} lines")
        path = tuple(map(from_base64, hash_lines))
        if any(len(value) != HASH_BYTES for value in path):
            raise Malformed(f"each line of the proof is a hash of {HASH_BYTES} bytes")
        known_size = int(size_match.group(1))
        return cls(known_size, path, note)

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
    """Request of a log to a witness to cosign a checkpoint, its size and Merkle root (C2SP tlog-witness).

    Attributes:
        old: size of the log in the checkpoint that the witness signed last, as far as the log knows; 0 if none.
        path: hashes of the proof that the log continues that checkpoint, at most `MOST_HASHES`.
        note: the new checkpoint, as a note that the log has signed.
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
        """Parse the body of a request. Neither the note nor the proof is verified.

        Args:
            body: the line `old N`, one line for each hash of the proof in base 64, an empty line, and the note.

        Raises:
            Malformed: the body is not UTF-8 or has another form.
        """
        try:
            head, empty_line, note = body.decode("utf-8").partition("\n\n")
        except UnicodeDecodeError:
            raise Malformed("the body is not in UTF-8") from None

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

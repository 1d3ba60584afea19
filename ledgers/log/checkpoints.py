"""Checkpoints (c2sp.org/tlog-checkpoint): the size and the root of a log, signed by the log.

If two checkpoints of one log are inconsistent, the log was rewritten or shows different people different entries. Both
together prove this to anyone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from epsilond.ledgers.log import notes
from epsilond.ledgers.log.encodings import from_base64, to_base64
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.keys import PublicKey, SigningKey
from epsilond.ledgers.log.tree import EMPTY_ROOT, HASH_BYTES, Tree

_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")
"""Pattern of the size of a log: a decimal number of at most 19 digits without leading zeros."""


@dataclass(frozen=True)
class Checkpoint:
    """Head of a log: its size and Merkle root at some time (C2SP tlog-checkpoint).

    Attributes:
        origin: name of the log.
        size: number of its entries.
        root: root of its Merkle tree, 32 bytes.
        extensions: further lines, which are not empty.

    Raises:
        Malformed: the origin, the size, the root or an extension is not valid in a checkpoint.
    """

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that the text of the checkpoint can be read back.

        Raises:
            Malformed: the origin, the size, the root or an extension is not valid in a checkpoint.
        """
        if not all(line and "\n" not in line for line in (self.origin, *self.extensions)):
            raise Malformed("an origin and extensions of a checkpoint are lines that are not empty")
        if not _SIZE.fullmatch(str(self.size)) or len(self.root) != HASH_BYTES:
            raise Malformed("a checkpoint has a size that is not negative and a root of 32 bytes")
        if self.size == 0 and self.root != EMPTY_ROOT:
            raise Malformed("the root of the empty tree is another")

    @property
    def text(self) -> str:
        """Text of the checkpoint that is signed: a line for the origin, the size, the root and each extension."""
        lines = (self.origin, str(self.size), to_base64(self.root), *self.extensions)
        return "".join(f"{line}\n" for line in lines)


def of_tree(tree: Tree, origin: str) -> Checkpoint:
    """Return the unsigned head of a log: its name, its number of entries and its Merkle root.

    Args:
        tree: Merkle tree of the log's entries.
        origin: name of the log.

    Returns:
        The head, which must still be signed.
    """
    return Checkpoint(origin, tree.size, tree.root())


def sign(checkpoint: Checkpoint, *keys: SigningKey) -> str:
    """Return the checkpoint as a signed note.

    Args:
        checkpoint: head (size and Merkle root) of a log that continues all heads that were signed before. This is not
            checked here.
        keys: keys of the log, one or more. Their name is the log's origin.

    Returns:
        The note: the text of the checkpoint, with a signature of each key.
    """
    return str(notes.sign(checkpoint.text, *keys))


def verify(note: str, origin: str, keys: Iterable[PublicKey]) -> Checkpoint:
    """Verify the signature and the origin of a signed note, and return the checkpoint in it.

    A checkpoint is the head of a log: the log's name (origin), its number of entries and its Merkle root.

    Args:
        note: the signed note.
        origin: name of the log.
        keys: trusted keys. Only keys with the log's name are used.

    Returns:
        The checkpoint, which a trusted key has signed.

    Raises:
        NotVerified: the note is not a checkpoint, is of another log, or was signed by none of these keys.
    """
    parsed = notes.parse(note)
    parsed.verify(key for key in keys if key.name == origin)
    checkpoint = parse(parsed.text)
    if checkpoint.origin != origin:
        raise NotVerified(f"the checkpoint is of the log {checkpoint.origin}, not of {origin}")
    return checkpoint


def parse(text: str) -> Checkpoint:
    """Read a checkpoint, the size and the Merkle root of a log, from the text of a note.

    Only the form of the text is checked. The caller must have verified the signatures of the note.

    Args:
        text: the lines origin, size, root in base 64, and extensions, each with a newline.

    Returns:
        The name, the size and the root of the log.

    Raises:
        Malformed: the text is not a checkpoint.
    """
    lines = text.split("\n")[:-1]  # the text after the last newline is empty
    if len(lines) < 3 or not _SIZE.fullmatch(lines[1]):
        raise Malformed("a checkpoint has an origin, a size and a root, each on its line")
    origin, size, root, *extensions = lines
    checkpoint = Checkpoint(origin=origin, size=int(size), root=from_base64(root), extensions=tuple(extensions))
    # Only the exact text of this checkpoint is accepted. For example, text after the last newline was dropped above.
    if checkpoint.text != text:
        raise Malformed("is not a checkpoint")
    return checkpoint

"""Bundles: entries, checkpoints, receipts and consistency proofs of a log, in one file that others verify."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from epsilond.ledgers.log.canonical import Record, canonical, read_json
from epsilond.ledgers.log.errors import Malformed
from epsilond.ledgers.log.proofs import Consistency
from epsilond.ledgers.log.receipts import Receipt

FORMAT: Final = "epsilond-log-bundle-1"
"""Name and version of the format, which each bundle states."""
_ITEM_TYPES: Final = {"checkpoints": str, "entries": dict, "proofs": object, "receipts": dict}
"""Types of the items in each list of a bundle. A proof has any type, because `Consistency.of_record` checks it."""


@dataclass(frozen=True)
class Bundle:
    """Parts of a log in one file, for a person who verifies them. Nothing in it was verified yet.

    A bundle has no keys, because the verifier must get the keys from a trusted source.

    Attributes:
        entries: entries of the log from the first on, without gaps. The log may have more.
        checkpoints: signed notes, each with the size and the Merkle root of the log at some time.
        receipts: receipts of single entries.
        proofs: consistency proofs between checkpoints.
    """

    entries: Sequence[Record] = ()
    checkpoints: Sequence[str] = ()
    receipts: Sequence[Receipt] = ()
    proofs: Sequence[Consistency] = ()

    def to_bytes(self) -> bytes:
        """Return the bundle as canonical JSON, so that equal bundles give equal bytes.

        The members are `format`, `entries`, `checkpoints`, `receipts` and `proofs`.

        Returns:
            The JSON text in UTF-8.
        """
        return canonical(
            {
                "format": FORMAT,
                "entries": self.entries,
                "checkpoints": self.checkpoints,
                "receipts": [item.record for item in self.receipts],
                "proofs": [item.record for item in self.proofs],
            }
        )

    @classmethod
    def of_bytes(cls, text: bytes) -> Bundle:
        """Read a bundle of a log's entries, heads and proofs from its JSON text.

        Args:
            text: JSON text in any form. An absent list is read as empty.

        Returns:
            The bundle; its proofs and signatures are not verified.

        Raises:
            Malformed: the text is not a bundle of the present format.
        """
        record = read_json(text)
        has_known_members = record.keys() <= {"format", *_ITEM_TYPES}
        if record.get("format") != FORMAT or not has_known_members:
            raise Malformed(f"a bundle has the format {FORMAT} and {', '.join(_ITEM_TYPES)}")

        lists: dict[str, list[Any]] = {name: record.get(name, []) for name in _ITEM_TYPES}
        for name, items in lists.items():
            if not isinstance(items, list):
                raise Malformed(f"{name} of a bundle is a list")
        for name, items in lists.items():
            if not all(isinstance(item, _ITEM_TYPES[name]) for item in items):
                raise Malformed(f"{name} of a bundle has other content")
        receipts = [Receipt.of_record(item) for item in lists["receipts"]]
        proofs = [Consistency.of_record(item) for item in lists["proofs"]]
        return cls(
            entries=tuple(lists["entries"]),
            checkpoints=tuple(lists["checkpoints"]),
            receipts=tuple(receipts),
            proofs=tuple(proofs),
        )

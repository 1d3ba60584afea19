"""The test vectors of docs/ledger-format.md, from fixed keys and a fixed log."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.log import checkpoints, receipts, statements
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.canonical import canonical, digest, read_json
from epsilond.ledgers.log.encodings import to_base64
from epsilond.ledgers.log.errors import Malformed
from epsilond.ledgers.log.keys import SigningKey
from epsilond.ledgers.log.proofs import Consistency, Inclusion
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.log.statements import SignedStatement
from epsilond.ledgers.log.tree import MemoryNodes, Tree, leaf_hash
from scripts.ledger_vectors.entries import every_kind, short
from scripts.ledger_vectors.tampering import cases

FORMAT = "epsilond-ledger-vectors-1"
ORIGIN, WITNESS = "ledger.example/log", "witness.example/w1"
SEEDS = {ORIGIN: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", WITNESS: "02".zfill(64)}
"""Private keys of Ed25519 in hexadecimal digits: the first is published in RFC 8032, section 7.1, test 1."""
SINCE = datetime(2027, 1, 1, tzinfo=UTC)
COSIGNED_AT = 1_800_100_000
"""Time of the cosignature, in seconds since 1970."""
EARLY, MIDDLE = 3, 5
"""Sizes of the short log at its earlier checkpoints."""
FIRST_RECEIPT, SECOND_RECEIPT = 2, 6
"""Places of two commits in the short log."""
CANONICAL = (
    '{"b": 1, "a": [true, null, "\\u20ac\\u0007\\n\\/"]}',
    '{"\\ud83d\\ude00": 1, "\\ufb33": 2, "\\u00f6": 3}',
    '{"n": 9007199254740991, "m": -0}',
    "{}",
)
NOT_CANONICAL = (
    '{"a": 1.0}',
    '{"a": 9007199254740992}',
    '{"a": 1, "a": 1}',
    '{"a": "\\ud800"}',
    '{"a": NaN}',
    "[]",
    '"a"',
)
ANSWER = b'{"epsilon": 1.5, "delta": 1e-06}'


class Log:
    """A log in memory, which makes checkpoints, receipts and proofs of any of its states.

    Attributes:
        key: key that signs checkpoints and receipts.
        entries: the entries in order.
    """

    def __init__(self, key: SigningKey, entries: Sequence[JsonRecord]) -> None:
        self.key = key
        self.entries = entries
        self._tree = Tree(MemoryNodes()).extend(map(canonical, entries))

    def at(self, size: int) -> Tree:
        """Return the tree of the first entries."""
        return Tree(self._tree.nodes, size)

    def note(self, size: int) -> str:
        """Return the signed checkpoint of the first entries."""
        return checkpoints.sign(checkpoints.of_tree(self.at(size), self.key.name), self.key)

    def receipt(self, index: int, size: int) -> Receipt:
        """Return the receipt of an entry under the checkpoint of the first entries."""
        return receipts.make(self.at(size), index, self.entries[index], self.note(size), self.key)

    def consistency(self, first: int, second: int) -> Consistency:
        """Return the proof between two sizes of the log."""
        return Consistency.of(self.at(second), first)


def signing_key(name: str) -> SigningKey:
    """Return the key of a fixed seed."""
    return SigningKey(name, Ed25519PrivateKey.from_private_bytes(bytes.fromhex(SEEDS[name])))


def cosign(note: str, witness: SigningKey) -> str:
    """Return a signed note with a cosignature of a witness (c2sp.org/tlog-cosignature, type 0x04)."""
    text = note.rpartition("\n\n")[0] + "\n"
    mark = hashlib.sha256(witness.name.encode() + b"\n\x04" + witness.public.raw).digest()[:4]
    signature = witness.sign(f"cosignature/v1\ntime {COSIGNED_AT}\n{text}".encode())
    return f"{note}— {witness.name} {to_base64(mark + COSIGNED_AT.to_bytes(8, 'big') + signature)}\n"


def good_bundle(log: Log) -> Bundle:
    """Return a bundle with the whole log and every kind of evidence."""
    size = len(log.entries)
    return Bundle(
        entries=log.entries,
        checkpoints=[log.note(EARLY), log.note(size)],
        receipts=[log.receipt(FIRST_RECEIPT, MIDDLE), log.receipt(SECOND_RECEIPT, size)],
        proofs=[log.consistency(EARLY, MIDDLE), log.consistency(MIDDLE, size)],
    )


def short_log() -> tuple[Log, JsonRecord]:
    """Return the log that the cases are about, and its published keys."""
    keys = SigningKeys.new(signing_key(ORIGIN), SINCE)
    return Log(keys.signing, short(keys)), keys.document()


def vectors() -> dict[str, Any]:
    """Return the test vectors of the log's format, for implementations of verifiers.

    Returns:
        A JSON object: keys, canonical texts, entries, tree roots, proofs, checkpoints, receipts, a statement and test
        cases.
    """
    key = signing_key(ORIGIN)
    witness = signing_key(WITNESS)
    log = Log(key, every_kind(SigningKeys.new(key, SINCE)))
    size = len(log.entries)
    small, keys = short_log()
    inclusion: list[JsonRecord] = []
    consistency: list[JsonRecord] = []
    # Proofs for a single entry, for a tree that is not full, and for the whole log.
    for tree_size in (1, 7, size):
        inclusion += [Inclusion.of(log.at(tree_size), place).record for place in range(tree_size)]
        consistency += [log.consistency(first, tree_size).record for first in range(tree_size + 1)]
    newest = cosign(small.note(len(small.entries)), witness)
    document: dict[str, Any] = {"format": FORMAT, "seeds": SEEDS, "keys": keys}
    texts = CANONICAL + NOT_CANONICAL
    document["canonical"] = [{"json": text, "canonical": _canonical(text)} for text in texts]
    document["entries"] = list(map(_entry, log.entries))
    document["roots"] = [to_base64(log.at(tree_size).root()) for tree_size in range(size + 1)]
    document["inclusion"] = inclusion
    document["consistency"] = consistency
    document["checkpoints"] = [log.note(tree_size) for tree_size in (0, 7, size)]
    document["cosigned"] = _cosignature_vector(log, witness)
    document["receipts"] = [log.receipt(4, 7).record, log.receipt(size - 1, size).record]
    document["statement"] = _statement(key)
    document["cases"] = list(cases(small, good_bundle(small), newest, keys))
    return document


def _canonical(text: str) -> str | None:
    """Return the canonical form of a JSON text; None if it has none."""
    try:
        return canonical(read_json(text.encode())).decode()
    except Malformed:
        return None


def _entry(record: JsonRecord) -> dict[str, object]:
    """Return the vector of an entry: its canonical text, the digest of this text, and its leaf hash."""
    leaf = canonical(record)
    return {
        "entry": record,
        "leaf": leaf.decode(),
        "digest": digest(leaf),
        "leaf_hash": to_base64(leaf_hash(leaf)),
    }


def _cosignature_vector(log: Log, witness: SigningKey) -> dict[str, object]:
    """Return the vector of a cosigned checkpoint: the note, the witness's verifier key, and the time."""
    mark = hashlib.sha256(witness.name.encode() + b"\n\x04" + witness.public.raw).digest()[:4]
    key = base64.b64encode(b"\x04" + witness.public.raw).decode()
    note = cosign(log.note(len(log.entries)), witness)
    return {"note": note, "witness": f"{witness.name}+{mark.hex()}+{key}", "time": COSIGNED_AT}


def _statement(key: SigningKey) -> dict[str, str]:
    """Return the vector of a signed answer: its content and its signature."""
    request = digest(b'{"delta":1e-06}')
    statement = SignedStatement(kind="account", name="account", engine_version="1.0.0", request=request)
    return {"content": ANSWER.decode(), "signature": statements.sign(statement, ANSWER, key)}

"""Receipts: an entry, the proof that it is in the log, and the log's signed checkpoint.

With a receipt its holder can prove without the service that the entry was written. If a later checkpoint is not
consistent with the receipt's, the log was rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.log import checkpoints, jws
from epsilond.ledgers.log.canonical import Record, canonical, digest, parse, read_json
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.keys import PublicKey, SigningKey
from epsilond.ledgers.log.proofs import WARNINGS, Inclusion
from epsilond.ledgers.log.tree import Tree

MEMBERS = {"entry", "proof", "checkpoint", "signature"}
"""Members of the record of a receipt."""


@dataclass(frozen=True)
class Receipt:
    """Signed proof that an entry is in the log.

    Attributes:
        entry: record of the entry.
        proof: proof that the entry is in the log's Merkle tree.
        checkpoint: signed head of the log: its size and the root of the tree.
        signature: detached signature of the three other members. Its subject is the digest of the entry.
    """

    entry: Record
    proof: Inclusion
    checkpoint: str
    signature: str

    @property
    def record(self) -> JsonRecord:
        """The receipt as a JSON object with the members `entry`, `proof`, `checkpoint` and `signature`."""
        return _statement(self.entry, self.proof, self.checkpoint) | {"signature": self.signature}

    def to_bytes(self) -> bytes:
        """Return the canonical form. Receipts of one entry, checkpoint and key are equal byte for byte."""
        return canonical(self.record)

    @classmethod
    def of_bytes(cls, text: bytes) -> Receipt:
        """Read a receipt from its JSON text, without verifying it.

        Args:
            text: JSON text in UTF-8, which need not be canonical.

        Returns:
            The receipt, of which proof and signatures may be invalid.

        Raises:
            Malformed: the text is not a receipt.
        """
        return cls.of_record(read_json(text))

    @classmethod
    def of_record(cls, record: Record) -> Receipt:
        """Read a receipt from its JSON object, without verifying it.

        Args:
            record: JSON object with the members `entry` (the log entry), `proof` (that the log contains it),
                `checkpoint` (the log's signed head) and `signature`. A member with warnings of the service is ignored.

        Returns:
            The receipt, of which proof and signatures may be invalid.

        Raises:
            Malformed: the record has other members or types than a receipt.
        """
        if record.keys() - {WARNINGS} != MEMBERS:
            raise Malformed("a receipt has an entry, a proof, a checkpoint and a signature")
        checkpoint = record["checkpoint"]
        signature = record["signature"]
        if not isinstance(checkpoint, str) or not isinstance(signature, str):
            raise Malformed("the checkpoint and the signature of a receipt are strings")
        # An entry with values that have no canonical text is rejected, because it cannot be in a log.
        entry = parse(canonical(record["entry"]))
        return cls(entry, Inclusion.of_record(record["proof"]), checkpoint, signature)


def make(tree: Tree, leaf_index: int, entry: Record, checkpoint: str, key: SigningKey) -> Receipt:
    """Return the receipt of one log entry: a signed proof that the log contains it.

    A receipt shows that the privacy budget of a run was spent. It can be verified without the service.

    Args:
        tree: Merkle tree of the log, which contains the entry.
        leaf_index: index of the entry in the tree, from 0.
        entry: record of the entry.
        checkpoint: head (size and root) of the tree, signed by the key.
        key: key that signs the receipt.

    Returns:
        The receipt: entry, proof, signed head and signature.

    Raises:
        NotVerified: the tree has another entry at this index, or the checkpoint is not the tree's.
        ValueError: the tree has no such index.
    """
    (receipt,) = make_all(tree, [(leaf_index, entry)], checkpoint, key)
    return receipt


def make_all(tree: Tree, entries: Iterable[tuple[int, Record]], checkpoint: str, key: SigningKey) -> list[Receipt]:
    """Make receipts of log entries, that is, signed proofs that the log contains them.

    Each receipt is verified before it is returned.

    Args:
        tree: Merkle tree of the log, which contains the entries.
        entries: pairs of an index in the tree, from 0, and the record of the entry.
        checkpoint: head (size and root) of the tree, signed by the key.
        key: key that signs the receipts.

    Returns:
        The receipts in the order of the entries.

    Raises:
        NotVerified: the tree has another entry at one of the indices, or the checkpoint is not the tree's.
        ValueError: the tree has no such index.
    """
    trusted = [key.public]
    head = checkpoints.verify(checkpoint, key.name, trusted)  # once for all receipts
    receipts = []
    for leaf_index, entry in entries:
        proof = Inclusion.of(tree, leaf_index)
        statement = _statement(entry, proof, checkpoint)
        signature = jws.sign(statement, digest(canonical(entry)), key)
        receipt = Receipt(entry, proof, checkpoint, signature)
        _verify_under(head, receipt, trusted)
        receipts.append(receipt)
    return receipts


def verify(receipt: Receipt, origin: str, keys: Iterable[PublicKey]) -> Checkpoint:
    """Verify a receipt, and return the signed head of the log (size and Merkle root) that covers its entry.

    Three parts are checked: the signature of the head, the proof that the entry is in the tree, and the signature of
    the receipt.

    Args:
        receipt: the receipt.
        origin: name of the log.
        keys: trusted keys.

    Returns:
        The head of the log that the receipt states.

    Raises:
        NotVerified: the checkpoint, the proof or the signature is not valid, or belongs to another entry.
    """
    # The name of a key is the name of its log, so keys of other logs are not accepted.
    trusted = [key for key in keys if key.name == origin]
    checkpoint = checkpoints.verify(receipt.checkpoint, origin, trusted)
    _verify_under(checkpoint, receipt, trusted)
    return checkpoint


def _verify_under(checkpoint: Checkpoint, receipt: Receipt, trusted: Iterable[PublicKey]) -> None:
    """Verify the proof and the signature of a receipt, of which the checkpoint is verified already.

    Args:
        checkpoint: the verified head (size and Merkle root of the log) in the receipt.
        receipt: the receipt.
        trusted: keys that may have signed the receipt.

    Raises:
        NotVerified: the proof or the signature is not valid, or the entry states another number than its index.
    """
    entry = receipt.entry
    proof = receipt.proof
    leaf = canonical(entry)
    if checkpoint.size != proof.tree_size:
        raise NotVerified(f"the proof is for {proof.tree_size} entries, the checkpoint of {checkpoint.size}")
    proof.verify(leaf, checkpoint.root)
    if entry.get("seq", proof.leaf_index) != proof.leaf_index:
        raise NotVerified(f"the entry says that it is entry {entry['seq']}, not {proof.leaf_index}")
    # The subject of the receipt's signature is the digest of the entry.
    statement = _statement(receipt.entry, receipt.proof, receipt.checkpoint)
    jws.verify(statement, digest(leaf), receipt.signature, trusted)


def _statement(entry: Record, proof: Inclusion, checkpoint: str) -> JsonRecord:
    """Return the JSON object that the signature of a receipt covers.

    Args:
        entry: record of the log entry.
        proof: proof that the log's Merkle tree contains the entry.
        checkpoint: signed head of the log.
    """
    return {"entry": entry, "proof": proof.record, "checkpoint": checkpoint}

"""Receipts: byte-stable, verified without the service, and refused once any byte of them is another."""

import base64
import dataclasses
import hashlib
import json

import pytest

from epsilond.ledgers.log import jws, receipts
from epsilond.ledgers.log.canonical import canonical, digest
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.proofs import Consistency, Inclusion
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.log.tree import Tree
from tests.ledgers.log.keys import FIRST, ORIGIN, OTHERS, SECOND
from tests.ledgers.log.logs import ENTRIES, REWRITTEN, TREE, note, receipt
from tests.ledgers.log.trees import mth, path

KEYS = [FIRST.public]
RECEIPT = receipt(11, 17)
TEXT = RECEIPT.to_bytes()


def test_every_receipt_of_every_size_is_verified():
    for size in range(1, len(ENTRIES) + 1):
        for index in range(size):
            checkpoint = receipts.verify(Receipt.of_bytes(receipt(index, size).to_bytes()), ORIGIN, KEYS)
            assert (checkpoint.size, checkpoint.root) == (size, Tree(TREE.nodes, size).root())


def test_it_is_the_same_every_time_byte_for_byte():
    assert receipt(11, 17).to_bytes() == TEXT == canonical(json.loads(TEXT))
    assert Receipt.of_bytes(TEXT) == RECEIPT
    assert Receipt.of_bytes(json.dumps(json.loads(TEXT), indent=4).encode()).to_bytes() == TEXT
    # Receipts are kept for years: their form may not change.
    assert digest(TEXT) == "sha256:c7e1584c329f4cebbb6da6490b2b289bbcc22c745d49eca22b46c64dc4ca484d"


def test_it_is_what_the_specifications_make_of_it():
    """RFC 9162's tree, a C2SP checkpoint and an RFC 7515 signature, put together with the standard library alone."""

    def compact(value):
        return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)

    def url(data):
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    def b64(data):
        return base64.b64encode(data).decode()

    leaves = [compact(entry).encode() for entry in ENTRIES[:17]]
    head = f"ledger.example/log\n17\n{b64(mth(leaves))}\n"
    raw = FIRST.private.public_key().public_bytes_raw()
    key_id = hashlib.sha256(b"ledger.example/log\n\x01" + raw).digest()[:4]
    proof = {"leaf_index": 11, "tree_size": 17, "inclusion_path": [b64(each) for each in path(11, leaves)]}
    checkpoint = f"{head}\n— ledger.example/log {b64(key_id + FIRST.private.sign(head.encode()))}\n"
    said = {"entry": ENTRIES[11], "proof": proof, "checkpoint": checkpoint}
    subject = "sha256:" + hashlib.sha256(leaves[11]).hexdigest()
    kid = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"  # RFC 8037, A.3
    header = url(compact({"alg": "EdDSA", "kid": kid, "subject": subject, "typ": "epsilond-record+jws"}).encode())
    signature = url(FIRST.private.sign(f"{header}.{url(compact(said).encode())}".encode()))
    assert compact(said | {"signature": f"{header}..{signature}"}).encode() == TEXT


def test_it_has_what_the_contract_says():
    assert json.loads(TEXT).keys() == {"entry", "proof", "checkpoint", "signature"}
    assert json.loads(TEXT)["entry"] == ENTRIES[11]
    assert json.loads(TEXT)["proof"].keys() == {"leaf_index", "tree_size", "inclusion_path"}


def test_no_changed_byte_passes():
    for place in range(len(TEXT)):
        for other in {TEXT[place] ^ 0x01, TEXT[place] ^ 0x20} - {TEXT[place]}:
            changed = TEXT[:place] + bytes([other]) + TEXT[place + 1 :]
            with pytest.raises(NotVerified):
                receipts.verify(Receipt.of_bytes(changed), ORIGIN, KEYS)


def test_parts_of_different_receipts_do_not_go_together():
    for other in (receipt(12, 17), receipt(11, 18), receipt(11, 17, key=SECOND), receipt(11, 17, entries=REWRITTEN)):
        for field in dataclasses.fields(Receipt):
            mixed = dataclasses.replace(RECEIPT, **{field.name: getattr(other, field.name)})
            if mixed == RECEIPT:
                continue
            with pytest.raises(NotVerified):
                receipts.verify(mixed, ORIGIN, [*KEYS, SECOND.public] if field.name != "checkpoint" else KEYS)


def test_keys_and_origin_are_the_verifiers():
    for keys in ([], [SECOND.public], [OTHERS.public]):
        with pytest.raises(NotVerified):
            receipts.verify(RECEIPT, ORIGIN, keys)
    with pytest.raises(NotVerified):
        receipts.verify(RECEIPT, OTHERS.name, [*KEYS, OTHERS.public])
    assert receipts.verify(RECEIPT, ORIGIN, [SECOND.public, OTHERS.public, FIRST.public]).size == 17


def test_a_receipt_that_would_not_hold_is_not_made():
    tree = Tree(TREE.nodes, 17)
    for index, entry, head, key in (
        (11, ENTRIES[12], note(17), FIRST),
        (11, ENTRIES[11], note(18), FIRST),
        (11, ENTRIES[11], note(17, entries=REWRITTEN), FIRST),
        (11, ENTRIES[11], note(17, key=SECOND), FIRST),
        (11, ENTRIES[11], note(17), OTHERS),
    ):
        with pytest.raises(NotVerified):
            receipts.make(tree, index, entry, head, key)
    with pytest.raises(ValueError, match="no leaf 17"):
        receipts.make(tree, 17, ENTRIES[17], note(17), FIRST)


def signed_by(key, proof):
    """The receipt of entry 0 of four, with the verdict of this key on it."""
    said = {"entry": ENTRIES[0], "proof": proof.record, "checkpoint": note(4)}
    return Receipt(ENTRIES[0], proof, note(4), jws.sign(said, digest(canonical(ENTRIES[0])), key))


def test_a_log_that_signs_a_proof_for_another_size_is_not_believed():
    proof = Inclusion.of(Tree(TREE.nodes, 4), 0)
    assert receipts.verify(signed_by(FIRST, proof), ORIGIN, KEYS).size == 4
    with pytest.raises(NotVerified, match="the proof is for 3 entries, the checkpoint of 4"):
        receipts.verify(signed_by(FIRST, dataclasses.replace(proof, tree_size=3)), ORIGIN, KEYS)


def test_another_logs_signature_is_none_of_this_one():
    with pytest.raises(NotVerified, match="no key that is known signed the record"):
        receipts.verify(signed_by(OTHERS, Inclusion.of(Tree(TREE.nodes, 4), 0)), ORIGIN, [*KEYS, OTHERS.public])


@pytest.mark.parametrize(
    "change",
    [
        {"entry": []}, {"entry": "text"}, {"checkpoint": 1}, {"signature": None}, {"more": 1}, {"proof": []}, {"proof": {}},
        {"proof": RECEIPT.proof.record | {"leaf_index": "11"}}, {"proof": RECEIPT.proof.record | {"tree_size": True}},
        {"proof": RECEIPT.proof.record | {"inclusion_path": "AAAA"}}, {"proof": RECEIPT.proof.record | {"inclusion_path": [1]}},
        {"proof": RECEIPT.proof.record | {"inclusion_path": ["AAA"]}},
    ],
)  # fmt: skip
def test_what_is_no_receipt_is_refused(change):
    with pytest.raises(Malformed):
        Receipt.of_record(RECEIPT.record | change)


def test_a_receipt_with_a_part_missing_is_refused():
    for name in RECEIPT.record:
        with pytest.raises(Malformed):
            Receipt.of_record({other: value for other, value in RECEIPT.record.items() if other != name})


def test_proofs_read_back_from_their_records():
    inclusion, consistency = Inclusion.of(TREE, 7), Consistency.of(TREE, 7)
    assert Inclusion.of_record(inclusion.record) == inclusion
    assert Consistency.of_record(consistency.record) == consistency
    with pytest.raises(Malformed, match="consistency_path"):
        Consistency.of_record(inclusion.record)

"""docs/ledger-format.md: schemas fit entries of every kind, the vectors are what the script gives, and the page names all."""

import inspect
import json
import re

import jsonschema
import pytest
from referencing import Registry, Resource

from epsilond.accountants.errors import InvalidInput
from epsilond.ledgers.client.auditing import audited
from epsilond.ledgers.client.replays import replay
from epsilond.ledgers.log import statements
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.canonical import canonical, digest, read_json
from epsilond.ledgers.log.checkpoints import verify as verified_checkpoint
from epsilond.ledgers.log.encodings import from_base64, to_base64
from epsilond.ledgers.log.errors import Malformed
from epsilond.ledgers.log.jws import TYPE
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.log.notes import parse
from epsilond.ledgers.log.proofs import Consistency, Inclusion
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.log.receipts import verify as verified_receipt
from epsilond.ledgers.log.signing import published_keys
from epsilond.ledgers.log.tree import leaf_hash
from epsilond.ledgers.mathematics.replay import apply_entry
from scripts.ledger_vectors.__main__ import FILE, text
from scripts.ledger_vectors.vectors import ORIGIN, WITNESS, good_bundle, short_log
from tests.documents import ROOT
from tests.ledgers.log.trees import mth

FOLDER = ROOT / "docs/ledger-format"
PAGE = (ROOT / "docs/ledger-format.md").read_text(encoding="utf-8")
KINDS = {
    "opened", "sealed", "reserved", "committed", "cancelled", "expired", "amended", "voided", "contradicted", "reconciled", "closed",
}  # fmt: skip
VECTORS = json.loads(FILE.read_text(encoding="utf-8"))
ENTRIES = [each["entry"] for each in VECTORS["entries"]]
SCHEMAS = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.schema.json")}
REGISTRY = Registry().with_resources([(name, Resource.from_contents(schema)) for name, schema in SCHEMAS.items()])
KEYS = [each.key for each in published_keys(VECTORS["keys"])]


def checker(name):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    return jsonschema.Draft202012Validator(SCHEMAS[name], registry=REGISTRY)


def test_the_file_of_vectors_is_what_the_script_gives():
    assert FILE.read_text(encoding="utf-8") == text()


def test_every_kind_of_entry_fits_the_schema():
    assert {entry["kind"] for entry in ENTRIES} == KINDS
    assert {slot for entry in ENTRIES if (slot := entry.get("slot"))} == {"gdp", "zcdp", "rdp", "pure"}
    for entry in ENTRIES:
        checker("entry.schema.json").validate(entry)


def test_the_vectors_and_the_schemas_know_every_kind_that_is_replayed():
    compared = re.findall(r"kind (?:==|in) (.*):", inspect.getsource(apply_entry))
    assert {name for each in compared for name in re.findall(r'"(\w+)"', each)} == KINDS
    assert list(replay(ENTRIES))


def members_of(value):
    """Names of all members, at every depth; amounts and orders of a slot aside."""
    if isinstance(value, list):
        return set().union(*map(members_of, value))
    if not isinstance(value, dict):
        return set()
    inside = {name: item for name, item in value.items() if name not in ("parts", "each", "capacity")}
    return set(value) | set().union(*map(members_of, inside.values()))


def described(schema):
    if isinstance(schema, list):
        return set().union(*map(described, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", ())) | set().union(*map(described, schema.values()))


def test_every_member_of_an_entry_is_described_by_the_schema_and_named_on_the_page():
    members = members_of(ENTRIES)
    assert members <= described(SCHEMAS["entry.schema.json"])
    assert [name for name in sorted(described(list(SCHEMAS.values())) - {"warnings"}) if f"`{name}`" not in PAGE] == []


@pytest.mark.parametrize("place", range(len(ENTRIES)))
def test_an_entry_without_one_of_its_members_is_found(place):
    entry = ENTRIES[place]
    optional = {"balance", "requested_by", "requested_at", "move"}
    if entry["kind"] not in ("voided", "reconciled"):
        optional |= {"approved_by", "item", "reservations", "declared", "approval"}
    for name in entry.keys() - optional:
        without = {member: value for member, value in entry.items() if member != name}
        if (entry["kind"], name) == ("committed", "charge"):
            continue  # of runs of the plan it has none
        assert not checker("entry.schema.json").is_valid(without), name


def test_receipts_bundles_and_keys_fit_their_schemas():
    for receipt in VECTORS["receipts"]:
        checker("receipt.schema.json").validate(receipt)
    checker("keys.schema.json").validate(VECTORS["keys"])
    for case in VECTORS["cases"]:
        if case["exits"] == [0]:
            checker("bundle.schema.json").validate(json.loads(case["evidence"]))


def test_leaves_hashes_and_roots_are_those_of_the_entries():
    leaves = [canonical(entry) for entry in ENTRIES]
    for each, leaf in zip(VECTORS["entries"], leaves, strict=True):
        assert (each["leaf"].encode(), each["digest"]) == (leaf, digest(leaf))
        assert from_base64(each["leaf_hash"]) == leaf_hash(leaf)
    assert VECTORS["roots"] == [to_base64(mth(leaves[:size])) for size in range(len(leaves) + 1)]


def test_canonical_texts():
    for each in VECTORS["canonical"]:
        if each["canonical"] is None:
            with pytest.raises(Malformed):
                read_json(each["json"].encode())
        else:
            assert canonical(read_json(each["json"].encode())).decode() == each["canonical"]


def test_proofs_lead_to_the_roots():
    roots = [from_base64(each) for each in VECTORS["roots"]]
    for record in VECTORS["inclusion"]:
        proof = Inclusion.of_record(record)
        proof.verify(canonical(ENTRIES[proof.leaf_index]), roots[proof.tree_size])
    for record in VECTORS["consistency"]:
        Consistency.of_record(record).verify(roots[record["first"]], roots[record["second"]])


def test_checkpoints_receipts_and_the_statement_are_signed():
    for note in VECTORS["checkpoints"]:
        head = verified_checkpoint(note, ORIGIN, KEYS)
        assert to_base64(head.root) == VECTORS["roots"][head.size]
    for record in VECTORS["receipts"]:
        verified_receipt(Receipt.of_record(record), ORIGIN, KEYS)
    signed = VECTORS["statement"]
    assert statements.verify(signed["signature"], signed["content"].encode(), KEYS)[1] == KEYS[0]
    assert TYPE in PAGE
    assert statements.TYPE in PAGE


def test_the_cosignature_is_that_of_the_witness():
    told = VECTORS["cosigned"]
    name, note_id, key = told["witness"].split("+", 2)
    raw = from_base64(key)
    note = parse(told["note"])
    assert verified_checkpoint(told["note"], ORIGIN, KEYS).size == len(ENTRIES)
    (line,) = [each for each in note.signatures if each.name == name == WITNESS]
    assert (line.note_id.hex(), raw[:1]) == (note_id, b"\x04")
    stamp, signature = line.signature[:8], line.signature[8:]
    assert int.from_bytes(stamp, "big") == told["time"]
    PublicKey(name, raw[1:]).verify(f"cosignature/v1\ntime {told['time']}\n{note.text}".encode(), signature)


def test_the_vectors_name_each_case_once_and_the_good_bundle_is_one():
    names = [case["name"] for case in VECTORS["cases"]]
    assert len(set(names)) == len(names) > 80
    assert (
        Bundle.of_bytes(VECTORS["cases"][0]["evidence"].encode()).to_bytes() == good_bundle(short_log()[0]).to_bytes()
    )


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_what_epsilond_says_of_each_case(case, tmp_path):
    (tmp_path / "evidence").write_text(case["evidence"], encoding="utf-8")
    (tmp_path / "keys").write_text(json.dumps(case.get("keys", VECTORS["keys"])), encoding="utf-8")
    old = []
    for place, note in enumerate(case.get("checkpoints", [])):
        old.append(tmp_path / str(place))
        old[-1].write_text(note, encoding="utf-8")
    try:
        found = audited(tmp_path / "evidence", tmp_path / "keys", old)
    except InvalidInput:
        assert 2 in case["exits"]
        return
    failed = any(each.outcome == "failed" for each in found.findings)
    assert (1 if failed else 0 if found.complete else 2) in case["exits"]

"""Whoever holds a bundle, a receipt or the file finds every byte that was tampered with, and charges that do not suffice."""

import json
import sqlite3
from dataclasses import replace

import pytest

import epsilond
from epsilond.ledgers.client.auditing import audited
from epsilond.ledgers.client.replays import replay
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.canonical import canonical
from epsilond.ledgers.log.findings import ClaimOutcome
from epsilond.ledgers.mathematics.replay import DoesNotReplay
from tests.ledgers.client.places import ASKED, QUERY, book_of, opened

SEEN = {"observations": [{"premise": "noise", "message": "none", "remedy": "Add it.", "count": 1}]}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder with a ledger's file, its keys, a bundle, an early checkpoint and a receipt."""
    folder = tmp_path_factory.mktemp("kept")
    books, ledger = opened(folder)
    with books:
        (folder / "early").write_text(books.checkpoint())
        with ledger.reserve("train", count=20) as run:
            (folder / "receipt").write_bytes(run.commit(5).to_bytes())
        with ledger.reserve("query", spec=QUERY, slot="gdp") as run:
            run.commit()
        (folder / "bundle").write_bytes(books.bundle().to_bytes())
        (folder / "keys").write_bytes(canonical(books.keys()))
    return folder


def outcomes(found):
    return {each.outcome for each in found.findings}


@pytest.mark.parametrize("what", ["bundle", "ledger.db"])
def test_what_was_kept_holds(kept, what):
    found = audited(kept / what, kept / "keys", [kept / "early", kept / "receipt"])
    assert found.holds
    assert outcomes(found) == {ClaimOutcome.VERIFIED}
    said = " ".join(found.sentences())
    assert "The log of 1 entry is the beginning of the log of" in said
    assert "were computed again" in said
    assert ("balances" in said) == (what == "ledger.db")


def test_a_receipt_alone_holds_and_leaves_the_rest_open(kept):
    found = audited(kept / "receipt", kept / "ledger.db.keys")
    assert found.holds
    assert ClaimOutcome.NOT_VERIFIED in outcomes(found)


def test_any_byte_of_a_bundle_that_is_another_is_found(kept, tmp_path):
    """Of every stretch of the bundle one byte is made another that is as good JSON: a digit, or a letter."""
    whole = (kept / "bundle").read_bytes()
    tampered = tmp_path / "tampered"
    places = [place for place in range(len(whole)) if chr(whole[place]).isdigit()][::7]
    assert len(places) > 20
    for place in places:
        other = b"1" if whole[place : place + 1] != b"1" else b"2"
        tampered.write_bytes(whole[:place] + other + whole[place + 1 :])
        try:
            found = audited(tampered, kept / "keys")
        except epsilond.InvalidInput:
            continue  # it is not a bundle any more
        assert not found.holds, place


@pytest.mark.parametrize("kind", ["train", "slot"])
def test_a_rewritten_row_of_the_file_is_found(kept, tmp_path, kind):
    for name in ("ledger.db", "keys"):
        (tmp_path / name).write_bytes((kept / name).read_bytes())
    (tmp_path / "ledger.db.keys").mkdir()
    for path in (kept / "ledger.db.keys").iterdir():
        copied = tmp_path / "ledger.db.keys" / path.name
        copied.write_bytes(path.read_bytes())
        copied.chmod(0o600)
    assert audited(tmp_path / "ledger.db", tmp_path / "keys").holds
    rows = sqlite3.connect(tmp_path / "ledger.db")
    for (name,) in rows.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        rows.execute(f'DROP TRIGGER "{name}"')
    tables = {name for (name,) in rows.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if kind == "train":
        (entries,) = [name for name in tables if "entr" in name]
        (leaf,) = rows.execute(f"SELECT leaf FROM {entries} WHERE seq = 2").fetchone()
        changed = leaf.replace(b'"count":5', b'"count":4')
        assert changed != leaf
        rows.execute(f"UPDATE {entries} SET leaf = ? WHERE seq = 2", (changed,))
    else:
        (items,) = [name for name in tables if "item" in name]
        rows.execute(f"UPDATE {items} SET committed = 0")
    rows.commit()
    rows.close()
    found = audited(tmp_path / "ledger.db", tmp_path / "keys")
    assert not found.holds
    failed = " ".join(each.sentence for each in found.findings if each.outcome == ClaimOutcome.FAILED)
    assert ("not those of the checkpoint" in failed) == (kind == "train")
    if kind == "slot":
        assert "The balances of ledger hospital in the file are not those" in failed


def test_a_log_that_was_written_anew_fails_against_an_early_checkpoint(kept, tmp_path):
    books, _ = opened(tmp_path)
    with books:
        (tmp_path / "bundle").write_bytes(books.bundle().to_bytes())
        (tmp_path / "keys").write_bytes(canonical(books.keys()))
    assert audited(tmp_path / "bundle", tmp_path / "keys").holds
    assert not audited(tmp_path / "bundle", tmp_path / "keys", [kept / "early"]).holds


def test_keys_of_another_do_not_verify(kept, tmp_path):
    books, _ = opened(tmp_path)
    with books:
        (tmp_path / "keys").write_bytes(canonical(books.keys()))
    assert not audited(kept / "bundle", tmp_path / "keys").holds


def test_a_charge_that_is_too_small_does_not_replay(kept):
    entries = [json.loads(canonical(each)) for each in Bundle.of_bytes((kept / "bundle").read_bytes()).entries]
    assert [*replay(entries)]
    (place,) = [place for place, each in enumerate(entries) if "slot" in each]
    parts = entries[place]["charge"]
    for amounts in (parts["parts"], parts["each"]):
        amounts["mu_squared"] = "0.0099"
    with pytest.raises(DoesNotReplay, match="less than a run costs"):
        list(replay(entries))


def test_a_second_ledger_of_a_block_does_not_replay(kept):
    entries = Bundle.of_bytes((kept / "bundle").read_bytes()).entries
    twin = {**entries[0], "ledger": "another", "seq": 99}
    with pytest.raises(DoesNotReplay, match="another ledger"):
        list(replay([*entries, twin]))


@pytest.mark.parametrize("names", [{"dataset": str.upper}, {"block": lambda _: "2025"}])
def test_a_ledger_of_the_same_people_by_another_name_does_not_replay(kept, names):
    entries = Bundle.of_bytes((kept / "bundle").read_bytes()).entries
    first = entries[0]
    assert not first.get("block")
    changed = {name: change(first.get(name, "")) for name, change in names.items()}
    assert changed != {name: first.get(name) for name in names}
    with pytest.raises(DoesNotReplay, match="another ledger"):
        list(replay([*entries, {**first, **changed, "ledger": "another", "seq": 99}]))


def test_a_file_warns_of_almost_equal_names(tmp_path):
    books, ledger = opened(tmp_path)
    with books:
        name = ledger.told["dataset"]
        assert "almost-equal-name" not in books.warnings
        other = books.open(**ASKED | {"dataset": f"{name[:1]}-{name[1:]}"})
        assert name in books.warnings["almost-equal-name"]
        assert [each["code"] for each in other.told["warnings"]] == ["almost-equal-name"]


def test_receipts_of_all_entries_are_replayed_and_the_gap_is_told(kept):
    with epsilond.ledger(kept / "ledger.db") as books:
        whole = books.bundle()
        shown = [book_of(books).inclusion("local", entry["seq"]) for entry in whole.entries]
    path = kept / "receipts"
    path.write_bytes(replace(whole, entries=(), receipts=shown).to_bytes())
    found = audited(path, kept / "keys")
    assert found.holds
    said = {each.sentence: each.outcome for each in found.findings}
    assert ClaimOutcome.VERIFIED in {said[each] for each in said if "were computed again" in each}
    assert said["Receipts cannot show whether the log has more entries of these ledgers."] == ClaimOutcome.NOT_VERIFIED


@pytest.mark.parametrize("text", [b"", b"{}", b'{"format": "another"}', b"\xff"])
def test_what_is_no_evidence_is_bad_input(kept, tmp_path, text):
    (tmp_path / "bundle").write_bytes(text)
    with pytest.raises(epsilond.InvalidInput):
        audited(tmp_path / "bundle", kept / "keys")
    with pytest.raises(epsilond.InvalidInput):
        audited(kept / "bundle", tmp_path / "bundle")
    with pytest.raises(epsilond.InvalidInput):
        audited(tmp_path / "nothing", kept / "keys")


@pytest.mark.parametrize("changed", [{}, {"observations": [{}]}, {"observations": "none"}, SEEN | {"reservations": 7}])
def test_a_contradiction_that_is_none_is_found(kept, tmp_path, changed):
    bundle = Bundle.of_bytes((kept / "bundle").read_bytes())
    entry = bundle.entries[-1] | {"kind": "contradicted", "seq": len(bundle.entries)} | changed
    (tmp_path / "bundle").write_bytes(replace(bundle, entries=[*bundle.entries, entry]).to_bytes())
    found = audited(tmp_path / "bundle", kept / "keys")
    assert not found.holds
    assert "claims to be a contradiction but is not one" in " ".join(found.sentences())

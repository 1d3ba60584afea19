"""Evidence of the fixed log that holds, that is incomplete, that is false, and that is not evidence."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from epsilond.ledgers.log import checkpoints, jws, receipts
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.canonical import canonical, digest
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.encodings import from_base64url, to_base64, to_base64url
from epsilond.ledgers.log.keys import SigningKey
from epsilond.ledgers.log.proofs import Inclusion
from epsilond.ledgers.log.tree import Tree

if TYPE_CHECKING:
    from scripts.ledger_vectors.vectors import Log

SHOWN, FALSE, NOT_SHOWN = 0, 1, 2
"""Exit codes of a verifier."""
NO_EVIDENCE = (FALSE, NOT_SHOWN)
"""Exit codes for a part of another form: a verifier may call it false."""
Case = dict[str, Any]
Change = Callable[[Any], object]


def case(name: str, evidence: bytes | str, *exits: int, keys: object = None, old: tuple[str, ...] = ()) -> Case:
    """Return one test case for verifiers of a ledger's log.

    Args:
        name: name of the case.
        evidence: bundle or receipt.
        *exits: admissible exit codes of a verifier.
        keys: published keys; left out if there are none.
        old: earlier checkpoints; left out if there are none.

    Returns:
        The case as a JSON object.
    """
    text = evidence if isinstance(evidence, str) else evidence.decode()
    members: Case = {"name": name, "exits": list(exits), "evidence": text}
    if keys:
        members["keys"] = keys
    if old:
        members["checkpoints"] = list(old)
    return members


def cases(log: Log, bundle: Bundle, cosigned: str, keys: Any) -> Iterator[Case]:
    """Yield every test case: true, incomplete, forged and malformed evidence.

    Args:
        log: the fixed log.
        bundle: a bundle of all of it that holds.
        cosigned: its newest checkpoint with the cosignature of a witness that no verifier here knows.
        keys: the published keys.

    Yields:
        The cases, each with the admissible exit codes of a verifier.
    """
    good = json.loads(bundle.to_bytes())
    yield case("a whole bundle", bundle.to_bytes(), SHOWN)
    reordered = json.dumps(dict(reversed(good.items())), indent=2)
    yield case("another order of members, white space and escapes", reordered, SHOWN)
    yield case(
        "a cosignature of an unknown witness", _tamper(good, lambda b: b.update(checkpoints=[cosigned])), NOT_SHOWN
    )
    yield from _accepted_cases(log, good, cosigned)
    yield from _incomplete_cases(log, good)
    yield from _fork_cases(log, good)
    for name, change in (ENTRIES | CHECKPOINTS | RECEIPTS | PROOFS).items():
        yield case(name, _tamper(good, change), FALSE)
    yield from _signed_cases(log, good)
    # Texts of another form are no evidence at all.
    for name, change in FORMS.items():
        yield case(name, _tamper(good, change), *NO_EVIDENCE)
    yield from _texts(bundle.to_bytes().decode())
    yield from _keys(bundle.to_bytes(), keys)


def _tamper(good: Any, change: Change) -> str:
    """Return a changed copy of a bundle, as text."""
    altered = copy.deepcopy(good)
    change(altered)
    return json.dumps(altered, ensure_ascii=False, separators=(",", ":"))


def _accepted_cases(log: Log, good: Any, cosigned: str) -> Iterator[Case]:
    """Yield evidence that a verifier accepts: entries with one checkpoint, with and without earlier checkpoints."""
    newest = good["checkpoints"][-1]
    bare = {"format": good["format"], "entries": good["entries"], "checkpoints": [cosigned]}
    yield case("entries and one checkpoint", json.dumps(bare | {"checkpoints": [newest]}), SHOWN)
    yield case("entries and one cosigned checkpoint", json.dumps(bare), SHOWN)
    yield case("an earlier checkpoint of the same log", json.dumps(bare), SHOWN, old=(log.note(4), log.note(0)))


def _incomplete_cases(log: Log, good: Any) -> Iterator[Case]:
    """Yield evidence that is true but shows nothing, because a part of it is missing.

    Args:
        log: the fixed log.
        good: JSON form of a bundle of all of it that holds.

    Yields:
        The cases; a verifier must say that nothing is shown.
    """
    # Bundles with only some of their members.
    alone = {"format": good["format"]}
    signed = {name: good[name] for name in ("receipts", "proofs")}
    yield case("an empty bundle", json.dumps(alone), NOT_SHOWN)
    yield case("entries without a checkpoint", json.dumps(alone | {"entries": good["entries"]}), NOT_SHOWN)
    yield case("a checkpoint without entries", json.dumps(alone | {"checkpoints": good["checkpoints"]}), NOT_SHOWN)
    yield case("the checkpoint of the empty log", json.dumps(alone | {"checkpoints": [log.note(0)]}), NOT_SHOWN)
    yield case("a receipt alone", json.dumps(good["receipts"][0]), NOT_SHOWN)
    yield case("receipts with consistency proofs", _tamper(good, lambda b: b.pop("entries")), NOT_SHOWN)
    yield case("receipts without consistency proofs", json.dumps(alone | {"receipts": good["receipts"]}), NOT_SHOWN)
    yield case("receipts and proofs that lack a checkpoint", json.dumps(alone | signed), NOT_SHOWN)
    yield case("the last entry is left out", _tamper(good, lambda b: b["entries"].pop()), NOT_SHOWN)
    yield case("the newest checkpoint is left out", _without_newest(good), NOT_SHOWN)


def _without_newest(good: Any) -> str:
    """Return a bundle without its newest checkpoint, receipt and consistency proof, as text."""
    altered = copy.deepcopy(good)
    for member in ("checkpoints", "receipts", "proofs"):
        altered[member].pop()
    return _tamper(altered, lambda _: None)


def _fork_cases(log: Log, good: Any) -> Iterator[Case]:
    """Yield evidence of two branches: the log itself, and a log with the same key and a rewritten third entry.

    Args:
        log: the fixed log.
        good: JSON form of a bundle of all of it that holds.

    Yields:
        The cases; most of them prove that the operator showed two different logs.
    """
    # The other branch: the third entry is rewritten, and one more entry follows.
    rewritten_entries = [*log.entries]
    rewritten_entries[2] = log.entries[2] | {"tenant": "clinic"}
    rewritten = type(log)(log.key, rewritten_entries)
    size = len(log.entries)
    longer = type(log)(log.key, [*rewritten_entries, {"seq": size, "kind": "closed"}])
    original = json.dumps(good)
    two_roots = _tamper(good, lambda b: b["checkpoints"].append(rewritten.note(size)))
    yield case("two roots of one size", two_roots, FALSE)
    heads = {"format": good["format"], "checkpoints": [log.note(5), rewritten.note(5)]}
    yield case("two roots of one size, without entries", json.dumps(heads), FALSE)
    proof = {"proofs": [log.consistency(5, size).record]}
    heads = {"format": good["format"], "checkpoints": [log.note(5), rewritten.note(size)]}
    yield case("a consistency proof to a rewritten log", json.dumps(heads | proof), FALSE)
    yield case("the head of a lost branch", original, FALSE, old=(rewritten.note(5),))
    yield case("the head of a lost branch that was longer", original, NOT_SHOWN, old=(longer.note(size + 1),))
    receipt = _tamper(good, lambda b: b["receipts"].append(rewritten.receipt(2, 5).record))
    yield case("a receipt of a lost branch", receipt, FALSE)
    yield case("rewritten entries", _tamper(good, lambda b: b.update(entries=list(rewritten.entries))), FALSE)


def _flip(text: str, place: int) -> str:
    """Return a base64 text with another character at this place."""
    return text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]


def _swap(items: list[Any], first: int, second: int) -> None:
    """Exchange two items of a list in place."""
    items[first], items[second] = items[second], items[first]


def _note(change: Callable[[list[str]], object]) -> Change:
    """Return a change of a bundle that alters the lines of its newest checkpoint.

    Args:
        change: function that alters the lines in place: origin, size, root, an empty one, signature.

    Returns:
        A function that changes a bundle in place.
    """

    def alter(bundle: Any) -> None:
        """Change the lines of the newest checkpoint."""
        lines = bundle["checkpoints"][-1].split("\n")
        change(lines)
        bundle["checkpoints"][-1] = "\n".join(lines)

    return alter


def _first(member: str, change: Callable[[Any], object]) -> Change:
    """Return a change of the first item of a member of a bundle, such as its first receipt."""
    return lambda bundle: change(bundle[member][0])


def _set(line: int, change: Callable[[str], str]) -> Callable[[list[str]], object]:
    """Return a change of one line among the lines of a checkpoint."""
    return lambda lines: lines.__setitem__(line, change(lines[line]))


ENTRIES: dict[str, Change] = {
    "an entry with another count": lambda b: b["entries"][2].update(count=4),
    "an entry with one member more": lambda b: b["entries"][2].update(note=""),
    "an entry with one member less": lambda b: b["entries"][2].pop("requested_by"),
    "two entries in another order": lambda b: _swap(b["entries"], 3, 4),
    "an entry twice": lambda b: b["entries"].insert(4, b["entries"][4]),
    "an entry left out": lambda b: b["entries"].pop(4),
    "the first entry left out": lambda b: b["entries"].pop(0),
}
CHECKPOINTS: dict[str, Change] = {
    "a checkpoint of another size": _note(_set(1, lambda size: str(int(size) - 1))),
    "a checkpoint whose size has a zero in front": _note(_set(1, lambda size: f"0{size}")),
    "a checkpoint of another root": _note(_set(2, lambda root: _flip(root, 5))),
    "a checkpoint of another log": _note(_set(0, lambda origin: f"{origin}2")),
    "a checkpoint with a line more": _note(lambda lines: lines.insert(3, "extension")),
    "a checkpoint with another signature": _note(_set(4, lambda line: _flip(line, 60))),
    "a checkpoint with another id of the key": _note(_set(4, lambda line: _flip(line, line.rindex(" ") + 2))),
    "a checkpoint without a signature": _note(lambda lines: lines.pop(4)),
    "a checkpoint without its last newline": _note(lambda lines: lines.pop()),
}
RECEIPTS: dict[str, Change] = {
    "a receipt of another place": _first("receipts", lambda r: r["proof"].update(leaf_index=1)),
    "a receipt of another size": _first("receipts", lambda r: r["proof"].update(tree_size=6)),
    "a receipt with a negative place": _first("receipts", lambda r: r["proof"].update(leaf_index=-1)),
    "a receipt of another entry": _first("receipts", lambda r: r["entry"].update(count=2)),
    "a receipt with a shorter path": _first("receipts", lambda r: r["proof"]["inclusion_path"].pop()),
    "a receipt with a longer path": _first(
        "receipts", lambda r: r["proof"]["inclusion_path"].append(to_base64(bytes(32)))
    ),
    "a receipt with a path in another order": _first("receipts", lambda r: _swap(r["proof"]["inclusion_path"], 0, 1)),
    "a receipt with another checkpoint": lambda b: b["receipts"][0].update(checkpoint=b["receipts"][1]["checkpoint"]),
    "a receipt with another's signature": lambda b: b["receipts"][0].update(signature=b["receipts"][1]["signature"]),
    "a receipt with another signature": _first("receipts", lambda r: r.update(signature=_flip(r["signature"], -9))),
    "a receipt whose signature has spare bits": _first("receipts", lambda r: r.update(signature=_with_spare_bits(r))),
    "a receipt that asks for no algorithm": _first(
        "receipts", lambda r: r.update(signature=_with_header(r, alg="none"))
    ),
    "a receipt that names another key": _first("receipts", lambda r: r.update(signature=_with_header(r, kid="A" * 43))),
    "a receipt with its payload attached": _first("receipts", lambda r: r.update(signature=_with_payload(r))),
    "a receipt without a signature": _first("receipts", lambda r: r.update(signature="")),
}
PROOFS: dict[str, Change] = {
    "a consistency proof with another hash": _first(
        "proofs", lambda p: p["consistency_path"].__setitem__(0, to_base64(bytes(32)))
    ),
    "a consistency proof in another order": _first("proofs", lambda p: p["consistency_path"].reverse()),
    "a shorter consistency proof": _first("proofs", lambda p: p["consistency_path"].pop()),
    "a longer consistency proof": _first("proofs", lambda p: p["consistency_path"].append(to_base64(bytes(32)))),
    "a consistency proof back": _first("proofs", lambda p: p.update(first=p["second"], second=p["first"])),
    "a consistency proof of another size": _first("proofs", lambda p: p.update(second=8)),
    "a consistency proof with short hashes": _first(
        "proofs", lambda p: p["consistency_path"].__setitem__(0, to_base64(bytes(31)))
    ),
}
FORMS: dict[str, Change] = {
    "another format": lambda b: b.update(format="epsilond-log-bundle-2"),
    "no format": lambda b: b.pop("format"),
    "a member that no bundle has": lambda b: b.update(keys=[]),
    "an entry that is not an object": lambda b: b["entries"].__setitem__(0, "entry"),
    "a checkpoint that is not a text": lambda b: b["checkpoints"].__setitem__(0, 1),
    "a receipt without its proof": _first("receipts", lambda r: r.pop("proof")),
    "a receipt with one member more": _first("receipts", lambda r: r.update(more=1)),
    "a proof without its size": _first("proofs", lambda p: p.pop("second")),
    "a proof whose size is true": _first("proofs", lambda p: p.update(first=True)),
    "a proof whose hash is not in its only form": _first("proofs", lambda p: p["consistency_path"].append("AB==")),
    "an entry with a fraction": lambda b: b["entries"][3].update(count=5.0),
    "an entry with too large an integer": lambda b: b["entries"][3].update(count=2**53),
}


def _with_spare_bits(receipt: Any) -> str:
    """Return the signature with a last character that decodes to the same bytes."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    text: str = receipt["signature"]
    return text[:-1] + alphabet[alphabet.index(text[-1]) + 1]


def _with_header(receipt: Any, **members: str) -> str:
    """Return the signature of a receipt with other members in its JWS header."""
    head, _, signature = receipt["signature"].partition("..")
    return f"{to_base64url(canonical(json.loads(from_base64url(head)) | members))}..{signature}"


def _with_payload(receipt: Any) -> str:
    """Return the signature of a receipt with its payload attached, which is detached in valid receipts."""
    signed = {name: part for name, part in receipt.items() if name != "signature"}
    text: str = receipt["signature"]
    return text.replace("..", f".{to_base64url(canonical(signed))}.")


def _signed_cases(log: Log, good: Any) -> Iterator[Case]:
    """Yield false evidence that is signed by the log's key, or by another key of the same name.

    Args:
        log: the fixed log.
        good: JSON form of a bundle of all of it that holds.

    Yields:
        The cases; a verifier must reject each.
    """
    size = len(log.entries)
    stranger_key = SigningKey(log.key.name, Ed25519PrivateKey.from_private_bytes(bytes(32)))
    stranger = checkpoints.sign(checkpoints.of_tree(log.at(size), log.key.name), stranger_key)
    yield case("a checkpoint of an unknown key", _tamper(good, lambda b: b["checkpoints"].append(stranger)), FALSE)
    note = stranger_note(log, stranger_key, 5)
    of_other = receipts.make(log.at(5), 2, log.entries[2], note, stranger_key).record
    yield case("a receipt of an unknown key", _tamper(good, lambda b: b["receipts"].append(of_other)), FALSE)
    wrong = checkpoints.sign(Checkpoint(log.key.name, 4, bytes(32)), log.key)
    yield case(
        "a signed root that is not that of the entries", _tamper(good, lambda b: b["checkpoints"].append(wrong)), FALSE
    )
    kind = _tamper(good, _first("receipts", lambda r: r.update(signature=_of_kind(log, r))))
    yield case("a signature of a report for a receipt", kind, FALSE)
    # Entries with numbers that are one too large, but with valid signatures.
    renumbered = [entry | {"seq": entry["seq"] + 1} for entry in log.entries]
    moved = type(log)(log.key, renumbered)
    bundle = Bundle(renumbered, [moved.note(size)])
    yield case("entries with other numbers than their places", bundle.to_bytes(), FALSE)
    receipt = {"entry": renumbered[2], "proof": Inclusion.of(moved.at(5), 2).record, "checkpoint": moved.note(5)}
    signature = jws.sign(receipt, digest(canonical(renumbered[2])), log.key)
    yield case("a receipt with another number than its place", canonical(receipt | {"signature": signature}), FALSE)


def stranger_note(log: Log, key: SigningKey, size: int) -> str:
    """Return the checkpoint of the first entries of a log, signed with another key.

    Args:
        log: the log.
        key: the other key.
        size: number of entries.

    Returns:
        The signed checkpoint as text.
    """
    tree: Tree = log.at(size)
    return checkpoints.sign(checkpoints.of_tree(tree, key.name), key)


def _of_kind(log: Log, receipt: Any) -> str:
    """Return a signature of a receipt by the log's key that is marked as the signature of a report."""
    signed = {name: part for name, part in receipt.items() if name != "signature"}
    return jws.sign(signed, digest(canonical(receipt["entry"])), log.key, kind="epsilond-ledger-report+jws")


def _texts(whole: str) -> Iterator[Case]:
    """Yield texts that are not bundle: broken JSON, a list, and an object with a duplicate member."""
    yield case("no JSON", whole[:-1], NOT_SHOWN)
    yield case("a list", f"[{whole}]", *NO_EVIDENCE)
    twice = whole.replace('"count":2,', '"count":1,"count":2,', 1)
    yield case("a member named twice", twice, NOT_SHOWN)


def _keys(whole: bytes, keys: Any) -> Iterator[Case]:
    """Yield a whole bundle with published keys that are not those of its log.

    Args:
        whole: the bundle.
        keys: the published keys of the log.

    Yields:
        The cases.
    """
    stranger = SigningKey(keys["keys"][0]["name"], Ed25519PrivateKey.from_private_bytes(bytes(32))).public
    published = keys["keys"][0] | stranger.jwk | {"note_key": stranger.note_key}
    yield case("another key of the same name", whole, FALSE, keys={"keys": [published]})
    # A published key must have the id that follows from its name and its bytes.
    renamed = keys["keys"][0] | {"name": "other.example/log"}
    renamed["note_key"] = renamed["note_key"].replace("ledger.example", "other.example")
    yield case("the id of a key under another name", whole, NOT_SHOWN, keys={"keys": [renamed]})
    mixed = keys["keys"][0] | {"x": stranger.jwk["x"]}
    yield case("a key of which two parts are of two keys", whole, NOT_SHOWN, keys={"keys": [mixed]})
    yield case("no keys", whole, *NO_EVIDENCE, keys={"keys": []})

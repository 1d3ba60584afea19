"""examples/verify_ledger.py agrees with epsilond on every vector, and accepts none of 1,000 tampered bundles."""

import ast
import copy
import io
import json
import random
import runpy
import tokenize

import pytest

from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.errors import Malformed
from epsilond.ledgers.log.findings import ClaimOutcome
from epsilond.ledgers.log.signing import published_keys
from epsilond.ledgers.log.verify import verify
from tests.documents import ROOT

PATH = ROOT / "examples/verify_ledger.py"
VECTORS = json.loads((ROOT / "docs/ledger-format/vectors.json").read_text(encoding="utf-8"))
EXAMPLE = runpy.run_path(str(PATH))
GOOD = json.loads(VECTORS["cases"][0]["evidence"])
TAMPERED = 1_000
MOST_LINES = 100


def code_lines(source):
    """Numbers of the lines that hold code: neither blank, nor a comment, nor a docstring."""
    blank = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in blank:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node) is not None:
            lines.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def test_it_has_at_most_100_lines_of_code_and_imports_nothing_of_epsilond():
    source = PATH.read_text(encoding="utf-8")
    assert len(code_lines(source)) <= MOST_LINES
    imported = {node.module for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in imported if name.startswith("epsilond")]


def said_by_example(evidence, keys, *old):
    """Its exit code."""
    try:
        false, unknown = EXAMPLE["verify"](evidence, keys, *old)
    except Exception:  # noqa: BLE001  the program exits so of whatever goes wrong
        return 2
    return 1 if false else 2 if unknown else 0


def said_by_epsilond(evidence, keys):
    """The exit code of a verifier that computes no charges; None where it is not evidence."""
    try:
        trusted = [each.key for each in published_keys(json.loads(keys))]
        bundle = Bundle.of_bytes(evidence.encode("utf-8", "surrogatepass"))
    except (Malformed, ValueError):
        return None
    found = verify(bundle, origin=trusted[0].name, keys=trusted, replay=lambda _: [])
    failed = any(each.outcome is ClaimOutcome.FAILED for each in found.findings)
    return 1 if failed else 0 if found.complete else 2


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_what_it_says_of_each_case(case):
    keys = json.dumps(case.get("keys", VECTORS["keys"]))
    assert said_by_example(case["evidence"], keys, *case.get("checkpoints", [])) in case["exits"]


# Each changes a copy of the bundle, or of the keys, by a generator of fixed seed.


def another(text, generator):
    """A text with one letter or digit made another."""
    place = generator.choice([place for place, sign in enumerate(text) if sign.isalnum()])
    signs = "0123456789" if text[place].isdigit() else "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return text[:place] + generator.choice([sign for sign in signs if sign != text[place]]) + text[place + 1 :]


def leaves_of(value, at=()):
    """Where texts and integers are in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        if isinstance(item, dict | list):
            yield from leaves_of(item, (*at, name))
        elif (isinstance(item, str) and any(map(str.isalnum, item))) or (isinstance(item, int) and item is not True):
            yield *at, name


def change_a_value(document, generator):
    *at, name = generator.choice(list(leaves_of(document)))
    for each in at:
        document = document[each]
    value = document[name]
    document[name] = (
        another(value, generator) if isinstance(value, str) else value + generator.choice([-1, 1, 2, 2**40])
    )


def change_an_entry(bundle, keys, generator):
    change_a_value(generator.choice([*bundle["entries"], *(each["entry"] for each in bundle["receipts"])]), generator)


def change_a_proof(bundle, keys, generator):
    paths = [each["proof"]["inclusion_path"] for each in bundle["receipts"]]
    paths += [each["consistency_path"] for each in bundle["proofs"]]
    change_a_value(generator.choice(paths), generator)


def change_a_note(lines, *, bundle, generator):
    """One line of a checkpoint: 1 has its size, 2 its root, 4 its signature."""
    place = generator.randrange(4)
    holder, name = (bundle["checkpoints"], place) if place < 2 else (bundle["receipts"][place - 2], "checkpoint")
    parts = holder[name].split("\n")
    line = generator.choice(lines)
    parts[line] = another(parts[line], generator)
    holder[name] = "\n".join(parts)


def change_a_root(bundle, keys, generator):
    change_a_note([0, 2], bundle=bundle, generator=generator)


def change_a_size(bundle, keys, generator):
    if generator.random() < 0.3:
        change_a_note([1], bundle=bundle, generator=generator)
        return
    proofs = [*bundle["proofs"], *(each["proof"] for each in bundle["receipts"])]
    proof = generator.choice(proofs)
    name = generator.choice([name for name, item in proof.items() if isinstance(item, int)])
    proof[name] = generator.choice([size for size in (*range(-2, 12), 2**40, -(2**40)) if size != proof[name]])


def change_a_signature(bundle, keys, generator):
    if generator.random() < 0.5:
        change_a_note([4], bundle=bundle, generator=generator)
        return
    receipt = generator.choice(bundle["receipts"])
    receipt["signature"] = another(receipt["signature"], generator)


def change_a_key(bundle, keys, generator):
    (key,) = keys["keys"]
    name = generator.choice(["note_key", "x", "kid", "name"])
    key[name] = another(key[name], generator)


def change_the_order(bundle, keys, generator):
    paths = [each["proof"]["inclusion_path"] for each in bundle["receipts"]]
    paths += [each["consistency_path"] for each in bundle["proofs"]]
    items = generator.choice([bundle["entries"], bundle["entries"], *(path for path in paths if len(set(path)) > 1)])
    first, second = generator.sample(range(len(items)), 2)
    items[first], items[second] = items[second], items[first]


def repeat_a_part(bundle, keys, generator):
    paths = [each["proof"]["inclusion_path"] for each in bundle["receipts"]]
    paths += [each["consistency_path"] for each in bundle["proofs"]]
    items = generator.choice([bundle["entries"], *(path for path in paths if path)])
    items.insert(generator.randrange(len(items) + 1), generator.choice(items))


def leave_out_a_part(bundle, keys, generator):
    parts = [*bundle["receipts"], *bundle["proofs"], *(each["proof"] for each in bundle["receipts"]), *keys["keys"]]
    paths = [part for each in parts for part in each.values() if isinstance(part, list) and part]
    items = generator.choice([bundle["entries"], *bundle["entries"], *parts, *paths])
    names = (
        items.keys() - {"from", "until"} if isinstance(items, dict) else range(len(items))
    )  # no verifier needs dates
    del items[generator.choice(sorted(names))]


def change_a_byte(bundle, keys, generator):
    """Any byte of the text of the bundle; returns that text."""
    text = bytearray(json.dumps(bundle, ensure_ascii=False, separators=(",", ":")).encode())
    text[generator.randrange(len(text))] ^= generator.randrange(1, 256)
    return text.decode("utf-8", "surrogateescape")


CHANGES = {
    change_an_entry: 200, change_a_proof: 100, change_a_root: 100, change_a_size: 60, change_a_signature: 150, change_a_key: 150,
    change_the_order: 30, repeat_a_part: 60, leave_out_a_part: 40, change_a_byte: 110,
}  # fmt: skip
"""Number of different tampered bundles of each kind; some kinds have few."""


def test_there_are_1000_tampered_bundles():
    assert sum(CHANGES.values()) == TAMPERED


@pytest.mark.parametrize(("change", "count"), CHANGES.items(), ids=[change.__name__ for change in CHANGES])
def test_no_tampered_bundle_is_accepted(change, count):
    generator = random.Random(change.__name__)
    seen = set()
    for _ in range(20 * count):
        if len(seen) == count:
            break
        bundle, keys = copy.deepcopy(GOOD), copy.deepcopy(VECTORS["keys"])
        evidence = change(bundle, keys, generator)
        if evidence is None:
            evidence = json.dumps(bundle, ensure_ascii=False)
        known = json.dumps(keys)
        if (evidence, known) in seen:
            continue
        seen.add((evidence, known))
        said, expected = said_by_example(evidence, known), said_by_epsilond(evidence, known)
        assert said != 0, evidence
        assert said == expected or expected is None, evidence
    assert len(seen) == count

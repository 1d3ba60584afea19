"""Canonical records: RFC 8785's rules, exactness, and one text for a record."""

import json
from enum import IntEnum, StrEnum
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilond.ledgers.log.canonical import LARGEST, canonical, digest, is_digest, parse, read_json
from epsilond.ledgers.log.errors import Malformed

TEXTS = st.text(max_size=6)
RECORDS = st.dictionaries(
    TEXTS,
    st.recursive(
        st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | TEXTS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
        max_leaves=8,
    ),
    max_size=6,
)


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    SMALL = 1


def as_defined(value):
    """RFC 8785, section 3.2, for values without floats: written apart from the code."""
    if isinstance(value, str):
        escapes = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
        return '"' + "".join(escapes.get(c, f"\\u{ord(c):04x}" if c < " " else c) for c in value) + '"'
    if isinstance(value, dict):
        units = sorted(value, key=lambda name: memoryview(name.encode("utf-16-be")).tobytes())
        return "{" + ",".join(f"{as_defined(name)}:{as_defined(value[name])}" for name in units) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(as_defined, value)) + "]"
    return (
        {True: "true", False: "false", None: "null"}[value]
        if value is None or value is True or value is False
        else str(value)
    )


@given(RECORDS)
def test_the_form_is_the_standards_and_reads_back(record):
    text = canonical(record)
    assert text == as_defined(record).encode()
    assert parse(text) == record
    assert read_json(json.dumps(record, indent=2).encode()) == record


def test_the_standards_own_examples():
    # Section 3.2.2, its numbers left out, and section 3.2.3's order of names by UTF-16 units.
    text = b'{"string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/", "literals": [null, true, false]}'
    assert canonical(read_json(text)).hex(" ") == (
        "7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72 75 65 2c 66 61 6c 73 65 5d 2c 22 73 74 72 69 6e 67 22 3a"
        " 22 e2 82 ac 24 5c 75 30 30 30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d"
    )
    names = ("\r", "1", "\x80", "ö", "€", "\U0001f600", "\ufb33")
    assert [*json.loads(canonical(dict.fromkeys(sorted(names), "")))] == [*names]


def test_records_of_other_classes_are_written_as_what_they_hold():
    record = MappingProxyType({"list": (Colour.RED, Size.SMALL), "amount": "0.100000000000000000"})
    assert canonical(record) == b'{"amount":"0.100000000000000000","list":["red",1]}'


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.5, "/a/0 is a float"),
        (1.0, "/a/0 is a float"),
        (float("nan"), "/a/0 is a float"),
        (2**53, "/a/0 is an integer beyond"),
        (-(2**53), "/a/0 is an integer beyond"),
        (b"bytes", "/a/0 is a bytes"),
        ({1, 2}, "/a/0 is a set"),
        ({1: "one"}, "/a/0 has a member with a name"),
        ("\ud800", "no canonical form"),
        ({"\udfff": 1}, "no canonical form"),
    ],
)
def test_what_is_not_exact_is_refused(value, said):
    with pytest.raises(Malformed, match=said):
        canonical({"a": [value]})


def test_depth_is_bounded():
    deep = []
    for _ in range(62):
        deep = [deep]
    assert canonical({"a": deep}) == b'{"a":' + b"[" * 63 + b"]" * 63 + b"}"
    with pytest.raises(Malformed, match="deeper"):
        canonical({"a": [[deep]]})
    with pytest.raises(Malformed, match="deeper"):
        read_json(b'{"a":' + b"[" * 100_000)


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": 1}', b'{"b":1,"a":1}', b' {"a":1}', b'{"a":1}\n', b'{"a":"\\u0061"}', b'{"a":"\\/"}', b'{"a":-0}',
        b"\xef\xbb\xbf{}",
    ],
)  # fmt: skip
def test_another_form_is_not_the_canonical_one(text):
    with pytest.raises(Malformed):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":1,"a":1}', b'{"a":{"b":1,"b":2}}', b"[]", b"1", b"", b"{", b'{"a":1e3}', b'{"a":1.0}', b'{"a":NaN}',
        b'{"a":Infinity}', b'{"a":9007199254740992}', b'{"a":' + b"9" * 5000 + b"}", b'{"a":"\\ud800"}', b'{"a":"\xff"}',
    ],
)  # fmt: skip
def test_what_is_no_record_is_refused_in_any_form(text):
    for reader in (read_json, parse):
        with pytest.raises(Malformed):
            reader(text)


def test_digests():
    assert digest(b"abc") == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert is_digest(digest(b""))
    for wrong in ("", "sha256:", digest(b"")[:-1], digest(b"").upper(), digest(b"")[7:], "sha512:" + "0" * 64):
        assert not is_digest(wrong)

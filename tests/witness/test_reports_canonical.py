"""The canonical text of JSON: the examples of RFC 8785, and texts that are read back unchanged."""

import json
import math
import struct

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from epsilond.witness.reports.canonical import canonical, digest

NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}
"""RFC 8785, appendix B: the bits of a double, and its text."""
FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: abs(value) < 2**53)
"""Doubles below 2^53; a larger integral double is read back as the integer of its digits, which differs from it."""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(("bits", "text"), list(NUMBERS.items()))
def test_numbers_match_the_standard(bits, text):
    assert canonical(struct.unpack(">d", bytes.fromhex(bits))[0]) == text


def test_names_are_sorted_by_utf_16_code_units():
    names = {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\x80": "Control",
        "\xf6": "Latin Small Letter O With Diaeresis",
    }
    assert list(json.loads(canonical(names))) == ["\r", "1", "\x80", "\xf6", "\u20ac", "\U0001f600", "\ufb33"]


@given(VALUES)
def test_text_is_read_back_and_written_identically(value):
    text = canonical(value)
    again = json.loads(text)
    assert again == value
    assert canonical(again) == text


@given(VALUES.filter(lambda value: not isinstance(value, int) or abs(value) < 2**53))
def test_text_equals_that_of_rfc8785(value):
    try:
        expected = rfc8785.dumps(value)
    except rfc8785.IntegerDomainError:
        return
    assert canonical(value).encode() == expected


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, {1, 2}, b"x", [1, [math.nan]]])
def test_value_that_is_no_json_is_rejected(value):
    with pytest.raises(ValueError, match=r"finite|not JSON"):
        canonical(value)


def test_integer_keeps_all_digits():
    assert canonical(10**24 + 1) == "1000000000000000000000001"


def test_digest_is_sha_256():
    assert digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

"""Packed integers: every bit where it should be, and nothing accepted that was not packed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.packing import pack, packed_length, unpack


@st.composite
def numbers(draw):
    bits = draw(st.integers(1, 62))
    return draw(st.lists(st.integers(0, (1 << bits) - 1), max_size=40)), bits


def as_text(values, bits):
    """The same by writing all bits down."""
    text = "".join(f"{value:0{bits}b}" for value in values)
    text += "0" * (-len(text) % 8)
    return bytes(int(text[place : place + 8], 2) for place in range(0, len(text), 8))


@settings(max_examples=300, deadline=None)
@given(numbers())
def test_what_is_packed_is_unpacked(given):
    values, bits = given
    message = pack(np.array(values, dtype=np.int64), bits)
    assert message == as_text(values, bits)
    assert len(message) == packed_length(len(values), bits) == -(-len(values) * bits // 8)
    assert unpack(message, len(values), bits).tolist() == values


@settings(max_examples=200, deadline=None)
@given(message=st.binary(max_size=30), count=st.integers(0, 30), bits=st.integers(1, 62))
def test_any_other_message_is_refused(message, count, bits):
    try:
        found = unpack(message, count, bits)
    except InvalidInput:
        filling = -count * bits % 8
        assert len(message) != packed_length(count, bits) or message[-1] % (1 << filling)
    else:
        assert found.min(initial=0) >= 0
        assert pack(found, bits) == message


@pytest.mark.parametrize(
    "call",
    [
        lambda: pack(np.array([-1]), 3),
        lambda: pack(np.array([8]), 3),
        lambda: pack(np.array([1]), 0),
        lambda: pack(np.array([1]), 63),
        lambda: unpack(b"", 0, 63),
        lambda: unpack(b"\x01", 1, 7),
        lambda: unpack(b"\x00\x00", 1, 7),
        lambda: unpack(b"", 1, 7),
    ],
)
def test_what_does_not_fit_is_refused(call):
    with pytest.raises(InvalidInput):
        call()

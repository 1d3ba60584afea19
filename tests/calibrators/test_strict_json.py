"""The strict parser by itself."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.calibrators import strict_json
from epsilond.calibrators.strict_json import MalformedJson, parse

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**300), 10**300)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)


@given(VALUES)
def test_what_json_can_say_is_read_as_json_reads_it(value: object) -> None:
    text = json.dumps(value)
    try:
        parsed = parse(text.encode())
    except InvalidInput:
        assert text.count("[") + text.count("{") > 16
    else:
        assert parsed == json.loads(text)


@given(st.binary(max_size=30))
def test_whatever_the_bytes_it_reads_or_refuses(body: bytes) -> None:
    try:
        parse(body)
    except (MalformedJson, InvalidInput):
        return


def faults(text: str) -> tuple[Fault, ...]:
    with pytest.raises(InvalidInput) as refusal:
        parse(text.encode())
    return refusal.value.faults


def test_every_place_is_told_in_document_order() -> None:
    found = faults('{"a":[1,NaN,{"b":1e999}],"c/d":{"e":1e-400,"f":-Infinity},"g":{"h":1,"h":2}}')
    assert [fault.pointer for fault in found] == ["/a/1", "/a/2/b", "/c~1d/e", "/c~1d/f", "/g/h"]


@pytest.mark.parametrize("text", ["1e-400", "-1e-400", "0.0000001e-320", "123E-999"])
def test_a_number_that_underflows(text: str) -> None:
    assert "underflows" in faults(text)[0].message


@pytest.mark.parametrize("text", ["0", "0.0", "-0.0", "0e5", "0.000e-999", "5e-324", "1e308", "1e-310"])
def test_a_number_that_does_not(text: str) -> None:
    assert parse(text.encode()) == float(text)


@pytest.mark.parametrize("depth", [17, 400, 900, 100_000, 524_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting(depth: int, opening: str, closing: str) -> None:
    inner = "0" if opening != "[" else ""
    found = faults(opening * depth + inner + closing * depth)
    assert [fault.message for fault in found] == ["is nested too deeply"]
    with pytest.raises((InvalidInput, MalformedJson)):
        parse((opening * depth).encode())


def test_sixteen_levels_are_read() -> None:
    assert parse(b"[" * 16 + b"]" * 16)


LIMITS = {
    "holds too much": [
        "[" + "[]," * 300_000 + "0]",
        "[" + "[0,0,0,0]," * 20_000 + "[]]",
        '{"a":[' + '"",' * 500_000 + '""]}',
    ],
    "has too many elements": ["[" + "1," * 20_000 + "1]", "[" + "[]," * 20_000 + "[]]"],
    "has too many fields": [json.dumps({f"field {place}": 0 for place in range(1001)})],
}


@pytest.mark.parametrize(("message", "text"), [(message, text) for message, texts in LIMITS.items() for text in texts])
def test_more_than_a_request_may_hold(message: str, text: str) -> None:
    (fault,) = faults(text)
    assert (fault.pointer, fault.message) == ("", message)
    assert fault.allowed is not None
    assert fault.allowed.startswith("at most")


def test_the_place_of_a_container_that_is_too_long() -> None:
    found = faults('{"a":[0,[' + "1," * 20_000 + '1]],"b":' + json.dumps(dict.fromkeys(map(str, range(1001)))) + "}")
    assert [fault.pointer for fault in found] == ["/a/1", "/b"]


@pytest.mark.parametrize(
    "value",
    [
        [0] * 20_000,
        [[0] * 19_999] * 5,
        {str(place): [] for place in range(1000)},
        {"mechanisms": [{"mechanism": "gaussian", "noise_multiplier": 1.5, "rate": 0.25, "rounds": 7}] * 10_000},
        [",[{" * 50_000, '\\",[' * 50_000, "\\"],
        [{}] * 20_000,
    ],
)
def test_as_much_as_a_request_may_hold(value: object) -> None:
    assert parse(json.dumps(value).encode()) == value


def plain(value: object) -> int:
    """Members and elements, counted one by one."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(1 + plain(each) for each in inner)


@given(VALUES)
def test_members_are_counted_as_one_counts_them(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert strict_json.members(text.encode()) == plain(value)


def test_a_null_is_a_fault_where_none_is_wanted() -> None:
    assert parse(b'{"a":null}') == {"a": None}
    with pytest.raises(InvalidInput) as refusal:
        parse(b'{"a":[{"b":null}]}', nulls=False)
    assert [fault.pointer for fault in refusal.value.faults] == ["/a/0/b"]


def test_half_a_surrogate_pair_is_no_character() -> None:
    for text in (b'"\\ud800"', b'{"\\uDC00":0}', b'["\\ud83d\\ud83d"]'):
        with pytest.raises(MalformedJson):
            parse(text)
    assert parse(b'"\\ud83d\\ude00"') == "\N{GRINNING FACE}"

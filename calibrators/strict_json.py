"""A JSON parser that rejects input that a certified answer must not be built on.

Python's parser accepts NaN and Infinity, turns 1e999 into infinity and 1e-400 into zero, and keeps the last of two
equal keys. Here each of these is a fault with a JSON pointer. The parser puts a mark at each fault. One walk over the
result, with an explicit stack, turns marks, too deep nesting and too long containers into faults with pointers. A body
that holds more members in total than any request needs is rejected before anything is built from it.

Members are counted on the bytes of the text. A megabyte of `[]` is 350 000 lists: building, walking and validating them
takes seconds, and counting their brackets takes milliseconds. The count is right for every valid JSON text. The parser
reports text that is not valid JSON.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonRecord

MOST_MEMBERS = 100_000
"""Largest number of members and elements of a text in total."""
MOST_ELEMENTS = 20_000
"""Largest number of elements of one array."""
MOST_FIELDS = 1_000
"""Largest number of members of one object."""
SPACE = b" \t\r\n"
BRACES_AS_BRACKETS = bytes.maketrans(b"{}", b"[]")
"""Translation of braces to brackets, because both nest in the same way."""
NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
"""Every byte but the brackets and braces."""


def exceeds(body: bytes) -> bool:
    """Decide whether a JSON text has more than `MOST_MEMBERS` members of objects and elements of arrays.

    Args:
        body: the bytes of the text.
    """
    # A quick upper bound, which does not separate strings from the rest, decides nearly always.
    if _upper_count(body) <= MOST_MEMBERS:
        return False
    # A member has at most two strings, its name and its value, and so four quotes. Two more quotes may enclose the
    # text. A text with more quotes certainly exceeds the limit. Otherwise its members are counted.
    quotes = _remove_escapes(body).count(b'"')
    return quotes > 4 * MOST_MEMBERS + 2 or members(body) > MOST_MEMBERS


def members(body: bytes) -> int:
    """Return the total number of members and elements of a JSON text."""
    packed = _outside_strings(body).translate(None, SPACE)
    return _upper_count(packed) - packed.count(b"[]") - packed.count(b"{}")


def is_deeper(body: bytes, most: int) -> bool:
    """Decide whether a JSON text is nested more than `most` levels deep.

    The text is not parsed, because a recursive parser might overflow its stack.

    Args:
        body: the bytes of the text, valid JSON or not.
        most: permitted number of levels, at least 0.

    Returns:
        True if brackets and braces outside strings are nested deeper.
    """
    # Keep the brackets only, with braces written as square brackets.
    brackets = _outside_strings(body).translate(BRACES_AS_BRACKETS, NOT_BRACKETS)
    if b"[" * (most + 1) in brackets:
        return True
    for _ in range(most):
        brackets = brackets.replace(b"[]", b"")  # removes the innermost level everywhere
        if not brackets:
            return False
    return b"[]" in brackets


def _upper_count(body: bytes) -> int:
    """Return an upper bound on the number of members and elements, from commas and opening brackets.

    A container with n members has n - 1 commas and one opening bracket. An empty container is counted as one member.
    """
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def _remove_escapes(body: bytes) -> bytes:
    """Remove escaped backslashes and quotes, so that every remaining quote begins or ends a string."""
    return body.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in body else body


def _outside_strings(body: bytes) -> bytes:
    """Return the text with every string replaced by the empty string."""
    return b'""'.join(_remove_escapes(body).split(b'"')[::2]) if b'"' in body else body


DEEPEST = 16
LONGEST_INTEGER = 308
"""Largest number of digits of an integer; a longer integer is beyond every double."""
LONGEST_NAME = 64
"""Largest length of a name in a pointer; a longer name is cut, as no field of a request has it."""
MOST_FAULTS = 16


class MalformedJson(ValueError):
    """The error for a body that is not JSON text in UTF-8. Its message gives the position, and quotes nothing."""


@dataclass(frozen=True)
class _Mark:
    """A placeholder that the parser puts in the place of a rejected part of a JSON value.

    Attributes:
        message: why the part is rejected.
        within: name of the faulty member, if the part is an object that was rejected because of it; None otherwise.
    """

    message: str
    within: str | None = None


_NULL = _Mark("must not be null; leave it out")
_TOO_MANY = Fault("", "holds too much", f"at most {MOST_MEMBERS} members and elements in all")
_Trail = tuple[Any, str | int] | None
_INNER = (dict, list, _Mark)


def step(pointer: str, key: str | int) -> str:
    """Extend a JSON pointer (RFC 6901) by a name or an index.

    Args:
        pointer: JSON pointer of an object or array.
        key: name of a member, or index of an element. A name of more than `LONGEST_NAME` characters is cut.

    Returns:
        The pointer to the member, with "~" and "/" escaped as "~0" and "~1".
    """
    name = str(key)
    short_name = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
    return f"{pointer}/{short_name.replace('~', '~0').replace('/', '~1')}"


def parse(body: bytes, *, nulls: bool = True) -> object:
    """Parse the JSON body of a request, and reject values that could be misunderstood or take too much work.

    They are numbers that are no doubles, repeated names, and arrays and objects that are nested too deeply or too long.

    Args:
        body: the JSON text in UTF-8.
        nulls: whether an object may have members that are null.

    Returns:
        The value, with objects as dictionaries and arrays as lists.

    Raises:
        MalformedJson: the body is not JSON, or not UTF-8.
        InvalidInput: the body is JSON, but has rejected values. At most `MOST_FAULTS` of them are reported.
    """
    if exceeds(body):
        raise InvalidInput(_too_deep("") if is_deeper(body, DEEPEST) else _TOO_MANY)

    # The decoder puts marks in the place of rejected parts.
    decoder = _DECODER if nulls else _DECODER_WITHOUT_NULLS
    try:
        text = body.decode("utf-8")
        value = decoder.decode(text)
    except RecursionError:
        raise InvalidInput(_too_deep("")) from None
    except json.JSONDecodeError as error:
        raise MalformedJson(f"line {error.lineno}, column {error.colno}") from None
    except ValueError:
        raise MalformedJson("a byte that is not UTF-8") from None

    faults = _faults(value) if type(value) in _INNER else []
    if faults:
        raise InvalidInput(*faults)
    if "\\u" in text:
        _reject_lone_surrogates(value)
    return value


def _float(text: str) -> float | _Mark:
    """Read a number with a fraction or exponent, for the decoder.

    Args:
        text: the number as it is written.

    Returns:
        The number; a mark, which rejects it, if it is beyond the doubles or underflows to zero.
    """
    value = float(text)
    if math.isinf(value):
        return _Mark("is beyond every double")
    significand, _, _ = text.lower().partition("e")
    if value == 0.0 and any(digit in "123456789" for digit in significand):
        return _Mark("underflows to zero; a small δ can be given as log10_delta")
    return value


def _integer(text: str) -> int | _Mark:
    """Return an integer; a mark if it is beyond every double."""
    return int(text) if len(text) <= LONGEST_INTEGER else _Mark("has too many digits")


def _constant(name: str) -> _Mark:  # noqa: ARG001
    """Return the mark of NaN, Infinity or −Infinity."""
    return _Mark("is not a finite number")


def _object(pairs: list[tuple[str, object]]) -> JsonRecord | _Mark:
    """Return an object from its members in their order; a mark at the first name that is repeated."""
    members: JsonRecord = {}
    for key, value in pairs:
        if key in members:
            return _Mark("is given twice", within=key)
        members[key] = value
    return members


def _object_without_nulls(pairs: list[tuple[str, object]]) -> JsonRecord | _Mark:
    """Return an object from its members, with a mark in the place of each null."""
    return _object([(key, _NULL if value is None else value) for key, value in pairs])


def _decoder(members: Callable[[list[tuple[str, object]]], JsonRecord | _Mark]) -> json.JSONDecoder:
    """Return a decoder that marks faulty numbers, and makes objects by a function of their members."""
    return json.JSONDecoder(parse_float=_float, parse_int=_integer, parse_constant=_constant, object_pairs_hook=members)


_DECODER, _DECODER_WITHOUT_NULLS = _decoder(_object), _decoder(_object_without_nulls)
"""The two decoders, made once because making a decoder takes a third of the time of reading a small body."""


def _too_deep(pointer: str) -> Fault:
    """Return the fault of a value that is nested too deeply."""
    return Fault(pointer, "is nested too deeply", f"at most {DEEPEST} levels")


def _too_long(pointer: str, item: object) -> Fault:
    """Return the fault of an object with too many members, or of an array with too many elements."""
    if type(item) is dict:
        return Fault(pointer, "has too many fields", f"at most {MOST_FIELDS} fields")
    return Fault(pointer, "has too many elements", f"at most {MOST_ELEMENTS} elements")


def _faults(value: object) -> list[Fault]:
    """Collect the faults of a parsed JSON value in document order.

    Faults are rejected parts, in whose place the parser has put a `_Mark`, too deep nesting, and too long arrays and
    objects.

    Args:
        value: an object, an array or a mark.

    Returns:
        At most `MOST_FAULTS` faults, each with a JSON pointer; empty if there are none.
    """
    faults: list[Fault] = []
    # A stack of parts with their depths and trails, the next one in document order on top. A trail is the chain of keys
    # to a part: the trail of the enclosing part, and the last key. It becomes a pointer only at a fault.
    pending: list[tuple[Any, int, _Trail]] = [(value, 1, None)]
    while pending and len(faults) < MOST_FAULTS:
        item, depth, trail = pending.pop()
        fault = _own_fault(item, depth, trail)
        if fault is not None:
            faults.append(fault)
            continue

        members = item.items() if type(item) is dict else enumerate(item)
        inner = []
        for key, member in members:
            # An empty array or object has no fault, unless it is nested too deeply itself.
            if type(member) in _INNER and (member or depth == DEEPEST):
                inner.append((member, depth + 1, (trail, key)))
        pending.extend(reversed(inner))
    return faults


def _own_fault(item: Any, depth: int, trail: _Trail) -> Fault | None:
    """Return the fault of a part of a JSON value if it is rejected, nested too deeply, or too long.

    Args:
        item: an array, an object or a `_Mark`, which the parser puts in the place of a rejected part.
        depth: number of arrays and objects around the part, itself included.
        trail: the chain of keys that leads to the part.

    Returns:
        The fault; None if there is none. Parts inside this part are not examined.
    """
    if type(item) is _Mark:
        pointer = _pointer(trail)
        return Fault(pointer if item.within is None else step(pointer, item.within), item.message)
    if depth > DEEPEST:
        return _too_deep(_pointer(trail))
    most = MOST_FIELDS if type(item) is dict else MOST_ELEMENTS
    if len(item) > most:
        return _too_long(_pointer(trail), item)
    return None


def _pointer(trail: _Trail) -> str:
    """Return the JSON pointer of the part at the end of a trail."""
    return "" if trail is None else step(_pointer(trail[0]), trail[1])


def _reject_lone_surrogates(value: object) -> None:
    """Reject a parsed JSON value that has half of a surrogate pair in a string.

    A surrogate pair is two code units that represent one character. A half is no character and cannot be encoded in
    UTF-8.

    Args:
        value: the parsed value, with all of its members.

    Raises:
        MalformedJson: a string of the value has such a half.
    """
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise MalformedJson("half of a surrogate pair") from None


def is_numpy_scalar(value: object) -> bool:
    """Return whether the value is a scalar of NumPy, which is not imported for this."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)

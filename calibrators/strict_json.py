"""A JSON parser that refuses what a certified answer must not be built on.

Python's own accepts NaN and Infinity, turns 1e999 into infinity and 1e-400 into zero, and keeps the last of two equal
keys. Here each of these is a fault with a JSON pointer. The parse leaves a mark where it met one, and one walk over the
result, with a stack of its own, turns marks, too deep nesting and too long containers into pointers. A body that holds
more members in all than any request needs is refused before anything is built from it.

How much a text holds is counted on its bytes: a megabyte of `[]` is 350 000 lists, and building, walking and validating
them costs seconds, counting their brackets some milliseconds. What is counted is right for every JSON text; of what is
none, the parser tells.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonRecord

MOST_MEMBERS = 100_000
"""Members and elements in all."""
MOST_ELEMENTS = 20_000
"""Elements of one array."""
MOST_FIELDS = 1_000
"""Members of one object."""
SPACE = b" \t\r\n"
ALIKE = bytes.maketrans(b"{}", b"[]")
OTHERS = bytes(set(range(256)) - set(b"[]{}"))
"""Every byte but the brackets."""


def exceeds(body: bytes) -> bool:
    """Whether a JSON text holds more than MOST_MEMBERS members and elements."""
    if _at_most(body) <= MOST_MEMBERS:  # nearly always: then strings need not be told apart
        return False
    # Each string is a name, an element or a member's value, so that four quotes stand for a member at least.
    return _unescaped(body).count(b'"') > 4 * MOST_MEMBERS + 2 or members(body) > MOST_MEMBERS


def members(body: bytes) -> int:
    """How many members and elements a JSON text holds in all."""
    packed = _outside_strings(body).translate(None, SPACE)
    return _at_most(packed) - packed.count(b"[]") - packed.count(b"{}")


def deeper(body: bytes, most: int) -> bool:
    """Whether a JSON text is nested more than `most` levels deep."""
    brackets = _outside_strings(body).translate(ALIKE, OTHERS)
    if b"[" * (most + 1) in brackets:
        return True
    for _ in range(most):
        if not (brackets := brackets.replace(b"[]", b"")):  # takes the innermost level of each nest away
            return False
    return b"[]" in brackets


def _at_most(body: bytes) -> int:
    """A container with n members has n - 1 commas and one opening bracket; an empty one counts as one too many."""
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def _unescaped(body: bytes) -> bytes:
    """Without escaped backslashes and quotes: every quote that is left begins or ends a string."""
    return body.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in body else body


def _outside_strings(body: bytes) -> bytes:
    """The text with its strings emptied."""
    return b'""'.join(_unescaped(body).split(b'"')[::2]) if b'"' in body else body


DEEPEST = 16
LONGEST_INTEGER = 308
"""Digits; a longer integer is beyond every double."""
LONGEST_NAME = 64
"""A pointer repeats the names of fields; one longer than this is cut, for it is no field of ours."""
MOST_FAULTS = 16


class MalformedJson(ValueError):
    """The body is not JSON text in UTF-8. Its message says where, and quotes nothing of it."""


@dataclass(frozen=True)
class _Mark:
    """Stands in the parsed value where something was refused; `within` names the member that is to blame."""

    message: str
    within: str | None = None


_NULL = _Mark("must not be null; leave it out")
_TOO_MANY = Fault("", "holds too much", f"at most {MOST_MEMBERS} members and elements in all")
_Trail = tuple[Any, str | int] | None
_INNER = (dict, list, _Mark)


def step(pointer: str, key: str | int) -> str:
    """The JSON pointer (RFC 6901) of member `key` of what `pointer` points at."""
    name = str(key)
    shown = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
    return f"{pointer}/{shown.replace('~', '~0').replace('/', '~1')}"


def parse(body: bytes, *, nulls: bool = True) -> object:
    """The value a body denotes. Without `nulls`, a null in an object is a fault too.

    Raises:
        MalformedJson: it is not JSON, or not UTF-8.
        InvalidInput: it is JSON, but holds what no request may; with at most sixteen faults.
    """
    if exceeds(body):
        raise InvalidInput(_too_deep("") if deeper(body, DEEPEST) else _TOO_MANY)
    try:
        text = body.decode("utf-8")
        value = (_DECODER if nulls else _DECODER_WITHOUT_NULLS).decode(text)
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
        _refuse_lone_surrogates(value)
    return value


def _float(text: str) -> float | _Mark:
    value = float(text)
    if math.isinf(value):
        return _Mark("is beyond every double")
    if value == 0.0 and any(digit in "123456789" for digit in text.lower().partition("e")[0]):
        return _Mark("underflows to zero; a small δ can be given as log10_delta")
    return value


def _integer(text: str) -> int | _Mark:
    return int(text) if len(text) <= LONGEST_INTEGER else _Mark("has too many digits")


def _constant(name: str) -> _Mark:  # noqa: ARG001
    return _Mark("is not a finite number")


def _object(pairs: list[tuple[str, object]]) -> JsonRecord | _Mark:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen: set[str] = set()
    repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return _Mark("is given twice", within=repeated)


def _object_without_nulls(pairs: list[tuple[str, object]]) -> JsonRecord | _Mark:
    return _object([(key, _NULL if value is None else value) for key, value in pairs])


def _decoder(members: Callable[[list[tuple[str, object]]], JsonRecord | _Mark]) -> json.JSONDecoder:
    return json.JSONDecoder(parse_float=_float, parse_int=_integer, parse_constant=_constant, object_pairs_hook=members)


_DECODER, _DECODER_WITHOUT_NULLS = _decoder(_object), _decoder(_object_without_nulls)
"""Made once: making one takes a third of the time of reading a small body."""


def _too_deep(pointer: str) -> Fault:
    return Fault(pointer, "is nested too deeply", f"at most {DEEPEST} levels")


def _too_long(pointer: str, item: object) -> Fault:
    if type(item) is dict:
        return Fault(pointer, "has too many fields", f"at most {MOST_FIELDS} fields")
    return Fault(pointer, "has too many elements", f"at most {MOST_ELEMENTS} elements")


def _faults(value: object) -> list[Fault]:
    """Marks, too deep nesting and too long containers, in document order.

    A trail is a chain of keys; few ever become a pointer.
    """
    found: list[Fault] = []
    pending: list[tuple[Any, int, _Trail]] = [(value, 1, None)]
    while pending and len(found) < MOST_FAULTS:
        item, depth, trail = pending.pop()
        if type(item) is _Mark:
            place = _pointer(trail)
            found.append(Fault(place if item.within is None else step(place, item.within), item.message))
        elif depth > DEEPEST:
            found.append(_too_deep(_pointer(trail)))
        elif len(item) > (MOST_FIELDS if type(item) is dict else MOST_ELEMENTS):
            found.append(_too_long(_pointer(trail), item))
        else:
            members = item.items() if type(item) is dict else enumerate(item)
            inner = [
                (member, depth + 1, (trail, key))
                for key, member in members
                if type(member) in _INNER and (member or depth == DEEPEST)
            ]
            pending.extend(reversed(inner))
    return found


def _pointer(trail: _Trail) -> str:
    return "" if trail is None else step(_pointer(trail[0]), trail[1])


def _refuse_lone_surrogates(value: object) -> None:
    """An escaped half of a surrogate pair is no character: it can be neither encoded nor answered."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise MalformedJson("half of a surrogate pair") from None

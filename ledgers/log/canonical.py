"""Canonical form of records, which is hashed and signed: the JSON Canonicalization Scheme of RFC 8785.

Numbers are integers of at most 2^53 − 1 in size; amounts are decimal strings. Floats are rejected, because not every
reader of JSON rounds them to the same double.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.ledgers.log.errors import Malformed
from epsilond.witness.reports.canonical import canonical as canonical_text

Record: TypeAlias = JsonObject
"""An object of JSON: strings, integers, true, false, null, and lists and objects of these."""
LARGEST: Final = 2**53 - 1
"""Largest size of an integer; readers of JSON that use doubles round larger ones."""
DEEPEST: Final = 64
"""Largest depth of nested lists and objects, which bounds the recursion of `_plain`."""
SHA256: Final = "sha256:"
"""Prefix of a digest, which names the hash function."""


def canonical(record: Record) -> bytes:
    """Return the canonical bytes of a JSON object, by the JSON Canonicalization Scheme (RFC 8785).

    Members are ordered by their names, there is no white space, and the encoding is UTF-8. Equal objects have equal
    bytes, which can therefore be hashed and signed.

    Args:
        record: JSON object of strings, integers, truth values, null, lists and objects.

    Returns:
        The text in UTF-8.

    Raises:
        Malformed: the record has a value without a canonical form, such as a float. The message has its JSON Pointer.
    """
    try:
        return canonical_text(_plain(record, "", 0)).encode()
    except UnicodeEncodeError as error:  # half a surrogate pair
        raise Malformed(f"the record has no canonical form: {error}") from None


def parse(text: bytes) -> JsonRecord:
    """Parse the canonical text of a JSON object (RFC 8785).

    Each object has exactly one canonical text, so that a digest or a signature of the text is one of the object.

    Args:
        text: the text in UTF-8.

    Returns:
        The object, as a dictionary.

    Raises:
        Malformed: the text is not the canonical form of an object, for example because it has white space.
    """
    record = read_json(text)
    if canonical(record) != text:
        raise Malformed("the record is not in its canonical form")
    return record


def read_json(text: bytes) -> JsonRecord:
    """Parse a JSON object from a text in any form, canonical or not.

    Only values that have a canonical form (RFC 8785) are accepted: numbers are integers, and no member is named twice.

    Args:
        text: the text in UTF-8.

    Returns:
        The object, as a dictionary.

    Raises:
        Malformed: the text is not a JSON object, names a member twice, or has a value without a canonical form.
    """
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=_members)
    except RecursionError:
        raise Malformed(f"the record is nested deeper than {DEEPEST} levels") from None
    except UnicodeDecodeError:
        raise Malformed("the record is not UTF-8") from None
    except Malformed:  # also a ValueError, raised by `_members`
        raise
    except ValueError:
        raise Malformed("the record is not JSON") from None
    if not isinstance(value, dict):
        raise Malformed("the record is not an object of JSON")
    canonical(value)
    return value


def digest(text: bytes) -> str:
    """Return the SHA-256 digest of a text, as `sha256:` and 64 hexadecimal digits.

    Signatures name such a digest as their subject: the document that they are about.

    Args:
        text: bytes of the text.
    """
    return SHA256 + hashlib.sha256(text).hexdigest()


def is_digest(text: str) -> bool:
    """Return whether a text is `sha256:` and 64 lower-case hexadecimal digits, as `digest` returns it.

    Args:
        text: any text.
    """
    hex_digits = text.removeprefix(SHA256)
    are_hex_digits = set(hex_digits) <= set("0123456789abcdef")
    return text.startswith(SHA256) and len(hex_digits) == 64 and are_hex_digits


def _members(pairs: list[tuple[str, object]]) -> JsonRecord:
    """Return the members of a parsed JSON object as a dictionary, after checking that no name occurs twice.

    Parsers differ in the member that they take if a name occurs twice. Two readers could then see different records.

    Args:
        pairs: names and values of the members, in the order of the text.

    Returns:
        The members, in the order of the text.

    Raises:
        Malformed: two members have one name.
    """
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Malformed("the record names a member twice")
    return members


def _plain(value: object, pointer: str, depth: int) -> object:
    """Convert a value and all its parts to plain JSON types: dict, list, str, int, bool and None.

    Instances of subclasses, such as members of a StrEnum, become plain values.

    Args:
        value: value to convert.
        pointer: JSON Pointer of the value, for errors.
        depth: number of containers around the value.

    Returns:
        The converted value, which shares no container with the given one.

    Raises:
        Malformed: the value is nested too deeply, or has a float, a large integer, or another type.
    """
    if depth > DEEPEST:
        raise Malformed(f"{pointer} is nested deeper than {DEEPEST} levels")
    match value:
        case None | bool():
            return value
        case str():
            return str.__str__(value)  # a plain string for an instance of a subclass, such as a StrEnum
        case int() if abs(value) <= LARGEST:
            return int(value)
        case int():
            raise Malformed(f"{pointer or 'the record'} is an integer beyond 2^53 - 1: write it as a string")
        # Parts of containers are converted in the same way, one level deeper.
        case Mapping():
            return {_name(name, pointer): _plain(item, f"{pointer}/{name}", depth + 1) for name, item in value.items()}
        case Sequence() if not isinstance(value, bytes | bytearray | memoryview):
            return [_plain(item, f"{pointer}/{index}", depth + 1) for index, item in enumerate(value)]
    kind = type(value).__name__
    raise Malformed(f"{pointer or 'the record'} is a {kind}: numbers are integers, and amounts decimal strings")


def _name(name: object, pointer: str) -> str:
    """Return the name of a member of a JSON object as a plain string.

    Args:
        name: the name, which may be of a subclass of str, such as a StrEnum.
        pointer: JSON Pointer of the object, for the error.

    Returns:
        The name as an object of type str itself.

    Raises:
        Malformed: the name is not a string.
    """
    if not isinstance(name, str):
        raise Malformed(f"{pointer or 'the record'} has a member with a name that is not a string")
    return str.__str__(name)

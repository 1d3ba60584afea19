"""The canonical text of a JSON value: the JSON Canonicalization Scheme (RFC 8785), so that others can compute its hash.

Members are sorted by the UTF-16 code units of their names, and there is no white space. Strings are escaped only if
necessary, and numbers are written as ECMAScript writes doubles. One rule differs: an integer keeps all its digits,
because a request may contain an integer beyond 2^53.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring

LEAST_PLAIN, MOST_PLAIN = -6, 21
"""ECMAScript writes no exponent if the decimal point, counted from the first digit, is above the first position and at
most the second."""
REMEMBERED = 256
"""Number of sets of member names with a cached order; an answer has about 20 of them."""
SHORT_NAMES = 512
"""Most characters in all names of a set with a cached order; this bounds the cache to a megabyte."""


def canonical(value: object) -> str:
    """Return the canonical text of a JSON value, which does not depend on the order of an object's members.

    Equal data have equal texts, so that a hash of the text identifies the data.

    Args:
        value: a JSON value; objects and lists are converted recursively.

    Returns:
        The text, without spaces between its parts.

    Raises:
        ValueError: the value contains a number that is not finite, or an object that is not JSON.
    """
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, float):
        return _number(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101 (a check against Mapping is slow)
        names = tuple(value)
        # Only sets of short names are cached, so that a caller cannot fill the memory.
        members = _sort_short(names) if len("".join(names)) <= SHORT_NAMES else _sort_names(names)
        texts = [prefix + canonical(value[name]) for name, prefix in members]
        return "{" + ",".join(texts) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical, value)) + "]"
    raise ValueError(f"{type(value).__name__} is not JSON")


def digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _sort_names(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Sort the names of an object's members for the canonical text: by their UTF-16 code units.

    Args:
        names: the names.

    Returns:
        Pairs of a name and its canonical text with the colon that follows it.
    """
    is_ascii = "".join(names).isascii()
    ordered = sorted(names) if is_ascii else sorted(names, key=_code_units)
    return [(name, f"{encode_basestring(name)}:") for name in ordered]


_sort_short = lru_cache(REMEMBERED)(_sort_names)


def _code_units(name: str) -> bytes:
    """Return the UTF-16 code units of a name, by which members are sorted; ASCII names sort by their characters."""
    return name.encode("utf-16-be", "surrogatepass")


def _number(value: float) -> str:
    """Write a double in the format of ECMAScript's Number::toString (ECMA-262, 6.1.6.1.20).

    The digits are the shortest that read back as the same double, as Python's `repr` gives them. Only the position of
    the decimal point and the exponent are written differently.

    Args:
        value: the double.

    Returns:
        The digits, with an exponent if the number is at least 1e21 or below 1e-6 in size.

    Raises:
        ValueError: the value is not finite.
    """
    if not math.isfinite(value):
        raise ValueError("a number is not finite")
    if value == 0.0:
        return "0"
    if 1e-4 <= abs(value) < 1e15:  # neither ECMAScript nor Python writes an exponent
        return repr(value).removesuffix(".0")
    if value < 0.0:
        return "-" + _number(-value)

    # Split Python's text into digits without zeros at either end, and the position of the decimal point among them:
    # value = 0.digits · 10^point.
    mantissa, _, exponent = repr(value).partition("e")
    integer_part, _, fraction_part = mantissa.partition(".")
    padded_digits = (integer_part + fraction_part).rstrip("0")
    digits = padded_digits.lstrip("0")
    leading_zeros = len(padded_digits) - len(digits)
    point = len(integer_part) + int(exponent or 0) - leading_zeros

    # Write the digits as ECMAScript does: as an integer, as a fraction, or with an exponent.
    if len(digits) <= point <= MOST_PLAIN:
        return digits.ljust(point, "0")
    if 0 < point <= MOST_PLAIN:
        return f"{digits[:point]}.{digits[point:]}"
    if LEAST_PLAIN < point <= 0:
        return "0." + "0" * -point + digits
    first_digit, further_digits = digits[0], digits[1:]
    scaled = f"{first_digit}.{further_digits}" if further_digits else first_digit
    return f"{scaled}e{point - 1:+d}"

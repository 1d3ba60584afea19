"""Names of data sets and blocks: compared without regard to case and Unicode form, and shown as they were given."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Final

NAMELESS: Final = ""
"""The organisation of all callers that name none."""
_SEPARATORS: Final = str.maketrans("", "", " -_.\u00a0\u2010\u2011\u2012\u2013\u2014")
"""Characters without which two names are almost equal."""


def normalise(name: str) -> str:
    """Return the form of a name in which names are compared: trimmed, case-folded, and in NFC.

    Case folding of a decomposed text is canonical caseless matching (Unicode Standard, section 3.13, D145).
    """
    folded = unicodedata.normalize("NFD", name.strip()).casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", folded)).strip()


def key_of(name: str) -> str:
    """Return the SHA-256 of a name's normal form in hexadecimal; the empty text for the empty name, the whole."""
    return hashlib.sha256(normalise(name).encode("utf-8", "surrogatepass")).hexdigest() if name else ""


def skeleton_of(name: str) -> str:
    """Return a name's normal form without spaces, hyphens, underscores and dots."""
    return normalise(name).translate(_SEPARATORS)

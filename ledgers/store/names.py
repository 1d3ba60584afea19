"""Names of data sets and blocks: compared without case and in one Unicode form, and shown as they were given."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Final

NAMELESS: Final = ""
"""Organisation of all callers that name none."""
_SEPARATORS: Final = frozenset(("Zs", "Pd", "Pc"))
"""Categories of characters without which two names are almost equal; full stops and minus signs are others."""


def normalise(name: str) -> str:
    """Return the form of a name in which names are compared: trimmed, without case, and in Unicode's form NFC.

    Comparison of case-folded decomposed texts is canonical caseless matching (Unicode Standard, section 3.13, D145).

    Args:
        name: name of a data set or a block, as a person wrote it.

    Returns:
        The name in normal form.
    """
    decomposed = unicodedata.normalize("NFD", name.strip())
    folded = unicodedata.normalize("NFD", decomposed.casefold())  # again, because folding may leave the form
    return unicodedata.normalize("NFC", folded).strip()


def key_of(name: str) -> str:
    """Return a digest by which names are searched in the database, equal for names with the same normal form.

    Args:
        name: name of a data set or a block. The empty name means the whole data set.

    Returns:
        The SHA-256 of the normal form, 64 hexadecimal digits; the empty text for the empty name.
    """
    if not name:
        return ""
    normal_form = normalise(name).encode("utf-8", "surrogatepass")
    return hashlib.sha256(normal_form).hexdigest()


def skeleton_of(name: str) -> str:
    """Return a form of a name that is equal for names that a person could confuse.

    It is the normal form without spaces, dashes, minus signs, underscores and dots. Compatible characters, such as
    letters and full-width letters, are made equal first (NFKC).

    Args:
        name: name of a data set or a block, as a person wrote it.

    Returns:
        The form, in which similar names are equal.
    """
    compatible = normalise(unicodedata.normalize("NFKC", name))
    kept_characters = []
    for character in compatible:
        is_separator = unicodedata.category(character) in _SEPARATORS or character in ".\u2212"
        if not is_separator:
            kept_characters.append(character)
    return "".join(kept_characters)

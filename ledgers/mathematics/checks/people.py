"""Names of people in a ledger: whether two names denote one person, and whether an entry names two people."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from epsilond.accountants.json_types import JsonObject

_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Pattern of the characters that Python calls printable although they show nothing.

They have the Unicode property Default_Ignorable_Code_Point, except for U+2800, the empty Braille pattern.
"""


def is_invisible(character: str) -> bool:
    """Return whether a character shows nothing on a screen.

    These are control and format characters, and some characters that Python calls printable although they show nothing.

    Args:
        character: a single character.

    Returns:
        True for an invisible character, otherwise False.
    """
    is_control_or_format = unicodedata.category(character) in ("Cc", "Cf")
    return is_control_or_format or is_blank(character)


def is_blank(text: str) -> bool:
    """Return whether a text has a character that Python calls printable although it shows nothing on a screen.

    Two names that differ only in such characters look the same.

    Args:
        text: a name, or a single character.
    """
    return _BLANK.search(text) is not None


def is_same_person(first: str, second: str) -> bool:
    """Return whether two names denote one person.

    Names are compared without case, in one Unicode form (NFKC), and without invisible characters. Spaces at both ends
    do not count, and several spaces count as one.

    Args:
        first: name of a person.
        second: name of a person.

    Returns:
        True if the compared forms of the names are equal.
    """
    return normalise_person(first) == normalise_person(second)


def normalise_person(name: str) -> str:
    """Return the form of a name in which names are compared.

    Invisible characters are removed, case is folded, and the text is put into one Unicode form (NFKC). Spaces at both
    ends are removed, and several spaces become one.

    Args:
        name: name of a person as it was given.

    Returns:
        The text for comparisons, such as `ana lee` for ` Ana  Lee`. It is empty if the name has only invisible
        characters and spaces.
    """
    visible_letters = [letter for letter in name if letter.isspace() or not is_invisible(letter)]
    visible = "".join(visible_letters)
    folded = unicodedata.normalize("NFKC", visible).casefold()
    normalised = unicodedata.normalize("NFKC", folded)  # again, because folding may leave the form
    return " ".join(normalised.split())


def has_two_people(entry: JsonObject) -> bool:
    """Return whether a log entry names a requester and an approver who are two different people.

    Args:
        entry: log entry. Its members `requested_by` and `approved_by` may be absent or of any type.

    Returns:
        True if both members are texts with visible characters that denote different people.
    """
    requester = entry.get("requested_by")
    approver = entry.get("approved_by")
    if not isinstance(requester, str) or not isinstance(approver, str):
        return False
    are_visible = normalise_person(requester) != "" and normalise_person(approver) != ""
    return are_visible and not is_same_person(requester, approver)

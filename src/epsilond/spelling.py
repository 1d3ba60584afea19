"""Lookup of names, with suggestions for unknown ones."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities.risks import RISK_FIELDS

T = TypeVar("T")


def suggest(name: str, names: Iterable[str]) -> str:
    """Return the end of an error message about an unknown name, which proposes similar names.

    Args:
        name: the unknown name.
        names: the names that exist.

    Returns:
        A text such as "; did you mean mb-sgd or local-sgd?" with up to three names. Empty if no name is similar.
    """
    similar = difflib.get_close_matches(name, list(names), n=3)
    if not similar:
        return ""
    return f"; did you mean {' or '.join(similar)}?"


def choose_by_name(name: str, choices: Mapping[str, T], *, at: str, noun: str) -> T:
    """Return the choice that has a given name, such as one of several algorithms.

    Args:
        name: name of the wanted choice.
        choices: all choices by name.
        at: JSON pointer of the name, for the error.
        noun: the kind of thing that has a name, such as `algorithm`.

    Returns:
        The choice with exactly this name.

    Raises:
        InvalidInput: no choice has this name. The error has similar names or, if there are none, all names.
    """
    if name in choices:
        return choices[name]
    raise InvalidInput(not_named(name, choices, at=at, noun=noun))


def not_named(name: str, choices: Mapping[str, object], *, at: str, noun: str) -> Fault:
    """Return the error for an unknown name. It proposes similar names or, if there are none, lists all choices.

    Args:
        name: the unknown name.
        choices: the choices by name.
        at: JSON pointer to the name in the request.
        noun: kind of the choices, such as `algorithm`.

    Returns:
        The error, which is not raised.
    """
    suggestion = suggest(name, choices)  # the end of a sentence: "; did you mean …?"
    allowed = None
    if not suggestion:
        allowed = ", ".join(map(str, choices))
    return Fault(at, f"there is no such {noun}{suggestion}", allowed)


def quote_words(words: Sequence[object]) -> str:
    """Return words in single quotes as a list in a sentence, such as "'a', 'b' or 'c'".

    Args:
        words: the words; at least one.

    Returns:
        The list as text.
    """
    quoted = [f"'{word}'" for word in words]
    if len(quoted) == 1:
        return quoted[0]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def describe_unknown(name: str, known: Collection[str]) -> str:
    """Describe why a field is rejected that is not one of the request's fields.

    Args:
        name: name of the field.
        known: names of the fields of the request.

    Returns:
        The reason, as the end of a sentence about the field.
    """
    return explain_missing_risk(name, known) or "is not a field of this object"


def explain_missing_risk(name: str, known: Collection[str]) -> str | None:
    """Return the message for a risk, such as `advantage`, in a request that does not accept it as a privacy target.

    A request with the fields epsilon and relation has a privacy target. If it also has the field advantage, it accepts
    some risks, but not this one.

    Args:
        name: name of the field.
        known: names of the fields of the request.

    Returns:
        The message; None for other fields and for requests without a target.
    """
    if name not in RISK_FIELDS or "epsilon" not in known or "relation" not in known:
        return None
    if "advantage" in known:
        return (
            "is not a target of this algorithm, whose bounds decide δ at single values of ε. Give epsilon with "
            "delta, advantage, or true_positive_rate with false_positive_rate"
        )
    return "is not a target here, where all is stated for δ at one ε. Give epsilon with delta"

"""Citations of an answer."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from epsilond.accountants.bibliography.bibtex import bibtex
from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators.answer import as_json


def cite(*cited: object) -> str:
    """Return BibTeX of this software and of the works that prove the given answers or theorems.

    A `note` in each entry names the theorems. For an answer, these are the theorems of its derivation. A
    calibration also has the theorems of the papers' formulas with which it compares its figures (`as_printed`).

    Args:
        *cited: answers of `calibrate`, `account` or `bound_risk`, their JSON forms, or ids of theorems.

    Returns:
        The entries as one text.

    Raises:
        InvalidInput: an argument is none of these, or an unknown id.
    """
    theorem_ids = itertools.chain.from_iterable(map(_theorems, cited))
    return bibtex(theorem_ids)


def _theorems(source: object) -> Iterator[str]:
    """Yield the ids of the theorems from which an answer is derived, or the given id itself.

    Args:
        source: an answer, its JSON form as a mapping, or the id of a theorem.

    Yields:
        The ids in the order of the derivation. A theorem that is used several times is repeated.

    Raises:
        InvalidInput: the argument is none of these, or has no derivation.
    """
    if isinstance(source, str):
        yield source
        return
    # An account that was requested without an ε or δ has no JSON form.
    if hasattr(source, "guarantee") and hasattr(source.guarantee, "theorems"):
        yield from source.guarantee.theorems()
        return
    answer = source if isinstance(source, Mapping) else as_json(source)
    steps = []
    if isinstance(answer, Mapping):
        steps = [*answer.get("derivation", ()), *answer.get("as_printed", ())]
    if not steps:
        raise InvalidInput.at("/cited", "has no derivation", allowed="an answer, or a theorem's id")
    for step in steps:
        yield step["theorem"]

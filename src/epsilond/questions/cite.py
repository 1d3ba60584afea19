"""What to cite for an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from epsilond.accountants.bibliography.bibtex import bibtex
from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators.answer import as_json


def cite(*cited: object) -> str:
    """BibTeX of this software and of every work whose theorems prove what is cited; a `note` names the theorems.

    Each of `cited` is an answer of `calibrate`, `account` or `bound_risk`, the same as JSON, or a theorem's id. Of an
    answer the theorems of its derivation are cited, and of a calibration those whose printed readings stand beside it.

    Raises:
        InvalidInput: something is none of these, or an id is no theorem's.
    """
    return bibtex(name for each in cited for name in _theorems(each))


def _theorems(each: object) -> Iterator[str]:
    if isinstance(each, str):
        yield each
        return
    if hasattr(each, "guarantee") and hasattr(each.guarantee, "theorems"):  # an account without a query
        yield from each.guarantee.theorems()
        return
    answer = each if isinstance(each, Mapping) else as_json(each)
    steps = [*answer.get("derivation", ()), *answer.get("as_printed", ())] if isinstance(answer, Mapping) else []
    if not steps:
        raise InvalidInput.at("/cited", "has no derivation", allowed="an answer, or a theorem's id")
    for step in steps:
        yield step["theorem"]

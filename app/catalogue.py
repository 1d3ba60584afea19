"""Theorems and algorithms in the form in which they are listed: all their data without their functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from epsilond.accountants.theorem import Theorem
from epsilond.app.http.problems import FieldError, Problem
from epsilond.app.nearness import near
from epsilond.calibrators.calibration import Calibrator
from epsilond.listing import ListedAlgorithm, ListedTheorem, listed_algorithm, listed_theorem

# Number of known names that are listed at most if none is similar to the unknown one.
MOST_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class TheoremSummary(ListedTheorem):
    """A theorem in the list."""

    links: Mapping[str, str]

    @classmethod
    def of(cls, theorem: Theorem) -> TheoremSummary:
        """Return a theorem as it is listed, with its links."""
        return cls(**vars(listed_theorem(theorem)), links=_links(theorem))


@dataclass(frozen=True, kw_only=True)
class TheoremList:
    """The theorems that pass the filter, in the order of the catalogue."""

    theorems: tuple[TheoremSummary, ...]


@dataclass(frozen=True, kw_only=True)
class Algorithm(ListedAlgorithm):
    """An algorithm whose noise the service calibrates, as it is listed.

    `example` is the body of a request that it answers. `links` has the URLs of its calibrations and of their schema.
    """

    links: Mapping[str, str]

    @classmethod
    def of(cls, calibrator: Calibrator) -> Algorithm:
        """Return the list entry of a calibrator, with its links."""
        links = {
            "calibrations": f"/v1/calibrations/{calibrator.name}",
            "schema": f"/openapi.json#/components/schemas/{calibrator.problem.__name__}",
        }
        return cls(**vars(listed_algorithm(calibrator)), links=links)


@dataclass(frozen=True, kw_only=True)
class AlgorithmList:
    """Every algorithm whose noise the service calibrates."""

    algorithms: tuple[Algorithm, ...]


def paper(theorem: Theorem) -> str:
    """Return the paper of a theorem, which is the first part of the theorem's id: `lowy` for `lowy.2.1`.

    Args:
        theorem: the theorem.
    """
    return theorem.id.partition(".")[0]


def slug(name: str) -> str:
    """Return a name with only characters that an identifier may contain: lowy.2.1 becomes lowy_2_1.

    Args:
        name: any name. Each run of other characters becomes one underscore.
    """
    return re.sub(r"[^A-Za-z0-9]+", "_", name)


def pascal(name: str) -> str:
    """Return a name in the form of a part of a class name: mb-sgd → MbSgd."""
    words = re.split(r"[^A-Za-z0-9]+", name)
    return "".join(word.capitalize() for word in words)


def unknown(what: str, name: str, names: Iterable[str]) -> Problem:
    """Return the error for an unknown name in a URL path, with HTTP status 404.

    Its text lists similar names. If there are none, it lists the first `MOST_SHOWN` of all names.

    Args:
        what: kind of the named thing, such as `theorem`; the text uses this word.
        name: the unknown name.
        names: the known names.
    """
    all_names = sorted(names)
    nearest = near(name, all_names)
    shown = nearest or all_names[:MOST_SHOWN]
    if nearest:
        introduction = "Near it"
    elif len(all_names) <= MOST_SHOWN:
        introduction = "There are"
    else:
        introduction = "The first of those there are"
    listed_names = ", ".join(shown)
    detail = f"There is no {what} of this name. {introduction}: {listed_names or 'none'}."
    field_error = FieldError(parameter=what, message="is unknown", allowed=listed_names or None)
    return Problem("not-found", detail, field_error)


def _links(theorem: Theorem) -> dict[str, str]:
    """Return the paths of a theorem and, if it has a formula, of the evaluations of the formula."""
    links = {"self": f"/v1/theorems/{theorem.id}"}
    if theorem.formula is not None and theorem.inputs is not None:
        links["evaluations"] = f"/v1/theorems/{theorem.id}/evaluations"
    return links

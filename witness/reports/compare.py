"""Comparison of a report's figures with those of another computation.

The same engine is deterministic on one machine. On another processor, or with other builds of the mathematical
libraries, the last digits of sums and logarithms differ. A search may then stop at another point of its tolerance.
Figures of the same engine must therefore agree within `SAME_ENGINE`, relatively, ten times the tolerance of the
searches. Both bounds of an enclosure are compared. A narrower enclosure is a difference, even if the enclosures still
meet. A δ is compared by its logarithm, because a δ of 1e-300 changes by a thousandth if the noise changes by a
millionth.

Another engine may prove more or less. It confirms a report if its results imply those of the report: its enclosure is
inside the report's. Enclosures that do not meet contradict each other. Anything between is not confirmed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from epsilond.accountants.json_types import JsonObject
from epsilond.witness.reports.canonical import canonical

Agreement = Literal["exactly", "within-the-certificate", "not-confirmed", "contradicts"]
SAME_ENGINE, OTHER_ENGINE = 1e-5, 1e-3
"""Largest relative difference of figures, for the same and for another version of the engine."""
BINDING = ("algorithm", "parameters", "guarantee", "points", "claim", "meaning")
"""Parts of an answer that another engine must confirm. The wording of the remaining parts may change."""
MOST_DIFFERENCES = 20
"""Most pointers that are returned."""
ABSOLUTE: Mapping[str, float] = {
    "margin_epsilon": 1e-5,
    "margin_log10_delta": 1e-5,
    "log10_delta": 1e-5,
    "epsilon": 1e-9,
    "advantage": 1e-9,
    "true_positive_rate": 1e-9,
}
"""Additional absolute tolerances by name: differences and losses near 0 have large relative rounding errors."""
FORMER_VERDICTS: Mapping[object, str] = {True: "yes", False: "no"}
"""Verdicts on claims of earlier engines, with the words of this engine."""
WIDTH = "relative_width"
"""Field with the width of a computed bound. Its value consists of rounding errors, so that only its size is compared.
"""
_BOUNDS = {"lower", "upper"}


class Disagreement(NamedTuple):
    """A place where two records disagree, and whether one of them must be wrong."""

    pointer: str
    contradicts: bool


def compare_records(signed: JsonObject, computed: JsonObject) -> tuple[Agreement, tuple[str, ...]]:
    """Compare a signed record with the record that was computed from the same question.

    Args:
        signed: the record of the report.
        computed: the record of this engine.

    Returns:
        The agreement, and JSON pointers to at most `MOST_DIFFERENCES` places where the records disagree.
    """
    parts = ("answer", "profile", "engine_version")
    if all(canonical(signed[part]) == canonical(computed[part]) for part in parts):
        return "exactly", ()
    same = signed["engine_version"] == computed["engine_version"]
    names = signed["answer"].keys() | computed["answer"].keys() if same else BINDING
    disagreements: list[Disagreement] = []
    for name in sorted(names):
        ours, theirs = signed["answer"].get(name), computed["answer"].get(name)
        disagreements += _disagreements(ours, theirs, f"/answer/{name}", same=same)
    disagreements += _disagreements(signed["profile"], computed["profile"], "/profile", same=same)
    if not disagreements:
        return "within-the-certificate", ()
    contradicts = same or any(disagreement.contradicts for disagreement in disagreements)
    verdict: Agreement = "contradicts" if contradicts else "not-confirmed"
    return verdict, tuple(disagreement.pointer for disagreement in disagreements[:MOST_DIFFERENCES])


def changed_explanations(signed: JsonObject, computed: JsonObject) -> tuple[str, ...]:
    """Return JSON pointers to the parts of a signed answer that are not binding and that have changed."""
    ours, theirs = signed["answer"], computed["answer"]
    names = (ours.keys() | theirs.keys()).difference(BINDING, ("engine_version",))
    return tuple(
        f"/answer/{name}" for name in sorted(names) if canonical(ours.get(name)) != canonical(theirs.get(name))
    )


def _disagreements(ours: object, theirs: object, at: str, *, same: bool) -> Iterator[Disagreement]:
    """Yield the disagreements of two JSON values at a pointer; `same` if they are of the same engine."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if ours.keys() == theirs.keys() == _BOUNDS:
            yield from _compare_enclosures(ours, theirs, at, same=same)
            return
        for name in sorted(ours.keys() | theirs.keys()):
            yield from _disagreements(ours.get(name), theirs.get(name), f"{at}/{name}", same=same)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for place, (our_item, their_item) in enumerate(zip(ours, theirs, strict=True)):
            yield from _disagreements(our_item, their_item, f"{at}/{place}", same=same)
    elif not _agree(ours, theirs, at, same=same):
        yield Disagreement(at, contradicts=True)


def _agree(ours: object, theirs: object, at: str, *, same: bool) -> bool:
    """Return whether two values that are no enclosures agree: numbers approximately, all other values exactly."""
    our_number, their_number = _number(ours), _number(theirs)
    if our_number is not None and their_number is not None:
        return _near(our_number, their_number, at, SAME_ENGINE if same else OTHER_ENGINE)
    if not same and isinstance(ours, bool) and at.endswith("/holds"):
        return FORMER_VERDICTS[ours] == theirs
    return type(ours) is type(theirs) and ours == theirs


def _compare_enclosures(
    ours: Mapping[str, object], theirs: Mapping[str, object], at: str, *, same: bool
) -> Iterator[Disagreement]:
    """Yield a disagreement if our enclosure claims more than theirs proves; it contradicts if they do not meet."""
    our_lower, our_upper = _bound(ours["lower"]), _bound(ours["upper"])
    their_lower, their_upper = _bound(theirs["lower"]), _bound(theirs["upper"])
    slack = SAME_ENGINE if same else OTHER_ENGINE

    def at_most(first: float, second: float) -> bool:
        return first <= second or _near(first, second, at, slack)

    is_ordered = our_lower <= our_upper
    if same:
        confirmed = _near(our_lower, their_lower, at, slack) and _near(our_upper, their_upper, at, slack)
    else:
        confirmed = at_most(our_lower, their_lower) and at_most(their_upper, our_upper)
    if is_ordered and confirmed:
        return
    meet = at_most(their_lower, our_upper) and at_most(our_lower, their_upper)
    yield Disagreement(at, contradicts=not (is_ordered and meet))


def _bound(value: object) -> float:
    """Return a bound in JSON form as a double, NaN if it is no number."""
    number = _number(value)
    return math.nan if number is None else number


def _near(first: float, second: float, at: str, slack: float) -> bool:
    """Return whether two numbers at a JSON pointer agree within a relative tolerance."""
    if first == second:
        return True
    names = at.split("/")
    if WIDTH in names:
        return min(first, second) >= 0.0 and max(first, second) <= slack
    if "delta" in names and 0.0 < min(first, second) <= max(first, second) < math.inf:
        return math.isclose(math.log(first), math.log(second), rel_tol=slack, abs_tol=slack)
    absolute = max((ABSOLUTE.get(name, 0.0) for name in names), default=0.0)
    return math.isclose(first, second, rel_tol=slack, abs_tol=absolute)


def _number(value: object) -> float | None:
    """Return a number in its JSON form as a double, or None for another value."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if abs(value) <= sys.float_info.max:
            return float(value)
        return math.inf if value > 0 else -math.inf
    infinities = {"unbounded": math.inf, "-unbounded": -math.inf}
    return infinities.get(value) if isinstance(value, str) else None

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
from dataclasses import dataclass
from typing import Literal, NamedTuple

from epsilond.accountants.json_types import JsonObject
from epsilond.witness.reports.canonical import canonical

Agreement = Literal["exactly", "within-the-certificate", "not-confirmed", "contradicts"]
SAME_ENGINE, OTHER_ENGINE = 1e-5, 1e-3
"""Largest relative difference of figures, for the same and for another version of the engine."""
BINDING = ("algorithm", "parameters", "guarantee", "points", "claim", "meaning")
"""Parts of an answer that another engine must confirm. The wording of the remaining parts may change."""
MOST_DIFFERENCES = 20
"""Largest number of pointers to differences that are returned."""
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
    """A pointer at which two records disagree, and whether one of the two values must be wrong.

    Attributes:
        pointer: JSON pointer to both values.
        contradicts: True if not both values can be right.
    """

    pointer: str
    contradicts: bool


def compare_records(signed: JsonObject, computed: JsonObject) -> tuple[Agreement, tuple[str, ...]]:
    """Compare a report's data with the data that this engine computes for the same request.

    With one engine version, every part of the answer must agree. With two versions, only the parts in `BINDING` must
    agree. The points of the privacy profile must agree in both cases.

    Args:
        signed: the data of the report.
        computed: the data that this engine computes.

    Returns:
        The agreement, and JSON pointers to at most `MOST_DIFFERENCES` values that disagree.
    """
    # Equal texts need no comparison of numbers.
    parts = ("answer", "profile", "engine_version")
    if all(canonical(signed[part]) == canonical(computed[part]) for part in parts):
        return "exactly", ()

    # Otherwise every value is compared within its tolerance.
    same_engine = signed["engine_version"] == computed["engine_version"]
    disagreements = _list_disagreements(signed, computed, same_engine=same_engine)
    if not disagreements:
        return "within-the-certificate", ()
    pointers = tuple(disagreement.pointer for disagreement in disagreements[:MOST_DIFFERENCES])
    is_contradiction = any(disagreement.contradicts for disagreement in disagreements)
    # Two versions may disagree without a contradiction, for example if the later one has a worse bound.
    if same_engine or is_contradiction:
        return "contradicts", pointers
    return "not-confirmed", pointers


def _list_disagreements(signed: JsonObject, computed: JsonObject, *, same_engine: bool) -> list[Disagreement]:
    """List the values in which the answers and the privacy profiles of two reports disagree.

    Values are compared within tolerances that depend on the versions of the engines.

    Args:
        signed: the data of the report.
        computed: the data of this engine.
        same_engine: whether both are of one version. If not, only the parts in `BINDING` of the answers are compared,
            and the profiles.

    Returns:
        The disagreements, sorted by the part of the answer. Those of the profiles are last.
    """
    comparison = _Comparison(same_engine)
    signed_answer, computed_answer = signed["answer"], computed["answer"]
    all_names = signed_answer.keys() | computed_answer.keys()
    names = all_names if same_engine else BINDING
    disagreements: list[Disagreement] = []
    for name in sorted(names):
        disagreements += comparison.compare(signed_answer.get(name), computed_answer.get(name), f"/answer/{name}")
    disagreements += comparison.compare(signed["profile"], computed["profile"], "/profile")
    return disagreements


def changed_explanations(signed: JsonObject, computed: JsonObject) -> tuple[str, ...]:
    """Return JSON pointers to the parts of a report's answer that another engine version words differently.

    Only parts outside `BINDING`, such as explanations, are compared. A signed report stays valid if they change.

    Args:
        signed: the data of the report.
        computed: the data that this engine computes for the same request.

    Returns:
        The pointers in alphabetical order.
    """
    signed_answer, computed_answer = signed["answer"], computed["answer"]
    all_names = signed_answer.keys() | computed_answer.keys()
    pointers = []
    for name in sorted(all_names.difference(BINDING, ("engine_version",))):
        has_changed = canonical(signed_answer.get(name)) != canonical(computed_answer.get(name))
        if has_changed:
            pointers.append(f"/answer/{name}")
    return tuple(pointers)


@dataclass(frozen=True)
class _Comparison:
    """Comparison of the values in a report with the values that this engine computes.

    If both have the same engine version, values must agree within `SAME_ENGINE`. Otherwise, the computed values must
    imply the values of the report within `OTHER_ENGINE`.

    Attributes:
        same_engine: whether one engine version computed both.
    """

    same_engine: bool

    @property
    def tolerance(self) -> float:
        """Largest relative difference of two numbers that agree."""
        return SAME_ENGINE if self.same_engine else OTHER_ENGINE

    def compare(self, signed: object, computed: object, pointer: str) -> Iterator[Disagreement]:
        """Yield the disagreements of two JSON values, by recursion into objects and lists of equal length.

        Args:
            signed: the value in the report; None if the report lacks it.
            computed: the value of this engine; None if the engine's record lacks it.
            pointer: JSON pointer to both values.

        Yields:
            One disagreement for each pair of values that does not agree, with its pointer.
        """
        if isinstance(signed, dict) and isinstance(computed, dict):
            # A pair of a lower and an upper bound is compared as an interval.
            if signed.keys() == computed.keys() == _BOUNDS:
                yield from self._enclosures(signed, computed, pointer)
                return
            for name in sorted(signed.keys() | computed.keys()):
                yield from self.compare(signed.get(name), computed.get(name), f"{pointer}/{name}")
        elif isinstance(signed, list) and isinstance(computed, list) and len(signed) == len(computed):
            for index, (signed_item, computed_item) in enumerate(zip(signed, computed, strict=True)):
                yield from self.compare(signed_item, computed_item, f"{pointer}/{index}")
        elif not self._agree(signed, computed, pointer):
            yield Disagreement(pointer, contradicts=True)

    def _agree(self, signed: object, computed: object, pointer: str) -> bool:
        """Decide whether two JSON values agree, neither of which is an enclosure (a lower and an upper bound).

        Numbers may differ by the tolerance, other values may not. An earlier engine gave some verdicts as booleans,
        which are translated to the present words.

        Args:
            signed: the value in the report.
            computed: the value of this engine.
            pointer: JSON pointer to both.

        Returns:
            True if they agree. Values of different types, such as 1 and "1", do not.
        """
        signed_number, computed_number = _number(signed), _number(computed)
        if signed_number is not None and computed_number is not None:
            return _are_near(signed_number, computed_number, pointer, self.tolerance)
        if not self.same_engine and isinstance(signed, bool) and pointer.endswith("/holds"):
            return FORMER_VERDICTS[signed] == computed
        return type(signed) is type(computed) and signed == computed

    def _enclosures(
        self, signed: Mapping[str, object], computed: Mapping[str, object], pointer: str
    ) -> Iterator[Disagreement]:
        """Yield a disagreement if the computed lower and upper bounds do not confirm the signed ones.

        With one engine version, both bounds must agree. With two, the computed enclosure must be inside the signed one.
        A disagreement contradicts if the enclosures do not meet, or if the signed bounds are in the wrong order.

        Args:
            signed: `lower` and `upper` of the report.
            computed: `lower` and `upper` of this engine.
            pointer: JSON pointer to both enclosures.

        Yields:
            At most one disagreement.
        """
        signed_lower, signed_upper = _bound(signed["lower"]), _bound(signed["upper"])
        computed_lower, computed_upper = _bound(computed["lower"]), _bound(computed["upper"])

        def near(first: float, second: float) -> bool:
            """Return whether two bounds agree within the tolerance."""
            return _are_near(first, second, pointer, self.tolerance)

        def at_most(first: float, second: float) -> bool:
            """Return whether the first bound is at most the second one, up to the tolerance."""
            return first <= second or near(first, second)

        is_ordered = signed_lower <= signed_upper
        if self.same_engine:
            is_confirmed = near(signed_lower, computed_lower) and near(signed_upper, computed_upper)
        else:
            is_confirmed = at_most(signed_lower, computed_lower) and at_most(computed_upper, signed_upper)
        if is_ordered and is_confirmed:
            return

        # Enclosures without a common point cannot both be right.
        intersect = at_most(computed_lower, signed_upper) and at_most(signed_lower, computed_upper)
        yield Disagreement(pointer, contradicts=not (is_ordered and intersect))


def _bound(value: object) -> float:
    """Return a bound in JSON form as a double; NaN, which agrees with no bound, if it is not a number."""
    number = _number(value)
    if number is None:
        return math.nan
    return number


def _are_near(first: float, second: float, pointer: str, tolerance: float) -> bool:
    """Decide whether two numbers at a JSON pointer agree within a relative tolerance.

    Three kinds of numbers are compared in another way:

    - A relative width of an interval consists of rounding errors. Two widths agree if both are at most the tolerance.
    - A δ is compared by its logarithm.
    - A field of `ABSOLUTE` has an additional absolute tolerance.

    Args:
        first: a number; it may be infinite or NaN.
        second: the other number.
        pointer: JSON pointer to both. The names in it determine how they are compared.
        tolerance: largest relative difference.

    Returns:
        True if they agree. NaN agrees with no number.
    """
    if first == second:
        return True
    names = pointer.split("/")
    smaller, larger = min(first, second), max(first, second)
    if WIDTH in names:
        return smaller >= 0.0 and larger <= tolerance

    has_logarithms = 0.0 < smaller <= larger < math.inf
    if "delta" in names and has_logarithms:
        return math.isclose(math.log(first), math.log(second), rel_tol=tolerance, abs_tol=tolerance)
    absolute_tolerances = [ABSOLUTE.get(name, 0.0) for name in names]
    return math.isclose(first, second, rel_tol=tolerance, abs_tol=max(absolute_tolerances, default=0.0))


def _number(value: object) -> float | None:
    """Convert a JSON number, or a word for infinity, to a double; return None for another value.

    Integers beyond the doubles and the strings "unbounded" and "-unbounded" are infinite.

    Args:
        value: a JSON value.

    Returns:
        The double, which may be infinite; None for texts, objects, lists, null and truth values.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        # An integer may be too large for a double.
        if abs(value) <= sys.float_info.max:
            return float(value)
        return math.inf if value > 0 else -math.inf
    if isinstance(value, str):
        infinities = {"unbounded": math.inf, "-unbounded": -math.inf}
        return infinities.get(value)
    return None

"""The figures of a report beside those of another computation: equal, near, confirmed, not confirmed, or contradicted.

The same engine is deterministic on one machine. On another processor, or with another build of the mathematical
libraries, the last digits of sums and of logarithms differ, and a search that stops at a tolerance may stop a few
roundings elsewhere. So figures of the same engine must be near: within `SAME_ENGINE` of each other, relatively, which
is ten times the tolerance at which searches stop. Both ends of an enclosure are figures like any other: an end that was
narrowed is a difference, even if the enclosures still meet. A δ is compared by its logarithm, for a δ of 1e-300 moves
by a thousandth where the noise moves by a millionth.

Another engine may prove more or less. Its report is confirmed where what is proved today implies what it says: today's
enclosure lies in the report's. Enclosures that do not meet contradict each other; anything between is not confirmed.
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
"""Most that figures may differ by, relatively."""
BINDING = ("algorithm", "parameters", "guarantee", "points", "claim", "meaning")
"""What another engine must confirm. The rest of an answer is explanation, and may be told otherwise."""
MOST_DIFFERENCES = 20
ABSOLUTE: Mapping[str, float] = {
    "margin_epsilon": 1e-5,
    "margin_log10_delta": 1e-5,
    "log10_delta": 1e-5,
    "epsilon": 1e-9,
    "advantage": 1e-9,
    "true_positive_rate": 1e-9,
}
"""What these may differ by besides, as rounding leaves of a difference, or of a loss near 0, what is not small beside
it."""
FORMER_VERDICTS: Mapping[object, str] = {True: "yes", False: "no"}
"""Verdicts on claims as earlier engines wrote them, and the words of this engine."""
WIDTH = "relative_width"
"""How exactly a bound was computed, itself made of roundings: only its being small says something."""
_ENDS = {"lower", "upper"}


class Disagreement(NamedTuple):
    """A place where two records differ by more than may be, and whether one of the two must be wrong."""

    pointer: str
    contradicts: bool


def agreement(signed: JsonObject, computed: JsonObject) -> tuple[Agreement, tuple[str, ...]]:
    """How a signed record agrees with one computed from the same question, and JSON pointers to where it does not."""
    sides = ("answer", "profile", "engine_version")
    if all(canonical(signed[side]) == canonical(computed[side]) for side in sides):
        return "exactly", ()
    same = signed["engine_version"] == computed["engine_version"]
    names = {*signed["answer"], *computed["answer"]} if same else BINDING
    parts = [(f"/answer/{name}", signed["answer"].get(name), computed["answer"].get(name)) for name in sorted(names)]
    parts.append(("/profile", signed["profile"], computed["profile"]))
    found = [each for at, ours, theirs in parts for each in _disagreements(ours, theirs, at, same=same)]
    if not found:
        return "within-the-certificate", ()
    verdict: Agreement = "contradicts" if same or any(each.contradicts for each in found) else "not-confirmed"
    return verdict, tuple(each.pointer for each in found[:MOST_DIFFERENCES])


def explained_otherwise(signed: JsonObject, computed: JsonObject) -> tuple[str, ...]:
    """JSON pointers to the parts of a signed answer that are not binding and that today's engine tells otherwise."""
    names = sorted({*signed["answer"], *computed["answer"]} - {*BINDING, "engine_version"})
    ours, theirs = ({name: canonical(each["answer"].get(name)) for name in names} for each in (signed, computed))
    return tuple(f"/answer/{name}" for name in names if ours[name] != theirs[name])


def _disagreements(ours: object, theirs: object, at: str, *, same: bool) -> Iterator[Disagreement]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if ours.keys() == theirs.keys() == _ENDS:
            yield from _narrowed(ours, theirs, at, same=same)
            return
        for name in sorted(ours.keys() | theirs.keys()):
            yield from _disagreements(ours.get(name), theirs.get(name), f"{at}/{name}", same=same)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _disagreements(one, other, f"{at}/{place}", same=same)
    elif (one := _number(ours)) is not None and (other := _number(theirs)) is not None:
        if not _near(one, other, at, SAME_ENGINE if same else OTHER_ENGINE):
            yield Disagreement(at, contradicts=True)
    elif not same and isinstance(ours, bool) and at.endswith("/holds"):
        if FORMER_VERDICTS[ours] != theirs:
            yield Disagreement(at, contradicts=True)
    elif type(ours) is not type(theirs) or ours != theirs:
        yield Disagreement(at, contradicts=True)


def _narrowed(
    ours: Mapping[str, object], theirs: Mapping[str, object], at: str, *, same: bool
) -> Iterator[Disagreement]:
    """Whether our enclosure says more than theirs proves; if it does, whether the two can both be true."""
    ends = [_number(one[end]) for one in (ours, theirs) for end in ("lower", "upper")]
    low, high, least, most = (math.nan if end is None else end for end in ends)
    slack = SAME_ENGINE if same else OTHER_ENGINE

    def below(one: float, other: float) -> bool:
        return one <= other or _near(one, other, at, slack)

    near = _near(low, least, at, slack) and _near(high, most, at, slack)
    if low <= high and (near if same else below(low, least) and below(most, high)):
        return
    yield Disagreement(at, contradicts=not (low <= high and below(least, high) and below(low, most)))


def _near(one: float, other: float, at: str, slack: float) -> bool:
    if one == other:
        return True
    names = at.split("/")
    if WIDTH in names:
        return min(one, other) >= 0.0 and max(one, other) <= slack
    if "delta" in names and 0.0 < min(one, other) <= max(one, other) < math.inf:
        return math.isclose(math.log(one), math.log(other), rel_tol=slack, abs_tol=slack)
    return math.isclose(
        one, other, rel_tol=slack, abs_tol=max((ABSOLUTE.get(name, 0.0) for name in names), default=0.0)
    )


def _number(value: object) -> float | None:
    """A number in its JSON form, None for what is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) <= sys.float_info.max else math.inf if value > 0 else -math.inf
    return {"unbounded": math.inf, "-unbounded": -math.inf}.get(value) if isinstance(value, str) else None

"""The figures of a report beside those of another computation: equal, compatible, or in contradiction.

Two enclosures of one truth must meet. Figures outside enclosures must be equal, but for what a search may stop at:
another processor ends a search a few roundings elsewhere, another engine may find a slightly smaller noise.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from witness.reports.canonical import canonical

Agreement = Literal["exactly", "within-the-certificate", "contradicts"]
SAME_ENGINE, OTHER_ENGINE = 1e-5, 1e-3
"""Most that figures outside enclosures may differ, relatively."""
BINDING = ("algorithm", "parameters", "guarantee", "points", "claim", "meaning")
"""What another engine must confirm. The rest of an answer is explanation, and may be told otherwise."""
MOST_DIFFERENCES = 20
_ENDS = {"lower", "upper"}


def agreement(signed: Mapping[str, Any], computed: Mapping[str, Any]) -> tuple[Agreement, tuple[str, ...]]:
    """How two records of one question agree, and JSON pointers to what contradicts."""
    sides = ("answer", "profile")
    if all(canonical(signed[side]) == canonical(computed[side]) for side in sides):
        return "exactly", ()
    same = signed["engine_version"] == computed["engine_version"]
    slack = SAME_ENGINE if same else OTHER_ENGINE
    names = {*signed["answer"], *computed["answer"]} if same else BINDING
    found = [
        pointer
        for name in sorted(names)
        for pointer in _contradictions(
            signed["answer"].get(name), computed["answer"].get(name), f"/answer/{name}", slack
        )
    ]
    found += _contradictions(signed["profile"], computed["profile"], "/profile", slack)
    return ("contradicts" if found else "within-the-certificate"), tuple(found[:MOST_DIFFERENCES])


def _contradictions(ours: Any, theirs: Any, at: str, slack: float) -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if ours.keys() == theirs.keys() == _ENDS:
            yield from () if _meet(ours, theirs, slack) else (at,)
            return
        for name in sorted(ours.keys() | theirs.keys()):
            yield from _contradictions(ours.get(name), theirs.get(name), f"{at}/{name}", slack)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _contradictions(one, other, f"{at}/{place}", slack)
    elif _number(ours) is not None and _number(theirs) is not None:
        yield from () if _near(_number(ours), _number(theirs), slack) else (at,)
    elif type(ours) is not type(theirs) or ours != theirs:
        yield at


def _meet(ours: Mapping[str, Any], theirs: Mapping[str, Any], slack: float) -> bool:
    """Whether two enclosures have a point in common, up to the roundings that a search may be elsewhere by."""
    ends = [_number(one[end]) for one in (ours, theirs) for end in ("lower", "upper")]
    if any(end is None for end in ends):
        return False
    low, high, other_low, other_high = (end for end in ends if end is not None)
    least, most = max(low, other_low), min(high, other_high)
    return low <= high and (least <= most or _near(least, most, slack))


def _near(one: float | None, other: float | None, slack: float) -> bool:
    return one is not None and other is not None and (one == other or math.isclose(one, other, rel_tol=slack))


def _number(value: Any) -> float | None:
    """A number in its JSON form, None for what is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) <= sys.float_info.max else math.inf if value > 0 else -math.inf
    return {"unbounded": math.inf, "-unbounded": -math.inf}.get(value) if isinstance(value, str) else None

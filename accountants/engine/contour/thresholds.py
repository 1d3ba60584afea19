"""Where a test of a composition has a given size, and a profile whose nodes serve that place well."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.engine.contour import saddle
from epsilond.accountants.engine.contour.composition import DEFAULT_BUDGET, WIDEST, ValueWithWidth, best_of
from epsilond.accountants.engine.contour.nodes import good_width
from epsilond.accountants.engine.contour.parts import Parts, compiled
from epsilond.accountants.engine.contour.profile import ContourProfile, shared, width_of
from epsilond.accountants.engine.contour.transforms.transform import ContourRefused, NodeBudget, RefusalReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.engine.contour.transforms.transform import Part

_RECENTRINGS = 8
_NEWTON_STEPS = 12
_FAR, _SHARED_WIDTH = 1.6, 1e-8
"""How far from their centre, in their reach, nodes are tried for a test, and the width of log δ at which they do."""


class Threshold(NamedTuple):
    """About the ε at which a test has the size asked, a profile whose nodes serve it well, and its width of log δ."""

    profile: ContourProfile
    epsilon: float
    width: float


def thresholds(
    laws: Sequence[tuple[Law, int]] | Parts,
    log_sizes: Sequence[float],
    *,
    budget: NodeBudget = DEFAULT_BUDGET,
    widest: float = WIDEST,
) -> list[Threshold | None]:
    """Where the test S > ε has each size e^x under Q; an ε may have any sign. None where `profile` would be refused.

    Nodes are laid for the middle of the sizes; a size that they do not reach has its own. The larger a size, the
    smaller are the losses that matter: where one is refused, larger ones are not tried.

    Raises:
        ContourRefused: there is no loss at all.
    """
    parts = compiled(laws)
    if not parts:
        raise ContourRefused(RefusalReason.CLOSED_FORM)
    centre = 0.5 * (min(log_sizes) + max(log_sizes))
    middle = _threshold_or_none(parts, centre, budget, widest)
    most = math.inf if middle is not None else centre
    enough = good_width(parts, _SHARED_WIDTH)
    found: dict[float, Threshold | None] = {}
    for log_size in sorted(log_sizes):
        near = _threshold_near(middle.profile, log_size) if middle is not None else None
        if near is None or middle is None or near.width > max(enough, middle.width):
            near = _threshold_or_none(parts, log_size, budget, widest) if log_size < most else None
            most = most if near is not None else min(most, log_size)
        found[log_size] = near
    if None in found.values():  # the others serve only where nodes of their own could hardly be better
        found = {size: near for size, near in found.items() if near is not None and near.width <= enough}
    return [found.get(log_size) for log_size in log_sizes]


def _threshold_or_none(parts: tuple[Part, ...], log_size: float, budget: NodeBudget, widest: float) -> Threshold | None:
    """On nodes of its own, None if it is refused."""
    try:
        return _threshold(parts, log_size, budget, widest)
    except ContourRefused:
        return None


def _threshold(parts: tuple[Part, ...], log_size: float, budget: NodeBudget, widest: float) -> Threshold:
    target = saddle.at_log_size(log_size)

    def attempt(chosen: tuple[Part, ...], most: NodeBudget) -> ValueWithWidth[Threshold]:
        current = shared(chosen, saddle.find(chosen, target, most).place, most)
        for _ in range(_RECENTRINGS):
            root, inside = _newton_to_size(current, log_size)
            if inside:
                found = Threshold(current, root, width_of(current.log_delta(root)))
                return ValueWithWidth(found, found.width)
            current = shared(chosen, saddle.find(chosen, saddle.at_epsilon(root), most).place, most)
        raise ContourRefused(RefusalReason.NO_TILT, "the size is not met")

    return best_of(attempt, parts, target, budget, widest)


def _threshold_near(near: ContourProfile, log_size: float) -> Threshold | None:
    """On these nodes, None if they are far from it."""
    try:
        root, inside = _newton_to_size(near, log_size)
        return Threshold(near, root, width_of(near.log_delta(root))) if inside else None
    except ContourRefused:
        return None


def _newton_to_size(near: ContourProfile, log_size: float) -> tuple[float, bool]:
    """Newton's iteration for log Q(S > ε), concave in ε, from the centre, and whether it ends within reach."""
    root, reach = near.centre, _FAR * near.width
    for _ in range(_NEWTON_STEPS):
        value, slope = near.estimate_log_size(root)
        moved = root + (log_size - value) / slope
        if abs(moved - near.centre) > reach:
            moved = near.centre + math.copysign(reach, moved - near.centre)
            if moved == root:
                return near.centre + math.copysign(2.0 * near.width, moved - near.centre), False
        if abs(moved - root) <= 1e-5 * near.width:
            return moved, True
        root = moved
    return root, False

"""How the distance of two runs is best given away: the numbers of the shifted interpolation.

Two runs with the same noise drift apart: z ← c_k z + s_k at step k, c_k the Lipschitz constant of the map and s_k what
the differing record adds. A third run, started at the second and led to the first, takes over part a_k of the distance
in each step, z ← c_k z + s_k − a_k, until none is left. The two runs' last laws are then μ-Gaussian, μ² = Σ (a_k/ν_k)².
Any plan with z ≥ 0 that ends at 0 is valid; here is the best one, and closed forms of it.

With C_k = Π_{j>k} c_j, the sums B of b_k = C_k a_k may not exceed the sums F of what has come in, C_k s_k, and must
meet them at the end. As b_k costs b_k²/w_k with w_k = (C_k ν_k)², the best B is the greatest convex minorant of F over
W = Σ w: a straight line where F is concave.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.accountants.numerics.special import FloatArray

OUTWARD = 1.0 + 1e-11
"""Every μ is raised by this factor, for the rounding of its powers and sums."""
LEAST_CONTRACTION = 1e-300
LEAST_SQUARE = 1e-300
MOST_STARTS = 256


def least_mu(
    contractions: Sequence[float] | FloatArray,
    shifts: Sequence[float] | FloatArray,
    noises: Sequence[float] | FloatArray,
    *,
    initial_distance: float = 0.0,
) -> float:
    """μ of the best plan over listed steps, rounded up; math.inf if there is distance and no step to give it away in.

    Influences that underflow count as 1e-300 for what comes in and as nothing for the room to give it away.
    """
    factors = np.maximum(np.asarray(contractions, dtype=np.float64), LEAST_CONTRACTION)
    if not factors.size:
        return math.inf if initial_distance > 0 else 0.0
    log_after = np.append(np.cumsum(np.log(factors)[::-1])[::-1], 0.0)
    influence = np.exp(np.maximum(log_after, -690.0))
    came = influence[0] * initial_distance + np.cumsum(influence[1:] * np.asarray(shifts, dtype=np.float64))
    room = np.cumsum(np.exp(2.0 * log_after[1:]) * np.asarray(noises, dtype=np.float64) ** 2)
    hull: list[tuple[float, float]] = [(0.0, 0.0)]
    for point in zip(room.tolist(), came.tolist(), strict=True):
        if point[0] == hull[-1][0]:
            continue
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-1], point):
            hull.pop()
        hull.append(point)
    pieces = itertools.pairwise(hull)
    return math.sqrt(math.fsum((end[1] - start[1]) ** 2 / (end[0] - start[0]) for start, end in pieces)) * OUTWARD


def _slope(start: tuple[float, float], end: tuple[float, float]) -> float:
    return (end[1] - start[1]) / (end[0] - start[0])


# Steps that are all alike, in units of the noise of one step -------------------------------------------------------
def powers_sum(rate: float, count: FloatArray | float) -> FloatArray:
    """Σ_{k<count} e^{−rate k}; `count` itself at rate 0."""
    number = np.asarray(count, dtype=np.float64)
    return number if rate == 0.0 else np.asarray(np.expm1(-rate * number) / math.expm1(-rate))


def periodic_mu(
    *, uses: int, period: int, after: FloatArray, contraction: float, shift: float, diameter: float
) -> FloatArray:
    """μ for a record used every `period` steps, `uses` times, with `after` steps behind the last use; elementwise.

    Contraction c ≤ 1; shift per use and the domain's diameter (math.inf for none) in units of the noise. F is concave
    over the uses, so a straight line serves from the first use to just before the last, and on to the end where its
    slope allows. Or the plan starts late, at the domain's diameter, and forgets the uses before. Non-increasing in
    `after` and decreasing in the noise; rounded up.
    """
    rate = -math.log(max(contraction, LEAST_CONTRACTION))
    steps = np.asarray(after, dtype=np.float64)
    end = _End(rate, shift * np.exp(-rate * steps), powers_sum(2.0 * rate, steps + 1.0), np.exp(-rate * (steps + 1.0)))
    plans = [end.cost(0.0, 0.0)]
    if uses > 1:
        came = shift * math.exp(-rate * (period - 1.0)) * float(powers_sum(period * rate, uses - 1.0))
        plans = [end.cost(came, period * (uses - 1.0))]
        if math.isfinite(diameter):
            plans += [end.cost(*late) for late in _late_starts(uses, period, rate, shift=shift, diameter=diameter)]
    if math.isfinite(diameter):
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            plans.append((diameter * np.exp(-rate * steps)) ** 2 / powers_sum(2.0 * rate, steps))
    # Squares beyond the doubles are no plan, and one below them is not nothing.
    known = [np.where(np.isnan(plan), np.inf, plan) for plan in np.broadcast_arrays(*plans)]
    least = np.maximum(np.minimum.reduce(known), LEAST_SQUARE if shift > 0.0 and diameter > 0.0 else 0.0)
    return np.asarray(np.sqrt(least) * OUTWARD)


class _End(NamedTuple):
    """The steps from the last use on: the use's distance at the end, the room W from it on, and Π c over them all."""

    rate: float
    last: FloatArray
    room: FloatArray
    left: FloatArray

    def cost(self, came: float, gone: float) -> FloatArray:
        """μ² if distance `came` lies before the last use and may be given away evenly over the `gone` steps there.

        One line to just before the last use and one from it, or a single one where that stays below F.
        """
        if gone == 0.0:
            return np.asarray((came * self.left + self.last) ** 2 / self.room)
        before = float(powers_sum(2.0 * self.rate, gone))
        single = came * self.room >= self.last * before * self.left * (1.0 + 1e-9)
        whole = (came * self.left + self.last) ** 2 / (before * self.left**2 + self.room)
        return np.where(single, whole, came**2 / before + self.last**2 / self.room)


def _late_starts(
    uses: int, period: int, rate: float, *, shift: float, diameter: float
) -> Iterator[tuple[float, float]]:
    """What lies before the last use if the plan starts right behind an earlier one, r < `uses` of them to come.

    F is concave again if the diameter is at least the shift: it comes in over period − 1 steps, at no smaller slope
    than each use over its period. A smaller diameter is used with the last use alone to come.
    """
    most = uses - 1.0 if diameter >= shift else 1.0
    near = np.clip(np.round(min(diameter / shift, 1e15)) + np.arange(-2.0, 4.0), 1.0, most)
    spread = np.geomspace(1.0, most, MOST_STARTS).round()
    for remaining in np.unique(np.concatenate((near, spread))).tolist():
        gone = period * remaining - 1.0
        uses_before = float(powers_sum(period * rate, remaining - 1.0))
        yield diameter * math.exp(-rate * gone) + shift * math.exp(-rate * (period - 1.0)) * uses_before, gone

"""Charges of a job of equal steps in a Gaussian slot, step after step: quick, certified at every ε, hardly too high.

A charge c that is enough for one step at the least of the states R − c, R − 2c, … is enough at each of them, so that n
steps cost n c, each with its share of η (docs/ledger.md, "Step after step"). The profile of one step composed with a
Gaussian is bounded by a sum of Gaussian profiles (`hinges.py`). The difference of that sum and the slot's own profile
is smooth, and `smooth.py` bounds it everywhere.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.ledgers.mathematics.amounts import (
    Amount,
    float_below,
    less,
    multiple,
    root_above,
    root_below,
    up,
)
from epsilond.ledgers.mathematics.comparison.hinges import GOOD_AREA, ROUGH_AREA, hinges_of
from epsilond.ledgers.mathematics.comparison.smooth import largest_excess, of_gaussian, of_hinges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.ledgers.mathematics.comparison.hinges import Hinges

MOST_PARTS = 12
"""Largest number of different mechanisms in one job."""
MOST_STAGES = 40
"""Largest number of states at which the charge of a step is computed anew, as the slot empties."""
_USUAL_STAGES, _ROUGH_STAGES, _FINEST, _COARSEST = 12.0, 6.0, 40.0, 3.0
"""Number of stages in which the slot falls by a factor e: usual, rough, largest and smallest.

All steps of one stage have the same charge.
"""
_AIM = 0.93
"""Share of η that the search aims at."""
_BEYOND = 0.02
"""Value of the slot's own profile at the last point, as a share of η."""
_POINTS = 41
_MOST_TRIES = 30
_SETTLED = 1e-6
_RAISES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
_FURTHEST = 600.0
"""Largest ε at which e^ε stays far within the range of doubles."""
_GAUSSIAN_ROUNDING = Fraction(1) + Fraction(1, 2**50)
_LEAST_LEFT = 2e-3
"""Smallest share of the slot that steps may leave, because smaller remainders need more cells."""


class StepPrices:
    """Prices of a job in a Gaussian slot if its steps are charged one after another.

    A part of the job is a number of runs of one mechanism, and each run is a step.

    Attributes:
        floor: estimate of the cost from below, as if the steps shared all of η and each was run in the full slot;
            math.inf if not even a single step fits.
    """

    def __init__(self, parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount, rough: bool) -> None:
        """Bound the profile of each part, and estimate its cost.

        Args:
            parts: dominating pairs of the job, each with its number of runs, at least 1.
            remaining: μ² that is left in the slot.
            eta: η of the whole job, of which each run gets an equal share.
            rough: whether to use fewer hinges and stages. A stage is a group of steps with the same charge.
        """
        runs = sum(count for _, count in parts)
        area = ROUGH_AREA if rough else GOOD_AREA
        self._stages = _ROUGH_STAGES if rough else _USUAL_STAGES
        self._remaining = remaining
        self._step_eta = float_below(eta) / runs * (1.0 - 4 * UNIT_ROUNDOFF)
        self._parts = [(pair, count, hinges_of(pair, self._step_eta, area)) for pair, count in parts]
        self._estimates = [_Step(hinges, remaining, 1, float_below(eta)).search(0.0) for _, _, hinges in self._parts]
        costs = []
        for estimate, (_, count, _) in zip(self._estimates, self._parts, strict=True):
            costs.append(math.inf if estimate is None else estimate * count)
        self.floor = math.fsum(costs)

    def cost(self) -> Amount | None:
        """Return the certified cost of the job in μ², or None if no cost could be certified.

        Guarantees:
            The profile of the job, composed with N(√(R − cost), 1) against N(0, 1), is at most the profile of N(√R, 1)
            against N(0, 1), plus η. R is the μ² that is left in the slot. This holds at every ε and in both directions.
        """
        if not self.floor <= float_below(self._remaining):
            return None
        stages_per_e_fold = self._stages_per_e_fold()
        left, stages = self._remaining, 0
        for (pair, count, hinges), estimate in zip(self._parts, self._estimates, strict=True):
            gaussian_left = _gaussian_left(pair, left, count)
            stepped_left, step_cost, done = left, estimate or 0.0, 0
            while done < count and stages < MOST_STAGES:
                stages += 1
                steps = count - done
                if step_cost * steps * stages_per_e_fold > float(stepped_left):
                    steps = max(1, int(float(stepped_left) / (stages_per_e_fold * step_cost)))
                after = _Step(hinges, stepped_left, steps, self._step_eta).remainder(step_cost)
                if after is None:
                    break
                step_cost = float(less(stepped_left, after)) / steps
                stepped_left = after
                done += steps
            remainders = [stepped_left] if done >= count else []
            if gaussian_left is not None:
                remainders.append(gaussian_left)
            if not remainders:
                return None
            left = max(remainders)
        return less(self._remaining, left)

    def _stages_per_e_fold(self) -> float:
        """Return the number of stages in which the slot may fall by a factor e.

        The job gets about the same number of stages whether it takes much of the slot or little.
        """
        share = min(1.05 * self.floor / float_below(self._remaining), 0.98)  # of the slot; the job takes slightly less
        e_folds = -math.log1p(-share)
        return min(max(self._stages / max(e_folds, 1e-300), _COARSEST), _FINEST)


def step_prices(
    parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount, rough: bool = False
) -> StepPrices | None:
    """Return the prices of a job's steps one after another.

    Args:
        parts: dominating pairs of the job, each with its number of runs.
        remaining: μ² that is left in the slot.
        eta: η of the whole job.
        rough: whether to compute faster, with slightly higher prices. They are certified as well.

    Returns:
        The prices. None if the job has no or too many parts, or if e^ε would overflow within the slot's profile.
    """
    nonempty_parts = [(pair, count) for pair, count in parts if count > 0]
    if not nonempty_parts or len(nonempty_parts) > MOST_PARTS or not _last(remaining, float_below(eta)) <= _FURTHEST:
        return None
    return StepPrices(nonempty_parts, remaining, eta, rough)


def _gaussian_left(pair: Pair, here: Amount, count: int) -> Amount | None:
    """Return the μ² that is left after runs of a Gaussian mechanism, which cost exactly their μ² and no η.

    Args:
        pair: dominating pair of one run.
        here: μ² that is left in the slot before the runs.
        count: number of runs.

    Returns:
        μ² that is left after the runs. None for a mechanism that is not Gaussian, or if the runs do not fit.
    """
    if pair.gaussian_dp_mu is None:
        return None
    left = less(here, multiple(up((Fraction(pair.gaussian_dp_mu) * _GAUSSIAN_ROUNDING) ** 2), count))
    return left if left >= 0 else None


class _Step:
    """Search for the charge of equal steps in a slot. All of them get the same charge."""

    def __init__(self, orders: Sequence[Hinges], remaining: Amount, count: int, eta: float) -> None:
        """Prepare the steps.

        Args:
            orders: upper bound on the profile of one step, for each direction of its pair.
            remaining: μ² that is left in the slot before the first step.
            count: number of steps.
            eta: η of one step.
        """
        self._orders = orders
        self._count = count
        self._remaining = remaining
        self._whole = float_below(remaining)
        self._eta = eta
        self._last = _last(remaining, eta) if self._whole > 0.0 else 0.0

    def remainder(self, guess: float) -> Amount | None:
        """Return the μ² that is left after all steps, certified; None if no charge could be certified.

        Args:
            guess: initial estimate of the cost of one step.
        """
        estimate = self.search(guess) if 0.0 < self._last <= _FURTHEST else None
        if estimate is None:
            return None
        for increase in _RAISES:
            cost = up(estimate * (1.0 + increase))
            if self.certify(cost):
                return less(self._remaining, multiple(cost, self._count))
        return None

    def certify(self, cost: Amount) -> bool:
        """Return whether each step may be charged this cost. True is certified.

        Only the last step is checked, because a cost that suffices there suffices for the earlier steps, when the slot
        has more left.
        """
        left = less(self._remaining, multiple(cost, self._count))
        right = less(self._remaining, multiple(cost, self._count - 1))
        if float(left) < _LEAST_LEFT * self._whole:
            return False
        mu, slot = root_above(left), root_below(right)
        return all(largest_excess(order, mu, slot, self._last, self._eta) <= self._eta for order in self._orders)

    def search(self, guess: float) -> float | None:
        """Find the least cost of one step that suffices at some ε, by Newton's method with a bracket.

        The cost suffices if the profiles differ there by at most `_AIM` times η. It is not certified at other ε.

        Args:
            guess: initial estimate of the cost.

        Returns:
            The cost. None if every sufficient cost would use up nearly the whole slot.
        """
        most = self._whole * (1.0 - _LEAST_LEFT) / self._count
        at = np.linspace(0.0, self._last, _POINTS)
        cost = min(guess, 0.5 * most)
        low, high = 0.0, most
        for _ in range(_MOST_TRIES):
            worst, estimate = self._next_cost(at, cost)
            if worst > 0.0:
                low = cost
            else:
                high = cost
            if abs(estimate - cost) <= _SETTLED * cost and worst <= 1e-3 * self._eta:
                return cost
            if high - low <= 0.1 * _SETTLED * high:
                break
            cost = estimate if low < estimate < high else 0.5 * (low + high)
        return high if high < most else None

    def _next_cost(self, at: FloatArray, cost: float) -> tuple[float, float]:
        """Return the largest excess at some points, and Newton's estimate of the cost at which it is zero.

        The excess at ε is F ⊗ G_μ − G_slot − `_AIM` η. Here F is the upper bound on the profile of one step, G_μ the
        Gaussian that is left after the last step, and G_slot the Gaussian before the last step.

        Args:
            at: the points ε.
            cost: cost of one step.
        """
        least = 1e-3 * self._whole * _LEAST_LEFT
        left = max(self._whole - self._count * cost, least)
        mu, slot = math.sqrt(left), math.sqrt(max(self._whole - (self._count - 1) * cost, left))
        before = of_gaussian(at, slot)
        worst, next_cost = -math.inf, 0.0
        for order in self._orders:
            after = of_hinges(order, at, mu)
            excess = after.value - before.value + 2.0 * (after.error + before.error) - _AIM * self._eta
            # dE/d(μ²) = φ(a)/(2μ), which is half of the second derivative less the first.
            falls = 0.5 * (self._count * (after.bend - after.slope) - (self._count - 1) * (before.bend - before.slope))
            near = excess > -0.5 * before.value
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                costs = np.where((falls > 0.0) & near, cost + excess / falls, -math.inf)
            worst, next_cost = max(worst, float(np.max(excess))), max(next_cost, float(np.max(costs)))
        return worst, next_cost


def _last(remaining: Amount, eta: float) -> float:
    """Return an ε at which the slot's own profile is a small share of η."""
    return gaussian_pair(root_above(remaining)).epsilon(math.log(_BEYOND * eta)).upper

"""What a job of equal steps costs in a Gaussian slot, step after step: quick, certified at every ε, hardly dearer.

A charge c that is enough for one step at the least of the states R − c, R − 2c, … is enough at each of them, so that n
steps cost n c, each with its share of η (docs/ledger.md, "Step after step"). One step beside a Gaussian is bounded by a
sum of Gaussian profiles (`hinges.py`), whose difference to the slot's own is smooth: `smooth.py` bounds it everywhere.
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
"""Different mechanisms of one job."""
MOST_STAGES = 40
"""States at which the charge of a step is computed anew, as the slot empties."""
_USUAL_STAGES, _ROUGH_STAGES, _FINEST, _COARSEST = 12.0, 6.0, 40.0, 3.0
"""Steps are charged alike until the slot has fallen by a part of itself: one of these, so that stages are few."""
_AIM = 0.93
"""Of η, what the search aims at."""
_BEYOND = 0.02
"""Of η, what the slot's own profile is at the last point."""
_POINTS = 41
_MOST_TRIES = 30
_SETTLED = 1e-6
_RAISES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
_FURTHEST = 600.0
_GAUSSIAN_ROUNDING = Fraction(1) + Fraction(1, 2**50)
_LEAST_LEFT = 2e-3
"""Of the slot, which steps leave at least: the less is left, the more cells it would take."""


class StepPrices:
    """The parts of a job in a slot, each step of which is charged by itself.

    Attributes:
        floor: about what the job would cost if its steps shared all of η and each met the full slot; an estimate from
            below, math.inf where one step alone does not fit.
    """

    def __init__(self, parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount, rough: bool) -> None:
        runs = sum(count for _, count in parts)
        area = ROUGH_AREA if rough else GOOD_AREA
        self._stages = _ROUGH_STAGES if rough else _USUAL_STAGES
        self._remaining = remaining
        self._each = float_below(eta) / runs * (1.0 - 4 * UNIT_ROUNDOFF)
        self._parts = [(pair, count, hinges_of(pair, self._each, area)) for pair, count in parts]
        self._guesses = [_Step(one, remaining, 1, float_below(eta)).search(0.0) for _, _, one in self._parts]
        self.floor = math.fsum(
            math.inf if guess is None else guess * count
            for guess, (_, count, _) in zip(self._guesses, self._parts, strict=True)
        )

    def cost(self) -> Amount | None:
        """Of the job, its parts' steps one after another; None where no certificate was found.

        Guarantees: the job leaves G_√(remaining − cost) of G_√remaining, but for η, at every ε and in both orders.
        """
        if not self.floor <= float_below(self._remaining):
            return None
        falls = -math.log1p(-min(1.05 * self.floor / float_below(self._remaining), 0.98))
        shares = min(max(self._stages / max(falls, 1e-300), _COARSEST), _FINEST)
        here, stages = self._remaining, 0
        for (pair, count, orders), guess in zip(self._parts, self._guesses, strict=True):
            exact = _gaussian_left(pair, here, count)
            each, done, met = guess or 0.0, 0, here
            while done < count and stages < MOST_STAGES:
                stages += 1
                steps = count - done
                if each * steps * shares > float(met):
                    steps = max(1, int(float(met) / (shares * each)))
                left = _Step(orders, met, steps, self._each).left(each)
                if left is None:
                    break
                each, met, done = float(less(met, left)) / steps, left, done + steps
            if done < count and exact is None:
                return None
            here = max(one for one in (exact, met if done == count else None) if one is not None)
        return less(self._remaining, here)


def step_prices(
    parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount, rough: bool = False
) -> StepPrices | None:
    """What a job's steps cost one by one; None where it has too many parts, or the slot reaches too far for doubles.

    `rough` prices are certified as well, with fewer hinges and stages.
    """
    wanted = [(pair, count) for pair, count in parts if count > 0]
    if not wanted or len(wanted) > MOST_PARTS or not _last(remaining, float_below(eta)) <= _FURTHEST:
        return None
    return StepPrices(wanted, remaining, eta, rough)


def _gaussian_left(pair: Pair, here: Amount, count: int) -> Amount | None:
    """What a Gaussian mechanism leaves exactly, with no η; None for another, or where it does not fit."""
    if pair.gaussian_dp_mu is None:
        return None
    left = less(here, multiple(up((Fraction(pair.gaussian_dp_mu) * _GAUSSIAN_ROUNDING) ** 2), count))
    return left if left >= 0 else None


class _Step:
    """One of some equal steps, the first of which meets this slot."""

    def __init__(self, orders: Sequence[Hinges], remaining: Amount, count: int, eta: float) -> None:
        self._orders = orders
        self._count = count
        self._remaining = remaining
        self._whole = float_below(remaining)
        self._eta = eta
        self._last = _last(remaining, eta) if self._whole > 0.0 else 0.0

    def left(self, guess: float) -> Amount | None:
        """What all steps leave, certified."""
        found = self.search(guess) if 0.0 < self._last <= _FURTHEST else None
        if found is None:
            return None
        for raised in _RAISES:
            cost = up(found * (1.0 + raised))
            if self.certified(cost):
                return less(self._remaining, multiple(cost, self._count))
        return None

    def certified(self, cost: Amount) -> bool:
        """Whether a step costs no more in the last state that a step meets, and so in all before."""
        left = less(self._remaining, multiple(cost, self._count))
        right = less(self._remaining, multiple(cost, self._count - 1))
        if float(left) < _LEAST_LEFT * self._whole:
            return False
        mu, slot = root_above(left), root_below(right)
        return all(largest_excess(order, mu, slot, self._last, self._eta) <= self._eta for order in self._orders)

    def search(self, guess: float) -> float | None:
        """The least cost of one step at which no point shows more than is aimed at; not certified."""
        most = self._whole * (1.0 - _LEAST_LEFT) / self._count
        at = np.linspace(0.0, self._last, _POINTS)
        here, low, high = min(guess, 0.5 * most), 0.0, most
        for _ in range(_MOST_TRIES):
            worst, met = self._met(at, here)
            low, high = (here, high) if worst > 0.0 else (low, here)
            if abs(met - here) <= _SETTLED * here and worst <= 1e-3 * self._eta:
                return here
            if high - low <= 0.1 * _SETTLED * high:
                break
            here = met if low < met < high else 0.5 * (low + high)
        return high if high < most else None

    def _met(self, at: FloatArray, cost: float) -> tuple[float, float]:
        """The largest excess at points, and the cost at which all are met if each falls straight in it."""
        least = 1e-3 * self._whole * _LEAST_LEFT
        left = max(self._whole - self._count * cost, least)
        mu, slot = math.sqrt(left), math.sqrt(max(self._whole - (self._count - 1) * cost, left))
        whole = of_gaussian(at, slot)
        worst, met = -math.inf, 0.0
        for order in self._orders:
            here = of_hinges(order, at, mu)
            excess = here.value - whole.value + 2.0 * (here.error + whole.error) - _AIM * self._eta
            # dE/d(μ²) = φ(a)/(2μ), which is half of the second derivative less the first.
            falls = 0.5 * (self._count * (here.bend - here.slope) - (self._count - 1) * (whole.bend - whole.slope))
            near = excess > -0.5 * whole.value
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                costs = np.where((falls > 0.0) & near, cost + excess / falls, -math.inf)
            worst, met = max(worst, float(np.max(excess))), max(met, float(np.max(costs)))
        return worst, met


def _last(remaining: Amount, eta: float) -> float:
    """An ε at which the slot's own profile is a small share of η."""
    return gaussian_pair(root_above(remaining)).epsilon(math.log(_BEYOND * eta)).upper

"""Trial of a cost of one mechanism in a Gaussian slot: at some ε for searches, or certified at every ε."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.numerics.root_search import bisect_reals
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.ledgers.mathematics.amounts import ZERO, Amount, down, float_below, less, root_above, root_below
from epsilond.ledgers.mathematics.comparison.cells import excess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.special import FloatArray

TOLERANCE = 1e-7
"""Relative tolerance of the cost search; the answer is certified separately."""
_ROUGH = 1e-3
"""Relative tolerance of the first search, at few points."""
_SHARE = 0.8
"""Share of η that the search uses; the rest allows for the interpolation between the points."""
_SECANT_SPACING = 100.0
"""Relative distance of the first two costs of the secant method, in units of the tolerance."""
_SECANT_MARGIN = 0.4
"""Relative addition to a predicted root, in units of the tolerance, so that the next cost just suffices."""
_LEAST_EPSILON = 1e-6
"""Smallest ε up to which profiles are compared, so that the range of ε is never empty."""
_NEARLY_WHOLE = 0.99
"""Share of the slot's μ² in a quick check. A profile is much faster to evaluate if some Gaussian is left to compose."""
_LEAST_EXCESS = 1e-9
"""Least difference of log δ by which a mechanism is rejected; far above the rounding of the sum of two δ."""
_BEYOND_SLOT = np.asarray([1.02, 1.04, 1.07, 1.1])
"""Multiples of the last chosen ε, at which δ of the slot is at most η; a rejection is tried there."""
_HALVINGS = 30
"""Bisections for the initial estimate of the cost; they leave 1e-9 of the slot."""
_MOST_STEPS = 40
"""Largest number of steps of the secant method."""


class SlotTrial:
    """Test of whether a Gaussian slot can pay for a mechanism at a given cost in μ².

    A Gaussian slot is a privacy budget in μ², the squared parameter of Gaussian differential privacy. The test is quick
    at some values of ε, or certified at every ε. It compares privacy profiles, that is, δ as functions of ε. E is the
    profile of the mechanism composed with the Gaussian that is left after the cost, and E_slot that of the slot before.
    The permitted additional δ is η, and η′ is a share of it. A cost suffices at an ε if its gap there is at most 0:

        gap = log E − log(E_slot + η′).
    """

    def __init__(
        self, parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount, share: float = _SHARE
    ) -> None:
        """Prepare to try costs of a mechanism in a slot, a privacy budget in μ² of Gaussian differential privacy.

        The first 25 values of ε at which costs are tried are evenly spaced, from 0 to an ε at which δ(ε) of the slot is
        at most η. `add` and `refine` add more.

        Args:
            parts: dominating pairs of the mechanism, each with its number of runs.
            remaining: μ² that is left in the slot, above 0.
            eta: η, the δ that the mechanism may add to that of the slot, in (0, 1).
            share: fraction of η, in (0, 1], that the mechanism may add at the chosen ε.
        """
        self._parts = [(pair, times) for pair, times in parts if times > 0]
        self._remaining = remaining
        self._slot_size = float_below(remaining)
        self._slot_pair = gaussian_pair(root_below(remaining))
        self._log_eta = math.log(float_below(eta)) * (1.0 + 1e-15)  # rounded down, as the logarithm is negative
        self._log_share = math.log(share)
        self._slot_suffices: bool | None = None
        last = max(gaussian_pair(root_above(remaining)).epsilon(self._log_eta).upper, _LEAST_EPSILON)
        self._points = np.linspace(0.0, last, 25)

    def certify(self, cost: Amount) -> tuple[bool, float]:
        """Try to certify that a cost in μ² pays for the mechanism, at every ε ≥ 0 and in both directions.

        Let m be the μ² of a Gaussian privacy budget (slot) before the cost, and c the cost. The cost suffices if:

            δ of (the mechanism composed with the Gaussian of m − c) ≤ δ of (the Gaussian of m) + η.

        Args:
            cost: the cost c.

        Returns:
            Whether the cost is certified to suffice, and the ε with the largest excess. The ε is 0 if the composed
            mechanism has no finite ε at η.
        """
        composed = self._composed_with(less(self._remaining, cost))
        # Beyond this ε the composed profile is below η, despite rounding, so it needs no comparison.
        last = max(composed.epsilon(self._log_eta - 1e-12).upper, _LEAST_EPSILON)
        if math.isinf(last):
            return False, 0.0
        slot = self._slot_pair.forward  # the slot's pair is symmetric
        bounds = [excess(profile, slot, self._log_eta, last) for profile in composed.directions()]
        worst = max(bounds, key=lambda bound: bound.at_points)
        return all(bound.holds for bound in bounds), worst.worst

    def add(self, epsilon: float) -> None:
        """Add an ε to those at which costs are tried, together with the values 1 % below and above it.

        Args:
            epsilon: the ε, in nats.
        """
        new_points = epsilon * np.asarray([0.99, 1.0, 1.01])
        self._points = np.unique(np.concatenate([self._points, new_points]))

    def cannot_fit(self) -> bool:
        """Return whether not even the whole slot can pay for the mechanism, certified at a few ε.

        No cost can suffice if, at one of these ε, the lower bound on the mechanism's δ exceeds the slot's upper bound
        plus η. Few ε are tried, because the mechanism's profile without a Gaussian may be slow to evaluate.

        Returns:
            True if no cost can suffice. False is inconclusive, as another ε might exclude every cost.
        """
        # If nearly the whole slot suffices at the chosen ε, so does the whole slot, whose gaps are smaller.
        gaps = self._gaps(_NEARLY_WHOLE * self._slot_size)
        if np.max(gaps) <= 0.0:
            self._slot_suffices = True
            return False
        mechanism = self._composed_with(ZERO)

        def fails(epsilon: float) -> bool:
            """Return whether δ of the mechanism is certified to exceed the permitted δ at an ε."""
            log_allowed = np.logaddexp(self._slot_pair.log_delta_bounds(epsilon).upper, self._log_eta)
            return bool(mechanism.log_delta_bounds(epsilon).lower > log_allowed + _LEAST_EXCESS)

        # Beyond the last chosen ε, δ of the mechanism may exceed η. Elsewhere the largest gap is most promising.
        beyond_slot = float(self._points[-1]) * _BEYOND_SLOT
        around_worst = self._points_around(int(np.argmax(gaps)), 1)
        candidates = [*beyond_slot.tolist(), *around_worst.tolist()]
        return any(map(fails, candidates))

    def search(self) -> float | None:
        """Find nearly the least cost in μ² that suffices at the chosen ε. It is not certified at others.

        A first search with few ε shows where the gap is largest. A second one uses more ε there.

        Returns:
            The cost. None if not even all μ² of the budget suffices at the chosen ε.
        """
        if self._slot_suffices is None:  # computed once: the mechanism's profile without a Gaussian can take seconds
            self._slot_suffices = float(np.max(self._gaps(self._slot_size))) <= 0.0
        if not self._slot_suffices:
            return None
        # Start below the whole slot: profiles are faster to evaluate if some Gaussian is left.
        start = min(self._initial_cost(), 0.9 * self._slot_size)
        rough_cost = self.find_root(start, _ROUGH)
        self.refine(rough_cost)
        return self.find_root(rough_cost, TOLERANCE)

    def worst(self, cost: float) -> float:
        """Return the largest log(actual δ / permitted δ) over the chosen ε if a mechanism is charged a cost.

        The actual δ is that of the mechanism composed with the Gaussian budget that is left after the cost. The
        permitted δ is that of the budget before, plus the share of η.

        Args:
            cost: the cost, an amount of μ².

        Returns:
            A natural logarithm. If it is at most 0, the cost suffices at all chosen ε.
        """
        return float(np.max(self._gaps(cost)))

    def refine(self, cost: float) -> None:
        """Add ten evenly spaced ε around the chosen ε at which the gap of a cost is largest.

        Args:
            cost: cost in μ².
        """
        closer = self._points_around(int(np.argmax(self._gaps(cost))), 1)
        self._points = np.unique(np.concatenate([self._points, closer]))

    def _points_around(self, index: int, reach: int) -> FloatArray:
        """Return ten evenly spaced ε around a chosen one, from one of its neighbours to another.

        Args:
            index: index of the chosen ε among all chosen points.
            reach: number of neighbours on each side that the interval covers, as far as there are so many.

        Returns:
            The values of ε, in increasing order.
        """
        below = self._points[max(index - reach, 0)]
        above = self._points[min(index + reach, self._points.size - 1)]
        return np.linspace(below, above, 10)

    def find_root(self, start: float, tolerance: float) -> float:
        """Find the least cost that suffices at all chosen ε, by the secant method with a bracket.

        The cost is an amount of μ² that a slot, a Gaussian privacy budget, pays for a mechanism. It suffices at an ε if
        its gap, the logarithm of actual over permitted δ, is at most 0. The gap is nearly linear in the cost, so its
        values at the last two costs predict the root for each ε. The largest of these roots is tried next, or the
        middle of the bracket if this root is outside.

        Args:
            start: initial estimate of the cost.
            tolerance: relative tolerance of the cost.

        Returns:
            The smallest cost that was tried and suffices at the chosen ε; the whole slot if there is none.
        """
        # The secant method requires the gaps at two costs: the start, and a slightly larger cost.
        last_cost = start
        last_gaps = self._gaps(start)
        bracket = _CostBracket(0.0, self._slot_size).narrow(start, suffices=float(np.max(last_gaps)) <= 0.0)
        cost = min(start * (1.0 + _SECANT_SPACING * tolerance), 0.5 * (start + self._slot_size))
        for _ in range(_MOST_STEPS):
            gaps = self._gaps(cost)
            suffices = float(np.max(gaps)) <= 0.0
            bracket = bracket.narrow(cost, suffices=suffices)
            if not suffices and self._needs_whole_slot(bracket, int(np.argmax(gaps)), tolerance):
                break

            # A little above the root, so that the estimate is likely to suffice.
            estimate = _secant_root(last_cost, last_gaps, cost, gaps) * (1.0 + _SECANT_MARGIN * tolerance)
            has_converged = suffices and abs(estimate - cost) <= tolerance * cost
            is_narrow = bracket.high - bracket.low <= tolerance * bracket.high
            if has_converged or is_narrow:
                break
            last_cost = cost
            last_gaps = gaps
            is_inside = bracket.low < estimate < bracket.high
            cost = estimate if is_inside else 0.5 * (bracket.low + bracket.high)
        return bracket.high

    def _needs_whole_slot(self, bracket: _CostBracket, index: int, tolerance: float) -> bool:
        """Return whether the least sufficient cost is the whole slot, up to the tolerance.

        The test evaluates one gap at one ε. It avoids a bisection near the whole slot, where privacy profiles are slow
        to compute.

        Args:
            bracket: bounds of the cost; a cost near the whole slot does not suffice.
            index: index of the ε at which that cost is least sufficient.
            tolerance: relative tolerance of the cost.

        Returns:
            True if the whole slot less the tolerance does not suffice at that ε.
        """
        if bracket.high < self._slot_size or bracket.low < _NEARLY_WHOLE * self._slot_size:
            return False
        nearly_whole = self._slot_size * (1.0 - tolerance)
        worst_epsilon = self._points[index : index + 1]
        (gap,) = self._gaps_at(worst_epsilon, nearly_whole)
        return bool(gap > 0.0)

    def _initial_cost(self) -> float:
        """Return a first estimate of the mechanism's cost: μ² of the Gaussian with the same δ at a medium ε.

        It is the result of a bisection over costs from 0 to the whole slot. It is at least 1e-12, because the secant
        method requires a positive cost.
        """
        epsilon = float(self._points[self._points.size // 2])
        log_delta = self._composed_with(ZERO).log_delta_bounds(epsilon).upper  # of the mechanism without a Gaussian

        def is_too_small(cost: float) -> bool:
            """Return whether a Gaussian of this cost has a smaller δ than the mechanism."""
            return gaussian_pair(math.sqrt(cost)).log_delta_bounds(epsilon).upper < log_delta

        _, sufficient_cost = bisect_reals(is_too_small, 0.0, self._slot_size, steps=_HALVINGS)
        return max(sufficient_cost, 1e-12)

    def _gaps(self, cost: float) -> FloatArray:
        """Return log(actual δ / permitted δ) of the mechanism at each chosen ε, if it is charged a cost in μ².

        Args:
            cost: charged cost in μ².

        Returns:
            One gap for each chosen ε, a natural logarithm.
        """
        return self._gaps_at(self._points, cost)

    def _gaps_at(self, points: FloatArray, cost: float) -> FloatArray:
        """Return log(actual δ / permitted δ) of the mechanism at each given ε, if it is charged a cost in μ².

        A slot is a budget in μ² of Gaussian differential privacy. The actual δ is that of the mechanism, composed with
        N(μ, 1) against N(0, 1) for the μ² that the slot has after the charge. The permitted δ is that of N(μ, 1) for
        the μ² before the charge, plus a share of η, the δ that the job may add. The larger gap of both directions is
        returned. It decreases in the cost.

        Args:
            points: the ε at which the gap is computed.
            cost: charged cost in μ².

        Returns:
            One gap for each ε, a natural logarithm.
        """
        left_after = max(less(self._remaining, down(cost)), ZERO)
        composed = self._composed_with(left_after)
        log_slot = self._slot_pair.forward.log_delta(points).lower  # the slot's pair is symmetric
        log_allowed = np.logaddexp(log_slot, self._log_eta + self._log_share)
        gaps = [profile.log_delta(points).upper - log_allowed for profile in composed.directions()]
        return np.asarray(np.max(np.stack(gaps), axis=0))

    def _composed_with(self, left: Amount) -> Pair:
        """Return the dominating pair of the mechanism composed with N(μ, 1) against N(0, 1).

        Args:
            left: μ², the budget that is left after a cost; 0 gives the mechanism only.

        Returns:
            A pair of distributions with a hockey-stick divergence that bounds δ at every ε.
        """
        mu = root_above(left)
        gaussian = [(gaussian_pair(mu), 1)] if mu > 0.0 else []
        return composed_pair([*self._parts, *gaussian], "default")


@dataclass(frozen=True)
class _CostBracket:
    """Bounds of a search for the least cost in μ² with which a privacy budget can pay for a mechanism.

    Attributes:
        low: largest cost that was tried and does not suffice; 0 if there is none.
        high: smallest cost that was tried and suffices; the whole budget if there is none.
    """

    low: float
    high: float

    def narrow(self, cost: float, *, suffices: bool) -> _CostBracket:
        """Return the bounds of the search after a cost in μ² was tried.

        The search assumes that a larger cost suffices if a smaller one does.

        Args:
            cost: the cost in μ².
            suffices: whether it suffices at all ε that are compared.

        Returns:
            Bounds that are at least as narrow as before.
        """
        if suffices:
            return replace(self, high=min(self.high, cost))
        return replace(self, low=max(self.low, cost))


def _secant_root(last_cost: float, last_gaps: FloatArray, cost: float, gaps: FloatArray) -> float:
    """Predict the least cost in μ² that suffices at every chosen ε, by the secant method for each ε.

    The gap of a cost is the logarithm of the actual δ over the permitted δ. A cost suffices where its gap is at most 0.
    Each secant is the line through the gaps at two costs.

    Args:
        last_cost: an earlier cost in μ².
        last_gaps: gap at each ε for the earlier cost.
        cost: another cost.
        gaps: gap at each ε for the other cost.

    Returns:
        The largest root of the decreasing secants; −∞ if there is none.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = (gaps - last_gaps) / (cost - last_cost)
        roots = np.where(slope < 0.0, cost - gaps / slope, -math.inf)
    return float(np.max(np.where(np.isfinite(roots), roots, -math.inf)))

"""Trial of a cost of one mechanism in a Gaussian slot: at some ε for searches, or certified at every ε."""

from __future__ import annotations

import math
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
"""Share of η that the search aims at; the rest is left to the chords between points."""
_SECANT_SPACING = 100.0
"""Relative distance of the first two costs of the secant method, in units of the tolerance."""
_SECANT_MARGIN = 0.4
"""Relative addition to a predicted root, in units of the tolerance, so that the next cost suffices, if barely."""
_HALVINGS = 30
"""Bisections for the initial estimate of the cost; they leave 1e-9 of the slot."""
_MOST_STEPS = 40
"""Largest number of steps of the secant method."""


class SlotTrial:
    """Test of whether a cost in μ² suffices for a mechanism in a Gaussian slot.

    The test is quick at some ε, the points, or certified at every ε. The gap of a cost at a point is log E −
    log(E_slot + η′). Here E is the profile of the mechanism, composed with the Gaussian that is left after the cost.
    E_slot is the profile of the slot, and η′ a share of η. A cost suffices at a point if its gap is at most 0.
    """

    def __init__(
        self, parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount, share: float = _SHARE
    ) -> None:
        """Prepare the points, evenly spaced up to an ε at which the slot's profile is at most η.

        Args:
            parts: dominating pairs of the mechanism, each with its number of runs.
            remaining: μ² that is left in the slot.
            eta: η of the charge.
            share: share of η that the gaps allow at the points, between 0 and 1.
        """
        self._parts = [(pair, times) for pair, times in parts if times > 0]
        self._remaining = remaining
        self._whole = float_below(remaining)
        self._right = gaussian_pair(root_below(remaining))
        self._log_eta = math.log(float_below(eta)) * (1.0 + 1e-15)
        self._log_share = math.log(share)
        self._whole_fits: bool | None = None
        self._points = np.linspace(0.0, self._reach(remaining), 25)

    def certify(self, cost: Amount) -> tuple[bool, float]:
        """Decide whether a cost suffices at every ε ≥ 0, in both directions of the pair.

        Returns:
            Whether the cost is certified to suffice, and the ε with the largest difference. That ε is 0 if the
            mechanism has no finite ε at η.
        """
        left = self._composed_with(less(self._remaining, cost))
        last = max(left.epsilon(self._log_eta - 1e-12).upper, 1e-6)
        if math.isinf(last):
            return False, 0.0
        bounds = [excess(profile, self._right.forward, self._log_eta, last) for profile in left.directions()]
        worst = max(bounds, key=lambda bound: bound.at_points)
        return all(bound.holds for bound in bounds), worst.worst

    def add(self, epsilon: float) -> None:
        """Add this ε, and points close to it, to the points."""
        near = epsilon * np.asarray([0.99, 1.0, 1.01])
        self._points = np.unique(np.concatenate([self._points, near]))

    def search(self) -> float | None:
        """Find the least cost at which no point exceeds a share of η. It is not certified.

        The search uses few points first, then more points around the one with the largest gap.

        Returns:
            The cost. None if not even the whole slot suffices at the points.
        """
        if self._whole_fits is None:  # without a Gaussian, the mechanism's profile can take seconds
            self._whole_fits = float(np.max(self._gaps(self._whole))) <= 0.0
        if not self._whole_fits:
            return None
        first = self.find_root(min(self._initial_cost(), 0.9 * self._whole), _ROUGH)
        self.refine(first)
        return self.find_root(first, TOLERANCE)

    def worst(self, cost: float) -> float:
        """Return the largest gap at the points."""
        return float(np.max(self._gaps(cost)))

    def refine(self, cost: float) -> None:
        """Add points around the point that decides at this cost."""
        place = int(np.argmax(self._gaps(cost)))
        sides = self._points[max(place - 1, 0)], self._points[min(place + 1, self._points.size - 1)]
        self._points = np.unique(np.concatenate([self._points, np.linspace(*sides, 10)]))

    def find_root(self, start: float, tolerance: float) -> float:
        """Return the cost at which the largest gap at the points is zero, by the secant method with a bracket.

        At each point the gap is nearly linear in the cost. Its values at the last two costs therefore predict the root
        of each point, and the largest root is tried next; the middle of the bracket if that root is outside.

        Args:
            start: initial estimate of the cost.
            tolerance: relative tolerance of the cost.

        Returns:
            The smallest cost that was found to suffice at the points; the whole slot if none was.
        """
        low, high = 0.0, self._whole
        before, gaps_before = start, self._gaps(start)
        if float(np.max(gaps_before)) > 0.0:
            low = before
        else:
            high = before
        cost = min(start * (1.0 + _SECANT_SPACING * tolerance), 0.5 * (start + self._whole))
        for _ in range(_MOST_STEPS):
            gaps = self._gaps(cost)
            worst = float(np.max(gaps))
            if worst > 0.0:
                low = max(low, cost)
            else:
                high = min(high, cost)
            with np.errstate(invalid="ignore", divide="ignore"):
                slope = (gaps - gaps_before) / (cost - before)
                roots = np.where(slope < 0.0, cost - gaps / slope, -math.inf)
            roots = np.where(np.isfinite(roots), roots, -math.inf)
            estimate = float(np.max(roots)) * (1.0 + _SECANT_MARGIN * tolerance)
            has_converged = worst <= 0.0 and abs(estimate - cost) <= tolerance * cost
            if has_converged or high - low <= tolerance * high:
                break
            before, gaps_before = cost, gaps
            cost = estimate if low < estimate < high else 0.5 * (low + high)
        return high

    def _initial_cost(self) -> float:
        """Return the cost of the Gaussian that has the same δ as the mechanism at the middle point, by bisection."""
        epsilon = float(self._points[self._points.size // 2])
        alone = self._composed_with(ZERO).log_delta_bounds(epsilon).upper

        def too_little(cost: float) -> bool:
            """Return whether a Gaussian of this cost has a smaller δ than the mechanism."""
            return gaussian_pair(math.sqrt(cost)).log_delta_bounds(epsilon).upper < alone

        return max(bisect_reals(too_little, 0.0, self._whole, steps=_HALVINGS)[1], 1e-12)

    def _gaps(self, cost: float) -> FloatArray:
        """Return log left − log(right + a share of η) at the points, the larger of both directions.

        Each gap decreases in the cost.
        """
        left = self._composed_with(max(less(self._remaining, down(cost)), ZERO))
        right = self._right.forward.log_delta(self._points).lower  # the slot's pair is symmetric
        allowed = np.logaddexp(right, self._log_eta + self._log_share)
        gaps = [profile.log_delta(self._points).upper - allowed for profile in left.directions()]
        return np.asarray(np.max(np.stack(gaps), axis=0))

    def _composed_with(self, left: Amount) -> Pair:
        """Return the mechanism's pair composed with the Gaussian of the amount that is left."""
        mu = root_above(left)
        gaussian = [(gaussian_pair(mu), 1)] if mu > 0.0 else []
        return composed_pair([*self._parts, *gaussian], "default")

    def _reach(self, remaining: Amount) -> float:
        """Return an ε at which the slot's own profile is at most η."""
        return max(gaussian_pair(root_above(remaining)).epsilon(self._log_eta).upper, 1e-6)

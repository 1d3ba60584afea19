"""What a mechanism costs in a Gaussian slot, as the residue that it leaves: certified at every ε, in both orders.

A slot that still holds μ² = R is the profile of G_√R, the Gaussian pair N(√R, 1) against N(0, 1). A mechanism with the
dominating pair g may be run at the cost c if g ⊗ G_√(R−c) is at most the profile of G_√R plus η everywhere: the
rule of the ledger's theorem (docs/ledger.md, "The ledger theorem"), and this is where it is checked. A cost found at R
holds at every larger R; at a smaller one it is to be found again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve import Pair
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.ledger.amounts import ZERO, Amount, down, float_below, less, root_above, root_below, up
from epsilond.accountants.ledger.cells import excess
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.theorems.composition.rounds import composed_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve import Profile
    from epsilond.accountants.numerics.special import FloatArray

LEAST_ETA = Decimal("1e-18")
"""The smallest η: amounts have 18 places."""
_TOLERANCE = 1e-7
"""Of the search, relative to the cost; the answer is certified whatever the search finds."""
_ROUGH = 1e-3
_SHARE = 0.8
"""The search aims at this share of η at points, and leaves the rest to the chords between them."""
_MOST_STEPS = 40
_MOST_RAISES = 12


@dataclass(frozen=True)
class Residue:
    """A certified cost: with μ² = `remaining` left, the mechanism may be run for `cost` of it and η."""

    remaining: Amount
    cost: Amount
    eta: Amount


def holds(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, cost: Amount, eta: Amount) -> bool:
    """Whether the mechanism leaves the slot at least what is left after this cost: certified, or False.

    `parts` are the mechanism's dominating pairs with how often each is run, under the ledger's relation.
    """
    if cost > remaining or eta < LEAST_ETA:
        return False
    trial = _Trial(parts, remaining, eta)
    return trial.certified(cost)[0]


def least_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> Residue | None:
    """The least cost of a mechanism in a slot, within about 10^-6 of itself; None if not even all of it suffices.

    Raises:
        InvalidInput: η is smaller than an amount can be.
        BeyondBudget: the composition cannot be evaluated within the engine's budget.
    """
    if eta < LEAST_ETA:
        raise InvalidInput.at("/eta", "is too small for a residue charge", allowed="at least 1e-18")
    if remaining <= 0:
        return None
    trial = _Trial(parts, remaining, eta)
    found = trial.search()
    if found is None:  # the search leaves room that the whole slot may do without
        return Residue(remaining, remaining, eta) if trial.certified(remaining)[0] else None
    for raised in range(_MOST_RAISES):
        cost = min(up(found), remaining)
        right, worst = trial.certified(cost)
        if right:
            return Residue(remaining, cost, eta)
        if cost >= remaining:
            return None
        trial.add(worst)
        found = max(found * (1.0 + _TOLERANCE * 4.0**raised), trial.again(found))
    right, _ = trial.certified(remaining)
    return Residue(remaining, remaining, eta) if right else None


class _Trial:
    """One mechanism against one state of a slot."""

    def __init__(self, parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount) -> None:
        self._parts = [(pair, times) for pair, times in parts if times > 0]
        self._remaining = remaining
        self._whole = float_below(remaining)
        self._right = gaussian_pair(root_below(remaining))
        self._log_eta = math.log(float_below(eta)) * (1.0 + 1e-15)
        self._whole_fits: bool | None = None
        self._points = np.linspace(0.0, self._reach(remaining), 25)

    def certified(self, cost: Amount) -> tuple[bool, float]:
        """Whether a cost is enough, in both orders; and the ε where it is nearest to failing."""
        left = self._left(less(self._remaining, cost))
        last = max(left.epsilon(self._log_eta - 1e-12).upper, 1e-6)
        if math.isinf(last):
            return False, 0.0
        found = [excess(one, other, self._log_eta, last) for one, other in _orders(left, self._right)]
        worst = max(found, key=lambda one: one.at_points)
        return all(one.holds for one in found), worst.worst

    def add(self, epsilon: float) -> None:
        """Look at this ε too, and closely around it."""
        near = epsilon * np.asarray([0.99, 1.0, 1.01])
        self._points = np.unique(np.concatenate([self._points, near]))

    def search(self) -> float | None:
        """The least cost for which the points show no more than a share of η; not certified. None if there is none.

        First at a few points, then at more of them around the one that decides.
        """
        if self._whole_fits is None:  # the mechanism alone, with no Gaussian beside it, can take seconds
            self._whole_fits = float(np.max(self._gaps(self._whole))) <= 0.0
        if not self._whole_fits:
            return None
        first = self._met(min(self._guess(), 0.9 * self._whole), _ROUGH)
        place = int(np.argmax(self._gaps(first)))
        sides = self._points[max(place - 1, 0)], self._points[min(place + 1, self._points.size - 1)]
        self._points = np.unique(np.concatenate([self._points, np.linspace(*sides, 10)]))
        return self._met(first, _TOLERANCE)

    def again(self, found: float) -> float:
        """As `search`, from a cost that was too small."""
        return self._met(found, _TOLERANCE)

    def _met(self, start: float, tolerance: float) -> float:
        """The cost at which the worst point is met.

        At each point the logarithm of the left profile falls nearly straight in the cost: two costs tell where each
        point would be met, and the largest of these is tried next.
        """
        low, high = 0.0, self._whole
        before, gaps_before = start, self._gaps(start)
        low, high = (before, high) if float(np.max(gaps_before)) > 0.0 else (low, before)
        here = min(start * (1.0 + 100.0 * tolerance), 0.5 * (start + self._whole))
        for _ in range(_MOST_STEPS):
            gaps = self._gaps(here)
            worst = float(np.max(gaps))
            low, high = (max(low, here), high) if worst > 0.0 else (low, min(high, here))
            with np.errstate(invalid="ignore", divide="ignore"):
                slope = (gaps - gaps_before) / (here - before)
                met = np.where(slope < 0.0, here - gaps / slope, -math.inf)
            met = np.where(np.isfinite(met), met, -math.inf)
            estimate = float(np.max(met)) * (1.0 + 0.4 * tolerance)
            if high - low <= tolerance * high or (worst <= 0.0 and abs(estimate - here) <= tolerance * here):
                break
            before, gaps_before = here, gaps
            here = estimate if low < estimate < high else 0.5 * (low + high)
        return high

    def _guess(self) -> float:
        """The cost of the Gaussian that is as bad as the mechanism alone, in the middle of the points."""
        epsilon = float(self._points[self._points.size // 2])
        alone = self._left(ZERO).ends(epsilon).upper
        low, high = 0.0, self._whole
        for _ in range(30):
            middle = 0.5 * (low + high)
            enough = gaussian_pair(math.sqrt(middle)).ends(epsilon).upper >= alone
            low, high = (low, middle) if enough else (middle, high)
        return max(high, 1e-12)

    def _gaps(self, cost: float) -> FloatArray:
        """log left − log(right + a share of η) at the points, the larger of both orders; each falls in the cost."""
        left = self._left(max(less(self._remaining, down(cost)), ZERO))
        at = self._points
        worst = np.full(at.size, -math.inf)
        for one, other in _orders(left, self._right):
            allowed = np.logaddexp(other.log_delta(at).lower, self._log_eta + math.log(_SHARE))
            worst = np.maximum(worst, one.log_delta(at).upper - allowed)
        return worst

    def _left(self, left: Amount) -> Pair:
        mu = root_above(left)
        gaussian = [(gaussian_pair(mu), 1)] if mu > 0.0 else []
        return composed_pair([*self._parts, *gaussian], "default")

    def _reach(self, remaining: Amount) -> float:
        return max(gaussian_pair(root_above(remaining)).epsilon(self._log_eta).upper, 1e-6)


def _orders(left: Pair, right: Pair) -> list[tuple[Profile, Profile]]:
    """Each order of the mechanism beside the slot's pair, which is the same in both."""
    return [(profile, right.forward) for profile in left.orders()]

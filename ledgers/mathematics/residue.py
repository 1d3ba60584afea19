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
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.root_search import bisect_reals
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.ledgers.mathematics.amounts import (
    QUANTUM,
    ZERO,
    Amount,
    down,
    float_below,
    less,
    root_above,
    root_below,
    up,
)
from epsilond.ledgers.mathematics.comparison.cells import excess
from epsilond.ledgers.mathematics.steps import StepPrices, step_prices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray

LEAST_ETA = Decimal("1e-18")
"""The smallest η: amounts have 18 places."""
LARGEST_SLOTS = Decimal(64), Decimal(400)
"""μ² of the largest slots that are computed with: a cost that is enough there is enough in every larger one."""
_SURELY, _HOPELESS = 1.01, 4.0
"""What the steps cost one after another over what is left, from which nothing else is tried, or no composition."""
_TOLERANCE = 1e-7
"""Of the search, relative to the cost; the answer is certified whatever the search finds."""
_ROUGH = 1e-3
_SHARE = 0.8
"""The search aims at this share of η at points, and leaves the rest to the chords between them."""
_HALVINGS = 30
"""Bisections for the initial estimate of the cost; they leave 1e-9 of the slot."""
_MOST_STEPS = 40
_MOST_RAISES = 12
_MARGIN = Fraction(1) + Fraction(1, 2**18)
"""What a charge of steps is raised by, so that another machine, which rounds otherwise, certifies it again."""
_MANY, _MUCH, _FEW = 100, (0.1, 0.02), 4
_FINE = Decimal("1e-10")
"""Steps, share of the slot of fewer and of as many, most parts and least η with which a charge of all together pays."""


@dataclass(frozen=True)
class Residue:
    """A certified cost: with μ² = `remaining` left, the mechanism may be run for `cost` of it and η."""

    remaining: Amount
    cost: Amount
    eta: Amount


def holds(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, cost: Amount, eta: Amount) -> bool:
    """Return whether a mechanism leaves at least the slot's remainder after this cost: certified if True.

    `parts` are the mechanism's dominating pairs with how often each is run, under the ledger's relation.
    """
    if cost > remaining or eta < LEAST_ETA:
        return False
    return any(_holds(parts, slot, cost, eta) for slot in _slots(remaining) if slot >= cost)


def _holds(parts: Sequence[tuple[Pair, int]], remaining: Amount, cost: Amount, eta: Amount) -> bool:
    stepped = step_prices(parts, remaining=remaining, eta=eta)
    if _cannot_fit(parts, stepped, remaining, eta):
        return False
    if stepped is None or _worth_composing(parts, stepped, remaining, eta):
        if _SlotTrial(parts, remaining, eta).certified(cost)[0]:
            return True
        stepwise = None if stepped is None else stepped.cost()
        return stepwise is not None and stepwise <= cost
    stepwise = stepped.cost()
    if stepwise is not None and stepwise <= cost:
        return True
    return may_be_composed(parts) and _SlotTrial(parts, remaining, eta).certified(cost)[0]


def shortfall(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, cost: Amount, eta: Amount) -> float:
    """By how much a cost is too small, as the largest log of a ratio of profiles at some ε; at most 0 if it may do.

    For searches over mechanisms. It is no certificate: see `holds`.
    """
    trial = _SlotTrial(parts, remaining, eta, share=1.0)
    worst = trial.worst(float_below(cost))
    trial.refine(float_below(cost))
    return max(worst, trial.worst(float_below(cost)))


def least_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> Residue | None:
    """About the least cost of a mechanism in a slot, certified; None if none was found, whatever is left.

    Step after step, which is quick and a little dear where the job takes a large part of the slot; there many steps
    whose law is known exactly are composed and charged together, within about 10^-6 of the least cost of all.

    Raises:
        InvalidInput: η is smaller than an amount can be.
        BeyondBudget: the composition cannot be evaluated within the engine's budget.
    """
    if eta < LEAST_ETA:
        raise InvalidInput.at("/eta", "is too small for a residue charge", allowed="at least 1e-18")
    for slot in _slots(remaining):
        found = _least_cost(parts, slot, eta)
        if found is not None:
            return Residue(remaining, found.cost, eta)
    return None


def _slots(remaining: Amount) -> list[Amount]:
    """Return the slot, or smaller slots in place of one that would take too many cells; none if nothing is left."""
    return sorted({min(remaining, most) for most in LARGEST_SLOTS}) if remaining > 0 else []


def _least_cost(parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount) -> Residue | None:
    stepped = step_prices(parts, remaining=remaining, eta=eta)
    if _cannot_fit(parts, stepped, remaining, eta):
        return None
    if stepped is None or _worth_composing(parts, stepped, remaining, eta):
        composed = _composed_cost(parts, remaining, eta)
        return composed if composed is not None or stepped is None else _stepwise(stepped, remaining, eta)
    found = _stepwise(stepped, remaining, eta)
    return found if found is not None or not may_be_composed(parts) else _composed_cost(parts, remaining, eta)


def quick_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> tuple[float, Amount | None]:
    """About what a job costs, from below, and a certified cost, a hundredth too dear or so; never by composition."""
    if eta < LEAST_ETA or remaining <= 0:
        return math.inf, None
    remaining = min(remaining, LARGEST_SLOTS[0])
    stepped = step_prices(parts, remaining=remaining, eta=eta, rough=True)
    if stepped is None:
        return 0.0, None
    found = _stepwise(stepped, remaining, eta)
    return stepped.floor, None if found is None else found.cost


def rough_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> Residue | None:
    """As `least_cost`, quickly and a little too dear; None more often."""
    cost = quick_cost(parts, remaining=remaining, eta=eta)[1]
    return None if cost is None else Residue(remaining, cost, eta)


def _stepwise(stepped: StepPrices, remaining: Amount, eta: Amount) -> Residue | None:
    """What the steps cost one after another, with room for another machine's roundings."""
    cost = stepped.cost()
    if cost is None:
        return None
    return Residue(remaining, min(max(up(Fraction(cost) * _MARGIN), QUANTUM), remaining), eta)


def composed_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> Amount | None:
    """The cost of all steps together where that is worth its work; None where it is not, or where it is too much."""
    if not exact(parts, eta) or remaining <= 0:
        return None
    found = _composed_cost(parts, min(remaining, LARGEST_SLOTS[0]), eta)
    return None if found is None else found.cost


def exact(parts: Sequence[tuple[Pair, int]], eta: Amount) -> bool:
    """Return whether several steps have exact distributions, few of them different: their composition is quick then."""
    few = len(parts) <= _FEW and all(pair.law is not None for pair, _ in parts)
    return few and sum(count for _, count in parts) > 1 and eta >= _FINE


def _cannot_fit(parts: Sequence[tuple[Pair, int]], stepped: StepPrices | None, remaining: Amount, eta: Amount) -> bool:
    """Whether nothing dear is tried: the steps cost too much one after another, even for a quick composition."""
    too_much = _HOPELESS if exact(parts, eta) else _SURELY
    return stepped is not None and stepped.floor > too_much * float(remaining)


def may_be_composed(parts: Sequence[tuple[Pair, int]]) -> bool:
    """Whether composition is tried where the charge of steps does not do: for exact laws, and for few outcomes.

    Of other pairs it takes seconds, and its ends are hardly ever narrow enough.
    """
    return all(pair.law is not None or pair.atoms is not None for pair, _ in parts)


def _worth_composing(parts: Sequence[tuple[Pair, int]], stepped: StepPrices, remaining: Amount, eta: Amount) -> bool:
    """Whether a charge for all steps together is quick, and smaller: steps that take much of the slot.

    The cells of chords and tangents number about 1/√η, and more where a charge is a small part of the slot. Where the
    steps have no price one after another, rare large losses among them, only their composition may.
    """
    if not exact(parts, eta):
        return False
    least = _MUCH[sum(count for _, count in parts) >= _MANY]
    return stepped.floor >= least * float(remaining) or stepped.cost() is None


def _composed_cost(parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount) -> Residue | None:
    """Return the cost of all steps at once, by composing them with the remaining slot."""
    trial = _SlotTrial(parts, remaining, eta)
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
        found = max(found * (1.0 + _TOLERANCE * 4.0**raised), trial.meet(found, _TOLERANCE))
    right, _ = trial.certified(remaining)
    return Residue(remaining, remaining, eta) if right else None


class _SlotTrial:
    """One mechanism against one state of a slot."""

    def __init__(
        self, parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount, share: float = _SHARE
    ) -> None:
        self._parts = [(pair, times) for pair, times in parts if times > 0]
        self._remaining = remaining
        self._whole = float_below(remaining)
        self._right = gaussian_pair(root_below(remaining))
        self._log_eta = math.log(float_below(eta)) * (1.0 + 1e-15)
        self._log_share = math.log(share)
        self._whole_fits: bool | None = None
        self._points = np.linspace(0.0, self._reach(remaining), 25)

    def certified(self, cost: Amount) -> tuple[bool, float]:
        """Return whether a cost suffices in both directions, and the ε at which it is nearest to failing."""
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
        first = self.meet(min(self._guess(), 0.9 * self._whole), _ROUGH)
        self.refine(first)
        return self.meet(first, _TOLERANCE)

    def worst(self, cost: float) -> float:
        """Return the largest gap at the points."""
        return float(np.max(self._gaps(cost)))

    def refine(self, cost: float) -> None:
        """Look at more points around the one that decides at this cost."""
        place = int(np.argmax(self._gaps(cost)))
        sides = self._points[max(place - 1, 0)], self._points[min(place + 1, self._points.size - 1)]
        self._points = np.unique(np.concatenate([self._points, np.linspace(*sides, 10)]))

    def meet(self, start: float, tolerance: float) -> float:
        """Return the cost at which the worst point is met.

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
        alone = self._left(ZERO).log_delta_bounds(epsilon).upper

        def too_little(cost: float) -> bool:
            """Tell whether a Gaussian of this cost has a smaller δ than the mechanism."""
            return gaussian_pair(math.sqrt(cost)).log_delta_bounds(epsilon).upper < alone

        return max(bisect_reals(too_little, 0.0, self._whole, steps=_HALVINGS)[1], 1e-12)

    def _gaps(self, cost: float) -> FloatArray:
        """log left − log(right + a share of η) at the points, the larger of both orders; each falls in the cost."""
        left = self._left(max(less(self._remaining, down(cost)), ZERO))
        at = self._points
        worst = np.full(at.size, -math.inf)
        for one, other in _orders(left, self._right):
            allowed = np.logaddexp(other.log_delta(at).lower, self._log_eta + self._log_share)
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
    return [(profile, right.forward) for profile in left.directions()]

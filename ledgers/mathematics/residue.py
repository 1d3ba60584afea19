"""Charges of a mechanism in a Gaussian slot, by the residue that it leaves: certified at every ε, in both directions.

A slot with μ² = R left has the profile of G_√R, the Gaussian pair N(√R, 1) against N(0, 1). A mechanism with the
dominating pair g may be run at the cost c if g ⊗ G_√(R−c) is at most the profile of G_√R plus η everywhere. This is the
rule of the ledger's theorem (docs/ledger.md, "The ledger theorem"). A cost that is valid at R is valid at every larger
R; at a smaller R it must be computed again.
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

    from epsilond.accountants.numerics.special import FloatArray

LEAST_ETA = Decimal("1e-18")
"""Smallest η, because amounts have 18 places."""
LARGEST_SLOTS = Decimal(64), Decimal(400)
"""Largest μ² of slots that are computed with; a cost that suffices there suffices in every larger slot."""
_SURELY, _HOPELESS = 1.01, 4.0
"""Largest costs of the steps one after another with which a job is tried, as shares of the remaining amount.

The first is the general one, the second applies if the composition is quick.
"""
_TOLERANCE = 1e-7
"""Relative tolerance of the cost search; the answer is certified separately."""
_ROUGH = 1e-3
"""Relative tolerance of the first search, at few points."""
_SHARE = 0.8
"""Share of η that the search aims at; the rest is left to the chords between points."""
_HALVINGS = 30
"""Bisections for the initial estimate of the cost; they leave 1e-9 of the slot."""
_MOST_STEPS = 40
_MOST_RAISES = 12
_MARGIN = Fraction(1) + Fraction(1, 2**18)
"""Factor on a charge of steps, so that another machine, with other roundings, certifies it again."""
_MANY, _MUCH, _FEW = 100, (0.1, 0.02), 4
_FINE = Decimal("1e-10")
"""Conditions for composing all steps at once.

Number of steps from which a smaller charge suffices; that charge for fewer and for as many steps, as a share of the
slot; largest number of different steps; smallest η.
"""


@dataclass(frozen=True)
class Residue:
    """A certified charge: with μ² = `remaining` left, the mechanism may be run at the cost `cost` and η."""

    remaining: Amount
    cost: Amount
    eta: Amount


def holds(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, cost: Amount, eta: Amount) -> bool:
    """Return whether the mechanism may be run at this cost. True is certified.

    Args:
        parts: dominating pairs of the mechanism under the ledger's relation, each with its number of runs.
        remaining: μ² that is left in the slot.
        cost: μ² of the charge.
        eta: η of the charge.
    """
    if cost > remaining or eta < LEAST_ETA:
        return False
    return any(_holds(parts, slot, cost, eta) for slot in _slots(remaining) if slot >= cost)


def _holds(parts: Sequence[tuple[Pair, int]], remaining: Amount, cost: Amount, eta: Amount) -> bool:
    """Return whether the mechanism may be run at this cost in one slot, by the quickest methods first."""
    stepped = step_prices(parts, remaining=remaining, eta=eta)
    if _cannot_fit(parts, stepped, remaining, eta):
        return False
    if stepped is None or _worth_composing(parts, stepped, remaining, eta):
        if _SlotTrial(parts, remaining, eta).certify(cost)[0]:
            return True
        stepwise = None if stepped is None else stepped.cost()
        return stepwise is not None and stepwise <= cost
    stepwise = stepped.cost()
    if stepwise is not None and stepwise <= cost:
        return True
    return may_be_composed(parts) and _SlotTrial(parts, remaining, eta).certify(cost)[0]


def shortfall(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, cost: Amount, eta: Amount) -> float:
    """Estimate by how much a cost is too small, for searches over mechanisms. It is not a certificate: see `holds`.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that is left in the slot.
        cost: μ² of the charge.
        eta: η of the charge.

    Returns:
        The largest log of the ratio of both profiles at some ε; at most 0 if the cost may suffice.
    """
    trial = _SlotTrial(parts, remaining, eta, share=1.0)
    worst = trial.worst(float_below(cost))
    trial.refine(float_below(cost))
    return max(worst, trial.worst(float_below(cost)))


def least_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> Residue | None:
    """Find about the least cost of a mechanism in a slot, certified.

    The steps are first priced one after another, which is quick, and slightly too high if the job takes a large part of
    the slot. In that case many steps with exact distributions are composed and charged together, within about 10^-6 of
    the least cost.

    Args:
        parts: dominating pairs of the mechanism under the ledger's relation, each with its number of runs.
        remaining: μ² that is left in the slot.
        eta: η of the charge, at least `LEAST_ETA`.

    Returns:
        The charge. None if none was found, even for all that is left.

    Raises:
        InvalidInput: η is smaller than the smallest amount.
        BeyondBudget: the composition cannot be evaluated within the engine's budget.
    """
    if eta < LEAST_ETA:
        raise InvalidInput.at("/eta", "is too small for a residue charge", allowed="at least 1e-18")
    for slot in _slots(remaining):
        residue = _least_cost(parts, slot, eta)
        if residue is not None:
            return Residue(remaining, residue.cost, eta)
    return None


def _slots(remaining: Amount) -> list[Amount]:
    """Return the slot, or smaller slots in place of one that would take too many cells; none if nothing is left."""
    return sorted({min(remaining, most) for most in LARGEST_SLOTS}) if remaining > 0 else []


def _least_cost(parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount) -> Residue | None:
    """Find about the least cost in one slot, by the quickest methods first."""
    stepped = step_prices(parts, remaining=remaining, eta=eta)
    if _cannot_fit(parts, stepped, remaining, eta):
        return None
    if stepped is None or _worth_composing(parts, stepped, remaining, eta):
        composed = _composed_cost(parts, remaining, eta)
        return composed if composed is not None or stepped is None else _stepwise(stepped, remaining, eta)
    residue = _stepwise(stepped, remaining, eta)
    return residue if residue is not None or not may_be_composed(parts) else _composed_cost(parts, remaining, eta)


def quick_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> tuple[float, Amount | None]:
    """Price a job quickly, never by composition.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that is left in the slot.
        eta: η of the charge.

    Returns:
        An estimate of the cost from below, and a certified cost, about a hundredth too high, or None.
    """
    if eta < LEAST_ETA or remaining <= 0:
        return math.inf, None
    remaining = min(remaining, LARGEST_SLOTS[0])
    stepped = step_prices(parts, remaining=remaining, eta=eta, rough=True)
    if stepped is None:
        return 0.0, None
    residue = _stepwise(stepped, remaining, eta)
    return stepped.floor, None if residue is None else residue.cost


def rough_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> Residue | None:
    """Find a certified cost quickly: as `least_cost`, but slightly higher, and None more often.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that is left in the slot.
        eta: η of the charge.
    """
    cost = quick_cost(parts, remaining=remaining, eta=eta)[1]
    return None if cost is None else Residue(remaining, cost, eta)


def _stepwise(stepped: StepPrices, remaining: Amount, eta: Amount) -> Residue | None:
    """Return the charge for the steps one after another, with a margin for another machine's roundings."""
    cost = stepped.cost()
    if cost is None:
        return None
    return Residue(remaining, min(max(up(Fraction(cost) * _MARGIN), QUANTUM), remaining), eta)


def composed_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> Amount | None:
    """Return the certified cost of all steps together.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that is left in the slot.
        eta: η of the charge.

    Returns:
        The cost. None if composition is too much work, or if the job does not fit.
    """
    if not exact(parts, eta) or remaining <= 0:
        return None
    residue = _composed_cost(parts, min(remaining, LARGEST_SLOTS[0]), eta)
    return None if residue is None else residue.cost


def exact(parts: Sequence[tuple[Pair, int]], eta: Amount) -> bool:
    """Return whether the composition is quick: several steps with exact distributions, few of them different."""
    few = len(parts) <= _FEW and all(pair.law is not None for pair, _ in parts)
    return few and sum(count for _, count in parts) > 1 and eta >= _FINE


def _cannot_fit(parts: Sequence[tuple[Pair, int]], stepped: StepPrices | None, remaining: Amount, eta: Amount) -> bool:
    """Return whether the steps cost too much one after another for any other method to be tried."""
    too_much = _HOPELESS if exact(parts, eta) else _SURELY
    return stepped is not None and stepped.floor > too_much * float(remaining)


def may_be_composed(parts: Sequence[tuple[Pair, int]]) -> bool:
    """Return whether composition is tried after the charge of steps fails: for exact distributions and atoms.

    Composition of other pairs takes seconds, and its bounds are rarely narrow enough.
    """
    return all(pair.law is not None or pair.atoms is not None for pair, _ in parts)


def _worth_composing(parts: Sequence[tuple[Pair, int]], stepped: StepPrices, remaining: Amount, eta: Amount) -> bool:
    """Return whether a charge for all steps together is quick and smaller than the steps one after another.

    It is smaller if the steps take much of the slot. The number of cells is about 1/√η, and larger if the charge is a
    small part of the slot. If the steps have no price one after another, for example because of rare large losses,
    composition may still have one.
    """
    if not exact(parts, eta):
        return False
    least = _MUCH[sum(count for _, count in parts) >= _MANY]
    return stepped.floor >= least * float(remaining) or stepped.cost() is None


def _composed_cost(parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount) -> Residue | None:
    """Return the cost of all steps at once, by composing them with the remaining slot."""
    trial = _SlotTrial(parts, remaining, eta)
    estimate = trial.search()
    if estimate is None:  # the search leaves room that the whole slot may do without
        return Residue(remaining, remaining, eta) if trial.certify(remaining)[0] else None
    for attempt in range(_MOST_RAISES):
        cost = min(up(estimate), remaining)
        certified, worst = trial.certify(cost)
        if certified:
            return Residue(remaining, cost, eta)
        if cost >= remaining:
            return None
        trial.add(worst)
        estimate = max(estimate * (1.0 + _TOLERANCE * 4.0**attempt), trial.find_root(estimate, _TOLERANCE))
    certified, _ = trial.certify(remaining)
    return Residue(remaining, remaining, eta) if certified else None


class _SlotTrial:
    """Comparison of one mechanism with one state of a slot, at points and certified."""

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

    def certify(self, cost: Amount) -> tuple[bool, float]:
        """Return whether a cost suffices in both directions, and the ε at which it is nearest to failing."""
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

        The search uses few points first, then more points around the decisive one.

        Returns:
            The cost. None if not even the whole slot suffices.
        """
        if self._whole_fits is None:  # the mechanism alone, with no Gaussian beside it, can take seconds
            self._whole_fits = float(np.max(self._gaps(self._whole))) <= 0.0
        if not self._whole_fits:
            return None
        first = self.find_root(min(self._initial_cost(), 0.9 * self._whole), _ROUGH)
        self.refine(first)
        return self.find_root(first, _TOLERANCE)

    def worst(self, cost: float) -> float:
        """Return the largest gap at the points."""
        return float(np.max(self._gaps(cost)))

    def refine(self, cost: float) -> None:
        """Add points around the point that decides at this cost."""
        place = int(np.argmax(self._gaps(cost)))
        sides = self._points[max(place - 1, 0)], self._points[min(place + 1, self._points.size - 1)]
        self._points = np.unique(np.concatenate([self._points, np.linspace(*sides, 10)]))

    def find_root(self, start: float, tolerance: float) -> float:
        """Return the cost at which the largest gap at the points is zero.

        At each point the logarithm of the left profile is nearly linear in the cost. Two costs therefore predict the
        root of each point, and the largest root is tried next.
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

    def _initial_cost(self) -> float:
        """Return the cost of the Gaussian with the mechanism's δ at the middle of the points."""
        epsilon = float(self._points[self._points.size // 2])
        alone = self._composed_with(ZERO).log_delta_bounds(epsilon).upper

        def too_little(cost: float) -> bool:
            """Tell whether a Gaussian of this cost has a smaller δ than the mechanism."""
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

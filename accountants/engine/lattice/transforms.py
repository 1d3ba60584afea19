"""Distributions and transforms of one direction of a product; the latest few are stored."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from epsilond.accountants.engine.lattice.laws import (
    CompositionBounds,
    GridAndTilt,
    GridKey,
    LatticeComposition,
    bound_composition,
)
from epsilond.accountants.engine.lattice.plan import TransformPlan
from epsilond.accountants.engine.lattice.spectrum import Spectrum, log_chernoff_constant
from epsilond.accountants.engine.lattice.tilted_line import TiltedLine
from epsilond.accountants.errors import BeyondBudget
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp

if TYPE_CHECKING:
    from epsilond.accountants.engine.lattice.budget import Budget
    from epsilond.accountants.engine.lattice.survey import Survey
    from epsilond.accountants.engine.lattice.tilted import TiltCoordinate

Key = TypeVar("Key")
Value = TypeVar("Value")

_KEPT_GRIDS, _KEPT_SPECTRA = 6, 8
"""Number of grids and of transforms that are stored: those that one search reuses."""
_KEPT_BYTES = 2**25
"""Largest size of all stored transforms of one direction, unless two of them are larger."""
_MOST_TRIES = 40
"""Largest number of times that a unit is doubled until its transform fits: a factor of 10^12 spans any loss."""


class Transforms:
    """A cache of lattice distributions and their transforms, for one direction of a composition.

    A lattice distribution has its losses L on multiples of a unit. The Fourier transform of the composition, after
    weighting by e^{λL} with a tilt λ, gives bounds on δ. Distributions and transforms are computed on first use, and
    the latest few are stored.

    Attributes:
        grids: the distributions, by the parameters that determine a lattice.
        spectra: the transforms with the parameters of the lattices that were used. The keys are the requested lattice
            and tilt, and whether the distributions dominate.
    """

    def __init__(self, survey: Survey, budget: Budget, log_width: float) -> None:
        """Prepare an empty cache.

        Args:
            survey: the composition, with coarse tables of its loss distributions, from which a lattice is chosen.
            budget: limits on the work of a Fourier transform.
            log_width: log of the required width of the enclosure of δ, relative to δ.
        """
        self._survey = survey
        self._budget = budget
        self._log_width = log_width
        # The distributions on each lattice. The transforms by lattice, tilt and direction of the bound, each with the
        # lattice that was used in the end.
        self.grids: dict[GridKey, CompositionBounds] = {}
        self.spectra: dict[tuple[GridAndTilt, bool], tuple[GridKey, Spectrum]] = {}

    def spectrum(self, choice: GridAndTilt, *, from_above: bool) -> tuple[GridKey, Spectrum]:
        """Return the Fourier transform of the total loss at a tilt, on a lattice within the limits on the work.

        The tilt λ is the exponent of the weights e^{λS} of the total loss S. The result is stored. The oldest
        transforms are dropped if the stored ones take too much memory.

        Args:
            choice: the lattice and the tilt. A coarser lattice is used if this one takes too much work.
            from_above: True for a larger δ, for upper bounds. False for a smaller δ, for lower bounds.

        Returns:
            The parameters of the lattice that was used, and the transform on it.

        Raises:
            BeyondBudget: no lattice that is tried is coarse enough.
        """
        key = (choice, from_above)
        if key not in self.spectra:
            remember(self.spectra, key, self._transform(choice, from_above=from_above), _KEPT_SPECTRA)
            self._drop_oldest()
        return self.spectra[key]

    def _drop_oldest(self) -> None:
        """Drop the oldest transforms until the rest take at most `_KEPT_BYTES`; the latest two always remain."""
        sizes = [spectrum.nbytes for _, spectrum in self.spectra.values()]
        excess = sum(sizes) - _KEPT_BYTES
        for size in sizes[:-2]:
            if excess <= 0:
                break
            oldest = next(iter(self.spectra))
            self.spectra.pop(oldest)
            excess -= size

    def _transform(self, choice: GridAndTilt, *, from_above: bool) -> tuple[GridKey, Spectrum]:
        """Compute the Fourier transform of the total loss at a tilt λ, on the first lattice within the limits.

        If the transform takes too much work, the spacing of the lattice is doubled one or several times.

        Args:
            choice: the first lattice, and the tilt λ, the exponent of the weight e^{λL} of a loss L.
            from_above: True for a larger δ, for upper bounds. False for a smaller δ, for lower bounds.

        Returns:
            The parameters of the lattice that was used, and the transform on it.

        Raises:
            BeyondBudget: no lattice that is tried is coarse enough.
        """
        key, coordinate = choice
        limits = self._budget.limits_for(len(self._survey.parts))
        for _ in range(_MOST_TRIES):
            bounds = self.laws(key)
            laws = bounds.upper if from_above else bounds.lower
            result = TransformPlan.of(laws, coordinate, self._log_width).transform(limits)
            if isinstance(result, Spectrum):
                return key, result
            # The result is the factor by which the spacing should grow. At most 60 doublings are made at a time.
            factor = min(result.factor, 2.0**60)
            doublings = max(1, math.ceil(math.log2(factor)))
            key = key._replace(coarsening=key.coarsening + doublings)
        raise BeyondBudget("no lattice within the budget spans the loss")

    def laws(self, key: GridKey) -> CompositionBounds:
        """Return the loss distributions on a lattice, once for upper and once for lower bounds on δ.

        They are stored for later calls.

        Args:
            key: the parameters that determine the lattice.

        Returns:
            The distributions with a larger δ, and the tails from which those with a smaller δ are computed.
        """
        if key not in self.grids:
            remember(self.grids, key, bound_composition(self._survey, key, self._budget), _KEPT_GRIDS)
        return self.grids[key]


def remember(entries: dict[Key, Value], key: Key, value: Value, most: int) -> None:
    """Add an entry to a dictionary of limited size, and drop the oldest entries for it if necessary.

    Args:
        entries: entries in the order of their addition.
        key: key of the new entry.
        value: the new entry.
        most: largest number of entries afterwards, at least 1.
    """
    while len(entries) >= most:
        entries.pop(next(iter(entries)))
    entries[key] = value


def upper_log_delta(spectrum: Spectrum, laws: LatticeComposition, epsilon: float) -> float:
    """Return an upper bound on log δ(ε) of a composition, from the transform of dominating lattice distributions.

    The tilt λ is the exponent of weights e^{λL}. The transform gives the finite part of δ for λ > 0, to which the mass
    of the infinite loss is added. For λ < 0 it gives 1 − δ, from which the excess of the total mass over 1 is
    subtracted.

    Args:
        spectrum: transform of the composition.
        laws: lattice distributions that dominate: their δ is at least as large at every ε.
        epsilon: ε ≥ 0, in nats.

    Returns:
        The upper bound on log δ(ε), at most 0.
    """
    log_infinite_mass = laws.log_infinite_mass(direction=1)
    largest_loss = laws.top * laws.unit * (1 + 4 * UNIT_ROUNDOFF)  # rounded up
    if epsilon >= largest_loss:
        return log_infinite_mass
    integral = spectrum.log_integral(epsilon)
    if spectrum.coordinate.direct:
        # The rounding of the sum of two exponentials is added.
        return min(float(np.logaddexp(log_infinite_mass, integral.upper)) + 4 * UNIT_ROUNDOFF, 0.0)
    # A lower bound on 1 − δ gives an upper bound on δ. The first factor rounds 1 − δ down, the last one log δ up.
    complement = math.exp(min(integral.lower, 0.0)) * (1 - 8 * UNIT_ROUNDOFF) - laws.excess
    if not 0.0 < complement < 1.0:
        return 0.0
    return math.log1p(-complement) * (1 - 8 * UNIT_ROUNDOFF)


def chernoff_log_delta(laws: LatticeComposition, coordinate: TiltCoordinate, epsilon: float) -> float:
    """Return the Chernoff bound on log δ(ε) of a composition at a tilt, without a transform.

    At a tilt λ > 0, the finite part of δ(ε) is at most:

        C(λ) e^{K(λ) − λε},   K(λ) = log E[e^{λS}; S < ∞],

    with the total loss S and a constant C(λ) ≤ 1 (`log_chernoff_constant`). The probability of an infinite loss is
    added.

    Args:
        laws: lattice distributions that dominate: their δ is at least as large at every ε.
        coordinate: the tilt λ > 0, as a real coordinate.
        epsilon: ε ≥ 0, in nats.

    Returns:
        The upper bound on log δ(ε), at most 0.

    Source: docs/engine-certificate.md, A1.
    """
    line = TiltedLine.of(laws, coordinate)
    counts = laws.flat.counts
    cumulants = counts * line.log_moments
    # With the roundings of the products.
    errors = counts * (line.moment_errors + 4 * UNIT_ROUNDOFF * np.abs(line.log_moments))

    shift = coordinate.tilt * (epsilon - laws.loss_error)
    bound = log_chernoff_constant(coordinate.tilt) + math.fsum(cumulants) + math.fsum(errors) - shift
    bound += 8 * UNIT_ROUNDOFF * (abs(shift) + 8.0)  # the rounding of the sum

    log_infinite_mass = laws.log_infinite_mass(direction=1)
    log_total = float(np.logaddexp(log_infinite_mass, bound))
    return min(log_total + 4 * UNIT_ROUNDOFF * (1.0 + abs(bound)), 0.0)  # with the rounding of `logaddexp`


def lower_log_delta(spectrum: Spectrum, laws: LatticeComposition, epsilon: float) -> float:
    """Return a lower bound on log δ(ε) of a composition, from the transform of dominated lattice distributions.

    The tilt λ is the exponent of weights e^{λL}. The transform gives the finite part of δ for λ > 0, to which the mass
    of the infinite loss is added. For λ < 0 it gives 1 − δ.

    Args:
        spectrum: transform of the composition.
        laws: lattice distributions that are dominated: their δ is at most that of the losses at every ε.
        epsilon: ε ≥ 0, in nats.

    Returns:
        The lower bound on log δ(ε); −∞ if none is positive.
    """
    log_infinite_mass = laws.log_infinite_mass(direction=-1)
    largest_loss = laws.top * laws.unit * (1 + 4 * UNIT_ROUNDOFF)  # rounded up
    if epsilon >= largest_loss:
        return log_infinite_mass
    integral = spectrum.log_integral(epsilon)
    if spectrum.coordinate.direct:
        # The rounding of the sum of two exponentials is subtracted.
        return float(np.logaddexp(log_infinite_mass, integral.lower)) - 4 * UNIT_ROUNDOFF
    # An upper bound on 1 − δ gives a lower bound on δ. Its logarithm is negative, so a factor above 1 rounds it down.
    log_delta = float(log1m_exp(min(integral.upper, 0.0))) * (1 + 8 * UNIT_ROUNDOFF)
    return max(log_infinite_mass, log_delta)

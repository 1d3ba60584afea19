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
    """Lattice distributions and their transforms for one direction of a product; computed on first use, then stored."""

    def __init__(self, survey: Survey, budget: Budget, log_width: float) -> None:
        """Prepare an empty store.

        Args:
            survey: outlines of the distributions.
            budget: limits on the work.
            log_width: log of the required relative width of δ.
        """
        self._survey = survey
        self._budget = budget
        self._log_width = log_width
        self.grids: dict[GridKey, CompositionBounds] = {}
        self.spectra: dict[tuple[GridAndTilt, bool], tuple[GridKey, Spectrum]] = {}

    def spectrum(self, choice: GridAndTilt, *, from_above: bool) -> tuple[GridKey, Spectrum]:
        """Return the transform of the total loss at a tilt, and the key of its lattice.

        The lattice is coarse enough for the budget. The result is stored. The oldest transforms are dropped if the
        stored ones take too much memory.

        Args:
            choice: the lattice and the tilt. A coarser lattice is used if this one exceeds the budget.
            from_above: whether the distributions dominate, for upper bounds. Otherwise they are dominated.

        Returns:
            The choices that determine the lattice that was used, and the transform on it.
        """
        index = (choice, from_above)
        if index not in self.spectra:
            remember(self.spectra, index, self._transform(choice, from_above=from_above), _KEPT_SPECTRA)
            self._forget_large()
        return self.spectra[index]

    def _forget_large(self) -> None:
        """Drop the oldest transforms until the others take at most `_KEPT_BYTES`."""
        sizes = [spectrum.nbytes for _, spectrum in self.spectra.values()]
        excess = sum(sizes) - _KEPT_BYTES
        for size in sizes[:-2]:
            if excess <= 0:
                break
            self.spectra.pop(next(iter(self.spectra)))
            excess -= size

    def _transform(self, choice: GridAndTilt, *, from_above: bool) -> tuple[GridKey, Spectrum]:
        """Compute the transform at a tilt, with the lattice unit doubled until it fits the budget.

        The transform of the composition's loss distribution gives bounds on δ. The tilt λ is the exponent of the weight
        e^{λL} of a loss L.

        Args:
            choice: the choices that determine the lattice, and the tilt.
            from_above: whether the distributions dominate the given ones, for upper bounds on δ. Otherwise they are
                dominated.

        Returns:
            The choices for the lattice that was used, and the transform on it.

        Raises:
            BeyondBudget: no unit that is tried is coarse enough.
        """
        key, coordinate = choice
        limits = self._budget.limits_for(len(self._survey.parts))
        for _ in range(_MOST_TRIES):
            laws = self.laws(key)
            plan = TransformPlan.of(laws.upper if from_above else laws.lower, coordinate, self._log_width)
            spectrum = plan.transform(limits)
            if isinstance(spectrum, Spectrum):
                return key, spectrum
            doublings = max(1, math.ceil(math.log2(min(spectrum.factor, 2.0**60))))
            key = key._replace(coarsening=key.coarsening + doublings)
        raise BeyondBudget("no lattice within the budget spans the loss")

    def laws(self, key: GridKey) -> CompositionBounds:
        """Return the lattice distributions for a key, which names a lattice and its band of tilts; they are stored."""
        if key not in self.grids:
            remember(self.grids, key, bound_composition(self._survey, key, self._budget), _KEPT_GRIDS)
        return self.grids[key]


def remember(entries: dict[Key, Value], key: Key, value: Value, most: int) -> None:
    """Add an entry to a dictionary, and first drop the oldest entries so that at most `most` remain.

    Args:
        entries: entries in the order of their addition.
        key: key of the new entry.
        value: the new entry.
        most: number of entries that remain at most.
    """
    while len(entries) >= most:
        entries.pop(next(iter(entries)))
    entries[key] = value


def upper_log_delta(spectrum: Spectrum, laws: LatticeComposition, epsilon: float) -> float:
    """Return an upper bound on log δ(ε) of a composition, from the transform of dominating lattice distributions.

    Args:
        spectrum: transform of the composition.
        laws: lattice distributions that dominate.
        epsilon: ε ≥ 0, in nats.
    """
    atom = laws.log_infinite_mass(direction=1)
    if epsilon >= laws.top * laws.unit * (1 + 4 * UNIT_ROUNDOFF):
        return atom
    integral = spectrum.log_integral(epsilon)
    if spectrum.coordinate.direct:  # the integral is δ without the infinite loss
        return min(float(np.logaddexp(atom, integral.upper)) + 4 * UNIT_ROUNDOFF, 0.0)
    # The integral is 1 − δ. The masses may sum to slightly more than 1.
    complement = math.exp(min(integral.lower, 0.0)) * (1 - 8 * UNIT_ROUNDOFF) - laws.excess
    return math.log1p(-complement) * (1 - 8 * UNIT_ROUNDOFF) if 0.0 < complement < 1.0 else 0.0


def chernoff_log_delta(laws: LatticeComposition, coordinate: TiltCoordinate, epsilon: float) -> float:
    """Return an upper bound on log δ(ε) of a composition, from the Chernoff bound log C(λ) + K(λ) − λε at a tilt λ > 0.

    K(λ) = log E[e^{λS}; S < ∞] with the total loss S, and C(λ) ≤ 1 is a constant (`log_chernoff_constant`). The
    probability of an infinite loss is added.

    Args:
        laws: lattice distributions that dominate.
        coordinate: the tilt.
        epsilon: ε ≥ 0, in nats.

    Source: docs/engine-certificate.md, A1.
    """
    line = TiltedLine.of(laws, coordinate)
    cumulants = laws.flat.counts * line.log_moments
    errors = laws.flat.counts * (line.moment_errors + 4 * UNIT_ROUNDOFF * np.abs(line.log_moments))
    shift = coordinate.tilt * (epsilon - laws.loss_error)
    bound = log_chernoff_constant(coordinate.tilt) + math.fsum(cumulants) + math.fsum(errors) - shift
    bound += 8 * UNIT_ROUNDOFF * (abs(shift) + 8.0)
    log_infinite_mass = laws.log_infinite_mass(direction=1)
    return min(float(np.logaddexp(log_infinite_mass, bound)) + 4 * UNIT_ROUNDOFF * (1.0 + abs(bound)), 0.0)


def lower_log_delta(spectrum: Spectrum, laws: LatticeComposition, epsilon: float) -> float:
    """Return a lower bound on log δ(ε) of a composition, from the transform of dominated lattice distributions.

    Args:
        spectrum: transform of the composition.
        laws: lattice distributions that are dominated.
        epsilon: ε ≥ 0, in nats.
    """
    atom = laws.log_infinite_mass(direction=-1)
    if epsilon >= laws.top * laws.unit * (1 + 4 * UNIT_ROUNDOFF):
        return atom
    integral = spectrum.log_integral(epsilon)
    if spectrum.coordinate.direct:  # the integral is δ without the infinite loss
        return float(np.logaddexp(atom, integral.lower)) - 4 * UNIT_ROUNDOFF
    # The integral is 1 − δ.
    return max(atom, float(log1m_exp(min(integral.upper, 0.0))) * (1 + 8 * UNIT_ROUNDOFF))

"""The profile of symmetric log-concave integer noise against its shift, from a table of the noise.

The noise has the probabilities p(y) and is shifted by k ≥ 1. The loss at y is log p(y) − log p(y − k). It decreases in
y, is positive for y < k/2, and is antisymmetric about k/2, so both directions have one profile. The table has the
losses of −R ≤ y < k/2. For the upper bound the remaining outcomes have an infinite loss. For the lower bound they are
left out.

Errors: losses are raised by their error, so that the table dominates. The lower bound is evaluated at an ε raised by
twice that error. Let the loss l have the relative error η and the absolute error a. The raised loss l̃ is then in
[l, l (1 + 2η) + 2a], and:

    Σ p (1 − e^{ε − l})₊ ≥ (1 − 4η) Σ p (1 − e^{ε (1 + 4η) + 2a − l̃})₊.

For l ≤ 2ε the shift of ε covers the error of l. For larger l a relative error of the term does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Interval, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import EpsilonEstimate, Profile, RootSearch
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.gaussian import ZeroProfile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.renyi_bounds import RenyiFormula
    from epsilond.accountants.numerics.special import FloatArray


class ShiftedTable(NamedTuple):
    """The positive privacy losses of noise against its shift, in increasing order, and their probabilities.

    Attributes:
        losses: losses in nats, each within a relative `loss_accuracy` and an absolute `loss_error`.
        log_masses: log probabilities under the noise, in the same order.
        log_rest: upper bound on the log probability of all positive losses that are not listed.
        mass_accuracy: bound on the error of each log probability, per unit of 1 + |log probability|.
        loss_accuracy: bound on the relative error of each loss.
        loss_error: bound on a further absolute error of each loss, in nats.
        span: largest number of which every loss is a multiple; None if there is none.
    """

    losses: FloatArray
    log_masses: FloatArray
    log_rest: float
    mass_accuracy: float
    loss_accuracy: float = 8 * UNIT_ROUNDOFF
    loss_error: float = 0.0
    span: float | None = None


@dataclass(frozen=True, eq=False)
class ShiftedNoiseProfile(Profile):
    """The privacy profile of integer noise against its shift, from a table of losses that have rounding errors.

    The losses of the table are rounded up, so that its δ is an upper bound. A lower bound is its δ at a larger ε.

    Guarantees: `log_delta` encloses the δ of the listed outcomes and of the infinite loss.

    Attributes:
        atoms: profile of the table with raised losses.
        loss_accuracy: bound on the relative error of each loss.
        loss_error: bound on a further absolute error of each loss, in nats.
        span: largest number of which every loss is a multiple; None if there is none.
    """

    root_search: ClassVar[RootSearch] = "solve"

    atoms: AtomicProfile
    loss_accuracy: float
    loss_error: float
    span: float | None = None

    @property
    def _slack(self) -> float:
        """Bound on the absolute error of log δ from the rounding of log probabilities under the shifted noise."""
        return 16 * UNIT_ROUNDOFF * max(self.atoms.losses, default=0.0)

    @property
    def lossy(self) -> bool:
        """True: the noise decreases with distance, so that it and its shift differ."""
        return True

    @property
    def log_infinite_mass(self) -> float:
        """Natural log of the probability that counts as an infinite loss; −∞ for a lower bound."""
        return self.atoms.log_infinite_mass

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of each log tail, per unit of 1 + |log tail|; the raising of losses is included."""
        return self.atoms.tail_accuracy + 2.0 * (self.loss_accuracy + self.loss_error)

    @property
    def supremum(self) -> float:
        """Largest loss in nats, rounded up; math.inf if an outcome counts as an infinite loss, or none is listed."""
        if self.log_infinite_mass > -math.inf or not self.atoms.losses:
            return math.inf
        return self.atoms.losses[-1] * (1.0 + 8 * UNIT_ROUNDOFF)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε) by the profile δ̃ of privacy losses that are raised by their error.

        The raised losses are at least the exact ones, so δ ≤ δ̃. Let the losses have the relative error η and the
        absolute error a. Then also:

            δ(ε) ≥ (1 − 4η) δ̃(ε (1 + 4η) + 2a).

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds on the natural log of δ, one for each ε.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        raised = points * (1.0 + 4.0 * self.loss_accuracy) + 2.0 * self.loss_error
        # log(1 − 4η) ≥ −8η. `_slack` covers the rounding of log probabilities under the shifted noise.
        lower = self.atoms.log_delta(raised).lower - 8.0 * self.loss_accuracy - self._slack
        upper = np.minimum(self.atoms.log_delta(points).upper + self._slack, 0.0)
        return Enclosure(np.minimum(lower, upper), upper)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ at one ε.

        The listed losses were raised by their relative error η and absolute error a, so their δ̃ gives the upper bound.
        The lower bound is (1 − 4η) δ̃(ε (1 + 4η) + 2a), with log(1 − 4η) ≥ −8η, as in `log_delta`.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            Lower and upper bound on the natural log of δ.
        """
        raised = epsilon * (1.0 + 4.0 * self.loss_accuracy) + 2.0 * self.loss_error
        lower = self.atoms.log_delta_bounds(raised).lower - 8.0 * self.loss_accuracy - self._slack
        upper = min(self.atoms.log_delta_bounds(epsilon).upper + self._slack, 0.0)
        return Interval(min(lower, upper), upper)

    def log_delta_bounds_in_search(self, epsilons: Sequence[float], *, lower: bool) -> list[Interval]:
        """Return bounds on log δ at each ε, both of them for every value of `lower`, and without arrays."""
        del lower
        return [self.log_delta_bounds(epsilon) for epsilon in epsilons]

    def solve(self, log_delta: float) -> EpsilonEstimate | None:
        """Return the ε at which a bound on δ equals a target, from a closed form.

        The bound is δ of the listed privacy losses, which were raised by their rounding errors.

        Args:
            log_delta: natural log of the target δ.

        Returns:
            The ε in nats. Its `pad` bounds the difference from the ε of the exact losses. None if there is no such
            finite ε > 0.
        """
        solution = self.atoms.solve(log_delta)
        if not math.isfinite(solution.epsilon) or solution.epsilon <= 0.0:
            return None
        # Raised losses exceed the exact ones by at most twice their error; the factor 4 leaves a margin.
        pad = solution.pad + 4.0 * (self.loss_error + self.loss_accuracy * solution.epsilon)
        return solution._replace(pad=pad)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of the raised table."""
        return self.atoms.log_tails(epsilon)


class ShiftedPairs(NamedTuple):
    """Pairs of distributions for bounds on δ of integer noise that a change of the data shifts by an integer.

    Attributes:
        upper: a pair for upper bounds: its δ is at least that of the mechanism at every ε.
        attained: a pair for lower bounds: its δ is at most that of the mechanism at every ε.
    """

    upper: Pair
    attained: Pair


def shifted_pairs(table: ShiftedTable | None, formula: RenyiFormula | None = None) -> ShiftedPairs:
    """Return pairs that bound δ of noise against its shift from above and from below, from its positive losses.

    Losses beyond `LARGEST_LOSS` are infinite in the pair for upper bounds. In the pair for lower bounds they equal
    `LARGEST_LOSS`.

    Args:
        table: the positive losses with their probabilities; None for a shift by 0.
        formula: Rényi divergences of the noise and its shift, if they are known.

    Returns:
        `upper`, with a δ of at least that of the noise and its shift at every ε, and `attained`, with a δ of at most
        it.
    """
    if table is None:
        pair = Pair(ZeroProfile(), ZeroProfile())
        return ShiftedPairs(pair, pair)

    # Round the losses up, which raises every δ of the dominating pair.
    raised = table.losses * (1.0 + table.loss_accuracy) + table.loss_error
    number_finite = int(np.searchsorted(raised, LARGEST_LOSS))
    has_larger = number_finite < table.losses.size
    losses = tuple(raised[:number_finite].tolist())
    log_masses = tuple(table.log_masses[:number_finite].tolist())

    log_beyond = float(np.logaddexp.reduce(table.log_masses[number_finite:], initial=-np.inf))
    log_infinite = table.log_rest
    if has_larger:
        largest_log_beyond = log_beyond + table.mass_accuracy * (1.0 + abs(log_beyond))
        log_infinite = float(np.logaddexp(log_infinite, largest_log_beyond))
    upper = AtomicProfile(losses, log_masses, min(log_infinite, 0.0), table.mass_accuracy)

    if has_larger:
        losses, log_masses = (*losses, LARGEST_LOSS), (*log_masses, log_beyond)
    attained = AtomicProfile(losses, log_masses, mass_accuracy=table.mass_accuracy + table.losses.size * UNIT_ROUNDOFF)

    def make_pair(atoms: AtomicProfile) -> Pair:
        """Return the symmetric pair of a table of raised losses."""
        profile = ShiftedNoiseProfile(atoms, table.loss_accuracy, table.loss_error, table.span)
        return Pair(profile, profile, formula=formula)

    return ShiftedPairs(make_pair(upper), make_pair(attained))


LARGEST_LOSS = 1e9
"""Largest finite loss of a table [nat], which is the largest ε of a request.

Larger losses are infinite in upper bounds, and equal to this one in lower bounds.
"""

"""The total loss of many Poisson-subsampled Gaussian steps with little noise, as a table.

Each step is replaced by lattice distributions above and below it (`steps.py`). The distribution of the total loss is
their convolution, computed by one fast Fourier transform each. A table is tilted exponentially, which keeps the
relative accuracy of small δ. One table answers δ at every ε around its depth. Proofs: docs/low-noise.md.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from scipy.fft import irfft, rfft

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.engine.kernel import convolve
from epsilond.accountants.engine.low_noise.span import RESOLUTION, choose_plan
from epsilond.accountants.engine.low_noise.steps import lower_step, upper_step
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.low_noise.span import Plan, Steps
    from epsilond.accountants.engine.low_noise.steps import LatticeStep
    from epsilond.accountants.numerics.special import FloatArray

ComplexArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.complex128]]"


class _ChernoffBound(NamedTuple):
    """A Chernoff bound on the probability of total losses S that are too large for a table.

    Attributes:
        log_moment: upper bound on log E[e^{μ (S − S₀)}], where S₀ is the least total loss.
        tilt: exponent μ, larger than that of the table.
    """

    log_moment: float
    tilt: float

    def log_tail(self, loss: float) -> float:
        """Return log E[e^{μ (S − S₀)}] − μx, an upper bound on log P(S − S₀ ≥ x), for x = `loss` in nats."""
        return self.log_moment - self.tilt * loss


@dataclass(frozen=True, eq=False)
class LossTable:
    """Exponentially tilted distribution of a total loss S on a lattice, as an upper or as a lower bound.

    The tilt λ weights a loss by e^{λS}, so that the rare losses that matter for a small δ have large entries. S₀ is the
    least loss, and h the spacing of the lattice.

    Attributes:
        plan: the spacing h of the lattice and the tilt λ.
        first: least loss S₀, in nats.
        masses: P(S = S₀ + k h) e^{λ k h} over the exponential of `log_scale`, for k = 0, 1, ….
        survival: P(S ≥ S₀ + k h) over the exponential of `log_scale`, for k = 0, 1, …, and 0 at the end.
        log_scale: log E[e^{λ (S − S₀)}], about.
        near_weights: e^{−(1 + λ) k h} for k = 0, 1, … down to the rounding of 1.
        error: bound on the error of a sum of masses with weights that rise from 0 to at most 1 and fall back.
        infinite: upper bound on the probability that a step has a loss beyond its lattice.
        alias: Chernoff bound on losses that are too large for the table.
        sign: 1 for upper bounds, −1 for lower bounds.
    """

    plan: Plan
    first: float
    masses: FloatArray
    survival: FloatArray
    log_scale: float
    near_weights: FloatArray
    error: float
    infinite: float
    alias: _ChernoffBound
    sign: int

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on δ(ε) if the table's sign is 1, and a lower bound if it is −1.

        The effect of losses beyond the table is added to an upper bound, or subtracted from a lower one.

        Args:
            epsilon: ε in nats, of any sign.

        Returns:
            The bound in [0, 1]. It is 0 or 1 if ε is too far from the depth, −log δ, that the table was made for.
        """
        # An upper bound is evaluated at a slightly smaller ε, a lower bound at a larger one, as `offset` is rounded.
        rounding = 16 * UNIT_ROUNDOFF * (1.0 + abs(epsilon) + abs(self.first))
        offset = epsilon - self.first - self.sign * rounding
        first_point = math.floor(offset / self.plan.spacing) + 1
        index = min(max(first_point, 0), self.plan.points)
        value, error = self._sum_above(index, index * self.plan.spacing - offset)
        bound = value + self.sign * (error + self._left_out(offset))
        return min(max(bound, 0.0), 1.0)

    def _sum_above(self, index: int, excess: float) -> tuple[float, float]:
        """Return δ(ε) of the table, the sum Σ p (1 − e^{ε − S}) over its losses S > ε with probabilities p.

        It is P(S > ε) − Σ p e^{ε − S}. The first term is tabulated. For the second one, the tabulated masses are
        multiplied by weights, because they are p e^{λ (S − S₀)} for the least loss S₀ and the tilt λ.

        Args:
            index: index of the first lattice point above ε.
            excess: distance of that point from ε, in nats.

        Returns:
            The sum, and a bound on its absolute error; 0.5 and 0.5, which hold for any sum in [0, 1], if a factor is
            out of the range of doubles.
        """
        log_tilt = self.plan.tilt * index * self.plan.spacing
        if self.log_scale > 700.0 or log_tilt > 700.0:
            return 0.5, 0.5
        scale, decay = math.exp(self.log_scale), math.exp(-log_tilt)
        survival = float(self.survival[index])
        masses_above = self.masses[index : index + self.near_weights.size]
        weights = self.near_weights[: masses_above.size]
        discounted = math.exp(-max(excess, 0.0)) * _product(masses_above, weights)
        rounding = 16 * UNIT_ROUNDOFF * (1.0 + abs(self.log_scale) + log_tilt) * abs(survival)  # of both exponentials
        return scale * (survival - decay * discounted), scale * (decay * self.error + rounding)

    @functools.cached_property
    def second_survival(self) -> FloatArray:
        """Estimates of Q(S ≥ S₀ + k h) for k = 0, 1, …, with the least loss S₀ and the spacing h of the lattice.

        Q is the second distribution of the pair (P, Q), with Q(S) = P(S) e^{−S} for S = log(P/Q).
        """
        losses = self.plan.spacing * np.arange(self.plan.points)
        log_weights = self.log_scale - self.first - (1.0 + self.plan.tilt) * losses
        weights = np.exp(np.maximum(log_weights, -700.0))  # subnormal numbers would be slow
        probabilities = np.maximum(self.masses, 0.0) * weights
        return np.asarray(np.cumsum(probabilities[::-1])[::-1])

    @functools.cached_property
    def first_distribution(self) -> FloatArray:
        """Estimates of the probability of S ≤ S₀ + k h under the first distribution, for k = 0, 1, …."""
        losses = self.plan.spacing * np.arange(self.plan.points)
        log_weights = self.log_scale - self.plan.tilt * losses
        weights = np.exp(np.maximum(log_weights, -700.0))  # subnormal numbers would be slow
        probabilities = np.maximum(self.masses, 0.0) * weights
        return np.asarray(np.cumsum(probabilities))

    def lattice_delta(self, place: int) -> Interval:
        """Enclose δ of the table's lattice distribution at a lattice point, ε = S₀ + `place` · h.

        S₀ is the least loss, and h the spacing. Losses beyond the table are counted as smaller ones; both bounds allow
        for them.

        Args:
            place: index of the lattice point, from 0.

        Returns:
            The lower and the upper bound on δ, both in [0, 1].
        """
        value, error = self._sum_above(place + 1, self.plan.spacing)
        aliased_mass = self._alias_bound(place * self.plan.spacing)
        mass_beyond = math.exp(min(self.alias.log_tail(self.plan.length), 0.0))
        lower = value - error - aliased_mass
        upper = value + error + mass_beyond + self.infinite
        return Interval(min(max(lower, 0.0), 1.0), min(max(upper, 0.0), 1.0))

    def _left_out(self, offset: float) -> float:
        """Return a bound on the effect of losses beyond the table on δ at a given ε.

        The sum for an upper bound lacks the losses beyond the last point. In the sum for a lower bound they count too
        much, because the table is periodic: it has them as smaller losses, with too large a weight.

        Args:
            offset: distance of ε from the least total loss, in nats.

        Returns:
            The bound on the effect, at least 0.
        """
        if self.sign > 0:
            return math.exp(min(self.alias.log_tail(self.plan.length), 0.0)) + self.infinite
        return self._alias_bound(offset)

    def _alias_bound(self, offset: float) -> float:
        """Bound how much too large the table's sum for δ is because losses beyond the table are wrapped around.

        A loss beyond the table is counted as one that is smaller by r A, for the length A of the table and r = 1, 2, ….
        As masses are stored with the weight e^{λS}, it then counts e^{λ r A} times too much. By the Chernoff bound
        e^{K − μx} on losses of at least x (`alias`), the excess is at most e^{K − μ offset} (ρ + ρ² + …), with
        ρ = e^{−(μ − λ) A}.

        Args:
            offset: distance of ε from the least total loss, in nats.
        """
        log_ratio = -(self.alias.tilt - self.plan.tilt) * self.plan.length
        log_alias = self.alias.log_tail(offset) + log_ratio - math.log(-math.expm1(log_ratio))
        return math.exp(min(log_alias, 0.0))


@functools.lru_cache(maxsize=8)  # two to sixteen megabytes for each result
def loss_tables(steps: Steps, depth: float, finer: float = 1.0) -> tuple[LossTable, LossTable] | None:
    """Return two tables of the total loss of all steps, for lower and for upper bounds on δ.

    Args:
        steps: loss distribution of each kind of step, with against without the contribution, and its count.
        depth: −log δ around which the tables are accurate, at least 0.
        finer: factor by which the tables have more lattice points than by default, a power of two.

    Returns:
        The tables; None if the losses do not fit into a table.
    """
    plan = choose_plan(steps, depth, finer)
    if plan.cells < 2:
        return None
    lower_steps: list[tuple[LatticeStep, int]] = []
    for law, count in steps:
        lattice_step = lower_step(law.rate, law.shift, plan.spacing, plan.cells)
        if lattice_step is None:
            return None
        lower_steps.append((lattice_step, count))
    lower_table = _compose(lower_steps, plan, _least_loss(steps), sign=-1)
    return lower_table, _upper_table(steps, plan)


@functools.lru_cache(maxsize=32)  # a tenth of a megabyte for each result
def coarse_table(steps: Steps, depth: float) -> LossTable | None:
    """Return a table of few lattice points for upper bounds on δ, which serve as estimates.

    Args:
        steps: loss distribution of each kind of step, in the direction that removes a contribution, with its count.
        depth: −log δ around which the table is accurate, at least 0.

    Returns:
        The table; None if the losses do not fit into it.
    """
    plan = choose_plan(steps, depth, RESOLUTION.coarse)
    return _upper_table(steps, plan) if plan.cells >= 2 else None


def _upper_table(steps: Steps, plan: Plan) -> LossTable:
    """Return the table of the total loss of subsampled Gaussian steps on a planned lattice, for upper bounds on δ."""
    upper_steps = [(upper_step(law.rate, law.shift, plan.spacing, plan.cells), count) for law, count in steps]
    return _compose(upper_steps, plan, _least_loss(steps), 1)


def _least_loss(steps: Steps) -> float:
    """Return the least total loss Σ T log(1 − q) of subsampled steps, in nats.

    Args:
        steps: distributions of the losses with the inclusion probabilities q, and their numbers T of steps.
    """
    return math.fsum(count * math.log1p(-law.rate) for law, count in steps)


def _compose(steps: Sequence[tuple[LatticeStep, int]], plan: Plan, least: float, sign: int) -> LossTable:
    """Return the table of the total loss of independent steps, by a convolution of masses weighted by e^{λL}.

    Args:
        steps: lattice distributions of losses L, each with its number of steps.
        plan: the lattice, λ (`tilt`), and the larger μ (`far_tilt`) of a Chernoff bound on losses beyond the table.
        least: least total loss, the sum of log(1 − q) over all steps with inclusion probabilities q.
        sign: 1 for upper bounds, −1 for lower bounds.

    Returns:
        The table, with bounds on its errors.
    """
    points = plan.points
    losses = plan.spacing * np.arange(plan.cells + 1)

    # Multiply the masses of each step by e^{λL} and normalise them. Add the log moments of the steps at λ and at μ.
    factors, far_factors = np.exp(plan.tilt * losses), np.exp(plan.far_tilt * losses)
    tilted_steps: list[tuple[FloatArray, int]] = []
    log_scale = log_moment = 0.0
    for step, count in steps:
        tilted_masses = step.masses * factors
        moment = float(tilted_masses.sum())
        tilted_steps.append((tilted_masses / moment, count))
        log_scale += count * math.log(moment)
        far_moment = _product(step.masses, far_factors)
        log_moment += count * math.log(far_moment) * (1.0 + 1e-9) + count * 1e-12  # rounded up

    masses = convolve(tilted_steps, points)
    if masses is None:  # the compiled kernel is not built
        masses = _convolve(tilted_steps, points)
    untilted_masses = masses * _decay_factors(plan) if plan.tilt > 0.0 else masses

    # The weights e^{−(1 + λ) k h} fall below the rounding of 1 at an exponent of 37.
    near_points = math.ceil(37.0 / ((1.0 + plan.tilt) * plan.spacing))
    near_losses = (plan.spacing * np.arange(near_points))[:points]
    return LossTable(
        plan=plan,
        first=least + math.fsum(count * step.first for step, count in steps),
        masses=masses,
        survival=_sum_from_above(untilted_masses),
        log_scale=log_scale,
        near_weights=np.exp(-(1.0 + plan.tilt) * near_losses),
        error=_convolution_error(tilted_steps, plan, plan.tilt * float(losses[-1])),
        infinite=math.fsum(count * step.infinite for step, count in steps),
        alias=_ChernoffBound(log_moment, plan.far_tilt),
        sign=sign,
    )


def _convolution_error(shares: Sequence[tuple[FloatArray, int]], plan: Plan, exponent: float) -> float:
    """Return a bound on the error of a sum of a convolution's masses with weights from 0 to 1 that rise, then fall.

    The convolution is the inverse transform of a product of powers of fast Fourier transforms.

    Args:
        shares: tilted masses of each step, of sum one, with the number of such steps.
        plan: the lattice.
        exponent: largest exponent of the weights e^{λL}, that is, λ times the largest loss of a step.

    Returns:
        The bound on the absolute error, for masses of sum one.

    Source: docs/low-noise.md.
    """
    points, stages = plan.points, math.log2(plan.points) + 1.0
    units = 24.0 * stages + (16.0 + exponent)  # units of roundoff per mass beyond the first one
    error = 0.0
    for share, count in shares:
        mass_after_first = float(share[1:].sum())
        error += count * UNIT_ROUNDOFF * (16.0 + units * mass_after_first)  # of the masses and their transforms
    # An error of all frequencies enters a sum with such weights with at most this factor.
    error *= 2.0 + math.log(points)
    error += UNIT_ROUNDOFF * (24.0 * stages * math.sqrt(points) + 4.0 * points)  # of the inverse transform and the sum
    error += UNIT_ROUNDOFF * math.fsum(8.0 * count for _, count in shares)  # of the powers
    return error


def _product(first: FloatArray, second: FloatArray) -> float:
    """Return the inner product of two arrays, computed in this thread: linear algebra libraries wait for others."""
    return float(np.einsum("i,i->", first, second))


def _decay_factors(plan: Plan) -> FloatArray:
    """Return e^{−λ k h} for all lattice points k, as products of two short tables.

    Each k is columns · row + column, so that the factor is e^{−λ h columns · row} e^{−λ h column}, and few exponentials
    are computed. A product has a relative error of at most (16 + 2 λ k h) u, with the unit roundoff u.

    Args:
        plan: the lattice with the spacing h, and the tilt λ of the table.

    Returns:
        One factor for each lattice point, in (0, 1].
    """
    rows = 2 ** (round(math.log2(plan.points)) // 2)  # about √points
    columns = plan.points // rows
    log_step = -plan.tilt * plan.spacing
    coarse_factors = np.exp(log_step * columns * np.arange(rows))
    fine_factors = np.exp(log_step * np.arange(columns))
    return np.outer(coarse_factors, fine_factors).ravel()


def _sum_from_above(masses: FloatArray) -> FloatArray:
    """Return the sum of the masses from each lattice point to the last one, and 0 at the end."""
    sums = np.zeros(masses.size + 1)
    np.cumsum(masses[::-1], out=sums[-2::-1])
    return sums


def _convolve(steps: Sequence[tuple[FloatArray, int]], points: int) -> FloatArray:
    """Return the probabilities of a sum of independent steps on a circle of lattice points, by FFTs.

    The transform of a sum is the product of the transforms of its steps. The mass at the first lattice point is added
    after the transform, which keeps it free of rounding errors.

    Args:
        steps: probabilities of one step from the first lattice point on, and the number of such steps.
        points: number of lattice points. Sums that differ by this number are one point.

    Returns:
        One probability for each lattice point of the circle. Roundings may make some of them slightly negative.
    """
    transform = np.ones(points // 2 + 1, dtype=np.complex128)
    for masses, count in steps:
        masses_after_first = np.zeros(points)
        masses_after_first[1 : masses.size] = masses[1:]
        step_transform = masses[0] + rfft(masses_after_first)
        transform *= _power(step_transform, count)
    return irfft(transform, points)


def _power(base: ComplexArray, exponent: int) -> ComplexArray:
    """Return a power of each element of an array by repeated squaring, with up to four roundings for each factor.

    Args:
        base: bases of the powers. The array is overwritten, to save memory.
        exponent: exponent of the powers, at least 1.

    Returns:
        The powers, one for each element of `base`.
    """
    product: ComplexArray | None = None
    while exponent > 1:
        if exponent & 1:  # an odd exponent
            product = base.copy() if product is None else np.multiply(product, base, out=product)
        np.multiply(base, base, out=base)
        exponent >>= 1
    return base if product is None else np.multiply(product, base, out=product)

"""δ of the last model of a single pass with different steps: shifted interpolation, with contraction after it.

The bounds are those of `shift_then_contract`, evaluated for each place of the record. A use v steps before the release
moves the run by s. After the later steps, the shift is s Π c, against noise of variance Σ (Π c)² ν². At u = 0, 1, 3, 7,
… steps after the use, the bound may switch from distances to kernels. Places are counted backwards from the release:
v = T − j.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.factor_sums import LEAST_LOG_FACTOR, NEGLIGIBLE
from epsilond.accountants.numerics.mixed_sums import log_sum
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.numerics.thetas.many_shifts import theta_with_error
from epsilond.accountants.theorems.hidden_states.log_values import (
    LogProduct,
    LogValues,
    replace_by_smaller,
    running_products,
)
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import (
    BLOCK_RATIO,
    LEAST_CONTRACTION,
    LEAST_LOG_POWER,
    OUTWARD,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

MOST_PLACES = 2**20
"""Largest number of steps of a run; it bounds time and memory."""
HYBRID_PLACES = 2**13
"""Number of places v < 8192 for which windows between use and release are tried one by one; it bounds the time."""
FIRST_STAGE = 256
"""Number of places in the first stage; each later stage ends at a place four times as far from the release."""
KERNELS_FELT = 1e-6
"""Least total effect on log δ of contraction so far for which windows are tried; they cannot gain more than it."""


@dataclass(frozen=True)
class Blocks:
    """Bounds for a record that is used long before the release of the model, in blocks of consecutive places.

    Place v means that the record is used v steps before the release; here v ≥ `HYBRID_PLACES`. Each value is the
    largest one of its block.

    Attributes:
        counts: number of places of each block.
        mu: Gaussian-DP parameter μ of the released model by shifted interpolation, where later noise hides the use.
        sensitivity: shift of the model by a use, in standard deviations of the step's noise.
        contraction: diameter r of a later step's image over its noise. Such a step multiplies δ by θ_ε(r) < 1.
    """

    counts: FloatArray
    mu: FloatArray
    sensitivity: FloatArray
    contraction: FloatArray


class BackwardSteps(NamedTuple):
    """The steps of a run, counted backwards from the release. Lengths are in units of the largest noise of a step.

    Attributes:
        log_influence: log of the product of the Lipschitz constants of the later steps, which shrink a distance.
        shift: distance between two runs on neighbouring data that a use of the record in the step adds.
        noise: standard deviation of the step's noise per coordinate.
    """

    log_influence: FloatArray
    shift: FloatArray
    noise: FloatArray


@dataclass(frozen=True)
class DifferingSteps:
    """A single pass of steps that differ, released at its end.

    Step k has its own contraction factor c_k ≤ 1, shift s_k and noise ν_k. A place v of a record means that it is used
    v steps before the release.

    Attributes:
        run: the run.
    """

    run: ProjectedRun

    @cached_property
    def steps(self) -> BackwardSteps:
        """The steps, counted backwards from the release.

        In units of the largest noise no square overflows. A square that underflows makes the variance smaller, and μ
        larger.
        """
        run = self.run
        sizes = run.step_schedule.at(1, run.steps)[::-1]
        noises = sizes * run.noise_schedule.at(1, run.steps)[::-1] / math.sqrt(run.participants)
        contraction = run.lipschitz_constant(sizes)
        assert contraction is not None  # the theorem requires smooth losses
        log_contraction = np.log(np.maximum(contraction, LEAST_CONTRACTION))
        shifts = sizes * (run.sensitivity / run.participants)
        return BackwardSteps(
            log_influence=np.append(0.0, np.cumsum(log_contraction)[:-1]),
            shift=shifts / self._largest_noise,
            noise=noises / self._largest_noise,
        )

    @cached_property
    def _largest_noise(self) -> float:
        """The largest standard deviation that a step adds per coordinate."""
        run = self.run
        noises = run.step_schedule.at(1, run.steps) * run.noise_schedule.at(1, run.steps)
        return float(noises.max()) / math.sqrt(run.participants)

    @cached_property
    def outward(self) -> FloatArray:
        """Factors by which μ is increased at each place v, so that it exceeds the exact value in spite of rounding.

        Let u be the unit roundoff and Λ = |log Π c| at v. All logarithms are at most 0, so a partial sum never exceeds
        the full sum. Hence the running sum of logarithms is within (v + 2) u Λ. The variance is a running sum of
        positive terms e^(2 log) ν², each within 2 (v + 2) u Λ + 8u. The sum is within a further v u, and its root
        within half of all that. With the influence e^log in the numerator, μ is within 2 (v + 2) u Λ + (v/2 + 12) u.
        """
        log_influence, _, _ = self.steps
        return 1.0 + (np.arange(log_influence.size) + 16.0) * (1.0 + 2.0 * np.abs(log_influence)) * UNIT_ROUNDOFF

    @cached_property
    def mu(self) -> FloatArray:
        """Gaussian-DP parameter μ at the release of a record that is used v steps earlier, for each v, rounded up.

        Let c_k be the Lipschitz constant of step k, s the shift by the use, ν_k the noise, and C_k the product of the c
        after step k. With j the step of the use, μ = s C_j/√(Σ_k (C_k ν_k)²), where k runs from j to the last step.
        Alternatively, the diameter of the domain replaces s, and k runs from j + 1. The smaller μ counts.
        """
        log_influence, shift, noise = self.steps
        diameter = 2.0 * self.run.radius / self._largest_noise
        variance = np.cumsum(np.exp(2.0 * log_influence) * noise**2)
        influence = np.exp(np.maximum(log_influence, LEAST_LOG_POWER))
        with np.errstate(divide="ignore", over="ignore"):
            # The diameter is contracted by the maps after the use, not by the map of the use.
            by_diameter = diameter * influence / np.sqrt(np.append(0.0, variance[:-1]))
            by_shift = shift * influence / np.sqrt(variance)
            return np.asarray(np.minimum(by_shift, by_diameter) * self.outward * OUTWARD)

    @cached_property
    def windows(self) -> tuple[tuple[int, FloatArray], ...]:
        """Gaussian-DP parameter μ at u = 1, 3, 7, … steps after the use of a record, rounded up.

        The record is used v ≥ u steps before the release. The window is the step of the use and the next u steps. The
        noise of u + 1 steps has the variance of the later half, plus that of the earlier half contracted by the later
        maps. Hence the lengths double. Each variance errs like the difference of two running sums, and by a further
        26 (3 + Λ) units of roundoff. Here Λ is |log| of the product of the Lipschitz constants of the last v steps.

        Returns:
            Pairs of u and an array of μ for v = u, u + 1, ….
        """
        log_influence, shift, noise = (values[:HYBRID_PLACES] for values in self.steps)
        outward = 1.0 + 2.0 * (self.outward[:HYBRID_PLACES] - 1.0)
        windows = []
        # variance[e] is that of the noise of `length` steps, the use included, of which the last one is e = v − u steps
        # before the release. The noise is contracted by the steps of the window that follow it.
        length, variance = 1, noise**2
        while length < variance.size:
            variance = _double_window(variance, log_influence, length)
            length *= 2
            u = length - 1
            log_window = log_influence[u:] - log_influence[: variance.size]
            influence = np.exp(np.maximum(log_window, LEAST_LOG_POWER))
            with np.errstate(divide="ignore"):
                mu = shift[u:] * influence / np.sqrt(variance) * outward[u:] * OUTWARD
            windows.append((u, mu))
        return tuple(windows)

    @cached_property
    def largest_mu_from(self) -> FloatArray:
        """The largest μ of a place and of the places farther from the release, for each place."""
        return np.asarray(np.maximum.accumulate(self.mu[::-1])[::-1])

    @cached_property
    def blocks(self) -> Blocks:
        """Blocks of places v ≥ `HYBRID_PLACES`; at place v a record is used v steps before the release.

        Each block is bounded by its worst place. Within a block the numbers of steps to the release, or from the start,
        differ by a factor of at most `BLOCK_RATIO`, up to rounding. So little is lost, and the blocks are few.
        """
        steps = self.run.steps
        starts = self._block_starts()
        sensitivity, contraction = (values[::-1] for values in self.run.shifts(1, steps - HYBRID_PLACES))
        starts_beyond = starts - HYBRID_PLACES
        return Blocks(
            counts=np.diff(np.append(starts, steps)).astype(np.float64),
            mu=np.maximum.reduceat(self.mu, starts),
            sensitivity=np.maximum.reduceat(sensitivity, starts_beyond),
            contraction=np.maximum.reduceat(contraction, starts_beyond),
        )

    def _block_starts(self) -> IntArray:
        """Return the first place v of each block of places; v counts the steps from a record's use to the release.

        In the half of the places next to the release, each start is `BLOCK_RATIO` times as far from the release as the
        one before. In the other half, distances are measured from the start of the run.
        """
        steps = self.run.steps
        distances = BLOCK_RATIO ** np.arange(math.ceil(math.log(steps) / math.log(BLOCK_RATIO)) + 1)
        middle = 0.5 * (HYBRID_PLACES + steps)
        from_release = np.floor(HYBRID_PLACES * distances)
        from_start = np.floor(steps - distances)
        near_release, near_start = from_release[from_release < middle], from_start[from_start >= middle]
        return np.unique(np.concatenate((near_release, near_start, [HYBRID_PLACES]))).astype(np.int64)

    def log_bound(self, epsilon: float, *, contracted: bool) -> Interval:
        """Enclose numerically the logarithm of the upper bound on δ(ε) of the released model.

        The bound is the mean over the places of the record, the numbers of steps from its use to the release. If the
        order of the batches is known, it is the largest value. Places are evaluated in stages, from the release
        backwards, until the sum over the remaining ones is negligible.

        Args:
            epsilon: ε ≥ 0, in nats.
            contracted: whether each later step may also multiply δ by θ_ε(r), the δ(ε) of N(r, 1) against N(0, 1), with
                r the diameter of its image over its noise. Otherwise only the noise of the later steps counts.
        """
        parts: list[LogValues] = []
        product = LogProduct()
        for stage in _stages(min(self.run.steps, HYBRID_PLACES)):
            if contracted:
                values, product = self._best_windows(epsilon, stage, product)
            else:
                values = LogValues(*theta_with_error(epsilon, self.mu[stage]))
            parts.append(values)
            if stage.stop == self.run.steps:
                return self._mean_over_places(parts)
            log_rest = self._log_rest(epsilon, stage.stop, product.value + product.error)
            log_largest = max(float((values.value - values.error).max()) for values in parts)
            if log_rest < log_largest - NEGLIGIBLE:
                return self._mean_over_places(parts, log_rest)
        parts.append(self._block_values(epsilon, product, contracted=contracted))
        return self._mean_over_places(parts)

    def _log_rest(self, epsilon: float, first: int, after: float) -> float:
        """Return an upper bound on the log of the sum of the bounds on δ(ε) over a record's places from `first` on.

        Args:
            epsilon: ε ≥ 0.
            first: least number of steps from the record's use to the release at these places.
            after: upper bound on the log of the product of the contraction factors of the last `first` steps.
        """
        (log_theta,), _ = theta_with_error(epsilon, self.largest_mu_from[[first]])
        largest_term = float(log_theta) + 1e-9
        return min(largest_term, after) + math.log(self.run.steps - first)

    def _best_windows(self, epsilon: float, stage: slice, product: LogProduct) -> tuple[LogValues, LogProduct]:
        """Return the least bound on log δ for some numbers v of steps between a record's use and the release.

        The bound has two factors. One is δ after the first u of these steps, where their noise and the noise of the use
        hide the shift by the record. The other is the product of the contraction factors of the v − u later steps. The
        least bound over some u is used: u = v, u = 0, and the u of `windows`. If contraction has less than
        `KERNELS_FELT` effect on log δ, the u of `windows` are not tried.

        Args:
            epsilon: ε ≥ 0, in nats.
            stage: the values v, consecutive and increasing.
            product: log of the product of the contraction factors of the last `stage.start` steps.

        Returns:
            The bounds, and the product of the last `stage.stop` steps for the next stage.
        """
        steps = self.run.steps
        sensitivity, contraction = self.run.shifts(steps - stage.stop + 1, steps - stage.start)
        factors = LogValues(*theta_with_error(epsilon, contraction[::-1]))
        products = running_products(product, factors, stage.stop)
        windows = [(0, sensitivity[::-1])]
        if float(products.value[-1]) < -KERNELS_FELT:
            windows += self._windows_within(stage)
        lengths, window_mus = zip(*windows, strict=True)
        best, *window_deltas = _log_delta_of_each(epsilon, (self.mu[stage], *window_mus))
        for length, delta in zip(lengths, window_deltas, strict=True):
            size = delta.value.size
            candidates = LogValues(delta.value + products.value[:size], delta.error + products.error[:size])
            replace_by_smaller(best, candidates, slice(length, length + size))
        return best, LogProduct(float(products.value[-1]), float(products.error[-1]))

    def _windows_within(self, stage: slice) -> list[tuple[int, FloatArray]]:
        """Return the windows of `windows` for which both v and v − u may be places of the stage.

        Args:
            stage: the places v, consecutive and increasing.

        Returns:
            Pairs of u and an array of μ for v = `stage.start` + u, …, as far as both places exist.
        """
        return [
            (length, mu[stage.start : min(stage.stop - length, mu.size)])
            for length, mu in self.windows
            if length < stage.stop - stage.start and stage.start < mu.size
        ]

    def _block_values(self, epsilon: float, product: LogProduct, *, contracted: bool) -> LogValues:
        """Return the log of the bound on δ for the places v ≥ `HYBRID_PLACES`, one value and error per block.

        At place v a record is used v steps before the release. Every place of a block gets the largest bound of the
        block. The values of a block are added up, unless the order of the batches is known.

        Args:
            epsilon: ε ≥ 0, in nats.
            product: log of the product of the contraction factors of the last `HYBRID_PLACES` steps.
            contracted: whether each later step may also multiply δ by its contraction factor.
        """
        best = LogValues(*theta_with_error(epsilon, self.blocks.mu))
        if contracted:
            replace_by_smaller(best, self._contracted_block_values(epsilon, product), slice(None))
        value = best.value
        if not self.run.known_order:
            value = value + np.log(self.blocks.counts)
        return LogValues(value, best.error + 1e-15)

    def _contracted_block_values(self, epsilon: float, product: LogProduct) -> LogValues:
        """Return the log of δ(ε) of a record's use times the contraction factors of later steps, for each block.

        A block is a range of numbers of steps from the use to the release. The factors of its own steps are left out.

        Args:
            epsilon: ε ≥ 0, in nats.
            product: log of the product of the contraction factors of the last `HYBRID_PLACES` steps.
        """
        blocks = self.blocks
        factor, factor_error = theta_with_error(epsilon, blocks.contraction)
        use, use_error = theta_with_error(epsilon, blocks.sensitivity)
        log_block_product = blocks.counts * np.maximum(factor, LEAST_LOG_FACTOR)
        # The product before each block, so without the block's own steps.
        products = np.append(product.value, product.value + np.cumsum(log_block_product))[:-1]
        product_errors = np.append(product.error, product.error + np.cumsum(blocks.counts * factor_error))[:-1]
        rounding = UNIT_ROUNDOFF * self.run.steps * np.abs(products)
        return LogValues(use + products, use_error + product_errors + rounding)

    def _mean_over_places(self, parts: list[LogValues], log_rest: float | None = None) -> Interval:
        """Enclose the log of the mean of bounds on δ(ε) over all places, or of the largest one if the order is known.

        Args:
            parts: logs of the bounds, at all places or the first ones. Of far places, one value stands for a block.
            log_rest: upper bound on the log of the sum over the remaining places; None if there are none.
        """
        run = self.run
        lower = np.concatenate([values.value - values.error for values in parts])
        upper = np.concatenate([values.value + values.error for values in parts])
        if log_rest is not None:
            upper = np.append(upper, log_rest)
        if run.known_order:
            return Interval(float(lower.max()), min(float(upper.max()), 0.0))
        log_share = math.log(run.participants) - math.log(run.clients)
        slack = 1e-13 + 16 * UNIT_ROUNDOFF * abs(log_share)  # for the rounding of the sum and of the share
        low, high = log_sum(lower) + log_share - slack, log_sum(upper) + log_share + slack
        return Interval(low, min(high, 0.0))


def _stages(count: int) -> Iterator[slice]:
    """Yield ranges of places from 0 to `count`; each but the first and the last ends four times as far as before."""
    first = 0
    while first < count:
        last = min(count, max(FIRST_STAGE, 4 * first))
        yield slice(first, last)
        first = last


def _log_delta_of_each(epsilon: float, mus: Sequence[FloatArray]) -> list[LogValues]:
    """Return log δ(ε) of N(μ, 1) against N(0, 1) for each array of μ; all are evaluated in one call."""
    theta, error = theta_with_error(epsilon, np.concatenate(mus))
    cuts = np.cumsum([mu.size for mu in mus])[:-1]
    return [LogValues(*part) for part in zip(np.split(theta, cuts), np.split(error, cuts), strict=True)]


def _double_window(variance: FloatArray, log_influence: FloatArray, length: int) -> FloatArray:
    """Return the noise variance of windows of 2l steps from that of windows of l steps.

    A window that ends e steps before the release consists of a later half, which ends there too, and an earlier half,
    which ends e + l steps before it. The noise of the earlier half is contracted by the steps of the later half.

    Args:
        variance: noise variance of a window of l steps, for each e.
        log_influence: log of the factor by which all steps after e contract a distance, for each e.
        length: number l of steps.
    """
    later_half, earlier_half = variance[:-length], variance[length:]
    count = later_half.size
    log_contraction = log_influence[length : length + count] - log_influence[:count]
    return np.asarray(later_half + np.exp(2.0 * log_contraction) * earlier_half)

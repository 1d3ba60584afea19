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
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.factor_sums import LEAST_LOG_FACTOR, NEGLIGIBLE
from epsilond.accountants.numerics.mixed_sums import log_sum
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.numerics.thetas.many_shifts import theta_with_error
from epsilond.accountants.theorems.hidden_states.backward_steps import BackwardRun, PlaceWindow
from epsilond.accountants.theorems.hidden_states.record_places import (
    LogProduct,
    LogValues,
    replace_by_smaller,
    running_products,
)
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import BLOCK_RATIO

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
    """Bounds for a record that is used long before the release of the model, one for each block of consecutive steps.

    Place v means that the record is used v steps before the release; here v ≥ `HYBRID_PLACES`. Neighbouring places form
    a block. Each array has one entry for each block, which is the largest value in it.

    Attributes:
        counts: number of places in the block.
        mu: Gaussian-DP parameter μ of the released model by shifted interpolation, where later noise hides the use.
        sensitivity: shift of the model by a use, in standard deviations of the step's noise.
        contraction: diameter r of a later step's image over its noise. Such a step multiplies δ by θ_ε(r) < 1.
    """

    counts: FloatArray
    mu: FloatArray
    sensitivity: FloatArray
    contraction: FloatArray


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
    def backward(self) -> BackwardRun:
        """The steps, counted backwards from the release, with the noise that hides a use at each."""
        return BackwardRun(self.run)

    @property
    def mu(self) -> FloatArray:
        """Gaussian-DP parameter μ at the release of a record that is used v steps earlier, for each v, rounded up."""
        return self.backward.mu

    @cached_property
    def windows(self) -> tuple[PlaceWindow, ...]:
        """Values of μ at u = 1, 3, 7, … steps after the use of a record, for places v < `HYBRID_PLACES`."""
        return self.backward.windows(HYBRID_PLACES)

    @cached_property
    def largest_mu_from(self) -> FloatArray:
        """The largest μ of a place and of the places farther from the release, for each place."""
        return np.asarray(np.maximum.accumulate(self.mu[::-1])[::-1])

    @cached_property
    def blocks(self) -> Blocks:
        """Blocks of the steps far from the release, in which all steps share one bound for the use of a record.

        At place v a record is used v ≥ `HYBRID_PLACES` steps before the release. Each block is bounded by its worst
        place. Within a block the numbers of steps to the release, or from the start, differ by a factor of at most
        `BLOCK_RATIO`, up to rounding. So little is lost, and the blocks are few.
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
        """Choose the points that divide the steps of a run into blocks, for bounds by when a record is used.

        A place v of a record is the number of steps from its use to the release of the model. In the half of the places
        next to the release, each block starts `BLOCK_RATIO` times as far from the release as the one before. In the
        half next to the start of the run, distances are measured from the start.

        Returns:
            The first place of each block in increasing order, from `HYBRID_PLACES` on.
        """
        steps = self.run.steps
        most_blocks = math.ceil(math.log(steps) / math.log(BLOCK_RATIO)) + 1
        distances = BLOCK_RATIO ** np.arange(most_blocks)
        middle = 0.5 * (HYBRID_PLACES + steps)
        # Starts at equal ratios, by the distance from the release and by that from the start of the run.
        from_release = np.floor(HYBRID_PLACES * distances)
        from_start = np.floor(steps - distances)
        near_release = from_release[from_release < middle]
        near_start = from_start[from_start >= middle]
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

        Returns:
            A lower and an upper value of the natural logarithm of the bound, which differ by the numerical error.
        """
        parts: list[LogValues] = []
        product = LogProduct()
        for stage in _stages(min(self.run.steps, HYBRID_PLACES)):
            if contracted:
                values, product = self._best_windows(epsilon, stage, product)
            else:
                values = LogValues(*theta_with_error(epsilon, self.mu[stage]))
            parts.append(values)

            # The last stage, or one beyond which all places are negligible.
            if stage.stop == self.run.steps:
                return self._mean_over_places(parts)
            log_rest = self._log_rest(epsilon, stage.stop, product.value + product.error)
            log_largest = max(float((values.value - values.error).max()) for values in parts)
            if log_rest < log_largest - NEGLIGIBLE:
                return self._mean_over_places(parts, log_rest)

        # Places far from the release, in blocks.
        parts.append(self._block_values(epsilon, product, contracted=contracted))
        return self._mean_over_places(parts)

    def _log_rest(self, epsilon: float, first: int, after: float) -> float:
        """Return an upper bound on the log of the summed bounds on δ(ε) for early uses of a record.

        The uses are at least `first` steps before the release.

        Args:
            epsilon: ε ≥ 0.
            first: least number of steps from the record's use to the release at these places.
            after: upper bound on the log of the product of the contraction factors of the last `first` steps.

        Returns:
            The natural logarithm of the number of these places times a bound on each term. This bound is the smaller
            one of e^`after` and of shifted interpolation.
        """
        (log_theta,), _ = theta_with_error(epsilon, self.largest_mu_from[[first]])
        by_interpolation = float(log_theta) + 1e-9  # more than the error of the logarithm
        remaining_places = self.run.steps - first
        return min(by_interpolation, after) + math.log(remaining_places)

    def _best_windows(self, epsilon: float, stage: slice, product: LogProduct) -> tuple[LogValues, LogProduct]:
        """Compute the least bound on log δ for some numbers v of steps between a record's use and the release.

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

        # Every u with the values of μ at the places v of the stage. For u = 0 only the noise of the use hides the
        # shift.
        windows = [PlaceWindow(0, sensitivity[::-1])]
        if float(products.value[-1]) < -KERNELS_FELT:
            windows += self._windows_within(stage)
        window_mus = [window.mu for window in windows]
        best, *window_deltas = _log_delta_of_each(epsilon, (self.mu[stage], *window_mus))

        # A window that ends v − u steps before the release is followed by the product of these steps.
        for window, delta in zip(windows, window_deltas, strict=True):
            size = delta.value.size
            candidates = LogValues(delta.value + products.value[:size], delta.error + products.error[:size])
            replace_by_smaller(best, candidates, slice(window.length, window.length + size))
        return best, LogProduct(float(products.value[-1]), float(products.error[-1]))

    def _windows_within(self, stage: slice) -> list[PlaceWindow]:
        """Return the stored values of μ at some numbers u of steps after a record's use, for a range of times of use.

        A place v is the number of steps from a record's use to the release. A window has the values of μ at u steps
        after the use. It is returned if both v and v − u may be places of the range.

        Args:
            stage: the places v, consecutive and increasing.

        Returns:
            Windows with μ for v = `stage.start` + u, …, as far as both places exist.
        """
        windows = []
        for length, mu in self.windows:
            is_within = length < stage.stop - stage.start and stage.start < mu.size
            if is_within:
                end = min(stage.stop - length, mu.size)
                windows.append(PlaceWindow(length, mu[stage.start : end]))
        return windows

    def _block_values(self, epsilon: float, product: LogProduct, *, contracted: bool) -> LogValues:
        """Compute the log of the bound on δ for a record that is used long before the release, one per block of steps.

        At place v ≥ `HYBRID_PLACES` a record is used v steps before the release. Neighbouring places form a block.
        Every place of a block gets the largest bound of the block. The bounds of a block are added up, unless the order
        of the batches is known.

        Args:
            epsilon: ε ≥ 0, in nats.
            product: log of the product of the contraction factors of the last `HYBRID_PLACES` steps.
            contracted: whether each later step may also multiply δ by its contraction factor.

        Returns:
            One natural logarithm for each block, with a bound on its error.
        """
        best = LogValues(*theta_with_error(epsilon, self.blocks.mu))
        if contracted:
            replace_by_smaller(best, self._contracted_block_values(epsilon, product), slice(None))
        value = best.value
        if not self.run.known_order:
            value = value + np.log(self.blocks.counts)
        return LogValues(value, best.error + 1e-15)

    def _contracted_block_values(self, epsilon: float, product: LogProduct) -> LogValues:
        """Compute the log of δ(ε) of a record's use times the contraction factors of later steps, for each block.

        A block is a range of numbers of steps from the use to the release. The factors of its own steps are left out.

        Args:
            epsilon: ε ≥ 0, in nats.
            product: log of the product of the contraction factors of the last `HYBRID_PLACES` steps.

        Returns:
            One natural logarithm for each block, with a bound on its error.
        """
        blocks = self.blocks
        factor, factor_error = theta_with_error(epsilon, blocks.contraction)
        use, use_error = theta_with_error(epsilon, blocks.sensitivity)
        log_block_product = blocks.counts * np.maximum(factor, LEAST_LOG_FACTOR)
        block_error = blocks.counts * factor_error
        # The product before each block, so without the block's own steps.
        products = np.append(product.value, product.value + np.cumsum(log_block_product))[:-1]
        product_errors = np.append(product.error, product.error + np.cumsum(block_error))[:-1]
        rounding = UNIT_ROUNDOFF * self.run.steps * np.abs(products)  # of the running sums
        return LogValues(use + products, use_error + product_errors + rounding)

    def _mean_over_places(self, parts: list[LogValues], log_rest: float | None = None) -> Interval:
        """Enclose the log of the mean of bounds on δ(ε) over the steps in which a record may be used.

        If the order of the batches is known, the largest bound replaces the mean. A place of a record is the number of
        steps from its use to the release.

        Args:
            parts: logs of the bounds, at all places or the first ones. Far places share one value for each block of
                them.
            log_rest: upper bound on the log of the sum over the remaining places; None if there are none.

        Returns:
            A lower and an upper value of the natural logarithm, the upper one at most 0.
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
    """Yield consecutive index ranges that divide a long sum into stages of growing length.

    The terms belong to the places of a record, that is, to the number of steps from its use to the release. The first
    stage has `FIRST_STAGE` places. Each later stage ends four times as far from the release as the one before.

    Args:
        count: number of places, the terms of the sum.

    Yields:
        Consecutive ranges from 0 to `count`.
    """
    first = 0
    while first < count:
        last = min(count, max(FIRST_STAGE, 4 * first))
        yield slice(first, last)
        first = last


def _log_delta_of_each(epsilon: float, mus: Sequence[FloatArray]) -> list[LogValues]:
    """Compute log δ(ε) of N(μ, 1) against N(0, 1) for several arrays of μ, all in one call of the vectorised function.

    Args:
        epsilon: ε ≥ 0, in nats.
        mus: arrays of μ ≥ 0.

    Returns:
        For each array, the natural logarithms with bounds on their errors.
    """
    theta, error = theta_with_error(epsilon, np.concatenate(mus))
    ends = np.cumsum([mu.size for mu in mus])[:-1]
    thetas, errors = np.split(theta, ends), np.split(error, ends)
    return [LogValues(*part) for part in zip(thetas, errors, strict=True)]

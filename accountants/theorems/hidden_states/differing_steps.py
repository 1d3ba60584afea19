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
    """Numbers that bound δ for the early steps of a run, at least `HYBRID_PLACES` before the release of the model.

    Consecutive steps form a block. Each array has one entry for each block, from the release backwards. Except for
    `counts`, the entry is the largest value of a step in the block.

    Attributes:
        counts: number of steps in the block.
        mu: Gaussian-DP parameter μ of the released model, if the record is used in the step.
        sensitivity: shift of the model by a use of the record, in standard deviations of the step's noise.
        contraction: diameter r of the set of models after the step, before its noise, in standard deviations of the
            noise. The step multiplies δ(ε) of an earlier use by at most the δ(ε) of N(r, 1) against N(0, 1).
    """

    counts: FloatArray
    mu: FloatArray
    sensitivity: FloatArray
    contraction: FloatArray


@dataclass(frozen=True)
class DifferingSteps:
    """Bounds on δ(ε) of a single pass of noisy SGD with steps of different sizes, if the last model is released.

    A record is in at most one batch. Arrays have one entry for each number v of steps between this use of the record
    and the release, a "place" in the names.

    Attributes:
        run: the run.
    """

    run: ProjectedRun

    @cached_property
    def backward(self) -> BackwardRun:
        """The steps, counted backwards from the release, with the Gaussian-DP parameter μ of a use in each."""
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
        """Blocks of the steps that are at least `HYBRID_PLACES` before the release. Each counts as its worst step.

        Within a block, the distances to the release or to the start of the run differ by a factor of at most
        `BLOCK_RATIO`, up to rounding. So the bound is hardly larger, and the blocks are few.
        """
        steps = self.run.steps
        starts = self._block_starts()
        # The first entry of these two arrays is that of the step `HYBRID_PLACES` before the release.
        sensitivity, contraction = (values[::-1] for values in self.run.shifts(1, steps - HYBRID_PLACES))
        starts_beyond = starts - HYBRID_PLACES
        return Blocks(
            counts=np.diff(np.append(starts, steps)).astype(np.float64),
            mu=np.maximum.reduceat(self.mu, starts),
            sensitivity=np.maximum.reduceat(sensitivity, starts_beyond),
            contraction=np.maximum.reduceat(contraction, starts_beyond),
        )

    def _block_starts(self) -> IntArray:
        """Choose where the early steps of a run are divided into blocks.

        Steps are counted backwards from the release of the model. In the half of them next to the release, each block
        starts `BLOCK_RATIO` times as far from the release as the one before. In the half next to the start of the run,
        distances from the start grow by the same ratio.

        Returns:
            The number of steps from the first step of each block to the release: increasing integers, the first one
            `HYBRID_PLACES`.
        """
        steps = self.run.steps
        most_blocks = math.ceil(math.log(steps) / math.log(BLOCK_RATIO)) + 1
        distances = BLOCK_RATIO ** np.arange(most_blocks)
        middle = 0.5 * (HYBRID_PLACES + steps)
        from_release = np.floor(HYBRID_PLACES * distances)
        from_start = np.floor(steps - distances)
        near_release = from_release[from_release < middle]
        near_start = from_start[from_start >= middle]
        return np.unique(np.concatenate((near_release, near_start, [HYBRID_PLACES]))).astype(np.int64)

    def log_bound(self, epsilon: float, *, contracted: bool) -> Interval:
        """Enclose numerically the logarithm of the upper bound on δ(ε) of the released model.

        The bound is the expected value over the step that uses the record, with 0 if no step does. If the order of the
        batches is known, it is the value for the worst step. Steps are evaluated in stages, from the release backwards,
        until the sum over the remaining ones is negligible.

        Args:
            epsilon: ε ≥ 0, in nats.
            contracted: whether steps after the use may also contract δ. Such a step multiplies it by the δ(ε) of
                N(r, 1) against N(0, 1), where r is the diameter of the set of models before its noise, in standard
                deviations of the noise. Otherwise only the noise of the later steps counts.

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

            # Return after the last step, or if all remaining steps are negligible.
            if stage.stop == self.run.steps:
                return self._average(parts)
            log_rest = self._log_rest(epsilon, stage.stop, product.value + product.error)
            log_largest = max(float((values.value - values.error).max()) for values in parts)
            if log_rest < log_largest - NEGLIGIBLE:
                return self._average(parts, log_rest)

        parts.append(self._block_values(epsilon, product, contracted=contracted))
        return self._average(parts)

    def _log_rest(self, epsilon: float, first: int, log_contraction: float) -> float:
        """Return an upper bound on the log of the summed bounds on δ(ε) over all early uses of a record.

        The record may be used in any step that is at least `first` steps before the release. The bound is the number
        of these steps, times the smaller of two bounds on each of their δ(ε): the largest one from the noise of the
        later steps, and the product of the contraction factors of the last `first` steps.

        Args:
            epsilon: ε ≥ 0, in nats.
            first: least number of steps from the use to the release.
            log_contraction: upper bound on the log of that product.

        Returns:
            The natural logarithm of the bound.
        """
        (log_theta,), _ = theta_with_error(epsilon, self.largest_mu_from[[first]])
        by_noise = float(log_theta) + 1e-9  # more than the error of the logarithm
        remaining_steps = self.run.steps - first
        return min(by_noise, log_contraction) + math.log(remaining_steps)

    def _best_windows(self, epsilon: float, stage: slice, product: LogProduct) -> tuple[LogValues, LogProduct]:
        """Compute the least bound on log δ for a record that is used v steps before the release, for a range of v.

        The bound is a product of two numbers. The first one is δ after u ≤ v of the later steps: their noise hides the
        shift by the record. The second one is the product of the factors by which the last v − u steps contract δ. The
        least bound over u = 0, u = v and some u in between is used. Those in between are only tried if all contraction
        changes log δ by more than `KERNELS_FELT`.

        Args:
            epsilon: ε ≥ 0, in nats.
            stage: the range of v, consecutive and increasing.
            product: log of the product of the contraction factors of the last `stage.start` steps.

        Returns:
            The bounds, and the product of the last `stage.stop` steps, which the next range of v needs.
        """
        steps = self.run.steps
        sensitivity, contraction = self.run.shifts(steps - stage.stop + 1, steps - stage.start)
        factors = LogValues(*theta_with_error(epsilon, contraction[::-1]))
        products = running_products(product, factors, stage.stop)

        # For u = 0, only the noise of the step that uses the record hides the shift.
        windows = [PlaceWindow(0, sensitivity[::-1])]
        if float(products.value[-1]) < -KERNELS_FELT:
            windows += self._windows_within(stage)
        window_mus = [window.mu for window in windows]
        best, *window_deltas = _log_delta_of_each(epsilon, (self.mu[stage], *window_mus))

        # `products[i]` is the product of the last `stage.start` + i steps. These are v − u steps for the i-th value.
        for window, delta in zip(windows, window_deltas, strict=True):
            size = delta.value.size
            candidates = LogValues(delta.value + products.value[:size], delta.error + products.error[:size])
            replace_by_smaller(best, candidates, slice(window.length, window.length + size))
        return best, LogProduct(float(products.value[-1]), float(products.error[-1]))

    def _windows_within(self, stage: slice) -> list[PlaceWindow]:
        """Return the parts of the stored windows, the ranges of steps that hide a use by their noise, within a stage.

        A window begins with the use of a record, v steps before the release, and ends v − u steps before it. Both
        numbers must be in the range of the stage. The Gaussian-DP parameter μ is stored for each u and each v ≥ u.

        Args:
            stage: the range of v, consecutive and increasing.

        Returns:
            One window for each possible u, with μ for v = `stage.start` + u and all larger v of the range.
        """
        windows = []
        for length, mu in self.windows:
            is_within = length < stage.stop - stage.start and stage.start < mu.size
            if is_within:
                end = min(stage.stop - length, mu.size)
                windows.append(PlaceWindow(length, mu[stage.start : end]))
        return windows

    def _block_values(self, epsilon: float, product: LogProduct, *, contracted: bool) -> LogValues:
        """Compute the log of the bound on δ for a record that is used in one of the early steps, for blocks of steps.

        Every step of a block gets the largest bound of the block. The bounds of a block are added up, unless the order
        of the batches is known.

        Args:
            epsilon: ε ≥ 0, in nats.
            product: log of the product of the contraction factors of the last `HYBRID_PLACES` steps.
            contracted: whether each step after the use may also multiply δ by its contraction factor.

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
        """Compute the log of δ(ε) of a use of the record, times the contraction factors of later steps, for each block.

        A block is a range of consecutive early steps, each of which may use the record. The bound holds for all of
        them, because only the factors of the steps after the block are used.

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
        # Blocks are ordered backwards from the release: the products are those of all steps after the block.
        products = np.append(product.value, product.value + np.cumsum(log_block_product))[:-1]
        product_errors = np.append(product.error, product.error + np.cumsum(block_error))[:-1]
        rounding = UNIT_ROUNDOFF * self.run.steps * np.abs(products)  # at most one rounding of the sum per step
        return LogValues(use + products, use_error + product_errors + rounding)

    def _average(self, parts: list[LogValues], log_rest: float | None = None) -> Interval:
        """Enclose the log of the expected bound on δ(ε), if a record is in each batch with probability m/n.

        If the order of the batches is known, the result is the log of the largest bound.

        Args:
            parts: logs of the bounds for the steps that may use the record, the last step first. A block of early steps
                has one value, which is the log of their sum, or of the largest one for a known order.
            log_rest: upper bound on the log of the sum over steps that are not in `parts`; None if there are none.

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
        slack = 1e-13 + 16 * UNIT_ROUNDOFF * abs(log_share)  # more than the rounding of the sum and of the share
        low, high = log_sum(lower) + log_share - slack, log_sum(upper) + log_share + slack
        return Interval(low, min(high, 0.0))


def _stages(count: int) -> Iterator[slice]:
    """Yield consecutive index ranges that divide a long sum into stages of growing length.

    The first stage ends at `FIRST_STAGE`. Each later stage ends at four times the end of the previous one.

    Args:
        count: number of terms of the sum.

    Yields:
        Consecutive ranges from 0 to `count`.
    """
    start = 0
    while start < count:
        stop = min(count, max(FIRST_STAGE, 4 * start))
        yield slice(start, stop)
        start = stop


def _log_delta_of_each(epsilon: float, mus: Sequence[FloatArray]) -> list[LogValues]:
    """Compute log δ(ε) of N(μ, 1) against N(0, 1) for several arrays of μ, all in one call of the vectorised function.

    Args:
        epsilon: ε ≥ 0, in nats.
        mus: arrays of μ ≥ 0.

    Returns:
        For each array, the natural logarithms with bounds on their errors.
    """
    theta, error = theta_with_error(epsilon, np.concatenate(mus))
    boundaries = np.cumsum([mu.size for mu in mus])[:-1]
    values, errors = np.split(theta, boundaries), np.split(error, boundaries)
    return [LogValues(*value_and_error) for value_and_error in zip(values, errors, strict=True)]

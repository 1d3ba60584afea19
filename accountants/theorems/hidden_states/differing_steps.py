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
from epsilond.accountants.numerics.factor_sums import LEAST_LOG_FACTOR, NEGLIGIBLE, log_sum, theta_with_error
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import BLOCK_RATIO, LEAST_CONTRACTION, OUTWARD

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun

MOST_PLACES = 2**20
"""Largest number of steps of a run; it bounds time and memory."""
HYBRID_PLACES = 2**13
"""Number of places nearest to the release for which windows between use and release are tried one by one."""
FIRST_STAGE = 256
"""Number of places in the first stage; later stages are four times as large."""
KERNELS_FELT = 1e-6
"""Least effect on log δ of the kernels of all places so far for which windows are tried; they cannot gain more."""


@dataclass(frozen=True)
class Blocks:
    """Places of the record beyond `HYBRID_PLACES`, in blocks of consecutive places.

    Place v means that the record is used v steps before the release. A block has one value of each kind for all its
    places, the largest one.

    Attributes:
        counts: number of places of each block.
        mu: μ of the shift, by shifted interpolation only.
        sensitivity: shift of a use of the record, in standard deviations of the step's noise.
        contraction: shift r of a later step, which multiplies δ by θ_ε(r).
    """

    counts: FloatArray
    mu: FloatArray
    sensitivity: FloatArray
    contraction: FloatArray


@dataclass(frozen=True)
class DifferingSteps:
    """A single pass, released at its end, in which each step k has its own c_k ≤ 1, shift s_k and noise ν_k."""

    run: ProjectedRun

    @cached_property
    def steps(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Arrays over v: the log of Π c over the later steps, the shift s and the noise ν.

        Both s and ν are in units of the largest ν. In this unit no square overflows. A square that underflows makes the
        variance smaller, and μ larger.
        """
        run = self.run
        sizes = run.step_schedule.at(1, run.steps)[::-1]
        noises = sizes * run.noise_schedule.at(1, run.steps)[::-1] / math.sqrt(run.participants)
        contraction = run.lipschitz_constant(sizes)
        assert contraction is not None
        logs = np.log(np.maximum(contraction, LEAST_CONTRACTION))
        shifts = sizes * (run.sensitivity / run.participants)
        return np.append(0.0, np.cumsum(logs)[:-1]), shifts / self._largest_noise, noises / self._largest_noise

    @cached_property
    def _largest_noise(self) -> float:
        """The largest standard deviation that a step adds per coordinate."""
        run = self.run
        noises = run.step_schedule.at(1, run.steps) * run.noise_schedule.at(1, run.steps)
        return float(noises.max()) / math.sqrt(run.participants)

    @cached_property
    def outward(self) -> FloatArray:
        """Factors that cover the rounding of the running sums up to place v, for each v.

        Let u be the unit roundoff and Λ = |log Π c| at v. All logarithms are at most 0, so a partial sum never exceeds
        the full sum. Hence the running sum of logarithms is within (v + 2) u Λ. The variance is a running sum of
        positive terms e^(2 log) ν², each within 2 (v + 2) u Λ + 8u. The sum is within a further v u, and its root
        within half of all that. With the influence e^log in the numerator, μ is within 2 (v + 2) u Λ + (v/2 + 12) u.
        """
        log_influence, _, _ = self.steps
        return 1.0 + (np.arange(log_influence.size) + 16.0) * (1.0 + 2.0 * np.abs(log_influence)) * UNIT_ROUNDOFF

    @cached_property
    def mu(self) -> FloatArray:
        """μ at the release of a record that is used v steps earlier, for each v, rounded up.

        It is that of the record's shift, or that of the domain's diameter after the use if this is smaller.
        """
        log_influence, shift, noise = self.steps
        diameter = 2.0 * self.run.radius / self._largest_noise
        room = np.cumsum(np.exp(2.0 * log_influence) * noise**2)
        influence = np.exp(np.maximum(log_influence, -690.0))
        with np.errstate(divide="ignore", over="ignore"):
            # The diameter is contracted by the maps after the use, not by the map of the use.
            domain = diameter * influence / np.sqrt(np.append(0.0, room[:-1]))
            return np.asarray(np.minimum(shift * influence / np.sqrt(room), domain) * self.outward * OUTWARD)

    @cached_property
    def windows(self) -> tuple[tuple[int, FloatArray], ...]:
        """μ at u = 1, 3, 7, … steps after the use of the record, for each place v ≥ u, rounded up.

        The window is the u steps after the use. The variance of its noise is that of its later half plus the contracted
        variance of its earlier half. Each variance errs like the difference of two running sums, and by a further
        26 (3 + Λ) units of roundoff, with Λ as in `outward`.
        """
        log_influence, shift, noise = (values[:HYBRID_PLACES] for values in self.steps)
        outward = 1.0 + 2.0 * (self.outward[:HYBRID_PLACES] - 1.0)
        bounds = []
        length, room = 1, noise**2
        while 2 * length <= room.size + length - 1:
            later, earlier = room[:-length], room[length:]
            start = np.arange(later.size)
            room = later + np.exp(2.0 * (log_influence[start + length] - log_influence[start])) * earlier
            length *= 2
            # `room` is indexed by the window's end e = v − u.
            end = np.arange(room.size)
            influence = np.exp(np.maximum(log_influence[end + length - 1] - log_influence[end], -690.0))
            with np.errstate(divide="ignore"):
                mu = shift[length - 1 :] * influence / np.sqrt(room) * outward[length - 1 :] * OUTWARD
            bounds.append((length - 1, mu))
        return tuple(bounds)

    @cached_property
    def largest_mu_from(self) -> FloatArray:
        """The largest μ of a place and of those farther from the release."""
        return np.asarray(np.maximum.accumulate(self.mu[::-1])[::-1])

    @cached_property
    def blocks(self) -> Blocks:
        """Blocks of places beyond `HYBRID_PLACES`.

        Within a block, the numbers of steps to the release, or from the start, differ by at most a share of 1/256.
        """
        steps = self.run.steps
        distances = BLOCK_RATIO ** np.arange(math.ceil(math.log(steps) / math.log(BLOCK_RATIO)) + 1)
        middle = 0.5 * (HYBRID_PLACES + steps)
        from_release = np.floor(HYBRID_PLACES * distances)
        from_start = np.floor(steps - distances)
        starts = np.unique(
            np.concatenate((from_release[from_release < middle], from_start[from_start >= middle], [HYBRID_PLACES]))
        )
        starts = starts.astype(np.int64)
        sensitivity, contraction = (values[::-1] for values in self.run.shifts(1, steps - HYBRID_PLACES))
        inside = starts - HYBRID_PLACES
        return Blocks(
            counts=np.diff(np.append(starts, steps)).astype(np.float64),
            mu=np.maximum.reduceat(self.mu, starts),
            sensitivity=np.maximum.reduceat(sensitivity, inside),
            contraction=np.maximum.reduceat(contraction, inside),
        )

    def log_bound(self, epsilon: float, *, contracted: bool) -> Interval:
        """Enclose numerically the logarithm of the upper bound on δ(ε).

        The bound is the mean over the places of the record, or the largest one if the order of the batches is known.

        Args:
            epsilon: ε ≥ 0.
            contracted: whether the later steps also contract the divergence, each by a factor θ_ε. Otherwise only
                their noise counts.
        """
        steps = self.run.steps
        nearest = min(steps, HYBRID_PLACES)
        lowers: list[FloatArray] = []
        uppers: list[FloatArray] = []
        after = after_error = 0.0
        first = 0
        while first < nearest:
            part = slice(first, min(nearest, max(FIRST_STAGE, 4 * first)))
            if contracted:
                value, error, after, after_error = self._best_windows(epsilon, part, after, after_error)
            else:
                value, error = theta_with_error(epsilon, self.mu[part])
            lowers.append(value - error)
            uppers.append(value + error)
            first = part.stop
            if first < steps:
                rest = self._log_rest(epsilon, first, after + after_error)
                if rest < float(max(map(np.max, lowers))) - NEGLIGIBLE:
                    uppers.append(np.asarray([rest]))
                    return self._mean_over_places(np.concatenate(lowers), np.concatenate(uppers))
        if first < steps:
            value, error = self._block_values(epsilon, after, after_error, contracted=contracted)
            lowers.append(value - error)
            uppers.append(value + error)
        return self._mean_over_places(np.concatenate(lowers), np.concatenate(uppers))

    def _log_rest(self, epsilon: float, first: int, after: float) -> float:
        """Return an upper bound on the log of the sum over the places from `first` on.

        Args:
            epsilon: ε ≥ 0.
            first: the first of the places.
            after: upper bound on the log of the product of the contraction factors of all steps after this place.
        """
        largest = float(theta_with_error(epsilon, self.largest_mu_from[[first]])[0][0]) + 1e-9
        return min(largest, after) + math.log(self.run.steps - first)

    def _best_windows(
        self, epsilon: float, part: slice, after: float, after_error: float
    ) -> tuple[FloatArray, FloatArray, float, float]:
        """Return the least bound on log δ for each place v of a part, over the windows after the use.

        In the window the noise hides the shift. The steps after it contract the divergence. The candidates are the
        window to the release, the empty window, and each of `windows`.

        Args:
            epsilon: ε ≥ 0.
            part: the places.
            after: log of the product of the contraction factors of all steps after this part.
            after_error: bound on its error.

        Returns:
            The values, their errors, and `after` and `after_error` for the next part.
        """
        steps = self.run.steps
        sensitivity, contraction = self.run.shifts(steps - part.stop + 1, steps - part.start)
        kernel, kernel_error = theta_with_error(epsilon, contraction[::-1])
        sums = np.append(after, after + np.cumsum(np.maximum(kernel, LEAST_LOG_FACTOR)))
        sum_errors = np.append(after_error, after_error + np.cumsum(kernel_error))
        sum_errors += UNIT_ROUNDOFF * part.stop * np.abs(sums)
        # Places v = u + e with both v and e in this part.
        inside = [(u, mu[part.start : min(part.stop - u, mu.size)]) for u, mu in self.windows]
        if float(sums[-1]) < -KERNELS_FELT:
            inside = [(u, mu) for u, mu in inside if u < part.stop - part.start and mu.size]
        else:
            inside = []
        shifts = [self.mu[part], sensitivity[::-1], *(mu for _, mu in inside)]
        cuts = np.cumsum([shift.size for shift in shifts])[:-1]
        theta, theta_error = theta_with_error(epsilon, np.concatenate(shifts))
        values, errors = np.split(theta, cuts), np.split(theta_error, cuts)
        best, best_error = values[0], errors[0]
        for place, u in enumerate((0, *(u for u, _ in inside)), start=1):
            size = values[place].size
            at, ends = slice(u, u + size), slice(0, size)
            option, option_error = values[place] + sums[ends], errors[place] + sum_errors[ends]
            better = option < best[at]
            best[at] = np.where(better, option, best[at])
            best_error[at] = np.where(better, option_error, best_error[at])
        return best, best_error, float(sums[-1]), float(sum_errors[-1])

    def _block_values(
        self, epsilon: float, after: float, after_error: float, *, contracted: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return the log of the bound on δ for the places beyond `HYBRID_PLACES`, one value and error per block.

        All places of a block have the value of its worst one. Their values are added up, unless the order of the
        batches is known.

        Args:
            epsilon: ε ≥ 0.
            after: log of the product of the contraction factors of all steps after these places.
            after_error: bound on its error.
            contracted: whether the later steps also contract the divergence.
        """
        blocks = self.blocks
        value, error = theta_with_error(epsilon, blocks.mu)
        if contracted:
            kernel, kernel_error = theta_with_error(epsilon, blocks.contraction)
            use, use_error = theta_with_error(epsilon, blocks.sensitivity)
            logs = blocks.counts * np.maximum(kernel, LEAST_LOG_FACTOR)
            sums = np.append(after, after + np.cumsum(logs))[:-1]
            sum_errors = np.append(after_error, after_error + np.cumsum(blocks.counts * kernel_error))[:-1]
            option = use + sums
            option_error = use_error + sum_errors + UNIT_ROUNDOFF * self.run.steps * np.abs(sums)
            better = option < value
            value, error = np.where(better, option, value), np.where(better, option_error, error)
        if not self.run.known_order:
            value = value + np.log(blocks.counts)
        return value, error + 1e-15

    def _mean_over_places(self, lower: FloatArray, upper: FloatArray) -> Interval:
        """Return the mean over the n places of a record, or the largest value if the order of the batches is known.

        Args:
            lower: lower bounds on the log of the value of each place.
            upper: upper bounds on them.
        """
        run = self.run
        if run.known_order:
            return Interval(float(lower.max()), min(float(upper.max()), 0.0))
        share = math.log(run.participants) - math.log(run.clients)
        slack = 1e-13 + 16 * UNIT_ROUNDOFF * abs(share)
        low, high = log_sum(lower) + share - slack, log_sum(upper) + share + slack
        return Interval(low, min(high, 0.0))

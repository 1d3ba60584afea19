"""δ of the last model of a single pass whose steps differ: shifted interpolation, and contraction on top of it.

As `shift_then_contract`, place by place: a use v steps before the release has moved the run by s; after the
steps behind it Π c of that is left against noise of variance Σ (Π c)² ν². At u of 0, 1, 3, 7, … steps behind the use
one may stop counting distances and count kernels. Places are counted from the release backwards, v = T − j.
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
HYBRID_PLACES = 2**13
"""Places nearest to the release, taken one by one, at which windows between the use and the release are tried."""
FIRST_STAGE = 256
KERNELS_FELT = 1e-6
"""Where the kernels of all places so far take less than this off log δ, no window is tried: none could gain more."""


@dataclass(frozen=True)
class Blocks:
    """Places beyond `HYBRID_PLACES` by blocks: each block counts as its worst place, with the kernels before it."""

    counts: FloatArray
    mu: FloatArray
    sensitivity: FloatArray
    contraction: FloatArray


@dataclass(frozen=True)
class DifferingSteps:
    """A single pass, released at its end, each step k with its own c_k ≤ 1, shift s_k and noise ν_k."""

    run: ProjectedRun

    @cached_property
    def steps(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Per v: log of Π c over the steps after it, shift s, noise ν; s and ν in units of the largest ν.

        In that unit no square overflows. A square that underflows makes the room smaller, and μ larger.
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
        """Per v: a factor that covers the rounding of the running sums up to place v.

        Let u be the unit roundoff and Λ = |log Π c| at v. All logarithms are at most 0, so a partial sum never exceeds
        the whole: the running sum of logarithms is within (v + 2) u Λ. The room is a running sum of positive terms
        e^(2 log) ν², each within 2 (v + 2) u Λ + 8u; it is within a further v u, and its root within half of all that.
        With the influence e^log in the numerator, μ is within 2 (v + 2) u Λ + (v/2 + 12) u.
        """
        log_left, _, _ = self.steps
        return 1.0 + (np.arange(log_left.size) + 16.0) * (1.0 + 2.0 * np.abs(log_left)) * UNIT_ROUNDOFF

    @cached_property
    def mu(self) -> FloatArray:
        """μ of each place at the release, rounded up: of its shift, or of the domain's diameter after it."""
        log_left, shift, noise = self.steps
        diameter = 2.0 * self.run.radius / self._largest_noise
        room = np.cumsum(np.exp(2.0 * log_left) * noise**2)
        left = np.exp(np.maximum(log_left, -690.0))
        with np.errstate(divide="ignore", over="ignore"):
            # The diameter is contracted by the maps after the use, not by the map of the use.
            domain = diameter * left / np.sqrt(np.append(0.0, room[:-1]))
            return np.asarray(np.minimum(shift * left / np.sqrt(room), domain) * self.outward * OUTWARD)

    @cached_property
    def windows(self) -> tuple[tuple[int, FloatArray], ...]:
        """Per u = 1, 3, 7, …: μ of each place v ≥ u, u steps after its use, rounded up.

        The variance of a window is that of its later half and, contracted, that of its earlier half. The differences
        of running sums telescope over the halvings: each variance errs as two running sums do, and by 26 (3 + Λ) u.
        """
        log_left, shift, noise = (values[:HYBRID_PLACES] for values in self.steps)
        outward = 1.0 + 2.0 * (self.outward[:HYBRID_PLACES] - 1.0)
        bounds = []
        length, room = 1, noise**2
        while 2 * length <= room.size + length - 1:
            later, earlier = room[:-length], room[length:]
            start = np.arange(later.size)
            room = later + np.exp(2.0 * (log_left[start + length] - log_left[start])) * earlier
            length *= 2
            # `room` is indexed by the window's end e = v − u.
            end = np.arange(room.size)
            left = np.exp(np.maximum(log_left[end + length - 1] - log_left[end], -690.0))
            with np.errstate(divide="ignore"):
                mu = shift[length - 1 :] * left / np.sqrt(room) * outward[length - 1 :] * OUTWARD
            bounds.append((length - 1, mu))
        return tuple(bounds)

    @cached_property
    def largest_mu_from(self) -> FloatArray:
        """The largest μ of a place and of those farther from the release."""
        return np.asarray(np.maximum.accumulate(self.mu[::-1])[::-1])

    @cached_property
    def blocks(self) -> Blocks:
        """Blocks whose places are within 1/256 of as far from the release, and of as far from the start."""
        steps = self.run.steps
        far = BLOCK_RATIO ** np.arange(math.ceil(math.log(steps) / math.log(BLOCK_RATIO)) + 1)
        middle = 0.5 * (HYBRID_PLACES + steps)
        near, late = np.floor(HYBRID_PLACES * far), np.floor(steps - far)
        starts = np.unique(np.concatenate((near[near < middle], late[late >= middle], [HYBRID_PLACES])))
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
        """Ends of the log of the sum over places, or of the largest where the order is known."""
        run = self.run
        lowers, uppers = [], []
        after = after_error = 0.0
        first = 0
        while first < min(run.steps, HYBRID_PLACES):
            part = slice(first, min(run.steps, HYBRID_PLACES, max(FIRST_STAGE, 4 * first)))
            if contracted:
                value, error, after, after_error = self._joined(epsilon, part, after, after_error)
            else:
                value, error = theta_with_error(epsilon, self.mu[part])
            lowers.append(value - error)
            uppers.append(value + error)
            first = part.stop
            if first < run.steps:
                left = float(theta_with_error(epsilon, self.largest_mu_from[[first]])[0][0]) + 1e-9
                left = min(left, after + after_error) + math.log(run.steps - first)
                if left < float(max(map(np.max, lowers))) - NEGLIGIBLE:
                    uppers.append(np.asarray([left]))
                    break
        else:
            if first < run.steps:
                value, error = self._blocked(epsilon, after, after_error, contracted=contracted)
                lowers.append(value - error)
                uppers.append(value + error)
        return self._gathered(np.concatenate(lowers), np.concatenate(uppers))

    def _joined(
        self, epsilon: float, part: slice, after: float, after_error: float
    ) -> tuple[FloatArray, FloatArray, float, float]:
        """The least over windows (all the way to the release, none, or one of `windows`) for each v of a part.

        `after` is the log of the product of the kernels before the part, from the release backwards; it is returned
        for the next part, with its error.
        """
        steps = self.run.steps
        sensitivity, contraction = self.run.shifts(steps - part.stop + 1, steps - part.start)
        kernel, kernel_error = theta_with_error(epsilon, contraction[::-1])
        sums = np.append(after, after + np.cumsum(np.maximum(kernel, LEAST_LOG_FACTOR)))
        sum_errors = np.append(after_error, after_error + np.cumsum(kernel_error))
        sum_errors += UNIT_ROUNDOFF * part.stop * np.abs(sums)
        # Places v = u + e with both v and e in this part.
        inside = [(u, mu[part.start : min(part.stop - u, mu.size)]) for u, mu in self.windows]
        felt = float(sums[-1]) < -KERNELS_FELT
        inside = [(u, mu) for u, mu in inside if felt and u < part.stop - part.start and mu.size]
        shifts = [self.mu[part], sensitivity[::-1], *(mu for _, mu in inside)]
        cuts = np.cumsum([shift.size for shift in shifts])[:-1]
        values, errors = (np.split(each, cuts) for each in theta_with_error(epsilon, np.concatenate(shifts)))
        best, best_error = values[0], errors[0]
        for place, u in enumerate((0, *(u for u, _ in inside)), start=1):
            size = values[place].size
            at, ends = slice(u, u + size), slice(0, size)
            option, option_error = values[place] + sums[ends], errors[place] + sum_errors[ends]
            better = option < best[at]
            best[at] = np.where(better, option, best[at])
            best_error[at] = np.where(better, option_error, best_error[at])
        return best, best_error, float(sums[-1]), float(sum_errors[-1])

    def _blocked(
        self, epsilon: float, after: float, after_error: float, *, contracted: bool
    ) -> tuple[FloatArray, FloatArray]:
        """As `_joined` for all blocks, each at its worst place, times its places."""
        blocks = self.blocks
        value, error = theta_with_error(epsilon, blocks.mu)
        if contracted:
            kernel, kernel_error = theta_with_error(epsilon, blocks.contraction)
            alone, alone_error = theta_with_error(epsilon, blocks.sensitivity)
            logs = blocks.counts * np.maximum(kernel, LEAST_LOG_FACTOR)
            sums = np.append(after, after + np.cumsum(logs))[:-1]
            sum_errors = np.append(after_error, after_error + np.cumsum(blocks.counts * kernel_error))[:-1]
            option = alone + sums
            option_error = alone_error + sum_errors + UNIT_ROUNDOFF * self.run.steps * np.abs(sums)
            better = option < value
            value, error = np.where(better, option, value), np.where(better, option_error, error)
        return (value if self.run.known_order else value + np.log(blocks.counts)), error + 1e-15

    def _gathered(self, lower: FloatArray, upper: FloatArray) -> Interval:
        """The mean over the n places a record may have, or the worst of the places."""
        run = self.run
        if run.known_order:
            return Interval(float(lower.max()), min(float(upper.max()), 0.0))
        share = math.log(run.participants) - math.log(run.clients)
        slack = 1e-13 + 16 * UNIT_ROUNDOFF * abs(share)
        low, high = log_sum(lower) + share - slack, log_sum(upper) + share + slack
        return Interval(low, min(high, 0.0))

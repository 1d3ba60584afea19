"""The steps of a run of projected SGD, counted backwards from the release, and how well their noise hides a use.

A use of a record v steps before the release moves the run by s. The later maps contract the distance to s Π c at the
release, and the noise of the later steps hides it. Places are counted backwards from the release: v = T − j.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import (
    LEAST_CONTRACTION,
    LEAST_LOG_POWER,
    OUTWARD,
)

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun


class BackwardSteps(NamedTuple):
    """Shift, noise and later contraction of each step of a run of SGD, from the last step backwards.

    Each array has one entry for each step. Lengths are in units of the largest noise of a step.

    Attributes:
        log_influence: log of the product of the Lipschitz constants of the later steps, which shrink a distance.
        shift: distance between two runs on neighbouring data that a use of the record in the step adds.
        noise: standard deviation of the step's noise per coordinate.
    """

    log_influence: FloatArray
    shift: FloatArray
    noise: FloatArray


class PlaceWindow(NamedTuple):
    """Gaussian-DP parameters μ of the model u steps after the use of a record, for several times of this use.

    The noise of the step of the use and of the next u steps hides the shift by the record. u is fixed.

    Attributes:
        length: number u of steps after the use.
        mu: μ for each number v = u, u + 1, … of steps from the use to the release, rounded up.
    """

    length: int
    mu: FloatArray


@dataclass(frozen=True)
class BackwardRun:
    """A single pass of steps that differ, seen backwards from its end, where the model is released.

    Step k has its own contraction factor c_k ≤ 1, shift s_k and noise ν_k. Every array has one entry for each number v
    of steps to the release.

    Attributes:
        run: the run.
    """

    run: ProjectedRun

    @cached_property
    def largest_noise(self) -> float:
        """The largest standard deviation that a step adds per coordinate."""
        run = self.run
        noises = run.step_schedule.at(1, run.steps) * run.noise_schedule.at(1, run.steps)
        return float(noises.max()) / math.sqrt(run.participants)

    @cached_property
    def steps(self) -> BackwardSteps:
        """Shift, noise and later contraction of each step of a run of SGD, from the last step backwards.

        The shift is the largest change of the model by the record. Shifts and noises are in units of the largest noise,
        so that no square overflows. A square that underflows makes the variance smaller, and μ larger, which is safe.
        """
        # Step sizes, noises of the mean of the batch, and shifts, in reverse order.
        run = self.run
        sizes = run.step_schedule.at(1, run.steps)[::-1]
        noises = sizes * run.noise_schedule.at(1, run.steps)[::-1] / math.sqrt(run.participants)
        shifts = sizes * (run.sensitivity / run.participants)
        contraction = run.lipschitz_constant(sizes)
        assert contraction is not None  # the theorem requires smooth losses
        log_contraction = np.log(np.maximum(contraction, LEAST_CONTRACTION))
        return BackwardSteps(
            log_influence=np.append(0.0, np.cumsum(log_contraction)[:-1]),
            shift=shifts / self.largest_noise,
            noise=noises / self.largest_noise,
        )

    @cached_property
    def outward(self) -> FloatArray:
        """Factors by which the computed μ is increased, so that it exceeds the exact value in spite of rounding.

        There is one factor for each place v of a record, that is, the number of steps from its use to the release. Let
        u be the unit roundoff and Λ = |log Π c| at v, with the Lipschitz constants c of the steps. All logarithms are
        at most 0, so a partial sum never exceeds the full sum in size. Hence the running sum of logarithms is within
        (v + 2) u Λ.

        The variance is a running sum of positive terms e^(2 log) ν², where ν is the noise of a step. Each term is
        within 2 (v + 2) u Λ + 8u. The sum is within a further v u, and its root within half of all that. The numerator
        of μ has the influence e^log. So the relative error of μ is at most 2 (v + 2) u Λ + (v/2 + 12) u.
        """
        log_influence = self.steps.log_influence
        places = np.arange(log_influence.size)
        return 1.0 + (places + 16.0) * (1.0 + 2.0 * np.abs(log_influence)) * UNIT_ROUNDOFF

    @cached_property
    def mu(self) -> FloatArray:
        """Gaussian-DP parameter μ of a released model for a record that was used v steps earlier, for each v.

        Let ν_k be the noise of step k, and C_k the product of the Lipschitz constants of all later steps. The record
        is used in step j, which shifts the model by at most s. Then μ = s C_j/√(Σ_k (C_k ν_k)²), where k runs from j to
        the last step. Alternatively, the diameter of the domain replaces s, and k runs from j + 1. The smaller μ is
        used, rounded up.
        """
        log_influence, shift, noise = self.steps
        diameter = 2.0 * self.run.radius / self.largest_noise
        # Sums of (C_k ν_k)² from the last step backwards, and C_j. Its logarithm is limited, so that it stays above 0.
        variance = np.cumsum(np.exp(2.0 * log_influence) * noise**2)
        influence = np.exp(np.maximum(log_influence, LEAST_LOG_POWER))
        with np.errstate(divide="ignore", over="ignore"):
            # The diameter is contracted by the maps after the use, not by the map of the use.
            by_diameter = diameter * influence / np.sqrt(np.append(0.0, variance[:-1]))
            by_shift = shift * influence / np.sqrt(variance)
            return np.asarray(np.minimum(by_shift, by_diameter) * self.outward * OUTWARD)  # rounded up

    def windows(self, most_places: int) -> tuple[PlaceWindow, ...]:
        """Compute the Gaussian-DP parameter μ of the model at u = 1, 3, 7, … steps after the use of a record.

        The record is used v ≥ u steps before the release. A window is the step of the use and the next u steps, and its
        noise hides the use. Its variance is that of the later half of the window, plus that of the earlier half after
        its contraction by the later steps. Hence the lengths double. Let Λ be the absolute value of
        the log of the product of the Lipschitz constants of the last v steps. The relative error of a variance is that
        of a difference of two running sums, plus 26 (3 + Λ) units of roundoff.

        Args:
            most_places: number of places v next to the release that are considered.

        Returns:
            One window for each u below the number of places.
        """
        log_influence, shift, noise = (values[:most_places] for values in self.steps)
        outward = 1.0 + 2.0 * (self.outward[:most_places] - 1.0)
        windows = []
        # variance[e] is that of the noise of `step_count` steps, the use included, of which the last one is e = v − u
        # steps before the release. The noise is contracted by the steps of the window that follow it.
        step_count, variance = 1, noise**2
        while step_count < variance.size:
            variance = _double_window(variance, log_influence, step_count)
            step_count *= 2
            after_use = step_count - 1  # u
            log_window = log_influence[after_use:] - log_influence[: variance.size]
            influence = np.exp(np.maximum(log_window, LEAST_LOG_POWER))
            with np.errstate(divide="ignore"):
                mu = shift[after_use:] * influence / np.sqrt(variance) * outward[after_use:] * OUTWARD
            windows.append(PlaceWindow(after_use, mu))
        return tuple(windows)


def _double_window(variance: FloatArray, log_influence: FloatArray, length: int) -> FloatArray:
    """Return the noise variance of windows of 2l steps from that of windows of l steps.

    A window is a range of consecutive steps. One that ends e steps before the release consists of two halves: a later
    one that ends there too, and an earlier one that ends e + l steps before the release. The steps of the later half
    contract the noise of the earlier half.

    Args:
        variance: noise variance of a window of l steps, for each e.
        log_influence: log of the factor by which all steps after e contract a distance, for each e.
        length: number l of steps.

    Returns:
        The variance for each e at which a window of 2l steps ends.
    """
    later_half, earlier_half = variance[:-length], variance[length:]
    count = later_half.size
    log_contraction = log_influence[length : length + count] - log_influence[:count]
    return np.asarray(later_half + np.exp(2.0 * log_contraction) * earlier_half)

"""The steps of a run of projected SGD, counted backwards from the release, and how well their noise hides a record.

A record that is used v steps before the release moves the model by s. The later maps, with Lipschitz constants c,
contract this distance to s Π c at the release, and the noise of the later steps hides it. For a use in step j of T,
v = T − j.
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
    """Contraction, shift and noise of each step of a run of SGD, from the last step backwards.

    Each array has one entry for each step. Lengths are in units of the largest noise of a step.

    Attributes:
        log_influence: log of the factor by which all later steps contract a distance.
        shift: largest distance between two runs on neighbouring data that the step adds if it uses the record.
        noise: standard deviation of the step's noise per coordinate.
    """

    log_influence: FloatArray
    shift: FloatArray
    noise: FloatArray


class PlaceWindow(NamedTuple):
    """Parameters μ of Gaussian differential privacy of SGD if a certain number of steps hide a use of a record.

    A step that uses the record shifts the model. The noise of this step and of the next u steps hides the shift. The
    model is released after v ≥ u steps.

    Attributes:
        length: number u of steps after the use.
        mu: μ for each number v = u, u + 1, … of steps from the use to the release, rounded up.
    """

    length: int
    mu: FloatArray


@dataclass(frozen=True)
class BackwardRun:
    """Single pass of different steps, seen backwards from its end, where the model is released.

    Every array has one entry for each number v of steps from a step to the release.

    Attributes:
        run: the run. The maps of its steps have Lipschitz constants of at most 1.
    """

    run: ProjectedRun

    @cached_property
    def largest_noise(self) -> float:
        """Largest standard deviation of the noise that a step adds per coordinate."""
        run = self.run
        noises = run.step_schedule.at(1, run.steps) * run.noise_schedule.at(1, run.steps)
        return float(noises.max()) / math.sqrt(run.participants)

    @cached_property
    def steps(self) -> BackwardSteps:
        """Contraction, shift and noise of each step of the run, from the last step backwards.

        Shifts and noises are in units of the largest noise, so that no square overflows. A square that underflows makes
        a variance smaller, and μ larger, which is safe.
        """
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

        There is one factor for each number v of steps from the use of a record to the release. Let u be the unit
        roundoff, and log π the sum of the logarithms of the Lipschitz constants of the last v steps. All of them are at
        most 0, so partial sums are not larger in size. With Λ = |log π|, the sum is within (v + 2) u Λ.

        The variance is a sum of v positive terms π² ν², where ν is the noise of a step. Each term has a relative error
        of at most 2 (v + 2) u Λ + 8u. The sum adds v u, and its root halves all that. The numerator of μ is a multiple
        of π. So the relative error of μ is at most 2 (v + 2) u Λ + (v/2 + 12) u.
        """
        log_influence = self.steps.log_influence
        places = np.arange(log_influence.size)
        return 1.0 + (places + 16.0) * (1.0 + 2.0 * np.abs(log_influence)) * UNIT_ROUNDOFF

    @cached_property
    def mu(self) -> FloatArray:
        """Parameter μ of Gaussian differential privacy of the released model, for a record used v steps earlier.

        Let ν_k be the noise of step k, and C_k the product of the Lipschitz constants of all later steps. If the record
        is used in step j, which shifts the model by at most s:

            μ = s C_j/√(Σ_k (C_k ν_k)²),

        where k runs from j to the last step. Alternatively, the diameter of the domain replaces s, and k runs from
        j + 1. The smaller of both is used, rounded up.
        """
        log_influence, shift, noise = self.steps
        diameter = 2.0 * self.run.radius / self.largest_noise
        # Sums of (C_k ν_k)² from the last step backwards; and C_j, which the limit of its logarithm keeps above 0.
        variance = np.cumsum(np.exp(2.0 * log_influence) * noise**2)
        influence = np.exp(np.maximum(log_influence, LEAST_LOG_POWER))
        with np.errstate(divide="ignore", over="ignore"):
            # The diameter is contracted by the maps after the use, not by the map of the use.
            by_diameter = diameter * influence / np.sqrt(np.append(0.0, variance[:-1]))
            by_shift = shift * influence / np.sqrt(variance)
            # Rounded up: `outward` covers the errors of the sums of v terms, and `OUTWARD` the other roundings.
            return np.asarray(np.minimum(by_shift, by_diameter) * self.outward * OUTWARD)

    def windows(self, most_places: int) -> tuple[PlaceWindow, ...]:
        """Compute the Gaussian-DP parameters μ if the noise of u + 1 steps hides a use of a record, for u = 1, 3, 7, ….

        The record is used v ≥ u steps before the release. A window is the step of the use with the next u steps. Their
        noise hides the use. Its variance is that of its later half, plus that of its earlier half after contraction by
        the later one. So each window is computed from windows of half its length.

        Let Λ be the absolute log of the product of the Lipschitz constants of the last v steps. The relative error of a
        variance is that of a difference of two running sums, plus 26 (3 + Λ) units of roundoff.

        Args:
            most_places: number of values v = 0, 1, … that are considered.

        Returns:
            One window for each u below that number.
        """
        log_influence, shift, noise = (values[:most_places] for values in self.steps)
        outward = 1.0 + 2.0 * (self.outward[:most_places] - 1.0)  # for two running sums
        windows = []
        # variance[e] is that of the noise of `step_count` steps, the use included, of which the last one is e = v − u
        # steps before the release. The noise is contracted by the steps of the window that follow it.
        step_count, variance = 1, noise**2
        while step_count < variance.size:
            variance = _join_halves(variance, log_influence, step_count)
            step_count *= 2
            after_use = step_count - 1  # u
            log_window = log_influence[after_use:] - log_influence[: variance.size]
            influence = np.exp(np.maximum(log_window, LEAST_LOG_POWER))
            with np.errstate(divide="ignore"):
                mu = shift[after_use:] * influence / np.sqrt(variance) * outward[after_use:] * OUTWARD
            windows.append(PlaceWindow(after_use, mu))
        return tuple(windows)


def _join_halves(variance: FloatArray, log_influence: FloatArray, length: int) -> FloatArray:
    """Return the noise variance of windows of 2l steps from that of windows of l steps.

    A window is a range of consecutive steps. If it ends e steps before the release, its later half ends there too, and
    its earlier half ends e + l steps before the release. The later half contracts the noise of the earlier one.

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

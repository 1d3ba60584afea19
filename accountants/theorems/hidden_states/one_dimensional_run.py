"""A run of projected SGD on a line, in which each use of the record shifts the model as far as it may."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from epsilond.accountants.numerics.outward import round_up

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.specs import ProjectedSgd


@dataclass(frozen=True)
class OneDimensionalRun:
    """A run in one dimension. It and its neighbours attain a lower bound on δ.

    Attributes:
        spec: the run.
        contraction: factor by which a step multiplies the model.
        shift: shift of the model by a step that uses the record.
        noise_std: standard deviation of a step's noise.
    """

    spec: ProjectedSgd
    contraction: float
    shift: float
    noise_std: float

    @property
    def has_equal_steps(self) -> bool:
        """True if all steps are independent and have one distribution: full batches, or batches that are drawn anew."""
        return self.share == 1.0 or self.spec.batches == "without-replacement"

    @property
    def repeats_one_batch(self) -> bool:
        """True if every step uses the same secret batch, so that a record is in all steps or in none."""
        return self.spec.period == 1 and self.share < 1.0 and self.spec.batches == "shuffled"

    @property
    def share(self) -> float:
        """The probability that a record is in a given batch."""
        return self.spec.participants / self.spec.clients

    @property
    def has_known_distribution(self) -> bool:
        """True if the distribution of the released model is computed.

        It is not computed if several batches of a secret fixed order are used again.
        """
        is_known = self.has_equal_steps or self.spec.batches == "cyclic" or self.repeats_one_batch
        return is_known or self.spec.steps <= self.spec.period

    @property
    def stops(self) -> range:
        """The steps after which the model may be released, each with the same probability."""
        return range(self.spec.first_stop, self.spec.steps + 1)

    def uses(self, steps: int) -> FloatArray:
        """Return which of the first steps use the record in a fixed order of the batches, as 1 and 0.

        The record is in the batch of the first step after which the model may be released. Any choice of the record
        gives a valid lower bound on δ.

        Args:
            steps: number of steps, at least 0.

        Returns:
            An array with one number for each step: 1.0 if the step uses the record, otherwise 0.0.
        """
        period = self.spec.period
        batch_of_step = np.arange(steps) % period
        batch_of_record = (self.spec.first_stop - 1) % period
        return np.where(batch_of_step == batch_of_record, 1.0, 0.0)

    def deviation(self, steps: int) -> float:
        """Return the standard deviation of the model after some steps, without the projection.

        Args:
            steps: number of steps.

        Returns:
            The root of the sum of the variances of the steps' noise, each contracted by the later steps.
        """
        squared_contractions = self.contraction ** (2.0 * np.arange(steps))
        return self.noise_std * math.sqrt(float(squared_contractions.sum()))

    def pulls(self, steps: int) -> tuple[FloatArray, FloatArray] | None:
        """Return the possible total shifts of the released model by a record (its pulls), and their probabilities.

        A step that uses the record shifts the model by `shift`, which is the unit here. Each later step multiplies a
        shift by the contraction factor. The projection onto the ball is ignored. The run must have a known distribution
        (`has_known_distribution`).

        Args:
            steps: number of steps before the release, at least 1.

        Returns:
            The shifts and their probabilities, two arrays of one length. None if partial batches are drawn anew and
            steps contract, because there are then too many possible shifts.
        """
        powers = self.contraction ** np.arange(steps - 1.0, -1.0, -1.0)  # effect of each step's shift at the release
        # Full batches: every step uses the record.
        if self.has_equal_steps and self.share == 1.0:
            return np.asarray([powers.sum()]), np.ones(1)
        # Fresh batches: the number of uses is random.
        if self.has_equal_steps and self.contraction == 1.0:
            return self._binomial_pulls(steps)
        if self.has_equal_steps:
            return None
        # A known order: the steps that use the record are fixed.
        if self.spec.batches == "cyclic":
            return np.asarray([powers @ self.uses(steps)]), np.ones(1)
        # One secret batch: the record is in all steps or in none.
        if self.repeats_one_batch:
            return np.asarray([powers.sum(), 0.0]), np.asarray([self.share, 1.0 - self.share])
        # A single pass in a secret order: the record is used in at most one step.
        never_used = max(1.0 - steps * self.share, 0.0)
        if self.contraction == 1.0:
            return np.asarray([1.0, 0.0]), np.asarray([steps * self.share, never_used])
        return np.append(powers, 0.0), np.append(np.full(steps, self.share), never_used)

    def _binomial_pulls(self, steps: int) -> tuple[FloatArray, FloatArray]:
        """Return the possible numbers of uses of the record in steps with fresh batches, and their probabilities.

        Each step uses the record with probability `share`, independently. The number of uses is hence binomial.

        Args:
            steps: number of steps before the release.

        Returns:
            The numbers 0, …, `steps` and their probabilities, two arrays of one length.
        """
        uses = np.arange(steps + 1.0)
        # Logarithms, because binomial coefficients may overflow.
        log_coefficients = gammaln(steps + 1.0) - gammaln(uses + 1.0) - gammaln(steps - uses + 1.0)
        probabilities = np.exp(log_coefficients + xlogy(uses, self.share) + xlog1py(steps - uses, -self.share))
        return uses, np.asarray(probabilities)


def one_dimensional_run(spec: ProjectedSgd) -> OneDimensionalRun | None:
    """Return a one-dimensional run of projected SGD in which each use of the record shifts the model far.

    Lower bounds on δ follow from the distribution of its released model. The losses are quadratic with curvature λ. A
    record adds a gradient of size L − λρ, so that no gradient exceeds the Lipschitz constant L on the ball of radius ρ.

    Args:
        spec: the run to be accounted for: step sizes, noise, batches and the class of losses.

    Returns:
        The run on the line. None if step sizes or noise change, if L ≤ λρ, or if a step size exceeds 1/λ. It is also
        None if the noise is zero as a double, or the shift over the noise is infinite.
    """
    step, noise = spec.step_schedule.constant, spec.noise_schedule.constant
    # L − λρ, rounded down: a smaller gradient is still possible, a larger one is not.
    pull = -round_up(Fraction(spec.strong_convexity) * Fraction(spec.radius) - Fraction(spec.lipschitz))
    if step is None or noise is None or not pull > 0.0:
        return None
    line = OneDimensionalRun(
        spec,
        contraction=1.0 - step * spec.strong_convexity,
        shift=step * pull / spec.participants,
        noise_std=step * noise / math.sqrt(spec.participants),
    )
    if line.contraction < 0.0 or not line.noise_std > 0.0:
        return None
    return line if math.isfinite(line.shift / line.noise_std) else None

"""Shifted interpolation with a fresh batch in every step: the last v steps composed, the earlier distance shifted.

The setting is that of `shifted_interpolation`, but step k uses φ_B or φ'_B for a uniform batch B of m of n records. B
has the same distribution on both data sets. |φ_B − φ'_B| ≤ s if B contains the record, and 0 otherwise. Let the
distance of the two runs at step t − v be at most z. This holds for the domain's diameter, or for s(1 − c^{t−v})/(1 − c)
with the same batches and noise in both runs.

Theorem. For every v ≤ t and κ in (0, 1), the released models are dominated by the composition of two parts. One is N(μ,
1) against N(0, 1) with μ² = (c^v z)²/(κ ν² Σ_{k<v} c^{2k}). The other is v steps of the Gaussian mechanism with noise
√(1 − κ) ν, on a batch of m of n records drawn without replacement.

Proof. Let Y_{t−v} = X'_{t−v} and Y_k = Π(φ_B(Y_{k−1}) + λ_k(φ_B(X_{k−1}) − φ_B(Y_{k−1})) + Z_k), with the batch and
noise of X. Then |X_k − Y_k| ≤ c z_{k−1} − a_k. With a_k proportional to c^{t−k}, Y_t = X_t and Σ a_k² = (c^v z)²/Σ
c^{2k}. Split the noise into independent parts of variance (1 − κ)ν² and κν². Given Y_{k−1} = y, first add φ_B(y) and
the first part of the noise. Compared with φ'_B(y), this is the mechanism on a fresh batch, with replace-one sensitivity
s. Given its output, the remaining part of the step adds a shift of norm at most a_k, of any distribution, and noise √κ
ν; the other run adds only the noise. By joint convexity, the pair is at most N(a_k/(√κ ν), 1) against N(0, 1). Compose
adaptively. ∎
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from epsilond.accountants.specs import Composed, Gaussian, Repeated, Subsampled
from epsilond.accountants.theorem import Source, Status, Theorem
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import (
    GRADIENTS,
    HIDDEN,
    LEAST_CONTRACTION,
    MAPS,
    OUTWARD,
    powers_sum,
)

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun

MOST_WINDOWS = 128
"""Number of windows on the geometric grid of the search."""
LEAST_SHIFT = 1e-100
"""Least μ of the shift, so that its noise multiplier is finite."""
SHARES = np.linspace(0.02, 0.98, 49)
"""Shares κ of the noise variance that are tried, in steps of 0.02."""

SAMPLED = Theorem(
    id="epsilond.sampled-shifted-interpolation",
    title="Noisy stochastic gradient descent with hidden states",
    statement=(
        "Let v ≤ t and 0 < κ < 1. The following pair dominates the last model: G(c^v z/(√κ ν √Σ_{k<v} c^{2k})) "
        "⊗ C_{m/n}(G(s/(√(1 − κ) ν)))^{⊗v}. Here z = min(D, s(1 − c^{t−v})/(1 − c))"
    ),
    source=Source("bok2024shifted", "the shifted interpolated process, for fresh batches; proof in this file"),
    status=Status.PROVED,
    conditions=(GRADIENTS, MAPS, HIDDEN),
)


@dataclass(frozen=True)
class StepWindow:
    """A split of a run of noisy SGD into earlier steps and last steps.

    The last steps are composed. A part of their noise hides the distance between two runs that the earlier steps cause.

    Attributes:
        steps: number of the last steps.
        share: κ, the share of the noise variance of the last steps that hides this distance.
        shift_mu: Gaussian-DP parameter μ of the mechanism that hides this distance.
        expected_square: approximate μ² of the whole run by this split, from the central limit theorem.
        composed_square: approximate μ² of the composition of all steps, without a split.
    """

    steps: int
    share: float
    shift_mu: float
    expected_square: float
    composed_square: float

    @property
    def helps(self) -> bool:
        """True if the split is expected to improve on the composition of all steps."""
        return self.expected_square < self.composed_square


def sampled_square(rate: float, shift: FloatArray) -> FloatArray:
    """Estimate the μ² that one step adds if replace-one batches are drawn without replacement.

    μ is the parameter of Gaussian differential privacy, and μ² adds up over steps. By the central limit theorem, it is
    about:

        2q² (e^{s²} Φ(3s/2) + 3Φ(−s/2) − 2)

    for the rate q, the shift s and the normal distribution function Φ. Certified bounds do not depend on this estimate.

    Args:
        rate: share of the records in a batch, in (0, 1].
        shift: array of sensitivities of a step over the standard deviation of its noise.

    Returns:
        An array of the shape of `shift`.
    """
    largest_shift = 25.0  # the exponential of its square is a double
    with np.errstate(over="ignore"):
        growth = np.exp(np.minimum(shift, largest_shift) ** 2)
        variance = growth * ndtr(1.5 * shift) + 3.0 * ndtr(-0.5 * shift) - 2.0
    return np.asarray(2.0 * rate * rate * variance)


def shift_square(run: ProjectedRun, window: FloatArray) -> FloatArray:
    """Return μ² of hiding the distance between two runs before their last v steps in the noise of these, rounded up.

    It is:

        μ² = (c^v z)²/(ν² Σ_{k<v} c^{2k}),

    for the distance z, the Lipschitz constant c of a step and the standard deviation ν of its noise. μ is the parameter
    of Gaussian differential privacy.

    Args:
        run: a run of equal steps.
        window: array of values of v.

    Returns:
        An array with one entry for each v.
    """
    step = run.step_schedule.at(1, 1)
    constant = run.lipschitz_constant(step)
    assert constant is not None  # the theorem requires smooth losses
    rate = -math.log(max(float(constant[0]), LEAST_CONTRACTION))
    (shift,), _ = run.shifts(1, 1)
    noise = float(step[0]) * float(run.noise_schedule.at(1, 1)[0]) / math.sqrt(run.participants)

    # In units of ν, z is at most the diameter of the domain, and at most the sum of the shifts of the earlier steps.
    diameter = 2.0 * run.radius / noise
    sum_of_shifts = float(shift) * powers_sum(rate, run.steps - window)
    distance = np.minimum(diameter, sum_of_shifts)
    remaining_distance = distance * np.exp(-rate * window)
    return np.asarray(remaining_distance**2 / powers_sum(2.0 * rate, window) * OUTWARD)  # rounded up


def best_window(run: ProjectedRun) -> StepWindow:
    """Return the split of a run into earlier and last steps with the least estimated μ², from a grid of splits.

    μ is the parameter of Gaussian differential privacy. Two runs on neighbouring data have some distance after the
    earlier steps. A share κ of the noise variance of the v last steps hides it, which costs μ_d²(v)/κ. The other noise
    protects the record in the last steps. Each of them costs μ_s²(κ). The estimate of μ² is:

        μ_d²(v)/κ + v μ_s²(κ).

    Every split gives a valid bound, so a coarse grid of v and κ suffices.

    Args:
        run: a run of equal steps, each on a fresh batch.

    Returns:
        The split, with the Gaussian-DP parameter of the hidden distance rounded up.
    """
    rate = run.participants / run.clients
    use_shift = float(run.shifts(1, 1)[0][0])  # sensitivity of a step over the standard deviation of its noise

    # `total` has a row for each number v of last steps, and a column for each share κ.
    steps = np.unique(np.geomspace(1.0, max(run.steps - 1.0, 1.0), MOST_WINDOWS).round())
    distance_squares = shift_square(run, steps)
    step_squares = sampled_square(rate, use_shift / np.sqrt(1.0 - SHARES))
    total = distance_squares[:, None] / SHARES + steps[:, None] * step_squares
    row, column = np.unravel_index(int(np.argmin(total)), total.shape)

    share = float(SHARES[column])
    return StepWindow(
        steps=int(steps[row]),
        share=share,
        shift_mu=max(math.sqrt(float(distance_squares[row]) / share) * OUTWARD, LEAST_SHIFT),
        expected_square=float(total[row, column]),
        composed_square=run.steps * float(sampled_square(rate, np.asarray(use_shift))),
    )


def sampled_step(run: ProjectedRun, noise: float, share: float = 0.0) -> Subsampled:
    """Return the mechanism of one step: a Gaussian on a fresh batch without replacement, under replace-one.

    Args:
        run: the run of projected SGD.
        noise: standard deviation σ of one client's noise, per coordinate.
        share: share κ in [0, 1) of the noise variance that hides the effect of earlier steps. This mechanism has the
            rest.

    Returns:
        The specification of the mechanism, with its noise multiplier rounded down.
    """
    multiplier = math.sqrt(run.participants * (1.0 - share)) * noise / run.lipschitz
    gaussian = Gaussian(noise_multiplier=multiplier * (2.0 - OUTWARD))  # rounded down
    return Subsampled(
        sampling="without-replacement", batch_size=run.participants, population=run.clients, mechanism=gaussian
    )


def dominating_mechanism(run: ProjectedRun, window: StepWindow) -> Composed:
    """Return a mechanism that dominates the last model of a run with fresh batches, under replace-one.

    It composes the last steps with one Gaussian mechanism that hides the effect of the earlier steps. Its δ bounds that
    of the model at every ε.

    Args:
        run: a run of equal steps.
        window: the split of the run into earlier and last steps.

    Returns:
        The specification of the composed mechanism, with noise multipliers rounded down.
    """
    noise = float(run.noise_schedule.at(1, 1)[0])
    # Under replace-one, a noise multiplier z gives μ = 2/z. The last factor rounds z down.
    shift = Gaussian(noise_multiplier=2.0 / window.shift_mu * (2.0 - OUTWARD))
    last_steps = Repeated(times=window.steps, mechanism=sampled_step(run, noise, window.share))
    return Composed(mechanisms=(last_steps, shift))


THEOREMS: tuple[Theorem, ...] = (SAMPLED,)

"""Shifted interpolation when every step draws its batch afresh: the last v steps composed, what came before shifted.

Setting as in `shifted_interpolation`, but step k uses φ_B or φ'_B for a uniform batch B of m of n records, the same law
on both data sets; |φ_B − φ'_B| ≤ s if B holds the record and 0 otherwise. Let the two runs be at distance at most z at
step t − v: the domain's diameter, or s(1 − c^{t−v})/(1 − c) by the same batches and noise in both.

Theorem. For every v ≤ t and κ in (0, 1) the released models are dominated by the composition of N(μ, 1) against
N(0, 1), μ² = (c^v z)²/(κ ν² Σ_{k<v} c^{2k}), and v steps of the Gaussian mechanism on a batch of m of n records drawn
without replacement, with noise √(1 − κ) ν.

Proof. Y_{t−v} = X'_{t−v}; Y_k = Π(φ_B(Y_{k−1}) + λ_k(φ_B(X_{k−1}) − φ_B(Y_{k−1})) + Z_k) with X's batch and noise. Then
|X_k − Y_k| ≤ c z_{k−1} − a_k, and with a_k proportional to c^{t−k} Y_t = X_t and Σ a_k² = (c^v z)²/Σ c^{2k}. Split the
noise into independent parts of variance (1 − κ)ν² and κν². Given Y_{k−1} = y, first add φ_B(y) and the larger part:
against φ'_B(y) this is the mechanism on a fresh batch, with replace-one sensitivity s. Given its output the rest adds a
shift of norm at most a_k, whatever its law, and noise √κ ν, against noise alone: at most N(a_k/(√κ ν), 1) against
N(0, 1), by joint convexity. Compose adaptively. ∎
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
LEAST_SHIFT = 1e-100
SHARES = np.linspace(0.02, 0.98, 49)

SAMPLED = Theorem(
    id="epsilond.sampled-shifted-interpolation",
    title="Noisy stochastic gradient descent with hidden states",
    statement=(
        "For any v ≤ t and κ in (0, 1) the last model is dominated by G(c^v z/(√κ ν √Σ_{k<v} c^{2k})) ⊗ "
        "C_{m/n}(G(s/(√(1 − κ) ν)))^{⊗v}, z = min(D, s(1 − c^{t−v})/(1 − c))"
    ),
    source=Source("bok2024shifted", "the shifted interpolated process, for fresh batches; proof in this file"),
    status=Status.PROVED,
    conditions=(GRADIENTS, MAPS, HIDDEN),
)


@dataclass(frozen=True)
class StepWindow:
    """The last `steps` steps are composed; `share` κ of their noise hides the distance of before, worth `shift_mu`."""

    steps: int
    share: float
    shift_mu: float
    expected_square: float
    """Roughly μ² of the whole, by the central limit; that of plain composition is `composed_square`."""
    composed_square: float

    @property
    def helps(self) -> bool:
        """Whether it is expected to beat composing every step."""
        return self.expected_square < self.composed_square


def sampled_square(rate: float, shift: FloatArray) -> FloatArray:
    """Limit of μ² per step for replace-one batches without replacement; a guide for the search, certified nowhere."""
    with np.errstate(over="ignore"):
        spread = np.exp(np.minimum(shift, 25.0) ** 2) * ndtr(1.5 * shift) + 3.0 * ndtr(-0.5 * shift) - 2.0
    return np.asarray(2.0 * rate * rate * spread)


def shift_square(run: ProjectedRun, window: FloatArray) -> FloatArray:
    """(c^v z)²/(ν² Σ_{k<v} c^{2k}) for windows of v steps, rounded up."""
    step = run.step_schedule.at(1, 1)
    constant = run.lipschitz_constant(step)
    assert constant is not None
    rate = -math.log(max(float(constant[0]), LEAST_CONTRACTION))
    (shift,), _ = run.shifts(1, 1)
    noise = float(step[0]) * float(run.noise_schedule.at(1, 1)[0]) / math.sqrt(run.participants)
    distance = np.minimum(2.0 * run.radius / noise, float(shift) * powers_sum(rate, run.steps - window))
    return np.asarray((distance * np.exp(-rate * window)) ** 2 / powers_sum(2.0 * rate, window) * OUTWARD)


def best_window(run: ProjectedRun) -> StepWindow:
    """The window and share that promise most; any other would be valid too."""
    rate = run.participants / run.clients
    (shift,), _ = run.shifts(1, 1)
    windows = np.unique(np.geomspace(1.0, max(run.steps - 1.0, 1.0), MOST_WINDOWS).round())
    squares = shift_square(run, windows)
    total = squares[:, None] / SHARES + windows[:, None] * sampled_square(rate, float(shift) / np.sqrt(1.0 - SHARES))
    place, share = np.unravel_index(int(np.argmin(total)), total.shape)
    return StepWindow(
        steps=int(windows[place]),
        share=float(SHARES[share]),
        shift_mu=max(math.sqrt(float(squares[place]) / float(SHARES[share])) * OUTWARD, LEAST_SHIFT),
        expected_square=float(total[place, share]),
        composed_square=run.steps * float(sampled_square(rate, np.asarray(float(shift)))),
    )


def sampled_step(run: ProjectedRun, noise: float, share: float = 0.0) -> Subsampled:
    """One step on a fresh batch, with all of one client's noise but a share κ; replace-one."""
    multiplier = math.sqrt(run.participants * (1.0 - share)) * noise / run.lipschitz
    gaussian = Gaussian(noise_multiplier=multiplier * (2.0 - OUTWARD))
    return Subsampled(
        sampling="without-replacement", batch_size=run.participants, population=run.clients, mechanism=gaussian
    )


def windowed(run: ProjectedRun, window: StepWindow) -> Composed:
    """What dominates the last model, as a mechanism for replace-one."""
    noise = float(run.noise_schedule.at(1, 1)[0])
    shift = Gaussian(noise_multiplier=2.0 / window.shift_mu * (2.0 - OUTWARD))
    return Composed(mechanisms=(Repeated(times=window.steps, mechanism=sampled_step(run, noise, window.share)), shift))


THEOREMS: tuple[Theorem, ...] = (SAMPLED,)

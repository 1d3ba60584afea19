"""Baselines for the noise cancellation of Reshef and Levy: fresh noise in every message, and one pass of noisy SGD."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import in_doubles
from epsilond.accountants.quantities import (
    ANY_SCALE,
    SQUARES,
    Diameter,
    Dimension,
    Lipschitz,
    Participants,
    Rounds,
    StepSize,
    request,
)
from epsilond.accountants.theorem import Outputs
from epsilond.accountants.theorems.papers.reshef_levy.conversions import GaussianDpMu
from epsilond.accountants.theorems.risk.reshef_levy.cancellation_run import CancellationRun
from epsilond.accountants.theorems.risk.reshef_levy.certified_bound import (
    certified_risk,
)


@request
class IndependentInputs(CancellationRun):
    """A run in which m of M clients report in a round, with the Gaussian DP parameter ρ and the step size."""

    gaussian_dp_mu: GaussianDpMu
    step_size: Annotated[StepSize, ANY_SCALE]


@in_doubles
def independent_noise(inputs: IndependentInputs) -> Outputs:
    """Bound the excess risk of the algorithm of Reshef and Levy if every message has fresh noise.

    The clients then do not cancel their earlier noise. Every message has noise of standard deviation 2S/ρ per
    coordinate, where S bounds the norm of a message and ρ is the Gaussian DP parameter.

    Args:
        inputs: m of M clients in each of T rounds, S, ρ, the step size, and the constants of the losses.

    Returns:
        `noise_std`: 2S/ρ.
        `excess_risk`: the bound, in units of the loss.
        `gain_of_cancellation`: √(mT/(2M(1 + ln T))), the factor by which cancellation lowers the noise term.
    """
    std = 2.0 * inputs.clipping_norm / inputs.gaussian_dp_mu

    # The noises of N messages add up to the variance N std². Only the bound by the norm of the noise holds for them.
    risk = certified_risk(inputs, step_size=inputs.step_size, noise_variance=std * std)

    reports_of_client = inputs.rate * inputs.rounds  # mT/M
    gain = math.sqrt(reports_of_client / (2.0 * (1.0 + math.log(inputs.rounds))))
    return {"noise_std": std, "excess_risk": risk.by_norm, "gain_of_cancellation": gain}


@request
class BaselineInputs:
    """One pass of noisy SGD, in which each message is a clipped gradient with noise of standard deviation 2G/ρ."""

    lipschitz: Lipschitz
    diameter: Diameter
    dimension: Dimension
    participants: Participants
    rounds: Rounds
    gaussian_dp_mu: Annotated[GaussianDpMu, SQUARES]


@in_doubles
def baseline(inputs: BaselineInputs) -> Outputs:
    """Bound the excess risk of one pass of noisy SGD, a baseline for the algorithm of Reshef and Levy.

    The bound is DB/√T at the step size η = D/(B√T). B² = G² + 4G²d/(ρ²m) bounds the mean squared norm of a round's
    noisy gradient. The noise of a message has standard deviation 2G/ρ per coordinate.

    Args:
        inputs: Lipschitz constant G, diameter D of the domain, dimension d, m reporting clients in each of T rounds,
            and the Gaussian DP parameter ρ.

    Returns:
        The noise of a message, the step size, and the bound `excess_risk` in units of the loss.
    """
    lipschitz, diameter = inputs.lipschitz, inputs.diameter
    noise_std = 2.0 * lipschitz / inputs.gaussian_dp_mu
    noise_variance = noise_std * noise_std * inputs.dimension / inputs.participants  # of the mean of m messages
    noisy_gradient_norm = math.sqrt(lipschitz**2 + noise_variance)  # B
    root_rounds = math.sqrt(inputs.rounds)
    return {
        "noise_std": noise_std,
        "step_size": diameter / (noisy_gradient_norm * root_rounds),
        "excess_risk": diameter * noisy_gradient_norm / root_rounds,
    }

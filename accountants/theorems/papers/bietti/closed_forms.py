"""Closed forms for PPSGD with all clients in every round: μ of a noise, a sufficient noise, and a valid constant."""

from __future__ import annotations

import math


def full_participation_mu(
    *, noise_std: float, clipping_norm: float, clients: int, rounds: int, sensitivity_factor: float
) -> float:
    """Compute μ = kC√n/(Nσ_ζ) of Gaussian differential privacy, for n rounds in which all clients take part.

    Args:
        noise_std: σ_ζ, standard deviation of the noise on the mean; μ is infinite at 0.
        clipping_norm: bound C on the ℓ2 norm of a message, in the unit of σ_ζ.
        clients: number N of clients.
        rounds: number n of rounds.
        sensitivity_factor: k, 2 for replace-one and 1 for the other relations.

    Returns:
        μ ≥ 0, not rounded up.
    """
    if noise_std == 0.0:
        return math.inf
    sensitivity = sensitivity_factor * clipping_norm * math.sqrt(rounds) / clients  # of all rounds together
    return sensitivity / noise_std


def sufficient_noise_std(
    *, clipping_norm: float, clients: int, rounds: int, epsilon: float, log_delta: float, sensitivity_factor: float
) -> float:
    """Compute a sufficient noise σ_ζ on the mean for (ε, δ) in closed form, by zero-concentrated privacy.

    With l = ln(1/δ) it is:

        σ_ζ = kC√n (√(2(l + ε)) + √(2l))/(2Nε).

    Args:
        clipping_norm: bound C on the ℓ2 norm of a message; σ_ζ has its unit.
        clients: number N of clients.
        rounds: number n of rounds, in each of which all clients take part.
        epsilon: ε of the target.
        log_delta: natural logarithm of δ.
        sensitivity_factor: k, 2 for replace-one and 1 for the other relations.

    Returns:
        The standard deviation σ_ζ per coordinate of the mean.
    """
    sum_of_roots = math.sqrt(2.0 * (epsilon - log_delta)) + math.sqrt(-2.0 * log_delta)
    change_of_sum = sensitivity_factor * clipping_norm * math.sqrt(rounds)
    return change_of_sum * sum_of_roots / (2.0 * clients * epsilon)


def sharp_constant(*, ratio: float, sensitivity_factor: float) -> float:
    """Compute the least constant c of Theorem 4.1 of Bietti et al. that is valid for all δ and all ε ≤ r ln(1/δ).

    It is c = k(1 + √(1 + r))/√2.

    Args:
        ratio: largest ratio r of ε to ln(1/δ).
        sensitivity_factor: k, 2 for replace-one and 1 for the other relations.

    Returns:
        The constant c, without unit. The noise is c C √(n ln(1/δ))/(Nε).
    """
    return sensitivity_factor * (1.0 + math.sqrt(1.0 + ratio)) / math.sqrt(2.0)

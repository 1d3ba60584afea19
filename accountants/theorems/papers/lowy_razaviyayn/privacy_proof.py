"""The steps of the privacy proof of Theorem 2.1 of Lowy and Razaviyayn, each as a number. E-01 is an erratum."""

from __future__ import annotations

import math
from dataclasses import dataclass

from epsilond.accountants.theorems.composition.classical import expm1_or_infinity, subsampled_epsilon


@dataclass(frozen=True, kw_only=True)
class ProofChain:
    """Quantities of the privacy proof of Theorem 2.1 of Lowy and Razaviyayn, in the order of the proof.

    Attributes:
        round_epsilon: ε̃, the ε that each round may spend.
        log_round_delta: ln δ̃, the δ that each round may spend.
        inner_epsilon: ε' of the Gaussian mechanism before sampling; at most 1 if and only if K ≥ K_min.
        amplified_epsilon: ε of a round after amplification by sampling.
        printed_total: ε of the run by the printed composition, Dwork and Roth 3.20 at `round_epsilon`.
        total: ε of the run by the tight composition at `amplified_epsilon`.
    """

    round_epsilon: float
    log_round_delta: float
    inner_epsilon: float
    amplified_epsilon: float
    printed_total: float
    total: float


def proof_chain(
    *, samples_per_client: int, batch_size: int, rounds: int, epsilon: float, log_delta: float
) -> ProofChain:
    """Compute the quantities in the privacy proof of Theorem 2.1 at the noise σ of `noise_std`.

    Let ε̃ = ε/(2√(2R ln(2/δ))), δ̃ = δ/2R and ε' = nε̃/2K. A batch is (ε', δ̃) by the Gaussian mechanism, as σ² = 8L²
    ln(1.25/δ̃)/(ε'K)² at sensitivity 2L/K.

    The printed proof subsamples to 2ε'K/n = ε̃. Its total, R ε̃(e^ε̃ − 1) + √(2R ln(2/δ)) ε̃, exceeds ε near the upper
    bound of the range (erratum E-01). The corrected proof has ln(1 + (K/n)(e^ε' − 1)) ≤ 0.86 ε̃ for ε' ≤ 1. Its
    composition with tanh is at most ε if ε ≤ 8 ln(2/δ).

    Args:
        samples_per_client: number n of records of a client.
        batch_size: records K of a batch.
        rounds: number R of rounds.
        epsilon: ε of the whole run.
        log_delta: natural logarithm of δ.

    Returns:
        The quantities in the order of the proof. The `total` is the ε that the corrected proof gives.
    """
    # One round: its share of the budget, and its ε before and after sampling.
    root = math.sqrt(2.0 * rounds * (math.log(2.0) - log_delta))  # √(2R ln(2/δ))
    round_epsilon = epsilon / (2.0 * root)
    inner_epsilon = samples_per_client * round_epsilon / (2.0 * batch_size)
    amplified = subsampled_epsilon(epsilon=inner_epsilon, rate=batch_size / samples_per_client)

    # The ε of the whole run, by the printed composition and by two valid ones, of which the smaller is used.
    printed_total = root * round_epsilon + rounds * round_epsilon * expm1_or_infinity(round_epsilon)
    advanced_total = root * amplified + rounds * amplified * math.tanh(0.5 * amplified)
    return ProofChain(
        round_epsilon=round_epsilon,
        log_round_delta=log_delta - math.log(2.0 * rounds),
        inner_epsilon=inner_epsilon,
        amplified_epsilon=amplified,
        printed_total=printed_total,
        total=min(advanced_total, rounds * amplified),
    )

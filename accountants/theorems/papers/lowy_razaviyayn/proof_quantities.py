"""Quantities of the privacy proof of Theorem 2.1 of Lowy and Razaviyayn."""

from __future__ import annotations

from dataclasses import dataclass


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

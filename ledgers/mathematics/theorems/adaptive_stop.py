"""Refuted: the ε spent so far, reported at a stopping time of one's choice, is a guarantee.

At a number of rounds that was fixed in advance it is. Someone who stops when the outputs look bad will at some time
stop where the loss exceeds the reported ε (docs/ledger.md, "What may be reported").
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import Quantity
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Source, Status, Theorem

_TESTS = "tests/ledgers/mathematics/theorems/test_adaptive_stop.py"
ROUND_EPSILON = Quantity(symbol="ε₀", unit="nat", ge=1e-3, le=5.0, description="ε of one randomized response")
REPORTED_DELTA = Quantity(symbol="δ", ge=1e-12, le=0.1, description="δ at which the spent ε is reported")
MOST_ROUNDS = Quantity(symbol="T", ge=1, le=1000, description="rounds that may be run at most")


def spent_epsilon(*, rounds: int, round_epsilon: float, delta: float) -> float:
    """Return the exact ε at δ of t binary randomized responses that are each ε₀-private.

    This is the least ε ≥ 0 with δ(ε) ≤ δ. An answer is truthful with probability p = 1/(1 + e^−ε₀). K truthful answers
    have the privacy loss ε₀ (2K − t). K is Bin(t, p) on the first data set (P), and Bin(t, 1 − p) on its neighbour (Q).
    If ε is between the losses of k − 1 and k truthful answers:

        δ(ε) = P(K ≥ k) − e^ε Q(K ≥ k).

    The function solves δ(ε) = δ for each k from t down, until the root is in this range.

    Args:
        rounds: number t of responses.
        round_epsilon: ε₀ of one response, in nats.
        delta: δ in (0, 1).

    Returns:
        The least ε, in nats.
    """
    truth_probability = 1.0 / (1.0 + math.exp(-round_epsilon))
    p_tails = _tails(rounds, truth_probability)  # P(K ≥ k)
    q_tails = _tails(rounds, 1.0 - truth_probability)  # Q(K ≥ k)
    for count in range(rounds, -1, -1):
        if p_tails[count] <= delta:
            continue
        epsilon = math.log((p_tails[count] - delta) / q_tails[count])
        next_lower_loss = round_epsilon * (2 * (count - 1) - rounds)
        if epsilon >= next_lower_loss:
            return max(epsilon, 0.0)
    return 0.0


def _tails(rounds: int, truth_probability: float) -> list[float]:
    """Return the upper tails of a binomial distribution: P(K ≥ k) for k = 0, …, t.

    Args:
        rounds: number t of trials.
        truth_probability: probability of success in a trial, in (0, 1).

    Returns:
        The t + 1 probabilities.
    """
    log_probabilities = []
    for count in range(rounds + 1):
        log_binomial = math.lgamma(rounds + 1.0) - math.lgamma(count + 1.0) - math.lgamma(rounds - count + 1.0)
        with_successes = log_binomial + count * math.log(truth_probability)
        log_probabilities.append(with_successes + (rounds - count) * math.log1p(-truth_probability))
    # Summation starts at the largest count, so that small tails keep their relative accuracy.
    probabilities = np.exp(log_probabilities)
    tails = np.cumsum(probabilities[::-1])[::-1]
    return [float(tail) for tail in tails]


def stopped_delta(*, rounds: int, round_epsilon: float, delta: float) -> float:
    """Return the true δ of a sequence of randomized responses that is stopped at the worst time for the reported ε.

    The reported ε_t is `spent_epsilon` after t responses, which is correct for a t fixed in advance. Here the decision
    to stop may depend on the outputs. With the privacy loss L_t after t responses, the result is the largest:

        E[max(1 − e^{ε_τ − L_τ}, 0)]

    over all stopping times τ with 1 ≤ τ ≤ T. It is computed by backward induction. After k truthful answers among t,
    let V_t(k) be the largest value and g_t(k) the value of stopping. If an answer is truthful with probability p:

        V_T(k) = g_T(k),    V_t(k) = max(g_t(k), p V_{t+1}(k + 1) + (1 − p) V_{t+1}(k)),

    and the result is p V_1(1) + (1 − p) V_1(0).

    Args:
        rounds: largest number T of responses.
        round_epsilon: ε₀ of one response, in nats.
        delta: δ at which ε_t is reported.

    Returns:
        The true δ, in [0, 1].
    """
    truth_probability = 1.0 / (1.0 + math.exp(-round_epsilon))
    # Zeros after the last response make the loop start with V_T = g_T, because g_T is never negative.
    value = np.zeros(rounds + 2)
    for time in range(rounds, 0, -1):
        # All values are arrays over the number of truthful answers so far.
        reported_epsilon = spent_epsilon(rounds=time, round_epsilon=round_epsilon, delta=delta)
        losses = round_epsilon * (2.0 * np.arange(time + 1.0) - time)
        stop_value = np.maximum(-np.expm1(np.minimum(reported_epsilon - losses, 0.0)), 0.0)
        continue_value = truth_probability * value[1:] + (1.0 - truth_probability) * value[:-1]
        value = np.maximum(stop_value, continue_value)
    after_lie, after_truth = value
    return float(truth_probability * after_truth + (1.0 - truth_probability) * after_lie)


@formula(given="Randomized responses, one after another, and a δ.")
def stop_at_will(
    *,
    round_epsilon: Annotated[float, ROUND_EPSILON],
    reported_delta: Annotated[float, REPORTED_DELTA],
    rounds: Annotated[int, MOST_ROUNDS],
) -> Outputs:
    """Evaluate the true δ at the reported ε if the run is stopped at the worst time.

    Args:
        round_epsilon: ε₀ of one response, in nats.
        reported_delta: δ at which the spent ε is reported.
        rounds: largest number of responses.

    Returns:
        `true_delta`; `factor`, its ratio to the reported δ; and `full_epsilon`, the ε of all `rounds` responses.
    """
    true_delta = stopped_delta(rounds=rounds, round_epsilon=round_epsilon, delta=reported_delta)
    return {
        "true_delta": true_delta,
        "factor": true_delta / reported_delta,
        "full_epsilon": spent_epsilon(rounds=rounds, round_epsilon=round_epsilon, delta=reported_delta),
    }


SPEND_AT_A_STOP = Theorem(
    id="epsilond.spend-at-adaptive-stop",
    title="The ε spent so far, at a stop that was chosen: false",
    statement=(
        "Stopped at a time τ of one's choice, an interaction is (ε_τ, δ)-private in the sense ∫ (dP − e^{ε_τ} dQ)₊ ≤ "
        "δ. Here ε_t is the exact ε at δ of the first t rounds. FALSE: it holds for every t fixed in advance, but "
        "the largest value over stopping times grows with the number of rounds. The ε of the longest run allowed "
        "does hold"
    ),
    source=Source("epsilond", "docs/ledger.md, What may be reported; the question is of rogers2016odometers"),
    status=Status.REFUTED,
    conditions=(Condition("adaptive-stop", "when the run is stopped depends on its outputs"),),
    errata=(
        Erratum(
            "L-4",
            grade=Grade.PROVED_WRONG,
            printed="the ε spent so far is a guarantee at any stop",
            truth="it is one at a fixed stop; with 400 responses of ε₀ = 0.1 at δ = 1e-3, chosen stops reach 7.36 δ",
            test=f"{_TESTS}::test_who_stops_at_will_passes_what_is_reported",
        ),
    ),
    formula=stop_at_will,
    examples=({"round_epsilon": 0.1, "reported_delta": 1e-3, "rounds": 400},),
)

THEOREMS: tuple[Theorem, ...] = (SPEND_AT_A_STOP,)

"""Shuffled rounds of Lowy and Razaviyayn: Theorems F.1 and F.2, as printed and as corrected.

N clients of n records each send one report a round through a trusted shuffler. Each report is (ε₀, δ₀) for each of its
client's records (replace-one), for all reports of the other clients. This module has closed forms. The package
`theorems.shuffling` computes tighter bounds, and compares them with Theorem F.2 at n = 1. δ is a logarithm throughout.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from epsilond.accountants.quantities import (
    Clients,
    DeltaFields,
    LocalDelta,
    LocalEpsilon,
    Quantity,
    Rounds,
    SamplesPerClient,
    delta_outputs,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.composition.classical import advanced_composition
from epsilond.accountants.theorems.papers.lowy_razaviyayn.errata import MISSING_FACTOR, MISSING_POWER
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_round import (
    LN10,
    ShuffledRound,
    local_epsilon_limit,
    log10,
)

# Inputs -------------------------------------------------------------------------------------------------------------
POSITIVE_LOCAL_DELTA = Quantity(symbol="δ₀", gt=0, lt=1, description="δ of what one client sends, next to its ε₀")


@request
class RoundInputs(DeltaFields):
    """One shuffled round, and the δ of the bound (39), without the reports' own δ₀."""

    clients: Clients
    samples_per_client: SamplesPerClient = 1
    local_epsilon: LocalEpsilon
    local_delta: LocalDelta = 0.0

    @property
    def round(self) -> ShuffledRound:
        """The round. Its methods compute the formulas of the theorems."""
        return _round(self)


@request
class StandardInputs:
    """One shuffled round of (ε₀, δ₀)-differentially private reports with δ₀ > 0, from N clients with n records each."""

    clients: Clients
    samples_per_client: SamplesPerClient = 1
    local_epsilon: LocalEpsilon
    local_delta: Annotated[float, POSITIVE_LOCAL_DELTA]

    @property
    def round(self) -> ShuffledRound:
        """The round. Its methods compute the formulas of the theorems."""
        return _round(self)

    @property
    def log_delta(self) -> float:
        """Natural logarithm of Nnδ₀, the δ at which Lowy and Razaviyayn evaluate the ε of the round (equation 39)."""
        return math.log(self.clients * self.samples_per_client) + math.log(self.local_delta)


@request
class RepeatedInputs(StandardInputs):
    """Shuffled rounds of reports with a positive δ₀; reports may depend on the outputs of earlier rounds."""

    rounds: Rounds


def _round(inputs: RoundInputs | StandardInputs) -> ShuffledRound:
    """Return the shuffled round of a request: its N clients of n records, and ε₀ and δ₀ of their reports."""
    return ShuffledRound(
        clients=inputs.clients,
        samples_per_client=inputs.samples_per_client,
        local_epsilon=inputs.local_epsilon,
        local_log_delta=log10(inputs.local_delta) * LN10,
    )


# Formulas of the theorems -------------------------------------------------------------------------------------------
def single_round(inputs: RoundInputs, reading: Reading = "printed") -> Outputs:
    """Compute the (ε, δ) of a shuffled round by Theorem F.2 of Lowy and Razaviyayn.

    Args:
        inputs: N clients with n records each, (ε₀, δ₀)-differentially private reports, and δ.
        reading: version of the formula for `delta`. `printed` is that of the paper with its known errors, `corrected`
            the valid one (`ShuffledRound.log_delta`).

    Returns:
        `formula_epsilon`: ε^r of equation (39).
        `epsilon`: the smaller one of ε^r and ε₀, in nats.
        `delta`: δ of the round with the reports' own δ₀ included, and `sharp_delta`, a smaller proved value.
        `local_epsilon_limit`: the largest ε₀ for which the theorem holds.
        `scale`: equation (40), the order ε₀√(ln(1/δ)/N) of ε^r for nε₀ of order 1.
    """
    epsilon = inputs.round.epsilon(inputs.log_delta)
    # JSON has no infinite number.
    formula_epsilon: float | str = epsilon if math.isfinite(epsilon) else "unbounded"
    return {
        "epsilon": min(epsilon, inputs.local_epsilon),
        "formula_epsilon": formula_epsilon,
        **delta_outputs(inputs.round.log_delta(inputs.log_delta, reading=reading)),
        **delta_outputs(inputs.round.log_delta(inputs.log_delta, sharp=True), "sharp_delta"),
        "local_epsilon_limit": _limit(inputs),
        "scale": _round_scale(inputs),
    }


def standard_round(inputs: StandardInputs, reading: Reading = "printed") -> Outputs:
    """Compute the guarantee of a shuffled round by Theorem F.2 of Lowy and Razaviyayn, at its δ = Nnδ₀.

    Args:
        inputs: N clients with n records each, with (ε₀, δ₀)-differentially private reports.
        reading: version of `delta` and `delta_cap`. `printed` has the cap 7Nnδ₀ of the paper. `corrected` has
            (1 + 2e(e^{ε^r} + 1)) Nnδ₀ (erratum E-20).

    Returns:
        `epsilon`: ε^r of equation (39) at δ = Nnδ₀, in nats.
        `delta`: δ̃ of the round, in which the reports' own δ₀ is included.
        `delta_cap`: a simple upper bound on δ̃.
        `scale`: the order of ε^r by equation (41), without constants.
    """
    return {
        "epsilon": inputs.round.epsilon(inputs.log_delta),
        **delta_outputs(inputs.round.log_delta(inputs.log_delta, reading=reading)),
        **delta_outputs(_log_cap(inputs, reading), "delta_cap"),
        "scale": _round_scale(inputs),
    }


def _round_scale(inputs: RoundInputs | StandardInputs) -> float:
    """Compute ε₀√(ln(1/δ)/N), the order of the ε of a shuffled round in equations (40) and (41), without constants.

    Args:
        inputs: the round of N clients, with ε₀ of a report and δ.

    Returns:
        The order of the round's ε, in nats; 0 for δ ≥ 1.
    """
    log_inverse_delta = max(-inputs.log_delta, 0.0)
    return inputs.local_epsilon * math.sqrt(log_inverse_delta / inputs.clients)


def _limit(inputs: RoundInputs | StandardInputs) -> float:
    """Return the largest ε₀ of Theorem F.2 for a request."""
    return local_epsilon_limit(
        clients=inputs.clients, samples_per_client=inputs.samples_per_client, log_delta=inputs.log_delta
    )


def _log_cap(inputs: StandardInputs, reading: Reading) -> float:
    """Compute the logarithm of a simple upper bound on the δ of a shuffled round.

    Args:
        inputs: the round of N clients with n records each, and (ε₀, δ₀)-differentially private reports.
        reading: version of the bound. "printed" has 7Nnδ₀, "corrected" has (1 + 2e(e^{ε^r} + 1)) Nnδ₀ with the ε^r of
            the round.

    Returns:
        The natural logarithm of the bound.
    """
    if reading == "printed":
        return math.log(7.0) + inputs.log_delta
    round_epsilon = inputs.round.epsilon(inputs.log_delta)
    log_second_term = math.log(2.0) + 1.0 + float(np.logaddexp(0.0, round_epsilon))  # log 2e(e^{ε^r} + 1)
    return float(np.logaddexp(0.0, log_second_term)) + inputs.log_delta


def _log_least_local_delta(inputs: StandardInputs, reading: Reading) -> float:
    """Compute the logarithm of the least δ₀ of a report for which the theorem on shuffled rounds holds.

    Args:
        inputs: the round of N clients with n records each.
        reading: version of the limit. "printed" has 2e^{−N/16}/(Nn), "corrected" has 2e^{−N/(16e)}/(Nn) (erratum E-21).

    Returns:
        The natural logarithm of the least δ₀.
    """
    divisor = 16.0
    if reading == "corrected":
        divisor = 16.0 * math.e
    records = inputs.clients * inputs.samples_per_client  # nN
    return math.log(2.0) - inputs.clients / divisor - math.log(records)


def sequential(inputs: StandardInputs, reading: Reading = "printed") -> Outputs:
    """Compute ε and δ of a shuffled round in which each report may depend on earlier ones, by Theorem F.1.

    Args:
        inputs: N clients with n records each, with (ε₀, δ₀)-differentially private reports.
        reading: `printed` has the formulas of Lowy and Razaviyayn. `corrected` has a larger δ (E-20) and least δ₀
            (E-21).

    Returns:
        `epsilon` and `delta`: the guarantee of the round.
        `scale`: the order ε₀ ln(1/δ)/√N of ε at δ = Nnδ₀, without constants.
        `log10_least_local_delta`: decimal logarithm of the least δ₀ for which the theorem holds.
    """
    # ε is that of a round with independent reports. Only δ and the conditions differ.
    return {
        "epsilon": standard_round(inputs, reading)["epsilon"],
        **delta_outputs(_log_cap(inputs, reading)),
        "scale": -inputs.local_epsilon * inputs.log_delta / math.sqrt(inputs.clients),
        "log10_least_local_delta": _log_least_local_delta(inputs, reading) / LN10,
    }


def compositional(inputs: RepeatedInputs, reading: Reading = "printed") -> Outputs:
    """Compute ε and δ of R equal shuffled rounds by Corollary F.1 of Lowy and Razaviyayn.

    The rounds are combined by advanced composition. The composition adds the slack δ' = NnRδ₀ to δ.

    Args:
        inputs: R rounds of N clients with n records each, with (ε₀, δ₀)-differentially private reports.
        reading: version of δ. "printed" has 14NnRδ₀ as in the paper. "corrected" has δ' + Rδ̃, where δ̃ is the δ of a
            single round.

    Returns:
        `epsilon`: ε of all rounds, in nats.
        `round_epsilon`: ε of a single round.
        `delta`: δ of all rounds, with its decimal logarithm.
    """
    round_outputs = standard_round(inputs, "corrected")
    log_slack = inputs.log_delta + math.log(inputs.rounds)  # ln δ'
    total = advanced_composition(
        epsilons=(round_outputs["epsilon"],),
        log_deltas=(round_outputs["log10_delta"] * LN10,),
        log_slack=log_slack,
        drift="corollary-f.1",
        times=inputs.rounds,
    )
    log_delta = total.log_delta
    if reading == "printed":
        log_delta = math.log(14.0) + log_slack
    return {"epsilon": total.epsilon, "round_epsilon": round_outputs["epsilon"], **delta_outputs(log_delta)}


# Conditions ---------------------------------------------------------------------------------------------------------
def _compare_local_epsilon(inputs: RoundInputs | StandardInputs) -> Sides:
    """Compare ε₀ with its largest value in Theorem F.2."""
    return Sides.at_most(inputs.local_epsilon, _limit(inputs))


def _compare_delta(inputs: RoundInputs) -> Sides:
    """Compare log10 of the δ̃ of the round, by the corrected formula, with 0."""
    return Sides.below(inputs.round.log_delta(inputs.log_delta) / LN10, 0.0)


def _compare_cap(inputs: StandardInputs) -> Sides:
    """Compare log10 of the simple upper bound on δ̃, by the corrected formula, with 0."""
    return Sides.below(_log_cap(inputs, "corrected") / LN10, 0.0)


def _compare_local_delta(inputs: RepeatedInputs) -> Sides:
    """Compare the δ₀ of a report with its largest value 1/(14NnR)."""
    record_uses = 14.0 * inputs.clients * inputs.samples_per_client * inputs.rounds
    return Sides.at_most(inputs.local_delta, 1.0 / record_uses)


def _compare_least_local_delta(inputs: StandardInputs) -> Sides:
    """Compare log10 δ₀ with log10 of its least value, by the corrected formula."""
    log10_least = _log_least_local_delta(inputs, "corrected") / LN10
    return Sides.at_least(math.log10(inputs.local_delta), log10_least)


WITHIN_LIMIT = Condition(
    "local-epsilon-limit", "reports have ε₀ ≤ ln(N/(16 ln(2/δ)))/n (N clients of n records)", _compare_local_epsilon
)
DELTA_BELOW_ONE = Condition("delta-below-one", "log10 of the corrected δ̃ of a round is below 0", _compare_delta)
CAP_BELOW_ONE = Condition("cap-below-one", "log10 of the corrected limit of δ̃ of a round is below 0", _compare_cap)
ONE_OVER_RECORDS = Condition(
    "one-over-records",
    "the ε₀ of a report is at most 1/n, for clients with n records",
    lambda inputs: Sides.at_most(inputs.local_epsilon, 1.0 / inputs.samples_per_client),
)
LEAST_LOCAL_DELTA = Condition(
    "least-local-delta",
    "the δ₀ of a report satisfies log10 δ₀ ≥ log10(2e^{−N/(16e)}/(Nn)), for N clients with n records each",
    _compare_least_local_delta,
)
NOT_ABOVE_ROOT = Condition(
    "root-of-clients",
    "the ε₀ of a report is at most √N, for N clients",
    lambda inputs: Sides.at_most(inputs.local_epsilon, math.sqrt(inputs.clients)),
)
SMALL_LOCAL_DELTA = Condition(
    "small-local-delta",
    "the δ₀ of a report is at most 1/(7Nn), for N clients with n records each",
    lambda inputs: Sides.at_most(inputs.local_delta, 1.0 / (7.0 * inputs.clients * inputs.samples_per_client)),
)
SMALL_ROUND_EPSILON = Condition(
    "round-epsilon",
    "the ε^r of a shuffled round satisfies e^{ε^r} − 1 ≤ 2ε^r",
    lambda inputs: Sides.at_most(
        math.expm1(min(standard_round(inputs)["epsilon"], 700.0)), 2.0 * standard_round(inputs)["epsilon"]
    ),
)
TRUSTED_SHUFFLER = Condition(
    "trusted-shuffler", "the shuffler permutes the round's reports uniformly, and reports do not show their senders"
)

# Theorems -----------------------------------------------------------------------------------------------------------
SINGLE_ROUND = Theorem(
    id="lowy.f.2",
    title="One shuffled round, in closed form",
    statement=(
        "Let the reports of N clients with n records each be (ε₀, δ₀)-private. One shuffled round is then (ε^r, "
        "δ̃)-private. Here ε^r = ln[1 + tanh(ε₀/2)(8√(e^{nε₀} ln(4/δ)/N) + 8e^{nε₀}/N)]. The corrected δ̃ is δ + "
        "(e^{ε^r} + 1) 2Nn e^{(n−1)ε₀} δ₀. The order of ε^r is ε₀√(ln(1/δ)/N) where nε₀ is of order 1"
    ),
    source=Source("lowy2023", "Theorem F.2, equations (39) and (40)"),
    status=Status.PROVED,
    conditions=(WITHIN_LIMIT, DELTA_BELOW_ONE, TRUSTED_SHUFFLER),
    errata=(MISSING_FACTOR,),
    inputs=RoundInputs,
    formula=single_round,
    examples=({"clients": 10_000, "local_epsilon": 1.0, "local_delta": 1e-12, "delta": 1e-6},),
)
STANDARD_ROUND = Theorem(
    id="lowy.f.2.equation-41",
    title="One shuffled round at δ = Nnδ₀",
    statement=(
        "Let ε₀ ≤ 1/n. One shuffled round of lowy.f.2 then has ε^r from equation (39) at δ = Nnδ₀. The upper limit of "
        "its δ̃ is 7Nnδ₀ as printed, and (1 + 2e(e^{ε^r} + 1)) Nnδ₀ as corrected. The order of ε^r is "
        "ε₀√(ln(1/(nNδ₀))/N)"
    ),
    source=Source("lowy2023", "Theorem F.2, equations (40) and (41)"),
    status=Status.PROVED,
    conditions=(WITHIN_LIMIT, ONE_OVER_RECORDS, CAP_BELOW_ONE, TRUSTED_SHUFFLER),
    errata=(MISSING_FACTOR,),
    inputs=StandardInputs,
    formula=standard_round,
    examples=({"clients": 100_000, "samples_per_client": 5, "local_epsilon": 0.2, "local_delta": 1e-13},),
)
SEQUENTIAL = Theorem(
    id="lowy.f.1",
    title="From local to central privacy by shuffling, one round",
    statement=(
        "A sequentially interactive algorithm with the (ε₀, δ₀)-private reports of lowy.f.2, shuffled, is (ε^r, (1 + "
        "2e(e^{ε^r} + 1)) Nnδ₀)-private. The printed δ is 7Nnδ₀. The order of ε^r is ε₀ ln(1/(nNδ₀))/√N"
    ),
    source=Source("lowy2023", "Theorem F.1, sequential part"),
    status=Status.PROVED,
    conditions=(WITHIN_LIMIT, ONE_OVER_RECORDS, SMALL_LOCAL_DELTA, NOT_ABOVE_ROOT, LEAST_LOCAL_DELTA, TRUSTED_SHUFFLER),
    errata=(MISSING_FACTOR, MISSING_POWER),
    inputs=StandardInputs,
    formula=sequential,
    examples=({"clients": 100_000, "samples_per_client": 5, "local_epsilon": 0.2, "local_delta": 1e-13},),
)
COMPOSITIONAL = Theorem(
    id="lowy.f.1.compositional",
    title="From local to central privacy by shuffling, over rounds",
    statement=(
        "Let each of R shuffled rounds be (ε^r, δ̃)-private as in lowy.f.2, and δ' = NnRδ₀. All rounds together are "
        "(2R(ε^r)² + √(2R(ε^r)² ln(1/δ')), δ' + Rδ̃)-private. The printed δ is 14NnRδ₀"
    ),
    source=Source("lowy2023", "Theorem F.1, compositional part, with Corollary F.1"),
    status=Status.PROVED,
    conditions=(
        WITHIN_LIMIT,
        ONE_OVER_RECORDS,
        Condition(
            "small-local-delta",
            "the δ₀ of a report is at most 1/(14NnR), for N clients with n records each and R rounds",
            _compare_local_delta,
        ),
        LEAST_LOCAL_DELTA,
        SMALL_ROUND_EPSILON,
        TRUSTED_SHUFFLER,
    ),
    errata=(MISSING_FACTOR, MISSING_POWER),
    inputs=RepeatedInputs,
    formula=compositional,
    examples=({"clients": 100_000, "local_epsilon": 0.2, "local_delta": 1e-14, "rounds": 10},),
)
THEOREMS: tuple[Theorem, ...] = (SINGLE_ROUND, STANDARD_ROUND, SEQUENTIAL, COMPOSITIONAL)

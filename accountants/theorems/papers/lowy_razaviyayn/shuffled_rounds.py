"""Shuffled rounds of Lowy and Razaviyayn: Theorems F.1 and F.2, as printed and as corrected.

N clients of n records each send one report a round through a trusted shuffler. Each report is (ε₀, δ₀) for each of its
client's records (replace-one), for all reports of the other clients. This module has closed forms. The package
`theorems.shuffling` computes tighter bounds, and compares them with Theorem F.2 at n = 1. δ is a logarithm throughout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.composition.classical import advanced_composition

TESTS = "tests/theorems/papers/lowy_razaviyayn/test_shuffled_rounds.py"
LN10 = math.log(10.0)


# Formulas -----------------------------------------------------------------------------------------------------------
def local_epsilon_limit(*, clients: int, samples_per_client: int, log_delta: float) -> float:
    """Compute the largest ε₀ of Theorem F.2, ln(N/(16 ln(2/δ)))/n. If it is negative, no ε₀ is allowed.

    Args:
        clients: number N of clients.
        samples_per_client: number n of records of a client.
        log_delta: ln δ; for δ ≥ 1, which the theorem excludes, the result is −∞.
    """
    if log_delta >= 0.0:
        return -math.inf
    return (math.log(clients) - math.log(16.0 * (math.log(2.0) - log_delta))) / samples_per_client


def transferred_log_delta(*, epsilon: float, log_delta: float, log_distance: float) -> float:
    """Compute the log of the δ of two distributions, each within total variation distance t of a member of a pair.

    If the pair is (ε, δ)-indistinguishable, they are (ε, δ + (e^ε + 1) t)-indistinguishable (Lemma F.6).

    Args:
        epsilon: ε of the pair.
        log_delta: ln δ of the pair.
        log_distance: ln t; −∞ for t = 0.
    """
    if log_distance == -math.inf:
        return log_delta
    return float(np.logaddexp(log_delta, float(np.logaddexp(0.0, epsilon)) + log_distance))


@dataclass(frozen=True, kw_only=True)
class ShuffledRound:
    """A shuffled round of N clients with n records each, and reports that are (ε₀, δ₀) for each record.

    Attributes:
        clients: number N of clients.
        samples_per_client: number n of records of a client.
        local_epsilon: ε₀ of a report.
        local_log_delta: ln δ₀; −∞ for δ₀ = 0.
    """

    clients: int
    samples_per_client: int
    local_epsilon: float
    local_log_delta: float

    def epsilon(self, log_delta: float) -> float:
        """Compute ε^r = ln[1 + tanh(ε₀/2)(8√(e^{nε₀} ln(4/δ)/N) + 8e^{nε₀}/N)] (39); infinite on overflow."""
        log_crowd = self.samples_per_client * self.local_epsilon - math.log(self.clients)
        if log_crowd > 600.0:
            return math.inf
        nats = max(math.log(4.0) - log_delta, 0.0)
        factor = 8.0 * math.sqrt(math.exp(log_crowd) * nats) + 8.0 * math.exp(log_crowd)
        return math.log1p(math.tanh(0.5 * self.local_epsilon) * factor)

    def log_distance(self, *, sharp: bool = False) -> float:
        """Compute the logarithm of the total variation distance to a round with δ₀ = 0.

        It is 2Nn e^{(n−1)ε₀} δ₀, or the sharper N(n e^{(n−1)ε₀} + e^{−nε₀}/2) δ₀.
        """
        n, epsilon = self.samples_per_client, self.local_epsilon
        log_group = math.log(n) + (n - 1) * epsilon
        if sharp:
            log_factor = float(np.logaddexp(log_group, -n * epsilon - math.log(2.0)))
        else:
            log_factor = log_group + math.log(2.0)
        return math.log(self.clients) + log_factor + self.local_log_delta

    def log_delta(self, log_delta: float, *, reading: Reading = "corrected", sharp: bool = False) -> float:
        """Compute ln δ̃ of the round, where δ̃ also counts the δ₀ of the reports.

        Args:
            log_delta: ln δ at which `epsilon` is computed, without the reports' own δ₀.
            reading: `printed` has δ̃ = δ + 2Nn e^{(n−1)ε₀} δ₀. `corrected` multiplies the second term by e^{ε^r} + 1
                (erratum E-20).
            sharp: if true, the sharper distance of `log_distance` is used.
        """
        distance = self.log_distance(sharp=sharp)
        if reading == "printed":
            return float(np.logaddexp(log_delta, distance))
        epsilon = self.epsilon(log_delta)
        return transferred_log_delta(epsilon=epsilon, log_delta=log_delta, log_distance=distance)


def log10(delta: float) -> float:
    """Compute log10 of a δ that may be 0."""
    return math.log10(delta) if delta > 0.0 else -math.inf


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
        """The round itself."""
        return _round(self)


@request
class StandardInputs:
    """One shuffled round of reports with a positive δ₀."""

    clients: Clients
    samples_per_client: SamplesPerClient = 1
    local_epsilon: LocalEpsilon
    local_delta: Annotated[float, POSITIVE_LOCAL_DELTA]

    @property
    def round(self) -> ShuffledRound:
        """The round itself."""
        return _round(self)

    @property
    def log_delta(self) -> float:
        """ln(Nnδ₀), the logarithm of δ in (39)."""
        return math.log(self.clients * self.samples_per_client) + math.log(self.local_delta)


@request
class RepeatedInputs(StandardInputs):
    """Shuffled rounds of reports with a positive δ₀; reports may depend on the outputs of earlier rounds."""

    rounds: Rounds


def _round(inputs: RoundInputs | StandardInputs) -> ShuffledRound:
    """Return the shuffled round of a request."""
    return ShuffledRound(
        clients=inputs.clients,
        samples_per_client=inputs.samples_per_client,
        local_epsilon=inputs.local_epsilon,
        local_log_delta=log10(inputs.local_delta) * LN10,
    )


# Formulas of the theorems -------------------------------------------------------------------------------------------
def single_round(inputs: RoundInputs, reading: Reading = "printed") -> Outputs:
    """Compute ε^r and δ̃ of Theorem F.2, a sharper δ̃, and the largest ε₀ of a report for which the theorem holds."""
    epsilon = inputs.round.epsilon(inputs.log_delta)
    return {
        "epsilon": min(epsilon, inputs.local_epsilon),
        "formula_epsilon": epsilon if math.isfinite(epsilon) else "unbounded",
        **delta_outputs(inputs.round.log_delta(inputs.log_delta, reading=reading)),
        **delta_outputs(inputs.round.log_delta(inputs.log_delta, sharp=True), "sharp_delta"),
        "local_epsilon_limit": _limit(inputs),
    }


def standard_round(inputs: StandardInputs, reading: Reading = "printed") -> Outputs:
    """Compute ε and δ̃ of a round for δ = Nnδ₀ in Theorem F.2, and an upper bound on δ̃.

    Args:
        inputs: the round.
        reading: `printed` has the bound 7Nnδ₀, `corrected` has (1 + 2e(e^{ε^r} + 1)) Nnδ₀ (erratum E-20).
    """
    return {
        "epsilon": inputs.round.epsilon(inputs.log_delta),
        **delta_outputs(inputs.round.log_delta(inputs.log_delta, reading=reading)),
        **delta_outputs(_log_cap(inputs, reading), "delta_cap"),
    }


def _limit(inputs: RoundInputs | StandardInputs) -> float:
    """Return the largest ε₀ of Theorem F.2 for a request."""
    return local_epsilon_limit(
        clients=inputs.clients, samples_per_client=inputs.samples_per_client, log_delta=inputs.log_delta
    )


def _log_cap(inputs: StandardInputs, reading: Reading) -> float:
    """Compute ln of the bound on δ̃: 7Nnδ₀ as printed, (1 + 2e(e^{ε^r} + 1)) Nnδ₀ as corrected."""
    if reading == "printed":
        return math.log(7.0) + inputs.log_delta
    factor = math.log(2.0) + 1.0 + float(np.logaddexp(0.0, inputs.round.epsilon(inputs.log_delta)))
    return float(np.logaddexp(0.0, factor)) + inputs.log_delta


def _log_least_local_delta(inputs: StandardInputs, reading: Reading) -> float:
    """Compute ln of the least δ₀ allowed: 2e^{−N/16}/(Nn) as printed, 2e^{−N/(16e)}/(Nn) as corrected (E-21)."""
    share = 16.0 if reading == "printed" else 16.0 * math.e
    return math.log(2.0) - inputs.clients / share - math.log(inputs.clients * inputs.samples_per_client)


def sequential(inputs: StandardInputs, reading: Reading = "printed") -> Outputs:
    """Compute ε and δ of one round, the order ε₀ ln(1/(nNδ₀))/√N of ε, and the least δ₀ allowed (Theorem F.1).

    Args:
        inputs: the round.
        reading: `printed` or `corrected`; δ (erratum E-20) and the least δ₀ (E-21) depend on it.
    """
    return {
        "epsilon": standard_round(inputs, reading)["epsilon"],
        **delta_outputs(_log_cap(inputs, reading)),
        "scale": -inputs.local_epsilon * inputs.log_delta / math.sqrt(inputs.clients),
        "log10_least_local_delta": _log_least_local_delta(inputs, reading) / LN10,
    }


def compositional(inputs: RepeatedInputs, reading: Reading = "printed") -> Outputs:
    """Compute ε and δ of R equal rounds by Corollary F.1, in which δ' = NnRδ₀ is the slack of the composition.

    Args:
        inputs: the rounds.
        reading: `printed` has δ = 14NnRδ₀, `corrected` has δ = δ' + Rδ̃.
    """
    single = standard_round(inputs, "corrected")
    slack = inputs.log_delta + math.log(inputs.rounds)
    total = advanced_composition(
        epsilons=(single["epsilon"],),
        log_deltas=(single["log10_delta"] * LN10,),
        log_slack=slack,
        drift="corollary-f.1",
        times=inputs.rounds,
    )
    log_delta = math.log(14.0) + slack if reading == "printed" else total.log_delta
    return {"epsilon": total.epsilon, "round_epsilon": single["epsilon"], **delta_outputs(log_delta)}


# Conditions ---------------------------------------------------------------------------------------------------------
def _compare_local_epsilon(inputs: RoundInputs | StandardInputs) -> Sides:
    """Compare ε₀ with its largest value in Theorem F.2."""
    return Sides.at_most(inputs.local_epsilon, _limit(inputs))


def _compare_delta(inputs: RoundInputs) -> Sides:
    """Compare log10 δ̃ (corrected) with 0."""
    log_delta = inputs.round.log_delta(inputs.log_delta)
    return Sides.below(log_delta / LN10, 0.0)


def _compare_cap(inputs: StandardInputs) -> Sides:
    """Compare log10 of the bound on δ̃ (corrected) with 0."""
    cap = _log_cap(inputs, "corrected")
    return Sides.below(cap / LN10, 0.0)


def _compare_local_delta(inputs: RepeatedInputs) -> Sides:
    """Compare δ₀ with 1/(14NnR)."""
    return Sides.at_most(inputs.local_delta, 1.0 / (14.0 * inputs.clients * inputs.samples_per_client * inputs.rounds))


def _compare_least_local_delta(inputs: StandardInputs) -> Sides:
    """Compare log10 δ₀ with that of its least value (corrected)."""
    least, own = _log_least_local_delta(inputs, "corrected") / LN10, math.log10(inputs.local_delta)
    return Sides.at_least(own, least)


WITHIN_LIMIT = Condition("local-epsilon-limit", "ε₀ ≤ ln(N/(16 ln(2/δ)))/n", _compare_local_epsilon)
DELTA_BELOW_ONE = Condition("delta-below-one", "log10 δ̃ (corrected) is below 0", _compare_delta)
CAP_BELOW_ONE = Condition("cap-below-one", "log10 of the cap on δ̃ (corrected) is below 0", _compare_cap)
ONE_OVER_RECORDS = Condition(
    "one-over-records",
    "ε₀ ≤ 1/n",
    lambda inputs: Sides.at_most(inputs.local_epsilon, 1.0 / inputs.samples_per_client),
)
LEAST_LOCAL_DELTA = Condition("least-local-delta", "log10 δ₀ ≥ log10(2e^{−N/(16e)}/(Nn))", _compare_least_local_delta)
NOT_ABOVE_ROOT = Condition(
    "root-of-clients", "ε₀ ≤ √N", lambda inputs: Sides.at_most(inputs.local_epsilon, math.sqrt(inputs.clients))
)
SMALL_LOCAL_DELTA = Condition(
    "small-local-delta",
    "δ₀ ≤ 1/(7Nn)",
    lambda inputs: Sides.at_most(inputs.local_delta, 1.0 / (7.0 * inputs.clients * inputs.samples_per_client)),
)
SMALL_ROUND_EPSILON = Condition(
    "round-epsilon",
    "e^{ε^r} − 1 ≤ 2ε^r",
    lambda inputs: Sides.at_most(
        math.expm1(min(standard_round(inputs)["epsilon"], 700.0)), 2.0 * standard_round(inputs)["epsilon"]
    ),
)
TRUSTED_SHUFFLER = Condition(
    "trusted-shuffler", "the shuffler permutes the round's reports uniformly, and reports do not show their senders"
)

# Errata -------------------------------------------------------------------------------------------------------------
MISSING_FACTOR = Erratum(
    "E-20",
    grade=Grade.PROVED_WRONG,
    printed="δ̃ = δ + 2Nn e^{(n−1)ε₀} δ₀, hence 7Nnδ₀ and 14Nn Σδ₀^r",
    truth=(
        "Lemma F.6 multiplies the second term by e^{ε^r} + 1. The upper limit is (1 + 2e(e^{ε^r} + 1)) Nnδ₀, with "
        "a factor of at least 11.9"
    ),
    test=f"{TESTS}::test_a_distance_costs_both_laws",
)
MISSING_POWER = Erratum(
    "E-21",
    grade=Grade.PROVED_WRONG,
    printed="δ₀ ≥ 2e^{−N/16}/(Nn)",
    truth="the condition of Theorem F.2 at ε₀ = 1/n, δ = Nnδ₀ is N ≥ 16e ln(2/(Nnδ₀)), so 2e^{−N/(16e)}/(Nn)",
    test=f"{TESTS}::test_the_least_local_delta_lacks_a_power_of_e",
)
# Theorems -----------------------------------------------------------------------------------------------------------
SINGLE_ROUND = Theorem(
    id="lowy.f.2",
    title="One shuffled round, in closed form",
    statement=(
        "Reports of N clients with n records each are (ε₀, δ₀), and (ε^r, δ̃) after shuffling. Here ε^r = ln[1 "
        "+ tanh(ε₀/2)(8√(e^{nε₀} ln(4/δ)/N) + 8e^{nε₀}/N)]. Corrected, δ̃ = δ + (e^{ε^r} + 1) 2Nn e^{(n−1)ε₀} "
        "δ₀"
    ),
    source=Source("lowy2023", "Theorem F.2, equation (39)"),
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
    statement="for ε₀ ≤ 1/n, (39) at δ = Nnδ₀; δ̃ ≤ 7Nnδ₀ as printed, (1 + 2e(e^{ε^r} + 1)) Nnδ₀ in truth",
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
        "A sequentially interactive algorithm, shuffled, is (ε^r, (1 + 2e(e^{ε^r} + 1)) Nnδ₀). The printed δ "
        "is 7Nnδ₀. The order of ε^r is ε₀ ln(1/(nNδ₀))/√N"
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
    statement="R shuffled rounds are (2Rε² + √(2Rε² ln(1/δ')), δ' + Rδ̃), ε = ε^r, δ' = NnRδ₀; printed 14NnRδ₀ for δ",
    source=Source("lowy2023", "Theorem F.1, compositional part, with Corollary F.1"),
    status=Status.PROVED,
    conditions=(
        WITHIN_LIMIT,
        ONE_OVER_RECORDS,
        Condition("small-local-delta", "δ₀ ≤ 1/(14NnR)", _compare_local_delta),
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

"""Textbook composition and amplification of (ε, δ) guarantees, as used in the proofs of the papers.

They use a single (ε, δ) of each mechanism, and are therefore loose. The papers calibrate with them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.outward import product_up, raise_by_units, raise_log_by_units, sum_up
from epsilond.accountants.quantities import Delta, Epsilon, Quantity, Rate, Times, delta_outputs, request
from epsilond.accountants.theorem import Condition, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import EPSILON_AT_MOST_ONE
from epsilond.accountants.theorems.vacuous import delta_below_one

Drift = Literal["dwork-roth", "tanh", "corollary-f.1"]


# Composition --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class EpsilonDelta:
    """An (ε, δ) guarantee of differential privacy.

    Attributes:
        epsilon: ε in nats; infinite if nothing is guaranteed.
        log_delta: natural logarithm of δ; −inf for δ = 0. A δ of 1 or more guarantees nothing.
    """

    epsilon: float
    log_delta: float


def expm1_or_infinity(x: float) -> float:
    """Compute e^x − 1 for x < 709, and infinity for larger x, because the largest double is about e^709.8."""
    if x < 709.0:
        return math.expm1(x)
    return math.inf


def advanced_composition(
    *, epsilons: Sequence[float], log_deltas: Sequence[float], log_slack: float, drift: Drift, times: int = 1
) -> EpsilonDelta:
    """Compute the (ε, δ) guarantee of advanced composition, rounded up.

    Mechanism r is (ε_r, δ_r)-differentially private. For a free parameter δ' > 0, the composition has:

        ε = √(2 Σε_r² ln(1/δ')) + drift,  δ = δ' + Σδ_r.

    The drift bounds the sum of the mean privacy losses:

        `dwork-roth`: Σ ε_r (e^ε_r − 1), Theorem 3.20 of Dwork and Roth.
        `tanh`: Σ ε_r tanh(ε_r/2), Theorem 3.5 of Kairouz, Oh and Viswanath.
        `corollary-f.1`: 2 Σ ε_r², Corollary F.1 of Lowy and others, which requires e^ε_r − 1 ≤ 2 ε_r.

    An infinite ε_r or δ_r gives an infinite result. The results are rounded up by a bound on their errors: a relative
    12 units of roundoff for ε, and 8 units times 1 + |ln δ| for ln δ. The formula is F-11 in docs/catalogue.

    Args:
        epsilons: ε_r of each mechanism.
        log_deltas: ln δ_r of each mechanism.
        log_slack: ln δ'.
        drift: name of the drift.
        times: number of times that the whole list is run.

    Returns:
        The guarantee of all runs together.
    """
    sum_of_squares = times * math.fsum(epsilon * epsilon for epsilon in epsilons)
    sum_of_drifts = times * math.fsum(_drift_of(epsilon, drift) for epsilon in epsilons)
    log_inverse_slack = max(-log_slack, 0.0)
    deviation = 0.0  # for δ' ≥ 1, where an infinite sum of squares would give ∞ · 0
    if log_inverse_slack > 0.0:
        deviation = math.sqrt(2.0 * sum_of_squares * log_inverse_slack)
    epsilon = deviation + sum_of_drifts

    log_terms = [log_slack, *(log_delta + math.log(times) for log_delta in log_deltas)]
    largest_term = max(log_terms)
    if math.inf in (sum_of_squares, sum_of_drifts):
        return EpsilonDelta(epsilon=math.inf, log_delta=largest_term)
    if largest_term == math.inf:
        return EpsilonDelta(epsilon=epsilon, log_delta=math.inf)

    # Relative to the largest term, the sum cannot overflow.
    scaled_sum = math.fsum(math.exp(term - largest_term) for term in log_terms)
    log_delta = largest_term + math.log(scaled_sum)
    return EpsilonDelta(epsilon=raise_by_units(epsilon, 12.0), log_delta=raise_log_by_units(log_delta, 8.0))


def _drift_of(epsilon: float, drift: Drift) -> float:
    """Compute an upper bound on the mean privacy loss of one ε-private mechanism, for advanced composition.

    Args:
        epsilon: privacy parameter ε ≥ 0 of the mechanism, in nats.
        drift: name of the bound: "dwork-roth" for ε (e^ε − 1), "tanh" for ε tanh(ε/2), "corollary-f.1" for 2ε².

    Returns:
        The bound in nats; infinite on overflow.
    """
    if drift == "dwork-roth":
        return epsilon * expm1_or_infinity(epsilon)
    if drift == "tanh":
        return epsilon * math.tanh(0.5 * epsilon)
    return 2.0 * epsilon * epsilon


# Subsampling --------------------------------------------------------------------------------------------------------
def subsampled_epsilon(*, epsilon: float, rate: float) -> float:
    """Compute the amplified ε' = ln(1 + q(e^ε − 1)) of sampling without replacement, under replace-one.

    The corresponding δ is q times that of the mechanism. The formula is F-12 in docs/catalogue.

    Args:
        epsilon: privacy parameter ε > 0 of the mechanism on the batch, in nats.
        rate: fraction q of the records that is drawn, in (0, 1].

    Returns:
        The privacy parameter ε' ≤ ε in nats, accurate to a few roundings.
    """
    largest_exponent = 700.0  # e^ε is a finite double up to ε = 709
    if epsilon <= largest_exponent:
        return math.log1p(rate * math.expm1(epsilon))
    return epsilon + math.log(rate + (1.0 - rate) * math.exp(-epsilon))


# The theorems -------------------------------------------------------------------------------------------------------
EPSILONS = Quantity(symbol="ε_r", unit="nat", description="ε of each mechanism, in any order")
DELTAS = Quantity(symbol="δ_r", description="δ of each mechanism, in the same order; 0 for a pure one")
SLACK_DELTA = Quantity(symbol="δ'", gt=0, lt=1, description="failure probability spent by composition itself")


@request
class CompositionInputs:
    """Mechanisms that are run one after another; the whole list is run `times` times."""

    epsilons: Annotated[tuple[Epsilon, ...], EPSILONS]
    deltas: Annotated[tuple[float, ...], DELTAS]
    slack_delta: Annotated[float, SLACK_DELTA]
    times: Times = 1

    def check(self) -> None:
        """Check that there are as many δ as ε, at least one of each, with ε in (0, 1e9] and δ in [0, 1).

        Raises:
            InvalidInput: the lists are empty or of different lengths, or an entry is out of range.
        """
        if not self.epsilons or len(self.epsilons) != len(self.deltas):
            raise InvalidInput.at("/deltas", "must have as many entries as epsilons, at least one")
        if not all(0.0 < epsilon <= 1e9 for epsilon in self.epsilons):
            raise InvalidInput.at("/epsilons", "an entry is out of range", allowed="> 0 and ≤ 1e+09")
        if not all(0.0 <= delta < 1.0 for delta in self.deltas):
            raise InvalidInput.at("/deltas", "an entry is out of range", allowed="≥ 0 and < 1")


def compose(inputs: CompositionInputs, drift: Drift) -> Outputs:
    """Compute the (ε, δ) of advanced composition and the ε of basic composition, all rounded up.

    Args:
        inputs: the ε and δ of each mechanism, the free parameter δ' > 0 of advanced composition, and the number of runs
            of the whole list.
        drift: name of the bound on the mean privacy losses; see `advanced_composition`.

    Returns:
        `epsilon` and δ of advanced composition, δ with its decimal logarithm, and `basic_epsilon`, the sum of all ε.
    """
    log_deltas = [math.log(delta) if delta > 0.0 else -math.inf for delta in inputs.deltas]
    total = advanced_composition(
        epsilons=inputs.epsilons,
        log_deltas=log_deltas,
        log_slack=math.log(inputs.slack_delta),
        drift=drift,
        times=inputs.times,
    )
    basic_epsilon = product_up(inputs.times, sum_up(inputs.epsilons))
    return {"epsilon": total.epsilon, **delta_outputs(total.log_delta), "basic_epsilon": basic_epsilon}


@request
class SubsampledInputs:
    """An (ε, δ) mechanism run on a batch drawn without replacement."""

    epsilon: Epsilon
    delta: Delta
    rate: Rate


def amplify(inputs: SubsampledInputs, reading: Reading = "printed") -> Outputs:
    """Compute the (ε, δ) of a mechanism on a batch drawn without replacement, rounded up.

    A record influences the output only if it is in the batch. Sampling therefore strengthens the guarantee.

    Args:
        inputs: ε and δ of the mechanism on the batch, and the fraction q of the records that are in a batch.
        reading: "printed" for (2qε, δ), which is proved for ε ≤ 1. "corrected" for (ln(1 + q(e^ε − 1)), qδ), which is
            proved for every ε.

    Returns:
        `epsilon` in nats, and δ with its decimal logarithm.
    """
    # Results are raised by a bound on their rounding error, in units of roundoff.
    log_delta = math.log(inputs.delta)
    if reading == "printed":
        printed_epsilon = product_up(2.0, inputs.rate, inputs.epsilon)
        printed_log_delta = min(raise_log_by_units(log_delta, 4.0), 0.0)
        return {"epsilon": printed_epsilon, **delta_outputs(printed_log_delta)}
    epsilon = raise_by_units(subsampled_epsilon(epsilon=inputs.epsilon, rate=inputs.rate), 8.0)
    sampled_log_delta = min(raise_log_by_units(log_delta + math.log(inputs.rate), 8.0), 0.0)
    return {"epsilon": epsilon, **delta_outputs(sampled_log_delta)}


def _compare_largest_epsilon(inputs: CompositionInputs) -> Sides:
    """Compare e^ε_r − 1 with 2 ε_r for the largest ε_r."""
    largest = max(inputs.epsilons)
    return Sides.at_most(expm1_or_infinity(largest), 2.0 * largest)


_ADAPTIVE = Condition("fixed-parameters", "every mechanism's (ε_r, δ_r) is fixed before the first is run")
DELTA_BELOW_ONE = delta_below_one()

DWORK_ROTH_COMPOSITION = Theorem(
    id="dwork-roth-2014.3.20",
    title="Advanced composition",
    statement=(
        "Mechanisms that are (ε_r, δ_r)-private compose to (ε, δ) with ε = √(2 Σε_r² ln(1/δ')) + Σ ε_r(e^ε_r − 1). "
        "Here δ = δ' + Σδ_r, for any slack δ' above 0"
    ),
    source=Source("dwork2014algorithmic", "Theorem 3.20, with differing ε_r"),
    status=Status.PROVED,
    conditions=(_ADAPTIVE, DELTA_BELOW_ONE),
    inputs=CompositionInputs,
    formula=lambda inputs: compose(inputs, "dwork-roth"),
    examples=({"epsilons": [0.01], "deltas": [1e-9], "slack_delta": 1e-6, "times": 1000},),
)
KAIROUZ_COMPOSITION = Theorem(
    id="kairouz-oh-viswanath-2015.3.5",
    title="Advanced composition with the exact mean loss of randomized response",
    statement=(
        "Mechanisms that are (ε_r, δ_r)-private compose to (ε, δ) with ε = √(2 Σε_r² ln(1/δ')) + Σ ε_r tanh(ε_r/2). "
        "Here δ = δ' + Σδ_r, for any slack δ' above 0"
    ),
    source=Source("kairouz2015composition", "Theorem 3.5"),
    status=Status.PROVED,
    conditions=(_ADAPTIVE, DELTA_BELOW_ONE),
    inputs=CompositionInputs,
    formula=lambda inputs: compose(inputs, "tanh"),
    examples=({"epsilons": [0.5, 0.25, 1.0], "deltas": [1e-8, 0.0, 1e-7], "slack_delta": 1e-6},),
)
COROLLARY_F1 = Theorem(
    id="lowy.corollary-f.1",
    title="Advanced composition as the paper uses it for shuffled rounds",
    statement=(
        "Rounds that are (ε_r, δ_r)-private, with e^ε_r − 1 ≤ 2 ε_r for every r, compose to (ε, δ) with ε = √(2 Σε_r² "
        "ln(1/δ')) + 2 Σε_r². Here δ = δ' + Σδ_r, for any slack δ' above 0"
    ),
    source=Source("lowy2023", "Corollary F.1"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "round-epsilon",
            "the largest ε_r of a mechanism satisfies e^ε_r − 1 ≤ 2 ε_r (ε_r ≤ 1.2564)",
            _compare_largest_epsilon,
        ),
        _ADAPTIVE,
        DELTA_BELOW_ONE,
    ),
    inputs=CompositionInputs,
    formula=lambda inputs: compose(inputs, "corollary-f.1"),
    examples=({"epsilons": [1.0], "deltas": [0.0], "slack_delta": 1e-6, "times": 4},),
)
SUBSAMPLING = Theorem(
    id="ullman-2017.amplification",
    title="Amplification of an (ε, δ) pair by sampling without replacement",
    statement=(
        "A mechanism that is (ε, δ)-private on a batch of K = qn of n records is (2qε, δ)-private for each of the n "
        "records, if ε ≤ 1. The exact guarantee is (ln(1 + q(e^ε − 1)), qδ)"
    ),
    source=Source(
        "ullman2017", "lecture notes, as quoted in the proof of Theorem 2.1; exact form: BBG 2018, Theorem 9"
    ),
    status=Status.PROVED,
    conditions=(
        EPSILON_AT_MOST_ONE,
        Condition(
            "fresh-uniform-batch",
            "the batch is a fresh uniform set of distinct records, and neighbours differ in one replaced record",
        ),
    ),
    inputs=SubsampledInputs,
    formula=amplify,
    examples=({"epsilon": 1.0, "delta": 1e-6, "rate": 0.01},),
)

THEOREMS: tuple[Theorem, ...] = (DWORK_ROTH_COMPOSITION, KAIROUZ_COMPOSITION, COROLLARY_F1, SUBSAMPLING)

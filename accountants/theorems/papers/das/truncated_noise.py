"""Theorem 1 of Das et al., which is false for every d ≥ 3, and Remark 2, as printed and as corrected.

The proof counts an output as impossible for the neighbour only if *every* coordinate leaves the common support. *One*
coordinate is enough.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, NamedTuple

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.kinds.truncated_discrete_laplace import Shift, largest_shift
from epsilond.accountants.numerics.truncated_laplace import digits_for, log_escape, log_survival, normaliser
from epsilond.accountants.quantities import (
    L1_SENSITIVITY,
    LINF_SENSITIVITY,
    Dimension,
    Epsilon,
    delta_outputs,
    request,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem

_TESTS = "tests/theorems/papers/das/test_truncated_noise.py"
_LOG_10 = math.log(10.0)


@request
class PrintedInputs:
    """ε, and the sensitivities of the integers, in grid steps."""

    epsilon: Epsilon
    dimension: Dimension
    l1_sensitivity: Annotated[float, L1_SENSITIVITY]
    linf_sensitivity: Annotated[float, LINF_SENSITIVITY]

    @property
    def decay_rate(self) -> float:
        """The printed decay α = ε/Δ₁."""
        return self.epsilon / self.l1_sensitivity

    @property
    def worst_shift(self) -> Shift:
        """Worst integer shift within both sensitivities."""
        return largest_shift(
            dimension=self.dimension, l1=math.floor(self.l1_sensitivity), linf=math.floor(self.linf_sensitivity)
        )


def printed_levels(inputs: PrintedInputs) -> int | None:
    """Compute the noise levels m = ⌈−(Δ₁/ε) log(1 − (e^(ε/Δ₁) − 1) Δ∞)⌉ of Theorem 1, with 80 or more digits.

    Returns:
        m, or None if the argument of the logarithm is not positive.
    """
    with decimal.localcontext(decimal.Context(prec=80)) as context:
        ratio, most = Decimal(inputs.epsilon) / Decimal(inputs.l1_sensitivity), Decimal(inputs.linf_sensitivity)
        if ratio >= (1 + 1 / most).ln():  # the same as `inside` ≤ 0, and here no exponential can overflow
            return None
        context.prec += 2 * max(0, -ratio.adjusted()) + max(0, -most.adjusted())  # e^x − 1 and log(1 − y) near 0
        ratio = Decimal(inputs.epsilon) / Decimal(inputs.l1_sensitivity)
        inside = 1 - (ratio.exp() - 1) * most
        if inside <= 0:
            return None
        return int((-inside.ln() / ratio).to_integral_value(rounding=decimal.ROUND_CEILING))


class Truth(NamedTuple):
    """The true δ of the printed noise, as log δ and log(1 − δ)."""

    log_delta: float
    log_one_minus_delta: float


def true_delta(inputs: PrintedInputs, levels: int, rounds: int = 1) -> Truth:
    """Compute the true δ of the printed noise at ε.

    It is the probability that an output escapes under the worst shift, because α ⌊Δ₁⌋ ≤ ε. Over several rounds this
    probability is a lower bound on δ at every ε.

    Args:
        inputs: ε and the sensitivities.
        levels: largest absolute value m of the noise.
        rounds: number of rounds.
    """
    rate = inputs.decay_rate
    parts = [(size, count * rounds) for size, count in inputs.worst_shift.parts]
    with digits_for(rate, levels):
        return Truth(float(log_escape(rate, levels, parts).upper), float(log_survival(rate, levels, parts)))


def theorem_1(inputs: PrintedInputs) -> Outputs:
    """Compute the decay rate α, the levels m and δ that Theorem 1 prints, and the true δ of this noise.

    Raises:
        InvalidInput: the printed m is not defined, because (e^(ε/Δ₁) − 1) Δ∞ ≥ 1.
    """
    levels = printed_levels(inputs)
    if levels is None:
        most = inputs.l1_sensitivity * math.log1p(1.0 / inputs.linf_sensitivity)
        raise InvalidInput.at("/epsilon", "the printed number of levels is not defined", allowed=f"< {most:g}")
    ratio = inputs.linf_sensitivity / float(normaliser(inputs.decay_rate, levels))
    truth = true_delta(inputs, levels)
    shift = inputs.worst_shift
    return {
        "decay_rate": inputs.decay_rate,
        "noise_levels": levels,
        "noise_levels_below": math.ceil(Fraction(5, 2) * Fraction(inputs.linf_sensitivity)),
        **delta_outputs(-inputs.dimension * math.log(2.0), "claimed_delta"),
        **delta_outputs(inputs.dimension * math.log(ratio), "claimed_finer_delta"),
        **delta_outputs(truth.log_delta),
        "log10_one_minus_delta": truth.log_one_minus_delta / _LOG_10,
        "shifted_coordinates": shift.coordinates,
        "shift": shift.size,
        "remainder": shift.remainder,
    }


LEVELS_DEFINED = Condition(
    "levels-defined",
    "(e^(ε/Δ₁) − 1) Δ∞ < 1. Otherwise the formula for m takes the logarithm of a number that is not positive",
    lambda inputs: Sides.below(_expm1(inputs.decay_rate) * inputs.linf_sensitivity, 1.0),
)
EPSILON_RANGE = Condition(
    "epsilon-range",
    "ε < Δ₁/(e Δ∞)",
    lambda inputs: Sides.below(inputs.epsilon, inputs.l1_sensitivity / (math.e * inputs.linf_sensitivity)),
)
LINF_AT_MOST_L1 = Condition(
    "linf-at-most-l1",
    "Δ∞ ≤ Δ₁",
    lambda inputs: Sides.at_most(inputs.linf_sensitivity, inputs.l1_sensitivity),
)
L1_AT_MOST_D_LINF = Condition(
    "l1-at-most-d-linf",
    "Δ₁ ≤ d Δ∞",
    lambda inputs: Sides.at_most(inputs.l1_sensitivity, inputs.dimension * inputs.linf_sensitivity),
)


def _expm1(x: float) -> float:
    """Compute e^x − 1; infinite on overflow."""
    return math.expm1(x) if x < 709.0 else math.inf


THEOREM_1 = Theorem(
    id="das.1",
    title="Privacy of the truncated discrete Laplace mechanism, as printed: false",
    statement=(
        "With α = ε/Δ₁ and m = ⌈−(Δ₁/ε) log(1 − (e^(ε/Δ₁) − 1) Δ∞)⌉ the mechanism is (ε, 2^−d)-differentially "
        "private. This is FALSE for every d ≥ 3 (and for d = 2 except for Δ₁ = Δ∞ ≤ 3). At these m and α the "
        "true δ is about 1 − 2^−q with q = ⌊Δ₁/Δ∞⌋. It is close to 1 where 2^−d is close to 0. An output "
        "betrays its data as soon as one coordinate leaves the common support. The proof counts only outputs "
        "that leave it in every coordinate. Two coordinates show it. With d = 2, m = 1 and the shift (1, 0), 3 "
        "of 9 outputs are impossible for the neighbour. The proof counts Δ∞^d = 1. Use "
        "epsilond.truncated-discrete-laplace, or the calibrator qtdl"
    ),
    source=Source("das2021", "Theorem 1"),
    status=Status.REFUTED,
    conditions=(EPSILON_RANGE, LINF_AT_MOST_L1, L1_AT_MOST_D_LINF, LEVELS_DEFINED),
    errata=(
        Erratum(
            "D-1",
            grade=Grade.PROVED_WRONG,
            printed="|S₂ ∖ S₁| ≤ Δ∞^d, hence δ ≤ (Δ∞/Z)^d ≤ 2^−d",
            truth=(
                "|S₂ ∖ S₁| = (2m+1)^d − Π (2m+1−|k_i|): at d = 2, m = 1, k = (1, 0) it is 3, not 1. From ε = αΔ₁ on "
                "δ = 1 − Π (1 − esc k_i), which at the printed m is at least 0.14 for a single coordinate"
            ),
            test=f"{_TESTS}::test_two_coordinates_refute_the_count",
        ),
        Erratum(
            "D-4",
            grade=Grade.PROVED_WRONG,
            printed="m < ⌈2.5 Δ∞⌉, as ⌈a⌉ < ⌈b⌉ follows from a < b",
            truth="true, by another argument: m ≤ ⌈1.5989 Δ∞⌉ for Δ∞ ≥ 1",
            test=f"{_TESTS}::test_the_printed_levels_are_below_their_bound",
        ),
        Erratum(
            "D-5",
            grade=Grade.MISPRINT,
            printed="e α Δ∞ = ε Δ∞/Δ₁",
            truth="e α Δ∞ = e ε Δ∞/Δ₁, which the condition ε < Δ₁/(e Δ∞) bounds by 1",
            test=f"{_TESTS}::test_each_condition_violated_once",
        ),
    ),
    inputs=PrintedInputs,
    formula=theorem_1,
    examples=(
        {"epsilon": 0.3, "dimension": 2, "l1_sensitivity": 16.0, "linf_sensitivity": 8.0},
        {"epsilon": 10.0, "dimension": 328810, "l1_sensitivity": 661289.885229813, "linf_sensitivity": 8.4},
    ),
)


def continuous_escape(rate: float, reach: float, shift: float) -> float:
    """Compute P(Y > A − k) for the density ∝ e^(−|y|/λ) on [−A, A].

    Args:
        rate: 1/λ of the density.
        reach: bound A on the absolute value of the noise.
        shift: k in [0, A].
    """
    return math.exp(-rate * (reach - shift)) * math.expm1(-rate * shift) / (2.0 * math.expm1(-rate * reach))


def remark_2(inputs: PrintedInputs, reading: Reading = "printed") -> Outputs:
    """Compute the continuous noise of Remark 2, with density ∝ e^(−|y|/λ) on [−A, A], or its true δ.

    The remark has the scale λ = Δ₁/ε and the reach A = Δ∞.

    Args:
        inputs: ε and the sensitivities.
        reading: `printed` gives λ, A and the claimed δ. `corrected` gives the true δ at A, and the reach at which one
            coordinate has the claimed δ.
    """
    rate, reach = inputs.decay_rate, inputs.linf_sensitivity
    claimed = -inputs.dimension * math.log(2.0)
    if reading == "printed":
        return {"scale": 1.0 / rate, "reach": reach, **delta_outputs(claimed, "claimed_delta")}
    full_shifts = min(inputs.dimension, math.floor(inputs.l1_sensitivity / reach))
    remainder = 0.0
    if full_shifts < inputs.dimension:
        remainder = inputs.l1_sensitivity - full_shifts * reach
    escape = continuous_escape(rate, reach, min(max(remainder, 0.0), reach))
    log_one_minus_delta = full_shifts * math.log(0.5) + math.log1p(-escape)
    log_delta = math.log(-math.expm1(log_one_minus_delta)) if log_one_minus_delta < 0.0 else -math.inf
    per_coordinate = inputs.epsilon * reach / inputs.l1_sensitivity
    log_odds = math.log(_expm1(per_coordinate)) - math.log(2.0) - claimed
    return {
        **delta_outputs(log_delta),
        "log10_one_minus_delta": log_one_minus_delta / _LOG_10,
        "reach_of_one_coordinate": max(log_odds, 0.0) / rate + math.log1p(math.exp(-abs(log_odds))) / rate,
    }


REMARK_2 = Theorem(
    id="das.remark-2",
    title="The continuous counterpart of Theorem 1: false",
    statement=(
        "Laplace noise of scale Δ₁/ε cut off at ±Δ∞ is (ε, 2^−d)-differentially private. FALSE for d ≥ 2: a coordinate "
        "that moves by Δ∞ leaves the support with probability exactly 1/2, so that δ ≥ 1 − 2^−q"
    ),
    source=Source("das2021", "Remark 2"),
    status=Status.REFUTED,
    conditions=(LINF_AT_MOST_L1, L1_AT_MOST_D_LINF),
    errata=(
        Erratum(
            "D-1",
            grade=Grade.PROVED_WRONG,
            printed="δ = 2^−d at A = Δ∞",
            truth="1 − 2^−q (1 − esc r). One coordinate needs A = (Δ/ε) log(1 + (e^ε − 1)/(2δ))",
            test=f"{_TESTS}::test_continuous_noise_cut_off_at_the_sensitivity",
        ),
    ),
    inputs=PrintedInputs,
    formula=remark_2,
    examples=({"epsilon": 0.3, "dimension": 2, "l1_sensitivity": 16.0, "linf_sensitivity": 8.0},),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_1, REMARK_2)

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
from epsilond.accountants.kinds.integers.truncated_discrete_laplace import Shift, largest_shift
from epsilond.accountants.numerics.truncated_laplace import digits_for, log_escape, log_survival, normaliser
from epsilond.accountants.quantities import Dimension, Epsilon, delta_outputs, request
from epsilond.accountants.quantities.mechanisms import L1_SENSITIVITY, LINF_SENSITIVITY
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem

_TESTS = "tests/theorems/papers/das/test_truncated_noise.py"
_LOG_10 = math.log(10.0)


@request
class PrintedInputs:
    """A privacy parameter ε, and the sensitivities of a vector of integers, for the noise of Theorem 1 of Das et al.

    The ℓ1 and ℓ∞ sensitivities Δ₁ and Δ∞ are in grid steps.
    """

    epsilon: Epsilon
    dimension: Dimension
    l1_sensitivity: Annotated[float, L1_SENSITIVITY]
    linf_sensitivity: Annotated[float, LINF_SENSITIVITY]

    @property
    def decay_rate(self) -> float:
        """The decay rate α = ε/Δ₁ of the noise per grid step, as the paper states it."""
        return self.epsilon / self.l1_sensitivity

    @property
    def worst_shift(self) -> Shift:
        """Difference of two neighbours' vectors, within both sensitivities, for which the noise has the largest δ."""
        return largest_shift(
            dimension=self.dimension, l1=math.floor(self.l1_sensitivity), linf=math.floor(self.linf_sensitivity)
        )


def printed_levels(inputs: PrintedInputs) -> int | None:
    """Compute the largest value m of the truncated discrete Laplace noise in Theorem 1 of Das et al.

        m = ⌈−(Δ₁/ε) log(1 − (e^(ε/Δ₁) − 1) Δ∞)⌉

    The formula is evaluated with 80 or more digits, because a rounding error could change the ceiling.

    Args:
        inputs: privacy parameter ε, and the ℓ1 and ℓ∞ sensitivities Δ₁ and Δ∞ in grid steps.

    Returns:
        The integer m; None if the argument of the logarithm is not positive, so that the theorem has no noise.
    """
    epsilon = Decimal(inputs.epsilon)
    l1_sensitivity, linf_sensitivity = Decimal(inputs.l1_sensitivity), Decimal(inputs.linf_sensitivity)
    with decimal.localcontext(decimal.Context(prec=80)) as context:
        rate = epsilon / l1_sensitivity
        # The argument of the logarithm is not positive. Tested in this form, no exponential can overflow.
        if rate >= (1 + 1 / linf_sensitivity).ln():
            return None
        # e^x − 1 and log(1 − y) lose as many digits as their arguments have zeros after the point.
        context.prec += 2 * max(0, -rate.adjusted()) + max(0, -linf_sensitivity.adjusted())
        rate = epsilon / l1_sensitivity
        argument = 1 - (rate.exp() - 1) * linf_sensitivity
        if argument <= 0:
            return None
        real_level = -argument.ln() / rate
        return int(real_level.to_integral_value(rounding=decimal.ROUND_CEILING))


class Truth(NamedTuple):
    """The true δ of the noise in Theorem 1 of Das et al., as the natural logarithms of δ and of 1 − δ.

    Both are kept, because either number may be so small that the other one rounds to 1.

    Attributes:
        log_delta: natural logarithm of δ, rounded up.
        log_one_minus_delta: natural logarithm of 1 − δ.
    """

    log_delta: float
    log_one_minus_delta: float


def true_delta(inputs: PrintedInputs, levels: int, rounds: int = 1) -> Truth:
    """Compute the true δ at ε of the truncated discrete Laplace noise that Theorem 1 of Das et al. prescribes.

    An output escapes if it is impossible on the neighbouring data, where the range of the noise is shifted. δ is the
    probability of an escape for the worst shift. The reason is that the ratio of probabilities of all other outputs is
    at most e^(αΔ₁) = e^ε, for the decay rate α and the ℓ1 sensitivity Δ₁.

    Args:
        inputs: ε and the sensitivities.
        levels: largest absolute value m of the noise.
        rounds: number of rounds. For several rounds the result is a lower bound on δ at every ε.

    Returns:
        The logarithms of δ and of 1 − δ.
    """
    rate = inputs.decay_rate
    parts = [(size, count * rounds) for size, count in inputs.worst_shift.parts]
    with digits_for(rate, levels):
        log_delta = float(log_escape(rate, levels, parts).upper)
        log_one_minus_delta = float(log_survival(rate, levels, parts))
    return Truth(log_delta, log_one_minus_delta)


def theorem_1(inputs: PrintedInputs) -> Outputs:
    """Compute the truncated discrete Laplace noise and δ that Theorem 1 of Das et al. states, and the true δ.

    Args:
        inputs: ε, the dimension d, and the ℓ1 and ℓ∞ sensitivities Δ₁ and Δ∞ in grid steps.

    Returns:
        `decay_rate`: α = ε/Δ₁, per grid step.
        `noise_levels`: the largest value m of the noise; `noise_levels_below`: the paper's bound ⌈5Δ∞/2⌉ on it.
        `claimed_delta`: 2^−d, as the theorem states.
        `claimed_finer_delta`: (Δ∞/Z)^d of the paper's proof, with the normaliser Z of a coordinate's noise.
        `delta`: the true δ, also given as `log10_one_minus_delta`, the decimal logarithm of 1 − δ.
        `shifted_coordinates`, `shift` and `remainder`: two messages attain δ if they differ by `shift` in this number
        of coordinates, and by `remainder` in one more.

    Raises:
        InvalidInput: the theorem's formula for m is not defined, because (e^(ε/Δ₁) − 1) Δ∞ ≥ 1.
    """
    levels = printed_levels(inputs)
    if levels is None:
        limit = inputs.l1_sensitivity * math.log1p(1.0 / inputs.linf_sensitivity)
        raise InvalidInput.at("/epsilon", "the printed number of levels is not defined", allowed=f"< {limit:g}")

    log_claimed_delta = -inputs.dimension * math.log(2.0)
    finer_delta_of_coordinate = inputs.linf_sensitivity / float(normaliser(inputs.decay_rate, levels))
    log_finer_delta = inputs.dimension * math.log(finer_delta_of_coordinate)

    truth = true_delta(inputs, levels)
    shift = inputs.worst_shift
    return {
        "decay_rate": inputs.decay_rate,
        "noise_levels": levels,
        "noise_levels_below": math.ceil(Fraction(5, 2) * Fraction(inputs.linf_sensitivity)),
        **delta_outputs(log_claimed_delta, "claimed_delta"),
        **delta_outputs(log_finer_delta, "claimed_finer_delta"),
        **delta_outputs(truth.log_delta),
        "log10_one_minus_delta": truth.log_one_minus_delta / _LOG_10,
        "shifted_coordinates": shift.coordinates,
        "shift": shift.size,
        "remainder": shift.remainder,
    }


LEVELS_DEFINED = Condition(
    "levels-defined",
    "the formula for m takes the logarithm of a positive number: (e^(ε/Δ₁) − 1) Δ∞ < 1 for the sensitivities Δ₁ and Δ∞",
    lambda inputs: Sides.below(_expm1(inputs.decay_rate) * inputs.linf_sensitivity, 1.0),
)
EPSILON_RANGE = Condition(
    "epsilon-range",
    "ε is below Δ₁/(e Δ∞), with the ℓ1 and ℓ∞ sensitivities Δ₁ and Δ∞",
    lambda inputs: Sides.below(inputs.epsilon, inputs.l1_sensitivity / (math.e * inputs.linf_sensitivity)),
)
LINF_AT_MOST_L1 = Condition(
    "linf-at-most-l1",
    "the ℓ∞ sensitivity is at most the ℓ1 sensitivity (Δ∞ ≤ Δ₁)",
    lambda inputs: Sides.at_most(inputs.linf_sensitivity, inputs.l1_sensitivity),
)
L1_AT_MOST_D_LINF = Condition(
    "l1-at-most-d-linf",
    "in d dimensions the ℓ1 sensitivity is at most d times the ℓ∞ sensitivity (Δ₁ ≤ d Δ∞)",
    lambda inputs: Sides.at_most(inputs.l1_sensitivity, inputs.dimension * inputs.linf_sensitivity),
)


def _expm1(exponent: float) -> float:
    """Compute e^x − 1; infinity for x of 709 or more, because e^x overflows from x = 709.8 on."""
    if exponent >= 709.0:
        return math.inf
    return math.expm1(exponent)


THEOREM_1 = Theorem(
    id="das.1",
    title="Privacy of the truncated discrete Laplace mechanism, as printed: false",
    statement=(
        "Theorem 1 has the decay rate α = ε/Δ₁ and m = ⌈−(Δ₁/ε) log(1 − (e^(ε/Δ₁) − 1) Δ∞)⌉ noise levels, for "
        "the ℓ1 and ℓ∞ sensitivities Δ₁ and Δ∞. It states that the mechanism is (ε, 2^−d)-differentially "
        "private in d dimensions. This is FALSE for every d ≥ 3 (and for d = 2 except for Δ₁ = Δ∞ ≤ 3). At "
        "these m and α the true δ is about 1 − 2^−q with q = ⌊Δ₁/Δ∞⌋. It is close to 1 where 2^−d is close to "
        "0. An output betrays its data as soon as one coordinate leaves the common support. The proof counts "
        "only outputs that leave it in every coordinate. Two coordinates show it. With d = 2, m = 1 and the "
        "shift (1, 0), 3 of 9 outputs are impossible for the neighbour. The proof counts Δ∞^d = 1. Use "
        "epsilond.truncated-discrete-laplace, or the calibrator qtdl."
    ),
    source=Source("das2021", "Theorem 1"),
    status=Status.REFUTED,
    conditions=(EPSILON_RANGE, LINF_AT_MOST_L1, L1_AT_MOST_D_LINF, LEVELS_DEFINED),
    errata=(
        Erratum(
            "D-1",
            grade=Grade.PROVED_WRONG,
            place="Appendix B (proof of Theorem 1), before (12)",
            printed=(
                "S₁ and S₂ are the possible outputs for two neighbours, whose rounded updates differ by "
                "at most Δ∞ levels in each of d coordinates. The paper states that S₂ ∖ S₁ has at most "
                "Δ∞^d elements. It concludes δ ≤ (Δ∞/Z)^d ≤ 2^−d, with the normaliser Z of a coordinate's "
                "noise."
            ),
            truth=(
                "The set S₂ ∖ S₁ has (2m+1)^d − Π (2m+1−|k_i|) elements, for noise of levels −m to m and "
                "differences k_i. At d = 2, m = 1, k = (1, 0) these are 3, not 1. For ε ≥ αΔ₁, with the "
                "decay rate α and the ℓ1 sensitivity Δ₁, the true δ is 1 − Π (1 − esc k_i). Here esc k is "
                "the probability that a coordinate shifted by k leaves the common support. At the printed "
                "m the true δ is at least 0.14 for a single coordinate."
            ),
            charitable=("For d = 1 the count is right. For d ≥ 3 no reading that we know makes the statement hold."),
            test=f"{_TESTS}::test_two_coordinates_refute_the_count",
        ),
        Erratum(
            "D-4",
            grade=Grade.MISPRINT,
            place="Appendix B (proof of Theorem 1), (19) and the bounds on m before it",
            printed=(
                "The proof infers ⌈a⌉ < ⌈b⌉ from a < b. It concludes m < ⌈2.5 Δ∞⌉ for the noise levels m "
                "and the ℓ∞ sensitivity Δ∞."
            ),
            truth=(
                "The inequality a < b gives ⌈a⌉ ≤ ⌈b⌉ only. At Δ∞ = 2 both sides of the last step of (19) "
                "are 5. The conclusion is true by another argument: m ≤ ⌈1.5989 Δ∞⌉ for Δ∞ ≥ 1."
            ),
            charitable=(
                "If each < between rounded numbers is read as ≤, the proof gives m ≤ ⌈2.5 Δ∞⌉. The "
                "printed strict bound holds as well."
            ),
            test=f"{_TESTS}::test_the_printed_levels_are_below_their_bound",
        ),
        Erratum(
            "D-5",
            grade=Grade.MISPRINT,
            place="Appendix B (proof of Theorem 1), after (16)",
            printed=(
                "The proof states e α Δ∞ = ε Δ∞/Δ₁ for the decay rate α = ε/Δ₁ and the ℓ1 and ℓ∞ "
                "sensitivities Δ₁ and Δ∞."
            ),
            truth=(
                "The correct equation is e α Δ∞ = e ε Δ∞/Δ₁. The condition ε < Δ₁/(e Δ∞) of Theorem 1 "
                "bounds this number by 1."
            ),
            charitable=(
                "If the factor e is restored on the right, the step holds and gives the condition of Theorem 1."
            ),
            test=f"{_TESTS}::test_the_factor_e_is_needed_in_the_condition_on_epsilon",
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
    """Compute the probability that noise with density ∝ e^(−|y|/λ) on [−A, A], shifted by k, leaves this interval.

    It is P(Y > A − k) for the noise Y. Outputs outside the interval reveal the shift.

    Args:
        rate: inverse 1/λ > 0 of the scale of the density.
        reach: bound A > 0 on the absolute value of the noise.
        shift: shift k in [0, A].

    Returns:
        The probability, at most 1/2.
    """
    # The integral of the density from A − k to A, in a form that keeps the digits of small shifts.
    decay_at_start = math.exp(-rate * (reach - shift))
    return decay_at_start * math.expm1(-rate * shift) / (2.0 * math.expm1(-rate * reach))


def remark_2(inputs: PrintedInputs, reading: Reading = "printed") -> Outputs:
    """Compute the continuous noise of Remark 2 of Das et al., or its true δ.

    The noise of each of d coordinates has a density ∝ e^(−|y|/λ) on [−A, A]. The scale is λ = Δ₁/ε and the truncation A
    = Δ∞, for the ℓ1 and ℓ∞ sensitivities Δ₁ and Δ∞.

    Args:
        inputs: ε and the sensitivities.
        reading: `printed` for the results of the paper, `corrected` for the true ones.

    Returns:
        For `printed`: `scale` λ, `reach` A, and `claimed_delta`, the stated δ = 2^−d.
        For `corrected`: the true `delta`, the decimal logarithm `log10_one_minus_delta` of 1 − δ, and
        `reach_of_one_coordinate`, the truncation at which a single coordinate that is shifted by Δ∞ has δ = 2^−d.
    """
    rate, reach = inputs.decay_rate, inputs.linf_sensitivity
    log_claimed_delta = -inputs.dimension * math.log(2.0)
    if reading == "printed":
        return {"scale": 1.0 / rate, "reach": reach, **delta_outputs(log_claimed_delta, "claimed_delta")}

    log_one_minus_delta = _continuous_log_survival(inputs)
    log_delta = -math.inf
    if log_one_minus_delta < 0.0:
        log_delta = math.log(-math.expm1(log_one_minus_delta))

    # One coordinate that is shifted by Δ∞ has the stated δ at the truncation ln(1 + e^x)/rate with
    # e^x = (e^(rate Δ∞) − 1)/(2δ).
    log_numerator = math.log(_expm1(inputs.epsilon * reach / inputs.l1_sensitivity))
    exponent = log_numerator - math.log(2.0) - log_claimed_delta  # x
    # ln(1 + e^x) = max(x, 0) + ln(1 + e^−|x|), which does not overflow.
    sufficient_reach = max(exponent, 0.0) / rate + math.log1p(math.exp(-abs(exponent))) / rate
    return {
        **delta_outputs(log_delta),
        "log10_one_minus_delta": log_one_minus_delta / _LOG_10,
        "reach_of_one_coordinate": sufficient_reach,
    }


def _continuous_log_survival(inputs: PrintedInputs) -> float:
    """Compute the log probability of noise outputs that are possible for both of two neighbours, in the worst case.

    The truncated Laplace noise of a coordinate is in [−A, A], where A is the ℓ∞ sensitivity. In the worst case the
    neighbours differ by A in as many coordinates as the ℓ1 sensitivity admits, and by its remainder in one more. A
    coordinate that differs by A gives an output outside the neighbour's interval if its noise is positive, with
    probability 1/2. `continuous_escape` has this probability for the remainder.

    Args:
        inputs: ε, the dimension, and the sensitivities.

    Returns:
        The natural logarithm of the probability, at most 0.
    """
    reach = inputs.linf_sensitivity
    full_shifts = min(inputs.dimension, math.floor(inputs.l1_sensitivity / reach))
    remainder = 0.0
    if full_shifts < inputs.dimension:
        remainder = inputs.l1_sensitivity - full_shifts * reach
    escape = continuous_escape(inputs.decay_rate, reach, min(max(remainder, 0.0), reach))
    return full_shifts * math.log(0.5) + math.log1p(-escape)


REMARK_2 = Theorem(
    id="das.remark-2",
    title="The continuous counterpart of Theorem 1: false",
    statement=(
        "Remark 2 states that Laplace noise of scale Δ₁/ε, cut off at ±Δ∞, is (ε, 2^−d)-differentially "
        "private in d dimensions. This is FALSE for d ≥ 2. A coordinate that moves by Δ∞ leaves the support "
        "with probability exactly 1/2. Hence δ ≥ 1 − 2^−q with q = ⌊Δ₁/Δ∞⌋."
    ),
    source=Source("das2021", "Remark 2"),
    status=Status.REFUTED,
    conditions=(LINF_AT_MOST_L1, L1_AT_MOST_D_LINF),
    errata=(
        Erratum(
            "D-1",
            grade=Grade.PROVED_WRONG,
            place="Section 4, Remark 2",
            printed=(
                "The remark states that Laplace noise of scale λ = Δ₁/ε, cut off at A = Δ∞, is (ε, "
                "2^−d)-private in d dimensions. Here Δ₁ and Δ∞ are the ℓ1 and ℓ∞ sensitivities."
            ),
            truth=(
                "The true δ is 1 − 2^−q (1 − esc r), where q = ⌊Δ₁/Δ∞⌋ coordinates move by Δ∞. The "
                "remainder r of Δ₁ leaves the common support with probability esc r. One coordinate that "
                "moves by Δ needs the cut-off A = (Δ/ε) log(1 + (e^ε − 1)/(2δ))."
            ),
            charitable="For d = 1 the remark holds. For d ≥ 2 no reading that we know makes it hold.",
            test=f"{_TESTS}::test_continuous_noise_cut_off_at_the_sensitivity",
        ),
    ),
    inputs=PrintedInputs,
    formula=remark_2,
    examples=({"epsilon": 0.3, "dimension": 2, "l1_sensitivity": 16.0, "linf_sensitivity": 8.0},),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_1, REMARK_2)

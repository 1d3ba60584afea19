"""Composition of (ε, δ) guarantees: basic composition, and optimal composition of equal guarantees.

Optimal composition is the composition of extremal pairs at the multiples of ε. The accountant composes the extremal
pairs themselves, also unequal ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import numpy as np
from scipy.special import logsumexp

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.outward import product_up, raise_log_by_units, sum_up
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_one_minus_exp
from epsilond.accountants.quantities import Epsilon, PureDelta, Quantity, delta_outputs, request
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.composition.classical import DELTA_BELOW_ONE, CompositionInputs

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

MOST_RUNS = 10**6
RUNS = Quantity(symbol="k", ge=1, le=MOST_RUNS, description="number of runs of the mechanism")
REMOVED = Quantity(symbol="i", ge=0, le=MOST_RUNS, description="by how many pairs ε is lowered: ε_i = (k − 2i) ε")


def log_binomial(responses: int, misses: FloatArray, *, epsilon: float) -> FloatArray:
    """Compute the log probability that exactly l of k binary randomized responses at ε are false, elementwise.

    The probability is:

        C(k, l) e^{(k−l)ε}/(1 + e^ε)^k.

    The saddle-point form of Loader (2000) is used. It consists of the deviances of l and k − l from their means and of
    the error of Stirling's formula, so that no large logarithms cancel.

    Args:
        responses: number k of responses.
        misses: numbers l of false responses, at most k/2.
        epsilon: ε of one response.

    Returns:
        Natural logarithms, in an array of the shape of `misses`. Their error is at most 16 units of roundoff times
        1 + |value| + |l − mean|.
    """
    largest_exponent = 700.0  # keeps e^ε finite
    mean_false = responses / (1.0 + math.exp(min(epsilon, largest_exponent)))
    mean_true = responses / (1.0 + math.exp(-epsilon))

    # The saddle-point form needs at least one false response. The value for 0 is replaced at the end.
    false_responses = np.maximum(misses, 1.0)
    true_responses = responses - false_responses

    # The errors of Stirling's formula for the three factorials of C(k, l) = k!/(l! (k − l)!).
    error_of_all = _stirling_error(np.asarray([float(responses)]))
    errors = error_of_all - _stirling_error(false_responses) - _stirling_error(true_responses)

    false_deviance = _deviance(false_responses, mean_false)
    true_deviance = _deviance(true_responses, mean_true)
    log_width = 0.5 * np.log(
        2.0 * math.pi * false_responses * (1.0 - false_responses / responses)
    )  # of √(2π l (1 − l/k))
    log_probability = errors - false_deviance - true_deviance - log_width

    # The probability of no false response is e^{kε}/(1 + e^ε)^k = (1 + e^−ε)^−k.
    log_none_false = -responses * math.log1p(math.exp(-epsilon))
    return np.asarray(np.where(misses == 0, log_none_false, log_probability))


def _stirling_error(numbers: FloatArray) -> FloatArray:
    """Compute the error of Stirling's formula, ln n! − ln(√(2πn) (n/e)^n) > 0, for each whole number n ≥ 1.

    For n < 16 it is read from a table. For larger n it is Stirling's series 1/(12n) − 1/(360n³) + ….
    """
    # The table without the constant ln √(2π), and with a placeholder for n = 0.
    errors_and_constant = [
        math.log(math.factorial(number)) - (number + 0.5) * math.log(number) + number for number in range(1, 16)
    ]
    table = np.asarray([0.0, *errors_and_constant]) - 0.5 * math.log(2.0 * math.pi)
    from_table = table[np.minimum(numbers, 15).astype(int)]

    # The series 1/(12n) − 1/(360n³) + … + 1/(1188n⁹), by Horner's rule in 1/n². It is evaluated at n ≥ 16 only.
    inverse_square = 1.0 / np.square(np.maximum(numbers, 16.0))
    last_terms = 1 / 1260 - inverse_square * (1 / 1680 - inverse_square / 1188)
    series = (1 / 12 - inverse_square * (1 / 360 - inverse_square * last_terms)) * np.sqrt(inverse_square)
    return np.asarray(np.where(numbers < 16, from_table, series))


def _deviance(counts: FloatArray, mean: float) -> FloatArray:
    """Compute the deviance x ln(x/m) + m − x ≥ 0 of each count x > 0 from its mean m > 0.

    Near x = m the terms cancel. For v = (x − m)/(x + m) with |v| < 0.1 it is therefore computed as:

        (x − m) v + 2x Σ_{j ≥ 1} v^(2j + 1)/(2j + 1).
    """
    # The sum Σ_{j ≥ 1} v^(2j)/(2j + 1), by Horner's rule. For |v| < 0.1, terms beyond the twelfth are below a rounding.
    relative_difference = (counts - mean) / (counts + mean)  # v
    series = np.zeros_like(relative_difference)
    for index in range(12, 0, -1):
        series = (series + 1.0 / (2 * index + 1)) * (relative_difference * relative_difference)
    by_series = (counts - mean) * relative_difference + 2.0 * counts * relative_difference * series

    with np.errstate(divide="ignore"):
        direct = counts * (np.log(counts) - math.log(mean)) + mean - counts
    return np.asarray(np.where(np.abs(relative_difference) < 0.1, by_series, direct))


ACCURACY = 1e-12
"""Relative accuracy of `optimal_log_delta`, in units of 1 + |log δ|."""


def optimal_log_delta(*, epsilon: float, log_delta: float, runs: int, index: int) -> float:
    """Compute the ln δ' at ε' = (k − 2i) ε of the optimal composition of k equal (ε, δ) mechanisms.

    With the binomial coefficients C(k, l):

        δ' = 1 − (1 − δ)^k (1 − δ_i),
        δ_i = Σ_{l < i} C(k, l) (e^{(k−l)ε} − e^{(k−2i+l)ε})/(1 + e^ε)^k.

    All terms are positive, and are added up by their logarithms. The error is at most `ACCURACY` times 1 + |value|.

    Args:
        epsilon: ε of one run.
        log_delta: ln δ of one run; −∞ for δ = 0.
        runs: number k of runs, at most 10^6.
        index: index i of a point of the optimal curve, at most k/2.

    Returns:
        The natural logarithm, at most 0.
    """
    log_delta_i = -math.inf
    if index > 0:
        misses = np.arange(index, dtype=np.float64)  # l
        # e^{(k−l)ε} − e^{(k−2i+l)ε} = e^{(k−l)ε} (1 − e^{−2(i−l)ε})
        log_factors = log_one_minus_exp(-2.0 * (index - misses) * epsilon)
        log_delta_i = float(logsumexp(log_binomial(runs, misses, epsilon=epsilon) + log_factors))
    if not math.isfinite(log_delta):
        return min(log_delta_i, 0.0)

    # The log of 1 − (1 − δ)^k. For tiny kδ it is log(kδ) up to rounding, also if δ itself is below every double.
    log_success = runs * math.log1p(-math.exp(log_delta))
    log_failure = log_delta + math.log(runs)
    if log_success < -1e-14:
        log_failure = math.log(-math.expm1(log_success))
    return min(float(np.logaddexp(log_failure, log_success + log_delta_i)), 0.0)


@request
class OptimalInputs:
    """Inputs to the optimal composition of k equal (ε, δ) mechanisms, which satisfies (ε_i, δ_i) for several i.

    ε_i is (k − 2i) ε, with i from 0 to k/2. The index i selects the ε_i for which δ_i is computed.
    """

    epsilon: Epsilon
    delta: PureDelta
    runs: Annotated[int, RUNS]
    index: Annotated[int, REMOVED] = 0

    def check(self) -> None:
        """Check that 2i ≤ k, for the index i and k runs, so that ε_i = (k − 2i) ε is not negative."""
        if 2 * self.index > self.runs:
            raise InvalidInput.at("/index", "lowers ε below zero", allowed=f"≤ {self.runs // 2}")


def optimal(inputs: OptimalInputs) -> Outputs:
    """Compute one guarantee (ε', δ') of the optimal composition of k equal (ε, δ)-private mechanisms, both rounded up.

    There is one guarantee for each index i ≤ k/2, with ε' = (k − 2i) ε and the least possible δ'.

    Args:
        inputs: ε and δ of one mechanism, the number k of runs, and the index i.

    Returns:
        `epsilon`, and δ' with its decimal logarithm.
    """
    run_log_delta = math.log(inputs.delta) if inputs.delta > 0 else -math.inf
    log_delta = optimal_log_delta(epsilon=inputs.epsilon, log_delta=run_log_delta, runs=inputs.runs, index=inputs.index)
    error_in_units = ACCURACY / UNIT_ROUNDOFF
    upper_log_delta = min(raise_log_by_units(log_delta, error_in_units), 0.0)
    upper_epsilon = product_up(inputs.runs - 2 * inputs.index, inputs.epsilon)
    return {"epsilon": upper_epsilon, **delta_outputs(upper_log_delta)}


def basic(inputs: CompositionInputs) -> Outputs:
    """Compute the guarantee (Σ ε_r, Σ δ_r) of basic composition over all mechanisms r and all runs, both rounded up.

    Args:
        inputs: ε_r and δ_r of each mechanism, and the number of runs of the whole list. The slack δ is not used.

    Returns:
        `epsilon` in nats, and δ with its decimal logarithm.
    """
    total_epsilon = product_up(inputs.times, sum_up(inputs.epsilons))
    total_delta = product_up(inputs.times, sum_up(inputs.deltas))
    log_delta = -math.inf
    if total_delta > 0:
        log_delta = raise_log_by_units(math.log(total_delta), 4.0)  # rounded up by four units of roundoff
    return {"epsilon": total_epsilon, **delta_outputs(log_delta)}


_FIXED = Condition("fixed-parameters", "every mechanism's (ε, δ) is fixed before the first is run")
BASIC = Theorem(
    id="dwork-roth-2014.3.16",
    title="Basic composition",
    statement="Mechanisms that are (ε_r, δ_r)-private compose to (ε, δ) with ε = Σ ε_r and δ = Σ δ_r",
    source=Source("dwork2014algorithmic", "Theorem 3.16"),
    status=Status.PROVED,
    conditions=(_FIXED, DELTA_BELOW_ONE),
    inputs=CompositionInputs,
    formula=basic,
    examples=({"epsilons": [1.0, 2.0], "deltas": [0.1, 0.2], "slack_delta": 1e-9},),
)
OPTIMAL = Theorem(
    id="kairouz-oh-viswanath-2015.3.3",
    title="Optimal composition of equal (ε, δ) mechanisms",
    statement=(
        "The composition of k mechanisms that are (ε, δ) is ((k − 2i) ε, 1 − (1 − δ)^k (1 − δ_i)) for every i "
        "≤ k/2. Here δ_i = Σ_{l < i} C(k, l) (e^{(k−l)ε} − e^{(k−2i+l)ε})/(1 + e^ε)^k. Some mechanisms attain "
        "it"
    ),
    source=Source("kairouz2015composition", "Theorem 3.3"),
    status=Status.PROVED,
    conditions=(_FIXED,),
    inputs=OptimalInputs,
    formula=optimal,
    examples=({"epsilon": 0.1, "delta": 1e-9, "runs": 100, "index": 40},),
)

THEOREMS: tuple[Theorem, ...] = (BASIC, OPTIMAL)

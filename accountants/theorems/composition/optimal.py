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


def log_binomial(k: int, misses: FloatArray, *, epsilon: float) -> FloatArray:
    """Compute the log probability that exactly l of k randomized responses at ε are false, elementwise.

    The probability is C(k, l) e^{(k−l)ε}/(1 + e^ε)^k. The saddle-point form of Loader (2000) uses the deviance of l
    from its mean and the error of Stirling's formula, so that no large logarithms cancel. Accuracy: 16 units of
    roundoff times 1 + |value| + |l − mean|.

    Args:
        k: number of responses.
        misses: numbers l of false responses, at most k/2.
        epsilon: ε of one response.
    """
    mean_false = k / (1.0 + math.exp(min(epsilon, 700.0)))  # the minimum keeps e^ε finite
    mean_true = k / (1.0 + math.exp(-epsilon))
    positive = np.maximum(misses, 1.0)  # the saddle-point form needs at least one false response
    log_probability = (
        _stirling_error(np.asarray([float(k)]))
        - _stirling_error(positive)
        - _stirling_error(k - positive)
        - _deviance(positive, mean_false)
        - _deviance(k - positive, mean_true)
        - 0.5 * np.log(2.0 * math.pi * positive * (1.0 - positive / k))
    )
    log_none_false = -k * math.log1p(math.exp(-epsilon))
    return np.asarray(np.where(misses == 0, log_none_false, log_probability))


def _stirling_error(n: FloatArray) -> FloatArray:
    """Compute the error of Stirling's formula, ln n! − ln(√(2πn) (n/e)^n), elementwise.

    For n < 16 it is read from a table. For larger n Stirling's series 1/(12n) − 1/(360n³) + … is used.

    Args:
        n: array of whole numbers n ≥ 1.

    Returns:
        An array of the shape of `n`, with positive entries.
    """
    errors_and_constant = [math.log(math.factorial(j)) - (j + 0.5) * math.log(j) + j for j in range(1, 16)]
    table = np.asarray([0.0, *errors_and_constant]) - 0.5 * math.log(2.0 * math.pi)
    # Below 16 the table is used, so the argument of the series is limited.
    x = 1.0 / np.square(np.maximum(n, 16.0))  # 1/n²
    series = (1 / 12 - x * (1 / 360 - x * (1 / 1260 - x * (1 / 1680 - x / 1188)))) * np.sqrt(x)
    from_table = table[np.minimum(n, 15).astype(int)]
    return np.asarray(np.where(n < 16, from_table, series))


def _deviance(x: FloatArray, mean: float) -> FloatArray:
    """Compute the deviance x ln(x/m) + m − x ≥ 0 of a count x from its mean m, elementwise.

    Near x = m the terms cancel. There the series (x − m) v + 2x Σ_{j ≥ 1} v^(2j + 1)/(2j + 1) is used, with v = (x −
    m)/(x + m).

    Args:
        x: array of counts x > 0.
        mean: mean m > 0.

    Returns:
        An array of the shape of `x`.
    """
    v = (x - mean) / (x + mean)
    series = np.zeros_like(v)  # Σ_{j ≥ 1} v^(2j)/(2j + 1), by Horner's rule
    for j in range(12, 0, -1):  # For |v| < 0.1, terms beyond the twelfth are below a rounding.
        series = (series + 1.0 / (2 * j + 1)) * (v * v)
    by_series = (x - mean) * v + 2.0 * x * v * series
    with np.errstate(divide="ignore"):
        direct = x * (np.log(x) - math.log(mean)) + mean - x
    return np.asarray(np.where(np.abs(v) < 0.1, by_series, direct))


ACCURACY = 1e-12
"""Relative accuracy of `optimal_log_delta`, in units of 1 + |log δ|."""


def optimal_log_delta(*, epsilon: float, log_delta: float, runs: int, index: int) -> float:
    """Compute ln δ of the optimal composition of k equal (ε, δ) mechanisms at (k − 2i) ε.

    It is the logarithm of 1 − (1 − δ)^k (1 − δ_i). Here δ_i = Σ_{l < i} C(k, l) (e^{(k−l)ε} − e^{(k−2i+l)ε})/(1 +
    e^ε)^k. All terms are positive, and are summed in logarithms. Accuracy: `ACCURACY` times 1 + |value|.

    Args:
        epsilon: ε of one run.
        log_delta: ln δ of one run; −∞ for δ = 0.
        runs: number k of runs, at most 10^6.
        index: index i of a point (ε_i, δ_i) of the optimal curve, at most k/2.
    """
    log_delta_i = -math.inf
    if index > 0:
        misses = np.arange(index, dtype=np.float64)  # l
        # e^{(k−l)ε} − e^{(k−2i+l)ε} = e^{(k−l)ε} (1 − e^{−2(i−l)ε})
        log_factors = log_one_minus_exp(-2.0 * (index - misses) * epsilon)
        log_delta_i = float(logsumexp(log_binomial(runs, misses, epsilon=epsilon) + log_factors))
    if not math.isfinite(log_delta):
        return min(log_delta_i, 0.0)
    log_success = runs * math.log1p(-math.exp(log_delta))  # log (1 − δ)^k
    log_failure = log_delta + math.log(runs)  # log of 1 − (1 − δ)^k, which is kδ to the last digit for tiny δ
    if log_success < -1e-14:
        log_failure = math.log(-math.expm1(log_success))
    return min(float(np.logaddexp(log_failure, log_success + log_delta_i)), 0.0)


@request
class OptimalInputs:
    """k equal (ε, δ) mechanisms, and the index i of a point (ε_i, δ_i) of the curve of optimal composition."""

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

    The optimal composition has one guarantee for each index i ≤ k/2. Its ε' is (k − 2i) ε, and its δ' the least
    possible.

    Args:
        inputs: ε and δ of one mechanism, the number k of runs, and the index i.

    Returns:
        `epsilon`, and δ' with its decimal logarithm.
    """
    run_log_delta = math.log(inputs.delta) if inputs.delta > 0 else -math.inf
    log_delta = optimal_log_delta(epsilon=inputs.epsilon, log_delta=run_log_delta, runs=inputs.runs, index=inputs.index)
    upper_log_delta = min(raise_log_by_units(log_delta, ACCURACY / UNIT_ROUNDOFF), 0.0)
    upper_epsilon = product_up(inputs.runs - 2 * inputs.index, inputs.epsilon)
    return {"epsilon": upper_epsilon, **delta_outputs(upper_log_delta)}


def basic(inputs: CompositionInputs) -> Outputs:
    """Compute the guarantee (Σ ε_r, Σ δ_r) of basic composition over all mechanisms r and all runs, both rounded up."""
    total = product_up(inputs.times, sum_up(inputs.deltas))
    log_delta = raise_log_by_units(math.log(total), 4.0) if total > 0 else -math.inf
    return {"epsilon": product_up(inputs.times, sum_up(inputs.epsilons)), **delta_outputs(log_delta)}


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

"""Bounds for an attacker: true positive rates, errors with a prior, and the smallest Gaussian above a guarantee."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.best_test import pure_gaussian_mu
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.quantities import Epsilon, PureDelta, Quantity
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem

ATTACKER_RATE = Quantity(symbol="α", gt=0, lt=1, description="false positive rate of the attacker's test")
ATTACKER_PRIOR = Quantity(symbol="π", gt=0, lt=1, description="attacker's prior probability of one of two neighbours")
DELTA_AT_ODDS = Quantity(
    symbol="δ", ge=0, le=1, description="δ at ε = log((1 − m)/m), with m the smaller one of π and 1 − π"
)


@formula(given="An (ε, δ) guarantee, and the false positive rate of an attacker's test.")
def true_positive_bound(
    *, epsilon: Epsilon, delta: PureDelta, false_positive_rate: Annotated[float, ATTACKER_RATE]
) -> Outputs:
    """Compute the largest true positive rate of a test with false positive rate α, for an (ε, δ)-private mechanism.

    The test guesses which of two neighbouring data sets was used. The definition of privacy, applied to both outcomes
    of the test, bounds the rate by:

        min(δ + e^ε α, 1 − e^−ε (1 − δ − α), 1).

    Args:
        epsilon: ε, in nats.
        delta: δ in [0, 1).
        false_positive_rate: α in (0, 1).

    Returns:
        `true_positive_rate`, rounded up, in [α, 1].
    """
    # The bound δ + e^ε α. It is above 1 from e^709 on, for every normal double α, so the exponent may be limited.
    largest_exponent = 709.0
    by_positives = delta + false_positive_rate * math.exp(min(epsilon, largest_exponent))

    # The bound 1 − e^−ε (1 − δ − α). The remainder 1 − δ − α is rounded down.
    remainder = max(1.0 - delta - false_positive_rate, 0.0) * (1.0 - 8 * UNIT_ROUNDOFF)
    lower_remainder = max(remainder - 2 * UNIT_ROUNDOFF, 0.0)
    by_negatives = 1.0 - math.exp(-epsilon) * lower_remainder

    # Rounded up: 8 units exceed the relative errors of the exponential, the product and the sum.
    upper_bound = min(by_positives, by_negatives) * (1.0 + 8 * UNIT_ROUNDOFF)
    return {"true_positive_rate": min(max(upper_bound, false_positive_rate), 1.0)}


TRUE_POSITIVE_RATE = Theorem(
    id="kairouz-oh-viswanath-2015.hypothesis-testing",
    title="The true positive rate of an attacker on an (ε, δ) mechanism",
    statement=(
        "A test of two neighbours with the false positive rate α has a true positive rate of at most δ + e^ε α, and of "
        "at most 1 − e^−ε (1 − δ − α)"
    ),
    source=Source("kairouz2015composition", "Theorem 2.1, for the test and for its complement"),
    status=Status.PROVED,
    formula=true_positive_bound,
    examples=({"epsilon": 1.0, "delta": 0.05, "false_positive_rate": 0.1},),
)


@formula(given="δ at the odds of an attacker's prior.")
def least_bayes_error(*, prior: Annotated[float, ATTACKER_PRIOR], delta: Annotated[float, DELTA_AT_ODDS]) -> Outputs:
    """Compute the least error probability of an attacker who guesses which of two neighbouring data sets was used.

    Let π be the prior probability of one of them, and m = min(π, 1 − π). The least error is m (1 − δ), with the
    mechanism's δ at ε = log((1 − m)/m).

    Args:
        prior: prior probability π of one of the two neighbouring data sets.
        delta: δ of the mechanism at this ε.

    Returns:
        This ε as `at_epsilon`, in nats, and the probability `error`.
    """
    smaller_prior = min(prior, 1.0 - prior)
    log_odds = math.log1p(-smaller_prior) - math.log(smaller_prior)
    return {"at_epsilon": max(log_odds, 0.0), "error": smaller_prior * (1.0 - delta)}


BAYES_ERROR = Theorem(
    id="epsilond.bayes-error",
    title="The least error of an attacker with a prior",
    statement=(
        "With the prior π of one of two neighbours and m = min(π, 1 − π), every test errs with probability at least "
        "m (1 − δ(log((1 − m)/m))), and the best test on the worst neighbours attains it"
    ),
    source=Source("epsilond", "docs/attackers.md, The least error"),
    status=Status.PROVED,
    formula=least_bayes_error,
    examples=({"prior": 0.2, "delta": 0.01},),
)


@formula(given="A pure guarantee.")
def gaussian_above_pure(*, epsilon: Epsilon) -> Outputs:
    """Compute the least μ for which every ε-private mechanism is μ-Gaussian differentially private.

    With the distribution function Φ of the standard normal distribution, it is μ = 2 Φ⁻¹(e^ε/(1 + e^ε)).

    Args:
        epsilon: ε, in nats.

    Returns:
        `gaussian_dp_mu`, rounded up by a relative 1e-12.
    """
    return {"gaussian_dp_mu": pure_gaussian_mu(epsilon)}


GAUSSIAN_ABOVE_PURE = Theorem(
    id="epsilond.gaussian-above-pure",
    title="The smallest Gaussian above a pure guarantee",
    statement=(
        "Every ε-differentially private mechanism is μ-Gaussian differentially private for μ = 2 Φ⁻¹(e^ε/(1 + e^ε)), "
        "and randomized response for no smaller μ"
    ),
    source=Source("epsilond", "docs/attackers.md, Above a pure guarantee"),
    status=Status.PROVED,
    formula=gaussian_above_pure,
    examples=({"epsilon": 1.0},),
)
THEOREMS: tuple[Theorem, ...] = (TRUE_POSITIVE_RATE, BAYES_ERROR, GAUSSIAN_ABOVE_PURE)

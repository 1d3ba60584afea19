"""Measures of an attacker's success, and divergences, that an account returns on request."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.attackers.bayes_error import bayes_error
from epsilond.accountants.attackers.directions import Direction, directed_delta
from epsilond.accountants.attackers.renyi import renyi_divergences
from epsilond.accountants.attackers.smallest_gaussian import smallest_gaussian
from epsilond.accountants.attackers.trade_off_curve import trade_off_curve
from epsilond.calibrators.answer import Ends, Served

if TYPE_CHECKING:
    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.json_types import JsonRecord
    from epsilond.accountants.meaning import TruePositives
    from epsilond.calibrators.accounting.query import Query


@dataclass(frozen=True, kw_only=True)
class TruePositiveRate:
    """The largest true positive rate of an attacker with a given false positive rate."""

    false_positive_rate: float
    true_positive_rate: Ends

    @classmethod
    def of(cls, rate: TruePositives) -> TruePositiveRate:
        """Return a computed true positive rate in the form of the answer."""
        return cls(false_positive_rate=rate.false_positive_rate, true_positive_rate=Ends.of(rate.true_positive_rate))


@dataclass(frozen=True, kw_only=True)
class MeaningAnswer:
    """The success of the best attacker who has to distinguish two neighbouring data sets."""

    advantage: Annotated[
        Ends,
        Served("bounds on the largest advantage of an attacker: its true positive rate minus its false positive rate"),
    ]
    true_positive_rates: tuple[TruePositiveRate, ...]


@dataclass(frozen=True, kw_only=True)
class BayesError:
    """The best attacker who guesses which of two neighbours was used. One of them has the prior probability `prior`."""

    prior: float
    error: Annotated[Ends, Served("bounds on the least probability of a wrong guess, over all attackers")]
    accuracy: Annotated[Ends, Served("bounds on the largest probability of a right guess: 1 minus the error")]


@dataclass(frozen=True, kw_only=True)
class RenyiDivergence:
    """The Rényi divergence of one order between the outputs on two neighbours, the larger one of both directions."""

    order: float
    divergence: Annotated[
        Ends,
        Served(
            "bounds on the Rényi divergence, in nats. The upper bound is unbounded if none is known, or if "
            "the divergence is infinite"
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class DeltaOfDirection:
    """Bounds on δ of one direction, and on its base-10 logarithm."""

    delta: Ends
    log10_delta: Ends


@dataclass(frozen=True, kw_only=True)
class Directions:
    """δ of each direction at one ε: the largest P(S) − e^ε Q(S) over sets S of outputs of two neighbours P and Q."""

    epsilon: float
    with_against_without: Annotated[
        DeltaOfDirection, Served("δ for the outputs P with the contribution of the protected unit and Q without it")
    ]
    without_against_with: Annotated[
        DeltaOfDirection,
        Served(
            "δ for the outputs P without the contribution of the protected unit and Q with it. For "
            "replace-one it equals the other direction"
        ),
    ]


def requested_figures(curve: Curve, query: Query) -> JsonRecord:
    """Compute measures of an attacker's success, and divergences, from a privacy curve.

    The figures are trade-off curves, Bayes errors, Rényi divergences and δ of each direction. With a trade-off curve or
    Bayes errors comes the smallest parameter μ of Gaussian differential privacy.

    Args:
        curve: the privacy curve of the mechanism.
        query: the request, with the measures to compute and the points at which they are computed.

    Returns:
        A mapping from the names of the answer's members, such as `trade_off`, to the figures.
    """
    members: JsonRecord = {}

    # The best tests and guesses. The least μ summarises the trade-off between both kinds of error.
    if query.false_positive_rates is not None:
        members["trade_off"] = tuple(map(TruePositiveRate.of, trade_off_curve(curve, query.false_positive_rates)))
    if query.priors is not None:
        members["bayes_errors"] = tuple(_bayes_error(curve, prior) for prior in query.priors)
    if members:
        members["gaussian_dp_mu"] = Ends.of(smallest_gaussian(curve))

    # Divergences.
    if query.orders is not None:
        divergences = zip(query.orders, renyi_divergences(curve, query.orders), strict=True)
        members["renyi_divergences"] = tuple(
            RenyiDivergence(order=order, divergence=Ends.of(divergence)) for order, divergence in divergences
        )
    if query.signed_epsilons is not None:
        members["directions"] = tuple(_directions(curve, epsilon) for epsilon in query.signed_epsilons)
    return members


def _bayes_error(curve: Curve, prior: float) -> BayesError:
    """Return bounds on the least error and on the largest accuracy of an attacker with a prior.

    Args:
        curve: the privacy curve of the mechanism.
        prior: prior probability of one of two neighbours, in (0, 1).

    Returns:
        Both enclosures, in the form of the answer.
    """
    error = bayes_error(curve, prior)
    # The accuracy is 1 − error; each bound is moved outward by one double, for the rounding of the subtraction.
    lower_accuracy = math.nextafter(1.0 - error.upper, 0.0)
    upper_accuracy = min(math.nextafter(1.0 - error.lower, 2.0), 1.0)
    return BayesError(prior=prior, error=Ends.of(error), accuracy=Ends(lower_accuracy, upper_accuracy))


def _directions(curve: Curve, epsilon: float) -> Directions:
    """Return bounds on δ at an ε of any sign, for each order of the two neighbours."""
    return Directions(
        epsilon=epsilon,
        with_against_without=_directed_delta(curve, epsilon, "with-against-without"),
        without_against_with=_directed_delta(curve, epsilon, "without-against-with"),
    )


def _directed_delta(curve: Curve, epsilon: float, direction: Direction) -> DeltaOfDirection:
    """Return the largest P(S) − e^ε Q(S) over sets S of outputs, for one order of the neighbours P and Q.

    Args:
        curve: the privacy curve of the mechanism.
        epsilon: ε of any sign.
        direction: which neighbour is P: the one with the contribution of the protected unit, or the one without it.

    Returns:
        Bounds on δ and on its base-10 logarithm.
    """
    bounds = directed_delta(curve, epsilon, direction)
    delta = Ends.delta(bounds.log_delta) if bounds.delta is None else Ends.of(bounds.delta)
    return DeltaOfDirection(delta=delta, log10_delta=Ends.log10(bounds.log_delta))

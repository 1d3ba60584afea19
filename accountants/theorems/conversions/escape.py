"""Two conversions of guarantees: the exact probability of an escape, and a bound that holds except for an event.

The first computes in decimals the bound that `truncated_discrete_laplace` computes in doubles. For targets such as
δ = 2^−1e6 the least number of levels depends on digits beyond the sixteenth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.enclosure import Enclosure, Interval, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.guarantee import Guarantee, Setting
from epsilond.accountants.kinds.integers.truncated_discrete_laplace import EXACT, worst_shift
from epsilond.accountants.numerics.truncated_laplace import log_escape
from epsilond.accountants.profiles.bound import Bound, BoundProfile
from epsilond.accountants.theorem import Condition, Source, Status, Theorem

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.specs import TruncatedDiscreteLaplace

ESCAPE = Theorem(
    id="epsilond.escape-probability",
    title="From ε = α‖k‖₁ on only outputs that escape count",
    statement=(
        "For R rounds of truncated discrete Laplace noise with worst shift k, δ is known exactly. At every ε ≥ "
        "Rα‖k‖₁ it is δ(ε) = 1 − Π (1 − esc k_i)^R"
    ),
    source=Source("epsilond", "docs/shifted-noise.md, Outputs that escape"),
    status=Status.PROVED,
)
FAILING = Theorem(
    id="epsilond.failing-event",
    title="A bound that holds except on an event of small probability",
    statement=(
        "Suppose that (P, Q) dominates a mechanism except on an event of probability f, which the observer may "
        "see. Then δ(ε) of the mechanism is at most f + (1 − f) δ_(P,Q)(ε)"
    ),
    source=Source("epsilond", "joint convexity of E_γ"),
    status=Status.PROVED,
)


def _round_down(value: Decimal) -> float:
    """Return the largest double that is at most a decimal number.

    The conversion rounds to the nearest double, which may be too large by one.

    Args:
        value: the decimal number, finite.

    Returns:
        The nearest double if it is at most `value`, otherwise the next smaller double.
    """
    nearest = float(value)
    if Decimal(nearest) > value:
        return math.nextafter(nearest, -math.inf)
    return nearest


def _round_up(value: Decimal) -> float:
    """Return the smallest double that is at least a decimal number.

    The conversion rounds to the nearest double, which may be too small by one.

    Args:
        value: the decimal number, finite.

    Returns:
        The nearest double if it is at least `value`, otherwise the next larger double.
    """
    nearest = float(value)
    if Decimal(nearest) < value:
        return math.nextafter(nearest, math.inf)
    return nearest


@dataclass(frozen=True)
class EscapeBound(Bound):
    """A bound on δ(ε): the probability of an escape for ε of at least a threshold, and 1 for smaller ε.

    An escape is an output of the mechanism that is impossible for the neighbouring data set.

    Attributes:
        threshold: largest finite loss, in nats, exactly.
        lower: lower bound on log P(escape).
        upper: upper bound on log P(escape).
    """

    is_convex: ClassVar[bool] = False

    threshold: Fraction
    lower: float
    upper: float

    def log_bound(self, epsilon: float) -> Interval:
        """Return lower and upper bounds on the log of the bound at ε.

        Args:
            epsilon: ε, in nats. Below the threshold the bound is 1, from there on the probability of an escape.
        """
        if Fraction(epsilon) >= self.threshold:
            return Interval(self.lower, self.upper)
        return Interval(0.0, 0.0)

    @property
    def negligible_from(self) -> float:
        """The threshold as a double, rounded up; the bound is constant from there on."""
        nearest = float(self.threshold)
        if nearest >= self.threshold:
            return nearest
        return math.nextafter(nearest, math.inf)

    def corners(self, end: float) -> FloatArray:
        """Return the ε at which a table of the bound changes: 0, and the threshold.

        Args:
            end: the threshold, in nats.
        """
        return np.unique([0.0, end])


@dataclass(frozen=True)
class EscapeProfile(BoundProfile):
    """The privacy profile of an escape bound: δ is the probability of outputs that the neighbour cannot produce.

    Attributes:
        bound: threshold in nats, and bounds on the log of the escape probability.
    """

    bound: EscapeBound

    def exact_epsilon(self, log_delta: float) -> Interval | None:
        """Return the two doubles around the threshold as bounds on ε(δ), if the target δ is not below the bound.

        Below the threshold the bound is 1, and from there on it is the probability of an escape. If this is at most the
        target, ε(δ) is the threshold itself.

        Args:
            log_delta: natural logarithm of the target δ.

        Returns:
            The bounds, in nats. None if the escape probability may be above δ, or if the threshold is 0.
        """
        threshold = self.bound.threshold
        if self.bound.upper > log_delta or threshold <= 0:
            return None
        # The conversion rounds to the nearest double, which may be below the threshold.
        double_above = float(threshold)
        if double_above < threshold:
            double_above = math.nextafter(double_above, math.inf)
        return Interval(math.nextafter(double_above, 0.0), double_above)


def escape_pair(bound: EscapeBound) -> Pair:
    """Return a pair of distributions with the bound as its δ(ε), the hockey-stick divergence, in both directions.

    Args:
        bound: threshold of ε, and the probability of an escape.
    """
    profile = EscapeProfile(bound)
    return Pair(profile, profile)


def escape_bound(spec: TruncatedDiscreteLaplace, rounds: int = 1) -> EscapeBound:
    """Compute the bound on δ of R rounds of truncated discrete Laplace noise by the probability of an escape.

    An escape is an output that is impossible for the neighbouring data set. All other outputs have a privacy loss of at
    most R α ‖k‖₁, with α the decay rate of the noise. Here k is the worst shift: the difference of the integers of two
    neighbours, within the sensitivities, for which δ is largest.

    Args:
        spec: the noise and the sensitivities of one round.
        rounds: number R of rounds with fresh noise.

    Returns:
        The threshold R α ‖k‖₁ exactly, and bounds on the log probability of an escape, rounded outward.
    """
    shift = worst_shift(spec)
    # Rounds are independent, like coordinates. So a coordinate counts once for each round.
    parts = [(size, count * rounds) for size, count in shift.parts]
    lower, upper = log_escape(spec.decay_rate, spec.noise_levels, parts)
    threshold = Fraction(spec.decay_rate) * shift.total * rounds
    return EscapeBound(threshold, _round_down(lower), _round_up(upper))


def escape_guarantee(spec: TruncatedDiscreteLaplace, setting: Setting, rounds: int = 1) -> Guarantee:
    """Return the guarantee of truncated discrete Laplace noise over R rounds, in closed form.

    An escape is an output that is impossible for the neighbour. Its probability is a lower bound on δ at every ε. It is
    exactly δ for ε of at least the largest finite loss. For smaller ε the upper bound is 1.

    Args:
        spec: the noise and the sensitivities.
        setting: the relation, the protected unit and the observer.
        rounds: number R of rounds.

    Returns:
        The guarantee, with the escape probability as an attained lower bound.
    """
    bound = escape_bound(spec, rounds)
    # The escape probability bounds δ from below at every ε, so its threshold is 0.
    attained = EscapeBound(Fraction(0), bound.lower, bound.upper)
    curve = Curve(escape_pair(bound), (escape_pair(attained),))

    shift = worst_shift(spec)
    step = EXACT.because(coordinates=shift.coordinates, shift=shift.size, remainder=shift.remainder)
    derivation = ESCAPE.because(step, rounds=rounds, log_delta=bound.upper)
    return Guarantee(setting=setting, curve=curve, derivation=derivation)


@dataclass(frozen=True)
class FailingProfile(Profile):
    """The profile f + (1 − f) δ(ε) of a mechanism that has the profile δ except on an event of probability f.

    Attributes:
        inner: the profile δ.
        log_failure: log f.
        one_sided: True, because one upper bound costs less than both bounds.
    """

    one_sided: ClassVar[bool] = True

    inner: Profile
    log_failure: float

    @property
    def _log_success(self) -> float:
        """The natural logarithm of 1 − f, the probability that the event does not happen."""
        return math.log1p(-math.exp(self.log_failure))

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of each log tail, per unit of 1 + |log tail|, which is that of the inner profile."""
        return self.inner.tail_accuracy

    @property
    def log_infinite_mass(self) -> float:
        """Log probability of an infinite privacy loss, the failure included."""
        return float(np.logaddexp(self.log_failure, self.inner.log_infinite_mass))

    def _add_failure(self, log_value: FloatArray) -> FloatArray:
        """Compute log(f + (1 − f) x) elementwise, for probabilities x.

        Args:
            log_value: log x, natural logarithms.
        """
        log_without_failure = self._log_success + log_value
        return np.asarray(np.logaddexp(self.log_failure, log_without_failure))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log(f + (1 − f) δ(ε)) at each ε, where f is the probability of an event without any privacy.

        Args:
            epsilon: array of ε, in nats.

        Returns:
            Lower and upper bounds, rounded outward by 2^−50 relative, in arrays of the shape of `epsilon`.
        """
        rounding = 2.0**-50
        inner_lower, inner_upper = self.inner.log_delta(epsilon)
        lower = Enclosure.around(self._add_failure(inner_lower), rounding).lower
        upper = Enclosure.around(self._add_failure(inner_upper), rounding).upper
        return Enclosure(lower, upper)

    def upper_log_delta(self, epsilon: float) -> float:
        """Return an upper bound on log(f + (1 − f) δ(ε)) at one ε."""
        inner_upper = np.asarray(self.inner.upper_log_delta(epsilon))
        return float(Enclosure.around(self._add_failure(inner_upper), 2.0**-50).upper)

    def closed_decides(self, epsilon: float, share: float) -> bool:
        """Return whether the closed-form bounds of the inner profile are likely to be the least at ε.

        Args:
            epsilon: ε, in nats.
            share: fraction of the least log δ by which the estimates of the other bounds must exceed it.
        """
        return self.inner.closed_decides(epsilon, share)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return log P(loss > ε) and log Q(loss > ε) of the inner profile, with an infinite loss of probability f."""
        return self._with_failure(self.inner.log_tails(epsilon))

    def attained_log_tails(self, epsilon: FloatArray) -> Tails | None:
        """Return tails of the privacy loss for lower bounds on δ, with an infinite loss of probability f.

        Args:
            epsilon: array of ε, in nats.

        Returns:
            The log probabilities of losses above ε under both distributions; None if `log_tails` also gives lower
            bounds.
        """
        tails = self.inner.attained_log_tails(epsilon)
        if tails is None:
            return None
        return self._with_failure(tails)

    def _with_failure(self, tails: Tails) -> Tails:
        """Return log tails in which the loss is infinite with probability f.

        Args:
            tails: log P(loss > ε) and log Q(loss > ε) if the event does not happen.
        """
        log_p, log_q = tails
        return Tails(self._add_failure(log_p), log_q + self._log_success)


def with_failure(guarantee: Guarantee, log_failure: float, *declared: Condition) -> Guarantee:
    """Return the guarantee of a mechanism that satisfies another guarantee except on an event of small probability.

    The profile δ(ε) becomes f + (1 − f) δ(ε), with f the probability of the event.

    Args:
        guarantee: guarantee of the mechanism if the event does not happen.
        log_failure: log of the probability of the event; −∞ returns `guarantee`.
        declared: further conditions that the caller declares.

    Returns:
        A guarantee with an upper bound only, because the event may not help an attacker.
    """
    if math.isinf(log_failure):
        return guarantee

    upper = guarantee.curve.upper
    forward = backward = FailingProfile(upper.forward, log_failure)
    if not upper.symmetric:
        backward = FailingProfile(upper.backward, log_failure)
    return Guarantee(
        setting=guarantee.setting,
        curve=Curve(Pair(forward, backward)),
        derivation=FAILING.because(guarantee.derivation, log_failure=log_failure),
        declared=(*guarantee.declared, *declared),
    )


THEOREMS: tuple[Theorem, ...] = (ESCAPE, FAILING)

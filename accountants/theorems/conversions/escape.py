"""Two steps between guarantees: outputs that escape, counted exactly, and an event under which a bound may fail.

The first repeats in decimals what `truncated_discrete_laplace` has in doubles, for targets such as 2^−1e6 whose least m
is decided beyond the sixteenth digit.
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
from epsilond.accountants.kinds.truncated_discrete_laplace import EXACT, worst_shift
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
        "Over R rounds of truncated discrete Laplace noise with worst shift k, δ(ε) = 1 − Π (1 − esc k_i)^R at every "
        "ε ≥ Rα‖k‖₁, exactly"
    ),
    source=Source("epsilond", "docs/shifted-noise.md, Outputs that escape"),
    status=Status.PROVED,
)
FAILING = Theorem(
    id="epsilond.failing-event",
    title="A bound that holds but for an event",
    statement=(
        "If, but for an event of probability f that the observer might as well see, a mechanism is dominated by "
        "(P, Q), its δ(ε) is at most f + (1 − f) δ_(P,Q)(ε)"
    ),
    source=Source("epsilond", "joint convexity of E_γ"),
    status=Status.PROVED,
)


def _rounded(value: Decimal, direction: float) -> float:
    """To the nearest double on that side."""
    near = float(value)
    beyond = Decimal(near) < value if direction > 0 else Decimal(near) > value
    return math.nextafter(near, direction) if beyond else near


@dataclass(frozen=True)
class EscapeBound(Bound):
    """1 below `threshold`, the escape probability from there on."""

    threshold: Fraction
    lower: float
    upper: float

    def log_bound(self, epsilon: float) -> Interval:
        """Enclosure of log δ."""
        return Interval(self.lower, self.upper) if Fraction(epsilon) >= self.threshold else Interval(0.0, 0.0)


@dataclass(frozen=True)
class EscapeProfile(BoundProfile):
    """The profile of an escape bound, whose ε(δ) is its threshold unless δ is below the escape probability."""

    bound: EscapeBound

    def exact_epsilon(self, log_delta: float) -> Interval | None:
        """Return the doubles around the threshold; None if the escape probability is above δ."""
        if self.bound.upper > log_delta or self.bound.threshold <= 0:
            return None
        above = float(self.bound.threshold)
        if above < self.bound.threshold:
            above = math.nextafter(above, math.inf)
        return Interval(math.nextafter(above, 0.0), above)


def escape_pair(bound: EscapeBound) -> Pair:
    """The symmetric pair of the bound."""
    profile = EscapeProfile(bound)
    return Pair(profile, profile)


def escape_bound(spec: TruncatedDiscreteLaplace, rounds: int = 1) -> EscapeBound:
    """δ of so many rounds where every common loss is below ε."""
    shift = worst_shift(spec)
    parts = [(size, count * rounds) for size, count in shift.parts]
    lower, upper = log_escape(spec.decay_rate, spec.noise_levels, parts)
    threshold = Fraction(spec.decay_rate) * shift.total * rounds
    return EscapeBound(threshold, _rounded(lower, -math.inf), _rounded(upper, math.inf))


def escape_guarantee(spec: TruncatedDiscreteLaplace, setting: Setting, rounds: int = 1) -> Guarantee:
    """Of those rounds, in closed form: exact from the threshold on, and below it no better than δ = 1.

    What escapes is lost at every ε, which is the lower end.
    """
    bound = escape_bound(spec, rounds)
    lost = EscapeBound(Fraction(0), bound.lower, bound.upper)
    shift = worst_shift(spec)
    step = EXACT.because(coordinates=shift.coordinates, shift=shift.size, remainder=shift.remainder)
    return Guarantee(
        setting=setting,
        curve=Curve(escape_pair(bound), (escape_pair(lost),)),
        derivation=ESCAPE.because(step, rounds=rounds, log_delta=bound.upper),
    )


@dataclass(frozen=True)
class FailingProfile(Profile):
    """f + (1 − f) δ(ε) of a profile."""

    one_sided: ClassVar[bool] = True

    inner: Profile
    log_failure: float

    @property
    def tail_accuracy(self) -> float:
        """That of the profile."""
        return self.inner.tail_accuracy

    @property
    def log_infinite_mass(self) -> float:
        """With the failure's mass."""
        return float(np.logaddexp(self.log_failure, self.inner.log_infinite_mass))

    def _joined(self, value: FloatArray) -> FloatArray:
        kept = math.log1p(-math.exp(self.log_failure))
        return np.asarray(np.logaddexp(self.log_failure, kept + value))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Both ends, rounded outward."""
        lower, upper = self.inner.log_delta(epsilon)
        low, high = (Enclosure.around(self._joined(end), 2.0**-50) for end in (lower, upper))
        return Enclosure(low.lower, high.upper)

    def upper_log_delta(self, epsilon: float) -> float:
        """The upper end at one ε."""
        upper = np.asarray(self.inner.upper_log_delta(epsilon))
        return float(Enclosure.around(self._joined(upper), 2.0**-50).upper)

    def closed_decides(self, epsilon: float, share: float) -> bool:
        """Return the answer of the profile."""
        return self.inner.closed_decides(epsilon, share)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Those of the profile, and f at an infinite loss."""
        log_p, log_q = self.inner.log_tails(epsilon)
        return Tails(self._joined(log_p), log_q + math.log1p(-math.exp(self.log_failure)))


def with_failure(guarantee: Guarantee, log_failure: float, *declared: Condition) -> Guarantee:
    """A guarantee that holds but for an event of probability e^`log_failure`, −∞ for none: an upper end only."""
    if math.isinf(log_failure):
        return guarantee
    upper = guarantee.curve.upper
    forward = FailingProfile(upper.forward, log_failure)
    backward = forward if upper.symmetric else FailingProfile(upper.backward, log_failure)
    return Guarantee(
        setting=guarantee.setting,
        curve=Curve(Pair(forward, backward)),
        derivation=FAILING.because(guarantee.derivation, log_failure=log_failure),
        declared=(*guarantee.declared, *declared),
    )


THEOREMS: tuple[Theorem, ...] = (ESCAPE, FAILING)

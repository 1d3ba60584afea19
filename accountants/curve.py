"""Enclosures, profiles, pairs and the hockey-stick curve.

A *profile* is ε ↦ log E_{e^ε}(P‖Q) for ε ≥ 0, with E_γ(P‖Q) = ∫ (dP − γ dQ)₊. Both orders of a pair (P, Q) determine
it: E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P). A profile also gives the two masses of {L > ε}, L = log dP/dQ, because

    Q(L > ε) = −dE_γ/dγ at γ = e^ε,   P(L > ε) = E_γ + γ Q(L > ε),

and taking them by differencing E would cost the digits that tail probabilities live on.

A *curve* is what is known of a mechanism: a pair that dominates it (the upper end) and pairs that it realises on some
neighbours (the lower end). Everything is elementwise on float64 arrays and in logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from epsilond.accountants.numerics.special import LEAST_LOG, UNIT_ROUNDOFF
from epsilond.accountants.quantity import asks_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.profiles.finite_law import FiniteLaw
    from epsilond.accountants.profiles.gaussian import Law


LARGEST_EPSILON = 1e15
"""Search range of ε(δ): a loss beyond this is answered as unbounded."""
SMALL_EPSILON = 2.0**-10
"""Where the search starts."""


class Enclosure(NamedTuple):
    """Two ends, lower ≤ truth ≤ upper, elementwise."""

    lower: FloatArray
    upper: FloatArray

    @classmethod
    def around(cls, value: FloatArray, accuracy: float) -> Enclosure:
        """The enclosure of the logarithm of a probability computed within accuracy · (1 + |value|).

        `LEAST_LOG` is known from above only.
        """
        with np.errstate(invalid="ignore"):
            slack = np.where(np.isneginf(value), 0.0, accuracy * (1.0 + np.abs(value)))
        return cls(np.where(value <= LEAST_LOG, -np.inf, value - slack), np.minimum(value + slack, 0.0))


class Interval(NamedTuple):
    """Two ends of one number."""

    lower: float
    upper: float


class Tails(NamedTuple):
    """log P(L > ε) and log Q(L > ε), each within the profile's `tail_accuracy`."""

    log_p: FloatArray
    log_q: FloatArray


class Profile(Protocol):
    """ε ↦ log E_{e^ε}(P‖Q) on ε ≥ 0, for one order of a pair."""

    @property
    def log_infinite_mass(self) -> float:
        """log P(L = ∞), an upper bound within `tail_accuracy`; −inf if there is none."""

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of each log tail, per unit of 1 + |log tail|."""

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclosure of log E_{e^ε}(P‖Q), elementwise, ε ≥ 0. −inf means exactly zero."""

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Log masses of {L > ε} under both laws, elementwise, ε ≥ 0."""


@runtime_checkable
class OneEnd(Protocol):
    """A profile whose upper end costs less than both."""

    def upper_end(self, epsilon: float) -> float:
        """The upper end of `log_delta` at one ε: the same number."""


def upper_end_of(profile: Profile, epsilon: float) -> float:
    """The upper end of a profile's log δ at one ε, by itself where that costs less."""
    if isinstance(profile, OneEnd):
        return profile.upper_end(epsilon)
    return float(profile.log_delta(np.asarray([epsilon])).upper[0])


@dataclass(frozen=True)
class Pair:
    """An ordered pair of laws (P, Q), known by its profiles in both orders.

    `forward` is E(P‖Q) and `backward` is E(Q‖P). `law` is the law of the loss, forward, where it is known exactly;
    composition then need not read the profiles; `atoms` likewise, where the loss has finitely many values.
    `gaussian_dp_mu` is set where the pair is exactly N(μ, 1) against N(0, 1), whose compositions are closed. For a
    relation that removes something (add-or-remove-one, zero-out-one) P is the law with the contribution and Q the law
    without it, in every pair of a composition; for replace-one the neighbouring relation is symmetric and a dominating
    pair has equal profiles.
    """

    forward: Profile
    backward: Profile
    gaussian_dp_mu: float | None = None
    law: Law | None = None
    atoms: FiniteLaw | None = None

    @property
    def symmetric(self) -> bool:
        """Whether both orders are one profile."""
        return self.forward is self.backward

    def orders(self) -> tuple[Profile, ...]:
        """The distinct profiles: one if symmetric."""
        return (self.forward,) if self.symmetric else (self.forward, self.backward)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """The larger of both orders: the hockey-stick divergence of the unordered pair."""
        ends = [profile.log_delta(epsilon) for profile in self.orders()]
        lower, upper = ends[0]
        for other in ends[1:]:
            lower, upper = np.maximum(lower, other.lower), np.maximum(upper, other.upper)
        return Enclosure(lower, np.minimum(upper, 0.0))

    def ends(self, epsilon: float) -> Interval:
        """`log_delta` at one ε."""
        lower, upper = self.log_delta(np.asarray([epsilon]))
        return Interval(float(lower[0]), float(upper[0]))

    def upper_end(self, epsilon: float) -> float:
        """The upper one of `ends`, without what the lower one takes."""
        return min(max(upper_end_of(profile, epsilon) for profile in self.orders()), 0.0)

    def lower_end(self, epsilon: float) -> float:
        """A lower end at one ε, without what the upper one takes; less than that of `ends` only far below a double."""
        return self.ends(epsilon).lower

    def epsilon(self, log_delta: float) -> Interval:
        """Enclosure of the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta` in both orders; math.inf where there is none."""
        upper = upper_epsilon(lambda epsilon: self.ends(epsilon).upper, log_delta)
        lower = lower_epsilon(lambda epsilon: self.ends(epsilon).lower, log_delta, guess=upper)
        return Interval(min(lower, upper), upper)

    def upper_epsilon(self, log_delta: float) -> float:
        """The upper end of `epsilon` alone."""
        return self.epsilon(log_delta).upper

    def lower_epsilon(self, log_delta: float, near: float = 0.0) -> float:
        """The lower end of `epsilon` alone, or one about as close.

        Args:
            log_delta: the target, log δ.
            near: an ε ≥ 0 at which δ has been evaluated and may be close to the target; 0 where there is none.
        """
        del near
        return self.epsilon(log_delta).lower

    def likely_meets(self, epsilon: float, log_delta: float) -> bool:
        """Whether log δ(ε) is likely to be at most `log_delta`, by a bound or an estimate that costs little.

        It proves nothing: it only decides whether a witness is looked at, which may cost a lower end some of its height
        and never its truth.
        """
        del epsilon, log_delta
        return False


class DeferredPair(Pair):
    """A pair known by its profiles alone, which are worked out when one of them is first asked for.

    For instances that are dear: who searches by upper ends never asks for them.
    """

    _make: Callable[[], Pair]

    def __init__(self, make: Callable[[], Pair]) -> None:
        object.__setattr__(self, "_make", make)

    @cached_property
    def _made(self) -> Pair:
        return self._make()

    @property
    def forward(self) -> Profile:
        """Of the pair that is made."""
        return self._made.forward

    @property
    def backward(self) -> Profile:
        """Of the pair that is made."""
        return self._made.backward


class SweptPair(Pair):
    """A pair whose profiles cost hardly more at many ε than at one: ε(δ) is searched at many ε at once."""

    def epsilon(self, log_delta: float) -> Interval:
        """As for every pair; both ends have themselves been evaluated."""
        swept = _swept(self, log_delta)
        return swept if swept is not None else super().epsilon(log_delta)


@dataclass(frozen=True)
class Curve:
    """What is known of a mechanism's privacy: ε ↦ [lower, upper] of log δ(ε), ε ≥ 0.

    `upper` dominates every neighbouring pair of outputs. Each of `witnesses` is realised by some neighbours, and
    with none the lower end is δ = 0. `tight` compares by identity: the dominating pair is itself realised.
    """

    upper: Pair
    witnesses: tuple[Pair, ...] = ()

    @property
    def tight(self) -> bool:
        """Whether the dominating pair is realised, so that both ends differ by numerical error only."""
        return any(witness is self.upper for witness in self.witnesses)

    def log_delta(self, epsilon: float) -> Interval:
        """Enclosure of log δ at one ε ≥ 0: what is known of the mechanism."""
        least, upper = self.upper.ends(epsilon) if self.tight else (-math.inf, self.upper.upper_end(epsilon))
        for pair in self.witnesses:
            # A witness that is likely to attain no more than one before is not evaluated.
            if pair is not self.upper and not (least > -math.inf and pair.likely_meets(epsilon, least)):
                least = max(least, pair.lower_end(epsilon))
        return Interval(least, upper)

    def bound_log_delta(self, epsilon: float) -> Interval:
        """Numerical enclosure of the upper bound itself: how exactly the bound was computed."""
        return self.upper.ends(epsilon)

    def upper_log_delta(self, epsilon: float) -> float:
        """The upper end of `bound_log_delta` alone, for a search that reads no other."""
        return self.upper.upper_end(epsilon)

    def epsilon(self, log_delta: float) -> Interval:
        """Enclosure of the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`; math.inf where there is none."""
        if not self.tight:
            upper = self.upper.upper_epsilon(log_delta)
            return Interval(min(self._realised_epsilon(log_delta, 0.0), upper) if upper > 0.0 else 0.0, upper)
        bound = self.upper.epsilon(log_delta)
        lower = self._realised_epsilon(log_delta, bound.lower) if bound.upper > 0.0 else 0.0
        return Interval(min(lower, bound.upper), bound.upper)

    def _realised_epsilon(self, log_delta: float, least: float) -> float:
        """The largest lower end of the witnesses' ε(δ), `least` if none is above it.

        One that is likely to meet the target at a lower end in hand is not searched: its own would be no larger.
        """
        for pair in self.witnesses:
            if pair is not self.upper and not (least > 0.0 and pair.likely_meets(least, log_delta)):
                least = max(least, pair.lower_epsilon(log_delta))
        return least

    def bound_epsilon(self, log_delta: float) -> Interval:
        """Numerical enclosure of the bound's own ε(δ)."""
        return self.upper.epsilon(log_delta)


def upper_epsilon(upper: Callable[[float], float], log_delta: float) -> float:
    """An ε ≥ 0 whose certified upper end is at most `log_delta`, within 1e-9 of the smallest; math.inf if none.

    The search is sloppy; the ε returned has itself been evaluated and meets the target.
    """
    if upper(0.0) <= log_delta:
        return 0.0
    failing, passing = _bracket(lambda epsilon: upper(epsilon) > log_delta)
    if math.isinf(passing):
        return math.inf
    return _narrow(upper, log_delta, failing, passing)[1]


def lower_epsilon(lower: Callable[[float], float], log_delta: float, *, guess: float) -> float:
    """An ε ≥ 0 whose certified lower end is above `log_delta`, hence below the truth; 0 if δ(0) may be that small.

    `guess` is an ε at or above the answer (math.inf if unknown).
    """
    if lower(0.0) <= log_delta:
        return 0.0
    if math.isfinite(guess) and lower(guess) <= log_delta:
        near = guess * (1 - 1e-6)
        bracket = (near, guess) if lower(near) > log_delta else (0.0, near)
    else:
        bracket = _bracket(lambda epsilon: lower(epsilon) > log_delta)
    if math.isinf(bracket[1]):
        return bracket[0]
    return _narrow(lower, log_delta, *bracket)[0]


_SWEPT = np.concatenate([[0.0], SMALL_EPSILON * 3.0 ** np.arange(38.0), [LARGEST_EPSILON]])
_SHARES = np.arange(1.0, 16.0) / 16.0
_AROUND = np.concatenate([-(8.0 ** -np.arange(1.0, 16.0)), 8.0 ** -np.arange(1.0, 16.0)])
_MOST_SWEEPS = 12


def _swept(pair: Pair, log_delta: float) -> Interval | None:
    """ε(δ) by evaluations at many ε at once, evenly and around where the last ones point; None where that is too wide.

    The bracket runs from the largest ε whose lower end is above the target to the smallest whose upper end is not.
    """
    at, before = _SWEPT, (math.nan, math.nan)
    for _ in range(_MOST_SWEEPS):
        ends = pair.log_delta(at)
        above, below = np.flatnonzero(ends.lower > log_delta), np.flatnonzero(ends.upper <= log_delta)
        if below.size == at.size:
            return Interval(0.0, 0.0)
        if above.size == 0:
            return None
        low = float(at[above[-1]])
        if below.size == 0:
            return Interval(low, math.inf)
        high, width = float(at[below[0]]), float(at[below[0]]) - low
        if 0.0 < width <= 1e-10 * high:
            return Interval(low, high)
        if width <= 0.0 or (low, high) == before:
            return None
        before = low, high
        first, last = (0.5 * float(ends.lower[place] + ends.upper[place]) for place in (above[-1], below[0]))
        share = (first - log_delta) / (first - last) if -math.inf < last < first else 0.5
        inner = low + width * np.concatenate([_SHARES, share + _AROUND])
        at = np.unique(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))
    return None


def _bracket(above: Callable[[float], bool]) -> tuple[float, float]:
    """An ε above the target and one that is not (math.inf past `LARGEST_EPSILON`).

    Grown from a small ε, as a δ far below the target costs an engine more than one near it.
    """
    failing, passing = 0.0, SMALL_EPSILON
    while above(passing):
        if passing >= LARGEST_EPSILON:
            return passing, math.inf
        failing, passing = passing, min(3.0 * passing, LARGEST_EPSILON)
    return failing, passing


def _narrow(end: Callable[[float], float], log_delta: float, failing: float, passing: float) -> tuple[float, float]:
    """Illinois false position on a decreasing function, kept as a bracket with end(failing) > log_delta ≥ end(passing).

    Falls back to bisection where the function is flat, jumps or is −inf. Stops at a relative width of 1e-10.
    """
    value_failing, value_passing = end(failing) - log_delta, end(passing) - log_delta
    weight_failing = weight_passing = 1.0
    for iteration in range(200):
        if passing - failing <= 1e-10 * passing + 1e-300:
            break
        middle = 0.5 * (failing + passing)
        rise, fall = weight_failing * value_failing, weight_passing * value_passing
        if math.isfinite(rise) and math.isfinite(fall) and rise > fall and iteration % 8 != 7:
            guess = failing + (passing - failing) * rise / (rise - fall)
            margin = 2e-11 * passing
            middle = min(max(guess, failing + margin), passing - margin)
        value = end(middle) - log_delta
        if value > 0:
            failing, value_failing, weight_failing, weight_passing = middle, value, 1.0, 0.5 * weight_passing
        else:
            passing, value_passing, weight_passing, weight_failing = middle, value, 1.0, 0.5 * weight_failing
    return failing, passing


# Pairs whose δ is bounded by a rational number from some ε on, and how sampling and composition carry that on -------
#
# An (ε₀, δ₀) guarantee has δ(ε) ≤ δ₀ for ε ≥ ε₀ with both numbers as they were told. Its profile, in logarithms, is
# above log δ₀ by the roundings that are charged, so that a search on the profile alone finds no ε at δ₀ itself.
MOST_PARTS = 1000
"""Rational numbers of a composition of more parts would be too long."""


@dataclass(frozen=True)
class Plateau:
    """δ(ε) ≤ `delta` in both orders at every ε ≥ `epsilon`."""

    epsilon: float
    delta: Fraction


@dataclass(frozen=True)
class PlateauPair(Pair):
    """A pair with a plateau, at which ε(δ) needs no search; elsewhere it is searched as the pair itself is.

    Attributes:
        plateau: from where on δ is how small.
        itself: the same pair without its plateau, if that has a search of its own.
    """

    plateau: Plateau = Plateau(math.inf, Fraction(1))
    itself: Pair | None = field(default=None, compare=False)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """As of the pair itself."""
        return super().log_delta(epsilon) if self.itself is None else self.itself.log_delta(epsilon)

    def upper_end(self, epsilon: float) -> float:
        """Likewise."""
        return super().upper_end(epsilon) if self.itself is None else self.itself.upper_end(epsilon)

    def epsilon(self, log_delta: float) -> Interval:
        """Enclosure of the smallest ε ≥ 0 with δ(ε) at most what is asked; math.inf where there is none."""
        found = super().epsilon(log_delta) if self.itself is None else self.itself.epsilon(log_delta)
        most = self._most(found.upper, log_delta)
        return Interval(min(found.lower, most), most)

    def upper_epsilon(self, log_delta: float) -> float:
        """The upper end alone."""
        found = self.epsilon(log_delta).upper if self.itself is None else self.itself.upper_epsilon(log_delta)
        return self._most(found, log_delta)

    def lower_epsilon(self, log_delta: float, near: float = 0.0) -> float:
        """The lower end alone."""
        found = self.epsilon(log_delta).lower if self.itself is None else self.itself.lower_epsilon(log_delta, near)
        return self._most(found, log_delta)

    def _most(self, found: float, log_delta: float) -> float:
        """An end that was found, or the plateau's ε where that is less and δ is as small as asked there."""
        if found <= self.plateau.epsilon or not asks_for(log_delta, self.plateau.delta):
            return found
        return self.plateau.epsilon


def with_plateau(pair: Pair, plateau: Plateau | None) -> Pair:
    """The pair, with a plateau where there is one."""
    if plateau is None:
        return pair
    return PlateauPair(
        pair.forward, pair.backward, pair.gaussian_dp_mu, pair.law, pair.atoms, plateau=plateau, itself=pair
    )


def amplified_plateau(base: Pair, rate: Fraction) -> Plateau | None:
    """Of q δ(log(1 + (e^ε' − 1)/q)), and of the other order, which is nowhere larger; `rate` is at least q.

    From ε' = log(1 + q (e^ε₀ − 1)) on, rounded up, δ' is at most q δ₀.
    """
    if not isinstance(base, PlateauPair):
        return None
    epsilon, share = base.plateau.epsilon, float(rate)
    moved = math.log1p(share * math.expm1(epsilon)) if epsilon < 700.0 else epsilon
    moved += 16 * UNIT_ROUNDOFF * (1.0 + abs(moved)) if moved > 1e-3 else 16 * UNIT_ROUNDOFF * moved
    return Plateau(min(moved, epsilon), rate * base.plateau.delta)


def thinned_plateau(base: Pair, rate: Fraction) -> Plateau | None:
    """Of q δ(ε)."""
    return Plateau(base.plateau.epsilon, rate * base.plateau.delta) if isinstance(base, PlateauPair) else None


def composed_plateau(parts: Sequence[tuple[Pair, int]]) -> Plateau | None:
    """Σ ε_i, rounded up, and 1 − Π (1 − δ_i): what is left without the infinite losses has losses of at most Σ ε_i."""
    plateaus = [(pair.plateau, times) for pair, times in parts if isinstance(pair, PlateauPair)]
    if len(plateaus) < len(parts) or sum(times for _, times in plateaus) > MOST_PARTS:
        return None
    epsilon = sum((Fraction(one.epsilon) * times for one, times in plateaus), Fraction(0))
    kept = math.prod(((1 - one.delta) ** times for one, times in plateaus), start=Fraction(1))
    rounded = float(epsilon)
    return Plateau(rounded if Fraction(rounded) >= epsilon else math.nextafter(rounded, math.inf), 1 - kept)

"""Exact laws of a privacy loss, as data.

A *law* names an ordered pair (P, Q) of which the transform K(z) = log E_P[e^{zL}] of the loss L = log dP/dQ is known,
not merely bounded. A guarantee that carries laws beside its curve can be composed by the contour engine; a mechanism
without one is composed from its curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from scipy.special import erfcx, logsumexp, softmax

from epsilond.accountants.curve import LARGEST_EPSILON, Enclosure, Interval, Pair, Tails
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.crossing import Guess, closest, crossing
from epsilond.accountants.numerics.special import (
    LOG_ACCURACY,
    UNIT_ROUNDOFF,
    log_difference,
    log_normal_tail,
    log_theta,
)

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


Direction: TypeAlias = Literal["remove", "add", "replace"]

_REVERSED: dict[Direction, Direction] = {"remove": "add", "add": "remove", "replace": "replace"}


def _demand(pointer: str, holds: bool, allowed: str) -> None:
    if not holds:
        raise InvalidInput.at(pointer, "is outside its range", allowed=allowed)


@dataclass(frozen=True)
class GaussianLaw:
    """N(μ, 1) against N(0, 1), in either order: the loss is N(μ²/2, μ²) under the first law.

    Attributes:
        mu: distance of the means in standard deviations, 0 ≤ μ < ∞. The law is that of this very float.

    Raises:
        InvalidInput: μ is negative or not finite.
    """

    mu: float

    def __post_init__(self) -> None:
        _demand("/mu", 0.0 <= self.mu < math.inf, "0 ≤ μ < ∞")

    @property
    def distance(self) -> float:
        """μ."""
        return self.mu

    def reversed(self) -> GaussianLaw:
        """The pair in the other order: the same law."""
        return self


@dataclass(frozen=True)
class SampledGaussianLaw:
    """One step of the Poisson-subsampled Gaussian mechanism, in one order of one neighbouring relation.

    With N_m = N(m, 1) in units of the noise's standard deviation, q the rate and s the shift:

        "remove"    (1 − q) N_0 + q N_s  against  N_0
        "add"       N_0  against  (1 − q) N_0 + q N_s
        "replace"   (1 − q) N_0 + q N_s  against  (1 − q) N_0 + q N_{−s}

    Attributes:
        rate: probability q that the contribution is drawn, 0 ≤ q ≤ 1.
        shift: norm of one contribution over the noise's standard deviation (1/z for noise multiplier z), 0 ≤ s < ∞.
            The law is that of this very float; who divides rounds, and answers for it.
        direction: which of the three pairs.

    Raises:
        InvalidInput: a number is outside its range, or the direction is unknown.
    """

    rate: float
    shift: float
    direction: Direction

    def __post_init__(self) -> None:
        _demand("/rate", 0.0 <= self.rate <= 1.0, "0 ≤ rate ≤ 1")
        _demand("/shift", 0.0 <= self.shift < math.inf, "0 ≤ shift < ∞")
        _demand("/direction", self.direction in _REVERSED, ", ".join(_REVERSED))

    @property
    def distance(self) -> float:
        """Of the means if every contribution is drawn, in standard deviations.

        Both laws are mixtures with the same weights of laws at most as far apart, so that the pair of N(distance, 1)
        and N(0, 1) dominates (joint convexity).
        """
        return 2.0 * self.shift if self.direction == "replace" else self.shift

    def reversed(self) -> SampledGaussianLaw:
        """The pair in the other order."""
        return replace(self, direction=_REVERSED[self.direction])


Law: TypeAlias = GaussianLaw | SampledGaussianLaw


# The profiles of concrete pairs of laws: a Gaussian shift, Gaussian mixtures, and nothing at all --------------------
_TABLE = 4097
_NEWTON_STEPS = 6
_NEARLY_ONE = -20.0


@dataclass(frozen=True)
class ZeroProfile:
    """Two equal laws: δ = 0 at every ε."""

    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 0.0

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """−inf everywhere."""
        nothing = np.full(np.shape(epsilon), -np.inf)
        return Enclosure(nothing, nothing)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """−inf everywhere."""
        return Tails(*self.log_delta(epsilon))


@dataclass(frozen=True)
class GaussianProfile:
    """N(μ, 1) against N(0, 1): μ-Gaussian differential privacy, exactly. Both orders are the same function.

    Source: Balle and Wang 2018, Theorem 8.
    """

    mu: float
    log_infinite_mass: float = -math.inf

    @property
    def tail_accuracy(self) -> float:
        """A unit of roundoff in ε/μ − μ/2 moves a log tail by (1 + μ)(1 + |log tail|) units at most."""
        return LOG_ACCURACY * (1.0 + self.mu)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """log θ_ε(μ), for a μ that is itself known to four units of roundoff."""
        points = np.asarray(epsilon, dtype=np.float64)
        shifts = self.mu * np.asarray([1 - 4 * UNIT_ROUNDOFF, 1 + 4 * UNIT_ROUNDOFF])
        least, most = log_theta(points, shifts.reshape(2, *(1,) * points.ndim))
        return Enclosure(Enclosure.around(least, LOG_ACCURACY).lower, Enclosure.around(most, LOG_ACCURACY).upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Φ(μ/2 − ε/μ) and Φ(−μ/2 − ε/μ)."""
        middle = epsilon / self.mu
        return Tails(log_normal_tail(middle - 0.5 * self.mu), log_normal_tail(middle + 0.5 * self.mu))


@dataclass(frozen=True)
class GaussianPair(Pair):
    """N(μ, 1) against N(0, 1), μ > 0, whose ε(δ) is searched from where a quick formula points."""

    def epsilon(self, log_delta: float) -> Interval:
        """Enclosure of the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`; math.inf where there is none."""
        guess = self._guess(log_delta)
        if guess is None:
            return super().epsilon(log_delta)
        pad = 2.0 * LOG_ACCURACY * (1.0 + abs(log_delta)) / guess.steepness + 4 * UNIT_ROUNDOFF * guess.epsilon
        upper = closest(lambda epsilon: self.ends(epsilon).upper, log_delta, guess, pad)
        lower = closest(lambda epsilon: self.ends(epsilon).lower, log_delta, guess, -pad)
        if upper is None:
            upper = crossing(lambda epsilon: self.ends(epsilon).upper, log_delta, guess).below
        if lower is None:
            lower = crossing(lambda epsilon: self.ends(epsilon).lower, log_delta, guess).above
        return Interval(min(lower, upper), upper)

    def _guess(self, log_delta: float) -> Guess | None:
        """By plain differences of Mills' ratios, which cancel where μ is small; None where they tell nothing."""
        mu = self.gaussian_dp_mu or 0.0

        def excess(epsilon: float) -> float:
            middle, half = epsilon / mu, 0.5 * mu
            if middle - half < _NEARLY_ONE:
                return -log_delta
            bracket = scaled_tail(middle - half) - scaled_tail(middle + half)
            return -0.5 * (middle - half) ** 2 + math.log(max(bracket, 1e-320)) - log_delta

        def scaled_tail(x: float) -> float:
            return 0.5 * float(erfcx(x * math.sqrt(0.5)))

        most = mu * (0.5 * mu + math.sqrt(-2.0 * min(log_delta, -1e-300)))
        if not (most < LARGEST_EPSILON and excess(0.0) > 0.0 > excess(most)):
            return None
        from scipy.optimize import brentq  # noqa: PLC0415  a quarter of a second of imports, for a search alone

        root = float(brentq(excess, 0.0, most, rtol=1e-14))
        step = 1e-6 * root
        steepness = (excess(root - step) - excess(root)) / step if step > 0.0 else 0.0
        return Guess(root, steepness) if steepness > 0.0 and root > 1e-9 * most else None


def gaussian_pair(mu: float) -> Pair:
    """The symmetric pair of N(μ, 1) against N(0, 1)."""
    if not mu > 0:
        return Pair(ZeroProfile(), ZeroProfile(), gaussian_dp_mu=mu, law=GaussianLaw(mu))
    profile = GaussianProfile(mu)
    return GaussianPair(profile, profile, gaussian_dp_mu=mu, law=GaussianLaw(mu))


@dataclass(frozen=True)
class GaussianMixture:
    """A mixture Σ w_k N(m_k, 1) on the line, by the logarithms of its weights."""

    log_weights: tuple[float, ...]
    means: tuple[float, ...]

    def log_density_ratio(self, x: FloatArray) -> FloatArray:
        """log of the density over that of N(0, 1)."""
        means, weights = np.asarray(self.means)[:, None], np.asarray(self.log_weights)[:, None]
        return np.asarray(logsumexp(weights + means * (x - 0.5 * means), axis=0))

    def mean_given(self, x: FloatArray) -> FloatArray:
        """The mean of the component that x came from: the derivative of `log_density_ratio`."""
        means, weights = np.asarray(self.means)[:, None], np.asarray(self.log_weights)[:, None]
        shares = softmax(weights + means * (x - 0.5 * means), axis=0)
        return np.asarray((shares * means).sum(axis=0))

    def log_tail(self, x: FloatArray, *, side: int) -> FloatArray:
        """log mass above x (side = 1) or below x (side = −1)."""
        means, weights = np.asarray(self.means)[:, None], np.asarray(self.log_weights)[:, None]
        return np.asarray(logsumexp(weights + log_normal_tail(side * (x - means)), axis=0))


@dataclass(frozen=True)
class MixtureProfile:
    """Two Gaussian mixtures whose log-ratio log dP/dQ is monotone in x: rising if `side` is 1, falling if −1.

    The event {L > ε} is a half-line whose end is found numerically; as the hockey-stick divergence is a supremum
    over events, an error in that end costs second order only, and it is charged.
    """

    p: GaussianMixture
    q: GaussianMixture
    side: int
    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 256 * UNIT_ROUNDOFF

    def _loss(self, x: FloatArray) -> FloatArray:
        return self.p.log_density_ratio(x) - self.q.log_density_ratio(x)

    def _end(self, epsilon: FloatArray) -> FloatArray:
        """x with L(x) = ε; ±inf where the loss stays on one side of ε over 60 standard deviations of every mean.

        Tabulated, inverted by interpolation, and polished by Newton steps kept inside their cell of the table.
        """
        means = (*self.p.means, *self.q.means)
        table = np.linspace(min(means) - 60.0, max(means) + 60.0, _TABLE)
        losses = self.side * self._loss(table)
        wanted = self.side * np.asarray(epsilon, dtype=np.float64)
        cell = np.clip(np.searchsorted(losses, wanted), 1, _TABLE - 1)
        low, high = table[cell - 1], table[cell]
        end = np.clip(np.interp(wanted, losses, table), low, high)
        for _ in range(_NEWTON_STEPS):
            slope = self.p.mean_given(end) - self.q.mean_given(end)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = np.where(slope != 0.0, (self._loss(end) - epsilon) / slope, 0.0)
            end = np.clip(end - step, low, high)
        # The loss exceeds ε above `end` if it rises, below if it falls; off the table, nowhere or everywhere.
        end = np.where(wanted > losses[-1], np.inf, end)
        return np.where(wanted < losses[0], -np.inf, end)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Masses of the half-line {L > ε}."""
        end = self._end(np.asarray(epsilon, dtype=np.float64))
        return Tails(self.p.log_tail(end, side=self.side), self.q.log_tail(end, side=self.side))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """log(P(L > ε) − e^ε Q(L > ε)), widened by the cancellation it suffers."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        log_p, log_q = self.log_tails(epsilon)
        slack = self.tail_accuracy * (1.0 + np.abs(np.where(np.isneginf(log_p), 0.0, log_p)) + epsilon)
        with np.errstate(invalid="ignore"):
            scaled = epsilon + log_q
            lower = log_difference(log_p - slack, np.minimum(scaled + slack, log_p - slack))
            upper = log_difference(log_p + slack, np.minimum(scaled - slack, log_p + slack))
        # Beyond the searched range the half-line has less mass than one standard normal tail at 60.
        upper = np.where(np.isneginf(log_p), -1800.0, upper)
        return Enclosure(lower, np.minimum(upper, 0.0))


def mixture_pair(p: GaussianMixture, q: GaussianMixture) -> Pair:
    """The pair of two mixtures whose likelihood ratio P/Q rises with x."""
    forward = MixtureProfile(p, q, side=1)
    mirrored = GaussianMixture(p.log_weights, tuple(-mean for mean in p.means)) == q
    return Pair(forward, forward if mirrored else MixtureProfile(q, p, side=-1))

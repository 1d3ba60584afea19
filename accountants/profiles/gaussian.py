"""Profiles of concrete pairs: a Gaussian shift, Gaussian mixtures, and two equal distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import erfcx

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Enclosure, Interval, Tails
from epsilond.accountants.curve.facts import GaussianLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import EpsilonEstimate, Profile, RootSearch
from epsilond.accountants.numerics.mixed_sums import TermWindow, blocks_of, log_sums, windows
from epsilond.accountants.numerics.special import (
    LEAST_LOG,
    LOG_ACCURACY,
    UNIT_ROUNDOFF,
    log_difference,
    log_normal_tail,
    log_theta,
    theta_logs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from epsilond.accountants.numerics.special import FloatArray


_TABLE = 4097
_NEWTON_STEPS, _SETTLED = 6, 1e-10
_MOST_STEPS = 100
_NEARLY_ONE = -20.0


@dataclass(frozen=True)
class ZeroProfile(Profile):
    """Two equal distributions: δ = 0 at every ε."""

    closed_form: ClassVar[bool] = True

    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 0.0

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Return −inf everywhere."""
        nothing = np.full(np.shape(epsilon), -np.inf)
        return Enclosure(nothing, nothing)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return −inf everywhere."""
        return Tails(*self.log_delta(epsilon))


@dataclass(frozen=True)
class GaussianProfile(Profile):
    """N(μ, 1) against N(0, 1): exact μ-Gaussian differential privacy. Both directions are the same function.

    Source: Balle and Wang 2018, Theorem 8.
    """

    closed_form: ClassVar[bool] = True
    root_search: ClassVar[RootSearch] = "solve"

    mu: float
    log_infinite_mass: float = -math.inf

    @property
    def lossy(self) -> bool:
        """True if δ at ε = 0 is above 0."""
        return self.mu > 0.0

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of the log tails, per unit of 1 + |log tail|.

        A unit of roundoff in ε/μ − μ/2 changes a log tail by at most (1 + μ)(1 + |log tail|) units.
        """
        return LOG_ACCURACY * (1.0 + self.mu)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log θ_ε(μ), for a μ that is known to four units of roundoff."""
        points = np.asarray(epsilon, dtype=np.float64)
        shifts = self.mu * np.asarray([1 - 4 * UNIT_ROUNDOFF, 1 + 4 * UNIT_ROUNDOFF])
        least, most = log_theta(points, shifts.reshape(2, *(1,) * points.ndim))
        return Enclosure(Enclosure.around(least, LOG_ACCURACY).lower, Enclosure.around(most, LOG_ACCURACY).upper)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Return both bounds at one ε, without arrays."""
        return Interval(self.lower_log_delta(epsilon), self.upper_log_delta(epsilon))

    def lower_log_delta(self, epsilon: float) -> float:
        """Return the lower bound at one ε, without arrays."""
        value = theta_logs(epsilon, self.mu * (1 - 4 * UNIT_ROUNDOFF))[0]
        return -math.inf if value <= LEAST_LOG else value - LOG_ACCURACY * (1.0 + abs(value))

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the upper bound at one ε, without arrays."""
        value = theta_logs(epsilon, self.mu * (1 + 4 * UNIT_ROUNDOFF))[0]
        return value if math.isinf(value) else min(value + LOG_ACCURACY * (1.0 + abs(value)), 0.0)

    def solve(self, log_delta: float) -> EpsilonEstimate | None:
        """Solve δ(ε) = δ for ε by Newton steps that stay inside a bracket.

        R is Mills' ratio, φ the normal density, a = ε/μ − μ/2 and b = a + μ. Then δ = φ(a)(R(a) − R(b)), and its
        derivative in ε is −φ(a) R(b). The difference loses its digits if μ is small.

        Args:
            log_delta: natural logarithm of δ.

        Returns:
            The root with a bound on its error; None if no ε in (0, `LARGEST_EPSILON`) is a root, or if the difference
            has lost its digits.
        """
        mu = self.mu
        half = 0.5 * mu

        def excess(epsilon: float) -> tuple[float, float]:
            """Return log δ minus the target, and |d log δ/dε|. A δ that is nearly 1 counts as 1."""
            middle = epsilon / mu
            if middle - half < _NEARLY_ONE:
                return -log_delta, 0.0
            ratio_at_a, ratio_at_b = scaled_tail(middle - half), scaled_tail(middle + half)
            difference = max(ratio_at_a - ratio_at_b, 1e-320)
            return -0.5 * (middle - half) ** 2 + math.log(difference) - log_delta, ratio_at_b / difference

        low, high = 0.0, mu * (half + math.sqrt(-2.0 * min(log_delta, -1e-300)))
        if not (high < LARGEST_EPSILON and excess(0.0)[0] > 0.0 > excess(high)[0]):
            return None
        least, root, steepness = 1e-9 * high, high, 0.0
        for _ in range(_MOST_STEPS):
            value, steepness = excess(root)
            if value > 0.0:
                low = root
            else:
                high = root
            following = root + value / steepness if steepness > 0.0 else math.inf
            if low < following < high:
                converged = abs(following - root) <= 1e-9 * root  # the next Newton step would double these digits
                root = following
            else:
                converged = high - low <= 1e-15 * high
                root = 0.5 * (low + high)
            if converged:
                break
        if not (steepness > 0.0 and root > least):
            return None
        pad = 2.0 * LOG_ACCURACY * (1.0 + abs(log_delta)) / steepness + 4 * UNIT_ROUNDOFF * root
        return EpsilonEstimate(root, pad, steepness)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the logs of Φ(μ/2 − ε/μ) and Φ(−μ/2 − ε/μ)."""
        middle = epsilon / self.mu
        return Tails(log_normal_tail(middle - 0.5 * self.mu), log_normal_tail(middle + 0.5 * self.mu))


def scaled_tail(x: float) -> float:
    """Return (1 − Φ(x))/e^{−x²/2}."""
    return 0.5 * float(erfcx(x * math.sqrt(0.5)))


def gaussian_pair(mu: float) -> Pair:
    """Return the symmetric pair of N(μ, 1) against N(0, 1)."""
    if not mu > 0:
        return Pair(ZeroProfile(), ZeroProfile(), gaussian_dp_mu=mu, law=GaussianLaw(mu))
    profile = GaussianProfile(mu)
    return Pair(profile, profile, gaussian_dp_mu=mu, law=GaussianLaw(mu))


@dataclass(frozen=True)
class GaussianMixture:
    """A mixture Σ w_k N(m_k, 1) on the line, with the logarithms of its weights."""

    log_weights: tuple[float, ...]
    means: tuple[float, ...]

    @cached_property
    def _columns(self) -> tuple[FloatArray, FloatArray]:
        """Log weights and means as columns, one row for each component."""
        return np.asarray(self.log_weights)[:, None], np.asarray(self.means)[:, None]

    def log_density_ratio(self, x: FloatArray) -> FloatArray:
        """Return the log of the density over that of N(0, 1), at an array of points on the line."""
        weights, means = self._columns
        return log_sums(weights + means * (x - 0.5 * means))

    def log_density_ratio_and_slope(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return `log_density_ratio` and its derivative, which is the posterior mean of the component of x."""
        weights, means = self._columns
        value, slope = np.empty(x.size), np.empty(x.size)
        for points, chosen in self._windows(x, lambda at: weights + means * (at - 0.5 * means)):
            at, some = weights[chosen], means[chosen]
            terms = at + some * (x[points] - 0.5 * some)
            most = terms.max(axis=0)
            terms -= most
            shares = np.exp(terms, out=terms)
            totals = shares.sum(axis=0)
            value[points] = most + np.log(totals)
            slope[points] = some[:, 0] @ shares / totals
        return value, slope

    def log_tail(self, x: FloatArray, *, side: int) -> FloatArray:
        """Return the log mass above x (side = 1) or below x (side = −1), at an array of points on the line."""
        weights, means = self._columns
        log_masses = np.empty(x.size)
        for points, chosen in self._windows(x, lambda at: weights + log_normal_tail(side * (at - means))):
            log_masses[points] = log_sums(weights[chosen] + log_normal_tail(side * (x[points] - means[chosen])))
        return log_masses

    def _windows(self, x: FloatArray, terms: Callable[[FloatArray], FloatArray]) -> Iterable[TermWindow]:
        """Return the components that are not negligible at each block of points.

        Args:
            x: the points.
            terms: function from points to the logarithm of each component's term, which is monotone in x.
        """
        blocks = blocks_of(len(self.means), x)
        if blocks is None:
            return (TermWindow(slice(None), slice(None)),)
        return windows(blocks, (terms(blocks.least), terms(blocks.largest)))


@dataclass(frozen=True)
class MixtureProfile(Profile):
    """Two Gaussian mixtures with a monotone loss log dP/dQ: increasing in x if `side` is 1, decreasing if it is −1.

    The event {L > ε} is a half-line whose boundary is computed numerically. The hockey-stick divergence is a supremum
    over events, so an error of the boundary has only a second-order effect. This effect is charged.
    """

    p: GaussianMixture
    q: GaussianMixture
    side: int
    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 256 * UNIT_ROUNDOFF

    @cached_property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """Points x within 60 standard deviations of every mean, and the product of the loss and `side` there."""
        means = (*self.p.means, *self.q.means)
        places = np.linspace(min(means) - 60.0, max(means) + 60.0, _TABLE)
        return places, self.side * (self.p.log_density_ratio(places) - self.q.log_density_ratio(places))

    def _end(self, epsilon: FloatArray) -> FloatArray:
        """Return the x with loss L(x) = ε.

        The result is ±inf if the loss is on one side of ε within 60 standard deviations of every mean.
        The root is interpolated in a table. Newton steps that stay inside a cell of the table refine it, until the next
        step would be a rounding.
        """
        table, losses = self._table
        wanted = self.side * epsilon
        cell = np.clip(np.searchsorted(losses, wanted), 1, _TABLE - 1)
        low, high = table[cell - 1], table[cell]
        end = np.clip(np.interp(wanted, losses, table), low, high)
        for _ in range(_NEWTON_STEPS):
            log_p, slope_p = self.p.log_density_ratio_and_slope(end)
            log_q, slope_q = self.q.log_density_ratio_and_slope(end)
            slope = slope_p - slope_q
            # An infinite step stops at the end of its cell.
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                step = np.where(slope != 0.0, (log_p - log_q - epsilon) / slope, 0.0)
            moved = np.clip(end - step, low, high)
            settled = bool((np.abs(moved - end) <= _SETTLED).all())
            end = moved
            if settled:
                break
        # The loss exceeds ε above `end` if it increases, below if it decreases; nowhere or everywhere off the table.
        end = np.where(wanted > losses[-1], np.inf, end)
        return np.where(wanted < losses[0], -np.inf, end)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log masses of the half-line {L > ε}."""
        points = np.asarray(epsilon, dtype=np.float64)
        end = self._end(points.ravel())
        log_p, log_q = (mixture.log_tail(end, side=self.side).reshape(points.shape) for mixture in (self.p, self.q))
        return Tails(log_p, log_q)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log(P(L > ε) − e^ε Q(L > ε)), widened by the effect of cancellation."""
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
    """Return the pair of two mixtures with a likelihood ratio P/Q that increases with x."""
    forward = MixtureProfile(p, q, side=1)
    mirrored = GaussianMixture(p.log_weights, tuple(-mean for mean in p.means)) == q
    return Pair(forward, forward if mirrored else MixtureProfile(q, p, side=-1))

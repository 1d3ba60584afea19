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
_BISECTIONS = 100
"""Number of bisections, after which a cell is narrower than any distance of two doubles."""
_MOST_STEPS = 100
_NEARLY_ONE = -20.0


@dataclass(frozen=True)
class ZeroProfile(Profile):
    """The profile of two equal distributions: δ = 0 at every ε."""

    closed_form: ClassVar[bool] = True

    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 0.0

    @property
    def supremum(self) -> float:
        """0: no loss is positive."""
        return 0.0

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Return −inf everywhere."""
        nothing = np.full(np.shape(epsilon), -np.inf)
        return Enclosure(nothing, nothing)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return −inf everywhere."""
        return Tails(*self.log_delta(epsilon))


@dataclass(frozen=True)
class GaussianProfile(Profile):
    """The profile of N(μ, 1) against N(0, 1): exact μ-Gaussian differential privacy.

    δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ). Both directions are the same function.

    Source: Balle and Wang 2018, Theorem 8.

    Attributes:
        mu: μ > 0.
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
        """Return the lower bound on log δ at one ε, without arrays."""
        value, _ = theta_logs(epsilon, self.mu * (1 - 4 * UNIT_ROUNDOFF))
        if value <= LEAST_LOG:
            return -math.inf
        return value - LOG_ACCURACY * (1.0 + abs(value))

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the upper bound at one ε, without arrays."""
        value, _ = theta_logs(epsilon, self.mu * (1 + 4 * UNIT_ROUNDOFF))
        if math.isinf(value):
            return value
        return min(value + LOG_ACCURACY * (1.0 + abs(value)), 0.0)

    def solve(self, log_delta: float) -> EpsilonEstimate | None:
        """Solve δ(ε) = δ for N(μ, 1) against N(0, 1), by Newton steps inside (0, μ²/2 + μ √(2 log 1/δ)).

        Args:
            log_delta: natural logarithm of δ.

        Returns:
            The root with a bound on its error; None if no ε in (0, `LARGEST_EPSILON`) is a root, or if μ is so small
            that the difference of Mills' ratios in `_excess_and_steepness` loses its digits.
        """
        high = self.mu * (0.5 * self.mu + math.sqrt(-2.0 * min(log_delta, -1e-300)))
        if not high < LARGEST_EPSILON:
            return None
        excess_at_zero, _ = self._excess_and_steepness(0.0, log_delta)
        excess_at_high, _ = self._excess_and_steepness(high, log_delta)
        if not excess_at_zero > 0.0 > excess_at_high:
            return None
        root, steepness = self._newton_root(log_delta, high)
        if not (steepness > 0.0 and root > 1e-9 * high):
            return None
        pad = 2.0 * LOG_ACCURACY * (1.0 + abs(log_delta)) / steepness + 4 * UNIT_ROUNDOFF * root
        return EpsilonEstimate(root, pad, steepness)

    def _newton_root(self, log_delta: float, high: float) -> tuple[float, float]:
        """Find the root ε of log δ(ε) = log δ by Newton steps from `high`. A step out of the bracket bisects it.

        Args:
            log_delta: the target, log δ.
            high: an ε above the root; the bracket is (0, `high`) at first.

        Returns:
            The last ε, and |d log δ/dε| at the ε before it.
        """
        low, root, steepness = 0.0, high, 0.0
        for _ in range(_MOST_STEPS):
            excess, steepness = self._excess_and_steepness(root, log_delta)
            if excess > 0.0:
                low = root
            else:
                high = root
            newton = root + excess / steepness if steepness > 0.0 else math.inf
            if low < newton < high:
                has_converged = abs(newton - root) <= 1e-9 * root  # the next Newton step would double these digits
                root = newton
            else:
                has_converged = high - low <= 1e-15 * high
                root = 0.5 * (low + high)
            if has_converged:
                break
        return root, steepness

    def _excess_and_steepness(self, epsilon: float, log_delta: float) -> tuple[float, float]:
        """Return log δ(ε) of N(μ, 1) against N(0, 1) minus a target, and |d log δ/dε|.

        A δ that is nearly 1 counts as 1. With Mills' ratio R, the normal density φ, a = ε/μ − μ/2 and b = a + μ,
        δ = φ(a)(R(a) − R(b)) has the derivative −φ(a) R(b) in ε. `scaled_tail` is R/√(2π).

        Args:
            epsilon: ε, in nats.
            log_delta: the target, log δ.

        Returns:
            The difference in nats, and the steepness per nat of ε. The steepness is 0 where δ counts as 1.
        """
        middle, half_mu = epsilon / self.mu, 0.5 * self.mu
        a, b = middle - half_mu, middle + half_mu
        if a < _NEARLY_ONE:
            return -log_delta, 0.0
        mills_at_a, mills_at_b = scaled_tail(a), scaled_tail(b)
        difference = max(mills_at_a - mills_at_b, 1e-320)
        log_value = -0.5 * a**2 + math.log(difference)
        return log_value - log_delta, mills_at_b / difference

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the logs of Φ(μ/2 − ε/μ) and Φ(−μ/2 − ε/μ)."""
        middle = epsilon / self.mu
        return Tails(log_normal_tail(middle - 0.5 * self.mu), log_normal_tail(middle + 0.5 * self.mu))


def scaled_tail(x: float) -> float:
    """Return (1 − Φ(x))/e^{−x²/2}, which does not underflow for large x."""
    return 0.5 * float(erfcx(x * math.sqrt(0.5)))


def gaussian_pair(mu: float) -> Pair:
    """Return the pair of N(μ, 1) against N(0, 1), with the same δ in both directions.

    Args:
        mu: distance μ ≥ 0 of the means, in standard deviations. For μ = 0 the loss is always zero.
    """
    if not mu > 0:
        return Pair(ZeroProfile(), ZeroProfile(), gaussian_dp_mu=mu, law=GaussianLaw(mu))
    profile = GaussianProfile(mu)
    return Pair(profile, profile, gaussian_dp_mu=mu, law=GaussianLaw(mu))


@dataclass(frozen=True)
class LineMixture:
    """A mixture Σ w_k N(m_k, 1) of normal distributions.

    Attributes:
        log_weights: log w_k.
        means: m_k.
    """

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
        """Return `log_density_ratio` and its derivative, for a mixture of unit normal distributions.

        The log ratio is log Σ w_k e^{m_k x − m_k²/2} for components with the weights w_k and means m_k. The derivative
        is the posterior mean Σ m_k s_k for the shares s_k of the terms. Components that are negligible at x are left
        out.

        Args:
            x: points, a flat array.

        Returns:
            The values and the derivatives, one for each point.
        """
        log_weights, means = self._columns
        value, slope = np.empty(x.size), np.empty(x.size)
        for points, chosen in self._windows(x, lambda at: log_weights + means * (at - 0.5 * means)):
            chosen_means = means[chosen]
            terms = log_weights[chosen] + chosen_means * (x[points] - 0.5 * chosen_means)
            # Subtract the largest term before the exponential, so that no term overflows.
            largest = terms.max(axis=0)
            terms -= largest
            shares = np.exp(terms, out=terms)
            totals = shares.sum(axis=0)
            value[points] = largest + np.log(totals)
            slope[points] = chosen_means[:, 0] @ shares / totals
        return value, slope

    def log_tail(self, x: FloatArray, *, side: int) -> FloatArray:
        """Return the log mass of the mixture above or below each of several points on the line.

        Args:
            x: points, a flat array.
            side: 1 for the mass above, −1 for the mass below.
        """
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
    """The profile of two Gaussian mixtures P and Q on the line with a monotone loss log dP/dQ.

    The event {L > ε} is a half-line whose boundary is computed numerically. The hockey-stick divergence is a supremum
    over events, so an error of the boundary has only a second-order effect. This effect is charged.

    Attributes:
        p: the mixture P.
        q: the mixture Q.
        side: 1 if the loss log dP/dQ increases with the point x on the line, −1 if it decreases.
    """

    p: LineMixture
    q: LineMixture
    side: int
    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 256 * UNIT_ROUNDOFF

    @cached_property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """Points x within 60 standard deviations of every mean, and the product of the loss and `side` there."""
        means = (*self.p.means, *self.q.means)
        x = np.linspace(min(means) - 60.0, max(means) + 60.0, _TABLE)
        return x, self.side * (self.p.log_density_ratio(x) - self.q.log_density_ratio(x))

    def _boundary(self, epsilon: FloatArray) -> FloatArray:
        """Find the output x at which the privacy loss L(x) is ε, the boundary of the half-line {L > ε}.

        The root is interpolated in a table. Newton steps that stay inside a cell of the table refine it, until the next
        step would be a rounding.

        Returns:
            The points x; ±inf where the loss is on one side of ε within 60 standard deviations of every mean.
        """
        table, losses = self._table
        target = self.side * epsilon
        cell = np.clip(np.searchsorted(losses, target), 1, _TABLE - 1)
        low, high = table[cell - 1], table[cell]
        root = np.clip(np.interp(target, losses, table), low, high)
        for _ in range(_NEWTON_STEPS):
            log_p, slope_p = self.p.log_density_ratio_and_slope(root)
            log_q, slope_q = self.q.log_density_ratio_and_slope(root)
            slope = slope_p - slope_q
            # An infinite step stops at the end of its cell.
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                step = np.where(slope != 0.0, (log_p - log_q - epsilon) / slope, 0.0)
            previous, root = root, np.clip(root - step, low, high)
            has_settled = np.abs(root - previous) <= _SETTLED
            if bool(has_settled.all()):
                break
        is_found = has_settled & (slope != 0.0) & (low < root) & (root < high)
        must_bisect = ~is_found & (losses[0] <= target) & (target <= losses[-1])
        if must_bisect.any():
            root[must_bisect] = self._bisect(target[must_bisect], low[must_bisect], high[must_bisect])
        # The loss exceeds ε above the root if it increases, below if it decreases; nowhere or everywhere off the table.
        root = np.where(target > losses[-1], np.inf, root)
        return np.where(target < losses[0], -np.inf, root)

    def _bisect(self, target: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the points in cells of the table where the increasing loss passes the targets, to the last digit."""
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            loss = self.side * (self.p.log_density_ratio(middle) - self.q.log_density_ratio(middle))
            low, high = np.where(loss < target, middle, low), np.where(loss < target, high, middle)
        return low

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log masses of the half-line {L > ε}."""
        points = np.asarray(epsilon, dtype=np.float64)
        boundary = self._boundary(points.ravel())
        log_p = self.p.log_tail(boundary, side=self.side).reshape(points.shape)
        log_q = self.q.log_tail(boundary, side=self.side).reshape(points.shape)
        return Tails(log_p, log_q)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ = log(P(L > ε) − e^ε Q(L > ε)) for the loss L, widened by the effect of cancellation.

        P and Q are mixtures of normal distributions, and {L > ε} is a half-line.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds, one for each ε.
        """
        epsilon = np.asarray(epsilon, dtype=np.float64)
        log_p, log_q = self.log_tails(epsilon)
        slack = self.tail_accuracy * (1.0 + np.abs(np.where(np.isneginf(log_p), 0.0, log_p)) + np.abs(epsilon))
        with np.errstate(invalid="ignore"):
            log_scaled_q = epsilon + log_q
            least_p, largest_p = log_p - slack, log_p + slack
            lower = log_difference(least_p, np.minimum(log_scaled_q + slack, least_p))
            upper = log_difference(largest_p, np.minimum(log_scaled_q - slack, largest_p))
        # Beyond the searched range the half-line has less mass than one standard normal tail at 60.
        upper = np.where(np.isneginf(log_p), -1800.0, upper)
        return Enclosure(lower, np.minimum(upper, 0.0))


def mixture_pair(p: LineMixture, q: LineMixture) -> Pair:
    """Return the pair of two mixtures with a likelihood ratio P/Q that increases with x.

    If Q is the mirror image of P, the pair is symmetric.
    """
    forward = MixtureProfile(p, q, side=1)
    is_mirrored = LineMixture(p.log_weights, tuple(-mean for mean in p.means)) == q
    return Pair(forward, forward if is_mirrored else MixtureProfile(q, p, side=-1))

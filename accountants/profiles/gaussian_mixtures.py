"""Profiles of mixtures of unit normal distributions on the line, with a privacy loss that is monotone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.mixed_sums import TermWindow, blocks_of, log_sums, windows
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_difference, log_normal_tail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from epsilond.accountants.numerics.special import FloatArray


_TABLE = 4097
"""Number of points of the table of privacy losses, 2^12 + 1."""
_NEWTON_STEPS = 6
"""Largest number of Newton steps from the interpolated root."""
_SETTLED = 1e-10
"""Step, in standard deviations, below which a root of Newton's method is accepted."""
_BISECTIONS = 100
"""Number of bisections, after which a cell is narrower than any distance of two doubles."""


@dataclass(frozen=True)
class LineMixture:
    """A mixture Σ w_k N(m_k, 1) of normal distributions on the line, all with variance 1.

    Attributes:
        log_weights: natural logarithms of the weights w_k > 0, one for each component.
        means: means m_k, in standard deviations of the noise, in the same order.
    """

    log_weights: tuple[float, ...]
    means: tuple[float, ...]

    @cached_property
    def _columns(self) -> tuple[FloatArray, FloatArray]:
        """Log weights and means as arrays of shape (number of components, 1)."""
        log_weights = np.asarray(self.log_weights)[:, None]
        means = np.asarray(self.means)[:, None]
        return log_weights, means

    def log_density_ratio(self, x: FloatArray) -> FloatArray:
        """Return the log of the mixture's density divided by that of N(0, 1).

        It is log Σ w_k e^{m_k x − m_k²/2} for components with the weights w_k and means m_k.

        Args:
            x: points on the line, a flat array.

        Returns:
            One logarithm for each point.
        """
        log_weights, means = self._columns
        return log_sums(log_weights + means * (x - 0.5 * means))

    def log_density_ratio_and_slope(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log of the mixture's density over that of N(0, 1), and its derivative in x.

        For components with the weights w_k and means m_k, the log ratio is log Σ w_k e^{m_k x − m_k²/2}. Its derivative
        is the mean of the m_k, weighted by the shares of the components in the sum. Components that are negligible at a
        point are left out there.

        Args:
            x: points on the line, a flat array.

        Returns:
            The values and the derivatives, one for each point.
        """
        log_weights, means = self._columns

        def log_terms(at: FloatArray) -> FloatArray:
            """Return the logarithms of all terms at points."""
            return log_weights + means * (at - 0.5 * means)

        value, slope = np.empty(x.size), np.empty(x.size)
        for points, chosen in self._windows(x, log_terms):
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
        """Return the log probability of the mixture above, or below, each of several points.

        Components with a negligible part of this probability are left out.

        Args:
            x: points on the line, a flat array.
            side: 1 for the probability above a point, −1 for the probability below it.

        Returns:
            One natural logarithm for each point.
        """
        log_weights, means = self._columns

        def log_tail_terms(at: FloatArray) -> FloatArray:
            """Return the logarithms of the weighted tails of all terms at points."""
            return log_weights + log_normal_tail(side * (at - means))

        log_tails = np.empty(x.size)
        for points, chosen in self._windows(x, log_tail_terms):
            distances = side * (x[points] - means[chosen])
            log_tails[points] = log_sums(log_weights[chosen] + log_normal_tail(distances))
        return log_tails

    def _windows(self, x: FloatArray, log_terms: Callable[[FloatArray], FloatArray]) -> Iterable[TermWindow]:
        """Divide the points into blocks, and select the components of the mixture that matter in each block.

        The terms of the other components are negligible in the sum at every point of the block.

        Args:
            x: points on the line, a flat array.
            log_terms: function from points to the log term of each component, monotone in x.

        Returns:
            One pair for each block: a slice of points, and a slice of components. If there are few points or few
            components, a single pair has all of both.
        """
        blocks = blocks_of(len(self.means), x)
        if blocks is None:
            return (TermWindow(slice(None), slice(None)),)
        return windows(blocks, (log_terms(blocks.least), log_terms(blocks.largest)))


@dataclass(frozen=True)
class MixtureProfile(Profile):
    """The privacy profile of two mixtures P and Q of normal distributions with a monotone privacy loss log dP/dQ.

    The event {L > ε} of a privacy loss L above ε is then a half-line, and its boundary is computed numerically. This
    event maximises P − e^ε Q over all events, so an error of its boundary has only a second-order effect on δ. The
    bounds include this effect.

    Attributes:
        p: the mixture P.
        q: the mixture Q.
        side: 1 if the loss log dP/dQ increases with the point x on the line, −1 if it decreases.
        log_infinite_mass: log of the probability of an infinite loss, −∞ because no loss is infinite.
        tail_accuracy: bound on the error of a log tail, per unit of 1 + |log tail|.
    """

    p: LineMixture
    q: LineMixture
    side: int
    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 256 * UNIT_ROUNDOFF

    @cached_property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """Equidistant points x on the line, and the signed privacy losses there (`_signed_loss`), which increase.

        The points extend 60 standard deviations beyond the smallest and the largest mean.
        """
        margin = 60.0  # a normal tail at 60 standard deviations is below e^−1800
        means = (*self.p.means, *self.q.means)
        x = np.linspace(min(means) - margin, max(means) + margin, _TABLE)
        return x, self._signed_loss(x)

    def _signed_loss(self, x: FloatArray) -> FloatArray:
        """Return the product of `side` and the privacy loss log dP/dQ, which increases with the point x.

        Args:
            x: points on the line, a flat array.

        Returns:
            One value for each point, in nats.
        """
        return self.side * (self.p.log_density_ratio(x) - self.q.log_density_ratio(x))

    def _boundary(self, epsilon: FloatArray) -> FloatArray:
        """Compute the output x at which the privacy loss is ε.

        It is the boundary of the half-line {L > ε} for the loss L, which is monotone. The root is interpolated in a
        table of losses. Newton's method refines it within its interval of the table. If it does not converge, the root
        is bisected.

        Args:
            epsilon: values of ε, in nats, a flat array.

        Returns:
            The points x. They are ±∞ if the loss is on one side of ε at all points of the table.
        """
        table, losses = self._table
        target = self.side * epsilon

        # Interpolate each root in its interval of the table.
        cell = np.clip(np.searchsorted(losses, target), 1, _TABLE - 1)
        low, high = table[cell - 1], table[cell]
        root = np.clip(np.interp(target, losses, table), low, high)

        # Newton's method on L(x) = ε. A step that leaves the interval stops at its end.
        for _ in range(_NEWTON_STEPS):
            log_p, slope_p = self.p.log_density_ratio_and_slope(root)
            log_q, slope_q = self.q.log_density_ratio_and_slope(root)
            slope = slope_p - slope_q
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                step = np.where(slope != 0.0, (log_p - log_q - epsilon) / slope, 0.0)
            previous, root = root, np.clip(root - step, low, high)
            has_settled = np.abs(root - previous) <= _SETTLED
            if bool(has_settled.all()):
                break

        # A root at an end of its interval may be a step that was cut off, and not a solution.
        has_converged = has_settled & (slope != 0.0) & (low < root) & (root < high)
        is_in_table = (losses[0] <= target) & (target <= losses[-1])
        must_bisect = ~has_converged & is_in_table
        if must_bisect.any():
            root[must_bisect] = self._bisect(target[must_bisect], low[must_bisect], high[must_bisect])

        # Outside the table the half-line {L > ε} is empty or the whole line.
        root = np.where(target > losses[-1], np.inf, root)
        return np.where(target < losses[0], -np.inf, root)

    def _bisect(self, target: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """Bisect for the points at which the signed privacy loss reaches the targets, to the last digit.

        Args:
            target: values that `_signed_loss` is to have, a flat array.
            low: points at which the signed loss is below the targets, in the same order.
            high: points at which it is at least the targets.

        Returns:
            The lower ends of the last intervals.
        """
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            is_below = self._signed_loss(middle) < target
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return low

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities of a privacy loss L above ε under both mixtures.

        The event {L > ε} is a half-line.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            log P(L > ε) and log Q(L > ε), one entry for each ε.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        boundary = self._boundary(points.ravel())
        log_p = self.p.log_tail(boundary, side=self.side).reshape(points.shape)
        log_q = self.q.log_tail(boundary, side=self.side).reshape(points.shape)
        return Tails(log_p, log_q)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε) of two Gaussian mixtures P and Q.

        δ(ε) is P(L > ε) − e^ε Q(L > ε) for the privacy loss L. {L > ε} is a half-line. Both of its probabilities have a
        bounded relative error, and the difference is enclosed from their least and largest values.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds on log δ, one for each ε.
        """
        epsilon = np.asarray(epsilon, dtype=np.float64)
        log_p, log_q = self.log_tails(epsilon)

        # Bound the error of both logarithms, and of their difference to ε.
        is_empty = np.isneginf(log_p)
        size = 1.0 + np.abs(np.where(is_empty, 0.0, log_p)) + np.abs(epsilon)
        slack = self.tail_accuracy * size

        # The minima keep the subtrahend e^ε Q at most P, so that the difference is not negative.
        with np.errstate(invalid="ignore"):
            log_scaled_q = epsilon + log_q
            least_p, largest_p = log_p - slack, log_p + slack
            lower = log_difference(least_p, np.minimum(log_scaled_q + slack, least_p))
            upper = log_difference(largest_p, np.minimum(log_scaled_q - slack, largest_p))

        # Beyond the table the half-line has less probability than one standard normal tail at 60.
        log_tail_beyond_table = -1800.0
        upper = np.where(is_empty, log_tail_beyond_table, upper)
        return Enclosure(lower, np.minimum(upper, 0.0))


def mixture_pair(p: LineMixture, q: LineMixture) -> Pair:
    """Return the pair of two mixtures of normal distributions with a likelihood ratio dP/dQ that increases with x.

    If Q is the mirror image of P, both directions of the pair have the same profile.

    Args:
        p: the mixture P.
        q: the mixture Q.

    Returns:
        The pair, with the profiles of both directions.
    """
    forward = MixtureProfile(p, q, side=1)
    mirrored_p = LineMixture(p.log_weights, tuple(-mean for mean in p.means))
    if mirrored_p == q:
        return Pair(forward, forward)
    return Pair(forward, MixtureProfile(q, p, side=-1))

"""Compositions dominated by one step: rare large losses, and a δ far below the probability of a single large loss.

Let S = Σ L_t, M the largest of the losses and R = S − M the sum of the rest. Then δ(ε) = E[(1 − e^{ε−S})₊] lies between

    Σ_t δ_t(ε) − ½ (Σ_t P(L_t > ε))²   and   Σ_t δ_t(ε − c₀) + Σ_k Σ_t δ_t(ε − c_k) P(R > c_{k−1}) + P(S > ε, R > c_m)

for every c₀ < c₁ < … < c_m. The lower bound uses the event that some step's loss exceeds ε. The upper bound is a union
bound over the step with the large loss. The sum of the rest is bounded by Bennett's inequality for losses truncated at
b, and by P(L > b) for larger losses (docs/engine-certificate.md, One large step). All bounds use only the tails of one
step, for any number T of steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, SMALL_EPSILON, Enclosure, Interval
from epsilond.accountants.curve.facts import DrawnGaussianLaw, DrawnMixtureLaw, GaussianLaw, GaussianMixtureLaw
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.root_search import Guess, crossing
from epsilond.accountants.profiles.amplification import amplify_symmetrically, subsample_at
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.gaussian_mixtures import LineMixture, mixture_pair
from epsilond.accountants.profiles.sampling.inclusion import Share
from epsilond.accountants.profiles.weighted_groups import drawn_mixture_pair, gaussian_mixture_pair

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import NormalLaw
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray

NARROW = 0.02
"""Relative width of the bounds on ε below which no other method is tried."""
NARROW_LOG_DELTA = 0.25
"""Width of the bounds on log δ below which no other method is tried."""
HOPELESS = 8.0
"""Width of the bounds on log δ, at an initial estimate of ε, above which no search starts."""
_STARTS = np.append(0.0, np.geomspace(SMALL_EPSILON**3, LARGEST_EPSILON, 127))
"""First grid of ε, in nats, of the search for an initial estimate."""
_FINER = 4
"""Number of grids of this search. Each refines one interval of the grid before it."""
_RATIO = 1.2
"""Largest ratio of neighbouring points of a geometric grid."""
_SLACK = 1e-12
"""Relative amount that covers the rounding errors of a sum."""
_FAR = -1790.0
"""Log of the mass outside a tabulated mixture, as an upper bound."""
_SQUARE_PEAK = 4.0 * math.exp(-2.0)
"""The largest value of t² e^{−t}."""


def step_pair(law: NormalLaw) -> Pair:
    """Return the pair of output distributions of one step of a composition, for two neighbouring data sets.

    Args:
        law: distribution of the privacy loss of a Gaussian step, with or without subsampling and random shifts.

    Returns:
        The pair, with a privacy profile for each direction.
    """
    if isinstance(law, GaussianMixtureLaw):
        return gaussian_mixture_pair(law)
    if isinstance(law, DrawnMixtureLaw):
        return drawn_mixture_pair(law)
    if isinstance(law, GaussianLaw) or law.rate == 1.0:
        return gaussian_pair(law.distance)
    if isinstance(law, DrawnGaussianLaw):
        return amplify_symmetrically(gaussian_pair(law.shift), Share.at(law.rate))

    # A subsampled Gaussian step. A record is replaced by one with the opposite contribution, or is removed or added.
    if law.direction == "replace":
        log_weights = (math.log1p(-law.rate), math.log(law.rate))
        with_record = LineMixture(log_weights, (0.0, law.shift))
        with_opposite = LineMixture(log_weights, (0.0, -law.shift))
        return mixture_pair(with_record, with_opposite)
    pair = subsample_at(gaussian_pair(law.shift), law.rate)
    return pair if law.direction == "remove" else pair.reverse()


def _geometric(low: float, high: float) -> FloatArray:
    """Return points from `low` to `high` in equal ratios, each at most `_RATIO`.

    Args:
        low: the first point, above 0.
        high: the last point.

    Returns:
        The points, increasing, with both ends.
    """
    count = 1 + math.ceil(math.log(high / low) / math.log(_RATIO))
    return np.asarray(np.geomspace(low, high, count))


@dataclass(frozen=True)
class RepeatedStep:
    """A number of independent steps of a composition, all with the same distribution of the privacy loss.

    Attributes:
        pair: the pair of distributions of one step, with the privacy profiles of both directions.
        count: number of steps.
    """

    pair: Pair
    count: int

    def log_tail(self, profile: Profile, thresholds: FloatArray) -> FloatArray:
        """Return an upper bound on the log probability that the privacy loss L of one step exceeds t.

        Args:
            profile: the privacy profile of a direction. The probability is that under its first distribution.
            thresholds: array of t ≥ 0, in nats.

        Returns:
            One natural logarithm for each t; −∞ for an impossible event.
        """
        # A tabulated mixture has a symmetric pair, and a small probability outside its table.
        least = _FAR if self.pair.symmetric else -np.inf
        log_p = np.maximum(profile.log_tails(thresholds).log_p, least)
        with np.errstate(invalid="ignore"):
            raised = log_p + profile.tail_accuracy * (1.0 + np.abs(log_p))
        return np.where(np.isneginf(log_p), -np.inf, np.minimum(raised, 0.0))

    @cached_property
    def negative_moments(self) -> tuple[float, float]:
        """Upper bounds on E[L²; L < 0] and E[L − 1 + e^{−L}; L < 0] of the privacy loss L of one step.

        They follow from the tail of the other direction. With L' = −L under the second distribution Q they are at most
        E_Q[L'² e^{−L'}] and E_Q[1 − (1 + L') e^{−L'}] over L' > 0. The first integrand is at most t² and at most
        4 e^{−2}, its peak. The second is at most t²/2 and at most 1.
        """
        grid = _geometric(1e-20, math.sqrt(2.0))  # up to t²/2 = 1
        tail = np.exp(self.log_tail(self.pair.backward, np.append(0.0, grid[:-1])))

        def bound_moment(largest: float) -> float:
            """Return an upper bound on E_Q[min(L'², largest); L' > 0]."""
            increases = np.diff(np.minimum(grid**2, largest), prepend=0.0)
            return float(increases @ tail) * (1.0 + _SLACK)

        infinite_mass = math.exp(self.pair.backward.log_infinite_mass)
        return bound_moment(_SQUARE_PEAK), 0.5 * bound_moment(2.0) + infinite_mass


@dataclass(frozen=True)
class OneLargeStep:
    """Bounds on log δ of a composition in the forward direction, which are close if one step has a large privacy loss.

    With the loss L_t and the privacy profile δ_t of step t:

        δ(ε) ≥ Σ_t δ_t(ε) − ½ (Σ_t P(L_t > ε))²,

    and δ(ε) is at most a union bound over the step with the large loss, plus the probability that the sum of the losses
    of all remaining steps is large (docs/engine-certificate.md, One large step).

    Attributes:
        steps: the different kinds of steps, each with its number.
    """

    steps: tuple[RepeatedStep, ...]

    @classmethod
    def of(cls, laws: Sequence[tuple[NormalLaw, int]]) -> OneLargeStep:
        """Return the composition of steps with given distributions of the privacy loss.

        Steps with a loss that is always zero are left out.

        Args:
            laws: distribution of the privacy loss of each kind of step, with its number of steps.

        Returns:
            The composition, with one entry for each distribution.
        """
        steps = []
        for law, count in laws:
            has_no_loss = law.distance == 0.0 or getattr(law, "rate", 1.0) == 0.0
            if count > 0 and not has_no_loss:
                steps.append(RepeatedStep(step_pair(law), count))
        return cls(tuple(steps))

    def log_delta(self, epsilon: float) -> Interval:
        """Return bounds on log δ of the composition, which are close to each other if a single large loss dominates δ.

        Args:
            epsilon: ε > 0, in nats.

        Returns:
            The bounds. The lower one is −∞ and the upper one 0 if nothing better is known.
        """
        number_of_steps = sum(step.count for step in self.steps)
        if number_of_steps == 1:
            bounds = self.steps[0].pair.forward.log_delta(np.asarray([epsilon]))
            return Interval(float(bounds.lower[0]), float(bounds.upper[0]))
        lower, upper = self._lower(epsilon), self._upper(epsilon)
        if math.isfinite(lower):
            lower -= _SLACK * (1.0 + abs(lower))
        return Interval(lower, upper)

    def epsilon(self, log_delta: float) -> Interval:
        """Enclose the smallest ε ≥ 0 at which log δ(ε) of the composition is at most a target.

        The search starts at the ε at which the sum of the δ of all steps is the target. If one large privacy loss
        dominates the composition, this sum is about its δ.

        Args:
            log_delta: the target log δ, natural logarithm.

        Returns:
            The bounds, in nats: 0 and math.inf without an initial estimate, or if log δ is too uncertain there.
        """
        start = self._start(log_delta)
        if start is None:
            return Interval(0.0, math.inf)
        at_start = self.log_delta(start)
        if not at_start.upper - at_start.lower <= HOPELESS:
            return Interval(0.0, math.inf)
        # Rate at which log δ falls in ε, from two values at the start.
        steepness = (self._log_sum_at(0.999 * start) - self._log_sum_at(start)) / (0.001 * start)
        is_falling = math.isfinite(steepness) and steepness > 0.0
        guess = Guess(start, steepness if is_falling else 1.0 / start)
        upper = crossing(lambda epsilon: self.log_delta(epsilon).upper, log_delta, guess).below
        lower = crossing(lambda epsilon: self.log_delta(epsilon).lower, log_delta, guess).above
        return Interval(min(lower, upper), upper)

    def _start(self, log_delta: float) -> float | None:
        """Estimate the ε > 0 at which the sum Σ_t δ_t(ε) over the steps is the target, by finer and finer grids of ε.

        If one large loss dominates the composition, this sum is about its δ.

        Args:
            log_delta: log of the target δ.

        Returns:
            The estimate, in nats. It is None if there are no steps, or if the sum does not cross the target within the
            first grid.
        """
        if not self.steps:
            return None
        grid = _STARTS
        for _ in range(_FINER):
            is_above = self._sum(grid).upper > log_delta
            if not is_above[0] or is_above[-1]:
                return None
            first_below = int(np.argmin(is_above))
            grid = np.linspace(grid[first_below - 1], grid[first_below], _STARTS.size)
        return float(grid[-1])

    def _sum(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log Σ_t δ_t(ε) over all steps t of the composition.

        It is about log δ(ε) of the composition if one large loss dominates it.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds, one for each ε. They are −∞ if there are no steps.
        """
        if not self.steps:
            nothing = np.full(epsilon.shape, -np.inf)
            return Enclosure(nothing, nothing)
        lower, upper = [], []
        for step in self.steps:
            bounds = step.pair.forward.log_delta(epsilon)
            lower.append(math.log(step.count) + bounds.lower)
            upper.append(math.log(step.count) + bounds.upper)
        return Enclosure(np.asarray(logsumexp(lower, axis=0)), np.asarray(logsumexp(upper, axis=0)))

    def _log_sum_at(self, epsilon: float) -> float:
        """Return the lower bound on log Σ_t δ_t(ε) at one ε."""
        return float(self._sum(np.asarray([epsilon])).lower[0])

    def _tail(self, thresholds: FloatArray) -> FloatArray:
        """Return log Σ_t P(L_t > x), rounded up, over the privacy losses L_t of all steps.

        Args:
            thresholds: array of x > 0, in nats.

        Returns:
            One natural logarithm for each x; −∞ without steps.
        """
        if not self.steps:
            return np.full(thresholds.shape, -np.inf)
        tails = [math.log(step.count) + step.log_tail(step.pair.forward, thresholds) for step in self.steps]
        return np.asarray(logsumexp(tails, axis=0))

    def _lower(self, epsilon: float) -> float:
        """Return a lower bound on log δ(ε) from the event that a single step t has a privacy loss L_t above ε.

        With the profile δ_t of step t, it is log(Σ_t δ_t(ε) − ½ (Σ_t P(L_t > ε))²).

        Args:
            epsilon: ε > 0, in nats.

        Returns:
            The bound; −∞ if the difference is not positive.
        """
        log_sum = self._log_sum_at(epsilon)
        log_two_large = 2.0 * float(self._tail(np.asarray([epsilon]))[0]) - math.log(2.0)
        if log_two_large >= log_sum:
            return -math.inf
        return log_sum + math.log(-math.expm1(log_two_large - log_sum))

    def _upper(self, epsilon: float) -> float:
        """Return an upper bound on log δ(ε), ε > 0, of a composition that is dominated by one large loss.

        It is a union bound over the step with this loss, and over a large sum R of the losses of the other steps. With
        the profile δ_t and loss L_t of step t, the total loss S, and shifts c_0 < … < c_m, it is the log of:

            Σ_t δ_t(ε − c_0) + Σ_{k≥1} Σ_t δ_t(ε − c_k) P(R > c_{k−1}) + P(S > ε, R > c_m).

        The shifts are a geometric grid from 10^−12 ε to ε/2. Its first points are left out if that lowers the bound.
        P(R > c) is at most the probability that some L_t exceeds b, plus Bennett's bound for losses up to the best b.

        Source: docs/engine-certificate.md, One large step.

        Args:
            epsilon: ε > 0, in nats.

        Returns:
            The bound, at most 0.
        """
        if not epsilon > 1e-290:  # the first point of the grid must be a normal double
            return 0.0

        # log P(R > c) at each c of the grid, with the best b of the same grid.
        cuts = _geometric(1e-12 * epsilon, epsilon)
        log_step_exceeds = self._tail(cuts)
        bennett = self._bennett(cuts)
        bounds_by_cut = np.logaddexp(log_step_exceeds, bennett(cuts[:, None]))
        log_rest_exceeds = np.minimum(np.min(bounds_by_cut, axis=1), 0.0)

        # The shifts c_0, …, c_m, and the last term of the bound.
        shifts = cuts[cuts <= 0.5 * epsilon]
        log_rest_exceeds = log_rest_exceeds[: shifts.size]
        log_last_by_cut = np.logaddexp(log_step_exceeds + log_rest_exceeds[-1], bennett(np.asarray(epsilon)))
        log_last_term = float(np.min(log_last_by_cut))

        # The sums of all terms after the first one, for each start of the shifts, and then the best start.
        log_large_step = self._sum(epsilon - shifts).upper
        log_terms = np.append(log_large_step[1:] + log_rest_exceeds[:-1], log_last_term)
        log_later_terms = np.logaddexp.accumulate(log_terms[::-1])[::-1]
        bound = float(np.min(np.logaddexp(log_large_step, log_later_terms)))
        if math.isfinite(bound):
            bound += _SLACK * (1.0 + abs(bound))
        return min(bound, 0.0)

    def _bennett(self, cuts: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Return Bennett's bound on log P(Σ L_t > c, every L_t ≤ b) as a function of c, for several b at once.

        With upper bounds v on Σ E[L_t²; L_t ≤ b] and m on the mean, and h(x) = (1 + x) log(1 + x) − x, it is
        −(v/b²) h(b (c − m)/v).

        Args:
            cuts: values of b > 0 in nats, increasing.

        Returns:
            A function from thresholds c to the bounds, with an entry for each b.
        """
        square, mean = self._truncated_moments(cuts)
        with np.errstate(divide="ignore", over="ignore"):
            scale = np.where(square > 0.0, cuts / np.maximum(square, 1e-300), np.inf)  # b/v

        def bound(threshold: FloatArray) -> FloatArray:
            """Return the bound for a threshold c of the sum, with an entry for each b."""
            x = np.maximum(threshold - mean, 0.0) * scale
            with np.errstate(invalid="ignore", over="ignore"):
                # h(x) is at least x²/(2 + x), which has no cancellation for small x.
                exact_h = (1.0 + x) * np.log1p(x) - x
                h = np.where(x > 0.01, exact_h, x**2 / (2.0 + x))
                exponent = np.where(h > 0.0, h / (cuts * scale), 0.0)
                return np.asarray(-(1.0 - 1e-9) * exponent)  # the factor covers roundings

        return bound

    def _truncated_moments(self, cuts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds on Σ E[L_t²; L_t ≤ b] and Σ E[L_t; L_t ≤ b] for the loss L_t of step t, for several b.

        E[L; L ≤ b] is at most E[L − 1 + e^{−L}; L ≤ b], where the integrand is at most L²/2 for L > 0.

        Args:
            cuts: values of b in nats, increasing.

        Returns:
            Both bounds, with an entry for each b.
        """
        square, mean = np.zeros_like(cuts), np.zeros_like(cuts)
        previous_cuts = np.append(0.0, cuts[:-1])
        for step in self.steps:
            tail = np.exp(step.log_tail(step.pair.forward, previous_cuts))
            positive_square = np.cumsum(np.diff(cuts**2, prepend=0.0) * tail) * (1.0 + _SLACK)
            negative_square, negative_drift = step.negative_moments
            square += step.count * (positive_square + negative_square)
            mean += step.count * (0.5 * positive_square + negative_drift)
        return square, mean

"""Compositions of very many steps with tiny losses: bounds from the second moment, and from one large step.

Proof: docs/engine-certificate.md, A second moment.

With R = dP/dQ of the product, R ≥ 0 and E_Q R = 1, δ(ε) = E_Q[(R − α)₊], α = e^ε. Let A be the event that no step's
loss exceeds c, η ≥ P(not A), and X = R on A, 0 elsewhere. Then δ(ε) ≤ η + E_Q[(X − α)₊], E_Q X ≥ 1 − η, and
(x)₊ = (|x| + x)/2 with Cauchy and Schwarz give, where k = α − 1, 1 + v ≥ E_Q X² and v + 2η < 1:

    δ(ε) ≤ η + (v + 2αη)/(2(k + √(k² + v + 2αη))).

E_Q X² is the steps' product of E_Q[R²; R ≤ e^c] ≤ 1 + E_Q[(R − 1)²; R ≤ e^c], and of one step:

    E_Q[(R − 1)²; R ≤ e^c] ≤ 2 ∫₁^{e^c} E_γ(P‖Q) dγ + 2 ∫₁^∞ γ⁻³ E_γ(Q‖P) dγ,

Both E_γ are convex and decreasing, so that chords bound them from above, and γ⁻³ ≤ 1. Twice the second integral is at
most E_g(Q‖P) beyond g. If ε is far above √v, δ comes from one large step. Its bounds are then better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import PointwiseProfile, Profile
from epsilond.accountants.profiles.products.one_large_step import OneLargeStep, RepeatedStep

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

LATTICE_ERROR = 1e-15
"""Standard deviation of the composed loss per step below which a lattice loses it in its roundings."""
_NEGLIGIBLE = -110.0
"""Largest log-probability that any step's loss exceeds the range in which moments are computed."""
_LEAST_SQUARE = 1e-290
"""Least second moment of one step that is used. Products of smaller losses and probabilities round to zero."""
_RATIO = 1.05
"""Ratio of neighbouring ε of the grid on which moments are computed."""
_LEAST_SHARE = 1e-4
"""First positive ε of the grid, as a fraction of δ(0)."""
_FURTHEST = 700.0
"""Largest ε of the grid, at which e^ε is still a double."""
_ROUNDING = 1.0 + 1e-9
"""Factor that covers the rounding errors of a sum."""


@dataclass(frozen=True)
class Moment:
    """A bound on the second moment of the likelihood ratio of a composition, without outcomes of large privacy loss.

    Attributes:
        variance: v with E_Q X² ≤ 1 + v. X is the likelihood ratio dP/dQ, or 0 if a step has a loss above its limit.
        log_exceeding: log η, where η bounds the probability under P that a step has such a loss.
    """

    variance: float
    log_exceeding: float

    def log_delta(self, epsilon: float) -> float:
        """Return an upper bound on log δ(ε) by the inequality of Cauchy and Schwarz.

        η bounds the probability that a step has a loss above its limit. Without such losses, the second moment of the
        likelihood ratio is at most 1 + v. With α = e^ε and k = α − 1:

            δ ≤ η + (v + 2αη)/(2(k + √(k² + v + 2αη))).

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The natural logarithm, at most 0; −∞ for δ = 0.
        """
        k = math.expm1(min(epsilon, _FURTHEST))
        eta = math.exp(self.log_exceeding)
        # v + 2αη, with α = 1 + k.
        square = self.variance + 2.0 * (1.0 + k) * eta
        bound = eta
        if square > 0.0:
            bound = eta + 0.5 * square / (k + math.hypot(k, math.sqrt(square)))
        if bound <= 0.0:
            return -math.inf
        return min(math.log(bound * _ROUNDING), 0.0)


def second_moment(parts: Sequence[tuple[Pair, int]], *, backward: bool = False) -> Moment | None:
    """Bound the second moment of the likelihood ratio dP/dQ of a composition, over outcomes without large losses.

    The second moment of independent steps is the product of those of the single steps. Privacy losses of a step beyond
    a limit count as large. η bounds the probability that any step has such a loss.

    Args:
        parts: pairs (P, Q) of the steps, and the number of runs of each.
        backward: whether P and Q are exchanged.

    Returns:
        v and η, where the second moment is at most 1 + v. None if v + 2η ≥ 1, where the bound on δ is not proved. Also
        None if losses beyond every limit of the grid are too likely, or if squares of losses underflow.
    """
    log_growth, log_exceeding = 0.0, -math.inf
    for pair, count in parts:
        first, second = (pair.backward, pair.forward) if backward else (pair.forward, pair.backward)

        # The limit is the first loss of the grid that all runs exceed with negligible probability.
        grid = _moment_grid(first)
        log_beyond = _log_beyond(first, grid) + math.log(count)
        negligible = np.flatnonzero(log_beyond <= _NEGLIGIBLE)
        if negligible.size == 0:
            return None
        limit = int(negligible[0])
        log_exceeding = float(np.logaddexp(log_exceeding, log_beyond[limit]))

        # E_Q[(dP/dQ − 1)²] of one run, over losses up to the limit. With the hockey-stick divergence E_γ it is at most
        # 2 ∫ E_γ(P‖Q) dγ up to the limit, plus 2 ∫ γ⁻³ E_γ(Q‖P) dγ, over γ > 1.
        square = _integral(first, grid[: limit + 1]) + _integral(second, grid)
        if square < _LEAST_SQUARE:
            return None
        log_growth += count * math.log1p(square * _ROUNDING)

    variance = math.expm1(min(log_growth * _ROUNDING, 1.0))
    if not variance + 2.0 * math.exp(log_exceeding) < 1.0:
        return None
    return Moment(variance, log_exceeding)


def _moment_grid(profile: Profile) -> FloatArray:
    """Return the values of ε at which a profile is evaluated for the second moment of its likelihood ratio.

    They are 0 and a geometric grid up to `_FURTHEST`. The grid begins at a small fraction of δ(0), because δ(0) has
    about the size of the privacy loss of the step.

    Args:
        profile: privacy profile ε ↦ δ(ε) of one direction of a pair.

    Returns:
        Increasing values of ε in nats.
    """
    log_delta_at_zero = float(profile.log_delta(np.zeros(1)).upper[0])
    # A positive start, also if δ(0) underflows.
    start = max(_LEAST_SHARE * math.exp(log_delta_at_zero), 1e-300)
    size = math.ceil(math.log(_FURTHEST / start) / math.log(_RATIO))
    return np.append(0.0, start * _RATIO ** np.arange(size + 1.0))


def _log_beyond(profile: Profile, epsilon: FloatArray) -> FloatArray:
    """Return upper bounds on the log tails of the privacy loss, from the profile δ only.

    With b the point before ε, they follow from δ(b) ≥ P(L > ε) (1 − e^{b − ε}).

    Args:
        profile: the privacy profile δ.
        epsilon: ε in nats, increasing from 0.

    Returns:
        One logarithm for each ε; 0 for the first.
    """
    log_delta = profile.log_delta(epsilon[:-1]).upper
    gaps = np.diff(epsilon)
    # Rounded up by more than the error of the logarithms.
    rounding = 1e-9
    log_tails = log_delta - np.log(-np.expm1(-gaps)) + rounding
    return np.append(0.0, np.minimum(log_tails, 0.0))


def _integral(profile: Profile, epsilon: FloatArray) -> float:
    """Return an upper bound on twice the integral of a privacy profile as a function of γ = e^ε.

    The profile is the hockey-stick divergence E_γ, which is δ at ε = log γ. It is convex in γ, so that the trapezoidal
    rule bounds its integral from above. The last E_γ is added. It is at least twice the part of ∫ γ⁻³ E_γ dγ beyond the
    last point, so the result also bounds twice that integral from 1 to infinity.

    Args:
        profile: privacy profile δ(ε) = E_γ of one direction of a pair.
        epsilon: ε of the points in nats, increasing from 0.

    Returns:
        The bound. It does not cover the rounding errors of the sums.
    """
    divergence = np.exp(profile.log_delta(epsilon).upper)
    gamma_minus_one = np.expm1(np.minimum(epsilon, _FURTHEST))
    twice_integral = np.diff(gamma_minus_one) @ (divergence[:-1] + divergence[1:])
    return float(twice_integral) + float(divergence[-1])


@dataclass(frozen=True, eq=False)
class RareProfile(PointwiseProfile):
    """The privacy profile of a composition of very many steps with tiny privacy losses, in one direction.

    Guarantees: lower ≤ log δ ≤ upper at every ε ≥ 0. The tails and the probability of an infinite loss are those of a
    dominating pair.

    Attributes:
        moment: bounds on the second moment of the likelihood ratio of the composition.
        large: bounds on δ for the case that one step has a large loss.
        fallback: function that computes the dominating pair. A second call returns the same pair.
        is_backward: True if this profile is that of the backward direction of that pair.
    """

    moment: Moment
    large: OneLargeStep
    fallback: Callable[[], Pair]
    is_backward: bool

    @property
    def fallback_profile(self) -> Profile:
        """Profile of the dominating pair, in this direction."""
        pair = self.fallback()
        return pair.backward if self.is_backward else pair.forward

    @property
    def log_infinite_mass(self) -> float:
        """Upper bound on the log probability of an infinite loss of the dominating pair."""
        return self.fallback_profile.log_infinite_mass

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of each log tail of the dominating pair, per unit of 1 + |log tail|."""
        return self.fallback_profile.tail_accuracy

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of the dominating pair."""
        return self.fallback_profile.log_tails(epsilon)

    def attained_log_tails(self, epsilon: FloatArray) -> Tails | None:
        """Return the attained log tails of the dominating pair, for lower bounds on δ of products."""
        return self.fallback_profile.attained_log_tails(epsilon)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ at one ε.

        The lower bound, and one upper bound, suit a δ that comes from a single step with a large privacy loss. Another
        upper bound follows from the second moment of the likelihood ratio. The smaller upper bound is used.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            Lower and upper bound on log δ.
        """
        lower, upper = self.large.log_delta(epsilon) if epsilon > 0.0 else (-math.inf, 0.0)
        upper = min(upper, self.moment.log_delta(epsilon))
        return Interval(min(lower, upper), upper)


class RareComposition(NamedTuple):
    """The composition of many steps with tiny privacy losses, bounded by the second moment of its likelihood ratio.

    Attributes:
        pair: bounds on δ of the composition in both directions, which are close if ε is about `deviation` or more.
        deviation: √v in the forward direction, about the standard deviation of the total privacy loss, in nats.
    """

    pair: Pair
    deviation: float


def rare_composition(parts: Sequence[tuple[Pair, int]], dominating: Callable[[], Pair]) -> RareComposition | None:
    """Return the composition of many steps with losses so small that a lattice would lose them in its roundings.

    A lattice, the grid of losses of another method, rounds every loss. Here the second moment of the likelihood ratio
    bounds δ.

    Args:
        parts: pairs of the steps, and the number of runs of each.
        dominating: function that computes a pair that dominates the composition. Its tails are used.

    Returns:
        The composition; None if the losses are not that small, or if their second moment has no bound.
    """
    count = sum(times for _, times in parts)
    if not all(_may_be_lost(pair, times) for pair, times in parts):
        return None

    # One direction is sufficient if both directions of every step are equal.
    is_symmetric = all(pair.symmetric for pair, _ in parts)
    directions = (False,) if is_symmetric else (False, True)
    profiles, deviations = [], []
    for backward in directions:
        moment = second_moment(parts, backward=backward)
        # Losses that a lattice resolves are left to it.
        if moment is None or math.sqrt(moment.variance) > LATTICE_ERROR * count:
            return None
        steps = tuple(RepeatedStep(pair.reverse() if backward else pair, times) for pair, times in parts)
        profiles.append(RareProfile(moment, OneLargeStep(steps), dominating, backward))
        deviations.append(math.sqrt(moment.variance))
    return RareComposition(Pair(profiles[0], profiles[-1]), deviations[0])


def _may_be_lost(pair: Pair, count: int) -> bool:
    """Return whether a step's privacy loss may be too small for a composition on a grid of losses (a lattice).

    The lattice rounds each loss, so that tiny losses get lost. The standard deviation of the loss measures its size. It
    is estimated as twice the step's δ at ε = 0.

    Args:
        pair: the pair of the step.
        count: number of runs of the step.

    Returns:
        True if the losses of all runs may be below the roundings of the lattice.
    """
    log_delta_at_zero = max(float(profile.log_delta(np.zeros(1)).upper[0]) for profile in pair.directions())
    return 2.0 * math.exp(log_delta_at_zero) * math.sqrt(count) <= LATTICE_ERROR * count

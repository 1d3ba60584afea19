"""The least of several dominating pairs of one mechanism.

The least bound is valid at every ε. The least pair of a composition may be a different one than that of one round. Each
alternative is therefore composed separately, and only the compositions are compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.curve.bracketed_search import bracketed_epsilon
from epsilond.accountants.curve.enclosure import Enclosure, Interval, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.curve.search import PairSearch, sparing_epsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.special import FloatArray

_USUAL_LOG_DELTA = -14.0
"""log δ of about 1e-6, at which the ε of composed profiles are estimated to sort them."""
_LEAST_MARGIN = 0.05
"""Least margin in log δ by which a profile must exceed a bound to be left out."""
_MARGIN = 0.1
"""Further margin, per unit of |log δ|."""
_MARGINS_OF_ESTIMATE = 4.0
"""Number of margins by which an estimate must exceed a bound."""


@dataclass(frozen=True)
class LeastProfile(Profile):
    """The least of several privacy profiles, each of which bounds δ of the same direction of the same mechanism.

    The least profile bounds δ at every ε, but it need not be convex in e^ε. Its tails are those of one profile, the one
    with the tails that give the least δ at ε = 0. Products with it are products with that profile. A composition is
    formed of each profile separately (`Pair.alternatives`).

    Attributes:
        profiles: the profiles, at least one.
    """

    one_sided: ClassVar[bool] = True

    profiles: tuple[Profile, ...]

    @cached_property
    def _source_of_tails(self) -> Profile:
        """The profile that gives the tails: the one with the tails that give the least δ at ε = 0."""
        return min(self.profiles, key=lambda profile: profile.delta_at_zero_by_tails())

    @property
    def log_infinite_mass(self) -> float:
        """Log of the infinite mass of the profile that gives the tails."""
        return self._source_of_tails.log_infinite_mass

    @property
    def lossy(self) -> bool:
        """True if a profile states that δ at ε = 0 is above 0, which then holds for the mechanism."""
        return any(profile.lossy for profile in self.profiles)

    @property
    def tail_accuracy(self) -> float:
        """Accuracy of the tails of the profile that gives them."""
        return self._source_of_tails.tail_accuracy

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Return the least lower and the least upper bound on log δ of all profiles at each ε.

        Profiles are left out where they are unlikely to be the least.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds with the shape of `epsilon`.
        """
        if not self._composed:
            return self._least_of(self.profiles, epsilon)
        # Compositions are expensive, so the profiles to evaluate are chosen for each ε.
        points = np.asarray(epsilon, dtype=np.float64)
        bounds = [self._least_at(point) for point in points.ravel().tolist()]
        lower = np.asarray([interval.lower for interval in bounds], dtype=np.float64)
        upper = np.asarray([interval.upper for interval in bounds], dtype=np.float64)
        return Enclosure(lower.reshape(points.shape), upper.reshape(points.shape))

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the least upper bound on log δ at one ε over several profiles of one mechanism.

        Composed profiles, which are expensive, are left out if they are likely larger than the bounds so far.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The natural logarithm of the bound, at most 0.
        """
        has_bound = bool(self._closed)
        least = float(self._least_of(self._closed, np.asarray(epsilon)).upper) if has_bound else 0.0
        for profile in self._composed:
            if has_bound and _is_likely_larger(profile, epsilon, least):
                continue
            least = min(least, profile.upper_log_delta(epsilon))
            has_bound = True
        return least

    @staticmethod
    def _least_of(profiles: Sequence[Profile], epsilon: FloatArray) -> Enclosure:
        """Return the least lower and the least upper bound on log δ of several profiles, elementwise.

        Args:
            profiles: the privacy profiles, at least one.
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds with the shape of `epsilon`.
        """
        bounds = [profile.log_delta(epsilon) for profile in profiles]
        return Enclosure(
            np.minimum.reduce([interval.lower for interval in bounds]),
            np.minimum.reduce([interval.upper for interval in bounds]),
        )

    @cached_property
    def _closed(self) -> list[Profile]:
        """Profiles that are not composed."""
        return [profile for profile in self.profiles if not profile.estimated]

    @cached_property
    def _composed(self) -> list[Profile]:
        """Composed profiles, sorted by their estimated ε at a usual δ."""
        composed = [profile for profile in self.profiles if profile.estimated]
        if len(composed) < 2:  # nothing to estimate
            return composed
        return sorted(composed, key=lambda profile: profile.guess(_USUAL_LOG_DELTA).epsilon)

    def closed_decides(self, epsilon: float, share: float) -> bool:
        """Return whether a profile in closed form is likely to have the least δ, so that no composition is needed.

        Args:
            epsilon: ε, in nats.
            share: the estimates of log δ of all other profiles must exceed the least log δ in closed form by this
                fraction of |log δ|.

        Returns:
            True if every composed profile is estimated to be larger by the given fraction.
        """
        if not self._closed:
            return False
        closed_log_delta = float(self._least_of(self._closed, np.asarray(epsilon)).upper)
        threshold = (1.0 - share) * closed_log_delta  # larger, because log δ is negative
        return all(profile.likely_log_delta(epsilon) > threshold for profile in self._composed)

    def _least_at(self, epsilon: float) -> Interval:
        """Return the least lower and the least upper bound on log δ over all profiles, at one ε.

        Composed profiles, which are expensive, are left out if they are likely larger than those in closed form and
        those evaluated so far.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            Lower and upper bound on log δ.
        """
        least = Interval(0.0, 0.0)  # log δ ≤ 0
        if self._closed:
            closed = self._least_of(self._closed, np.asarray(epsilon))
            least = Interval(float(closed.lower), float(closed.upper))
        has_bound = bool(self._closed)
        for profile in self._composed:
            if has_bound and _is_likely_larger(profile, epsilon, least.upper):
                continue
            bounds = profile.log_delta(np.asarray([epsilon]))
            least = Interval(min(least.lower, float(bounds.lower[0])), min(least.upper, float(bounds.upper[0])))
            has_bound = True
        return least

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of the profile that gives the tails."""
        return self._source_of_tails.log_tails(epsilon)

    def attained_log_tails(self, epsilon: FloatArray) -> Tails | None:
        """Return the attained log tails of the profile that gives the tails."""
        return self._source_of_tails.attained_log_tails(epsilon)


def _is_likely_larger(profile: Profile, epsilon: float, log_delta: float) -> bool:
    """Return whether an estimate of a profile's log δ, or a quick bound, is far above a known bound.

    The expensive bound of the profile is then likely to be above it too. Leaving it out is valid, because the least of
    the other profiles also bounds δ.

    Args:
        profile: one of the alternatives.
        epsilon: ε, in nats.
        log_delta: least known upper bound on log δ of the other alternatives.

    Returns:
        True if the profile may be left out at this ε.
    """
    margin = _LEAST_MARGIN + _MARGIN * abs(log_delta)
    if profile.likely_log_delta(epsilon) > log_delta + _MARGINS_OF_ESTIMATE * margin:
        return True
    return profile.quick_upper_log_delta(epsilon) > log_delta + margin


@dataclass(frozen=True)
class LeastSearch(PairSearch):
    """The search for the ε at a target δ of the least of several dominating pairs, by searches of the single pairs.

    Each pair dominates the same mechanism, so the least δ of all pairs is an upper bound too.

    Attributes:
        profiles: profile of the least δ in each direction; a single one if both directions are equal.
        alternatives: the dominating pairs of the same mechanism.
    """

    alternatives: tuple[Pair, ...]

    def epsilon(self, log_delta: float, near: float) -> Interval:
        """Enclose the smallest ε at which the least δ of the alternatives is at most the target.

        If every alternative is symmetric, this is the least of their ε(δ), and each is searched separately. An
        alternative is skipped if its δ at the least ε so far is certainly, or by a quick bound, above the target. The
        least δ itself is searched if an alternative is not symmetric, or if all profiles need few evaluations.

        Args:
            log_delta: the target log δ, natural logarithm.
            near: not used; the argument belongs to the interface of searches.

        Returns:
            Lower and upper bounds on ε, in nats.
        """
        del near
        alternatives = self.alternatives
        # "spare" marks profiles whose search should need few evaluations.
        if all(profile.root_search == "spare" for pair in alternatives for profile in pair.directions()):
            return sparing_epsilon(self.log_delta_bounds, log_delta)
        if not all(pair.symmetric for pair in alternatives):
            return bracketed_epsilon(self.log_delta_bounds, log_delta)

        first, *remaining = sorted(alternatives, key=lambda pair: pair.forward.guess(log_delta).epsilon)
        least = first.epsilon(log_delta)
        for alternative in remaining:
            if math.isfinite(least.upper) and _is_surely_above(alternative, least.upper, log_delta):
                continue
            enclosed = alternative.epsilon(log_delta)
            least = Interval(min(least.lower, enclosed.lower), min(least.upper, enclosed.upper))
        return least


def _is_surely_above(pair: Pair, epsilon: float, log_delta: float) -> bool:
    """Return whether δ of a symmetric pair at ε is above the target, certainly or by a quick bound."""
    if pair.forward.estimated and _is_likely_larger(pair.forward, epsilon, log_delta):
        return True
    return pair.log_delta_bounds(epsilon).lower > log_delta


def least_of(pairs: Sequence[Pair]) -> Pair:
    """Return a pair with the least δ of several dominating pairs of one mechanism, at every ε.

    The δ of a dominating pair is at least that of the mechanism, so the least of several is an upper bound too.

    Args:
        pairs: the dominating pairs, at least one.

    Returns:
        A pair with the least profile in each direction. Compositions are formed from the given pairs, which are its
        `alternatives`. A single pair is returned itself.
    """
    if len(pairs) == 1:
        return pairs[0]
    alternatives = tuple(pairs)
    forward = LeastProfile(tuple(pair.forward for pair in pairs))
    if all(pair.symmetric for pair in pairs):
        search = LeastSearch((forward,), alternatives)
        return Pair(forward, forward, alternatives=alternatives, special_search=search)
    backward = LeastProfile(tuple(pair.backward for pair in pairs))
    search = LeastSearch((forward, backward), alternatives)
    return Pair(forward, backward, alternatives=alternatives, special_search=search)


def alternatives_of(pair: Pair) -> tuple[Pair, ...]:
    """Return the dominating pairs of which a pair is the least. A pair without alternatives gives itself."""
    return pair.alternatives or (pair,)

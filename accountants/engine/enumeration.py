"""Products of pairs with few outcomes, by enumeration of all totals of the loss.

T runs over k outcomes have C(T + k − 1, k − 1) lists of counts n_1, …, n_k, where outcome i occurs n_i times. With the
loss l_i of outcome i, the total loss for a list is Σ n_i l_i, and the probability of a list is multinomial. If there
are few lists, δ is a sum of few positive terms at every ε (`profiles/atoms.py`): no lattice, no transform, no
tilt. Only the logarithms of the probabilities and the totals themselves are rounded.

Errors: let u be the unit of roundoff, and let the masses p_i be known within a relative a, with |log p_i| ≤ b. A log
probability errs by at most (4 + 2k) u (2 log T! + T b) + T a (1 + b): log n! is computed within 4 units, Σ log n_i! ≤
log T!, and no partial sum exceeds the bracket. A total errs by at most T max|l_i| (a + (k + 2) u). δ is evaluated at ε
moved by this error in either direction. The tails are those of the distribution with all losses raised by this error,
which dominates.
"""

from __future__ import annotations

import bisect
import functools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Interval, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import EpsilonEstimate, Profile, RootSearch
from epsilond.accountants.engine.contour.accuracy import TINY
from epsilond.accountants.engine.lattice.discretise import log_probability_of_any
from epsilond.accountants.engine.outcome_counts import combine_outcomes
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp, log1m_exp_at, log_sum
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.products.finite_and_gaussian import FiniteAndGaussianProfile
from epsilond.accountants.profiles.products.finite_and_pair import FiniteAndPairProfile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.finite_law import FiniteLaw
    from epsilond.accountants.curve.near_tests import NearTest
    from epsilond.accountants.numerics.special import FloatArray

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

MOST_KINDS = 2**14
"""Largest number of lists of counts of a composition: a few milliseconds and a megabyte."""
_FACTORIAL_UNITS = 4
"""Error of log Γ, in units of roundoff: glibc's manual states at most four."""
_NEAR_ONE = -5.0
"""log δ above which the sum for 1 − δ is evaluated too, because it may be more accurate."""


@dataclass(frozen=True, eq=False)
class EnumeratedProfile(Profile):
    """The profile of one direction of a product with finitely many values of the total loss.

    Attributes:
        computed_profile: profile for the computed totals and probabilities, without their errors.
        log_error: bound on the error of every log probability, and of the log of every sum of probabilities.
        loss_error: bound on the error of every total loss, in nats.
        total_losses: the possible total losses, increasing, in nats.
        log_below: log of the sum of the probabilities of the first 0, 1, 2, … total losses.
        log_masses: log of the probability of each total loss.
    """

    root_search: ClassVar[RootSearch] = "solve"

    computed_profile: AtomicProfile
    log_error: float
    loss_error: float
    total_losses: FloatArray
    log_below: FloatArray
    log_masses: FloatArray

    @property
    def log_infinite_mass(self) -> float:
        """Upper bound on the log probability that any loss is infinite."""
        return self.computed_profile.log_infinite_mass

    @property
    def tail_accuracy(self) -> float:
        """Error of each log tail: of `computed_profile`, of the probabilities, and of the raised masses under Q."""
        return self.computed_profile.tail_accuracy + self.log_error + 2.0 * self.loss_error

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε) of a composition with finitely many outcomes at each ε ≥ 0.

        The upper bound is evaluated at a smaller ε and the lower bound at a larger one, by the error of the total
        losses. Each is the better one of two bounds: log δ as computed directly, and log(1 − (1 − δ)) with 1 − δ of
        `_log_complement`. The latter is more accurate for δ near 1.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Arrays of lower and upper bounds, both at most 0.
        """
        at = np.asarray(epsilon, dtype=np.float64)
        slack = self.loss_error + 4 * UNIT_ROUNDOFF * at
        larger, smaller = at + slack, at - slack
        direct_lower = self.computed_profile.log_delta(larger).lower - self.log_error
        direct_upper = self.computed_profile.log_delta(smaller).upper + self.log_error
        lower = np.maximum(direct_lower, log1m_exp(self._log_complement(larger).upper))
        upper = np.minimum(direct_upper, log1m_exp(self._log_complement(smaller).lower))
        upper = np.minimum(upper * (1 - 8 * UNIT_ROUNDOFF) + TINY, 0.0)
        return Enclosure(lower * (1 + 8 * UNIT_ROUNDOFF) - TINY, upper)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ(ε) at one ε ≥ 0, in nats, with the bounds of `log_delta` but without arrays."""
        slack = self.loss_error + 4 * UNIT_ROUNDOFF * epsilon
        larger, smaller = epsilon + slack, epsilon - slack
        lower = self.computed_profile.log_delta_bounds(larger).lower - self.log_error
        upper = self.computed_profile.log_delta_bounds(smaller).upper + self.log_error
        if upper > _NEAR_ONE:
            lower = max(lower, log1m_exp_at(self._complement_at(larger).upper))
            upper = min(upper, log1m_exp_at(self._complement_at(smaller).lower))
        upper = min(upper * (1 - 8 * UNIT_ROUNDOFF) + TINY, 0.0)
        return Interval(lower * (1 + 8 * UNIT_ROUNDOFF) - TINY, upper)

    def solve(self, log_delta: float) -> EpsilonEstimate:
        """Return the ε at which log δ is `log_delta`, in closed form between two neighbouring total losses."""
        solution = self.computed_profile.solve(log_delta)
        return solution._replace(pad=4.0 * self.loss_error + solution.pad)

    def log_delta_bounds_in_search(self, epsilons: Sequence[float], *, lower: bool) -> list[Interval]:
        """Return bounds on log δ, without arrays."""
        del lower
        return [self.log_delta_bounds(epsilon) for epsilon in epsilons]

    def near_tests(self, sizes: Sequence[float]) -> list[NearTest | None]:
        """Return for each false positive rate the test that ends at one of the total losses."""
        return [self.computed_profile.test_of(size, self.log_delta_bounds, self.tail_accuracy) for size in sizes]

    def _complement_at(self, epsilon: float) -> Interval:
        """Enclose log(1 − δ) at one ε by the formula of `_log_complement`, without arrays."""
        index = bisect.bisect_right(self._sorted, epsilon)
        value = log_sum(float(self.log_below[index]), epsilon + self.computed_profile.log_second_above(epsilon))
        accuracy = self.tail_accuracy + 4 * UNIT_ROUNDOFF * (self.total_losses.size + 8)
        slack = accuracy * (1.0 + abs(value) + abs(epsilon))
        return Interval(min(value - slack, 0.0), min(value + slack, 0.0))

    @cached_property
    def _sorted(self) -> list[float]:
        """Totals as a list, for bisection."""
        return list(self.total_losses.tolist())

    def _log_complement(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log(1 − δ(ε)) at each ε ≥ 0, accurately if δ is near 1.

        With the total loss S, 1 − δ = E_P[min(1, e^{ε−S})] = P(S ≤ ε) + e^ε Q(S > ε). P and Q are the distributions
        with the hockey-stick divergence δ. An infinite loss adds 0 to both terms. Both bounds are arrays like
        `epsilon`.
        """
        log_q = self.computed_profile.log_tails(epsilon).log_q
        log_below = self.log_below[np.searchsorted(self.total_losses, epsilon, side="right")]
        value = np.logaddexp(log_below, epsilon + log_q)
        # The sums of up to n terms err by a few times n units of roundoff.
        accuracy = self.tail_accuracy + 4 * UNIT_ROUNDOFF * (self.total_losses.size + 8)
        slack = accuracy * (1.0 + np.abs(value) + np.abs(epsilon))
        return Enclosure(np.minimum(value - slack, 0.0), np.minimum(value + slack, 0.0))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the tails of the distribution with raised losses, which dominates."""
        at = np.asarray(epsilon, dtype=np.float64)
        return self.computed_profile.log_tails(at - self.loss_error - 4 * UNIT_ROUNDOFF * at)


def enumerated_pair(parts: Sequence[tuple[Pair, int]]) -> Pair | None:
    """Return the product of pairs with finitely many outcomes, by enumerating all lists of outcome counts.

    A list says how often each outcome occurs in all runs. One such list of counts determines the total loss. Equal
    pairs are one pair with the sum of their runs.

    Args:
        parts: pairs, and how often each is run, at least once.

    Returns:
        The product; None if a pair has no list of outcomes, or if there are more than `MOST_KINDS` lists of counts.

    Guarantees: both directions enclose δ of the product of exactly these distributions at every ε ≥ 0.
    """
    profiles = _enumerate(parts)
    if profiles is None:
        return None
    # A symmetric product has a single profile, which is then both the first and the last one.
    return Pair(profiles[0], profiles[-1], parts=tuple(parts))


def enumerated_pair_and_gaussian(parts: Sequence[tuple[Pair, int]], mu: float) -> Pair | None:
    """Return the product of pairs with finitely many outcomes and the Gaussian pair N(μ, 1) against N(0, 1).

    The total losses of the finite pairs are enumerated (`enumerated_pair`).

    Args:
        parts: pairs with finitely many outcomes, and how often each is run, at least once.
        mu: distance μ > 0 of the means, in standard deviations.

    Returns:
        The product; None if the pairs cannot be enumerated.
    """
    profiles = _enumerate(parts)
    if profiles is None:
        return None
    products = [
        FiniteAndGaussianProfile(
            losses=profile.total_losses,
            log_masses=profile.log_masses,
            log_infinite_mass=profile.log_infinite_mass + profile.log_error,
            loss_error=profile.loss_error,
            log_error=profile.log_error + profile.computed_profile.mass_accuracy,
            mu=mu,
        )
        for profile in profiles
    ]
    return Pair(products[0], products[-1])


def enumerated_pair_and_rest(
    parts: Sequence[tuple[Pair, int]], compose_rest: Callable[[], Pair], lattice: Callable[[], Pair], most: int
) -> Pair | None:
    """Return the product of pairs with finitely many outcomes and any other pair.

    The total losses of the finite pairs are enumerated: one for each list of counts of the outcomes
    (`enumerated_pair`).

    Args:
        parts: pairs with finitely many outcomes, and how often each is run, at least once.
        compose_rest: makes the other pair. It is called only if the pairs can be enumerated.
        lattice: makes the product of all pairs on a lattice, which gives the tails of the result.
        most: largest number of lists of counts.

    Returns:
        The product; None if a pair has no list of outcomes, or if there are more than `most` lists of counts.
    """
    profiles = _enumerate(parts, most)
    if profiles is None:
        return None
    rest = compose_rest()
    # Partial functions can be pickled, unlike lambdas.
    forward = _multiply(profiles[0], rest, functools.partial(_make_forward, lattice))
    is_symmetric = len(profiles) == 1 and rest.symmetric
    if is_symmetric:
        return Pair(forward, forward)
    return Pair(forward, _multiply(profiles[-1], rest.reverse(), functools.partial(_make_backward, lattice)))


def _make_forward(make: Callable[[], Pair]) -> Profile:
    """Make a pair, and return its forward profile."""
    return make().forward


def _make_backward(make: Callable[[], Pair]) -> Profile:
    """Make a pair, and return its backward profile."""
    return make().backward


def _multiply(profile: EnumeratedProfile, pair: Pair, lattice: Callable[[], Profile]) -> FiniteAndPairProfile:
    """Return the profile of the product of one direction of an enumerated pair and another pair.

    Args:
        profile: profile of the enumerated pair.
        pair: the other pair in the same direction.
        lattice: makes the profile of the product on a lattice, for its tails.
    """
    return FiniteAndPairProfile(
        losses=profile.total_losses,
        log_masses=profile.log_masses,
        log_infinite=profile.log_infinite_mass,
        loss_error=profile.loss_error,
        log_error=profile.log_error + profile.computed_profile.mass_accuracy,
        forward=pair.forward,
        backward=pair.backward,
        lattice=lattice,
    )


def _enumerate(parts: Sequence[tuple[Pair, int]], most: int = MOST_KINDS) -> list[EnumeratedProfile] | None:
    """Enumerate all total losses of a composition of pairs with finitely many outcomes.

    A list of counts says how often each outcome occurs in all runs. It determines the total loss.

    Args:
        parts: pairs, and how often each is run.
        most: largest number of lists of counts.

    Returns:
        One profile if all pairs are symmetric, and otherwise one for each direction; None if a pair has no list of
        outcomes, or if there are more than `most` lists of counts.
    """
    laws: dict[FiniteLaw, int] = {}
    for pair, count in parts:
        if pair.atoms is None or not pair.atoms.losses:
            return None
        laws[pair.atoms] = laws.get(pair.atoms, 0) + count
    if not _are_few_lists(laws, most):
        return None
    profiles = [_profile(list(laws.items()))]
    if not all(pair.symmetric for pair, _ in parts):
        profiles.append(_profile([(law.reverse(), count) for law, count in laws.items()]))
    return profiles


def _are_few_lists(laws: dict[FiniteLaw, int], most: int) -> bool:
    """Return whether there are at most `most` ways in which the outcomes can be counted over all runs.

    Their number is Π C(T + k − 1, k − 1) over the distributions, with k outcomes and T runs each.

    Args:
        laws: distributions with finitely many outcomes, and the number of runs of each.
        most: the limit.
    """
    lists = 1
    for law, count in laws.items():
        outcomes = len(law.losses)
        if count > most and outcomes > 1:
            return False
        lists *= math.comb(count + outcomes - 1, outcomes - 1)
        if lists > most:
            return False
    return True


def _profile(laws: Sequence[tuple[FiniteLaw, int]]) -> EnumeratedProfile:
    """Enumerate the total losses of one direction of a composition, with bounds on their errors.

    Args:
        laws: distributions with finitely many outcomes, and how often each is run.
    """
    totals, log_masses = _total_losses(laws)
    log_error, loss_error = _enumeration_errors(laws)
    log_below = np.full(totals.size + 1, -np.inf)
    np.logaddexp.accumulate(log_masses, out=log_below[1:])
    # Totals that are below zero even with their error do not affect δ for ε ≥ 0.
    first = int(np.searchsorted(totals, -max(1e-9, 8.0 * loss_error), side="right"))
    log_infinite, mass_accuracy = _infinite_mass(laws)
    profile = AtomicProfile(
        tuple(totals[first:].tolist()), tuple(log_masses[first:].tolist()), log_infinite, mass_accuracy
    )
    return EnumeratedProfile(profile, log_error, loss_error, totals, log_below, log_masses)


def _infinite_mass(laws: Sequence[tuple[FiniteLaw, int]]) -> tuple[float, float]:
    """Return an upper bound on the log probability of an infinite total loss, log(1 − ∏ (1 − a)^T), and its accuracy.

    For one distribution it differs from log a by at most log T, which bounds the error that an error of a causes.

    Args:
        laws: distributions, with the probability a of an infinite loss, and the number T of runs of each.
    """
    counts = np.asarray([count for _, count in laws], dtype=np.float64)
    log_infinite = log_probability_of_any([law.log_infinite for law, _ in laws], counts, direction=1)
    one_plus_log_runs = 1.0 + math.log(float(counts.sum()))
    accuracy = 4 * UNIT_ROUNDOFF + 2.0 * one_plus_log_runs * max(law.accuracy for law, _ in laws)
    return log_infinite, accuracy


def _total_losses(laws: Sequence[tuple[FiniteLaw, int]]) -> tuple[FloatArray, FloatArray]:
    """Return all total losses of a composition in increasing order, in nats, and the log probability of each.

    Args:
        laws: distributions with finitely many outcomes, and the number of runs of each.
    """
    totals: FloatArray = np.zeros(1)
    log_masses: FloatArray = np.zeros(1)
    for law, count in laws:
        losses, masses = combine_outcomes(law, count)
        if len(laws) == 1:
            totals, log_masses = losses, masses
        else:
            totals = np.add.outer(losses, totals).ravel()
            log_masses = np.add.outer(masses, log_masses).ravel()
    order = np.argsort(totals, kind="stable")
    return totals[order], log_masses[order]


def _enumeration_errors(laws: Sequence[tuple[FiniteLaw, int]]) -> tuple[float, float]:
    """Return bounds on the error of every log probability, and on the error of every total loss in nats.

    They are sums over the distributions. Let a distribution have k outcomes and T runs, with masses known within a
    relative a and |log mass| at most b, and let u be the unit of roundoff. Its terms are (4 + 2k) u (2 log T! + T b)
    + T a (1 + b), and T max|l| (a + (k + 2) u). Each further distribution adds one rounding.

    Args:
        laws: distributions with finitely many outcomes, and how often each is run.
    """
    log_error = largest_total = 0.0
    loss_error = TINY
    for law, count in laws:
        outcomes, largest_log = len(law.losses), max(map(abs, law.log_first))
        log_sizes = 2.0 * math.lgamma(count + 1.0) + count * largest_log
        log_error += (_FACTORIAL_UNITS + 2 * outcomes + len(laws)) * UNIT_ROUNDOFF * log_sizes
        log_error += count * law.accuracy * (1.0 + largest_log)
        largest_loss = count * max(map(abs, law.losses))
        largest_total += largest_loss
        loss_error += largest_loss * (law.accuracy + (outcomes + 2) * UNIT_ROUNDOFF)
    return log_error, loss_error + len(laws) * UNIT_ROUNDOFF * largest_total

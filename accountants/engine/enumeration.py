"""Products of pairs with few outcomes, by enumeration of all totals of the loss.

T runs over k outcomes have C(T + k − 1, k − 1) kinds of runs, which differ in how often each outcome occurred. The
total loss of a kind is Σ n_i l_i, and its probability is multinomial. If there are few kinds, the distribution of the
total is finite, and its δ is a sum of positive terms at every ε (`profiles/atoms.py`): no lattice, no transform, no
tilt. Only the logarithms of the probabilities and the totals themselves are rounded.

*Charged:* with b ≥ |log p_i|, k outcomes and masses known within a, a log probability errs by at most (4 + 2k) u (2 log
T! + T b) + T a (1 + b): log n! is computed within 4 units, Σ log n_i! ≤ log T!, and no partial sum exceeds the bracket.
A total errs by at most T max|l| (a + (k + 2) u). δ is evaluated at ε moved by this error in either direction. The tails
are those of the distribution with all losses raised by this error, which dominates.
"""

from __future__ import annotations

import bisect
import functools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from scipy.special import gammaln

from epsilond.accountants.curve.enclosure import Enclosure, Interval, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import EpsilonEstimate, Profile, RootSearch
from epsilond.accountants.engine.contour.accuracy import TINY
from epsilond.accountants.engine.lattice.discretise import log_probability_of_any
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp, log1m_exp_at, log_sum
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.products.finite_and_gaussian import FiniteAndGaussianProfile
from epsilond.accountants.profiles.products.finite_and_pair import FiniteAndPairProfile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from epsilond.accountants.curve.finite_law import FiniteLaw
    from epsilond.accountants.curve.near_tests import NearTest
    from epsilond.accountants.numerics.special import FloatArray

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

MOST_KINDS = 2**14
"""Largest number of kinds of runs of a composition: a few milliseconds and a megabyte."""
_FACTORIAL_UNITS = 4
"""Error of log Γ, in units of roundoff: glibc's manual states at most four."""
_KEPT, _MOST_KEPT = 16, 2**12
"""Number of stored tables of counts, and largest number of entries of each: 2 MB in all."""
_NEAR_ONE = -5.0
"""log δ above which the sum for 1 − δ is evaluated too, because it may be more accurate."""


@dataclass(frozen=True, eq=False)
class EnumeratedProfile(Profile):
    """The profile of one direction of a product with finitely many values of the total loss.

    Attributes:
        totals: profile of the totals, as if they and their probabilities were exact.
        log_error: bound on the error of every log probability, and of the log of every sum of probabilities.
        misplacement: bound on the error of every total, in nats.
        places: all totals, increasing, in nats.
        log_below: log of the probability of the first 0, 1, 2, … totals.
        log_masses: log of the probability of each total.
    """

    root_search: ClassVar[RootSearch] = "solve"

    totals: AtomicProfile
    log_error: float
    misplacement: float
    places: FloatArray
    log_below: FloatArray
    log_masses: FloatArray

    @property
    def log_infinite_mass(self) -> float:
        """Upper bound of log(1 − Π (1 − a_j)^{T_j}), a_j the infinite masses of the distributions."""
        return self.totals.log_infinite_mass

    @property
    def tail_accuracy(self) -> float:
        """Error of each log tail: that of the totals' tails, of the probabilities, and of the raised masses under Q."""
        return self.totals.tail_accuracy + self.log_error + 2.0 * self.misplacement

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε), evaluated at ε moved either way by `misplacement`, the error of the total losses.

        Each bound is the better one of the sum for log δ, and of log(1 − (1 − δ)) from the sum for 1 − δ in
        `_log_complement`. The latter is more accurate for δ near 1.
        """
        at = np.asarray(epsilon, dtype=np.float64)
        slack = self.misplacement + 4 * UNIT_ROUNDOFF * at
        lower = self.totals.log_delta(at + slack).lower - self.log_error
        upper = self.totals.log_delta(at - slack).upper + self.log_error
        lower = np.maximum(lower, log1m_exp(self._log_complement(at + slack).upper))
        upper = np.minimum(upper, log1m_exp(self._log_complement(at - slack).lower))
        upper = np.minimum(upper * (1 - 8 * UNIT_ROUNDOFF) + TINY, 0.0)
        return Enclosure(lower * (1 + 8 * UNIT_ROUNDOFF) - TINY, upper)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ at one ε, without arrays."""
        slack = self.misplacement + 4 * UNIT_ROUNDOFF * epsilon
        lower = self.totals.log_delta_bounds(epsilon + slack).lower - self.log_error
        upper = self.totals.log_delta_bounds(epsilon - slack).upper + self.log_error
        if upper > _NEAR_ONE:
            lower = max(lower, log1m_exp_at(self._complement_at(epsilon + slack).upper))
            upper = min(upper, log1m_exp_at(self._complement_at(epsilon - slack).lower))
        upper = min(upper * (1 - 8 * UNIT_ROUNDOFF) + TINY, 0.0)
        return Interval(lower * (1 + 8 * UNIT_ROUNDOFF) - TINY, upper)

    def solve(self, log_delta: float) -> EpsilonEstimate:
        """Return the ε at which log δ is `log_delta`, in closed form between two neighbouring total losses."""
        solution = self.totals.solve(log_delta)
        return solution._replace(pad=4.0 * self.misplacement + solution.pad)

    def log_delta_bounds_in_search(self, epsilons: Sequence[float], *, lower: bool) -> list[Interval]:
        """Return bounds on log δ, without arrays."""
        del lower
        return [self.log_delta_bounds(epsilon) for epsilon in epsilons]

    def near_tests(self, sizes: Sequence[float]) -> list[NearTest | None]:
        """Return for each false positive rate the test that ends at one of the total losses."""
        return [self.totals.test_of(size, self.log_delta_bounds, self.tail_accuracy) for size in sizes]

    def _complement_at(self, epsilon: float) -> Interval:
        """Enclose log(1 − δ) at one ε, without arrays."""
        index = bisect.bisect_right(self._sorted, epsilon)
        value = log_sum(float(self.log_below[index]), epsilon + self.totals.log_second_above(epsilon))
        accuracy = self.tail_accuracy + 4 * UNIT_ROUNDOFF * (self.places.size + 8)
        slack = accuracy * (1.0 + abs(value) + abs(epsilon))
        return Interval(min(value - slack, 0.0), min(value + slack, 0.0))

    @cached_property
    def _sorted(self) -> list[float]:
        """Totals as a list, for bisection."""
        return list(self.places.tolist())

    def _log_complement(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log(1 − δ(ε)), accurately if δ is near 1.

        With the total loss S, 1 − δ = E_P[min(1, e^{ε−S})] = P(S ≤ ε) + e^ε Q(S > ε). An infinite loss adds 0 to both
        terms.
        """
        log_q = self.totals.log_tails(epsilon).log_q
        log_below = self.log_below[np.searchsorted(self.places, epsilon, side="right")]
        value = np.logaddexp(log_below, epsilon + log_q)
        # The sums of up to n terms err by a few times n units of roundoff.
        accuracy = self.tail_accuracy + 4 * UNIT_ROUNDOFF * (self.places.size + 8)
        slack = accuracy * (1.0 + np.abs(value) + np.abs(epsilon))
        return Enclosure(np.minimum(value - slack, 0.0), np.minimum(value + slack, 0.0))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the tails of the distribution with raised losses, which dominates."""
        at = np.asarray(epsilon, dtype=np.float64)
        return self.totals.log_tails(at - self.misplacement - 4 * UNIT_ROUNDOFF * at)


def enumerated_pair(parts: Sequence[tuple[Pair, int]]) -> Pair | None:
    """Return the product of pairs with finitely many outcomes, by enumerating the counts of the outcomes in all runs.

    The result is None if a pair has no list of outcomes, or there are too many lists of counts.

    Guarantees: both directions enclose δ of the product of exactly these distributions at every ε ≥ 0. Equal pairs in a
    list are one pair with the sum of their counts.

    Args:
        parts: pairs, and how often each is run, at least once.
    """
    profiles = _enumerate(parts)
    return None if profiles is None else Pair(profiles[0], profiles[-1], parts=tuple(parts))


def enumerated_pair_and_gaussian(parts: Sequence[tuple[Pair, int]], mu: float) -> Pair | None:
    """Return the product of `enumerated_pair` and N(μ, 1) against N(0, 1); None if the pairs cannot be enumerated.

    Args:
        parts: pairs, and how often each is run, at least once.
        mu: μ > 0.
    """
    profiles = _enumerate(parts)
    if profiles is None:
        return None
    products = [
        FiniteAndGaussianProfile(
            losses=profile.places,
            log_masses=profile.log_masses,
            log_infinite_mass=profile.log_infinite_mass + profile.log_error,
            misplacement=profile.misplacement,
            log_error=profile.log_error + profile.totals.mass_accuracy,
            mu=mu,
        )
        for profile in profiles
    ]
    return Pair(products[0], products[-1])


def enumerated_pair_and_rest(
    parts: Sequence[tuple[Pair, int]], compose_rest: Callable[[], Pair], lattice: Callable[[], Pair], most: int
) -> Pair | None:
    """Return the product of `enumerated_pair` and any other pair; None if the pairs have many kinds of runs.

    Args:
        parts: pairs with finitely many outcomes, and how often each is run, at least once.
        compose_rest: makes the other pair.
        lattice: makes the same product on a lattice, for its tails.
        most: largest number of kinds of runs.
    """
    profiles = _enumerate(parts, most)
    if profiles is None:
        return None
    rest = compose_rest()
    directions = [(rest.forward, rest.backward)]
    if len(profiles) > 1 or not rest.symmetric:
        directions.append((rest.backward, rest.forward))
    products = [
        FiniteAndPairProfile(
            losses=profile.places,
            log_masses=profile.log_masses,
            log_infinite=profile.log_infinite_mass,
            misplacement=profile.misplacement,
            log_error=profile.log_error + profile.totals.mass_accuracy,
            forward=forward,
            backward=backward,
            lattice=functools.partial(_direction_of, lattice, is_forward=index == 0),
        )
        for index, (profile, (forward, backward)) in enumerate(
            zip((profiles[0], profiles[-1]), directions, strict=False)
        )
    ]
    return Pair(products[0], products[-1])


def _direction_of(make: Callable[[], Pair], *, is_forward: bool) -> Profile:
    """Return one direction of a pair that is made at its first use."""
    pair = make()
    return pair.forward if is_forward else pair.backward


def _enumerate(parts: Sequence[tuple[Pair, int]], most: int = MOST_KINDS) -> list[EnumeratedProfile] | None:
    """Enumerate the composition of pairs with finitely many outcomes.

    Args:
        parts: pairs, and how often each is run.
        most: largest number of kinds of runs.

    Returns:
        One profile if all pairs are symmetric, and otherwise one for each direction; None if a pair has no list of
        outcomes, or there would be more than `most` terms.
    """
    laws: dict[FiniteLaw, int] = {}
    for pair, count in parts:
        if pair.atoms is None or not pair.atoms.losses:
            return None
        laws[pair.atoms] = laws.get(pair.atoms, 0) + count
    if not _are_few_kinds(laws, most):
        return None
    profiles = [_profile(list(laws.items()))]
    if not all(pair.symmetric for pair, _ in parts):
        profiles.append(_profile([(law.reverse(), count) for law, count in laws.items()]))
    return profiles


def _are_few_kinds(laws: dict[FiniteLaw, int], most: int) -> bool:
    """Return whether Π C(T + k − 1, k − 1) over the distributions, with k outcomes and T runs, is at most `most`.

    It is the number of lists of counts of the outcomes in all runs.
    """
    kinds = 1
    for law, count in laws.items():
        if count > most and len(law.losses) > 1:
            return False
        kinds *= math.comb(count + len(law.losses) - 1, len(law.losses) - 1)
        if kinds > most:
            return False
    return True


def _profile(laws: Sequence[tuple[FiniteLaw, int]]) -> EnumeratedProfile:
    """Enumerate the total losses of one direction of a composition, with bounds on their errors.

    Args:
        laws: distributions with finitely many outcomes, and how often each is run.
    """
    totals, log_masses = _total_losses(laws)
    log_error, misplacement = _enumeration_errors(laws)
    log_below = np.full(totals.size + 1, -np.inf)
    np.logaddexp.accumulate(log_masses, out=log_below[1:])
    # Totals below zero, beyond any rounding, do not affect δ for ε ≥ 0.
    first = int(np.searchsorted(totals, -max(1e-9, 8.0 * misplacement), side="right"))
    counts = np.asarray([count for _, count in laws], dtype=np.float64)
    log_infinite = log_probability_of_any([law.log_infinite for law, _ in laws], counts, direction=1)
    # The error of log (1 − ∏ (1 − a)^T), which differs from log a by at most log T.
    runs = 1.0 + math.log(float(counts.sum()))
    accuracy = 4 * UNIT_ROUNDOFF + 2.0 * runs * max(law.accuracy for law, _ in laws)
    profile = AtomicProfile(tuple(totals[first:].tolist()), tuple(log_masses[first:].tolist()), log_infinite, accuracy)
    return EnumeratedProfile(profile, log_error, misplacement, totals, log_below, log_masses)


def _total_losses(laws: Sequence[tuple[FiniteLaw, int]]) -> tuple[FloatArray, FloatArray]:
    """Return all total losses in increasing order, in nats, and their log probabilities."""
    totals: FloatArray = np.zeros(1)
    log_masses: FloatArray = np.zeros(1)
    for law, count in laws:
        losses, masses = _kinds(law, count)
        if len(laws) == 1:
            totals, log_masses = losses, masses
        else:
            totals = np.add.outer(losses, totals).ravel()
            log_masses = np.add.outer(masses, log_masses).ravel()
    order = np.argsort(totals, kind="stable")
    return totals[order], log_masses[order]


def _enumeration_errors(laws: Sequence[tuple[FiniteLaw, int]]) -> tuple[float, float]:
    """Return bounds on the error of every log probability, and on that of every total loss in nats.

    Of T runs of a distribution with k outcomes, losses l, masses p known within a relative a, b ≥ |log p| and the unit
    of roundoff u, the log probability errs by (4 + 2k) u (2 log T! + T b) + T a (1 + b), and the total by
    T max|l| (a + (k + 2) u). Several distributions add one rounding each.
    """
    log_error = largest_total = 0.0
    misplacement = TINY
    for law, count in laws:
        outcomes, bound = len(law.losses), max(map(abs, law.log_first))
        log_sizes = 2.0 * math.lgamma(count + 1.0) + count * bound
        log_error += (_FACTORIAL_UNITS + 2 * outcomes + len(laws)) * UNIT_ROUNDOFF * log_sizes
        log_error += count * law.accuracy * (1.0 + bound)
        largest = count * max(map(abs, law.losses))
        largest_total += largest
        misplacement += largest * (law.accuracy + (outcomes + 2) * UNIT_ROUNDOFF)
    return log_error, misplacement + len(laws) * UNIT_ROUNDOFF * largest_total


class _Outcome(NamedTuple):
    """One step of an enumeration of counts (n_1, …, n_i), which adds the count n_i of one more outcome.

    After the step there is one entry for each list of counts of the outcomes so far.

    Attributes:
        of: for each new list, the index of the shorter list before the step that it extends.
        times: for each new list, the count n_i of the added outcome.
        log_factorial: log n_i! of this count.
    """

    of: IntArray
    times: IntArray
    log_factorial: FloatArray


def _enumerate_counts(size: int, count: int) -> Iterator[_Outcome]:
    """Yield the steps that list all counts n_1, …, n_k ≥ 0 of the outcomes of some runs. Each step adds one outcome.

    Args:
        size: number k of outcomes.
        count: number of runs, which is Σ n_i.
    """
    log_factorial = np.asarray(gammaln(np.arange(count + 1) + 1.0))
    remaining = np.asarray([count])
    for _ in range(size - 1):
        sizes = remaining + 1
        of = np.repeat(np.arange(remaining.size), sizes)
        times = np.arange(of.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        yield _Outcome(of, times, log_factorial[times])
        remaining = remaining[of] - times
    yield _Outcome(np.arange(remaining.size), remaining, log_factorial[remaining])


@functools.lru_cache(maxsize=_KEPT)
def _few_outcomes(size: int, count: int) -> tuple[_Outcome, ...]:
    """Return all steps of a small enumeration, which is stored."""
    return tuple(_enumerate_counts(size, count))


def _kinds(law: FiniteLaw, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the total loss and the log probability of every list of counts of the outcomes in `count` runs."""
    size = len(law.losses)
    few = size * math.comb(count + size - 1, size - 1) <= _MOST_KEPT
    total, log_mass = np.zeros(1), np.asarray(gammaln(np.asarray([count + 1.0])))
    steps = _few_outcomes(size, count) if few else _enumerate_counts(size, count)
    for (of, times, log_factorial), loss, mass in zip(steps, law.losses, law.log_first, strict=True):
        total = total[of] + times * loss
        log_mass = log_mass[of] + (times * mass - log_factorial)
    return total, log_mass

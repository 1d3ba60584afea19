"""Pairs that the best of a random number of runs attains, for lower bounds on δ.

Let P and Q be the distributions of one run on two neighbours, and E a set of outputs of a nested family. An order of
outputs that prefers E to all others is admitted. With the generating function f of the number K of runs, the best
output is in E with probability 1 − f(1 − P(E)) under the first neighbour. An order that prefers all others to E gives
f(P(E)) − f(0), the probability that there are runs and all are in E. Both increase in P(E). So a lower bound on P(E)
and an upper bound on Q(E) give a test with a true and a false positive rate. The sets are {L > ε} and {L ≥ −ε}, for
the privacy loss L of one run and ε ≥ 0. For a composition they are the most powerful tests of given false positive
rates: sets of outputs with a large likelihood ratio, with ties broken by independent random numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.amplification import AmplifiedProfile
from epsilond.accountants.profiles.binned import finite_pair
from epsilond.accountants.profiles.thinned import ThinnedProfile

if TYPE_CHECKING:
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.profiles.selection.best_of_runs import RunsDistribution

_ACCURACY = 1e-9
"""Largest relative error of the mass of a cell between two tests; cells with a larger error are left out."""
_ROUNDING = 64 * UNIT_ROUNDOFF
"""Relative error of the exponential of a log tail, per unit of 1 + |log tail|."""
_LEAST_FALSE_RATE, _LEAST_TRUE_RATE = 1e-200, 1e-100
"""Upper bound on all smaller false positive rates, and least true positive rate of a test that is used.

No rate is rounded to 0 then, which would be the rate of an impossible output, and no product of two rates is.
"""
_RATES = tuple(np.concatenate((np.geomspace(1e-14, 0.5, 44), 1.0 - np.geomspace(0.4, 1e-6, 16))).tolist())
"""False positive rates of the most powerful tests, in increasing order: the kernel takes at most 64."""
_LEAST_RATES = (1e-14, 1e-10, 1e-7)
"""Least of these rates, in the order of the attempts: very small ones may be beyond a profile's accuracy."""


class _Probabilities(NamedTuple):
    """Probabilities of sets of outputs under one distribution, with those of the complements, in increasing order.

    Attributes:
        inside: probabilities of the sets.
        outside: probabilities of the complements.
    """

    inside: FloatArray
    outside: FloatArray


def attained_selection_pairs(base: Pair, runs: RunsDistribution, epsilons: FloatArray) -> tuple[Pair, ...]:
    """Return pairs that the best of a random number of runs attains, from a pair that one run attains.

    A pair is attained if some data give its two distributions. It gives lower bounds on δ.

    Args:
        base: pair that one run attains.
        runs: distribution of the number of runs.
        epsilons: values of ε at which the privacy loss is compared, increasing from 0.

    Returns:
        One pair if the best run is the one with the largest privacy loss, and one if it is the one with the smallest.
        Empty if no bounds on the probabilities of suitable sets of outputs of one run are known.
    """
    forward_sets = _nested_sets(base.forward, base.backward, epsilons)
    backward_sets = _nested_sets(base.backward, base.forward, epsilons)
    if forward_sets is None or backward_sets is None:
        return ()
    forward_first, forward_last = _direction_pairs(forward_sets, runs)
    backward_first, backward_last = _direction_pairs(backward_sets, runs)
    # An order that prefers large losses of one direction prefers small losses of the other one.
    return (
        Pair(forward_first.forward, backward_last.forward),
        Pair(forward_last.forward, backward_first.forward),
    )


def _direction_pairs(sets: tuple[_Probabilities, _Probabilities], runs: RunsDistribution) -> tuple[Pair, Pair]:
    """Return two pairs of distributions that the best run attains, one for each order of the outputs.

    The best run is chosen by an order that prefers large privacy losses, or by one that prefers small losses. Lower
    bounds on the true positive rates and upper bounds on the false positive rates of tests give each pair.

    Args:
        sets: lower bounds on the probabilities of nested sets of outputs of one run under the first distribution, and
            upper bounds under the second one.
        runs: distribution of the number of runs.

    Returns:
        The pair for the order that prefers large losses, and the pair for the order that prefers small ones.
    """
    first, second = sets
    pairs = []
    for probability in (runs.some_in, runs.all_in):
        true_rates = probability(first.inside, first.outside, up=False) * (1.0 - runs.rounding)
        false_rates = probability(second.inside, second.outside, up=True) * (1.0 + runs.rounding)
        pairs.append(_pair_of_tests(true_rates, np.clip(false_rates, _LEAST_FALSE_RATE, 1.0)))
    return pairs[0], pairs[1]


def _nested_sets(
    profile: Profile, reverse: Profile, epsilons: FloatArray
) -> tuple[_Probabilities, _Probabilities] | None:
    """Bound the probabilities of increasing sets of outputs of one run under both distributions P and Q.

    The sets are those of a privacy loss L above a number, or of the most powerful tests. They give the error rates of
    tests of the best of several runs.

    Args:
        profile: privacy profile of the pair (P, Q).
        reverse: privacy profile of (Q, P), of which the loss is −L.
        epsilons: values of ε in nats, increasing from 0.

    Returns:
        Lower bounds on the probabilities under P, and upper bounds on those under Q, each with those of the
        complements. None if no bounds are known.
    """
    if not (_has_own_tails(profile) and _has_own_tails(reverse)):
        return _sets_of_best_tests(profile)
    # The sets are {L > ε} for decreasing ε ≥ 0, and then {L ≥ −ε} for increasing ε.
    above_p, above_q = (np.exp(log_tail)[::-1] for log_tail in _bound_tails(profile, epsilons))
    below_q, below_p = (np.exp(log_tail) for log_tail in _bound_tails(reverse, epsilons))
    first = _Probabilities(
        inside=np.concatenate((above_p, 1.0 - below_p)), outside=np.concatenate((1.0 - above_p, below_p))
    )
    second = _Probabilities(
        inside=np.concatenate((above_q, 1.0 - below_q)), outside=np.concatenate((1.0 - above_q, below_q))
    )
    return first, second


def _has_own_tails(profile: Profile) -> bool:
    """Return whether a profile gives the tails of its own pair, at little cost.

    The profile of a composition has no such tails, since they may be those of a larger pair.

    Args:
        profile: the privacy profile, which may be wrapped by subsampling.

    Returns:
        True if the tails of the profile may be used for lower bounds on δ.
    """
    innermost = profile
    while isinstance(innermost, AmplifiedProfile | ThinnedProfile):
        innermost = innermost.base
    # Profiles with other attained tails return them here.
    return not innermost.pointwise and profile.attained_log_tails(np.zeros(1)) is None


def _sets_of_best_tests(profile: Profile) -> tuple[_Probabilities, _Probabilities] | None:
    """Bound the probabilities of the most powerful tests of several false positive rates.

    A test is the set of outputs at which it accepts. If very small rates are beyond the profile's accuracy, larger ones
    are tried.

    Args:
        profile: privacy profile of the pair (P, Q).

    Returns:
        Lower bounds on the probabilities under P, and the false positive rates, which are those under Q. None if the
        profile does not compute such tests itself.
    """
    tests = None
    for least_rate in _LEAST_RATES:
        # Use the first list of rates for which the profile computes its tests.
        tests = tests or profile.best_tests([rate for rate in _RATES if rate >= least_rate])
    if tests is None:
        return None
    known_tests = [(rate, test) for rate, test in tests.by_rate.items() if test is not None]
    false_rates = np.asarray([rate for rate, _ in known_tests])
    true_rates = np.asarray([max(test.true_positive_rate.lower, 0.0) for _, test in known_tests])
    return _Probabilities(true_rates, 1.0 - true_rates), _Probabilities(false_rates, 1.0 - false_rates)


def _bound_tails(profile: Profile, epsilons: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bounds on the log tails of the privacy loss: lower ones under P, and upper ones under Q.

    A test accepts if the loss exceeds ε. The bounds are those on its true and its false positive rate.

    Args:
        profile: profile of (P, Q), which has these tails up to an error.
        epsilons: values of ε ≥ 0, in nats.

    Returns:
        Lower bounds on log P(L > ε) and upper bounds on log Q(L > ε) for the privacy loss L, one for each ε.
    """
    log_p, log_q = profile.log_tails(epsilons)
    # The caller takes exponentials, whose error is included.
    accuracy = profile.tail_accuracy + _ROUNDING
    with np.errstate(invalid="ignore"):
        lower = np.where(np.isneginf(log_p), -np.inf, log_p - accuracy * (1.0 + np.abs(log_p)))
        upper = np.where(np.isneginf(log_q), -np.inf, log_q + accuracy * (1.0 + np.abs(log_q)))
    return lower, np.minimum(upper, 0.0)


def _pair_of_tests(true_rates: FloatArray, false_rates: FloatArray) -> Pair:
    """Return a pair of distributions that every pair with tests of given error rates dominates.

    It is the pair of the concave hull of the error rates. It gives lower bounds on δ.

    Args:
        true_rates: lower bounds on the true positive rates.
        false_rates: upper bounds on the false positive rates, in the same order.

    Returns:
        A pair with one outcome for each edge of the hull that is computed accurately.
    """
    hull: list[tuple[float, float]] = [(0.0, 0.0)]  # vertices: true and false positive rates
    for true_rate, false_rate in zip(true_rates.tolist(), false_rates.tolist(), strict=True):
        last_true, last_false = hull[-1]
        if true_rate <= max(last_true, _LEAST_TRUE_RATE):
            continue  # not better than the last test, or too small
        vertex = (true_rate, max(false_rate, last_false))
        while len(hull) > 1 and not _is_bend(hull[-2], hull[-1], vertex):
            hull.pop()
        hull.append(vertex)
    # The edges of the hull are the outcomes. Their coordinates are the masses under both distributions.
    rates = np.asarray(hull, dtype=np.float64)
    masses = np.diff(rates, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Relative error of a difference of two rates, each rounded by a few units.
        errors = np.where(masses > 0.0, 4 * UNIT_ROUNDOFF * rates[1:] / masses, 0.0).max(axis=1)
        log_masses = np.log(masses[errors <= _ACCURACY])
    return finite_pair(log_masses[:, 0], log_masses[:, 1], _ACCURACY)


def _is_bend(first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float]) -> bool:
    """Return whether a point of a curve of error rates is above the line between its two neighbours.

    The false positive rate is drawn to the right, and the true positive rate upward.

    Args:
        first: true and false positive rate of the first vertex.
        middle: true and false positive rate of the middle vertex.
        last: true and false positive rate of the last vertex.

    Returns:
        True if the middle vertex is a vertex of the concave hull.
    """
    rise, run = middle[0] - first[0], middle[1] - first[1]
    next_rise, next_run = last[0] - middle[0], last[1] - middle[1]
    # The slope before the middle exceeds the slope after it.
    return rise * next_run > next_rise * run

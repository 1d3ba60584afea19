"""Products of pairs with few outcomes, by enumeration of all totals of the loss.

T runs over k outcomes have C(T + k − 1, k − 1) lists of counts n_1, …, n_k, where outcome i occurs n_i times. With the
loss l_i of outcome i, the total loss for a list is Σ n_i l_i, and the probability of a list is multinomial. If there
are few lists, δ is a sum of few positive terms at every ε (`profiles/atoms.py`), and no lattice or transform is needed.

Errors: let u be the unit of roundoff, and let the masses p_i be known within a relative a, with |log p_i| ≤ b. A log
probability errs by at most (4 + 2k) u (2 log T! + T b) + T a (1 + b), because log n! is computed within 4 units, and
no partial sum exceeds 2 log T! + T b. A total errs by at most T max|l_i| (a + (k + 2) u). Bounds on δ are evaluated at
ε moved by this error in either direction. The tails are those of the distribution with all losses raised by this error,
which dominates.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.engine.contour.accuracy import TINY
from epsilond.accountants.engine.enumerated_profile import EnumeratedProfile
from epsilond.accountants.engine.lattice.discretise import log_probability_of_any
from epsilond.accountants.engine.outcome_counts import combine_outcomes
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.products.finite_and_gaussian import FiniteAndGaussianProfile
from epsilond.accountants.profiles.products.finite_and_pair import FiniteAndPairProfile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.finite_law import FiniteLaw
    from epsilond.accountants.numerics.special import FloatArray

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

MOST_KINDS = 2**14
"""Largest number of lists of counts of a composition. They need a few milliseconds and a megabyte."""
_FACTORIAL_UNITS = 4
"""Error of log Γ, in units of roundoff: glibc's manual states at most four."""


def enumerated_pair(parts: Sequence[tuple[Pair, int]]) -> Pair | None:
    """Return the product of pairs with finitely many outcomes, by enumerating all lists of outcome counts.

    A list says how often each outcome occurs in all runs, which determines the total loss. Runs of equal pairs are
    counted together.

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
    # The Gaussian pair is the same in both directions.
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
    backward = _multiply(profiles[-1], rest.reverse(), functools.partial(_make_backward, lattice))
    return Pair(forward, backward)


def _make_forward(make: Callable[[], Pair]) -> Profile:
    """Return the profile of a pair in the direction P against Q.

    Args:
        make: function that makes the pair.
    """
    return make().forward


def _make_backward(make: Callable[[], Pair]) -> Profile:
    """Return the profile of a pair in the direction Q against P.

    Args:
        make: function that makes the pair.
    """
    return make().backward


def _multiply(profile: EnumeratedProfile, pair: Pair, lattice: Callable[[], Profile]) -> FiniteAndPairProfile:
    """Return the profile ε ↦ δ(ε) of the product of an enumerated pair and a second pair, in one direction.

    δ of the product is a sum over the total losses of the enumerated pair, of δ of the second pair at shifted ε.

    Args:
        profile: profile of the enumerated pair, with all its total losses.
        pair: the second pair in the same direction.
        lattice: makes the profile of the product on a lattice, for its tails.

    Returns:
        The profile of the product, which encloses its δ at every ε.
    """
    # The error of each log mass adds the bound of the enumeration and the accuracy of the given masses.
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

    A list of counts says how often each outcome occurs in all runs, which determines the total loss.

    Args:
        parts: pairs, and how often each is run.
        most: largest number of lists of counts.

    Returns:
        One profile if all pairs are symmetric, and otherwise one for each direction; None if a pair has no list of
        outcomes, or if there are more than `most` lists of counts.
    """
    runs_of_law: dict[FiniteLaw, int] = {}
    for pair, count in parts:
        if pair.atoms is None or not pair.atoms.losses:
            return None
        runs_of_law[pair.atoms] = runs_of_law.get(pair.atoms, 0) + count
    if not _has_few_lists(runs_of_law, most):
        return None

    profiles = [_enumerate_direction(list(runs_of_law.items()))]
    is_symmetric = all(pair.symmetric for pair, _ in parts)
    if not is_symmetric:
        reversed_laws = [(law.reverse(), count) for law, count in runs_of_law.items()]
        profiles.append(_enumerate_direction(reversed_laws))
    return profiles


def _has_few_lists(laws: dict[FiniteLaw, int], most: int) -> bool:
    """Return whether a composition has at most a given number of lists of outcome counts.

    Their number is Π C(T + k − 1, k − 1) over the distributions, with k outcomes and T runs each. The product stops
    once it exceeds the limit, so that no huge number is computed.

    Args:
        laws: distributions with finitely many outcomes, and the number of runs of each.
        most: the limit.

    Returns:
        True if there are at most `most` lists of counts.
    """
    lists = 1
    for law, count in laws.items():
        outcomes = len(law.losses)
        # With two or more outcomes there are more than T lists.
        if count > most and outcomes > 1:
            return False
        lists *= math.comb(count + outcomes - 1, outcomes - 1)
        if lists > most:
            return False
    return True


def _enumerate_direction(laws: Sequence[tuple[FiniteLaw, int]]) -> EnumeratedProfile:
    """Enumerate the total losses of one direction of a composition, with bounds on their errors.

    Args:
        laws: distributions with finitely many outcomes, and how often each is run.

    Returns:
        The profile, with all total losses in nats, their log probabilities, and the error bounds of both.
    """
    total_losses, log_masses = _total_losses(laws)
    log_error, loss_error = _enumeration_errors(laws)
    # Entry i is the log probability of the first i total losses.
    log_below = np.full(total_losses.size + 1, -np.inf)
    np.logaddexp.accumulate(log_masses, out=log_below[1:])

    # Totals that are below zero even with their error do not affect δ for ε ≥ 0.
    certainly_negative = -max(1e-9, 8.0 * loss_error)
    first = int(np.searchsorted(total_losses, certainly_negative, side="right"))
    losses, masses = tuple(total_losses[first:].tolist()), tuple(log_masses[first:].tolist())
    log_infinite, mass_accuracy = _infinite_mass(laws)
    computed_profile = AtomicProfile(losses, masses, log_infinite, mass_accuracy)
    return EnumeratedProfile(computed_profile, log_error, loss_error, total_losses, log_below, log_masses)


def _infinite_mass(laws: Sequence[tuple[FiniteLaw, int]]) -> tuple[float, float]:
    """Return an upper bound on the log probability of an infinite total loss, and its accuracy.

    The probability is 1 − ∏ (1 − a)^T over the distributions, with the probability a of an infinite loss in one run and
    T runs. For one distribution, its log exceeds log a by at most log T, which limits the effect of an error of a.

    Args:
        laws: distributions, with the probability a of an infinite loss, and the number T of runs of each.

    Returns:
        The bound on the log probability, and its accuracy: an error bound per unit of 1 + its size.
    """
    counts = np.asarray([count for _, count in laws], dtype=np.float64)
    log_infinite = log_probability_of_any([law.log_infinite for law, _ in laws], counts, direction=1)
    one_plus_log_runs = 1.0 + math.log(float(counts.sum()))
    # An error of a changes the log probability by at most 1 + log T times as much.
    accuracy = 4 * UNIT_ROUNDOFF + 2.0 * one_plus_log_runs * max(law.accuracy for law, _ in laws)
    return log_infinite, accuracy


def _total_losses(laws: Sequence[tuple[FiniteLaw, int]]) -> tuple[FloatArray, FloatArray]:
    """Return all total losses of a composition in increasing order, with the log probability of each.

    The runs of one distribution give a list of totals. Those of several distributions are combined in all ways.

    Args:
        laws: distributions with finitely many outcomes, and the number of runs of each.

    Returns:
        Two arrays of equal length: the total losses in nats, increasing, and their log probabilities.
    """
    totals: FloatArray = np.zeros(1)
    log_masses: FloatArray = np.zeros(1)
    for law, count in laws:
        losses_of_law, log_masses_of_law = combine_outcomes(law, count)
        if len(laws) == 1:
            totals, log_masses = losses_of_law, log_masses_of_law
        else:
            totals = np.add.outer(losses_of_law, totals).ravel()
            log_masses = np.add.outer(log_masses_of_law, log_masses).ravel()
    # Equal totals remain separate entries.
    order = np.argsort(totals, kind="stable")
    return totals[order], log_masses[order]


def _enumeration_errors(laws: Sequence[tuple[FiniteLaw, int]]) -> tuple[float, float]:
    """Return bounds on the error of every log probability, and on the error of every total loss in nats.

    Let a distribution have k outcomes with the losses l, and T runs. Let its masses be known within a relative a, with
    |log mass| at most b. Let u be the unit of roundoff. The bounds are sums over the distributions:

    - for a log probability, of (4 + 2k) u (2 log T! + T b) + T a (1 + b);
    - for a total loss, of T max|l| (a + (k + 2) u).

    Each distribution adds one more rounding to both, that of the sum over the distributions.

    Args:
        laws: distributions with finitely many outcomes, and how often each is run.

    Returns:
        The bound for log probabilities, and the bound for total losses.
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

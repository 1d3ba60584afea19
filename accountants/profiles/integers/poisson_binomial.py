"""Bounds on the sum of several clients' binomial variables when one client's value is replaced.

M = (n − 1) m trials are those of the other clients, and h of them have the probability 1/2 + θ. F(j) is the
distribution of N = nm trials of which j have that probability. The pair of h is F(h + m) against F(h). Proofs:
docs/integer-noise.md, Sums of binomial variables.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.pair import Pair, with_plateau
from epsilond.accountants.curve.plateaus import pure_plateau
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.declared.points import ProfilePoint, points_pair
from epsilond.accountants.profiles.integers.binomial_sums import LOG_UNLISTED, binomial, log_odds, two_binomials
from epsilond.accountants.profiles.integers.shifted_noise import ShiftedTable, shifted_pairs

if TYPE_CHECKING:
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray

_BLOCKS = 64
"""Largest number of blocks of h; the bound then uses at least 98 % of the other clients' trials."""
_POINTS = 512
"""Number of ε at which the bound is computed, about 1/30 of a standard deviation of the loss apart."""
_KEPT = 16
"""Number of stored bounds."""


class TrialsBounds(NamedTuple):
    """Bounds on the privacy of a sum of clients' binomial variables when the value of one client is replaced.

    Attributes:
        upper: pair of distributions for upper bounds: its δ is at least that of the sum, for any values of the other
            clients.
        attained: distributions of the sum before and after the replacement, for some values of the other clients. They
            give lower bounds on δ.
    """

    upper: Pair
    attained: tuple[Pair, ...]


class _Losses(NamedTuple):
    """The privacy losses of a released sum of binary trials, the log ratios of its probabilities on two data sets.

    Each of the two distributions is a list of probabilities; very improbable sums are not listed. A sum has a loss here
    if both distributions list it.

    Attributes:
        losses: losses in nats, not decreasing.
        log_masses: log probabilities under the first distribution, in the same order.
        log_rest: upper bound on the log probability of values that are not listed.
        log_beyond: log probability, under the first distribution, of its listed sums above the largest listed sum of
            the second distribution.
        loss_error: bound on the absolute error of each loss, in nats.
        error: bound on the error of each log probability.
    """

    losses: FloatArray
    log_masses: FloatArray
    log_rest: float
    log_beyond: float
    loss_error: float
    error: float


def pure_epsilon(trials: int, theta: float) -> float:
    """Return the largest privacy loss of a client's m binary trials, m log((1/2 + θ)/(1/2 − θ)).

    The success probability of the trials changes from 1/2 + θ to 1/2 − θ.

    Args:
        trials: number m of trials of one client.
        theta: θ, 0 < θ < 1/2.

    Returns:
        The loss in nats, rounded up.
    """
    # The factor exceeds the relative error of the logarithm and of the product.
    return trials * log_odds(theta) * (1.0 + 8 * UNIT_ROUNDOFF)


@lru_cache(maxsize=_KEPT)
def trials_bounds(trials: int, theta: float, clients: int) -> TrialsBounds:
    """Return a dominating pair and attained pairs for one coordinate of the Poisson binomial mechanism.

    A pair is two distributions of the sum, for neighbouring data. Each client reports a binomial number of m trials
    with a success probability from 1/2 − θ to 1/2 + θ, and the sum is released.

    Args:
        trials: number m of trials of one client.
        theta: θ, 0 < θ < 1/2.
        clients: number n of clients in a sum.

    Returns:
        A pair that bounds δ from above, and pairs that bound it from below.
    """
    pure = pure_epsilon(trials, theta)
    if clients == 1:
        exact = with_plateau(_single_client(trials, theta), pure_plateau(Fraction(pure)))
        return TrialsBounds(exact, (exact,))

    # The outcomes that `points_pair` lists include an infinite loss of small probability, as a margin. They are left
    # out, because the sum has no infinite loss.
    other_trials = (clients - 1) * trials
    points = points_pair(_largest_deltas(trials, other_trials, theta))
    upper = with_plateau(Pair(points.forward, points.forward), pure_plateau(Fraction(pure)))

    # None, half, or nine tenths of the other clients have the largest value. Equal numbers are listed once.
    raised_clients = dict.fromkeys((0, (clients - 1) // 2, 9 * (clients - 1) // 10))
    attained = [attained_pair(trials, other_trials, theta, number * trials) for number in raised_clients]
    return TrialsBounds(upper, tuple(attained))


def _single_client(trials: int, theta: float) -> Pair:
    """Return the two distributions of one client's message, a binomial number of successes.

    The success probability is 1/2 + θ or 1/2 − θ. The privacy loss of k successes of m trials is:

        (2k − m) log((1/2 + θ)/(1/2 − θ)).

    Args:
        trials: number m of trials.
        theta: θ, 0 < θ < 1/2.

    Returns:
        The pair of the two binomial distributions, with all positive losses listed.
    """
    distribution = binomial(trials, theta, complete=True)
    first_positive = trials // 2 + 1
    successes = np.arange(trials // 2 + 1.0, trials + 1.0)
    losses = (2.0 * successes - trials) * log_odds(theta)
    log_masses = distribution.log_masses[first_positive:]
    table = ShiftedTable(losses, log_masses, -math.inf, distribution.error + 8 * UNIT_ROUNDOFF)
    # All positive losses are listed, so the dominating pair is also attained.
    return shifted_pairs(table).upper


def attained_pair(trials: int, other_trials: int, theta: float, raised: int) -> Pair:
    """Return an attained pair of the Poisson binomial mechanism, for lower bounds on δ.

    h trials of the other clients have probability 1/2 + θ, and their remaining trials 1/2 − θ. The value of one client
    changes from the largest to the smallest.

    Args:
        trials: number m of trials of one client.
        other_trials: number M of trials of the other clients.
        theta: θ, 0 < θ < 1/2.
        raised: h, a multiple of m.

    Returns:
        A pair with a lower bound on δ in each direction, for these values of the other clients.
    """
    forward = _lower_profile(_losses(trials, other_trials, theta, raised))
    backward = _lower_profile(_losses(trials, other_trials, theta, other_trials - raised))
    return Pair(forward, backward)


def _losses(trials: int, other_trials: int, theta: float, raised: int) -> _Losses:
    """Return the privacy losses of a sum of binary trials when m of its trials change their success probability.

    Let F_j(s) be the probability of the sum s of M + m trials. Here j of them have the success probability 1/2 + θ and
    the others 1/2 − θ. The privacy loss at s, which increases with s, is:

        log F_{h+m}(s) − log F_h(s).

    Args:
        trials: number m of trials of one client.
        other_trials: number M of trials of the other clients.
        theta: θ, 0 < θ < 1/2.
        raised: h, number of the other clients' trials that have the larger probability.

    Returns:
        The losses with their log probabilities, bounds on the errors of both, and the probability of values that are
        not listed.
    """
    first = two_binomials(raised + trials, other_trials - raised, theta)
    second = two_binomials(raised, other_trials - raised + trials, theta)

    # Both distributions list the sums low, …, high − 1.
    low = max(first.first, second.first)
    high = min(first.first + first.log_masses.size, second.first + second.log_masses.size)
    high = max(high, low)
    log_masses = first.log_masses[low - first.first : high - first.first]
    differences = log_masses - second.log_masses[low - second.first : high - second.first]
    losses = np.maximum.accumulate(differences)  # the exact losses increase, but rounded ones may not

    # The sums that only the first distribution lists.
    below = first.log_masses[: low - first.first]
    beyond = first.log_masses[high - first.first :]
    log_unmatched = float(np.logaddexp.reduce(np.concatenate([below, beyond]), initial=-np.inf))
    # Round up by the errors of the probabilities and of their sum.
    log_unmatched = log_unmatched + first.error + 8 * UNIT_ROUNDOFF
    log_rest = float(np.logaddexp(log_unmatched, LOG_UNLISTED)) + 8 * UNIT_ROUNDOFF
    # A loss is a difference of two logarithms, so their errors add.
    return _Losses(
        losses=losses,
        log_masses=log_masses,
        log_rest=min(log_rest, 0.0),
        log_beyond=float(np.logaddexp.reduce(beyond, initial=-np.inf)),
        loss_error=first.error + second.error + 256 * UNIT_ROUNDOFF,
        error=first.error + 8 * UNIT_ROUNDOFF,
    )


def _lower_profile(listed: _Losses) -> Profile:
    """Return a lower bound on a privacy profile δ(ε) from the listed sums with a certainly positive loss.

    Sums above all those that the second distribution lists are merged into one outcome, which lowers δ. Their
    probability under that distribution is at most e^`LOG_UNLISTED`, so their loss has a lower bound.

    Args:
        listed: losses of the listed sums, with bounds on their errors.

    Returns:
        A profile with a δ of at most the true one at every ε.
    """
    is_positive = listed.losses > 2.0 * listed.loss_error
    losses, log_masses = listed.losses[is_positive], listed.log_masses[is_positive]

    # The loss of the merged sums, rounded down. It is at least the largest listed loss, because losses increase.
    loss_beyond = listed.log_beyond - LOG_UNLISTED - 2.0 * (listed.loss_error + listed.error)
    if loss_beyond > 2.0 * listed.loss_error:
        largest_listed = float(np.max(losses, initial=0.0))
        losses = np.append(losses, max(loss_beyond, largest_listed))
        log_masses = np.append(log_masses, listed.log_beyond)
    table = ShiftedTable(losses, log_masses, -math.inf, listed.error, loss_error=listed.loss_error)
    return shifted_pairs(table).attained.forward


def _upper_profile(listed: _Losses) -> Profile:
    """Return an upper bound on a privacy profile δ(ε) from the listed sums with their losses.

    The listed losses are raised by their error, and all other sums count as an infinite loss. Negative losses do not
    matter for δ(ε) at ε ≥ 0.

    Args:
        listed: losses of the listed sums, with bounds on their errors.

    Returns:
        A profile with a δ of at least the true one at every ε.
    """
    # The true loss is within the error of the listed one. A loss that may be positive counts as positive.
    may_be_positive = listed.losses > -2.0 * listed.loss_error
    losses = np.maximum(listed.losses[may_be_positive], listed.loss_error)
    log_masses = listed.log_masses[may_be_positive]
    table = ShiftedTable(losses, log_masses, listed.log_rest, listed.error, loss_error=listed.loss_error)
    return shifted_pairs(table).upper.forward


def _largest_deltas(trials: int, other_trials: int, theta: float) -> list[ProfilePoint]:
    """Return upper bounds on δ(ε), at several ε, that hold for all values of the other clients.

    The other clients have M trials. Depending on their values, h of these have the probability 1/2 + θ, and the others
    1/2 − θ. The numbers h are divided into blocks h₀, …, h₀ + B. In a whole block, h₀ trials have the larger
    probability and M − h₀ − B trials the smaller one. The sum of the remaining B trials is independent noise. Without
    it δ is at least as large, so a sum of only M − B trials of the others bounds δ for the whole block.

    Args:
        trials: number m of trials of one client.
        other_trials: number M of trials of the other clients.
        theta: θ, 0 < θ < 1/2.

    Returns:
        Points (ε, log δ). The last one states δ = 0 at the largest possible loss.
    """
    # `width` is B + 1, and `shared_trials` is M − B.
    width = math.ceil(Fraction(other_trials + 1, _BLOCKS))
    shared_trials = other_trials - (width - 1)
    starts = sorted({min(start, shared_trials) for start in range(0, other_trials + 1, width)})
    blocks = [_losses(trials, shared_trials, theta, start) for start in starts]

    # The largest δ of all blocks at each ε.
    pure = pure_epsilon(trials, theta)
    epsilons = _grid(blocks, pure)
    log_deltas = np.max([_upper_profile(losses).log_delta(epsilons).upper for losses in blocks], axis=0)
    log_deltas = np.minimum(log_deltas, 0.0)
    points = [
        ProfilePoint(epsilon, log_delta)
        for epsilon, log_delta in zip(epsilons.tolist(), log_deltas.tolist(), strict=True)
    ]
    return [*points, ProfilePoint(pure, -math.inf)]


def _grid(listed: list[_Losses], pure: float) -> FloatArray:
    """Choose increasing values of ε for a table of δ.

    Args:
        listed: tables of the privacy losses.
        pure: ε in nats from which on δ is zero. Losses from there on are left out.

    Returns:
        0 and all positive losses, if these are few; otherwise `_POINTS` equidistant values up to the largest loss.
    """
    losses = np.unique(np.concatenate([block.losses for block in listed]))
    losses = losses[(losses > 0.0) & (losses < pure)]
    if losses.size <= _POINTS:
        return np.append(0.0, losses)
    return np.linspace(0.0, float(losses[-1]), _POINTS)

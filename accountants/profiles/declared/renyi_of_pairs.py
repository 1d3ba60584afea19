"""Upper bounds on the Rényi divergences of pairs with losses of known distribution.

For a Laplace pair of shift s, D_a = log(a/(2a−1) e^{(a−1)s} + (a−1)/(2a−1) e^{−as})/(a − 1) (Mironov 2017, Proposition
6). For a pure mechanism, randomized response has the largest divergence (Mironov 2017, Proposition 10). A batch without
replacement has the profile q δ in both directions. Let A be e^{(a−1) D_a} of the Poisson pair of the same rate. Then:

    A′ − 1 = a(a − 1) ∫₁^∞ (γ^{a−2} + γ^{−a−1}) E_γ dγ ≤ 2 a(a − 1) ∫₁^∞ γ^{a−2} E_γ dγ ≤ 2 (A − 1).

The integral for A has the same first term, and its second term is positive.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.facts import DrawnGaussianLaw, SampledGaussianLaw
from epsilond.accountants.errors import BeyondBudget
from epsilond.accountants.numerics.outward import product_up, sum_up
from epsilond.accountants.numerics.renyi_divergence import divergence_of_atoms, sampled_gaussian_renyi
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from epsilond.accountants.curve.facts import NormalLaw
    from epsilond.accountants.curve.finite_law import FiniteLaw
    from epsilond.accountants.curve.pair import Pair

_ROUNDING = 1.0 + 32 * UNIT_ROUNDOFF
"""Factor that covers the rounding errors of a few operations."""


def upper_renyi(pair: Pair, order: float) -> float:
    """Return an upper bound on the Rényi divergence of a pair of distributions, in the worse direction.

    The Rényi divergence D_a of order a is log E_P[(dP/dQ)^{a−1}]/(a − 1). The least bound of all known properties of
    the pair is used.

    Args:
        pair: the pair, which may be a composition.
        order: order a > 1 of the divergence.

    Returns:
        The bound in nats; math.inf if none is known.
    """
    if pair.alternatives:
        return min(upper_renyi(alternative, order) for alternative in pair.alternatives)
    return min(_upper_bounds(pair, order), default=math.inf)


def _upper_bounds(pair: Pair, order: float) -> Iterator[float]:
    """Yield an upper bound on D_a, the Rényi divergence of order a, for each known property of a pair.

    - ρ-zero-concentrated differential privacy: D_a ≤ ρa.
    - μ-Gaussian differential privacy: D_a ≤ aμ²/2.
    - A composition of parts k, each T_k times: D_a ≤ Σ T_k D_a(k).
    - Finitely many privacy losses: D_a by summation.
    - Stated divergences, and those of a formula: the stated number.
    - A pair that dominates this one: its bound.

    Laplace noise, randomized response and batches without replacement have closed forms.

    Args:
        pair: the pair.
        order: order a > 1.

    Yields:
        An upper bound in nats; some are math.inf.
    """
    if pair.renyi is not None:
        yield pair.renyi.at(order)
    if pair.concentrated is not None and pair.concentrated.log_escape == -math.inf:
        yield product_up(pair.concentrated.rho, order)
    if pair.formula is not None:
        yield pair.formula.divergence(order).upper
    if pair.below is not None:
        yield upper_renyi(pair.below, order)
    if pair.gaussian_dp_mu is not None:
        yield 0.5 * order * pair.gaussian_dp_mu**2 * _ROUNDING
    # A distribution with omitted components (`log_rest`) may have infinite losses.
    if pair.law is not None and getattr(pair.law, "log_rest", -math.inf) == -math.inf:
        yield _upper_renyi_of_law(pair.law, order)
    if pair.laplace_shift is not None:
        yield _laplace_renyi(pair.laplace_shift * _ROUNDING, order)
    if pair.plateau is not None and pair.plateau.delta == 0:
        yield pure_renyi(pair.plateau.epsilon, order)
    if pair.atoms is not None:
        yield from _atoms_renyi(pair.atoms, order)
    if pair.parts:
        yield _composed_renyi(pair.parts, order)


def _composed_renyi(parts: Iterable[tuple[Pair, int]], order: float) -> float:
    """Return an upper bound on the Rényi divergence of a composition: the sum over its parts, rounded up.

    Args:
        parts: the composed pairs of distributions, each with its number of runs.
        order: order a > 1 of the divergence.

    Returns:
        The bound in nats; math.inf if a part has no known bound.
    """
    divergences = [(upper_renyi(part, order), times) for part, times in parts]
    if any(value == math.inf for value, _ in divergences):
        return math.inf
    return sum_up(product_up(value, times) for value, times in divergences)


def _upper_renyi_of_law(law: NormalLaw, order: float) -> float:
    """Return an upper bound on the Rényi divergence of Gaussian noise, perhaps subsampled, in the worse direction.

    The Gaussian pair without subsampling dominates each of these distributions, so its divergence is an upper bound.
    Let D_a be the divergence of a Poisson batch of the same rate, if a record is added or removed. That of a batch
    without replacement is at most log(1 + 2 (e^{(a−1) D_a} − 1))/(a − 1). For other cases only the first bound is used.

    Args:
        law: distribution of the privacy loss.
        order: order a > 1 of the divergence.

    Returns:
        The bound, in nats.
    """
    unsampled = 0.5 * order * law.distance**2 * _ROUNDING
    if isinstance(law, DrawnGaussianLaw):
        exponent = (order - 1.0) * _poisson_renyi(law.rate, law.shift, order)
        # log 2 + (a − 1) D_a is also an upper bound, and close to it for a large exponent.
        log_moment = exponent + math.log(2.0)
        if exponent < 300.0:  # e^300 does not overflow
            log_moment = math.log1p(2.0 * math.expm1(exponent))
        return min(log_moment / (order - 1.0) * _ROUNDING, unsampled)
    if isinstance(law, SampledGaussianLaw) and law.direction != "replace":
        return min(_poisson_renyi(law.rate, law.shift, order), unsampled)
    return unsampled


def _poisson_renyi(rate: float, shift: float, order: float) -> float:
    """Return the Rényi divergence of Gaussian noise on a Poisson batch, rounded up.

    Args:
        rate: inclusion probability, in [0, 1].
        shift: norm of a contribution, in standard deviations of the noise.
        order: order a > 1 of the divergence.

    Returns:
        The divergence in nats; math.inf if its computation takes too much work.
    """
    if rate == 0.0 or shift == 0.0:
        return 0.0
    # The reciprocal is rounded down, because less noise has a larger divergence.
    noise_multiplier = math.nextafter(1.0 / shift, 0.0)
    try:
        return sampled_gaussian_renyi(order=order, rate=rate, noise_multiplier=noise_multiplier).upper
    except BeyondBudget:
        return math.inf


def _laplace_renyi(shift: float, order: float) -> float:
    """Return the Rényi divergence of Laplace(s) against Laplace(0) of scale 1, rounded up.

    It is log((a e^{(a−1)s} + (a − 1) e^{−as})/(2a − 1))/(a − 1) (Mironov 2017, Proposition 6), and at most the largest
    privacy loss s.

    Args:
        shift: s ≥ 0, in units of the noise's scale.
        order: order a > 1 of the divergence.

    Returns:
        The divergence in nats, at most s.
    """
    first = math.log(order / (2.0 * order - 1.0)) + (order - 1.0) * shift
    second = math.log((order - 1.0) / (2.0 * order - 1.0)) - order * shift
    value = float(np.logaddexp(first, second))
    # Rounded up: errors of the exponents and of the sum of exponentials.
    slack = 32 * UNIT_ROUNDOFF * (1.0 + abs(first) + abs(second))
    return min((max(value, 0.0) + slack) / (order - 1.0), shift)


def pure_renyi(epsilon: float, order: float) -> float:
    """Return the largest Rényi divergence that an ε-differentially private mechanism can have, rounded up.

    Randomized response attains log(p^a r^{1−a} + r^a p^{1−a})/(a − 1), with p = 1/(1 + e^−ε) and r = 1 − p (Mironov
    2017, Proposition 10).

    Args:
        epsilon: ε ≥ 0, in nats.
        order: order a > 1 of the divergence.

    Returns:
        The divergence in nats, at most ε.
    """
    # The probabilities of the true and of the false answer.
    log_p = -math.log1p(math.exp(-epsilon))
    log_r = log_p - epsilon
    first = order * log_p + (1.0 - order) * log_r
    second = order * log_r + (1.0 - order) * log_p
    log_moment = float(np.logaddexp(first, second))
    # Rounded up: errors of the exponents and of the sum of exponentials.
    slack = 32 * UNIT_ROUNDOFF * (1.0 + order * (abs(log_p) + abs(log_r)))
    return min((max(log_moment, 0.0) + slack) / (order - 1.0), epsilon)


def _atoms_renyi(law: FiniteLaw, order: float) -> list[float]:
    """Return the larger Rényi divergence of both directions of two distributions on finitely many outcomes.

    The divergence of order a is log(A)/(a − 1) with A = Σ Q r^a, for the likelihood ratio r of each outcome. Losses and
    log probabilities have errors of up to `law.accuracy`, relative to their size. An error of every log r changes log A
    by at most 2a times it. An error of every log Q changes log A by at most as much.

    Args:
        law: the outcomes, with their privacy losses and probabilities.
        order: order a > 1 of the divergence.

    Returns:
        A list with the divergence in nats, rounded up. It is empty if a loss is infinite.
    """
    if law.log_infinite > -math.inf or law.log_missing > -math.inf or not law.losses:
        return []
    largest_loss = max(map(abs, law.losses))
    largest_log = max(map(abs, (*law.log_first, *law.log_second)))
    slack = law.accuracy * (2.0 * order * largest_loss + 1.0 + largest_log) / (order - 1.0)
    divergences = []
    for direction in (law, law.reverse()):
        log_masses, losses = np.asarray(direction.log_second), np.asarray(direction.losses)
        divergences.append(divergence_of_atoms(order, log_masses, losses).upper)
    # Twice the slack, which covers the rounding errors of the bound itself.
    return [max(divergences) + 2.0 * slack]

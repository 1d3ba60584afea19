"""Who is right where a test of dp-accounting's PLDAccountant differs: figures from the definitions, next to ours and to those of the peer.

`differences.json` names for each entry the function here that decides it.
"""

import functools
import math
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import laplace, norm

import epsilond
from tests.peers.discretised import Mixture, larger_delta, poisson
from tests.peers.independent import curve_of, encloses


def decide_zeroed_response():
    """Return for (flip, categories) δ(1) of an arbitrary response against the own one, and of a uniform one."""
    figures = []
    for flip, categories in (((4.0 - math.e) / 3.0, 4), (math.exp(-1.0), 2)):
        own, other, uniform = 1.0 - flip + flip / categories, flip / categories, 1.0 / categories
        arbitrary = max(own - math.e * other, 0.0)
        equal = max(own - math.e * uniform, 0.0) + (categories - 1) * max(other - math.e * uniform, 0.0)
        figures.append((math.log(own / other), categories, arbitrary, equal))
    return figures


def test_decide_zeroed_response():
    for epsilon, categories, arbitrary, equal in decide_zeroed_response():
        spec = epsilond.RandomizedResponse(epsilon=epsilon, categories=categories)
        assert encloses(curve_of(spec, "zero-out-one").delta(epsilon=1.0), arbitrary, 1e-9)
        assert equal == pytest.approx(0.0, abs=1e-12)  # the peer's figure


def decide_replaced_laplace():
    """Return δ(1) of Laplace noise of scale 1 with a shift of 2: 1 − exp((ε − 2)/2)."""
    return -math.expm1((1.0 - 2.0) / 2.0)


def test_decide_replaced_laplace():
    curve = curve_of(epsilond.Laplace(scale_multiplier=1.0), "replace-one")
    assert encloses(curve.delta(epsilon=1.0), decide_replaced_laplace(), 1e-9)
    assert curve.delta(epsilon=2.0).upper < 1e-15


def decide_permute_and_flip():
    """Return the largest ratio of the probabilities of a result, at ε = 1, over scores that differ by at most 1.

    A candidate is released with Σ over permutations of its acceptance after the rejection of those before it.
    """

    def probabilities(scores):
        accept = [math.exp((score - max(scores)) / 2.0) for score in scores]
        found = [0.0] * len(scores)
        orders = list(permutations(range(len(scores))))
        for order in orders:
            rest = 1.0 / len(orders)
            for candidate in order:
                found[candidate] += rest * accept[candidate]
                rest *= 1.0 - accept[candidate]
        return found

    largest = 0.0
    for gaps in ((0.0, 6.0, 6.0), (0.0, 2.0, 4.0), (0.0, 0.0, 0.0), (0.0, 40.0, 40.0)):
        scores = [-gap for gap in gaps]
        for shift in product((-1.0, 0.0, 1.0), repeat=3):
            other = [score + change for score, change in zip(scores, shift, strict=True)]
            pairs = zip(probabilities(scores), probabilities(other), strict=True)
            largest = max([largest, *(max(p / q, q / p) for p, q in pairs)])
    return largest


def test_decide_permute_and_flip():
    ours = curve_of(epsilond.PermuteAndFlip(epsilon=1.0), "replace-one").natural.epsilon(-math.inf).upper
    assert 0.99 < math.log(decide_permute_and_flip()) <= ours <= 1.0 + 1e-9


def decide_replaced_laplace_in_batches():
    """Return δ(0.05) of a record in a Poisson batch with contributions of 1 and −1, by quadrature."""
    p, q = poisson(1.0, 0.1, 1.0, laplace), poisson(-1.0, 0.1, 1.0, laplace)
    x = np.linspace(-30.0, 30.0, 600_001)
    excess = np.maximum(np.exp(p.log_density(x)) - np.exp(0.05 + q.log_density(x)), 0.0)
    return float(np.trapezoid(excess, x))


def test_decide_replaced_laplace_in_batches():
    spec = epsilond.Subsampled(sampling="poisson", rate=0.1, mechanism=epsilond.Laplace(scale_multiplier=1.0))
    found = curve_of(spec, "replace-one").delta(epsilon=0.05)
    assert found.lower > 0.0
    assert encloses(found, decide_replaced_laplace_in_batches(), 1e-6)


def decide_two_failures():
    """Return 1 − (1 − δ1)(1 − δ2): the largest δ of two failures."""
    return 1.0 - (1.0 - 0.1) * (1.0 - 0.2)


def test_decide_two_failures():
    parts = tuple(epsilond.Approximate(epsilon=0.0, delta=delta) for delta in (0.1, 0.2))
    upper = curve_of(epsilond.Composed(mechanisms=parts)).delta(epsilon=0.0).upper
    assert 0.28 <= upper <= 0.28 * (1.0 + 1e-12)
    assert decide_two_failures() == pytest.approx(0.28, rel=1e-15)


def decide_exponential_at_its_epsilon():
    """Return δ at the pure ε of the exponential mechanism: every likelihood ratio is at most e^ε."""
    return 0.0


def test_decide_exponential_at_its_epsilon():
    delta = curve_of(epsilond.Exponential(epsilon=1.0)).delta(epsilon=1.0)
    assert delta.lower == decide_exponential_at_its_epsilon() <= delta.upper < 1e-15


MIXTURES = (((0.0, 1.0, 2.0), (0.2, 0.6, 0.2), 1.0, 3), ((0.0, 2.0, 3.0), (0.33, 0.34, 0.33), 2.0, 2))


def decide_mixtures():
    """Return δ at the peer's ε, from the definition."""
    parts = [
        (Mixture(norm, shifts, weights, noise), Mixture(norm, (0.0,), (1.0,), noise), times)
        for shifts, weights, noise, times in MIXTURES
    ]
    return larger_delta(parts, 17.193115, reach=60.0, step=2e-4, cells=50_000)


def test_decide_mixtures():
    runs = [
        epsilond.Repeated(
            times=times,
            mechanism=epsilond.GaussianMixture(sensitivities=shifts, probabilities=weights, noise_multiplier=noise),
        )
        for shifts, weights, noise, times in MIXTURES
    ]
    curve = curve_of(epsilond.Composed(mechanisms=tuple(runs)))
    assert decide_mixtures() == pytest.approx(1e-6, rel=5e-6)
    assert encloses(curve.delta(epsilon=17.193115), decide_mixtures(), 5e-6)
    assert encloses(curve.epsilon(delta=1e-6), 17.193115, 1e-7)


def batch_sums(others, largest, value):
    """Return the distribution of the sum of a truncated batch, by enumeration: without the record, and with it.

    Args:
        others: contributions of the other records, 1 or −1; each is drawn with probability ½.
        largest: largest batch; a batch above it is a random subset of what was drawn.
        value: contribution of the record.
    """
    without, held = {}, {}
    for drawn in np.ndindex(*(2 for _ in others)):
        chosen = [other for other, is_drawn in zip(others, drawn, strict=True) if is_drawn]
        weight = 0.5 ** len(others)
        for target, pool, factor in ((without, chosen, 1.0), (held, chosen, 0.5), (held, [*chosen, value], 0.5)):
            subsets = [pool] if len(pool) <= largest else [[a, b] for i, a in enumerate(pool) for b in pool[i + 1 :]]
            for subset in subsets:
                total = float(sum(subset))
                target[total] = target.get(total, 0.0) + weight * factor / len(subsets)
    return held, without


def decide_truncated_batches():
    """Return the largest δ at our ε over data sets with contributions ±1: each is a case that the account covers."""
    epsilon = truncated_epsilon()
    largest = 0.0
    for negative in (0, 2, 3):
        parts = []
        for size, times in ((4, 3), (3, 2)):
            others = [-1.0] * min(negative, size - 1) + [1.0] * max(size - 1 - negative, 0)
            held, without = batch_sums(others, 2, 1.0)
            p, q = (Mixture(norm, tuple(each), tuple(each.values()), 1.0) for each in (held, without))
            parts.append((p, q, times))
        largest = max(largest, larger_delta(parts, epsilon, reach=40.0, step=1e-3, cells=20_000))
    return largest


@functools.cache
def truncated_epsilon():
    """Return our ε at δ = 1e-6 of the batches of the peer's test."""
    runs = [
        epsilond.Repeated(
            times=times,
            mechanism=epsilond.Subsampled(
                sampling="poisson",
                rate=0.5,
                population=size,
                largest_batch=2,
                mechanism=epsilond.Gaussian(noise_multiplier=1.0),
            ),
        )
        for size, times in ((4, 3), (3, 2))
    ]
    return curve_of(epsilond.Composed(mechanisms=tuple(runs))).epsilon(delta=1e-6).upper


def test_decide_truncated_batches():
    assert truncated_epsilon() < 17.90433
    assert 0.0 < decide_truncated_batches() <= 1e-6

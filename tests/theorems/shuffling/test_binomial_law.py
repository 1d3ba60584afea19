"""Binomial masses and tails against sums in mpmath."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.numerics.binomial_law import QUICK_RATIO_ACCURACY, RATIO_ACCURACY, Binomial


def exact(n: int, k: int, p: float) -> tuple[mp.mpf, mp.mpf]:
    """log P(K = k) and P(K ≥ k)/P(K = k), by the ratios of neighbours."""
    with mp.workdps(50):
        odds = mp.mpf(p) / (1 - mp.mpf(p))
        log_mass = mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)
        log_mass += k * mp.log(mp.mpf(p)) + (n - k) * mp.log(1 - mp.mpf(p))
        total = term = mp.mpf(1)
        for i in range(n - k):
            term *= mp.mpf(n - k - i) / (k + 1 + i) * odds
            total += term
            if term < mp.mpf(10) ** -30 * total:
                break
        return log_mass, total


@pytest.mark.parametrize("n", [1, 2, 5, 30, 47, 48, 60, 300, 1000, 19_999, 20_001, 10**6])
@pytest.mark.parametrize("p", [0.5, 0.01, 0.9])
def test_masses_and_tails(n: int, p: float) -> None:
    law = Binomial(np.asarray(float(n)), p, 1.0 - p)
    for score in (0.0, 2.0, 6.0, 37.0):
        k = min(math.floor(n * p + score * math.sqrt(n * p * (1 - p))) + 1, n)
        log_mass, ratio = exact(n, k, p)
        at = np.asarray(float(k))
        assert abs(float(law.log_mass(at)) - float(log_mass)) <= law.accuracy * (1 + abs(float(log_mass)))
        if k > n * p:
            assert abs(float(law.tail_ratio(at)) / float(ratio) - 1) <= RATIO_ACCURACY + law.accuracy


def test_tails_on_both_sides_and_at_the_ends() -> None:
    law = Binomial(np.asarray(40.0), 0.3, 0.7)
    mass = np.exp(law.log_mass(np.arange(41.0)))
    assert mass.sum() == pytest.approx(1.0, abs=1e-14)
    tails = np.exp(law.log_tail(np.arange(42.0)))
    assert np.allclose(tails, np.append(np.cumsum(mass[::-1])[::-1], 0.0), rtol=1e-12, atol=1e-300)
    nothing = Binomial(np.asarray(0.0), 0.3, 0.7)
    assert np.exp(nothing.log_mass(np.asarray([0.0, 1.0]))).tolist() == [1.0, 0.0]
    assert np.exp(nothing.log_tail(np.asarray([0.0, 1.0]))).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("n", [48, 1000, 4096, 4097])
@pytest.mark.parametrize("p", [0.5, 0.01, 0.9])
def test_ratios_at_all_counts_together(n: int, p: float) -> None:
    """By the recurrence of neighbours where trials are few enough; each is that of its count alone."""
    law = Binomial(np.asarray(float(n)), p, 1.0 - p)
    counts = np.arange(n + 1.0)
    found = law.tail_ratio(counts)
    for k in range(0, n + 1, max(n // 40, 1)):
        if k > n * p:
            assert abs(found[k] / float(exact(n, k, p)[1]) - 1) <= RATIO_ACCURACY + law.accuracy
            assert found[k] == pytest.approx(float(law.tail_ratio(np.asarray(float(k)))), rel=2 * RATIO_ACCURACY)
        else:
            assert found[k] == 1.0


@pytest.mark.parametrize("n", [1, 2, 10, 47, 48, 300, 20_000, 10**6, 10**8])
def test_quick_ratios_are_within_their_accuracy(n: int) -> None:
    """Both ways integrate the same function; only beyond `QUICK_UP_TO` are they one."""
    scores = np.concatenate(([0.0, 0.1, 0.5], np.linspace(1.0, 40.0, 60)))
    counts = np.unique(np.minimum(np.floor(0.5 * n + 0.5 * math.sqrt(n) * scores) + 1.0, float(n)))
    law = Binomial(np.full(counts.size, float(n)), 0.5, 0.5)
    ratio = law.tail_ratio(counts)
    assert np.all(np.abs(law.quick_tail_ratio(counts) - ratio) <= QUICK_RATIO_ACCURACY * ratio)


@pytest.mark.parametrize("n", [1, 2, 30, 48, 1000, 19_999, 10**6])
@pytest.mark.parametrize("score", [0.0, 0.5, 2.0, 6.0, 37.0])
def test_a_quick_ratio_is_that_of_the_sum(n: int, score: float) -> None:
    k = min(math.floor(0.5 * n + 0.5 * score * math.sqrt(n)) + 1, n)
    ratio = float(exact(n, k, 0.5)[1])
    quick = Binomial(np.asarray([float(n)]), 0.5, 0.5).quick_tail_ratio(np.asarray([float(k)]))
    assert abs(float(quick[0]) / ratio - 1.0) <= QUICK_RATIO_ACCURACY

"""The exact remaining budget as a filter: what the interaction has, by quadrature of the definition."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from mpmath import mpf
from scipy.optimize import brentq
from scipy.stats import norm

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorem import Status
from epsilond.ledgers.mathematics.theorems.natural_filter import NATURAL_FILTER
from tests.oracles.hockey_stick import sign_changes

ROWS = [
    (1.0, 1e-5, 0.15, "gaussian-or-pure", 1.898),
    (1.0, 1e-6, 0.12, "gaussian-or-pure", 1.963),
    (8.0, 1e-6, 0.8, "gaussian-or-pure", 1.983),
    (1.0, 1e-6, 0.15, "leaky-responses", 5.07),
    (4.0, 1e-6, 0.6, "leaky-responses", 5.84),
    (8.0, 1e-6, 1.1, "leaky-responses", 6.36),
]
DRAWN = np.linspace(-14.0, 14.0, 400_001)
WEIGHTS = norm.pdf(DRAWN) * (DRAWN[1] - DRAWN[0])


def factor(epsilon: float, delta: float, mu: float, options: str) -> Any:
    fields = {"target_epsilon": epsilon, "target_delta": delta, "first_mu": mu, "options": options}
    return NATURAL_FILTER.evaluate(NATURAL_FILTER.inputs(**fields)).outputs


def gaussian_profile(mu: float) -> Any:
    def profile(at: Any) -> Any:
        return norm.cdf(mu / 2 - at / mu) - np.exp(at + norm.logcdf(-mu / 2 - at / mu))

    return profile


def response_profile(loss: float) -> Any:
    keep = 1.0 / (1.0 + math.exp(-loss))

    def profile(at: Any) -> Any:
        growth = np.exp(np.minimum(at, 700.0))
        return np.maximum(keep - growth * (1.0 - keep), 0.0) + np.maximum(1.0 - keep - growth * keep, 0.0)

    return profile


def by_quadrature(epsilon: float, delta: float, mu: float, options: str) -> float:
    """E[max_m δ_m(ε − L)]/δ over options that compose with the first mechanism to δ each, on a grid of its noise."""
    left = epsilon - (mu * DRAWN + mu * mu / 2)
    nothing = np.maximum(-np.expm1(np.minimum(left, 0.0)), 0.0)
    if options == "gaussian-or-pure":
        at = np.asarray([epsilon])
        whole = brentq(lambda total: gaussian_profile(total)(at)[0] - delta, mu, 10.0, xtol=1e-14)
        loss = brentq(lambda t: WEIGHTS @ response_profile(t)(left) - delta, 1e-3, 10.0, xtol=1e-14)
        second = gaussian_profile(math.sqrt(whole**2 - mu**2))(left)
        return float(WEIGHTS @ np.maximum(second, response_profile(loss)(left))) / delta
    best = np.zeros_like(left)
    for loss in np.linspace(0.05 * epsilon, 1.6 * epsilon, 60):
        told = response_profile(loss)(left)
        share = (delta - WEIGHTS @ nothing) / (WEIGHTS @ told - WEIGHTS @ nothing)
        if share <= 1.0:
            best = np.maximum(best, (1.0 - share) * nothing + share * told)
    return float(WEIGHTS @ best) / delta


@pytest.mark.erratum("L-1")
@pytest.mark.compares("epsilond.natural-pld-filter")
@pytest.mark.parametrize(("epsilon", "delta", "mu", "options", "published"), ROWS)
def test_what_the_filter_allows_is_more_than_it_claims(
    epsilon: float, delta: float, mu: float, options: str, published: float
) -> None:
    found = factor(epsilon, delta, mu, options)
    assert found["factor"] == pytest.approx(by_quadrature(epsilon, delta, mu, options), rel=3e-7)
    assert found["factor"] == pytest.approx(published, abs=0.005)
    assert found["true_delta"] == pytest.approx(found["factor"] * delta, rel=1e-12)
    assert NATURAL_FILTER.status is Status.REFUTED


@pytest.mark.compares("epsilond.natural-pld-filter")
def test_a_row_by_adaptive_quadrature() -> None:
    """A Gaussian of 0.8 first, (8, 1e-6): both options by mpmath, cut where the response's profile has its kink."""
    epsilon, delta, mu = mpf(8), mpf("1e-6"), mpf("0.8")
    with mp.workdps(18):

        def gaussian(at: Any, distance: Any) -> Any:
            return mp.ncdf(distance / 2 - at / distance) - mp.exp(at) * mp.ncdf(-distance / 2 - at / distance)

        def response(at: Any, loss: Any) -> Any:
            keep = 1 / (1 + mp.exp(-loss))
            return max(keep - mp.exp(at) * (1 - keep), 1 - mp.exp(at), mpf(0))

        whole = mp.findroot(lambda total: mp.log(gaussian(epsilon, total) / delta), mpf("1.5"))
        second = mp.sqrt(whole**2 - mu**2)

        def expected(profile: Any, cuts: list[Any]) -> Any:
            ends = [mpf(-12), mpf(-3), mpf(0), *sorted(cuts), mpf(16)]
            return mp.quad(lambda at: mp.npdf(at, mu * mu / 2, mu) * profile(epsilon - at), ends)

        low, high = mpf(4), mpf("4.4")
        for _ in range(34):
            loss = (low + high) / 2
            value = expected(
                lambda at, loss=loss: response(at, loss), [epsilon - loss, epsilon, epsilon + loss, mpf(6)]
            )
            low, high = (loss, high) if value < delta else (low, loss)

        def ahead(at: Any) -> Any:
            return response(epsilon - at, loss) - gaussian(epsilon - at, second)

        crossings = sign_changes(ahead, 3.5, 12.0)
        assert crossings
        value = expected(
            lambda at: max(gaussian(at, second), response(at, loss)),
            [epsilon - loss, epsilon, epsilon + loss, *crossings],
        )
        wanted = float(value / delta)
    assert factor(8.0, 1e-6, 0.8, "gaussian-or-pure")["factor"] == pytest.approx(wanted, rel=1e-8)
    assert wanted == pytest.approx(1.983, abs=5e-4)


def test_a_first_mechanism_that_takes_all_leaves_nothing_to_choose() -> None:
    with pytest.raises(InvalidInput, match="/first_mu"):
        factor(1.0, 1e-6, 1.0, "gaussian-or-pure")

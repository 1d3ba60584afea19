"""Gaussian calibration, advanced composition and subsampling, against the exact mechanisms they bound."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.special import log_theta
from epsilond.accountants.theorems.composition.classical import (
    SUBSAMPLING,
    CompositionInputs,
    SubsampledInputs,
    advanced_composition,
    subsampled_epsilon,
)
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import (
    bun_steinke_noise_std,
    dwork_roth_noise_std,
    gaussian_noise_std,
    gaussian_noise_std_bounds,
)

DELTAS = [-1e8, -1e4, -690.0, -30.0, -10.0, -2.0, -0.7, -0.01]


@pytest.mark.parametrize("log_delta", DELTAS)
@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.5, 1.0])
def test_dwork_roth_noise_is_enough_up_to_one(epsilon: float, log_delta: float) -> None:
    std = dwork_roth_noise_std(epsilon=epsilon, log_delta=log_delta, sensitivity=3.0)
    assert float(log_theta(epsilon, 3.0 / std)) <= log_delta
    assert gaussian_noise_std(epsilon=epsilon, log_delta=log_delta, sensitivity=3.0) <= std


def test_dwork_roth_noise_is_too_little_for_large_epsilon() -> None:
    std = dwork_roth_noise_std(epsilon=9.0, log_delta=math.log(1e-5), sensitivity=2.0)
    assert float(log_theta(9.0, 2.0 / std)) > math.log(1e-5)


@pytest.mark.parametrize("log_delta", DELTAS)
@pytest.mark.parametrize("share", [1e-6, 0.3, 1.0])
def test_bun_steinke_noise_is_enough_in_its_range(share: float, log_delta: float) -> None:
    epsilon = share * -8.0 * log_delta
    std = bun_steinke_noise_std(epsilon=epsilon, log_delta=log_delta, sensitivity=0.1)
    assert float(log_theta(epsilon, 0.1 / std)) <= log_delta


@pytest.mark.parametrize("log_delta", [*DELTAS, -1e-15])
@pytest.mark.parametrize("epsilon", [1e-12, 1e-2, 1.0, 700.0, 1e6])
def test_the_exact_noise_is_safe_minimal_and_scales(epsilon: float, log_delta: float) -> None:
    ends = gaussian_noise_std_bounds(epsilon=epsilon, log_delta=log_delta, sensitivity=1.0)
    assert float(log_theta(epsilon, 1.0 / ends.upper)) <= log_delta
    assert ends.lower < ends.upper <= ends.lower * (1 + 1e-12)
    scaled = gaussian_noise_std(epsilon=epsilon, log_delta=log_delta, sensitivity=1e-6)
    assert scaled == pytest.approx(1e-6 * ends.upper, rel=1e-14)


def test_no_noise_is_refused_rather_than_invented() -> None:
    with pytest.raises(InvalidInput):
        gaussian_noise_std(epsilon=1e10, log_delta=-1.0, sensitivity=1.0)


def compose_randomized_response(epsilon: float, rounds: int, target: float) -> float:
    """Exact δ at ε = `target` of R rounds of ε-randomized response, as a binomial sum."""
    keep = -math.log1p(math.exp(-epsilon))
    k = np.arange(rounds + 1)
    log_choose = np.array([math.lgamma(rounds + 1) - math.lgamma(i + 1) - math.lgamma(rounds - i + 1) for i in k])
    log_p = log_choose + rounds * keep - epsilon * k
    loss = epsilon * (rounds - 2 * k)
    above = loss > target
    return math.fsum(np.exp(log_p[above]) * -np.expm1(target - loss[above]))


@pytest.mark.parametrize(("epsilon", "rounds"), [(0.01, 1000), (0.1, 50), (1.0, 4), (2.0, 30)])
@pytest.mark.parametrize("drift", ["tanh", "dwork-roth"])
def test_composition_covers_randomized_response(epsilon: float, rounds: int, drift: Any) -> None:
    for log_slack in (math.log(1e-2), math.log(1e-9)):
        found = advanced_composition(
            epsilons=[epsilon],
            log_deltas=[-math.inf],
            log_slack=log_slack,
            drift=drift,
            times=rounds,
        )
        assert compose_randomized_response(epsilon, rounds, found.epsilon) <= math.exp(log_slack)
        assert found.log_delta == pytest.approx(log_slack)


def test_drifts_are_ordered() -> None:
    totals = [
        advanced_composition(epsilons=[0.7, 0.1], log_deltas=[-50.0, -40.0], log_slack=-20.0, drift=drift).epsilon
        for drift in ("tanh", "dwork-roth", "corollary-f.1")
    ]
    assert totals == sorted(totals)
    assert totals[0] < totals[1] < totals[2]


def test_a_list_run_over_and_over_is_the_longer_list() -> None:
    once = advanced_composition(epsilons=[0.3, 0.2] * 3, log_deltas=[-9.0, -8.0] * 3, log_slack=-10.0, drift="tanh")
    over = advanced_composition(epsilons=[0.3, 0.2], log_deltas=[-9.0, -8.0], log_slack=-10.0, drift="tanh", times=3)
    assert over.epsilon == pytest.approx(once.epsilon, rel=1e-14)
    assert over.log_delta == pytest.approx(once.log_delta, rel=1e-14)
    assert once.log_delta == pytest.approx(logsumexp([-10.0] + [-9.0, -8.0] * 3), rel=1e-14)


def test_subsampling_is_attained_by_a_mechanism_that_shows_its_batch() -> None:
    """ε-randomized response on one of n bits drawn at random: the mixture's own likelihood ratio is the formula."""
    epsilon, rate = 1.0, 0.01
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    ratio = (rate * keep + (1 - rate) * (1 - keep)) / (rate * (1 - keep) + (1 - rate) * (1 - keep))
    assert subsampled_epsilon(epsilon=epsilon, rate=rate) == pytest.approx(math.log(ratio), rel=1e-13)


def test_the_quoted_amplification_is_looser_in_both_figures() -> None:
    inputs = SubsampledInputs(epsilon=1.0, delta=1e-6, rate=0.01)
    printed = SUBSAMPLING.evaluate(inputs, "printed").outputs
    exact = SUBSAMPLING.evaluate(inputs, "corrected").outputs
    assert exact["epsilon"] < printed["epsilon"] == pytest.approx(0.02)
    assert exact["delta"] == pytest.approx(0.01 * printed["delta"])
    assert subsampled_epsilon(epsilon=1e6, rate=1e-9) == pytest.approx(1e6 + math.log(1e-9))


@pytest.mark.parametrize(
    "fields",
    [
        {"epsilons": (), "deltas": ()},
        {"epsilons": (1.0,), "deltas": (0.0, 0.0)},
        {"epsilons": (0.0,), "deltas": (0.0,)},
        {"epsilons": (1.0,), "deltas": (1.0,)},
        {"epsilons": (math.nan,), "deltas": (0.0,)},
    ],
)
def test_lists_that_no_run_can_have(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        CompositionInputs(slack_delta=1e-6, **fields)

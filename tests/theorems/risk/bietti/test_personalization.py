"""Lemma 4.6 of Bietti et al. and the best α: threshold, three candidates, ends and the interior optimum."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.papers.bietti.noise import least_noise_std
from epsilond.accountants.theorems.risk.bietti.drawn_gradients import DrawnGradients, GroupOfUsers
from epsilond.accountants.theorems.risk.bietti.landscape import Landscape
from epsilond.accountants.theorems.risk.bietti.minimal_norm import minimal_norm
from epsilond.accountants.theorems.risk.bietti.personalization import MINIMAL_NORM, OPTIMUM
from epsilond.accountants.theorems.risk.bietti.privacy_cost import LEMMA_4_6
from epsilond.accountants.theorems.risk.bietti.variance_term import VarianceTermInputs
from tests.oracles import bietti as oracle

EXAMPLE: dict[str, Any] = dict(LEMMA_4_6.examples[0])


def lemma(reading: Any = "corrected", **changes: Any) -> Any:
    return LEMMA_4_6.evaluate(VarianceTermInputs(**{**EXAMPLE, **changes}), reading)


def landscape(**changes: Any) -> Landscape:
    given: dict[str, Any] = {
        "clients": 100, "rate": 1.0, "shared": 1.0, "local": 1.0, "norm": 0.0, "batch": 1, "rounds": 2000,
        "smoothness": 2.0, "optimum_norm": 1.0, "optimum_spread": 0.0, "noise_std": 0.05, "dimension": 20,
    } | changes  # fmt: skip
    group = GroupOfUsers(
        clients=given["clients"], batch_size=given["batch"], shared_gradient_std=given["shared"],
        local_gradient_std=given["local"], shared_gradient_norm=given["norm"],
    )  # fmt: skip
    names = ("rounds", "smoothness", "optimum_norm", "optimum_spread", "noise_std", "dimension")
    federation = DrawnGradients(groups=(group,), weighting="clients", rate=given["rate"])
    return Landscape.of(federation, **{name: given[name] for name in names})


def random_landscape(rng: np.random.Generator, **changes: Any) -> Landscape:
    def scale(low: float, high: float) -> float:
        return float(10 ** rng.uniform(low, high))

    return landscape(
        clients=int(scale(0, 6)), rate=float(rng.choice([1.0, 0.3, 0.01])), rounds=int(scale(0, 6)),
        shared=scale(-2, 2), local=scale(-2, 2), norm=float(rng.choice([0.0, scale(-2, 2)])),
        optimum_norm=scale(-2, 2), noise_std=float(rng.choice([0.0, scale(-4, 1)])), **changes,
    )  # fmt: skip


ALPHAS = [0.0, *np.geomspace(1e-12, 1e12, 2000), math.inf]


def test_the_best_personalization_is_one_of_three() -> None:
    """E-B12: for clients of one optimum no α beats 0, the balanced one and ∞, with draws or without."""
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(60):
        one = random_landscape(rng)
        best = one.best()
        assert best.alpha in (0.0, one.balanced, math.inf)
        assert best.total <= min(one.at(float(alpha)).total for alpha in ALPHAS) * (1 + 1e-12)
        seen.add("end" if best.alpha in (0.0, math.inf) else "between")
    assert seen == {"end", "between"}
    full, drawn = landscape(), landscape(rate=0.01)
    assert full.balanced == 1 / 100
    assert drawn.balanced == pytest.approx(1 / (0.01 * 100 + 0.99))
    assert full.at(full.balanced).optimisation == pytest.approx(full.at(0.0).optimisation * 0.5, rel=1e-12)
    assert drawn.at(1e-9).optimisation == pytest.approx(4 * 2.0 / (0.01 * 2000), rel=1e-4)
    assert landscape(optimum_spread=0.1).at(math.inf).total == math.inf


def test_what_is_proved_at_the_steps_is_what_the_recursion_leaves() -> None:
    """Against the recursion over rounds in multiple precision; never above (23), which is never above the theorem."""
    rng = np.random.default_rng(7)
    for spread in (0.0, 0.3):
        for _ in range(10):
            one = random_landscape(rng, optimum_spread=spread)
            for alpha in (0.0, one.balanced, 3.0 * one.balanced):
                at = one.at(alpha)
                squared = minimal_norm(
                    alpha=alpha, clients=one.clients, mean_squared=one.mean_squared, spread_squared=one.spread_squared
                )
                steep, flat = one.sampled_factors
                shared, local = one.smooth_factors
                true = oracle.average_gap(
                    squared=squared, step=at.step_size, smoothness=one.smoothness * max(alpha * shared, local),
                    variance=alpha * (steep + one.noise_factor) + flat, rounds=min(one.rounds, 2000),
                )  # fmt: skip
                if one.rounds <= 2000:
                    assert at.proved.total == pytest.approx(float(true), rel=1e-12)
                assert at.proved.total <= at.bound_23 * (1 + 1e-12) <= at.total * (1 + 2e-12)


def test_the_best_that_is_proved_is_no_worse_than_any() -> None:
    rng = np.random.default_rng(3)
    for spread in (0.0, 0.2):
        for _ in range(15):
            one = random_landscape(rng, optimum_spread=spread)
            best = one.best_proved().proved.total
            assert best <= one.best().proved.total
            assert best <= min(one.at(float(alpha)).proved.total for alpha in ALPHAS) * (1 + 1e-3)


def test_clients_that_differ_may_want_something_in_between() -> None:
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(30):
        one = random_landscape(rng, optimum_spread=float(10 ** rng.uniform(-4, 1)))
        best = one.best()
        assert best.total <= min(one.at(float(alpha)).total for alpha in ALPHAS) * (1 + 1e-9)
        inside += best.alpha not in (0.0, one.balanced)
    assert inside > 0


@pytest.mark.compares("bietti.lemma-4.6")
def test_an_optimised_alpha_beats_both_ends_or_sits_at_one_as_the_lemma_says() -> None:
    """The variance decides between the ends as Lemma 4.6 says; a bias that counts is halved in between."""
    between = landscape(optimum_norm=44.0, clients=50, shared=0.02, local=0.02, noise_std=0.0)
    assert between.best().alpha == between.balanced
    assert between.best().total < 0.6 * min(between.at(0.0).total, between.at(math.inf).total)
    for epsilon in (0.5, 4.0, 12.0, 14.0, 40.0):
        found = lemma(epsilon=epsilon, rounds=300)
        noise = least_noise_std(
            clipping_norm=1.0,
            clients=100,
            rounds=300,
            epsilon=epsilon,
            log_delta=math.log(1e-5),
            sensitivity_factor=2.0,
        )
        # so smooth that only the variance counts
        one = landscape(rounds=300, smoothness=1e-12, noise_std=noise, dimension=50)
        expected = 0.0 if epsilon <= found.outputs["threshold_epsilon"] else math.inf
        assert one.best().alpha == expected
        assert found.outputs["local_is_better"] is (expected == 0.0)
        assert one.at(0.01).variance == pytest.approx(3 * found.outputs["variance_term"], rel=1e-11)


@pytest.mark.erratum("E-B4")
def test_the_threshold_has_epsilon_squared() -> None:
    """E-B4: 275.2 with ε², 68.8 with ε; at n = 85 and 220 sharing still helps, at 343 it does not."""
    found = lemma("printed").outputs
    assert found["threshold_rounds"] == pytest.approx(275.17, abs=5e-3)
    assert found["appendix_threshold_rounds"] == pytest.approx(68.79, abs=5e-3)
    for rounds, grows in ((85, False), (220, False), (343, True)):
        terms = [
            lemma("printed", rounds=rounds, personalization=alpha).outputs["variance_term"]
            for alpha in (0.0, 0.001, 0.01, 0.1, 1.0, 100.0, "unbounded")
        ]
        assert terms == sorted(terms, reverse=not grows)
    assert lemma("printed", epsilon=8.0).outputs["threshold_rounds"] == pytest.approx(4 * 275.169, rel=1e-5)
    # With the least noise, to μ*², which is linear for large ε.
    ratio = [lemma(epsilon=epsilon, delta=1e-100).outputs["threshold_rounds"] for epsilon in (1.0, 2.0, 1e6, 2e6)]
    assert ratio[1] / ratio[0] == pytest.approx(4.0, rel=0.03)
    assert ratio[3] / ratio[2] == pytest.approx(2.0, rel=0.01)


def test_the_condition_of_the_lemma_holds_on_one_side_only() -> None:
    def enough(**changes: Any) -> Any:
        return next(one for one in lemma(**changes).conditions if one.id == "enough-rounds")

    assert enough().holds == "yes"
    broken = enough(rounds=10)
    assert (broken.holds, broken.left) == ("no", 10)
    assert broken.right == pytest.approx(42.347, abs=1e-3)
    assert enough(rounds=10, batch_size=100).holds == "yes"
    assert lemma(clients=1).outputs["threshold_epsilon"] == math.inf


@pytest.mark.parametrize("spread", [0.0, 0.2])
@pytest.mark.parametrize("alpha", [0.0, 0.003, 0.02, 0.7, 30.0])
def test_the_bound_against_the_oracle(alpha: float, spread: float) -> None:
    """In multiple precision, the norm of the minimiser found by searching over what is shared."""
    one = landscape(clients=60, shared=0.7, local=1.3, noise_std=0.04, dimension=9, optimum_spread=spread)
    with mp.workdps(30):
        exact = oracle.bound(
            mp.mpf(alpha), clients=60, rounds=2000, smoothness=2.0, v=1.0, spread=spread, shared=0.7, local=1.3,
            noise=0.04, dimension=9,
        )  # fmt: skip
    assert one.at(alpha).total == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.compares("epsilond.minimal-norm-optimum")
def test_the_minimiser_has_the_least_norm() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        clients, alpha = int(rng.integers(1, 8)), float(10 ** rng.uniform(-3, 3))
        optima = rng.normal(size=(clients, 3)) + 1.0
        mean = optima.mean(0)
        spread = ((optima - mean) ** 2).sum()
        found = MINIMAL_NORM.evaluate(
            MINIMAL_NORM.request(
                clients=clients, personalization=alpha, optimum_norm=float(np.linalg.norm(mean)),
                optimum_spread=math.sqrt(spread / clients),
            )
        ).outputs  # fmt: skip
        w = found["shared_share"] * mean
        norm = (w @ w) / alpha + ((optima - w) ** 2).sum()
        assert norm == pytest.approx(found["squared_norm"], rel=1e-10)
        other = w + 1e-3 * rng.normal(size=3)
        assert (other @ other) / alpha + ((optima - other) ** 2).sum() > norm
        assert found["shared_share"] + found["local_share"] == pytest.approx(1.0)
    assert minimal_norm(alpha=math.inf, clients=9, mean_squared=2.0, spread_squared=0.25) == 0.25


def test_steps_are_those_of_the_bound_and_continuous_at_the_global_end() -> None:
    one = landscape(noise_std=0.01)
    far, end = one.at(1e9), one.at(math.inf)
    assert end.step_size == 0.0
    assert far.shared_step_size == pytest.approx(end.shared_step_size, rel=1e-6)
    assert one.at(0.0).shared_step_size == 0.0
    for alpha in (0.0, 0.01, 3.0, math.inf):
        at = one.at(alpha)
        assert at.bound_23 <= at.total * (1 + 1e-14)
        assert at.variance == pytest.approx(math.hypot(at.statistical, at.privacy), rel=1e-13)
    assert far.bound_23 == pytest.approx(end.bound_23, rel=1e-6)


@pytest.mark.compares("epsilond.optimal-personalization")
def test_the_optimum_theorem_reports_best_and_ends() -> None:
    found = OPTIMUM.evaluate(OPTIMUM.request(**OPTIMUM.examples[0])).outputs
    assert found["personalization"] == found["balanced_personalization"] == 1 / 50
    assert found["excess_risk"] == found["balanced_excess_risk"]
    assert found["excess_risk"] < min(found["local_excess_risk"], found["global_excess_risk"])


def test_nothing_to_learn_costs_nothing() -> None:
    one = landscape(optimum_norm=0.0)
    for alpha in (0.0, 0.5, math.inf):
        assert (one.at(alpha).total, one.at(alpha).bound_23) == (0.0, 0.0)


@pytest.mark.parametrize("value", [-0.1, "infinite", math.inf, math.nan, True, 1e101])
def test_what_alpha_cannot_be(value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        lemma(personalization=value)
    assert {fault.pointer for fault in caught.value.faults} == {"/personalization"}

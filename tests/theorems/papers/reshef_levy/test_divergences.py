"""Appendix A of Reshef and Levy on divergences: by enumeration of laws, and of mechanisms that depend on the past."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from mpmath import log, mp, mpf, sqrt

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.papers.reshef_levy.divergences import LEMMA_A_3, POST_PROCESSING, PRODUCTS


def divergence(first: Sequence[Any], second: Sequence[Any], order: float) -> Any:
    """ln E_Q (P/Q)^a/(a − 1), the other way round from the code."""
    a = mpf(order)
    return log(sum(mpf(q) * (mpf(p) / mpf(q)) ** a for p, q in zip(first, second, strict=True) if p > 0)) / (a - 1)


def random_laws(seed: int, count: int, size: int) -> list[list[float]]:
    drawn = np.random.default_rng(seed).dirichlet(np.full(size, 1.5), size=count)
    return [[float(p) for p in row] for row in drawn]


@pytest.mark.compares("reshef.appendix-a.post-processing")
@pytest.mark.parametrize("order", [1.01, 2.0, 40.0])
@pytest.mark.parametrize("seed", range(4))
def test_no_channel_enlarges_a_divergence(seed: int, order: float) -> None:
    first, second = random_laws(seed, 2, 4)
    kernel = random_laws(50 + seed, 4, 3)
    inputs = POST_PROCESSING.request(first=first, second=second, order=order, kernel=kernel)
    found = POST_PROCESSING.evaluate(inputs).outputs
    with mp.workdps(40):
        sent = [[sum(mpf(p) * mpf(row[k]) for p, row in zip(one, kernel, strict=True)) for k in range(3)]
                for one in (first, second)]  # fmt: skip
        wanted = (divergence(first, second, order), divergence(sent[0], sent[1], order))
    assert found["renyi_divergence"] == pytest.approx(float(wanted[0]), rel=1e-10)
    assert found["renyi_divergence_after_kernel"] == pytest.approx(float(wanted[1]), rel=1e-9, abs=1e-13)
    assert found["renyi_divergence_after_kernel"] <= found["renyi_divergence"]


def close_or_apart(random: np.random.Generator, size: int) -> tuple[list[float], list[float]]:
    """Draw two laws that are equal, a millionth apart or unrelated, some with outcomes that a law does not have."""
    first = random.dirichlet(np.full(size, 0.5))
    kind = random.integers(0, 4)
    second = first * (1 + 1e-6 * random.uniform(-1, 1, size)) if kind == 1 else random.dirichlet(np.full(size, 0.5))
    second = first if kind == 0 else second
    if kind == 3:
        first = np.where(np.arange(size) <= size // 2, first, 0.0)
    return (first / first.sum()).tolist(), (second / second.sum()).tolist()


@pytest.mark.compares("reshef.appendix-a.post-processing")
@pytest.mark.parametrize("seed", range(60))
def test_a_channel_enlarges_no_divergence_at_any_order_and_closeness(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 6))
    first, second = close_or_apart(random, size)
    kernel = [random.dirichlet(np.full(3, 0.5)).tolist() for _ in range(size)]
    order = 1.0 + 10.0 ** random.uniform(-15, 4)
    inputs = POST_PROCESSING.request(first=first, second=second, order=order, kernel=kernel)
    served = POST_PROCESSING.evaluate(inputs).outputs
    with mp.workdps(60):
        p, q = ([mpf(x) / sum(map(mpf, one)) for x in one] for one in (first, second))
        truth = divergence(p, q, order) if all(y > 0 for x, y in zip(p, q, strict=True) if x > 0) else mp.inf
        before, after = mpf(served["renyi_divergence"]), mpf(served["renyi_divergence_after_kernel"])
        assert before >= truth
        assert before == truth or before <= truth * (1 + mpf(10) ** -9) + mpf(10) ** -40
        assert 0 <= after <= before * (1 + mpf(10) ** -11)


def test_equal_laws_stay_equal_behind_a_channel() -> None:
    laws = (0.1, 0.2, 0.7)
    kernel = ((0.1, 0.9), (0.3, 0.7), (0.7, 0.3))
    inputs = POST_PROCESSING.request(first=laws, second=laws, order=1.0000001, kernel=kernel)
    served = POST_PROCESSING.evaluate(inputs).outputs
    assert served == {"renyi_divergence": 0.0, "renyi_divergence_after_kernel": 0.0}


@pytest.mark.compares("reshef.appendix-a.products")
@pytest.mark.parametrize("order", [1.5, 7.0])
def test_the_divergence_of_both_by_enumeration(order: float) -> None:
    (first, second), (third, fourth) = random_laws(1, 2, 4), random_laws(2, 2, 3)
    inputs = PRODUCTS.request(first=first, second=second, other_first=third, other_second=fourth, order=order)
    found = PRODUCTS.evaluate(inputs).outputs
    with mp.workdps(40):
        joint = [[mpf(a) * mpf(b) for a, b in itertools.product(*pair)] for pair in ((first, third), (second, fourth))]
        wanted = {
            "renyi_divergence": divergence(first, second, order),
            "other_renyi_divergence": divergence(third, fourth, order),
            "joint_renyi_divergence": divergence(joint[0], joint[1], order),
        }
    assert found == pytest.approx({name: float(value) for name, value in wanted.items()}, rel=1e-11)


def test_an_outcome_that_the_second_law_misses() -> None:
    inputs = PRODUCTS.request(
        first=(0.5, 0.5), second=(1.0, 0.0), other_first=(0.5, 0.5), other_second=(0.5, 0.5), order=2.0
    )
    found = PRODUCTS.evaluate(inputs).outputs
    assert found["joint_renyi_divergence"] == math.inf
    assert found["other_renyi_divergence"] == 0.0


@pytest.mark.compares("reshef.lemma-a.3")
def test_sums_of_concentrated_privacy() -> None:
    body = LEMMA_A_3.examples[0]
    found = LEMMA_A_3.evaluate(LEMMA_A_3.request(**body)).outputs
    with mp.workdps(30):
        rho, offset = sum(map(mpf, body["zcdp_rhos"])), sum(map(mpf, body["zcdp_offsets"]))
        # The least of ξ + ρa + ln(1/δ)/(a − 1) over orders, by its stationary point.
        order = 1 + sqrt(-log(mpf(body["delta"])) / rho)
        epsilon = offset + rho * order - log(mpf(body["delta"])) / (order - 1)
        wanted = {"zcdp_rho": rho, "zcdp_offset": offset, "concentrated_mu": sqrt(2 * rho), "epsilon": epsilon}
    assert found == pytest.approx({name: float(value) for name, value in wanted.items()}, rel=1e-13)
    nothing = LEMMA_A_3.evaluate(LEMMA_A_3.request(zcdp_rhos=(0.0,), delta=1e-5)).outputs
    assert nothing["epsilon"] == 0.0
    for bad in ((), (-1.0,), (math.inf,)):
        with pytest.raises(InvalidInput):
            LEMMA_A_3.request(zcdp_rhos=bad, delta=1e-5)
    with pytest.raises(InvalidInput):
        LEMMA_A_3.request(zcdp_rhos=(1.0,), zcdp_offsets=(1.0, 2.0), delta=1e-5)


@pytest.mark.erratum("E-R6")
def test_mechanisms_that_depend_on_earlier_outputs_compose() -> None:
    """The second mechanism is another one after each output of the first; the sum of their worst ρ covers the pair."""
    orders = np.concatenate([np.linspace(1.001, 3.0, 40), np.geomspace(3.0, 400.0, 40)])

    def rho_of(first: Sequence[Any], second: Sequence[Any]) -> float:
        return max(float(divergence(first, second, float(a)) / a) for a in orders)

    with mp.workdps(25):
        first, second = random_laws(5, 2, 3)
        later = [random_laws(10 + k, 2, 3) for k in range(3)]
        joint = [[mpf(one[k]) * mpf(x) for k in range(3) for x in later[k][which]]
                 for which, one in enumerate((first, second))]  # fmt: skip
        worst = max(rho_of(*each) for each in later)
        # The second output depends on the first one: the step of the proof holds at each of its values, not without.
        second_alone = [sum(row[k] for row in (joint[0][:3], joint[0][3:6], joint[0][6:])) for k in range(3)]
        products = [mpf(first[k]) * x for k in range(3) for x in second_alone]
        assert max(abs(a - b) for a, b in zip(joint[0], products, strict=True)) > mpf("0.01")
        total = LEMMA_A_3.evaluate(LEMMA_A_3.request(zcdp_rhos=(rho_of(first, second), worst), delta=1e-5)).outputs
        assert rho_of(joint[0], joint[1]) <= total["zcdp_rho"]

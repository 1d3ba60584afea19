"""Facts about E_ε, against its definition as a supremum over events, in rationals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import exp, log, mp, mpf

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.papers.asoodeh.divergence import FACTS


def over_events(first: Sequence[Any], second: Sequence[Any], epsilon: float) -> Any:
    """sup over events A of P(A) − e^ε Q(A), by trying them all."""
    events = itertools.product((0, 1), repeat=len(first))
    return max(
        sum((p - exp(mpf(epsilon)) * q) * chosen for p, q, chosen in zip(first, second, event, strict=True))
        for event in events
    )


def random_laws(seed: int, count: int, size: int) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    drawn = rng.dirichlet(np.full(size, 0.7), size=count)
    return [[float(p) for p in row] for row in drawn]


@pytest.mark.compares("asoodeh.section-2")
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("seed", range(6))
def test_the_facts_by_trying_all_events(seed: int, epsilon: float) -> None:
    first, second, other_first, other_second = random_laws(seed, 4, 5)
    kernel = random_laws(100 + seed, 5, 3)
    with mp.workdps(40):
        p, q, r, s = ([mpf(x) for x in one] for one in (first, second, other_first, other_second))
        share = mpf("0.375")
        mixed = [[share * a + (1 - share) * b for a, b in zip(*pair, strict=True)] for pair in ((p, r), (q, s))]
        sent = [[sum(x * mpf(row[k]) for x, row in zip(one, kernel, strict=True)) for k in range(3)] for one in (p, q)]
        wanted = {
            "divergence": over_events(p, q, epsilon),
            "reversed_divergence": over_events(q, p, epsilon),
            "total_variation": sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2,
            "largest_loss": max(log(a / b) for a, b in zip(p, q, strict=True)),
            "singular_mass": mpf(0),
            "divergence_after_kernel": over_events(sent[0], sent[1], epsilon),
            "divergence_of_mixture": over_events(mixed[0], mixed[1], epsilon),
            "mean_divergence": share * over_events(p, q, epsilon) + (1 - share) * over_events(r, s, epsilon),
        }
    fields = {"first": first, "second": second, "other_first": other_first, "other_second": other_second}
    found = FACTS.evaluate(FACTS.request(**fields, epsilon=epsilon, kernel=kernel, share=0.375)).outputs
    assert found == pytest.approx({name: float(value) for name, value in wanted.items()}, rel=1e-12, abs=1e-14)
    assert 0.0 <= found["divergence"] <= found["total_variation"] * (1 + 1e-12)
    assert found["divergence_after_kernel"] <= found["divergence"] + 1e-14
    assert found["divergence_of_mixture"] <= found["mean_divergence"] + 1e-14


def test_it_falls_until_the_largest_loss_and_not_to_the_total_variation() -> None:
    first, second = (0.6, 0.3, 0.1), (0.2, 0.3, 0.5)

    def at(epsilon: float) -> Any:
        return FACTS.evaluate(FACTS.request(first=first, second=second, epsilon=epsilon)).outputs

    end, distance = at(0.0)["largest_loss"], at(0.0)["total_variation"]
    assert end == pytest.approx(math.log(3.0))
    assert distance == pytest.approx(0.4)
    values = [at(epsilon)["divergence"] for epsilon in np.linspace(0.0, end, 50)]
    assert all(low < high for high, low in itertools.pairwise(values))
    assert at(1.01 * distance)["divergence"] < at(distance)["divergence"]
    assert at(end * (1 + 1e-12))["divergence"] == 0.0


@pytest.mark.parametrize("seed", range(40))
def test_it_falls_strictly_to_the_singular_mass_and_is_constant_from_there(seed: int) -> None:
    """E_ε falls until ε is the largest finite loss. From there on it is μ's mass where ν has none."""
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 6))
    first, second = (random.dirichlet(np.full(size, 0.7)) for _ in range(2))
    if seed % 2:  # outcomes that one law does not have
        first = np.where(random.random(size) < 0.3, 0.0, first)
        second = np.where(random.random(size) < 0.4, 0.0, second)
    if seed % 5 == 0:
        second = first
    if seed % 7 == 0 and size > 1:  # disjoint supports
        first, second = np.where(np.arange(size) < 1, 1.0, 0.0), np.where(np.arange(size) < 1, 0.0, 1.0)
    first, second = (one if one.sum() > 0 else np.eye(size)[0] for one in (first, second))
    first, second = first / first.sum(), second / second.sum()

    def at(epsilon: float) -> float:
        request = FACTS.request(first=first.tolist(), second=second.tolist(), epsilon=epsilon)
        return float(FACTS.evaluate(request).outputs["divergence"])

    with mp.workdps(40):
        p, q = ([mpf(x) / sum(map(mpf, one.tolist())) for x in one.tolist()] for one in (first, second))
        pairs = list(zip(p, q, strict=True))
        singular = sum((x for x, y in pairs if y == 0), mpf(0))
        last = max((log(x / y) for x, y in pairs if x > 0 and y > 0), default=mpf(0))
        last = max(last, mpf(0))
        falling = [float(last) * k / 8 for k in range(8)]
        truths = [sum((max(x - exp(mpf(e)) * y, 0) for x, y in pairs), mpf(0)) for e in falling]
        if last > mpf(10) ** -10:
            assert all(low < high for high, low in itertools.pairwise(truths))
            values = [at(epsilon) for epsilon in falling]
            assert values == pytest.approx([float(truth) for truth in truths], rel=1e-13, abs=1e-15)
            assert all(low < high for high, low in itertools.pairwise(values))
            assert values[-1] > float(singular)
        for epsilon in (float(last) * (1 + 1e-12) + 1e-15, float(last) + 1.0, 1e9):
            assert at(epsilon) == pytest.approx(float(singular), rel=1e-15)
    largest = FACTS.evaluate(FACTS.request(first=first.tolist(), second=second.tolist(), epsilon=0.0)).outputs
    assert (largest["largest_loss"] == math.inf) == (singular > 0)


@pytest.mark.erratum("A-8")
def test_laws_of_overlapping_halves_have_a_constant_divergence() -> None:
    """A-8: half of μ is singular to ν, so that E_ε(μ‖ν) is ½ at every ε, also on (0, TV]."""
    first, second = (Fraction(1, 2), Fraction(1, 2), Fraction(0)), (Fraction(0), Fraction(1, 2), Fraction(1, 2))
    for epsilon in (0.0, 0.25, 0.5, 2.0, 700.0):
        outputs = FACTS.evaluate(
            FACTS.request(first=tuple(map(float, first)), second=tuple(map(float, second)), epsilon=epsilon)
        ).outputs
        with mp.workdps(400):
            expected = over_events([mpf("0.5"), mpf("0.5"), mpf(0)], [mpf(0), mpf("0.5"), mpf("0.5")], epsilon)
        assert outputs["divergence"] == float(expected) == outputs["singular_mass"] == 0.5
        assert outputs["total_variation"] == 0.5
        assert outputs["largest_loss"] == math.inf
    # Where ν dominates μ, as the density dμ/dν asks, E_ε falls strictly on (0, TV].
    for first_law, second_law in (random_laws(seed, 2, 4) for seed in range(20)):
        shared = {"first": tuple(first_law), "second": tuple(second_law)}
        variation = FACTS.evaluate(FACTS.request(**shared, epsilon=0.0)).outputs["total_variation"]
        values = [
            FACTS.evaluate(FACTS.request(**shared, epsilon=float(epsilon))).outputs["divergence"]
            for epsilon in np.linspace(0.0, variation, 8)
        ]
        assert all(later < earlier for earlier, later in itertools.pairwise(values))


def test_outcomes_that_only_one_law_has() -> None:
    found = FACTS.evaluate(FACTS.request(**FACTS.examples[1])).outputs
    assert found["largest_loss"] == math.inf
    assert found["divergence"] == 0.5
    assert FACTS.evaluate(FACTS.request(first=(1.0,), second=(1.0,), epsilon=1e9)).outputs["divergence"] == 0.0


@pytest.mark.parametrize(
    "changes",
    [
        {"first": (0.5, 0.4, 0.0)},
        {"second": (0.5, 0.5)},
        {"first": ()},
        {"kernel": ((1.0,),)},
        {"kernel": ((0.5, 0.5), (1.0,), (1.0,))},
        {"other_second": None},
        {"other_first": (0.5, 0.5)},
    ],
)
def test_what_is_no_law_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        FACTS.request(**{**FACTS.examples[0], **changes})

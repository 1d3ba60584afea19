"""Facts about E_ε, against its definition as a supremum over events, in rationals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
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

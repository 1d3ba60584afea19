"""ε of shuffled randomized response where δ is just below δ(0), against the law of the reports' histogram."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.theorems.shuffling.clones import response_bound
from epsilond.accountants.theorems.shuffling.statements import RESPONSE


def histogram_law(clients: int, epsilon: float, categories: int, victim: int) -> dict[tuple[int, ...], mpf]:
    """Return the law of how often each category is reported, if every other client holds category 0."""
    keep = mp.exp(mpf(epsilon))
    total = keep + categories - 1
    law: Counter[tuple[int, ...]] = Counter()
    for reports in itertools.product(range(categories), repeat=clients):
        held = (victim, *[0] * (clients - 1))
        probability = mp.fprod(
            (keep if report == own else 1) / total for report, own in zip(reports, held, strict=True)
        )
        law[tuple(reports.count(category) for category in range(categories))] += probability
    return dict(law)


def delta(clients: int, epsilon: float, categories: int, at: float) -> mpf:
    """Return E_{e^at} of the two histograms."""
    first, second = (histogram_law(clients, epsilon, categories, victim) for victim in (0, 1))
    return sum((max(p - mp.exp(mpf(at)) * second.get(key, 0), 0) for key, p in first.items()), mpf(0))


@pytest.mark.compares("epsilond.shuffled-randomized-response")
@pytest.mark.parametrize(
    ("clients", "local_epsilon", "categories", "share"),
    [
        (2, 0.9593596015409234, 2, None),
        (2, 0.07734660098903103, 2, None),
        (1, 1.0, 2, 1e-15),
        (2, 1e-5, 2, 1e-13),
        (3, 2.0, 3, 1e-16),
        (3, 0.3, 2, 1e-3),
        (1, 1e-12, 5, 0.5),
        (4, 5.0, 2, 0.999),
    ],
)
def test_epsilon_is_never_negative_nor_below_the_truth(
    clients: int, local_epsilon: float, categories: int, share: float | None
) -> None:
    given = {(2, 0.9593596015409234): 0.32244583143055794, (2, 0.07734660098903103): 0.020074082977028892}
    top = math.exp(response_bound(clients, local_epsilon, categories).upper(0.0))
    target = given[clients, local_epsilon] if share is None else top * (1.0 - share)
    request = RESPONSE.request(clients=clients, local_epsilon=local_epsilon, categories=categories, delta=target)
    outputs = RESPONSE.evaluate(request).outputs
    assert 0.0 <= outputs["lower_epsilon"] <= outputs["epsilon"]
    with mp.workdps(40):
        assert delta(clients, local_epsilon, categories, outputs["epsilon"]) <= mpf(target) * (1 + mpf(10) ** -12)


def test_random_targets_next_to_the_largest_delta() -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        clients, categories = int(random.choice([1, 2, 3, 10])), int(random.choice([2, 3]))
        epsilon = float(10.0 ** random.uniform(-6, 1))
        top = response_bound(clients, epsilon, categories).upper(0.0)
        target = math.exp(top) * (1.0 - 10.0 ** random.uniform(-16, -12))
        request = RESPONSE.request(clients=clients, local_epsilon=epsilon, categories=categories, delta=target)
        assert RESPONSE.evaluate(request).outputs["epsilon"] >= 0.0

"""Places of a record and windows after its use, term by term."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.schedules import Explicit, InverseTime
from epsilond.accountants.theorems.hidden_states.best_plan import least_mu
from epsilond.accountants.theorems.hidden_states.differing_steps import DifferingSteps
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from epsilond.accountants.theorems.hidden_states.record_places import RecordPlaces, places
from epsilond.accountants.theorems.hidden_states.shift_then_contract import EqualSteps
from tests.oracles.contraction import theta
from tests.theorems.hidden_states.test_projected_sgd import spec


@pytest.mark.parametrize(
    ("rounds", "release"), [(7, "last"), (10, "last"), (23, "last"), (10, "random-stop"), (6, "suffix")]
)
def test_places_are_counted_as_they_stand(rounds: int, release: Any) -> None:
    fraction = {"suffix_fraction": 0.5} if release == "suffix" else {}
    given = spec(rounds=rounds, release=release, **fraction)
    counted: dict[tuple[int, int], int] = {}
    for stop in range(given.first_stop, rounds + 1):
        for place in range(1, min(given.period, stop) + 1):
            uses = (stop - place) // given.period + 1
            after = (stop - place) % given.period
            counted[uses, after] = counted.get((uses, after), 0) + 1
    kinds, share = places(ProjectedRun.of(given, "replace-one"))
    found = {(kind.uses, int(v)): w for kind in kinds for v, w in zip(kind.nodes, kind.weights, strict=True) if w}
    assert found == counted
    assert share == pytest.approx(math.log(0.1 / (rounds - given.first_stop + 1)))


def test_far_places_are_counted_in_blocks_that_lose_none() -> None:
    for kind in (
        RecordPlaces(1, 0, 10**9 - 1),
        RecordPlaces(2, 500, 10**6),
        RecordPlaces(1, 0, 10**7 - 1, cap=5e6, top=1e7),
    ):
        assert kind.nodes.size < 10_000
        assert kind.weights.sum() == pytest.approx(float(kind.before(np.asarray([kind.last + 1.0]))[0]), rel=1e-12)
        assert (kind.weights >= 0).all()
    assert RecordPlaces(1, 0, 10**7 - 1, cap=5e6, top=1e7).weights.sum() == pytest.approx(
        5e6 * 5e6 + 5e6 * (5e6 + 1) / 2
    )


@pytest.mark.parametrize("contracted", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_equal_and_differing_steps_agree(contracted: bool, epsilon: float) -> None:
    equal = ProjectedRun.of(spec(clients=120, strong_convexity=0.2, radius=0.3), "replace-one")
    listed = ProjectedRun.of(
        spec(
            clients=120,
            strong_convexity=0.2,
            radius=0.3,
            step_schedule=Explicit(values=(0.5,) * 29 + (0.5 * (1 + 2e-16),)),
        ),
        "replace-one",
    )
    one = EqualSteps(equal).log_bound(epsilon, contracted=contracted)
    other = DifferingSteps(listed).log_bound(epsilon, contracted=contracted)
    if contracted:  # fewer windows are tried where steps differ
        assert one.lower - 1e-9 <= other.upper <= one.upper + 0.2
    else:
        assert other.upper == pytest.approx(one.upper, abs=1e-9)


def test_differing_steps_take_the_best_of_their_windows() -> None:
    sizes, noises = (0.9, 0.2, 0.5, 1.1, 0.3, 0.7, 0.4, 0.6), (2.0, 1.0, 3.0, 0.8, 1.5, 2.5, 1.2, 0.9)
    given = ProjectedRun.of(
        spec(
            clients=8,
            participants=1,
            radius=0.8,
            strong_convexity=0.3,
            step_schedule=Explicit(values=sizes),
            noise_schedule=Explicit(values=noises),
        ),
        "replace-one",
    )
    epsilon = 0.2
    constants = [max(abs(1 - 0.3 * size), abs(1 - size)) for size in sizes]
    kernels = [theta(epsilon, 2 * 0.8 * c / (s * n)) for c, s, n in zip(constants, sizes, noises, strict=True)]
    total = 0.0
    for j in range(8):
        options = []
        for window in (0, 1, 3, 7, 7 - j):
            if j + window > 7:
                continue
            part = slice(j, j + window + 1)
            spread = [s * n for s, n in zip(sizes[part], noises[part], strict=True)]
            mu = least_mu(constants[part], [2.0 * sizes[j]] + [0.0] * window, spread)
            if j + window == 7 and window > 0:
                late = least_mu(constants[j + 1 :], [0.0] * (7 - j), spread[1:], initial_distance=1.6)
                mu = min(mu, late)
            options.append(theta(epsilon, mu) * math.prod(kernels[j + window + 1 :]))
        total += min(options) / 8
    ends = DifferingSteps(given).log_bound(epsilon, contracted=True)
    assert ends.upper == pytest.approx(math.log(total), abs=1e-9)
    assert 0.0 <= ends.upper - ends.lower < 1e-11


@pytest.mark.parametrize("contracted", [False, True])
def test_stages_and_parts_join_without_a_seam(contracted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    falling = ProjectedRun.of(spec(clients=8000, step_schedule=InverseTime(scale=1.9)), "replace-one")
    equal = ProjectedRun.of(spec(clients=40_000), "replace-one")
    whole = [
        DifferingSteps(falling).log_bound(0.01, contracted=contracted),
        EqualSteps(equal).log_bound(0.0, contracted=contracted),
    ]
    monkeypatch.setattr("epsilond.accountants.theorems.hidden_states.differing_steps.FIRST_STAGE", 10**6)
    monkeypatch.setattr("epsilond.accountants.theorems.hidden_states.shift_then_contract.STAGE", 10**6)
    joined = [
        DifferingSteps(falling).log_bound(0.01, contracted=contracted),
        EqualSteps(equal).log_bound(0.0, contracted=contracted),
    ]
    for one, other in zip(whole, joined, strict=True):
        assert other.upper <= one.upper + 1e-9
        assert one.upper == pytest.approx(other.upper, abs=0.05 if contracted else 1e-9)


@pytest.mark.parametrize("contracted", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        {"step_schedule": InverseTime(scale=1.9)},
        {"step_schedule": InverseTime(scale=1.9), "strong_convexity": 1e-3},
        {"noise_schedule": InverseTime(scale=6e4)},
        {"step_schedule": InverseTime(scale=1.9), "batches": "cyclic"},
    ],
    ids=str,
)
def test_far_places_of_differing_steps_are_bounded_by_blocks(
    changes: dict[str, Any], contracted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ProjectedRun.of(spec(clients=20_000, participants=1, **changes), "replace-one")
    blocks = [DifferingSteps(given).log_bound(epsilon, contracted=contracted) for epsilon in (0.0, 0.02)]
    monkeypatch.setattr("epsilond.accountants.theorems.hidden_states.differing_steps.HYBRID_PLACES", 20_000)
    places = [DifferingSteps(given).log_bound(epsilon, contracted=contracted) for epsilon in (0.0, 0.02)]
    for block, place in zip(blocks, places, strict=True):
        assert place.upper - 1e-9 <= block.upper <= place.upper + 0.02
        assert block.upper - block.lower < 1e-9

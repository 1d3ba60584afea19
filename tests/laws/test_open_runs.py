"""Laws of every calibrator that chooses rounds and batch size where they are left open."""

from __future__ import annotations

import functools
from dataclasses import fields
from typing import Any

import pytest

from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.mb_sgd.run_predictions import PREDICTION_ERROR
from epsilond.calibrators.risk.bounder import RISK_BOUNDS
from epsilond.calibrators.run_lattice import BATCH_RATIO, ROUNDS_RATIO, lattice
from epsilond.reading import read
from tests.answers import risk_of

CHOOSING = {one.name: one for one in CALIBRATORS if "within" in {field.name for field in fields(one.problem)}}
SMALL: dict[str, dict[str, Any]] = {
    "mb-sgd": {"unit": "client", "samples_per_client": 12, "max_gradients": 240},
    "accelerated-mb-sgd": {"unit": "client", "samples_per_client": 12, "max_gradients": 240, "strong_convexity": 0.0},
    "one-pass-accelerated-mb-sgd": {"samples_per_client": 100},
}
"""Runs whose noise is a closed form, so that all of them can be certified; shuffled-mb-sgd has none."""
each_small = pytest.mark.parametrize("name", SMALL)


def body_of(name: str) -> dict[str, Any]:
    body = {**CHOOSING[name].example, **SMALL[name], "readings": []}
    return {field: value for field, value in body.items() if field not in ("rounds", "batch_size")}


@functools.cache
def _solved(name: str, changes: frozenset[tuple[str, Any]]) -> Calibration:
    one = CHOOSING[name]
    answer: Calibration = one.solve(read(one.problem, {**body_of(name), **dict(changes)}))
    return answer


def solved(name: str, **changes: Any) -> Calibration:
    return _solved(name, frozenset(changes.items()))


def size(answer: Calibration) -> tuple[int, int]:
    return answer.parameters.rounds, answer.parameters.batch_size


def budget_of(name: str) -> int:
    body = body_of(name)
    return int(body.get("max_gradients", body["samples_per_client"]))


@functools.cache
def all_bounds(name: str) -> dict[tuple[int, int], float]:
    """Every run of the lattice with its bound, by asking for it."""
    n, gradients = body_of(name)["samples_per_client"], budget_of(name)
    return {
        (rounds, batch): risk_of(solved(name, rounds=rounds, batch_size=batch))
        for rounds in lattice(gradients, ROUNDS_RATIO)
        for batch in lattice(min(n, gradients // rounds), BATCH_RATIO)
    }


def test_these_calibrators_choose() -> None:
    assert set(CHOOSING) == {*SMALL, "shuffled-mb-sgd"}


@each_small
@pytest.mark.parametrize("within", [0.0, 0.1, 1.0])
def test_the_answer_is_the_smallest_run_that_is_good_enough(name: str, within: float) -> None:
    answer, bounds = solved(name, within=within), all_bounds(name)
    best = min(bounds.values())
    assert risk_of(answer) == bounds[size(answer)] <= (1 + within) * (1 + PREDICTION_ERROR) * best
    assert all(value > (1 + within) * best for run, value in bounds.items() if run < size(answer))


@each_small
def test_the_default_is_a_tenth_and_more_leeway_takes_no_larger_run(name: str) -> None:
    sizes = [size(solved(name, within=within)) for within in (0.0, 0.02, 0.1, 0.3, 2.0, 1e6)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == (1, 1)
    assert size(solved(name)) == sizes[2] < sizes[0]


@each_small
def test_what_is_given_stays_and_the_rest_follows_the_rule(name: str) -> None:
    bounds = all_bounds(name)
    rounds, batch = 10, 4
    by_rounds, by_batch = solved(name, rounds=rounds), solved(name, batch_size=batch)
    assert size(by_rounds)[0] == rounds
    assert size(by_batch)[1] == batch
    for answer, best, alike in (
        (by_rounds, solved(name, rounds=rounds, within=0.0), {run: bounds[run] for run in bounds if run[0] == rounds}),
        (by_batch, solved(name, batch_size=batch, within=0.0), {run: bounds[run] for run in bounds if run[1] == batch}),
    ):
        limit = 1.1 * min(*alike.values(), risk_of(best))
        assert risk_of(answer) <= limit * (1 + PREDICTION_ERROR)
        assert all(value > limit for run, value in alike.items() if run < size(answer))


@each_small
def test_budgets_bind(name: str) -> None:
    whole = solved(name, within=0.0)
    assert whole.communication is not None
    half = whole.communication.total_bits // 2
    less = solved(name, within=0.0, communication_budget=half)
    assert less.communication is not None
    assert less.communication.total_bits <= half
    assert risk_of(less) >= risk_of(whole)
    few = solved(name, max_gradients=60)
    assert few.parameters.rounds * few.parameters.batch_size <= 60


@each_small
def test_the_frontier_agrees_with_the_risk_bounds_at_its_runs(name: str) -> None:
    answer = solved(name)
    assert answer.frontier is not None
    assert 2 <= len(answer.frontier) <= 20
    bounder = next(one for one in RISK_BOUNDS if one.name == name)
    for one in answer.frontier:
        run = {"rounds": one.rounds, "batch_size": one.batch_size}
        found = bounder.solve(read(bounder.problem, {**body_of(name), **run, "noise_std": one.noise_std}))
        (value,) = (upper.value for upper in found.upper if upper.constant == "explicit")
        assert one.risk == pytest.approx(value, rel=1e-9)
        certified = solved(name, **run)
        assert one.certified
        assert one.noise_std == pytest.approx(certified.parameters.noise_std, rel=1e-5)
        assert one.chosen == ((one.rounds, one.batch_size) == size(answer))
        assert certified.communication is not None
        assert one.total_bits == certified.communication.total_bits
        assert one.bits_per_client == certified.communication.bits_per_round_per_client * one.rounds


@each_small
def test_nothing_on_the_frontier_is_beaten(name: str) -> None:
    frontier = solved(name).frontier
    assert frontier is not None
    assert sum(one.chosen for one in frontier) == 1
    for one in frontier:
        at_least_as_good = [
            other
            for other in frontier
            if (other.rounds <= one.rounds, other.batch_size <= one.batch_size, other.risk <= one.risk) == (True,) * 3
        ]
        assert at_least_as_good == [one]


@each_small
def test_a_given_run_has_no_frontier(name: str) -> None:
    assert solved(name, rounds=5, batch_size=5).frontier is None

"""Open rounds and batch sizes: the smallest run that is good enough, and the trade-off beside it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.calibrators.answer import FrontierRun
from epsilond.calibrators.frontier import MOST_TRIALS, smallest_likely_run, smallest_run
from epsilond.calibrators.mb_sgd.problem import Run, Traffic
from epsilond.calibrators.mb_sgd.run_predictions import PREDICTION_ERROR, RunFunctions
from epsilond.calibrators.run_lattice import lattice, runs_within

TRAFFIC = Traffic(bits_per_client=10, bits_per_round=70)
WITHINS = st.sampled_from([0.0, 1e-6, 0.01, 0.1, 0.5, 3.0])


def outlook(*, n: int, curvature: float, sampling: float, noise: float, error: float) -> RunFunctions:
    """Bounds that fall and rise as real ones do; the true noise is above the likely one, as rarity has it."""

    def rarity(run: Run) -> float:
        return 0.0 if run.batch_size == n else n / (run.batch_size * math.sqrt(run.rounds))

    def likely(run: Run) -> float:
        return noise * math.sqrt(run.rounds)

    def certified(run: Run) -> float:
        return likely(run) * math.exp(0.3 + error * math.log1p(rarity(run)))

    def risk(run: Run, std: float) -> float:
        return curvature / run.rounds + math.sqrt((sampling / run.batch_size + std * std) / run.rounds) + 1e-3 * std

    return RunFunctions(
        likely_noise=likely,
        certified_noise=certified,
        quick_risk=lambda run, std: 1.02 * risk(run, std),
        risk=risk,
        rarity=rarity,
        reference=Run(batch_size=n, rounds=1),
    )


def certain(look: RunFunctions, run: Run) -> float:
    return look.risk(run, look.certified_noise(run))


def lattice_of(n: int, gradients: int, **given_: int) -> list[Run]:
    wanted: dict[str, Any] = {"rounds": None, "batch_size": None, **given_}
    return runs_within(lambda size: gradients // size, largest_batch=n, **wanted)


problems = st.fixed_dictionaries(
    {
        "n": st.sampled_from([1, 7, 50]),
        "curvature": st.sampled_from([0.01, 1.0, 100.0]),
        "sampling": st.sampled_from([0.0, 1.0, 100.0]),
        "noise": st.sampled_from([1e-4, 0.01, 1.0]),
        "error": st.sampled_from([0.0, 0.1, 0.5]),
    }
)


@given(problems, WITHINS)
@settings(deadline=None, max_examples=25)
def test_the_smallest_run_that_is_good_enough_by_certifying_them_all(numbers: dict[str, Any], within: float) -> None:
    look = outlook(**numbers)
    runs = lattice_of(numbers["n"], 30 * numbers["n"])
    bounds = {run: certain(look, run) for run in runs}
    best = min(bounds.values())
    asked = []

    def certified(run: Run) -> float:
        asked.append(run)
        return look.certified_noise(run)

    chosen = smallest_run(runs, replace(look, certified_noise=certified), within=within, traffic=TRAFFIC).run
    assert bounds[chosen] <= (1 + within) * (1 + PREDICTION_ERROR) * best
    smaller = [run for run in runs if (run.rounds, run.batch_size) < (chosen.rounds, chosen.batch_size)]
    if len(asked) < MOST_TRIALS:
        assert all(bounds[run] > (1 + within) * best for run in smaller)
    assert len(asked) < min(len(runs) + 2, 2 * MOST_TRIALS)


@given(problems)
@settings(deadline=None, max_examples=10)
def test_more_leeway_never_needs_a_larger_run(numbers: dict[str, Any]) -> None:
    look, runs = outlook(**numbers), lattice_of(numbers["n"], 30 * numbers["n"])
    chosen = [smallest_run(runs, look, within=within, traffic=TRAFFIC).run for within in (0.01, 0.1, 0.5, 3.0)]
    sizes = [(run.rounds, run.batch_size) for run in chosen]
    assert sizes == sorted(sizes, reverse=True)
    everything = smallest_run(runs, look, within=1e6, traffic=TRAFFIC).run
    assert everything == min(runs, key=lambda run: (run.rounds, run.batch_size))


@given(problems)
@settings(deadline=None, max_examples=10)
@example({"n": 100, "curvature": 1.0, "sampling": 1.0, "noise": 0.01, "error": 0.0})
def test_without_leeway_it_is_the_best_run(numbers: dict[str, Any]) -> None:
    look, runs = outlook(**numbers), lattice_of(numbers["n"], 30 * numbers["n"])
    chosen = smallest_run(runs, look, within=0.0, traffic=TRAFFIC).run
    assert certain(look, chosen) <= (1 + PREDICTION_ERROR) * min(certain(look, run) for run in runs)


def dominated(one: FrontierRun, other: FrontierRun) -> bool:
    return other.rounds <= one.rounds and other.batch_size <= one.batch_size and other.risk <= one.risk


def check_frontier(frontier: tuple[FrontierRun, ...] | None, run: Run) -> None:
    """The laws of every frontier, for whichever algorithm."""
    assert frontier is not None
    assert 2 <= len(frontier) <= 20
    for place, one in enumerate(frontier):
        assert not any(dominated(one, other) for at, other in enumerate(frontier) if at != place)
    (chosen,) = (one for one in frontier if one.chosen)
    assert (chosen.rounds, chosen.batch_size, chosen.certified) == (run.rounds, run.batch_size, True)
    assert [one.rounds for one in frontier] == sorted(one.rounds for one in frontier)


@given(problems, WITHINS, st.sampled_from([smallest_run, smallest_likely_run]))
@settings(deadline=None, max_examples=25)
def test_a_frontier_is_of_runs_that_no_other_beats(numbers: dict[str, Any], within: float, choose: Any) -> None:
    look = outlook(**{**numbers, "n": 100})
    found = choose(lattice_of(100, 3000), look, within=within, traffic=TRAFFIC)
    check_frontier(found.frontier, found.run) if len(found.frontier) > 1 else None
    for one in found.frontier:
        run = Run(batch_size=one.batch_size, rounds=one.rounds)
        assert one.risk == look.risk(run, one.noise_std)
        assert (one.bits_per_client, one.total_bits) == (10 * one.rounds, 70 * one.rounds)
        if one.certified:
            assert one.noise_std == look.certified_noise(run)


def test_the_thrifty_choice_is_within_what_is_predicted_and_certifies_little() -> None:
    look = outlook(n=100, curvature=1.0, sampling=1.0, noise=0.01, error=0.1)
    runs, asked = lattice_of(100, 5000), []

    def certified(run: Run) -> float:
        asked.append(run)
        return look.certified_noise(run)

    thrifty = replace(look, certified_noise=certified, reference=None, rarity=lambda _: 0.0)
    chosen = smallest_likely_run(runs, thrifty, within=0.1, traffic=TRAFFIC).run
    assert len(asked) <= 3
    assert certain(look, chosen) <= 1.15 * min(certain(look, run) for run in runs)


@pytest.mark.parametrize(("most", "ratio"), [(0, 1.1), (1, 1.1), (2, 2.0), (1000, 1.1), (10**6, 2.0)])
def test_a_lattice_reaches_both_ends_and_skips_little(most: int, ratio: float) -> None:
    values = lattice(most, ratio)
    assert values[:1] + values[-1:] == ((1, most) if most else ())
    assert all(low < high <= max(low + 1, ratio * low) for low, high in zip(values, values[1:], strict=False))


def test_the_runs_fit_the_budget_use_all_of_it_and_keep_what_is_given() -> None:
    runs = lattice_of(30, 100)
    assert all(run.batch_size <= 30 and run.batch_size * run.rounds <= 100 for run in runs)
    for rounds in {run.rounds for run in runs}:
        assert Run(batch_size=min(30, 100 // rounds), rounds=rounds) in runs
    assert {run.rounds for run in lattice_of(30, 100, rounds=7)} == {7}
    assert {run.batch_size for run in lattice_of(30, 100, batch_size=9)} == {9}
    assert max(run.rounds for run in lattice_of(30, 100, batch_size=9)) == 11
    assert max(run.rounds for run in lattice_of(10**12, 10**15)) == 10**9
    with pytest.raises(InvalidInput, match="does not pay"):
        lattice_of(30, 100, rounds=101)


def test_a_reference_that_cannot_be_certified_is_done_without() -> None:
    look = outlook(n=50, curvature=1.0, sampling=1.0, noise=0.01, error=0.1)

    def certified(run: Run) -> float:
        if run == look.reference:
            raise Infeasible("no noise that is offered meets the target")
        return look.certified_noise(run)

    runs = [run for run in lattice_of(50, 1500) if run != look.reference]
    found = smallest_run(runs, replace(look, certified_noise=certified), within=0.1, traffic=TRAFFIC)
    assert certain(look, found.run) <= 1.1 * (1 + PREDICTION_ERROR) * min(certain(look, run) for run in runs)


def test_where_one_run_is_possible_there_is_nothing_to_choose() -> None:
    (run,) = runs_within(lambda size: 1 // size, rounds=None, batch_size=None, largest_batch=9)

    def never(_: Run) -> float:
        raise AssertionError("nothing is to be certified")

    look = replace(outlook(n=9, curvature=1.0, sampling=1.0, noise=1.0, error=0.0), certified_noise=never)
    found = smallest_run([run], look, within=0.1, traffic=TRAFFIC)
    assert (found.run, found.frontier) == (run, None)

"""Measurements of excess risk: what is answered, what is refused, and when a bound is called broken."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy import stats

from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import as_json
from epsilond.witness import simulation
from epsilond.witness.risks.measure import BAND, confidence_band
from epsilond.witness.risks.measurement import RiskSimulation
from tests.witness import toy

RUN = toy.ToyRun(rounds=8, noise_std=1.0)


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    toy.put(monkeypatch)


def asked(**fields):
    return RiskSimulation(**({"run": RUN, "problem": toy.ToyProblem(), "repetitions": 30, "points": 3} | fields))


def answered(request, order=lambda indices: indices):
    prepared = simulation.prepare(request)
    blocks = {index: simulation.run_block(prepared, index) for index in order(range(prepared.plan.blocks))}
    return simulation.assemble(prepared, [blocks[index] for index in sorted(blocks)])


def faults(**fields):
    with pytest.raises(InvalidInput) as caught:
        answered(asked(**fields))
    return [fault.pointer for fault in caught.value.faults]


def test_means_and_bands_are_those_of_the_repetitions():
    answer = answered(asked())
    drawn = np.array(
        [0.5 + np.random.default_rng(np.random.SeedSequence(0, spawn_key=(i,))).random() for i in range(30)]
    )
    private = answer.series[0]
    assert private.rounds == (1, 4, 8)
    for place, number in enumerate(private.rounds):
        values = toy.LEVEL * drawn / number + 1.0
        low, high = stats.t.interval(0.95, 29, loc=values.mean(), scale=stats.sem(values))
        assert private.mean[place] == pytest.approx(values.mean(), rel=1e-14)
        assert private.lower[place] == pytest.approx(low, rel=1e-12)
        assert private.upper[place] == pytest.approx(high, rel=1e-12)
        assert private.standard_error[place] == pytest.approx(stats.sem(values), rel=1e-12)
    assert answer.final_excess.mean == private.mean[-1]
    assert answer.rounds == 8


def test_the_band_covers_the_mean_as_often_as_it_says():
    truth = toy.LEVEL / 8 + 1.0
    finals = [answered(asked(seed=seed, alternatives=(), confidence=0.9)).final_excess for seed in range(300)]
    covered = sum(final.lower <= truth <= final.upper for final in finals)
    assert stats.binom.ppf(1e-4, 300, 0.9) <= covered <= stats.binom.ppf(1.0 - 1e-4, 300, 0.9)


def test_runs_set_beside_it_see_the_same_repetitions():
    answer = answered(asked())
    names = {series.name: series for series in answer.series}
    assert list(names) == ["private", "non-private", "louder"]
    assert [series.role for series in answer.series] == ["private", "non-private", "alternative"]
    assert names["louder"].final.mean - names["non-private"].final.mean == pytest.approx(4.0, rel=1e-12)


def test_only_the_runs_asked_for_are_made():
    assert [series.name for series in answered(asked(alternatives=("louder",))).series] == ["private", "louder"]
    assert [series.name for series in answered(asked(alternatives=())).series] == ["private"]
    assert faults(alternatives=("louder", "quieter")) == ["/alternatives/1"]


@pytest.mark.parametrize(
    "order", [list, lambda indices: reversed(list(indices)), lambda indices: [*indices][1::2] + [*indices][::2]]
)
def test_the_order_of_blocks_changes_no_bit(order):
    request = asked(run=toy.ToyRun(rounds=8, noise_std=1.0, operations=4e6))
    assert simulation.plan(request).blocks == 4
    found = answered(request, order)
    assert as_json(found) == as_json(answered(request))
    plain = answered(asked(run=toy.ToyRun(rounds=8, noise_std=1.0)))
    assert found.series[0].mean == plain.series[0].mean


def test_another_seed_gives_another_answer():
    assert answered(asked(seed=1)).final_excess.mean != answered(asked(seed=2)).final_excess.mean


def test_the_plan_grows_with_the_work():
    small, large = (
        simulation.plan(asked(run=toy.ToyRun(rounds=8, noise_std=1.0, operations=ops))) for ops in (1e6, 1e9)
    )
    assert small.blocks < large.blocks == 30
    assert large.seconds == pytest.approx(3 * (30 * 1e9 / 1e8), rel=0.01)
    assert small.seconds == pytest.approx(3 * (30 * 1e6 / 1e8), rel=0.01)


# Noise given, or calibrated ------------------------------------------------------------------------------------------


def test_open_noise_is_calibrated_to_the_target():
    answer = answered(asked(run=toy.ToyRun(rounds=8), epsilon=2.0, delta=1e-5))
    assert answer.parameters.noise_std == 0.5
    assert answer.series[0].parameters == answer.parameters


def test_noise_and_a_target_exclude_each_other_and_both_are_named():
    assert faults(epsilon=1.0, delta=1e-5) == ["/run/noise_std", "/epsilon", "/delta"]
    assert faults(log10_delta=-5.0) == ["/run/noise_std", "/log10_delta"]


def test_one_of_them_is_needed():
    assert faults(run=toy.ToyRun(rounds=8)) == ["/run/noise_std"]


def test_a_target_needs_both_its_parts():
    open_run = toy.ToyRun(rounds=8)
    assert faults(run=open_run, epsilon=1.0) == ["/delta"]
    assert faults(run=open_run, delta=1e-5) == ["/epsilon"]
    assert faults(run=open_run, epsilon=1.0, delta=1e-5, log10_delta=-5.0) == ["/delta"]


def test_what_cannot_be_certified_is_said():
    with pytest.raises(Infeasible):
        answered(asked(run=toy.ToyRun(rounds=8), epsilon=1000.0, delta=1e-5))


def test_faults_point_to_where_fields_stand():
    assert faults(problem=toy.OtherProblem()) == ["/problem/kind"]
    assert faults(problem=toy.ToyProblem(clients=13)) == ["/problem/clients"]
    assert faults(run=toy.ToyRun(rounds=8, noise_std=1.0, batch_size=11)) == ["/run/batch_size"]
    assert faults(run=toy.ToyRun(rounds=8), epsilon=60.0, delta=1e-5) == ["/problem/lipschitz"]
    assert faults(repetitions=1) == ["/repetitions"]
    assert faults(repetitions=1001) == ["/repetitions"]
    assert faults(points=201) == ["/points"]
    assert faults(run=toy.ToyProblem()) == ["/run/algorithm"]


# Bounds --------------------------------------------------------------------------------------------------------------
MEAN = toy.LEVEL / 8 + 1.0


def verdict(monkeypatch, *bounds, **fields):
    toy.put(monkeypatch, bounds)
    return answered(asked(**fields))


def test_a_bound_above_the_band_holds(monkeypatch):
    (bound,) = verdict(monkeypatch, toy.bound(2.0 * MEAN)).bounds
    assert (bound.holds, bound.compared) == ("yes", True)
    assert bound.ratio == pytest.approx(2.0, rel=0.1)


def test_a_bound_below_the_band_is_broken_and_a_warning_says_so(monkeypatch):
    answer = verdict(monkeypatch, toy.bound(0.5 * MEAN))
    assert answer.bounds[0].holds == Verdict.NO
    assert [warning.code for warning in answer.warnings] == ["bound-broken"]


def test_a_bound_inside_the_band_is_undecidable(monkeypatch):
    final = answered(asked()).final_excess
    inside = [toy.bound(value) for value in (final.lower * (1 + 1e-9), final.mean, final.upper * (1 - 1e-9))]
    assert [bound.holds for bound in verdict(monkeypatch, *inside).bounds] == ["undecidable"] * 3
    outside = [toy.bound(final.upper * (1 + 1e-9)), toy.bound(final.lower * (1 - 1e-9))]
    assert [bound.holds for bound in verdict(monkeypatch, *outside).bounds] == ["yes", "no"]


def test_the_gap_of_the_optimum_widens_the_band(monkeypatch):
    final = answered(asked()).final_excess
    bounds = [toy.bound(final.upper + 0.001), toy.bound(final.lower - 0.001)]
    monkeypatch.setattr(toy.Built, "gap", 0.002)
    monkeypatch.setattr(toy.ToyProblem, "build", lambda self: toy.Built(self.clients, gap=0.002))
    assert [bound.holds for bound in verdict(monkeypatch, *bounds).bounds] == ["undecidable"] * 2


def test_below_the_gap_of_the_optimum_no_ratio_is_told(monkeypatch):
    bounds = [toy.bound(0.5 * MEAN), toy.bound(40.0)]
    for gap, told in ((1e-9, [True, True]), (20.0, [False, True])):
        monkeypatch.setattr(toy.ToyProblem, "build", lambda self, gap=gap: toy.Built(self.clients, gap=gap))
        assert [bound.ratio is not None for bound in verdict(monkeypatch, *bounds).bounds] == told


def test_a_band_ends_at_zero_and_says_so():
    found = confidence_band(np.array([[0.0, 4.0], [1e-3, 5.0], [9.0, 6.0]]), 0.95)
    assert found.lower[0] == 0.0 < found.mean[0] < found.upper[0]
    low, _ = stats.t.interval(0.95, 2, loc=5.0, scale=stats.sem([4.0, 5.0, 6.0]))
    assert found.lower[1] == pytest.approx(low)
    assert "ends at 0" in BAND


def test_a_large_gap_is_warned_of(monkeypatch):
    monkeypatch.setattr(toy.ToyProblem, "build", lambda self: toy.Built(self.clients, gap=1.0))
    assert [warning.code for warning in answered(asked()).warnings] == ["optimum-gap"]


@pytest.mark.parametrize(
    ("bound", "why"),
    [
        (toy.bound(0.5, constant="hidden"), "constant is hidden"),
        (toy.bound(0.5, conditions=(toy.HELD, toy.FAILS)), "round"),
        (toy.bound(0.5, conditions=(toy.UNKNOWN,)), "declared"),
        (toy.bound(math.inf), "infinite"),
    ],
)
def test_what_promises_nothing_here_is_shown_and_never_compared(monkeypatch, bound, why):
    answer = verdict(monkeypatch, bound)
    (shown,) = answer.bounds
    assert (shown.compared, shown.holds, shown.ratio) == (False, None, None)
    assert why in shown.reason
    assert answer.warnings == ()
    assert "holds" not in as_json(answer)["bounds"][0]


# The answer ----------------------------------------------------------------------------------------------------------


def test_gradients_beyond_the_lipschitz_constant_are_warned_of():
    assert answered(asked()).series[0].diagnostics["largest_gradient_norm"].largest == 1.0
    answer = answered(asked(run=toy.ToyRun(rounds=8, noise_std=1.0, gradient=1.5), alternatives=()))
    assert [warning.code for warning in answer.warnings] == ["lipschitz-exceeded"]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_run_that_diverged_is_told_in_words(monkeypatch, value):
    def diverging(problem, run, generators, rounds):
        curves = toy.simulate(problem, run, generators, rounds)
        curves.excess[0, -1] = value
        curves.diagnostics["largest_gradient_norm"][0] = value
        return curves

    toy.put(monkeypatch, [toy.bound(1.0)])
    monkeypatch.setattr(
        "epsilond.simulators.algorithms.kinds.ALGORITHMS", (toy.replace(toy.ALGORITHM, simulate=diverging),)
    )
    answer = answered(asked(alternatives=()))
    body = as_json(answer)
    assert body["final_excess"] == {
        "mean": "unbounded",
        "lower": 0.0,
        "upper": "unbounded",
        "standard_error": "unbounded",
    }
    assert body["bounds"][0]["holds"] == "undecidable"
    assert "diverged" in [warning["code"] for warning in body["warnings"]]
    json.dumps(body, allow_nan=False)


def test_the_answer_is_json_and_says_what_was_run(monkeypatch):
    answer = verdict(monkeypatch, toy.bound(math.inf), toy.bound(3.0))
    body = json.loads(json.dumps(as_json(answer), allow_nan=False))
    assert body["parameters"] == as_json(RUN)
    assert body["problem"]["spec"] == {"kind": "toy", "clients": 3}
    assert body["problem"]["facts"] == {"toys": 3}
    assert body["bounds"][0]["value"] == "unbounded"
    assert (body["seed"], body["repetitions"], body["kind"]) == (0, 30, "risk")
    assert "guarantee" not in body


def test_identical_repetitions_have_a_band_of_no_width(monkeypatch):
    def constant(problem, run, generators, rounds):
        return toy.Curves(rounds=rounds, excess=np.zeros((len(generators), len(rounds))))

    monkeypatch.setattr(
        "epsilond.simulators.algorithms.kinds.ALGORITHMS", (toy.replace(toy.ALGORITHM, simulate=constant),)
    )
    final = answered(asked(alternatives=())).final_excess
    assert (final.mean, final.lower, final.upper) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("spacing", ["linear", "logarithmic"])
@pytest.mark.parametrize(("last", "points"), [*itertools.product((1, 2, 7, 1000), (1, 2, 50, 200))])
def test_measured_rounds_ascend_to_the_last(last, points, spacing):
    from epsilond.witness.risks.rounds import measured_rounds

    rounds = measured_rounds(last, points, spacing)
    assert list(rounds) == sorted(set(rounds))
    assert (rounds[-1], len(rounds) <= points) == (last, True)
    assert rounds[0] == 1 or points == 1

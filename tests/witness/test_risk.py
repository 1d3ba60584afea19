"""Measurements of excess risk: answers, rejected requests, and verdicts on bounds."""

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
from epsilond.witness.risks.request import RiskSimulation
from tests.witness import toy
from tests.witness.running import run_simulation

RUN = toy.ToyRun(rounds=8, noise_std=1.0)


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    toy.install(monkeypatch)


def measurement(**fields):
    return RiskSimulation(**({"run": RUN, "problem": toy.ToyProblem(), "repetitions": 30, "points": 3} | fields))


def faults(**fields):
    with pytest.raises(InvalidInput) as caught:
        run_simulation(measurement(**fields))
    return [fault.pointer for fault in caught.value.faults]


def test_means_and_bands_match_those_of_the_repetitions():
    answer = run_simulation(measurement())
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


def test_band_has_its_coverage():
    truth = toy.LEVEL / 8 + 1.0
    finals = [
        run_simulation(measurement(seed=seed, alternatives=(), confidence=0.9)).final_excess for seed in range(300)
    ]
    covered = sum(final.lower <= truth <= final.upper for final in finals)
    assert stats.binom.ppf(1e-4, 300, 0.9) <= covered <= stats.binom.ppf(1.0 - 1e-4, 300, 0.9)


def test_alternatives_use_the_same_draws():
    answer = run_simulation(measurement())
    names = {series.name: series for series in answer.series}
    assert list(names) == ["private", "non-private", "louder"]
    assert [series.role for series in answer.series] == ["private", "non-private", "alternative"]
    assert names["louder"].final.mean - names["non-private"].final.mean == pytest.approx(4.0, rel=1e-12)


def test_only_requested_alternatives_are_run():
    assert [series.name for series in run_simulation(measurement(alternatives=("louder",))).series] == [
        "private",
        "louder",
    ]
    assert [series.name for series in run_simulation(measurement(alternatives=())).series] == ["private"]
    assert faults(alternatives=("louder", "quieter")) == ["/alternatives/1"]


@pytest.mark.parametrize(
    "order", [list, lambda indices: reversed(list(indices)), lambda indices: [*indices][1::2] + [*indices][::2]]
)
def test_order_of_blocks_does_not_change_a_bit(order):
    request = measurement(run=toy.ToyRun(rounds=8, noise_std=1.0, operations=4e6))
    assert simulation.plan(request).blocks == 4
    answer = run_simulation(request, order)
    assert as_json(answer) == as_json(run_simulation(request))
    plain = run_simulation(measurement(run=toy.ToyRun(rounds=8, noise_std=1.0)))
    assert answer.series[0].mean == plain.series[0].mean


def test_other_seed_gives_another_answer():
    assert (
        run_simulation(measurement(seed=1)).final_excess.mean != run_simulation(measurement(seed=2)).final_excess.mean
    )


def test_plan_grows_with_the_work():
    small, large = (
        simulation.plan(measurement(run=toy.ToyRun(rounds=8, noise_std=1.0, operations=ops))) for ops in (1e6, 1e9)
    )
    assert small.blocks < large.blocks == 30
    assert large.seconds == pytest.approx(3 * (30 * 1e9 / 1e8), rel=0.01)
    assert small.seconds == pytest.approx(3 * (30 * 1e6 / 1e8), rel=0.01)


# Noise given, or calibrated ------------------------------------------------------------------------------------------


def test_open_noise_is_calibrated_to_the_target():
    answer = run_simulation(measurement(run=toy.ToyRun(rounds=8), epsilon=2.0, delta=1e-5))
    assert answer.parameters.noise_std == 0.5
    assert answer.series[0].parameters == answer.parameters


OPEN_RUN = toy.ToyRun(rounds=8)


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({"epsilon": 1.0, "delta": 1e-5}, ["/run/noise_std", "/epsilon", "/delta"]),
        ({"log10_delta": -5.0}, ["/run/noise_std", "/log10_delta"]),
        ({"run": OPEN_RUN}, ["/run/noise_std"]),
        ({"run": OPEN_RUN, "epsilon": 1.0}, ["/delta"]),
        ({"run": OPEN_RUN, "delta": 1e-5}, ["/epsilon"]),
        ({"run": OPEN_RUN, "epsilon": 1.0, "delta": 1e-5, "log10_delta": -5.0}, ["/delta"]),
    ],
)
def test_exactly_one_of_noise_and_a_complete_target_is_required(fields, pointers):
    assert faults(**fields) == pointers


def test_infeasible_target_is_rejected():
    with pytest.raises(Infeasible):
        run_simulation(measurement(run=toy.ToyRun(rounds=8), epsilon=1000.0, delta=1e-5))


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"problem": toy.OtherProblem()}, "/problem/kind"),
        ({"problem": toy.ToyProblem(clients=13)}, "/problem/clients"),
        ({"run": toy.ToyRun(rounds=8, noise_std=1.0, batch_size=11)}, "/run/batch_size"),
        ({"run": OPEN_RUN, "epsilon": 60.0, "delta": 1e-5}, "/problem/lipschitz"),
        ({"repetitions": 1}, "/repetitions"),
        ({"repetitions": 1001}, "/repetitions"),
        ({"points": 201}, "/points"),
        ({"run": toy.ToyProblem()}, "/run/algorithm"),
    ],
)
def test_faults_point_into_the_request(fields, pointer):
    assert faults(**fields) == [pointer]


# Bounds --------------------------------------------------------------------------------------------------------------
MEAN = toy.LEVEL / 8 + 1.0


def verdict(monkeypatch, *bounds, **fields):
    toy.install(monkeypatch, bounds)
    return run_simulation(measurement(**fields))


def test_bound_above_the_band_holds(monkeypatch):
    (bound,) = verdict(monkeypatch, toy.bound(2.0 * MEAN)).bounds
    assert (bound.holds, bound.compared) == ("yes", True)
    assert bound.ratio == pytest.approx(2.0, rel=0.1)


def test_bound_below_the_band_is_violated_with_a_warning(monkeypatch):
    answer = verdict(monkeypatch, toy.bound(0.5 * MEAN))
    assert answer.bounds[0].holds == Verdict.NO
    assert [warning.code for warning in answer.warnings] == ["bound-broken"]


def test_bound_inside_the_band_is_undecidable(monkeypatch):
    final = run_simulation(measurement()).final_excess
    inside = [toy.bound(value) for value in (final.lower * (1 + 1e-9), final.mean, final.upper * (1 - 1e-9))]
    assert [bound.holds for bound in verdict(monkeypatch, *inside).bounds] == ["undecidable"] * 3
    outside = [toy.bound(final.upper * (1 + 1e-9)), toy.bound(final.lower * (1 - 1e-9))]
    assert [bound.holds for bound in verdict(monkeypatch, *outside).bounds] == ["yes", "no"]


def test_gap_of_the_optimum_widens_the_band(monkeypatch):
    final = run_simulation(measurement()).final_excess
    bounds = [toy.bound(final.upper + 0.001), toy.bound(final.lower - 0.001)]
    monkeypatch.setattr(toy.Built, "gap", 0.002)
    monkeypatch.setattr(toy.ToyProblem, "build", lambda self: toy.Built(self.clients, gap=0.002))
    assert [bound.holds for bound in verdict(monkeypatch, *bounds).bounds] == ["undecidable"] * 2


def test_ratio_is_absent_below_the_gap_of_the_optimum(monkeypatch):
    bounds = [toy.bound(0.5 * MEAN), toy.bound(40.0)]
    for gap, has_ratio in ((1e-9, [True, True]), (20.0, [False, True])):
        monkeypatch.setattr(toy.ToyProblem, "build", lambda self, gap=gap: toy.Built(self.clients, gap=gap))
        assert [bound.ratio is not None for bound in verdict(monkeypatch, *bounds).bounds] == has_ratio


def test_band_is_cut_off_at_zero():
    band = confidence_band(np.array([[0.0, 4.0], [1e-3, 5.0], [9.0, 6.0]]), 0.95)
    assert band.lower[0] == 0.0 < band.mean[0] < band.upper[0]
    low, _ = stats.t.interval(0.95, 2, loc=5.0, scale=stats.sem([4.0, 5.0, 6.0]))
    assert band.lower[1] == pytest.approx(low)
    assert "ends at 0" in BAND


def test_large_gap_gives_a_warning(monkeypatch):
    monkeypatch.setattr(toy.ToyProblem, "build", lambda self: toy.Built(self.clients, gap=1.0))
    assert [warning.code for warning in run_simulation(measurement()).warnings] == ["optimum-gap"]


@pytest.mark.parametrize(
    ("bound", "reason"),
    [
        (toy.bound(0.5, constant="hidden"), "constant is hidden"),
        (toy.bound(0.5, conditions=(toy.HOLDS, toy.FAILS)), "round"),
        (toy.bound(0.5, conditions=(toy.UNKNOWN,)), "declared"),
        (toy.bound(math.inf), "infinite"),
    ],
)
def test_bound_that_promises_nothing_is_not_compared(monkeypatch, bound, reason):
    answer = verdict(monkeypatch, bound)
    (answer_of_bound,) = answer.bounds
    assert (answer_of_bound.compared, answer_of_bound.holds, answer_of_bound.ratio) == (False, None, None)
    assert reason in answer_of_bound.reason
    assert answer.warnings == ()
    assert "holds" not in as_json(answer)["bounds"][0]


# The answer ----------------------------------------------------------------------------------------------------------


def test_gradient_beyond_the_lipschitz_constant_gives_a_warning():
    assert run_simulation(measurement()).series[0].diagnostics["largest_gradient_norm"].largest == 1.0
    answer = run_simulation(measurement(run=toy.ToyRun(rounds=8, noise_std=1.0, gradient=1.5), alternatives=()))
    assert [warning.code for warning in answer.warnings] == ["lipschitz-exceeded"]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_diverged_run_is_reported_as_unbounded(monkeypatch, value):
    def diverging(problem, run, generators, rounds):
        curves = toy.simulate(problem, run, generators, rounds)
        curves.excess[0, -1] = value
        curves.diagnostics["largest_gradient_norm"][0] = value
        return curves

    toy.install(monkeypatch, [toy.bound(1.0)])
    monkeypatch.setattr(
        "epsilond.simulators.algorithms.kinds.ALGORITHMS", (toy.replace(toy.ALGORITHM, simulate=diverging),)
    )
    answer = run_simulation(measurement(alternatives=()))
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


def test_answer_is_json_and_names_the_run(monkeypatch):
    answer = verdict(monkeypatch, toy.bound(math.inf), toy.bound(3.0))
    body = json.loads(json.dumps(as_json(answer), allow_nan=False))
    assert body["parameters"] == as_json(RUN)
    assert body["problem"]["spec"] == {"kind": "toy", "clients": 3}
    assert body["problem"]["facts"] == {"toys": 3}
    assert body["bounds"][0]["value"] == "unbounded"
    assert (body["seed"], body["repetitions"], body["kind"]) == (0, 30, "risk")
    assert "guarantee" not in body


def test_identical_repetitions_have_a_band_of_width_zero(monkeypatch):
    def constant(problem, run, generators, rounds):
        return toy.Curves(rounds=rounds, excess=np.zeros((len(generators), len(rounds))))

    monkeypatch.setattr(
        "epsilond.simulators.algorithms.kinds.ALGORITHMS", (toy.replace(toy.ALGORITHM, simulate=constant),)
    )
    final = run_simulation(measurement(alternatives=())).final_excess
    assert (final.mean, final.lower, final.upper) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("spacing", ["linear", "logarithmic"])
@pytest.mark.parametrize(("last", "points"), [*itertools.product((1, 2, 7, 1000), (1, 2, 50, 200))])
def test_measured_rounds_ascend_to_the_last(last, points, spacing):
    from epsilond.witness.risks.rounds import measured_rounds

    rounds = measured_rounds(last, points, spacing)
    assert list(rounds) == sorted(set(rounds))
    assert (rounds[-1], len(rounds) <= points) == (last, True)
    assert rounds[0] == 1 or points == 1

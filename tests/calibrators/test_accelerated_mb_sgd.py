"""accelerated-mb-sgd: the noise of mb-sgd, the stages, the envelope, and Theorems E.1 and 2.4 beside."""

from __future__ import annotations

import math
from typing import Any

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_reused import THEOREM_2_4, THEOREM_E_1
from epsilond.calibrators.accelerated_mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.accelerated_mb_sgd.problem import AcceleratedMbSgdProblem
from epsilond.calibrators.accelerated_mb_sgd.schedule import likely_risk, risk_problem
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.mb_sgd import calibrator as mb_sgd
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem, Run
from tests.answers import codes, remembered, risk_of

BASE: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "samples_per_client": 1000,
    "clients": 10,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": 1.0,
    "smoothness": 2.0,
    "sampling": "full",
    "batch_size": 1000,
    "rounds": 100,
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}


def problem(**changes: Any) -> AcceleratedMbSgdProblem:
    named = {**BASE, **changes}
    return AcceleratedMbSgdProblem(**{name: value for name, value in named.items() if value is not None})


@remembered
def solved(**changes: Any) -> Calibration:
    return CALIBRATOR.solve(problem(**changes))


def test_the_noise_is_that_of_mb_sgd() -> None:
    """Clients send the same: only the server's steps differ."""
    ours = solved(sampling="without-replacement", batch_size=100)
    theirs = mb_sgd.CALIBRATOR.solve(MbSgdProblem(**{**BASE, "sampling": "without-replacement", "batch_size": 100}))
    assert ours.parameters.noise_std == theirs.parameters.noise_std
    assert ours.guarantee == theirs.guarantee
    assert ours.communication == theirs.communication
    assert ours.derivation == theirs.derivation


def test_acceleration_pays_where_rounds_are_few() -> None:
    ours = solved(smoothness=20.0, rounds=50)
    theirs = mb_sgd.CALIBRATOR.solve(MbSgdProblem(**{**BASE, "smoothness": 20.0, "rounds": 50}))
    assert theirs.risk is not None
    assert theirs.risk.upper is not None
    assert risk_of(ours) < 0.5 * theirs.risk.upper.terms["optimisation"]


def test_the_printed_theorems_at_the_golden_figures() -> None:
    """te1-03 and t24-03: 11 and 51 rounds in the corrected reading, σ² of the text at the rounds it prescribes."""
    both = ("complete", "corrected")
    smooth, mended = solved(rounds=None, max_gradients=10**6, readings=both).readings
    assert smooth.theorem == mended.theorem == "lowy.e.1"
    assert mended.parameters["rounds"] == 11
    rough, mended = solved(rounds=None, smoothness=None, max_gradients=10**6, readings=both).readings
    assert rough.theorem == mended.theorem == "lowy.2.4"
    assert mended.parameters["rounds"] == 51
    for reading, theorem in ((smooth, THEOREM_E_1), (rough, THEOREM_2_4)):
        inputs = {**theorem.examples[0], "strong_convexity": 0.0, "initial_gap": 1.0}
        assert theorem.inputs is not None
        found = theorem.evaluate(theorem.inputs(**inputs), "printed").outputs
        assert reading.parameters["rounds"] == found["rounds"]
        assert reading.parameters["noise_std"] == found["noise_std"]
        assert reading.true is not None
        assert reading.true.epsilon.upper < 1.0


def test_more_rounds_than_can_be_run_leave_the_truth_out() -> None:
    """A statement may prescribe rounds beyond every count; that is not a fault of the request."""
    answer = solved(rounds=None, max_gradients=10**6, dimension=1, epsilon=100.0, smoothness=1e40)
    complete = answer.readings[1]
    assert complete.parameters["rounds"] > 1e15
    assert complete.true is None
    assert math.isfinite(risk_of(answer))


def test_an_epsilon_beyond_the_range_is_answered_with_both_sides() -> None:
    answer = solved(epsilon=30.0)
    informal, complete, _ = answer.readings
    for reading, factor in ((informal, 2.0), (complete, 1.0)):
        limit = next(one for one in reading.conditions if one.id == "epsilon-range")
        assert (limit.holds, limit.left) == ("no", 30.0)
        assert limit.right == pytest.approx(factor * math.log(2e5), rel=1e-12)
    assert "printed-condition-fails" in codes(answer)


def test_client_sampling_is_answered_where_the_text_leaves_it_out() -> None:
    answer = solved(participants=5)
    complete = answer.readings[1]
    everyone = next(one for one in complete.conditions if one.id == "all-participate")
    assert (everyone.holds, everyone.left, everyone.right) == ("no", 5, 10)
    assert answer.risk is not None
    assert answer.risk.upper is not None
    assert answer.risk.upper.terms["client_sampling"] > 0.0
    all_of_them = solved()
    assert all_of_them.risk is not None
    assert all_of_them.risk.upper is not None
    assert all_of_them.risk.upper.terms["client_sampling"] == 0.0


def test_without_smoothness_the_envelope_is_descended() -> None:
    answer = solved(smoothness=None)
    assert answer.parameters.envelope_smoothness == pytest.approx(101 / 2)
    assert answer.risk is not None
    assert answer.risk.upper is not None
    assert answer.risk.upper.terms["smoothing"] == pytest.approx(1 / 101)
    assert risk_of(answer) < 1.0
    assert "no-risk-without-smoothness" not in codes(answer)
    assert solved().parameters.envelope_smoothness is None
    assert answer.parameters.noise_std == solved().parameters.noise_std


def test_strong_convexity_makes_stages_that_use_every_round() -> None:
    answer = solved(strong_convexity=0.5, epsilon=20.0, rounds=300)
    stages = answer.parameters.stages
    assert len(stages) > 1
    assert sum(stage.rounds for stage in stages) == 300
    assert answer.parameters.strong_convexity == 0.5
    assert risk_of(answer) < risk_of(solved(epsilon=20.0, rounds=300))
    enveloped = solved(strong_convexity=0.5, smoothness=None)
    b = enveloped.parameters.envelope_smoothness
    assert enveloped.parameters.strong_convexity == pytest.approx(0.5 * b / (0.5 + b))


@pytest.mark.parametrize("changes", [{}, {"strong_convexity": 0.2}, {"smoothness": None}])
def test_open_rounds_are_chosen_within_the_budget(changes: dict[str, Any]) -> None:
    budget = 32 * 20 * 10 * 200
    answer = solved(rounds=None, communication_budget=budget, **changes)
    assert answer.communication is not None
    assert answer.communication.total_bits <= budget
    for rounds in (5, 50, 200):
        assert risk_of(answer) <= risk_of(solved(rounds=rounds, **changes)) * 1.1 * 1.002


def test_the_quick_estimate_is_close_enough_to_rank() -> None:
    for changes in ({}, {"strong_convexity": 0.2}, {"smoothness": None}, {"smoothness": None, "strong_convexity": 0.2}):
        at = problem(**changes)
        seen = risk_problem(at, Run(batch_size=1000, rounds=100))
        assert seen is not None
        found = solved(**changes)
        quick = likely_risk(seen, noise_std=found.parameters.noise_std, rounds=100)
        assert 0.5 * risk_of(found) <= quick <= 3.0 * risk_of(found)


def test_sampling_that_has_no_bound_still_has_its_noise() -> None:
    answer = solved(sampling="poisson", batch_size=100, rounds=20)
    assert answer.risk is None
    assert answer.parameters.stages is None
    assert "no-risk-for-this-sampling" in codes(answer)
    open_rounds = solved(sampling="poisson", batch_size=100, rounds=None, communication_budget=32 * 20 * 10 * 20)
    assert open_rounds.parameters.rounds == 20
    drawn = solved(sampling="with-replacement", samples_per_client=10, batch_size=11, rounds=2)
    assert drawn.readings == ()
    apart = solved(sampling="with-replacement", samples_per_client=10, batch_size=5, rounds=2)
    assert {one.status.value for one in apart.readings} == {"unproved"}
    assert {one.status.value for one in solved().readings} == {"proved"}


def test_a_client_is_one_contribution() -> None:
    answer = solved(unit="client")
    assert answer.readings == ()
    assert answer.guarantee.unit == "client"


def test_a_budget_below_one_round_is_refused() -> None:
    with pytest.raises(InvalidInput, match="does not pay for the rounds"):
        solved(rounds=None, communication_budget=100)


def test_statistics_of_the_populations_say_nothing_of_the_data() -> None:
    assert "field-not-used" in codes(solved(gradient_std=0.1))
    assert "field-not-used" not in codes(solved())
    less = solved(empirical_gradient_std=0.1, participants=5)
    assert risk_of(less) < risk_of(solved(participants=5))


def test_cost() -> None:
    assert CALIBRATOR.cost(problem()) == "closed-form"
    assert CALIBRATOR.cost(problem(rounds=None)) == "search"
    assert CALIBRATOR.cost(problem(strong_convexity=0.1)) == "search"
    assert CALIBRATOR.cost(problem(sampling="without-replacement")) == "search"


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"participants": 11}, "/participants"),
        ({"batch_size": 999}, "/batch_size"),
        ({"strong_convexity": 2.5, "lipschitz": 5.0}, "/strong_convexity"),
        ({"initial_gap": 1.1}, "/initial_gap"),
        ({"lipschitz": 1e-200}, "/lipschitz"),
        ({"delta": None}, "/delta"),
        ({"gradient_std": -1.0}, "/gradient_std"),
    ],
)
def test_problems_that_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        problem(**changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}

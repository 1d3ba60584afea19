"""shuffled-mb-sgd: certified noise against the explicit one, what each draw is worth, and the runs it refuses."""

from __future__ import annotations

import math
from typing import Any

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import ConditionViolated, Infeasible, InvalidInput
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.shuffling.batches import BOTH_DRAWS
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.certificates import Certificates
from epsilond.calibrators.frontier import Choice
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.run_choice import paid_runs
from epsilond.calibrators.mb_sgd.schedule import risk_at
from epsilond.calibrators.risk.bounder import RISK_BOUNDS
from epsilond.calibrators.shuffled_mb_sgd.calibrator import CALIBRATOR, run_spec
from epsilond.calibrators.shuffled_mb_sgd.problem import ShuffledMbSgdProblem
from epsilond.calibrators.shuffled_mb_sgd.schedule import (
    choose_run,
    contribution_norm,
    likely_noise_multiplier,
)
from epsilond.calibrators.shuffled_mb_sgd.search import smallest_noise_in_few_trials
from epsilond.reading import read
from tests.answers import codes


def problem(**changes: Any) -> ShuffledMbSgdProblem:
    fields = {**CALIBRATOR.example, **changes}
    return ShuffledMbSgdProblem(**{name: value for name, value in fields.items() if value is not None})


def stand_in(seen: ShuffledMbSgdProblem, run: Run) -> float:
    return 0.8 * likely_noise_multiplier(seen, run) * contribution_norm(seen, run)


def chosen(asked: list[Run] | None = None, **changes: Any) -> Choice:
    """The choice where every certificate is a stand-in; the runs that were certified go to `asked`."""
    seen = problem(**changes)

    class StandIn(Certificates):
        def noise_std(self, run: Any = None) -> float:
            if asked is not None:
                asked.append(run)
            return stand_in(seen, run)

    return choose_run(seen, StandIn(CALIBRATOR.family, seen))


@pytest.fixture(scope="module")
def example() -> Calibration:
    return CALIBRATOR.solve(problem(noise_constant=1.0))


def test_the_certified_noise_is_a_tenth_of_the_explicit_one(example: Calibration) -> None:
    statement, explicit = example.readings
    assert explicit.status == Status.PROVED
    assert all(condition.holds == "yes" for condition in explicit.conditions)
    assert explicit.parameters["noise_std"] > 10.0 * example.parameters.noise_std
    assert explicit.true is not None
    assert explicit.true.epsilon.upper < 0.1
    assert statement.status == Status.UNPROVED
    assert BOTH_DRAWS.id in {step.theorem for step in example.derivation}


def test_the_guarantee_is_central_and_met(example: Calibration) -> None:
    guarantee = example.guarantee
    assert (guarantee.definition, guarantee.observer, guarantee.unit) == ("shuffle", "shuffled-server", "record")
    assert guarantee.epsilon.upper <= 1.0
    assert guarantee.log10_delta.upper <= -6.0
    assert guarantee.sensitivity == 2.0
    spec = run_spec(problem(), Run(batch_size=1, rounds=500), example.parameters.noise_multiplier)
    again = account(spec, relation="replace-one", observer="shuffled-server", effort="coarse").guarantee
    assert again.curve.bound_log_delta(1.0).upper <= math.log(1e-6) + 0.15


def test_an_assumed_constant_is_shown_for_what_it_gives(example: Calibration) -> None:
    """C = 1 is far too little: the proved ε is above the target, and the printed noise below the certified."""
    statement = example.readings[0]
    assert statement.parameters["noise_std"] < example.parameters.noise_std
    assert statement.true is not None
    assert statement.true.epsilon.upper > 1.0
    assert {"printed-noise-below-certified", "printed-condition-fails"} <= codes(example)
    rounds = next(one for one in statement.conditions if one.id == "enough-rounds-for-privacy")
    assert (rounds.holds, rounds.left, rounds.right) == ("no", 500, pytest.approx(5e6))
    constant = next(one for one in statement.conditions if one.id == "unspecified-constant")
    assert constant.holds == "undecidable"


def test_the_risk_is_that_of_the_same_run_without_a_shuffler(example: Calibration) -> None:
    assert example.risk is not None
    assert example.risk.upper is not None
    assert example.risk.upper.constant == "explicit"
    assert example.risk.upper.theorem == "epsilond.mini-batch-sgd-excess-risk"
    assert 0.0 < example.risk.upper.value < 0.1
    assert example.communication is not None
    assert example.communication.total_bits == 32 * 20 * 2000 * 500


def test_without_a_constant_the_statement_has_no_noise() -> None:
    answer = CALIBRATOR.solve(problem(readings=("statement",), smoothness=None))
    (statement,) = answer.readings
    assert "noise_std" not in statement.parameters
    assert "excess_risk_scale" not in statement.parameters
    assert statement.true is None
    assert "printed-constant-unspecified" in codes(answer)
    assert answer.parameters.envelope_smoothness is not None


def test_several_records_a_report_are_outside_the_proofs() -> None:
    answer = CALIBRATOR.solve(problem(batch_size=5, readings=("corrected",)))
    (explicit,) = answer.readings
    assert explicit.status == Status.UNPROVED
    one = next(condition for condition in explicit.conditions if condition.id == "one-record")
    assert (one.holds, one.left, one.right) == ("no", 5, 1)
    assert answer.guarantee.sensitivity == pytest.approx(0.4)


def test_a_server_who_knows_senders_needs_more_noise(example: Calibration) -> None:
    answer = CALIBRATOR.solve(problem(observer="server", readings=()))
    assert answer.parameters.noise_std > 1.4 * example.parameters.noise_std
    assert "observer-not-the-shuffled-server" in codes(answer)


def test_a_client_is_one_contribution() -> None:
    answer = CALIBRATOR.solve(problem(unit="client", clients=2000, rounds=20))
    assert answer.readings == ()
    assert answer.guarantee.sensitivity == 2.0
    assert answer.parameters.noise_multiplier == answer.parameters.noise_std


def test_open_runs_are_chosen_within_the_budgets() -> None:
    budget = 32 * 20 * 2000 * 64
    run = chosen(rounds=None, batch_size=None, max_gradients=400, communication_budget=budget).run
    assert run.batch_size * run.rounds <= 400
    assert run.rounds <= 64
    assert chosen(rounds=64, batch_size=None).run.rounds == 64
    given = Run(batch_size=3, rounds=7)
    assert chosen(rounds=7, batch_size=3) == Choice(given)
    with pytest.raises(InvalidInput, match="does not pay"):
        chosen(rounds=None, communication_budget=10**6)


def test_the_open_run_is_the_smallest_that_is_good_enough_with_few_certificates() -> None:
    """Certificates take seconds: noise that is 0.8 times the likely one stands in for them."""
    asked: list[Run] = []
    found = chosen(asked, rounds=None, batch_size=None, max_gradients=2000)
    assert asked == [found.run]
    seen = problem(rounds=None, batch_size=None, max_gradients=2000)
    bounds = {run: risk_at(seen, run, stand_in(seen, run)) for run in paid_runs(seen)}
    best = min(bounds.values())
    assert bounds[found.run] <= 1.1 * best * 1.002
    smaller = [run for run in bounds if (run.rounds, run.batch_size) < (found.run.rounds, found.run.batch_size)]
    assert min(bounds[run] for run in smaller) > 1.07 * best
    sizes = [chosen(rounds=None, batch_size=None, max_gradients=2000, within=within).run for within in (0.0, 0.1, 1.0)]
    assert [one.rounds for one in sizes] == sorted((one.rounds for one in sizes), reverse=True)


def test_the_frontier_is_certified_at_the_answer_alone() -> None:
    found = chosen(rounds=None, batch_size=None, max_gradients=2000)
    assert found.frontier is not None
    bounder = next(one for one in RISK_BOUNDS if one.name == "shuffled-mb-sgd")
    for one in found.frontier:
        assert one.certified == one.chosen == (Run(batch_size=one.batch_size, rounds=one.rounds) == found.run)
        body = {**CALIBRATOR.example, "rounds": one.rounds, "batch_size": one.batch_size, "readings": []}
        told = bounder.solve(read(bounder.problem, {**body, "noise_std": one.noise_std}))
        (value,) = (upper.value for upper in told.upper if upper.constant == "explicit")
        assert one.risk == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("changes", [{"participants": 10_001}, {"batch_size": 11}, {"readings": ("informal",)}])
def test_runs_that_cannot_be_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        problem(**changes)


def test_other_relations_are_refused_with_reasons() -> None:
    with pytest.raises(ConditionViolated, match="no theorem covers"):
        CALIBRATOR.solve(problem(relation="add-or-remove-one"))


def test_the_guess_follows_the_run() -> None:
    assert CALIBRATOR.cost(problem()) == "search"
    seen = problem()
    few, many = (likely_noise_multiplier(seen, Run(batch_size=1, rounds=rounds)) for rounds in (10, 10_000))
    assert few < many
    assert likely_noise_multiplier(problem(unit="client"), Run(batch_size=1, rounds=10)) > few


def test_a_search_that_cannot_end_says_so() -> None:
    def never(noise: float, effort: str) -> Any:
        return account(run_spec(problem(clients=1, participants=1), Run(batch_size=10, rounds=1), 1e-2),
                       relation="replace-one").guarantee  # fmt: skip

    with pytest.raises(Infeasible, match="no noise"):
        smallest_noise_in_few_trials(never, Target.of(1e-3, 1e-6, None), guess=1e11)  # type: ignore[arg-type]

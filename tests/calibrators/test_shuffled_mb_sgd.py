"""shuffled-mb-sgd: certified noise against the explicit one, what each draw is worth, and the runs it refuses."""

from __future__ import annotations

import math
from typing import Any

import pytest

from accountants.account import account
from accountants.errors import ConditionViolated, Infeasible, InvalidInput
from accountants.theorem import Status
from accountants.theorems.shuffling_batches import BOTH_DRAWS
from calibrators.answer import Calibration
from calibrators.mb_sgd_problem import Run
from calibrators.problem import Target
from calibrators.shuffled_mb_sgd import CALIBRATOR, cost, run_spec, solve
from calibrators.shuffled_mb_sgd_problem import ShuffledMbSgdProblem
from calibrators.shuffled_mb_sgd_schedule import choose_run, likely_noise_multiplier
from calibrators.shuffled_mb_sgd_search import smallest_noise_in_few_trials


def problem(**changes: Any) -> ShuffledMbSgdProblem:
    fields = {**CALIBRATOR.example, **changes}
    return ShuffledMbSgdProblem(**{name: value for name, value in fields.items() if value is not None})


def codes(answer: Calibration) -> set[str]:
    return {warning.code for warning in answer.warnings}


@pytest.fixture(scope="module")
def example() -> Calibration:
    return solve(problem(noise_constant=1.0))


def test_the_certified_noise_is_a_tenth_of_the_explicit_one(example: Calibration) -> None:
    statement, explicit = example.as_printed
    assert explicit.status == Status.PROVED
    assert all(condition.holds is True for condition in explicit.conditions)
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
    assert again.curve.bound_log_delta(1.0).upper <= math.log(1e-6) + 0.05


def test_an_assumed_constant_is_shown_for_what_it_gives(example: Calibration) -> None:
    """C = 1 is far too little: the proved ε is above the target, and the printed noise below the certified."""
    statement = example.as_printed[0]
    assert statement.parameters["noise_std"] < example.parameters.noise_std
    assert statement.true is not None
    assert statement.true.epsilon.upper > 1.0
    assert {"printed-noise-below-certified", "printed-condition-fails"} <= codes(example)
    rounds = next(one for one in statement.conditions if one.id == "enough-rounds-for-privacy")
    assert (rounds.holds, rounds.left, rounds.right) == (False, 500, pytest.approx(5e6))
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
    answer = solve(problem(readings=("statement",), smoothness=None))
    (statement,) = answer.as_printed
    assert "noise_std" not in statement.parameters
    assert "excess_risk_scale" not in statement.parameters
    assert statement.true is None
    assert "printed-constant-unspecified" in codes(answer)
    assert answer.parameters.envelope_smoothness is not None


def test_several_records_a_report_are_outside_the_proofs() -> None:
    answer = solve(problem(batch_size=5, readings=("corrected",)))
    (explicit,) = answer.as_printed
    assert explicit.status == Status.UNPROVED
    one = next(condition for condition in explicit.conditions if condition.id == "one-record")
    assert (one.holds, one.left, one.right) == (False, 5, 1)
    assert answer.guarantee.sensitivity == pytest.approx(0.4)


def test_a_server_who_knows_senders_needs_more_noise(example: Calibration) -> None:
    answer = solve(problem(observer="server", readings=()))
    assert answer.parameters.noise_std > 1.4 * example.parameters.noise_std
    assert "observer-not-the-shuffled-server" in codes(answer)


def test_a_client_is_one_contribution() -> None:
    answer = solve(problem(unit="client", clients=2000, rounds=20))
    assert answer.as_printed == ()
    assert answer.guarantee.sensitivity == 2.0
    assert answer.parameters.noise_multiplier == answer.parameters.noise_std


def test_open_runs_are_chosen_within_the_budgets() -> None:
    run = choose_run(problem(rounds=None, batch_size=None, max_gradients=400, communication_budget=32 * 20 * 2000 * 64))
    assert run.batch_size * run.rounds <= 400
    assert run.rounds <= 64
    assert choose_run(problem(rounds=64, batch_size=None)).rounds == 64
    with pytest.raises(InvalidInput, match="does not pay"):
        choose_run(problem(rounds=None, communication_budget=10**6))


@pytest.mark.parametrize("changes", [{"participants": 10_001}, {"batch_size": 11}, {"readings": ("informal",)}])
def test_runs_that_cannot_be_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        problem(**changes)


def test_other_relations_are_refused_with_reasons() -> None:
    with pytest.raises(ConditionViolated, match="no theorem covers"):
        solve(problem(relation="add-or-remove-one"))


def test_the_guess_follows_the_run() -> None:
    assert cost(problem()) == "search"
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

"""norm-fedavg: who is amplified and who is not, rounds composed exactly, steps and convergence."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import Any

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Repeated, Subsampled, TruncatedDiscreteLaplace
from epsilond.accountants.theorems.risk.das.convergence import EQUATION_39, THEOREM_4, ConvergenceInputs
from epsilond.accountants.theorems.risk.das.fedavg import FedAvgInputs
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.norm_fedavg.calibrator import CALIBRATOR
from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem
from epsilond.calibrators.norm_fedavg.training import training_of
from tests.answers import remembered

BASE: dict[str, Any] = {
    **CALIBRATOR.example,
    "dimension": 50,
    "quantization_levels": 16,
    "rounds": 9,
    "sensitivity_rule": {"kind": "unit-vector"},
}


def problem(**changes: Any) -> NormFedavgProblem:
    fields = {**BASE, **changes}
    return NormFedavgProblem(**{name: value for name, value in fields.items() if value is not None})


@functools.cache
@remembered
def solved(**changes: Any) -> Calibration:
    return CALIBRATOR.solve(problem(**changes))


def message(answer: Calibration) -> TruncatedDiscreteLaplace:
    found = answer.parameters
    return TruncatedDiscreteLaplace(
        noise_levels=found.noise_levels,
        decay_rate=found.decay_rate,
        dimension=50,
        l1_sensitivity=found.l1_sensitivity,
        linf_sensitivity=found.linf_sensitivity,
        l2_sensitivity=found.l2_sensitivity,
    )


def log_delta(spec: Any, **setting: Any) -> float:
    found = account(spec, relation="replace-one", **setting).guarantee.curve
    return float(found.log_delta(BASE["epsilon"]).upper)


def test_the_server_sees_every_message() -> None:
    answer = solved()
    assert (answer.guarantee.unit, answer.guarantee.observer, answer.guarantee.definition) == (
        "record",
        "server",
        "local",
    )
    assert answer.guarantee.sampling == "full"
    spent = 10 ** (answer.parameters.log10_failure_delta or -math.inf) * 9
    composed = log_delta(Repeated(times=9, mechanism=message(answer)))
    assert spent + math.exp(composed) <= 1e-6 * (1 + 1e-9)
    assert spent + math.exp(composed) >= 0.99e-6


def test_models_alone_amplify_a_whole_client() -> None:
    seen, hidden = solved(), solved(observer="released-models", unit="client", clients=500)
    assert hidden.guarantee.unit == "client"
    assert hidden.guarantee.sampling == "without-replacement"
    assert hidden.parameters.noise_std < 0.7 * seen.parameters.noise_std
    drawn = Subsampled(
        sampling="without-replacement", batch_size=25, population=500, level="clients", mechanism=message(hidden)
    )
    spent = 10 ** (hidden.parameters.log10_failure_delta or -math.inf) * 9
    composed = log_delta(Repeated(times=9, mechanism=drawn), unit="client", observer="released-models")
    assert 0.9e-6 <= spent + math.exp(composed) <= 1e-6 * (1 + 1e-9)
    assert "epsilond.failing-event" in {step.theorem for step in hidden.derivation}


def test_a_record_gains_only_in_delta() -> None:
    """In a round the draw multiplies a record's δ by M/N: the noise is that for the server at N/M times the δ."""
    record = solved(observer="released-models", unit="record", clients=500, rounds=1)
    looser, plain = solved(delta=2e-5, rounds=1), solved(rounds=1)
    assert record.parameters.noise_std == pytest.approx(looser.parameters.noise_std, rel=0.05)
    assert record.parameters.noise_std > 0.7 * plain.parameters.noise_std
    assert "draw-thins-only-delta" in {one.code for one in record.warnings}


def test_all_clients_every_round_amplify_nobody() -> None:
    everyone = solved(observer="released-models", unit="client", participants=50)
    assert everyone.guarantee.sampling == "full"
    assert everyone.parameters.noise_levels == solved().parameters.noise_levels


def test_theorem_2_is_refuted_at_its_own_noise() -> None:
    answer = solved()
    printed = answer.readings[0]
    assert (printed.theorem, printed.status) == ("das.2", "refuted")
    assert printed.claims.epsilon == 2.0
    assert printed.true is not None
    assert printed.true.delta.lower > 0.99
    assert printed.true.epsilon.lower == math.inf
    assert printed.parameters["noise_std"] < answer.parameters.noise_std
    codes = {one.code for one in answer.warnings}
    assert {"printed-theorem-refuted", "printed-noise-below-certified"} <= codes
    # (2r/n) ε̂ is the target: solved back from the parameters shown.
    epsilon = printed.parameters["epsilon"]
    composed = epsilon / 8 + epsilon**2 / (256 * math.log(1e6))
    assert 2 * 25 / 50 * composed == pytest.approx(2.0, rel=1e-12)


def test_theorem_3_is_shown_and_not_used() -> None:
    plain, shown = solved(), solved(growth_ratio=2.0, samples_per_client=600)
    assert shown.parameters == plain.parameters
    assert [one.status for one in shown.readings] == ["refuted", "unproved"]
    assert shown.readings[1].parameters["failure_probability"] == pytest.approx(4 / 600)
    assert "not-dp-distributional" in {one.code for one in shown.warnings}


def test_gradient_norms_are_at_most_what_smoothness_gives_the_start() -> None:
    """(39) is 65 where ‖∇f(w₀)‖ ≤ β‖w₀ − w*‖ = 1 already; where it says something it stands."""
    noisy = solved()
    found = noisy.parameters.convergence
    assert (found.gradient_norm, found.baseline.value, found.vacuous) == (1.0, 1.0, True)
    assert found.mean_gradient_norm > 60.0
    assert (found.objective, found.theorem) == ("empirical", found.baseline.theorem)
    assert "vacuous-gradient-norm" in {one.code for one in noisy.warnings}
    assert found.baseline.theorem in {step.theorem for step in noisy.derivation}
    assert noisy.derivation[-1].theorem != found.baseline.theorem
    training = training_of(replace(problem(), initial_distance=1e-3, rounds=10**8), 1e-9)
    far = training.convergence
    assert not far.vacuous
    assert far.gradient_norm == far.mean_gradient_norm < far.baseline.value
    assert (far.theorem, training.derivation) == ("das.equation-39", ())


def test_steps_and_convergence_are_the_theorems() -> None:
    found = solved().parameters
    assert (found.local_steps, found.rounds, found.participants) == (3, 9, 25)
    assert found.compression == found.mean_squared_error
    shared: dict[str, Any] = {"smoothness": 1.0, "quasar_convexity": 1.0, "initial_distance": 1.0, "rounds": 9}
    bound = EQUATION_39.evaluate(
        ConvergenceInputs(**shared, local_steps=3, compression=found.compression, participants=25)
    ).outputs
    assert found.convergence.mean_gradient_norm == pytest.approx(bound["gradient_norm"], rel=1e-12)
    assert found.local_step_size == pytest.approx(bound["local_step_size"], rel=1e-12)
    assert found.server_step_size == pytest.approx(bound["server_step_size"], rel=1e-12)
    fedavg = THEOREM_4.evaluate(FedAvgInputs(**shared, local_steps=3, clients=50, participants=25)).outputs
    assert found.convergence.fedavg == min(fedavg["gradient_norm"], 1.0)
    assert found.convergence.without_noise <= found.convergence.gradient_norm
    given = solved(local_steps=5, step_ratio=0.25).parameters
    assert given.server_step_size == pytest.approx(0.25 * given.local_step_size)
    assert given.local_steps == 5


def test_what_is_sent() -> None:
    sent = solved().communication
    assert sent is not None
    assert sent.total_bits == int(sent.bits_per_coordinate) * 50 * 9 * 25
    assert sent.beside is not None
    assert sent.beside.printed_total_bits is not None
    assert sent.beside.printed_total_bits < sent.total_bits
    assert sent.beside.float32_total_bits == 32 * 50 * 9 * 25


def test_absent_sensitivities_are_those_of_any_two_unit_vectors() -> None:
    answer = solved(sensitivity_rule=None)
    assert answer.parameters == solved().parameters
    assert "assumed-sensitivities" in {one.code for one in answer.warnings}


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"participants": 51}, "/participants"),
        ({"observer": "final-model"}, "/observer"),
        ({"relation": "add-or-remove-one"}, "/relation"),
        ({"growth_ratio": 2.0}, "/growth_ratio"),
        ({"observer": "released-models", "method": "escape"}, "/method"),
        ({"quasar_convexity": 1.5}, "/quasar_convexity"),
        (
            {"observer": "released-models", "sensitivity_rule": None, "l1_sensitivity": 9.0, "linf_sensitivity": 2.0},
            "/method",
        ),
    ],
)
def test_problems_that_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        problem(**changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}


def test_cost() -> None:
    assert CALIBRATOR.cost(problem()) == "search"

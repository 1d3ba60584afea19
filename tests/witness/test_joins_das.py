"""The joins of norm-fedavg and fedavg: constants of the problem, compared bounds, and measurements below them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Repeated, TruncatedDiscreteLaplace
from epsilond.accountants.target import Target
from epsilond.accountants.verdict import Verdict
from epsilond.simulators.algorithms import fedavg as fedavg_run
from epsilond.simulators.algorithms import norm_fedavg as norm_fedavg_run
from epsilond.simulators.algorithms.fedavg import FedavgRun
from epsilond.simulators.algorithms.norm_fedavg import NormFedavgRun, step_sizes
from epsilond.simulators.problems.data_sets import DataSetProblem
from epsilond.simulators.problems.kinds import (
    HuberProblem,
    LeastSquaresProblem,
    LogisticProblem,
    MeanEstimationProblem,
)
from epsilond.simulators.problems.problem import Records
from epsilond.simulators.seeds import generators
from epsilond.witness.joins import fedavg, norm_fedavg
from epsilond.witness.joins.das_setting import DasSetting
from epsilond.witness.joins.printed import raised_noise
from epsilond.witness.risks.request import RiskSimulation
from tests.witness.promised import failing_conditions
from tests.witness.running import run_simulation

SHAPE = {"clients": 8, "samples_per_client": 12, "dimension": 4, "objective": "empirical"}
QUADRATIC = LeastSquaresProblem(**SHAPE, own_share=0.3)
EQUAL = LogisticProblem(**SHAPE, diameter=20.0, sharpness=3.0, strong_convexity=0.05)
CURVED = LogisticProblem(**SHAPE, own_share=0.4, diameter=20.0, strong_convexity=0.05)
MEANS = MeanEstimationProblem(**SHAPE, own_share=1.0)
REAL = DataSetProblem(clients=8, strong_convexity=0.05, diameter=40.0)
RUN = NormFedavgRun(participants=4, rounds=36, local_steps=6, quantization_levels=32)
NOISY = replace(RUN, noise_levels=60, decay_rate=0.05)
PLAIN = FedavgRun(participants=4, rounds=36, local_steps=6)
TARGET = Target.of(4.0, 1e-5, None)


def client_minimisers(problem):
    """Return each client's minimiser, found numerically from the common minimiser."""
    minimisers = []
    for features, targets in zip(problem.population.features, problem.population.targets, strict=True):
        records = Records(features, targets)

        def loss(model, records=records):
            values = problem.loss.value(records.features @ model, records.targets).mean()
            return values + 0.5 * problem.strong_convexity * model @ model

        minimisers.append(
            minimize(
                loss,
                problem.minimiser,
                jac=lambda model, records=records: problem.mean_gradient(model, records),
                tol=1e-12,
            ).x
        )
    return np.array(minimisers)


@pytest.mark.parametrize("spec", [QUADRATIC, MEANS, EQUAL, CURVED])
def test_distances_bound_those_of_numerical_minimisers(spec):
    problem, setting = spec.build(), DasSetting.of(spec.build())
    distances = np.linalg.norm(client_minimisers(problem) - problem.minimiser, axis=1)
    mean, square = distances.mean(), math.sqrt(np.mean(distances**2))
    assert all(condition.holds == Verdict.YES for condition in setting.conditions)
    assert setting.client_optimum_distance >= mean - 1e-5
    assert setting.client_optimum_rms >= square - 1e-5
    if spec is not CURVED:  # there ‖∇f_i(w*)‖/μ is all that is proved
        assert setting.client_optimum_distance == pytest.approx(mean, abs=1e-4)
        assert setting.client_optimum_rms == pytest.approx(square, abs=1e-4)
    assert setting.initial_distance == pytest.approx(np.linalg.norm(problem.minimiser), abs=1e-4)
    assert setting.initial_distance >= problem.constants.optimum_norm


@pytest.mark.parametrize(
    ("spec", "conditions"),
    [
        (replace(QUADRATIC, objective="population"), {"empirical-objective"}),
        (replace(QUADRATIC, diameter=0.2), {"interior-minimiser"}),
        (replace(CURVED, strong_convexity=0.0), {"interior-minimiser", "client-optima"}),
        (HuberProblem(**SHAPE, own_share=0.3), {"interior-minimiser", "client-optima"}),
        (QUADRATIC, set()),
        (MEANS, set()),
        (REAL, set()),
    ],
)
def test_missing_property_of_the_problem_fails_its_condition(spec, conditions):
    problem = spec.build()
    for bound in (*norm_fedavg.bounds(problem, NOISY), *fedavg.bounds(problem, PLAIN)):
        assert failing_conditions(bound) == conditions
        assert (bound.status, bound.constant) == ("proved", "explicit")


def test_other_steps_fail_the_conditions_of_the_theorems():
    problem = QUADRATIC.build()
    steps = step_sizes(problem, NOISY)
    longer = replace(NOISY, local_step_size=1.01 * steps.local, server_step_size=steps.server)
    mean, least = norm_fedavg.bounds(problem, longer)
    assert failing_conditions(mean) == {"local-step"}
    assert failing_conditions(least) == {"local-step", "server-step"}
    wider = replace(NOISY, server_step_size=2.0 * steps.server)
    mean, least = norm_fedavg.bounds(problem, wider)
    assert failing_conditions(mean) == set()  # (39) holds for any step of the server
    assert failing_conditions(least) == {"server-step"}
    mean, least = norm_fedavg.bounds(problem, replace(NOISY, local_steps=5))
    assert failing_conditions(mean) == set()
    assert failing_conditions(least) == {"root-steps", "server-step"}
    (four,) = fedavg.bounds(problem, replace(PLAIN, local_step_size=0.1))
    assert failing_conditions(four) == {"local-step"}


@pytest.mark.parametrize("spec", [QUADRATIC, MEANS, EQUAL, CURVED, REAL])
@pytest.mark.parametrize("run", [NOISY, replace(NOISY, quantization_levels=None, noise_levels=0, decay_rate=None)])
def test_measured_gradient_norms_are_below_the_bounds(spec, run):
    problem = spec.build()
    runs = [(norm_fedavg_run.simulate, run, norm_fedavg.bounds(problem, run))]
    runs.append((fedavg_run.simulate, PLAIN, fedavg.bounds(problem, PLAIN)))
    for simulate, own_run, bounds in runs:
        curves = simulate(problem, own_run, generators(0, range(100)), (own_run.rounds,))
        assert curves.excess.mean() < problem.constants.initial_gap * 5
        for bound in bounds:
            assert failing_conditions(bound) == set()
            values = curves.diagnostics[bound.quantity]
            assert values.mean() + 4 * values.std() / 10.0 <= bound.value


@pytest.mark.slow
@pytest.mark.parametrize("own_share", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("participants", [1, 10, 20])
@pytest.mark.parametrize("kind", [MeanEstimationProblem, LeastSquaresProblem])
def test_measured_gradient_norms_are_below_the_bounds_in_longer_runs(own_share, participants, kind):
    spec = kind(clients=20, samples_per_client=20, dimension=10, own_share=own_share, objective="empirical")
    run = NormFedavgRun(
        participants=participants,
        rounds=400,
        local_steps=20,
        quantization_levels=128,
        noise_levels=300,
        decay_rate=0.02,
    )
    problem = spec.build()
    curves = norm_fedavg_run.simulate(problem, run, generators(0, range(100)), (400,))
    for bound in norm_fedavg.bounds(problem, run):
        assert failing_conditions(bound) == set()
        assert curves.diagnostics[bound.quantity].mean() <= bound.value


@pytest.fixture(scope="module")
def calibration():
    return norm_fedavg.calibrate(QUADRATIC.build(), RUN, TARGET)


def test_noise_and_steps_equal_those_of_the_calibrator(calibration):
    problem, (noisy, answer) = QUADRATIC.build(), calibration
    assert answer.guarantee.epsilon.upper <= 4.0
    assert (noisy.noise_levels, noisy.decay_rate) == (answer.parameters.noise_levels, answer.parameters.decay_rate)
    steps = step_sizes(problem, noisy)
    assert steps.local == pytest.approx(answer.parameters.local_step_size, rel=1e-12)
    assert steps.server == pytest.approx(answer.parameters.server_step_size, rel=1e-4)
    mean, _ = norm_fedavg.bounds(problem, noisy)
    assert mean.value == pytest.approx(answer.parameters.convergence.mean_gradient_norm, rel=1e-6)


def test_printed_noise_has_no_valid_epsilon_and_raised_noise_meets_the_target(calibration):
    problem, (noisy, answer) = QUADRATIC.build(), calibration
    movement = norm_fedavg.calibration_problem(problem, RUN, TARGET).movement

    def delta_of(levels, decay):
        noise = TruncatedDiscreteLaplace(
            noise_levels=levels,
            decay_rate=decay,
            dimension=4,
            l1_sensitivity=movement.l1,
            linf_sensitivity=movement.linf,
            l2_sensitivity=movement.l2,
        )
        run = Repeated(times=36, mechanism=noise)
        curve = account(run, relation="replace-one", unit="record", observer="server").guarantee.curve
        return curve.bound_log_delta(4.0), curve.bound_log_delta(1e6)

    for delta in delta_of(noisy.printed_noise_levels, noisy.printed_decay_rate):
        assert delta.lower > math.log(0.99)  # at ε = 4 and at ε = 10⁶: no ε has the target's δ
    raised, _ = delta_of(noisy.raised_noise_levels, noisy.raised_decay_rate)
    assert raised.upper <= math.log(1e-5)
    short, _ = delta_of(int(0.99 * noisy.raised_noise_levels), noisy.raised_decay_rate)
    assert short.upper > math.log(1e-5)
    assert noisy.printed_noise_levels < noisy.noise_levels < noisy.raised_noise_levels
    assert answer.readings[0].parameters["noise_levels"] == noisy.printed_noise_levels


def test_hidden_client_sampling_has_no_raised_noise():
    question = norm_fedavg.calibration_problem(QUADRATIC.build(), replace(RUN, observer="released-models"), TARGET)
    assert question.rate == 0.5
    assert raised_noise.raise_printed_noise(question) is None
    noisy = replace(NOISY, observer="released-models", printed_noise_levels=9, printed_decay_rate=0.1)
    assert set(norm_fedavg_run.alternatives(noisy)) == {"non-private", "as-printed"}


def test_delta_below_every_double_has_no_raised_noise():
    question = norm_fedavg.calibration_problem(QUADRATIC.build(), RUN, Target.of(4.0, None, -400.0))
    assert question.target.delta is None
    assert raised_noise.raise_printed_noise(question) is None


def test_fedavg_rejects_every_target():
    with pytest.raises(InvalidInput, match="no noise"):
        fedavg.calibrate(QUADRATIC.build(), PLAIN, TARGET)


def test_simulation_reports_all_alternatives_and_bounds(calibration):
    request = RiskSimulation(run=calibration[0], problem=QUADRATIC, repetitions=40, points=3)
    answer = run_simulation(request)
    assert [series.name for series in answer.series] == ["private", "non-private", "as-printed", "as-printed-raised"]
    assert [(bound.theorem, bound.quantity, bound.holds) for bound in answer.bounds] == [
        ("das.equation-39", "mean_gradient_norm", "yes"),
        ("das.2-utility", "least_gradient_norm", "yes"),
    ]
    finals = {series.name: series.final.mean for series in answer.series}
    assert finals["non-private"] < finals["as-printed"] < finals["private"]
    bound = answer.bounds[0]
    measured = answer.series[0].diagnostics["mean_gradient_norm"].mean
    assert bound.ratio == pytest.approx(bound.value / measured, rel=1e-12)

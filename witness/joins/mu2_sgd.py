"""mu2-sgd: noise and step size from its calibrator, and bounds on the excess risk at the run's own noise and step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import Fields
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Status, Theorem
from epsilond.accountants.theorems.papers.reshef_levy.conversions import GAUSSIAN_DP_MU
from epsilond.accountants.theorems.risk.reshef_levy.baselines import BaselineInputs, IndependentInputs
from epsilond.accountants.theorems.risk.reshef_levy.certified_bound import CERTIFIED, CertifiedInputs
from epsilond.accountants.theorems.risk.reshef_levy.trusted_server import (
    BASELINE,
    INDEPENDENT,
    TRUSTED_RUN,
    TrustedRunInputs,
)
from epsilond.accountants.theorems.risk.reshef_levy.untrusted_server import PROVED_HERE, STATED, StatedInputs
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.mu2_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.mu2_sgd.family import ScheduleNoise, guarantee_at
from epsilond.calibrators.mu2_sgd.problem import Mu2SgdProblem
from epsilond.simulators.algorithms.mu2_sgd.run import Mu2SgdRun, fresh_noise_std, report_norm, step_size
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Join, PromisedBound
from epsilond.witness.joins.prescribed_step import check_step
from epsilond.witness.joins.problem_fields import settle_conditions, target_fields

NO_NOISE = 1e-30
"""Base of the noise, in units of the largest report, for bounds on a run without noise. The bounds increase with the
noise, so that they hold without it."""


def calibrate(problem: SimulatedProblem, run: Mu2SgdRun, target: Target) -> tuple[Mu2SgdRun, Calibration]:
    """Calibrate the noise of a run to a target, and choose a step size unless the run has one.

    The noises of all reports are proportional to `noise_std`, which is the least that is certified. The step size is
    that with the least certified bound on the excess risk.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters, still without noise.
        target: the (ε, δ) to meet.

    Returns:
        A copy of the run with noise and step size, and the calibrator's answer with its certified guarantee.

    Raises:
        InvalidInput: the problem is about the empirical risk, or no bound applies that would choose a step size.
        NoCertificate: the calibrator certifies no noise for the target.
    """
    if problem.objective != "population":
        message = "each record is to be used once: the data must be drawn from the population"
        raise InvalidInput.at("/problem/objective", message, allowed="population")
    answer = CALIBRATOR.solve(
        Mu2SgdProblem(
            **target_fields(target),
            server=run.server,
            participation=_participation(run),
            **_setting(run),
            **federation_fields(problem, run),
        )
    )
    # Noisy SGD has a default step size of its own.
    calibrated = replace(run, noise_std=answer.parameters.noise_std)
    if run.step_size is not None or run.method == "noisy-sgd":
        return calibrated, answer
    if answer.parameters.step_size is None:
        raise InvalidInput.at("/step_size", "is needed: no bound on the excess risk applies that would choose it")
    return replace(calibrated, step_size=answer.parameters.step_size), answer


def certified_epsilon(problem: SimulatedProblem, run: Mu2SgdRun, log_delta: float) -> Interval:
    """Certify bounds on ε at δ for the noise of a run, for a record of the client that reports most often.

    If the clients of each round are drawn, this client may report in every round.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters and noise.
        log_delta: natural logarithm of δ.

    Returns:
        A lower and an upper bound on ε, in nats.

    Raises:
        NoCertificate: no theorem certifies the noise.
    """
    calibration_problem = Mu2SgdProblem(
        gaussian_dp_mu=1.0,  # required by the problem, and not used with a given noise
        server=run.server,
        participation=_participation(run),
        **_setting(run),
        **federation_fields(problem, run),
    )
    # All reports together are μ-Gaussian differentially private, which gives ε at δ.
    noise = ScheduleNoise(problem=calibration_problem, std=run.noise_std or 0.0)
    mu = noise.mu(calibration_problem.cap)
    guarantee = guarantee_at(calibration_problem, mu)
    return guarantee.curve.epsilon(log_delta)


def _setting(run: Mu2SgdRun) -> Fields:
    """Return the relation, the protected unit and the observer of the guarantee, by the names of the request's fields.

    Neighbouring data sets differ in one record. An untrusted server is itself the observer. With a trusted server, the
    observer sees only the released models.
    """
    observer = "server" if run.server == "untrusted" else "released-models"
    return {"relation": "replace-one", "unit": "record", "observer": observer}


def federation_fields(problem: SimulatedProblem, run: Mu2SgdRun) -> Fields:
    """Return the fields that the calibrator's request and the theorems' inputs share, for a simulated run.

    The standard deviation of gradients and the clients' heterogeneity are at most the Lipschitz constant, as every
    gradient is. `smoothness_heterogeneity`, the difference of the clients' Hessians, is 0 for equal clients. Otherwise
    it is absent, and its largest value is assumed.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters.

    Returns:
        Numbers of clients and rounds, and the constants of the problem, by the names of the fields.
    """
    constants = problem.constants
    equal_clients = {"smoothness_heterogeneity": 0.0} if constants.heterogeneity == 0.0 else {}
    return {
        "clients": problem.clients,
        "participants": run.reporting(problem.clients),
        "rounds": run.rounds,
        "dimension": problem.dimension,
        "lipschitz": constants.lipschitz,
        "smoothness": constants.smoothness,
        "diameter": constants.diameter,
        "gradient_std": min(constants.gradient_std, constants.lipschitz),
        "heterogeneity": min(constants.heterogeneity, constants.lipschitz),
        **equal_clients,
    }


def _participation(run: Mu2SgdRun) -> Any:
    """Return which groups of clients report in which rounds, in the form of the calibrator's request.

    Args:
        run: the run, with its groups of clients if they report in fixed rounds.

    Returns:
        The groups, each with its number of clients and its rounds; None if the clients of each round are drawn.
    """
    groups = run.taking_part.groups
    if groups is None:
        return None
    patterns = tuple({"clients": group.clients, "rounds": group.rounds} for group in groups)
    return {"kind": "pattern", "groups": patterns}


# Bounds -------------------------------------------------------------------------------------------------------------
def bounds(problem: SimulatedProblem, run: Mu2SgdRun) -> tuple[PromisedBound, ...]:
    """Return the theorems' bounds on the excess risk of an algorithm of Reshef and Levy, at the run's noise and step.

    They depend on the method of the run and on the trust in the server. With `cancelled-noise` each report of a client
    subtracts the noise of its previous one. With `independent-noise` it does not. `noisy-sgd` is the algorithm that
    both are compared with.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters and noise.

    Returns:
        The bounds, in the unit of the loss, each with its theorem's conditions; empty if none is known.
    """
    is_trusted = run.server == "trusted"
    if run.method == "noisy-sgd":
        return tuple(_baseline_bounds(problem, run))
    if run.method == "cancelled-noise" and is_trusted:
        return tuple(_trusted_server_bounds(problem, run))
    if run.method == "cancelled-noise":
        return tuple(_cancelled_noise_bounds(problem, run))
    if run.method == "independent-noise" and not is_trusted:
        return tuple(_independent_noise_bounds(problem, run))
    return ()  # nothing is proved for other methods, nor for independent noise of a trusted server


def decide_conditions(problem: SimulatedProblem, run: Mu2SgdRun) -> Mapping[str, Verdict]:
    """Decide the conditions of the theorems that follow from the construction of the simulation.

    All of them hold, except that participation may not be uniform. The losses are smooth on the whole space. Their
    gradients are bounded only on the domain, which suffices for the proofs.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters.

    Returns:
        For each condition, by its id, whether it holds.
    """
    groups = run.taking_part.groups
    is_uniform = True
    if groups is not None:
        # With fixed groups, participation is uniform only if every client reports in every round.
        is_full = run.reporting(problem.clients) == problem.clients
        is_uniform = is_full and all(len(group.rounds) == run.rounds for group in groups)
    return {
        "smooth-on-a-neighbourhood": Verdict.YES,
        "domain": Verdict.YES,
        "uniform-participation": Verdict.of(is_uniform),
        "fresh-records": Verdict.YES,
        "planned-divisor": Verdict.YES,
        "loss": Verdict.YES,
    }


def _cancelled_noise_bounds(problem: SimulatedProblem, run: Mu2SgdRun) -> Iterator[PromisedBound]:
    """Yield the bounds on the excess risk if every report subtracts the noise of the client's previous report.

    The certified bound is valid for any noise. Theorem 5.2 of Reshef and Levy is stated for a μ of Gaussian
    differential privacy. It is yielded only if a μ in the range of the theorem gives the run's noise. For a run without
    noise, a negligible noise is assumed.

    Args:
        problem: the simulated learning problem.
        run: the run, with a server that is not trusted.

    Yields:
        The certified bound, and then the printed one if it applies.
    """
    norm = report_norm(problem)
    base_std = max(run.noise_std or 0.0, NO_NOISE * norm)
    fields, step = federation_fields(problem, run), step_size(problem, run)
    certified_inputs = CertifiedInputs(**fields, base_std=base_std, step_size=step)
    yield _bound(CERTIFIED, certified_inputs, "excess_risk", problem, run)

    # The μ at which the noise of the printed theorem is that of the run.
    mu = 2.0 * norm * math.sqrt(1.0 + math.log(run.rounds)) / base_std
    if not GAUSSIAN_DP_MU.contains(mu):
        return
    printed_inputs = StatedInputs(**fields, gaussian_dp_mu=mu, step_size=step)
    bound = _bound(STATED, printed_inputs, "excess_risk_at_step_size", problem, run)

    # Under one further condition, the printed theorem is proved.
    further_conditions = [result for result in bound.conditions if result.id == PROVED_HERE.id]
    is_proved = all(result.holds == Verdict.YES for result in further_conditions)
    if is_proved:
        bound = replace(bound, status=Status.PROVED)
    yield bound


def _trusted_server_bounds(problem: SimulatedProblem, run: Mu2SgdRun) -> Iterator[PromisedBound]:
    """Yield the bound on the excess risk for noise that a trusted server adds, after Reshef and Levy.

    For a run without noise, a negligible noise is assumed, because the bound increases with the noise.

    Args:
        problem: the simulated learning problem.
        run: the run, with a trusted server.

    Yields:
        One bound, in the unit of the loss, with the theorem's conditions and whether each holds.
    """
    norm, reporting = report_norm(problem), run.reporting(problem.clients)
    negligible_std = NO_NOISE * norm
    std = max(run.noise_std or 0.0, negligible_std)

    # The theorem requires a μ, but does not use it if the noise is given. Its own formula gives this noise at this μ.
    mu = 2.0 * norm * math.sqrt(run.rounds) / (std * reporting)
    largest_mu = GAUSSIAN_DP_MU.le or mu  # the largest μ that the theorem's inputs may have, if there is a limit
    inputs = TrustedRunInputs(
        **federation_fields(problem, run),
        gaussian_dp_mu=min(mu, largest_mu),
        noise_std=std,
        step_size=step_size(problem, run),
    )
    yield _bound(TRUSTED_RUN, inputs, "excess_risk_at_step_size", problem, run)


def _independent_noise_bounds(problem: SimulatedProblem, run: Mu2SgdRun) -> Iterator[PromisedBound]:
    """Yield the bound on the excess risk if every report has fresh, independent noise.

    Nothing is yielded if the noise belongs to no μ of Gaussian differential privacy that the theorem admits.

    Args:
        problem: the simulated learning problem.
        run: the run, with a server that is not trusted.

    Yields:
        At most one bound, with its conditions and whether each holds.
    """
    mu = _gaussian_mu(report_norm(problem), fresh_noise_std(problem, run))
    if not GAUSSIAN_DP_MU.contains(mu):
        return
    fields = federation_fields(problem, run)
    inputs = IndependentInputs(**fields, gaussian_dp_mu=mu, step_size=step_size(problem, run))
    yield _bound(INDEPENDENT, inputs, "excess_risk", problem, run)


def _gaussian_mu(norm: float, noise_std: float) -> float:
    """Return the μ of Gaussian differential privacy of one noisy report.

    It is the sensitivity over the noise. Replacing a record changes a report by at most twice its largest norm.

    Args:
        norm: largest norm of a report without noise.
        noise_std: standard deviation of the noise on each coordinate.

    Returns:
        μ = 2 · norm/`noise_std`; math.inf without noise.
    """
    if noise_std <= 0.0:
        return math.inf
    return 2.0 * norm / noise_std


def _baseline_bounds(problem: SimulatedProblem, run: Mu2SgdRun) -> Iterator[PromisedBound]:
    """Yield the bound on the excess risk of noisy SGD that Reshef and Levy state.

        DB/√T    with    B² = G² + 4G²d/(μ²m)

    D is the diameter, G the Lipschitz constant, d the dimension, m the number of participants and T the number of
    rounds. The noise of a report determines the μ of Gaussian differential privacy. Nothing is yielded if the theorem
    does not admit this μ.

    Args:
        problem: the simulated learning problem.
        run: the run of noisy SGD.

    Yields:
        At most one bound, with its conditions and whether each holds.
    """
    constants, reporting = problem.constants, run.reporting(problem.clients)
    report_std = fresh_noise_std(problem, run)
    if run.server == "trusted":
        # A trusted server adds its noise to the mean of the reports. Noise of every report would be √m times as large.
        report_std = report_std * math.sqrt(reporting)
    mu = _gaussian_mu(constants.lipschitz, report_std)
    if not GAUSSIAN_DP_MU.contains(mu):
        return

    inputs = BaselineInputs(
        lipschitz=constants.lipschitz,
        diameter=constants.diameter,
        dimension=problem.dimension,
        participants=reporting,
        rounds=run.rounds,
        gaussian_dp_mu=mu,
    )
    bound = _bound(BASELINE, inputs, "excess_risk", problem, run)
    # The bound holds only for the step size that the theorem prescribes.
    prescribed_step = BASELINE.evaluate(inputs).outputs["step_size"]
    step_condition = check_step(step_size(problem, run), prescribed_step)
    yield replace(bound, conditions=(*bound.conditions, step_condition))


def _bound(theorem: Theorem, inputs: object, value: str, problem: SimulatedProblem, run: Mu2SgdRun) -> PromisedBound:
    """Return the bound that a theorem gives for a run, with its conditions decided as far as possible.

    Conditions that the theorem cannot check on its inputs are decided by the construction of problem and run.

    Args:
        theorem: the theorem.
        inputs: inputs of the theorem, at the parameters of the run.
        value: name of the theorem's output that is the bound.
        problem: the simulated learning problem.
        run: the algorithm with its parameters.

    Returns:
        The bound, with the theorem's conditions and whether each holds for this run.
    """
    results = (condition.at(inputs) for condition in theorem.conditions)
    outputs = theorem.evaluate(inputs).outputs
    return PromisedBound(
        theorem=theorem.id,
        status=theorem.status,
        value=outputs[value],
        constant="explicit",
        conditions=settle_conditions(results, decide_conditions(problem, run)),
    )


JOIN = Join(algorithm="mu2-sgd", calibrate=calibrate, account=certified_epsilon, bounds=bounds)

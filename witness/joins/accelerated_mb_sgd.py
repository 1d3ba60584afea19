"""accelerated-mb-sgd: its calibrator, and the explicit bound of the run's own stages on the data at hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import Fields
from epsilond.accountants.target import Target
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import (
    ACCELERATED_RISK_BOUND,
    AcceleratedProblem,
    AcceleratedRiskInputs,
    accelerated_risk,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_descent import Stage
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import (
    FEDERATED_ACCELERATED_RISK,
    FederatedAcceleratedInputs,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import Objective
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.accelerated_mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.accelerated_mb_sgd.problem import AcceleratedMbSgdProblem
from epsilond.simulators.algorithms.accelerated_mb_sgd import (
    AcceleratedMbSgdRun,
    AcceleratedShape,
    convexity_of,
)
from epsilond.simulators.algorithms.acceleration import StageRequest
from epsilond.simulators.algorithms.algorithm import AnyRun
from epsilond.simulators.algorithms.random_participation import harmonic_mean
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Allowance, Join, Parameters, PromisedBound
from epsilond.witness.joins.settled import (
    LEAST_NOISE,
    distance_of,
    empirical_gradient_std,
    empirical_heterogeneity,
    settled,
    shape_of,
    smoothness_of,
    target_fields,
)
from epsilond.witness.joins.unlike import asked_clients, bounded_clients, weighed_alike, with_noise_of

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Theorem
    from epsilond.calibrators.answer import Calibration


def calibrate(
    problem: SimulatedProblem, run: AcceleratedMbSgdRun, target: Target
) -> tuple[AcceleratedMbSgdRun, Calibration]:
    """The smallest certified noise, and the stages that go with it unless the run has its own.

    Raises:
        InvalidInput: no bound applies to this sampling, so that the stages have to be given.
        NoCertificate: as the calibrator.
    """
    asked = AcceleratedMbSgdProblem(
        **target_fields(target),
        relation="replace-one",
        unit="record",
        observer="server",
        **accelerated_shape(problem, run),
        sampling=run.sampling,
        empirical_gradient_std=empirical_gradient_std(problem) if weighed_alike(run.client_groups) else None,
    )
    answer: Calibration = CALIBRATOR.solve(asked)
    return with_stages(run, answer.parameters), answer


def accelerated_shape(problem: SimulatedProblem, run: AcceleratedShape) -> Fields:
    """Fields that both accelerated calibrators have."""
    known = problem.constants
    return {
        **shape_of(problem, run),
        **asked_clients(problem, run, run.participation, run.client_groups),
        "diameter": known.diameter,
        "strong_convexity": convexity_of(problem, run),
        "initial_gap": gap_of(problem),
    }


def gap_of(problem: SimulatedProblem) -> float:
    """Δ > 0."""
    known = problem.constants
    whole = known.lipschitz * known.diameter
    return min(max(known.initial_gap, 1e-12 * whole), whole)


def with_stages(run: AnyRun, parameters: Parameters) -> AnyRun:
    """The run with calibrated noise, and the calibrated stages where it has none.

    Raises:
        InvalidInput: there are neither.
    """
    if run.stages is not None:
        return with_noise_of(run, parameters)
    if parameters.stages is None:
        raise InvalidInput.at("/stages", "are needed: no bound of this sampling chooses them")
    stages = tuple(StageRequest(rounds=one.rounds, prox_weight=one.prox_weight) for one in parameters.stages)
    return with_noise_of(replace(run, stages=stages), parameters)


def bounds(problem: SimulatedProblem, run: AcceleratedShape) -> tuple[PromisedBound, ...]:
    """`epsilond.accelerated-sgd-excess-risk` of the data at hand, at the run's own σ and stages."""
    return (
        of_stages(
            problem,
            run,
            objective="empirical",
            gradient_std=empirical_gradient_std(problem),
            heterogeneity=empirical_heterogeneity(problem),
        ),
    )


def of_stages(
    problem: SimulatedProblem, run: AcceleratedShape, *, objective: Objective, gradient_std: float, heterogeneity: float
) -> PromisedBound:
    """The bound of the given objective, which has to be the problem's for it to be compared."""
    known, law = problem.constants, run.participation
    statistics: Fields = {"gradient_std": gradient_std, "heterogeneity": heterogeneity}
    shared: Fields = {
        "dimension": problem.dimension,
        "smoothness": smoothness_of(problem),
        "strong_convexity": convexity_of(problem, run),
        "diameter": known.diameter,
        "initial_distance": distance_of(problem),
        "initial_gap": gap_of(problem),
        "objective": objective,
    }
    if run.client_groups is not None:
        clients = bounded_clients(problem, run, law, run.client_groups)
        told = statistics if weighed_alike(run.client_groups) else {}
        theorem: Theorem = FEDERATED_ACCELERATED_RISK
        inputs: Any = FederatedAcceleratedInputs(**clients, rounds=run.rounds, **shared, **told)
        seen: AcceleratedProblem = inputs.problem_on(None)
    else:
        theorem, shape = ACCELERATED_RISK_BOUND, shape_of(problem, run)
        mean = shape["participants"] if law is None else harmonic_mean(law)
        shape["participants"] = max(1, math.floor(mean))
        noise_std = max(run.noise_std or 0.0, LEAST_NOISE)
        inputs = AcceleratedRiskInputs(**shape | shared, **statistics, noise_std=noise_std)
        seen = replace(inputs.problem, participants=mean)
    stages = tuple(Stage(rounds=one.rounds, prox_weight=one.prox_weight) for one in run.stages or ())
    found = accelerated_risk(seen, noise_std=inputs.noise_std, rounds=run.rounds, stages=stages)
    unbiased = problem.objective == objective and run.batches in ("without-replacement", "full")
    facts = {
        "closed-convex-domain": Verdict.YES,
        "loss": Verdict.YES,
        "unbiased-gradients": Verdict.of(unbiased),
        "last-output": Verdict.YES,
        "exact-proximal-step": Verdict.YES,
    }
    return PromisedBound(
        theorem=theorem.id,
        status=theorem.status,
        value=found.total,
        constant="explicit",
        conditions=settled((one.at(inputs) for one in theorem.conditions), facts),
    )


JOIN = Join(algorithm="accelerated-mb-sgd", calibrate=calibrate, bounds=bounds, allowance=Allowance(0.8, 0.025))

"""norm-fedavg: DP-NormFedAvg of Das et al., its rounds composed exactly, its steps and its convergence.

The server sees every message of a client, in every round: nothing is amplified. Who sees the models alone does not know
who took part; a client whose whole message is bounded is then amplified in every round, before composition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.specs import Subsampled, TruncatedDiscreteLaplace
from epsilond.accountants.theorems.papers.das.composed_rounds import ROUNDS_OF_CLIENTS, THEOREM_2
from epsilond.accountants.theorems.papers.das.small_movement import THEOREM_3
from epsilond.accountants.theorems.risk.das.convergence import (
    ASSUMPTIONS,
    EQUATION_39,
    THEOREM_2_UTILITY,
    THEOREM_4,
    FedAvgInputs,
    gradient_terms,
    local_step,
    theorem_4,
)
from epsilond.accountants.theorems.risk.start import GRADIENT_NORM_OF_THE_START, gradient_norm_bounds
from epsilond.calibrators.answer import (
    OBJECTIVE,
    VACUOUS,
    Baseline,
    Calibration,
    Caution,
    Objective,
    Served,
    derivation_of,
)
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.envelope import declared_answers, numerical_answer
from epsilond.calibrators.norm_fedavg.printed import own_warnings, printed_readings
from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem
from epsilond.calibrators.qtdl.calibrator import (
    CONDITIONS,
    QtdlParameters,
    certified_guarantee,
    found_parameters,
    found_warnings,
    proofs,
)
from epsilond.calibrators.qtdl.printed import communication, printed_noise_levels, printed_warnings
from epsilond.calibrators.qtdl.release import Release
from epsilond.calibrators.qtdl.search import best_of
from epsilond.calibrators.risk.baseline import no_better

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.theorem import Step


VACUOUS_GRADIENT_NORM = "vacuous-gradient-norm"


@dataclass(frozen=True, kw_only=True)
class ConvergenceAnswer:
    """Bounds on the gradient norm of the clients' mean loss, in loss/length; none above what the start itself has."""

    theorem: Annotated[str, Served("the theorem of the bound")]
    objective: Annotated[Objective, OBJECTIVE]
    baseline: Annotated[Baseline, Served("what doing nothing gives: a bound on the gradient norm of the start itself")]
    vacuous: Annotated[bool, VACUOUS]
    gradient_norm: Annotated[
        float,
        Served("bound on the least expected gradient norm of all rounds, the start among them: at most the baseline"),
    ]
    mean_gradient_norm: Annotated[float, Served("das.equation-39 with the certified noise: its mean over the rounds")]
    start_term: Annotated[float, Served("part of it from the start")]
    steps_term: Annotated[float, Served("part of it from the steps")]
    client_optima_term: Annotated[float, Served("part of it from clients that want different models")]
    without_noise: Annotated[float, Served("the same bound for NormFedAvg, without rounding and noise")]
    fedavg: Annotated[float, Served("bound of das.4 for FedAvg, without privacy: √ of that on the least squared norm")]

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """That the bound says nothing, where it does."""
        if not self.vacuous:
            return ()
        message = f"the bound on the gradient norm, {self.mean_gradient_norm:.6g} by {EQUATION_39.id}, is "
        return (Caution(code=VACUOUS_GRADIENT_NORM, message=message + no_better(self.baseline)),)


@dataclass(frozen=True, kw_only=True)
class NormFedavgParameters(QtdlParameters):
    """What to run with, per round."""

    rounds: Annotated[int, Served("communication rounds K")]
    participants: Annotated[int, Served("clients of one round, r")]
    local_steps: Annotated[int, Served("full gradient steps of a client per round, E")]
    local_step_size: Annotated[float, Served("the clients' step η")]
    server_step_size: Annotated[float, Served("the server's step β, times the mean of the messages")]
    compression: Annotated[float, Served("γ: the mean squared error of one message")]
    convergence: ConvergenceAnswer


def release_of(problem: NormFedavgProblem) -> Release:
    """Rounds of one client's messages, seen, or hidden in a draw of clients."""

    def drawn(noise: TruncatedDiscreteLaplace) -> Spec:
        return Subsampled(
            sampling="without-replacement",
            batch_size=problem.participants,
            population=problem.clients,
            level="clients",
            mechanism=noise,
        )

    return Release(
        dimension=problem.dimension,
        movement=problem.movement,
        rounds=problem.rounds,
        relation=problem.relation,
        unit=problem.protected,
        observer=problem.observer,
        rate=problem.rate,
        wrap=drawn if problem.rate < 1.0 else None,
        realised=problem.realised,
    )


def convergence_of(problem: NormFedavgProblem, compression: float) -> ConvergenceAnswer:
    """Equation (39) at γ and at 0, and Theorem 4, each at most ‖∇f(w₀)‖ ≤ β‖w₀ − w*‖: w₀ is the model of a round.

    The minimiser is that of the whole space, where the gradient vanishes.
    """

    def terms(gamma: float) -> dict[str, float]:
        return gradient_terms(
            smoothness=problem.smoothness,
            quasar_convexity=problem.quasar_convexity,
            initial_distance=problem.initial_distance,
            client_optimum_distance=problem.client_optimum_distance,
            rounds=problem.rounds,
            local_steps=problem.steps,
            step_ratio=problem.ratio,
            compression=gamma,
            participants=problem.participants,
        )

    found = terms(compression)
    plain = FedAvgInputs(
        smoothness=problem.smoothness,
        quasar_convexity=problem.quasar_convexity,
        initial_distance=problem.initial_distance,
        client_optimum_distance=problem.client_optimum_distance,
        rounds=problem.rounds,
        local_steps=problem.steps,
        clients=problem.clients,
        participants=problem.participants,
    )
    (start,) = gradient_norm_bounds(
        distance=problem.initial_distance, smoothness=problem.smoothness, minimiser_gradient_norm=0.0
    ).values()
    baseline = Baseline(value=start, theorem=GRADIENT_NORM_OF_THE_START.id, formula="β·‖w₀ − w*‖")
    mean = math.fsum(found.values())
    vacuous = baseline.covers(mean)
    return ConvergenceAnswer(
        theorem=GRADIENT_NORM_OF_THE_START.id if vacuous else EQUATION_39.id,
        objective="empirical",
        baseline=baseline,
        vacuous=vacuous,
        gradient_norm=min(mean, start),
        mean_gradient_norm=mean,
        start_term=found["start"],
        steps_term=found["steps"],
        client_optima_term=found["client_optima"],
        without_noise=min(math.fsum(terms(0.0).values()), start),
        fedavg=min(float(theorem_4(plain)["gradient_norm"]), start),
    )


def run_parameters(problem: NormFedavgProblem, noise: QtdlParameters) -> NormFedavgParameters:
    """The noise, with the steps for it."""
    gamma = noise.mean_squared_error
    step = local_step(
        smoothness=problem.smoothness,
        quasar_convexity=problem.quasar_convexity,
        local_steps=problem.steps,
        compression=gamma,
        participants=problem.participants,
    )
    return NormFedavgParameters(
        **{name: getattr(noise, name) for name in QtdlParameters.__dataclass_fields__},
        rounds=problem.rounds,
        participants=problem.participants,
        local_steps=problem.steps,
        local_step_size=step,
        server_step_size=problem.ratio * step,
        compression=gamma,
        convergence=convergence_of(problem, gamma),
    )


def solve(problem: NormFedavgProblem) -> Calibration:
    """The least certified noise per round, the steps for it, and Theorems 2 and 3 beside it.

    Guarantees: `guarantee.epsilon.upper` ≤ ε at the target δ, and `guarantee.delta.upper` ≤ δ at the target ε.

    Raises:
        Infeasible: no noise that is offered meets the target.
    """
    target, levels = problem.target, problem.quantization_levels
    found = best_of(proofs(problem, drawn=problem.rate < 1.0), release_of(problem), target)
    parameters = run_parameters(problem, found_parameters(found, problem.dimension, levels))
    printed = tuple(printed_readings(problem))
    hidden = problem.rate < 1.0
    return Calibration(
        algorithm="norm-fedavg",
        parameters=parameters,
        guarantee=certified_guarantee(
            found,
            target,
            definition="central" if problem.observer == "released-models" else "local",
            sampling="without-replacement" if hidden else "full",
        ),
        numerical=numerical_answer(found.guarantee, target),
        as_printed=printed,
        communication=communication(
            dimension=problem.dimension,
            quantization_levels=levels,
            noise_levels=found.noise.noise_levels,
            messages=problem.rounds * problem.participants,
            printed=printed_noise_levels(printed),
            trials=None,
        ),
        derivation=derivation_of(*_convergence_steps(problem, parameters.convergence), found.guarantee.derivation),
        declared_conditions=declared_answers((*CONDITIONS, *ASSUMPTIONS, *found.guarantee.declared)),
        warnings=(
            *own_warnings(problem),
            *printed_warnings(printed, parameters.noise_std),
            *found_warnings(found),
            *parameters.convergence.warnings,
        ),
        engine_version=ENGINE_VERSION,
    )


def _convergence_steps(problem: NormFedavgProblem, found: ConvergenceAnswer) -> tuple[Step, ...]:
    """The cap on the gradient norm, where it binds."""
    if not found.vacuous:
        return ()
    return (
        GRADIENT_NORM_OF_THE_START.because(
            initial_distance=problem.initial_distance, smoothness=problem.smoothness, minimiser_gradient_norm=0.0
        ),
    )


def cost(problem: NormFedavgProblem) -> CostClass:
    """Rounds are composed."""
    del problem
    return "search"


CALIBRATOR = Calibrator(
    name="norm-fedavg",
    title="DP-NormFedAvg: normalised, quantised, noisy client updates over rounds",
    summary=(
        "The least certified noise of a round, rounds composed exactly, with steps and convergence; the printed "
        "amplification by client sampling is shown beside it as refuted (Das et al., Theorems 2 to 4)."
    ),
    problem=NormFedavgProblem,
    parameters=NormFedavgParameters,
    by_hand=solve,
    cost=cost,
    theorems=(
        THEOREM_2.id,
        THEOREM_3.id,
        EQUATION_39.id,
        THEOREM_2_UTILITY.id,
        THEOREM_4.id,
        ROUNDS_OF_CLIENTS.id,
        GRADIENT_NORM_OF_THE_START.id,
    ),
    example={
        "epsilon": 2.0,
        "delta": 1e-6,
        "dimension": 10000,
        "quantization_levels": 512,
        "sensitivity_rule": {"kind": "relative", "relative_movement": 0.1},
        "clients": 50,
        "participants": 25,
        "rounds": 100,
        "smoothness": 1.0,
        "quasar_convexity": 1.0,
        "initial_distance": 1.0,
    },
)

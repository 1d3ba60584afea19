"""norm-fedavg: DP-NormFedAvg of Das et al., its rounds composed exactly, its steps and its convergence.

The server sees every message of a client, in every round: nothing is amplified. Who sees the models alone does not know
who took part; a client whose whole message is bounded is then amplified in every round, before composition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from epsilond.accountants.theorems.papers.das.composed_rounds import ROUNDS_OF_CLIENTS, THEOREM_2
from epsilond.accountants.theorems.papers.das.small_movement import THEOREM_3
from epsilond.accountants.theorems.risk.das.convergence import (
    ASSUMPTIONS,
    EQUATION_39,
    THEOREM_2_UTILITY,
    THEOREM_4,
)
from epsilond.accountants.theorems.risk.start import GRADIENT_NORM_OF_THE_START, gradient_norm_bounds
from epsilond.calibrators.answer import OBJECTIVE, VACUOUS, Baseline, Caution, Objective, Served
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.cautions import noise_cautions
from epsilond.calibrators.envelope import Asked
from epsilond.calibrators.norm_fedavg.plan import PLANS
from epsilond.calibrators.norm_fedavg.printed import own_cautions, printed_readings
from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem
from epsilond.calibrators.qtdl.calibrator import (
    CONDITIONS,
    GridSolution,
    QtdlParameters,
    certified_guarantee,
    noise_fields,
    released,
)
from epsilond.calibrators.qtdl.printed import communication, printed_cautions
from epsilond.calibrators.risk.baseline import no_better

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.theorem import Condition, Outputs, Step

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

    @classmethod
    def of(cls, solution: GridSolution) -> NormFedavgParameters:
        """The certified noise, with the steps for it."""
        problem, training = solution.problem, solution.utility
        noise = noise_fields(solution)
        return cls(
            **noise,
            rounds=problem.rounds,
            participants=problem.participants,
            local_steps=problem.steps,
            local_step_size=training.steps["local_step_size"],
            server_step_size=training.steps["server_step_size"],
            compression=noise["mean_squared_error"],
            convergence=training.convergence,
        )


@dataclass(frozen=True, kw_only=True)
class Training:
    """The steps for the certified noise, as das.equation-39 has them, and how far they get."""

    steps: Outputs
    convergence: ConvergenceAnswer
    derivation: tuple[Step, ...]
    """The cap on the gradient norm, where it binds."""
    declared: tuple[Condition, ...] = ASSUMPTIONS
    risk: None = None
    """No theorem is on the excess risk."""


def training_of(problem: NormFedavgProblem, compression: float) -> Training:
    """Equation (39) at γ and at 0, and Theorem 4, each at most ‖∇f(w₀)‖ ≤ β‖w₀ − w*‖: w₀ is the model of a round.

    The minimiser is that of the whole space, where the gradient vanishes.
    """
    given: dict[str, Any] = {"local_steps": problem.steps, "step_ratio": problem.ratio}
    found = Asked.of(EQUATION_39, problem, compression=compression, **given).outputs
    without_noise = Asked.of(EQUATION_39, problem, compression=0.0, **given).outputs
    fedavg = Asked.of(THEOREM_4, problem, local_steps=problem.steps).outputs
    smooth = {"smoothness": problem.smoothness, "minimiser_gradient_norm": 0.0}
    start = gradient_norm_bounds(distance=problem.initial_distance, **smooth)["by_smoothness"]
    baseline = Baseline(value=start, theorem=GRADIENT_NORM_OF_THE_START.id, formula="β·‖w₀ − w*‖")
    mean = float(found["gradient_norm"])
    vacuous = baseline.covers(mean)
    convergence = ConvergenceAnswer(
        theorem=GRADIENT_NORM_OF_THE_START.id if vacuous else EQUATION_39.id,
        objective="empirical",
        baseline=baseline,
        vacuous=vacuous,
        gradient_norm=min(mean, start),
        mean_gradient_norm=mean,
        start_term=found["start_term"],
        steps_term=found["steps_term"],
        client_optima_term=found["client_optima_term"],
        without_noise=min(without_noise["gradient_norm"], start),
        fedavg=min(fedavg["gradient_norm"], start),
    )
    cap = GRADIENT_NORM_OF_THE_START.because(initial_distance=problem.initial_distance, **smooth)
    return Training(steps=found, convergence=convergence, derivation=(cap,) if vacuous else ())


def cautions(solution: GridSolution) -> Iterator[Caution]:
    """What is wrong with the printed theorems, and what the noise and the bound do not show."""
    yield from own_cautions(solution.problem)
    yield from printed_cautions(solution.printed, solution.noise_std)
    yield from noise_cautions((solution.certified,))
    found = solution.utility.convergence
    if found.vacuous:
        message = f"the bound on the gradient norm, {found.mean_gradient_norm:.6g} by {EQUATION_39.id}, is "
        yield Caution(code=VACUOUS_GRADIENT_NORM, message=message + no_better(found.baseline))


CALIBRATOR = Calibrator(
    name="norm-fedavg",
    title="DP-NormFedAvg: normalised, quantised, noisy client updates over rounds",
    summary=(
        "The least certified noise of a round, rounds composed exactly, with steps and convergence; the printed "
        "amplification by client sampling is shown beside it as refuted (Das et al., Theorems 2 to 4)."
    ),
    problem=NormFedavgProblem,
    parameters=NormFedavgParameters,
    cost=lambda _: "search",
    knob="noise_std",
    find=GridSolution.of,
    released=released,
    guarantee=lambda solution: certified_guarantee(
        solution,
        "central" if solution.problem.observer == "released-models" else "local",
        "without-replacement" if solution.problem.rate < 1.0 else "full",
    ),
    utility=lambda solution: training_of(solution.problem, noise_fields(solution)["mean_squared_error"]),
    printed=lambda solution: tuple(printed_readings(solution.problem)),
    communication=communication,
    derivation=lambda solution: (*solution.utility.derivation, solution.certified.guarantee.derivation),
    declared=lambda solution: (*CONDITIONS, *ASSUMPTIONS, *solution.certified.guarantee.declared),
    cautions=cautions,
    theorems=(
        THEOREM_2.id,
        THEOREM_3.id,
        EQUATION_39.id,
        THEOREM_2_UTILITY.id,
        THEOREM_4.id,
        ROUNDS_OF_CLIENTS.id,
        GRADIENT_NORM_OF_THE_START.id,
    ),
    plans=PLANS,
    plan_place=9,
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

"""The step sizes of a run of norm-fedavg, and bounds on the gradient norm that it reaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.theorems.risk.das.convergence import ASSUMPTIONS, EQUATION_39, THEOREM_4
from epsilond.accountants.theorems.risk.start import GRADIENT_NORM_OF_THE_START, gradient_norm_bounds
from epsilond.calibrators.answer import OBJECTIVE, VACUOUS, Baseline, Objective, Served
from epsilond.calibrators.envelope import TheoremAtInputs

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Condition, Outputs, Step
    from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem


@dataclass(frozen=True, kw_only=True)
class ConvergenceAnswer:
    """Bounds on the gradient norm of the clients' mean loss, in units of loss/length.

    `mean_gradient_norm` is the sum of its three terms; `gradient_norm` is not above the baseline.
    """

    theorem: Annotated[str, Served("id of the theorem that proves gradient_norm")]
    objective: Annotated[Objective, OBJECTIVE]
    baseline: Annotated[Baseline, Served("bound on the gradient norm of the initial model, before training")]
    vacuous: Annotated[bool, VACUOUS]
    gradient_norm: Annotated[
        float,
        Served(
            "upper bound on the smallest expected gradient norm of all rounds, the initial model among "
            "them. It is at most the baseline"
        ),
    ]
    mean_gradient_norm: Annotated[
        float,
        Served(
            "upper bound on the mean over the rounds of the expected gradient norm, by das.equation-39 "
            "with the certified noise"
        ),
    ]
    start_term: Annotated[
        float, Served("term of mean_gradient_norm for the distance of the initial model from the minimiser")
    ]
    steps_term: Annotated[float, Served("term of mean_gradient_norm for the lengths of the steps")]
    client_optima_term: Annotated[
        float, Served("term of mean_gradient_norm for the distances between the clients' minimisers")
    ]
    without_noise: Annotated[
        float, Served("gradient_norm of the same run without rounding and without noise (NormFedAvg)")
    ]
    fedavg: Annotated[
        float,
        Served(
            "bound on the smallest gradient norm for FedAvg without privacy: the root of the bound of "
            "das.4 on the squared norm. It is at most the baseline"
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class NormFedavgTraining:
    """The step sizes of a run at its certified noise, and bounds on the gradient norm that it reaches.

    Attributes:
        steps: the results of equation (39) of Das et al. by name: the step sizes, the bound and its terms.
        convergence: bounds on the gradient norm.
        derivation: the theorem on the initial gradient norm, if that norm is the least of the bounds; otherwise empty.
        declared: conditions of the bounds, which the caller declares to hold.
        risk: None, because no theorem bounds the excess risk.
    """

    steps: Outputs
    convergence: ConvergenceAnswer
    derivation: tuple[Step, ...]
    declared: tuple[Condition, ...] = ASSUMPTIONS
    risk: None = None


def training_of(problem: NormFedavgProblem, compression: float) -> NormFedavgTraining:
    """Return the step sizes for the certified noise, and bounds on the gradient norm of the clients' mean loss.

    There are three bounds on the least gradient norm over all rounds: equation (39) of Das et al. for the noisy run and
    for a run without noise and rounding, and their Theorem 4 for FedAvg. The first round starts at the initial model
    w₀, so each bound is at most:

        ‖∇f(w₀)‖ ≤ β‖w₀ − w*‖

    for a β-smooth loss f with the minimiser w*.

    Args:
        problem: the request, with the participants, the local steps and the constants of the losses.
        compression: mean squared error γ of one message, from rounding and noise.

    Returns:
        The step sizes and the bounds.
    """
    steps = _equation_39(problem, compression)
    without_noise = _equation_39(problem, 0.0)
    fedavg = TheoremAtInputs.of(THEOREM_4, problem, participants=problem.reporting, local_steps=problem.steps).outputs
    smooth_losses = {"smoothness": problem.smoothness, "minimiser_gradient_norm": 0.0}
    initial_norm = gradient_norm_bounds(distance=problem.initial_distance, **smooth_losses)["by_smoothness"]

    baseline = Baseline(value=initial_norm, theorem=GRADIENT_NORM_OF_THE_START.id, formula="β·‖w₀ − w*‖")
    mean_norm = float(steps["gradient_norm"])
    is_vacuous = baseline.covers(mean_norm)
    convergence = ConvergenceAnswer(
        theorem=GRADIENT_NORM_OF_THE_START.id if is_vacuous else EQUATION_39.id,
        objective="empirical",
        baseline=baseline,
        vacuous=is_vacuous,
        gradient_norm=min(mean_norm, initial_norm),
        mean_gradient_norm=mean_norm,
        start_term=steps["start_term"],
        steps_term=steps["steps_term"],
        client_optima_term=steps["client_optima_term"],
        without_noise=min(without_noise["gradient_norm"], initial_norm),
        fedavg=min(fedavg["gradient_norm"], initial_norm),
    )
    initial_step = GRADIENT_NORM_OF_THE_START.because(initial_distance=problem.initial_distance, **smooth_losses)
    derivation = (initial_step,) if is_vacuous else ()
    return NormFedavgTraining(steps=steps, convergence=convergence, derivation=derivation)


def _equation_39(problem: NormFedavgProblem, compression: float) -> Outputs:
    """Evaluate equation (39) of Das et al.: the step sizes, and a bound on the mean gradient norm over the rounds.

    Args:
        problem: the request, with the constants of the loss and the size of the run.
        compression: mean squared error γ of one message, from rounding and noise together.

    Returns:
        The step sizes, the bound and its terms, by name.
    """
    return TheoremAtInputs.of(
        EQUATION_39,
        problem,
        participants=problem.reporting,
        compression=compression,
        local_steps=problem.steps,
        step_ratio=problem.ratio,
    ).outputs

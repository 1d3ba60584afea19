"""norm-fedavg: DP-NormFedAvg of Das et al., its rounds composed exactly, its steps and its convergence.

The server sees every message of a client, in every round, so there is no amplification. An observer of only the models
does not see the draw of clients. A client with a bounded message then has amplification in every round, before
composition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.theorems.papers.das.composed_rounds import ROUNDS_OF_CLIENTS, THEOREM_2
from epsilond.accountants.theorems.papers.das.small_movement import THEOREM_3
from epsilond.accountants.theorems.risk.das.convergence import (
    ASSUMPTIONS,
    EQUATION_39,
    THEOREM_2_UTILITY,
    THEOREM_4,
)
from epsilond.accountants.theorems.risk.start import GRADIENT_NORM_OF_THE_START
from epsilond.calibrators.answer import Caution, Served
from epsilond.calibrators.calibration import CostClass
from epsilond.calibrators.cautions import noise_cautions
from epsilond.calibrators.norm_fedavg.plan import PLANS
from epsilond.calibrators.norm_fedavg.printed import own_cautions, printed_readings
from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem
from epsilond.calibrators.norm_fedavg.risk_bounds import RISK
from epsilond.calibrators.norm_fedavg.training import ConvergenceAnswer, NormFedavgTraining, training_of
from epsilond.calibrators.qtdl.calibrator import (
    CONDITIONS,
    GridCalibrator,
    GridSolution,
    QtdlParameters,
    noise_parameters,
)
from epsilond.calibrators.qtdl.printed import communication, printed_cautions
from epsilond.calibrators.risk.baseline import no_better
from epsilond.calibrators.solution import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.structure import Definition
    from epsilond.accountants.theorem import Condition, Step
    from epsilond.calibrators.answer import Communication, PrintedReading

VACUOUS_GRADIENT_NORM = "vacuous-gradient-norm"


@dataclass(frozen=True, kw_only=True)
class NormFedavgParameters(QtdlParameters):
    """Parameters of a round."""

    rounds: Annotated[int, Served("number of rounds")]
    participants: Annotated[int, Served("number of clients in one round")]
    local_steps: Annotated[int, Served("number of full gradient steps of a client in one round")]
    local_step_size: Annotated[float, Served("step size of the clients' gradient steps")]
    server_step_size: Annotated[
        float, Served("step size of the server: it adds the mean of the messages times this factor to the model")
    ]
    compression: Annotated[float, Served("expected squared ℓ2 error of one message, by rounding and noise together")]
    convergence: ConvergenceAnswer


EXAMPLE = {
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
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}


class NormFedavgCalibrator(GridCalibrator[NormFedavgProblem, NormFedavgParameters, NormFedavgTraining]):
    """DP-NormFedAvg: normalised, quantised, noisy client updates over rounds."""

    name = "norm-fedavg"
    title = "DP-NormFedAvg: normalised, quantised, noisy client updates over rounds"
    summary = (
        "Computes the smallest certified noise of a round, with rounds composed exactly, and step "
        "sizes with a bound on convergence. The printed amplification by client sampling is refuted "
        "(Das et al., Theorems 2 to 4)."
    )
    problem = NormFedavgProblem
    parameters_type = NormFedavgParameters
    theorems = (
        THEOREM_2.id,
        THEOREM_3.id,
        EQUATION_39.id,
        THEOREM_2_UTILITY.id,
        THEOREM_4.id,
        ROUNDS_OF_CLIENTS.id,
        GRADIENT_NORM_OF_THE_START.id,
    )
    example = EXAMPLE
    risk_bounds = RISK
    plans = PLANS
    plan_place = 9

    def cost(self, problem: NormFedavgProblem) -> CostClass:
        """Return `search`, because the noise of a message has no closed form."""
        del problem
        return "search"

    def risk(self, solution: GridSolution[NormFedavgProblem]) -> NormFedavgTraining:
        """Return the step sizes for the certified noise, with bounds on the gradient norm."""
        return training_of(solution.problem, solution.mean_squared_error)

    def printed_readings(
        self, outcome: Outcome[GridSolution[NormFedavgProblem], NormFedavgTraining], *, true_figures: bool
    ) -> tuple[PrintedReading, ...]:
        """Return the figures that Theorems 2 and 3 of Das et al. print for the request."""
        del true_figures
        return tuple(printed_readings(outcome.solution.problem))

    def parameters(self, outcome: Outcome[GridSolution[NormFedavgProblem], NormFedavgTraining]) -> NormFedavgParameters:
        """Return the parameters of a run: the certified noise of a message, the size of the run, and its step sizes.

        Args:
            outcome: the certified noise, with the step sizes for it.
        """
        solution, training = outcome.solution, outcome.training
        assert training is not None  # `risk` of this calibrator never returns None
        problem, noise = solution.problem, noise_parameters(solution)
        return NormFedavgParameters(
            **vars(noise),
            rounds=problem.rounds,
            participants=problem.reporting,
            local_steps=problem.steps,
            local_step_size=training.steps["local_step_size"],
            server_step_size=training.steps["server_step_size"],
            compression=noise.mean_squared_error,
            convergence=training.convergence,
        )

    def trust(self, problem: NormFedavgProblem) -> Definition:
        """Return `central` for an observer of the models, who sees no single message, and `local` otherwise."""
        return "central" if problem.observer == "released-models" else "local"

    def sampling(self, solution: GridSolution[NormFedavgProblem]) -> Sampling:
        """Return how clients are drawn: `without-replacement` if the observer does not see the draw, or `full`."""
        return "without-replacement" if solution.problem.rate < 1.0 else "full"

    def communication(self, outcome: Outcome[GridSolution[NormFedavgProblem], NormFedavgTraining]) -> Communication:
        """Return the bits of a message with the certified noise, and of the same message in other encodings."""
        solution = outcome.solution
        return communication(solution.problem, solution.certified_noise.noise.noise_levels, outcome.printed)

    def derivation(self, outcome: Outcome[GridSolution[NormFedavgProblem], NormFedavgTraining]) -> tuple[Step, ...]:
        """Return the derivation of the certificate, and the theorem on the initial gradient norm if it is used."""
        training = outcome.training
        initial_steps = training.derivation if training else ()
        return (*initial_steps, outcome.solution.certified.guarantee.derivation)

    def premises(self, outcome: Outcome[GridSolution[NormFedavgProblem], NormFedavgTraining]) -> tuple[Condition, ...]:
        """Return the conditions on the messages, those of the convergence, and those of the certificate."""
        return CONDITIONS + ASSUMPTIONS + tuple(outcome.solution.certified.guarantee.declared)

    def warnings(self, outcome: Outcome[GridSolution[NormFedavgProblem], NormFedavgTraining]) -> Iterator[Caution]:
        """Yield warnings about the theorems of the paper, the noise, and a risk bound that shows no progress.

        Args:
            outcome: the certified noise, with the step sizes and the interpretations of the printed theorems.

        Yields:
            The warnings that apply, in a fixed order.
        """
        solution, training = outcome.solution, outcome.training
        yield from own_cautions(solution.problem)
        yield from printed_cautions(outcome.printed, solution.noise_std)
        yield from noise_cautions((solution.certified,))
        if training is not None and training.convergence.vacuous:
            bound = training.convergence
            message = f"the bound on the gradient norm, {bound.mean_gradient_norm:.6g} by {EQUATION_39.id}, is "
            yield Caution(code=VACUOUS_GRADIENT_NORM, message=message + no_better(bound.baseline))


CALIBRATOR = NormFedavgCalibrator()

"""shuffled-mb-sgd: Algorithm 1 of Lowy and Razaviyayn with a trusted shuffler between clients and server.

In each of R rounds M of N clients are drawn, unseen; each sends the mean of K per-record gradients plus N(0, σ²) per
coordinate, and the shuffler passes on the M reports in random order. ε and δ are for an observer of its output. Theorem
4.1 leaves its constant open, so the noise is certified by the bounds of `account`. The draws of clients and of records
and the random order give amplification as far as `accountants/theorems/shuffling*.py` prove it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.quantities import NOISE_MULTIPLIER
from epsilond.accountants.specs import Gaussian, Repeated, Shuffled, Subsampled
from epsilond.accountants.structure import POSSIBLE
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import INSIDE_DOMAIN
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_mb_sgd import THEOREM_4_1
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_noise import EXPLICIT_NOISE
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import EXCESS_RISK_BOUND
from epsilond.calibrators.answer import CONTRIBUTION_NORM, Caution, Served
from epsilond.calibrators.calibration import CostClass, FamilyCalibrator
from epsilond.calibrators.cautions import (
    MINIMALITY_NOT_PROVED,
    absence_cautions,
    failing_conditions,
    name_of,
    noise_below,
)
from epsilond.calibrators.certificates import Family, unknown
from epsilond.calibrators.envelope import true_figures as figures_of
from epsilond.calibrators.frontier import Choice
from epsilond.calibrators.mb_sgd.members import communication, divisor_conditions, start_of_run
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.schedule import Averaging, StepPlan, plan_of
from epsilond.calibrators.search import guarantee_of
from epsilond.calibrators.shuffled_mb_sgd.plan import PLANS
from epsilond.calibrators.shuffled_mb_sgd.printed import printed_readings
from epsilond.calibrators.shuffled_mb_sgd.problem import ShuffledMbSgdProblem
from epsilond.calibrators.shuffled_mb_sgd.risk import RISK
from epsilond.calibrators.shuffled_mb_sgd.schedule import choose_run, contribution_norm, likely_noise_multiplier
from epsilond.calibrators.shuffled_mb_sgd.search import select_likely_least, smallest_noise_in_few_trials
from epsilond.calibrators.solution import Outcome, declared_by_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.structure import Definition
    from epsilond.accountants.theorem import Condition
    from epsilond.calibrators.answer import Communication, PrintedReading, TrueFigures
    from epsilond.calibrators.certificates import Certificates
    from epsilond.calibrators.risk.baseline import Start
    from epsilond.calibrators.solution import RunSolution


@dataclass(frozen=True, kw_only=True)
class ShuffledMbSgdParameters:
    """Parameters of the run."""

    noise_std: Annotated[
        float,
        Served(
            "standard deviation per coordinate of the noise that each client adds to the mean of its "
            "batch_size gradients"
        ),
    ]
    noise_multiplier: Annotated[float, Served("noise_std divided by contribution_norm")]
    contribution_norm: Annotated[float, CONTRIBUTION_NORM]
    batch_size: Annotated[int, Served("number of records that a client uses in one round")]
    rounds: Annotated[int, Served("number of rounds")]
    step_size: Annotated[float | None, Served("step size of a gradient step; absent where no risk bound applies")] = (
        None
    )
    averaging: Annotated[
        Averaging | None, Served("average of the models of all rounds that is the output of the run")
    ] = None
    envelope_smoothness: Annotated[
        float | None,
        Served(
            "smoothness constant of the Moreau envelope of each loss, whose gradients are sent in place of "
            "the loss's. Absent if the loss is smooth"
        ),
    ] = None


def run_spec(problem: ShuffledMbSgdProblem, run: Run, noise_multiplier: float) -> Spec:
    """Describe the mechanism by which the shuffler releases the reports of the whole run.

    In each round a random subset of the clients reports. A report is a Gaussian mechanism on a random batch of records.
    If whole clients are protected, all records of a report may change, so that the batch gives no amplification.

    Args:
        problem: the request, with the protected unit, the clients, their records and the participants.
        run: the batch size and the number of rounds.
        noise_multiplier: standard deviation of the noise over the bound on the norm of one contribution, which is that
            of a record or of a whole report.

    Returns:
        The description of the mechanism, from which its privacy is computed.
    """
    report: Spec = Gaussian(noise_multiplier=noise_multiplier)
    if problem.unit == "record":
        report = Subsampled(
            sampling="without-replacement",
            batch_size=run.batch_size,
            population=problem.samples_per_client,
            level="records",
            mechanism=report,
        )

    one_round: Spec = Shuffled(clients=problem.reporting, dimension=problem.dimension, mechanism=report)
    if problem.reporting < problem.clients:
        one_round = Subsampled(
            sampling="without-replacement",
            batch_size=problem.reporting,
            population=problem.clients,
            level="clients",
            mechanism=one_round,
        )
    return Repeated(times=run.rounds, mechanism=one_round)


FAMILY: Family[ShuffledMbSgdProblem, Run] = Family(
    spec=run_spec,
    guess=likely_noise_multiplier,
    contribution=contribution_norm,
    search=smallest_noise_in_few_trials,
    trailed=True,
)


EXAMPLE = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "samples_per_client": 10,
    "clients": 10_000,
    "participants": 2000,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "smoothness": 1.0,
    "batch_size": 1,
    "rounds": 500,
    "relation": "replace-one",
    "unit": "record",
    "observer": "shuffled-server",
}


class ShuffledMbSgdCalibrator(FamilyCalibrator[ShuffledMbSgdProblem, Run, ShuffledMbSgdParameters, StepPlan]):
    """Noisy mini-batch SGD with a trusted shuffler."""

    name = "shuffled-mb-sgd"
    title = "Noisy mini-batch SGD for clients that trust a shuffler"
    summary = (
        "Each client adds Gaussian noise to its own mini-batch gradients, and a trusted shuffler permutes the "
        "reports of a round. Gives central ε and δ for every record (Lowy and Razaviyayn, Theorem 4.1, which hides a "
        "constant)."
    )
    problem = ShuffledMbSgdProblem
    parameters_type = ShuffledMbSgdParameters
    theorems = (THEOREM_4_1.id, EXPLICIT_NOISE.id, EXCESS_RISK_BOUND.id)
    example = EXAMPLE
    risk_bounds = RISK
    plans = PLANS
    searches_risks = False
    plan_place = 7
    family = FAMILY

    def cost(self, problem: ShuffledMbSgdProblem) -> CostClass:
        """Return `search`, because every bound of shuffled reports is composed numerically."""
        del problem
        return "search"

    def definition(self, problem: ShuffledMbSgdProblem) -> Definition:
        """Return `shuffle` for observers that see only the output of the shuffler, and `local` for all others."""
        return "shuffle" if problem.observer in POSSIBLE["shuffle"] else "local"

    def choose_run(
        self, problem: ShuffledMbSgdProblem, certificates: Certificates[ShuffledMbSgdProblem, Run]
    ) -> Choice[Run]:
        """Return the batch size and rounds: those of the request, or the best ones if it leaves them open."""
        run = problem.given_run
        return Choice(run) if run else choose_run(problem, certificates)

    def risk(self, solution: RunSolution[ShuffledMbSgdProblem, Run]) -> StepPlan | None:
        """Return the steps at the certified noise, with the bound on the excess risk."""
        return plan_of(solution.problem, solution.run, solution.noise_std)

    def printed_readings(
        self, outcome: Outcome[RunSolution[ShuffledMbSgdProblem, Run], StepPlan], *, true_figures: bool
    ) -> tuple[PrintedReading, ...]:
        """Evaluate Theorem 4.1 of Lowy and Razaviyayn in each interpretation ("reading") of its text.

        Args:
            outcome: the certified run.
            true_figures: whether to certify the ε and δ of the noise of each reading, which takes time.

        Returns:
            One answer for each reading, with its noise and its claims.
        """
        solution = outcome.solution
        problem = solution.problem

        def truth(run: Run, noise_multiplier: float) -> TrueFigures | None:
            """Return the certified ε and δ of a run; None if the noise is outside the range of specs."""
            if not NOISE_MULTIPLIER.contains(noise_multiplier):
                return None
            guarantee = guarantee_of(problem, run_spec(problem, run, noise_multiplier), "coarse")
            return figures_of(select_likely_least(guarantee, solution.target.epsilon), solution.target)

        return printed_readings(problem, solution.run, truth if true_figures else unknown)

    def start(self, problem: ShuffledMbSgdProblem) -> Start:
        """Return the bound on the population excess risk of the initial model."""
        return start_of_run(problem, "population")

    def parameters(self, outcome: Outcome[RunSolution[ShuffledMbSgdProblem, Run], StepPlan]) -> ShuffledMbSgdParameters:
        """Return the parameters of the run: its noise, and its step sizes if a bound on the excess risk is proved.

        Args:
            outcome: the certified noise of the request, with the step sizes; these are None if no theorem bounds the
                risk, and are then absent in the answer.
        """
        solution, training = outcome.solution, outcome.training
        parameters = ShuffledMbSgdParameters(
            noise_std=solution.noise_std,
            noise_multiplier=solution.certified.noise,
            contribution_norm=solution.norm,
            batch_size=solution.run.batch_size,
            rounds=solution.run.rounds,
        )
        if training is None:
            return parameters

        return replace(
            parameters,
            step_size=training.step_size,
            averaging=training.averaging,
            envelope_smoothness=training.envelope_smoothness,
        )

    def sampling(self, solution: RunSolution[ShuffledMbSgdProblem, Run]) -> Sampling:
        """Return how a client draws the batch of a round."""
        return solution.problem.sampling

    def communication(self, outcome: Outcome[RunSolution[ShuffledMbSgdProblem, Run], StepPlan]) -> Communication:
        """Return the contents and the size of the messages of the run."""
        solution = outcome.solution
        return communication(solution.problem, solution.run)

    def premises(self, outcome: Outcome[RunSolution[ShuffledMbSgdProblem, Run], StepPlan]) -> Iterable[Condition]:
        """Return the conditions of the guarantee and of the risk bound, each once.

        They are those on the run, on the divisor of its means, of the certificate and of the bound on the risk.
        """
        solution = outcome.solution
        conditions_on_divisor = divisor_conditions(solution.problem)
        return dict.fromkeys((INSIDE_DOMAIN, *conditions_on_divisor, *declared_by_all(solution, outcome.training)))

    def warnings(self, outcome: Outcome[RunSolution[ShuffledMbSgdProblem, Run], StepPlan]) -> Iterator[Caution]:
        """Yield the warnings of an answer about the noise, the paper's theorems, the observer and the assumptions.

        Args:
            outcome: the certified noise of the request. `printed` has the paper's theorems, each evaluated in one
                interpretation ("reading") of its text.

        Yields:
            The warnings that apply, in a fixed order.
        """
        solution = outcome.solution
        if solution.certified.slack is None:
            yield MINIMALITY_NOT_PROVED

        yield from failing_conditions(outcome.printed)
        for reading in outcome.printed:
            if "noise_std" in reading.parameters:
                yield from noise_below(reading, noise_std=solution.noise_std)
            else:
                yield Caution(
                    code="printed-constant-unspecified",
                    message=f"{name_of(reading)} leaves the constant C of its noise open; give noise_constant to have "
                    "it compared",
                )

        if solution.problem.observer not in POSSIBLE["shuffle"]:
            yield Caution(
                code="observer-not-the-shuffled-server",
                message="the figures are for the requested observer: against an observer who knows the senders the "
                "shuffler adds no privacy",
            )
        yield from absence_cautions(solution.problem, "initial_distance")


CALIBRATOR = ShuffledMbSgdCalibrator()

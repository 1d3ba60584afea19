"""gaussian: the Gaussian mechanism on random batches, over rounds; solves for any one of its five numbers.

σ ↦ ε(δ) has five unknowns: noise_multiplier, rounds, the rate, ε and δ. Given four and a relation, the fifth is the
largest or smallest that is certified: integers are rounded to the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.errors import NoCertificate
from epsilond.accountants.quantities import DRAWN, POPULATION, RATE
from epsilond.accountants.quantities.mechanisms import LARGEST_BATCH
from epsilond.accountants.statements.settings import noise_condition
from epsilond.accountants.structure import DRAW_UNSEEN, FRESH_DRAW, SECRET_DRAW, definition_against
from epsilond.accountants.structure.random_draws import draws_of, loses_amplification
from epsilond.accountants.theorem import Condition
from epsilond.calibrators.answer import CONTRIBUTION_NORM, Caution, Served
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.cautions import MINIMALITY_NOT_PROVED, format_bound, noise_cautions, not_amplified
from epsilond.calibrators.gaussian.numbers import Numbers, spec_of
from epsilond.calibrators.gaussian.plan import PLANS
from epsilond.calibrators.gaussian.problem import GaussianProblem
from epsilond.calibrators.gaussian.risk_bounds import RISK
from epsilond.calibrators.gaussian.solvers import solve
from epsilond.calibrators.solution import Outcome, Solution, Training
from epsilond.calibrators.targets.certified import certified_target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.structure import Definition
    from epsilond.accountants.structure.random_draws import Draw

CONTRIBUTIONS_BOUNDED = Condition("bounded-contributions", "every contribution has ℓ2 norm at most the clipping norm")


EXAMPLE = {
    "solve_for": "noise_multiplier",
    "relation": "add-or-remove-one",
    "sampling": "poisson",
    "rate": 0.01,
    "rounds": 1000,
    "epsilon": 1.0,
    "delta": 1e-6,
    "unit": "record",
    "observer": "released-models",
}


@dataclass(frozen=True, kw_only=True)
class GaussianParameters:
    """Parameters of the mechanism: noise multiplier, rounds, sampling rate, ε and δ, one of which was solved for."""

    noise_multiplier: Annotated[
        float,
        Served(
            "standard deviation of the noise per coordinate, divided by the bound on the ℓ2 norm of one contribution"
        ),
    ]
    contribution_norm: Annotated[
        float, Served(f"1, the unit of noise and sensitivity: {CONTRIBUTION_NORM.description}")
    ]
    rounds: Annotated[int, Served("number of runs of the mechanism")]
    rate: Annotated[float | None, Served.like(RATE)] = None
    batch_size: Annotated[int | None, Served.like(DRAWN)] = None
    population: Annotated[int | None, Served.like(POPULATION)] = None
    largest_batch: Annotated[int | None, Served.like(LARGEST_BATCH)] = None
    epsilon: Annotated[float, Served("certified ε of the run at the answer's δ")]
    delta: Annotated[
        float | None, Served("certified δ of the run at the answer's ε; absent if it is too small for a double")
    ] = None
    log10_delta: float


@dataclass(frozen=True, kw_only=True)
class GaussianSolution(Solution[GaussianProblem]):
    """A certified run of the Gaussian mechanism on random batches.

    Attributes:
        numbers: noise multiplier, rounds and sampling, with the solved number in its place.
    """

    numbers: Numbers

    @property
    def spec(self) -> Spec:
        """The mechanism of the whole run, from which its privacy is computed."""
        return spec_of(self.problem, self.numbers)

    @property
    def draws(self) -> tuple[Draw, ...]:
        """The random draws of the run."""
        return draws_of(self.spec, self.problem.unit)


class GaussianCalibrator(Calibrator[GaussianProblem, GaussianParameters, GaussianSolution]):
    """The Gaussian mechanism on random batches, solved for any one of its numbers."""

    name = "gaussian"
    title = "The Gaussian mechanism on random batches"
    summary = "Computes any one of noise_multiplier, rounds, rate, epsilon and delta from the others."
    problem = GaussianProblem
    parameters_type = GaussianParameters
    noise_party_known = False
    theorems = ("balle-wang-2018.8", "balle-barthe-gaboardi-2018.8", "zhu-dong-wang-2022.10")
    plans = PLANS
    plan_place = 3
    example = EXAMPLE
    risk_bounds = RISK

    def cost(self, problem: GaussianProblem) -> CostClass:
        """Return `closed-form` for a full batch, which is exactly Gaussian, and `search` for other batches."""
        return "closed-form" if problem.sampling == "full" else "search"

    def definition(self, problem: GaussianProblem) -> Definition:
        """Return the trust model that belongs to the observer."""
        return definition_against(problem.observer)

    def find(self, problem: GaussianProblem) -> GaussianSolution:
        """Solve for the number that the request leaves open, and certify the run with it.

        The result is rounded so that the guarantee holds: noise, ε and δ up, rounds and rates down.

        Args:
            problem: the request, which names the unknown.

        Returns:
            The certified run, with the ε that is certified at the target's δ.

        Raises:
            ConditionViolated: no theorem covers this sampling under this relation.
            Infeasible: no value of the unknown meets the target.
        """
        certified, target, numbers = solve(problem)
        target = certified_target(certified.guarantee, target)
        return GaussianSolution(problem=problem, target=target, certified=certified, numbers=numbers)

    def parameters(self, outcome: Outcome[GaussianSolution, Training]) -> GaussianParameters:
        """Return the parameters of the answer: the given numbers, and the one that was solved for.

        Args:
            outcome: the certified run of the request, with its numbers and its target (ε, δ).

        Returns:
            The noise, in units of the norm bound of one contribution, the rounds, the sampling and the privacy
            parameters. Numbers that do not apply are None.
        """
        solution = outcome.solution
        numbers, target = solution.numbers, solution.target
        return GaussianParameters(
            noise_multiplier=numbers.noise_multiplier,
            contribution_norm=solution.norm,
            rounds=numbers.rounds,
            rate=numbers.rate,
            batch_size=numbers.batch_size,
            population=solution.problem.population,
            largest_batch=solution.problem.largest_batch,
            epsilon=target.epsilon,
            delta=target.delta,
            log10_delta=target.log10_delta,
        )

    def sampling(self, solution: GaussianSolution) -> Sampling:
        """Return how batches are drawn."""
        return solution.problem.sampling

    def specs(self, solution: GaussianSolution) -> tuple[Spec, ...]:
        """Return the specs from which the accountant certifies the solution: that of the run."""
        return (solution.spec,)

    def premises(self, outcome: Outcome[GaussianSolution, Training]) -> tuple[Condition, ...]:
        """Return the conditions on the norm of contributions, on the random draw, and on where the noise is added."""
        solution = outcome.solution
        declared = solution.certified.guarantee.declared
        draw_conditions = tuple(condition for condition in declared if condition in (SECRET_DRAW, FRESH_DRAW))
        return (CONTRIBUTIONS_BOUNDED, *draw_conditions, noise_condition(solution.problem.observer))

    def warnings(self, outcome: Outcome[GaussianSolution, Training]) -> Iterator[Caution]:
        """Yield warnings about the solved number, and about amplification by subsampling that does not apply.

        Args:
            outcome: the certified run of the request.

        Yields:
            The warnings that apply, in a fixed order. If the observer sees the members of the batches, the last one
            compares the certified number with that for an observer who does not see them.
        """
        solution = outcome.solution
        problem = solution.problem
        if problem.solve_for == "noise_multiplier":
            yield from noise_cautions((solution.certified,), drawn="record" if solution.draws else None)
        elif solution.certified.minimal == "searched":
            yield MINIMALITY_NOT_PROVED
        if not loses_amplification(solution.draws, problem.observer, problem.unit):
            return

        # Solve the same request for an observer who does not see the members of the batches.
        try:
            amplified = self.find(replace(problem, observer=DRAW_UNSEEN))
        except NoCertificate:
            yield not_amplified(problem.observer)
            return
        yield not_amplified(problem.observer, _describe_solved_number(solution), _describe_solved_number(amplified))


def _describe_solved_number(solution: GaussianSolution) -> str:
    """Return the name and the value of the number that was solved for, as text, rounded to the safe side.

    Upper bounds and noise are rounded up. Rounds, batch sizes and rates are rounded down.

    Args:
        solution: the certified run of the request.

    Returns:
        A text such as "ε ≤ 1.23".
    """
    problem, numbers = solution.problem, solution.numbers
    if problem.solve_for == "epsilon":
        return f"ε ≤ {format_bound(solution.target.epsilon)}"
    if problem.solve_for == "delta":
        return f"log10 δ ≤ {format_bound(solution.target.log10_delta)}"
    if problem.solve_for == "noise_multiplier":
        return f"noise_multiplier = {format_bound(numbers.noise_multiplier)}"
    if problem.solve_for == "rounds":
        return f"rounds = {format_bound(numbers.rounds, up=False)}"
    if numbers.batch_size is not None:
        return f"batch_size = {format_bound(numbers.batch_size, up=False)}"
    assert numbers.rate is not None  # it was solved for
    return f"rate = {format_bound(numbers.rate, up=False)}"


CALIBRATOR = GaussianCalibrator()

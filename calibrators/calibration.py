"""The base class of calibrators, which assembles every calibration.

The methods of `Calibrator` are in the order of the work. An algorithm defines the search for its unknown, and the parts
of the answer that only this algorithm has: steps and risk, printed readings, warnings. The base class makes the parts
that all algorithms share: guarantee in words and figures, derivation, comparison with the start, and envelope.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Literal

from typing_extensions import TypeVar

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import SettingFields, TargetedProblem, WindowedUnit
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.theorem import Condition
from epsilond.calibrators.absences import absence_conditions, require_present_clients
from epsilond.calibrators.answer import Calibration, Parameters, derivation_of, without_inputs
from epsilond.calibrators.cautions import noise_cautions, printed_cautions
from epsilond.calibrators.certificates import Certificates, Family
from epsilond.calibrators.envelope import declared_answers, guarantee_answer, numerical_answer
from epsilond.calibrators.risk.baseline import (
    mark_vacuous_readings,
    mark_vacuous_risk,
    mark_vacuous_runs,
    risk_cautions,
)
from epsilond.calibrators.risk.premises import ids_of_risk_premises, with_risk_premises
from epsilond.calibrators.risk.rounding import round_up_risk
from epsilond.calibrators.serving.entries import printed_entries
from epsilond.calibrators.serving.long_runs import long_run_cautions
from epsilond.calibrators.solution import Outcome, Run, RunSolution, SolutionT, TrainingT, declared_by_all
from epsilond.calibrators.targets.certified import at_certified_epsilon, certified_target, target_cautions
from epsilond.calibrators.targets.points import find_at_points
from epsilond.calibrators.windows import conditions_of_unit, for_whole_unit, guarantee_of_unit

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.structure import Definition
    from epsilond.accountants.theorem import Step
    from epsilond.calibrators.answer import (
        Caution,
        Communication,
        ConsideredBound,
        GuaranteeAnswer,
        NumericalAnswer,
        PrintedReading,
    )
    from epsilond.calibrators.frontier import Choice
    from epsilond.calibrators.planning.adapter import PlanAdapter
    from epsilond.calibrators.risk.baseline import Start
    from epsilond.calibrators.risk.part import RiskPart

CostClass = Literal["closed-form", "search"]
Problem = TypeVar("Problem", bound=SettingFields, default=Any)
"""The class of the requests of an algorithm."""
Targeted = TypeVar("Targeted", bound=TargetedProblem)


class Calibrator(ABC, Generic[Problem, Parameters, SolutionT, TrainingT]):
    """An algorithm, for which the smallest noise that meets a privacy target is computed.

    Routes, schema, commands, plans and documents follow from its class. `SolutionT` is the type that `find` returns,
    and `TrainingT` the type that `risk` returns.

    Attributes:
        name: name of the algorithm.
        title, summary: the name in words, and a short description.
        problem, parameters_type: classes of the requests, and of the parameters in the answers.
        theorems: ids of the theorems that the answers use.
        example: a request to try.
        knob: the parameter that grows as the target gets stricter.
        searches_risks: whether `find` searches the noise for a risk. If not, a risk is reduced to (ε, δ) points.
        noise_party_known: whether the algorithm says who adds the noise; False for a bare mechanism.
        risk_bounds: bounds on the risk of a run, with a route and a command of their own; None if there are none.
        plans: adapters that make the algorithm's request from a plan, for each of its variants.
        plan_place: rank among the algorithms of a plan. Those that take longest are last.
        home: module with the list `CALIBRATORS` that names the calibrator. Other processes find it there.
    """

    name: str
    title: str
    summary: str
    problem: type[Problem]
    parameters_type: type[Parameters]
    theorems: tuple[str, ...]
    example: JsonObject
    knob: str = "noise_multiplier"
    searches_risks: bool = True
    noise_party_known: bool = True
    risk_bounds: RiskPart | None = None
    plans: tuple[PlanAdapter, ...] = ()
    plan_place: int = 0
    home: str = "epsilond.calibrators"

    def __reduce__(self) -> tuple[Callable[[str, str], Calibrator], tuple[str, str]]:
        """Pickle the calibrator by its name, by which another process finds it."""
        return find_calibrator, (self.home, self.name)

    # The unknown -----------------------------------------------------------------------------------------------------
    @abstractmethod
    def cost(self, problem: Problem) -> CostClass:
        """Return, before any work, whether the answer is a closed form or needs a search."""

    def definition(self, problem: Problem) -> Definition:
        """Return the trust model of the guarantee."""
        del problem
        return "local"

    @abstractmethod
    def find(self, problem: Problem) -> SolutionT:
        """Return the smallest noise that is certified to meet the privacy target, with its certificate.

        Args:
            problem: the request, which describes the run and its privacy target.

        Returns:
            The certified noise with the numbers of the run.

        Raises:
            InvalidInput: the budgets leave no run.
            NoCertificate: nothing can be certified.
        """

    def restate(self, solution: SolutionT) -> SolutionT:
        """Recompute parts of a solution after the certified (ε, δ) has replaced a risk as the target. Default: none."""
        return solution

    # What follows from it --------------------------------------------------------------------------------------------
    def risk(self, solution: SolutionT) -> TrainingT | None:
        """Return the step sizes at the certified noise, with the bound on the excess risk; None without a theorem."""
        del solution
        return None

    def printed_readings(
        self, outcome: Outcome[SolutionT, TrainingT], *, true_figures: bool
    ) -> tuple[PrintedReading, ...]:
        """Evaluate the theorems of the algorithm's paper, in each interpretation ("reading") of their text.

        Calibrators of papers override this method; the default returns nothing.

        Args:
            outcome: the certified noise, with the step sizes and the risk.
            true_figures: whether to certify the ε and δ of a run with the parameters that the paper prescribes.

        Returns:
            The readings, each with its parameters, its claims and its conditions.
        """
        del outcome, true_figures
        return ()

    def start(self, problem: Problem) -> Start | None:
        """Return the bound on the excess risk of the initial model; None if nothing is known of it."""
        del problem
        return None

    @abstractmethod
    def parameters(self, outcome: Outcome[SolutionT, TrainingT]) -> Parameters:
        """Return the parameters to run with."""

    # The guarantee ---------------------------------------------------------------------------------------------------
    @abstractmethod
    def sampling(self, solution: SolutionT) -> Sampling:
        """Return how the batches of a round are drawn."""

    def sensitivity(self, solution: SolutionT) -> float:
        """Return the largest change of the noisy quantity between two neighbouring data sets, in its units."""
        return sensitivity_factor(solution.problem.relation) * solution.norm

    @abstractmethod
    def specs(self, solution: SolutionT) -> tuple[Spec, ...]:
        """Return the mechanisms that release the run's messages at its noise, one for each kind of client.

        A privacy ledger records them.
        """

    def guarantee(self, solution: SolutionT) -> GuaranteeAnswer:
        """Return the certified guarantee as a member of the answer: in sentences, and as bounds on ε and δ.

        Args:
            solution: the certified noise, with the request, the target (ε, δ) and the random draws of the run.

        Returns:
            The guarantee, with its definition of privacy, the protected unit, the relation and the observer.
        """
        return guarantee_answer(
            solution.certified,
            solution.target,
            definition=self.definition(solution.problem),
            sampling=self.sampling(solution),
            sensitivity=self.sensitivity(solution),
            draws=solution.draws,
            noise_party_known=self.noise_party_known,
        )

    def numerical(self, solution: SolutionT) -> NumericalAnswer:
        """Return the numerical accuracy with which the bound on δ was computed at the target ε."""
        return numerical_answer(solution.certified.guarantee, solution.target)

    # The rest of the answer ------------------------------------------------------------------------------------------
    def communication(self, outcome: Outcome[SolutionT, TrainingT]) -> Communication | None:
        """Return the traffic of the run."""
        del outcome
        return None

    def bounds(self, solution: SolutionT) -> tuple[ConsideredBound, ...] | None:
        """Return the bounds that were compared at the certified noise; None if there is only one."""
        del solution
        return None

    def derivation(self, outcome: Outcome[SolutionT, TrainingT]) -> tuple[Step, ...]:
        """Return the theorems that the answer rests on."""
        return (outcome.solution.certified.guarantee.derivation,)

    def premises(self, outcome: Outcome[SolutionT, TrainingT]) -> Iterable[Condition]:
        """Return the conditions of the certificate and of the risk bound that the caller declares."""
        return declared_by_all(outcome.solution, outcome.training)

    def risk_premises(self, training: TrainingT) -> Iterable[Condition]:
        """Return the declared conditions of the theorem that bounds the risk."""
        return training.declared

    def warnings(self, outcome: Outcome[SolutionT, TrainingT]) -> Iterable[Caution]:
        """Yield the warnings about the certified noise, then those about the theorems as the papers print them."""
        solution = outcome.solution
        yield from noise_cautions((solution.certified,))
        yield from printed_cautions(outcome.printed, (solution.noise_std,))

    # The work --------------------------------------------------------------------------------------------------------
    def certify(self, problem: Problem) -> SolutionT:
        """Search for the smallest noise that is certified to meet the target, without the rest of the answer.

        If only what a unit does in a time window is protected, the noise is still that for the whole unit. A risk that
        `find` does not accept as a target is replaced by an (ε, δ) that implies it.

        Args:
            problem: the request, which describes the run, the protected unit and the privacy target.

        Returns:
            The certified noise, for the whole record or client.

        Raises:
            InvalidInput: the budgets leave no run, or a client that adds its own noise may be absent.
            NoCertificate: nothing can be certified.
        """
        if isinstance(problem.unit, WindowedUnit):
            problem = for_whole_unit(problem)
        require_present_clients(problem, self.definition(problem))
        if self.searches_risks or not isinstance(problem, TargetedProblem) or problem.risk is None:
            return self.find(problem)
        return self.restate(find_at_points(problem, self.find))

    def solve(self, problem: Problem, *, true_figures: bool = True) -> Calibration[Parameters]:
        """Return the complete answer to a request: the parameters to run with, their guarantee, and all comparisons.

        Args:
            problem: the request, which describes the run, the protected unit and the privacy target.
            true_figures: whether to certify ε and δ at the parameters of papers too, which takes most of the time.

        Returns:
            The answer, as the service returns it.

        Guarantees: `guarantee.epsilon.upper` ≤ ε at the target δ, and `guarantee.delta.upper` ≤ δ at the target ε.

        Raises:
            InvalidInput: the budgets leave no run, or a client that adds its own noise may be absent.
            ConditionViolated: no theorem covers the release under this relation.
            Infeasible: no noise that is offered meets the target.
        """
        # Certify the noise, choose the step sizes, and evaluate the theorems as the papers print them.
        requested = problem
        problem = for_whole_unit(problem) if isinstance(problem.unit, WindowedUnit) else problem
        solution = self.certify(problem)
        training = self.risk(solution)
        outcome = Outcome(solution, training)
        if solution.target.epsilon > 0.0:  # the papers state their noise for ε above 0
            outcome = replace(outcome, printed=self.printed_readings(outcome, true_figures=true_figures))

        # The parameters, the guarantee and its proof, with the conditions that the caller declares.
        parameters = self.parameters(outcome)
        guarantee = guarantee_of_unit(self.guarantee(solution), requested.unit)
        communication = self.communication(outcome)
        steps = derivation_of(*self.derivation(outcome))
        unit_conditions = absence_conditions(problem, self.definition(problem))
        unit_conditions += conditions_of_unit(requested.unit, is_drawn=guarantee.sampling != "full")
        declared = declared_answers(dict.fromkeys((*self.premises(outcome), *unit_conditions)))
        risk_premise_ids = self._ids_of_risk_premises(solution, training)

        # All risks are compared with the bound on the risk before training.
        start = self.start(problem)
        risk = round_up_risk(with_risk_premises(training.risk, risk_premise_ids)) if training else None
        risk = mark_vacuous_risk(risk, start)
        frontier = mark_vacuous_runs(solution.frontier, start)
        readings = mark_vacuous_readings(outcome.printed, start)

        warnings = self._all_warnings(requested, outcome)
        warnings += risk_cautions(risk, start)
        warnings += long_run_cautions(problem, parameters, communication, frontier)
        return Calibration(
            algorithm=self.name,
            parameters=parameters,
            guarantee=guarantee,
            numerical=self.numerical(solution),
            as_printed=printed_entries(readings, problem=problem, target=guarantee.target, risk=risk),
            risk=risk,
            communication=communication,
            frontier=frontier,
            considered=self.bounds(solution),
            derivation=without_inputs(steps),
            declared_conditions=tuple(condition for condition in declared if condition.id not in risk_premise_ids),
            warnings=tuple(warnings),
            engine_version=ENGINE_VERSION,
            problem=requested,
            certified=(requested, parameters, guarantee),
            readings=readings,
            all_steps=steps,
            all_declared=declared,
        )

    def _all_warnings(self, requested: Problem, outcome: Outcome[SolutionT, TrainingT]) -> list[Caution]:
        """Return the algorithm's warnings about a result, followed by those about the target of the request."""
        # An algorithm of a paper overrides `printed_readings`.
        has_paper = type(self).printed_readings is not Calibrator.printed_readings
        about_target = target_cautions(requested, outcome.solution.target, prints=has_paper)
        return [*self.warnings(outcome), *about_target]

    def _ids_of_risk_premises(self, solution: SolutionT, training: TrainingT | None) -> tuple[str, ...]:
        """Return the ids of the conditions that the caller declares for the bound on the risk only, not for privacy."""
        if training is None or training.risk is None:
            return ()
        return ids_of_risk_premises(solution.certified.guarantee, self.risk_premises(training))


class FamilyCalibrator(
    Calibrator[Targeted, Parameters, RunSolution[Targeted, Run], TrainingT],
    Generic[Targeted, Run, Parameters, TrainingT],
):
    """Base class of calibrators that search one number, the noise multiplier of a family of mechanisms.

    `Run` is the type of the choices that, with the problem, determine a mechanism, for example rounds and batch size.
    It is None if the problem determines all.

    Attributes:
        family: the mechanisms of the algorithm as functions of the noise multiplier.
    """

    family: Family[Targeted, Run]

    @abstractmethod
    def choose_run(self, problem: Targeted, certificates: Certificates[Targeted, Run]) -> Choice[Run]:
        """Return the run that the problem gives, or the best one where the problem leaves it open."""

    def find(self, problem: Targeted) -> RunSolution[Targeted, Run]:
        """Choose the run, such as its rounds and batch size, and certify its noise for the target.

        Args:
            problem: the request, which describes the run and its privacy target.

        Returns:
            The certified noise of the run. A target risk in its request is replaced by the certified (ε, δ).

        Raises:
            InvalidInput: no run meets the limits of the request.
            NoCertificate: nothing can be certified.
        """
        certificates = Certificates(self.family, problem)
        choice = self.choose_run(problem, certificates)
        certified = certificates.of(choice.run)
        target = certified_target(certified.guarantee, problem.target)
        return RunSolution(
            problem=at_certified_epsilon(problem, target),
            target=target,
            certified=certified,
            norm=certificates.norm(choice.run),
            frontier=choice.frontier,
            run=choice.run,
            certificates=certificates,
        )

    def specs(self, solution: RunSolution[Targeted, Run]) -> tuple[Spec, ...]:
        """Return the mechanism of the run at the certified noise."""
        return (solution.certificates.spec(solution.run, solution.certified.noise),)


def find_calibrator(home: str, name: str) -> Calibrator:
    """Return the calibrator with a name from the list `CALIBRATORS` of a module.

    Args:
        home: name of the module.
        name: name of the algorithm, which must be in the list.
    """
    calibrators: tuple[Calibrator, ...] = import_module(home).CALIBRATORS
    return next(calibrator for calibrator in calibrators if calibrator.name == name)

"""Risk bounds of mb-sgd: explicit at the run's noise, Theorems 2.1 and 2.2 as printed, and Theorem 3.1 from below."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.quantities import request
from epsilond.accountants.theorem import Reading as TheoremReading
from epsilond.accountants.theorem import Sides
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import aggregates
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import of_same_fields
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import (
    DescentRun,
    Prescription,
    informal,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import EXCESS_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import FEDERATED_RISK
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.cautions import absence_cautions
from epsilond.calibrators.envelope import condition_answers
from epsilond.calibrators.mb_sgd.members import (
    federation_of,
    members_of,
    root_mean_square,
    start_of_run,
)
from epsilond.calibrators.mb_sgd.printed import printed_noise_std, printed_theorem, theorem_inputs, theorem_of
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem, PacedProblem, Run
from epsilond.calibrators.mb_sgd.schedule import risk_problem, risk_theorem
from epsilond.calibrators.risk.answer import AggregatesAnswer, UpperBound
from epsilond.calibrators.risk.part import Bounds, RiskPart
from epsilond.calibrators.risk.parts import (
    ExplicitBound,
    LowerBoundSetting,
    SteppedRiskFields,
    check_run,
    explicit_bound,
)

if TYPE_CHECKING:
    from epsilond.calibrators.accelerated_mb_sgd.answer import AcceleratedParameters
    from epsilond.calibrators.mb_sgd.solution import MbSgdParameters

OF_THE_RISK = ("client-sampling", "claim-proved", "equal-shares")
"""Conditions of the printed theorems that are about the risk, except for the rounds."""


@request
class MbSgdRiskProblem(MbSgdProblem, SteppedRiskFields):
    """A run of mb-sgd, and the lower bounds to compare with its upper ones."""

    def check(self) -> None:
        """Check the fields of mb-sgd, and that a given noise belongs to a given run."""
        super().check()
        check_run(self)


def bounds(problem: MbSgdRiskProblem, run: Run, noise_std: float) -> Bounds:
    """Return the explicit bound at the run's noise, and the printed bounds.

    Args:
        problem: the request.
        run: the run.
        noise_std: σ per coordinate, root mean square over clients.
    """
    seen = risk_problem(problem, run)
    explicit = None
    if seen is not None:
        explicit = explicit_bound(
            seen, objective=problem.problem, noise_std=noise_std, rounds=run.rounds, step_size=problem.step_size
        )
    upper = [*_explicit(problem, explicit), *_printed_bounds(problem, run, noise_std)]
    declared = risk_theorem(problem).conditions if explicit else ()
    return Bounds(
        upper=tuple(upper),
        setting=setting_of(problem),
        start=start_of_run(problem, problem.problem),
        declared=declared,
        step_size=explicit.step_size if explicit else None,
        envelope_smoothness=explicit.envelope_smoothness if explicit else None,
        aggregates=_aggregates(problem, run),
        cautions=tuple(_cautions(problem, explicit)),
    )


def setting_of(problem: PacedProblem) -> LowerBoundSetting:
    """Return the quantities that lower bounds depend on."""
    run = Run(batch_size=1, rounds=1)
    members = members_of(problem, run)
    targets = [member.target for member in members]
    samples = [member.samples_per_client for member in members]
    return LowerBoundSetting(
        epsilon=max(target.epsilon for target in targets),
        log10_delta=min(target.log10_delta for target in targets),
        samples_per_client=max(samples),
        clients=problem.clients,
        dimension=problem.dimension,
        lipschitz=problem.lipschitz,
        diameter=problem.diameter,
        strong_convexity=problem.strong_convexity,
    )


def noise_of(problem: PacedProblem, run: Run, parameters: MbSgdParameters | AcceleratedParameters) -> float:
    """Return σ of the parameters, root mean square over clients.

    Args:
        problem: the request.
        run: the run.
        parameters: the parameters of the answer.
    """
    if parameters.groups is None:
        assert parameters.noise_std is not None
        return parameters.noise_std
    stds = (group.noise_std for group in parameters.groups)
    return root_mean_square(zip(stds, members_of(problem, run), strict=True))


def _explicit(problem: MbSgdRiskProblem, explicit: ExplicitBound | None) -> Iterator[UpperBound]:
    if explicit is None:
        return
    yield explicit.answer(risk_theorem(problem), problem.smoothness or 0.0, heaviest=max(1.0, *problem.scales))


def _printed_bounds(problem: MbSgdRiskProblem, run: Run, noise_std: float) -> Iterator[UpperBound]:
    """Yield the bounds of the complete statement at the run's rounds, and of the informal statement.

    The complete statement is read as printed and as corrected. The informal statement is for equal clients. All bounds
    are for the expected loss.
    """
    if problem.problem != "population" or problem.unit != "record":
        return
    inputs, theorem = theorem_inputs(problem, run, run.rounds), printed_theorem(problem)
    readings: tuple[tuple[TheoremReading, Literal["complete", "corrected"]], ...]
    readings = (("printed", "complete"), ("corrected", "corrected"))
    for formula, reading in readings:
        conditions = (
            condition for condition in theorem.evaluate(inputs, formula).conditions if condition.id in OF_THE_RISK
        )
        yield _upper(problem, run, noise_std, inputs.prescription(formula), reading, conditions)
    federation = federation_of(problem, members_of(problem, run))
    if len(federation.groups) == 1 and len(federation.counts) == 1 and problem.smoothness is not None:
        statement = of_same_fields(DescentRun, problem, federation=federation)
        prescription = informal(statement, rounds=run.rounds)
        yield _upper(problem, run, noise_std, prescription, "informal")


def _upper(
    problem: MbSgdRiskProblem,
    run: Run,
    noise_std: float,
    prescription: Prescription,
    reading: Literal["informal", "complete", "corrected"],
    further_conditions: Iterable[ConditionResult] = (),
) -> UpperBound:
    members = members_of(problem, run)
    printed = root_mean_square((printed_noise_std(member), member) for member in members)
    explicit = prescription.constants == "explicit"
    enough = Sides.at_least(run.rounds, prescription.prescribed_rounds)
    no_more = Sides.at_most(noise_std, printed)
    sides = (
        ("enough-rounds", "R is at least the prescribed number of rounds", enough),
        ("at-most-the-printed-noise", "σ is at most the printed one", no_more),
    )
    results = [ConditionResult(name, text, both.holds, both.left, both.right) for name, text, both in sides]
    terms = {name: value for name, value in prescription.terms.items() if abs(value) < math.inf}
    return UpperBound(
        theorem=theorem_of(problem),
        reading=reading,
        constant=prescription.constants,
        value=prescription.excess_risk if explicit else None,
        scale=None if explicit else prescription.excess_risk,
        terms=terms,
        conditions=condition_answers(itertools.chain(results, further_conditions)),
    )


def _aggregates(problem: MbSgdRiskProblem, run: Run) -> AggregatesAnswer:
    federation = federation_of(problem, members_of(problem, run))
    seen, moments = aggregates(federation, run.rounds), federation.participation
    squared = max(member.lipschitz for member in members_of(problem, run)) ** 2
    return AggregatesAnswer(
        participants=moments.mean,
        rms_participants=moments.rms,
        average_xi=seen.average_xi,
        largest_xi=seen.largest_xi,
        average_psi=squared * seen.average_xi,
        largest_psi=squared * seen.largest_xi,
        branch=seen.branch,
    )


def _cautions(problem: MbSgdRiskProblem, explicit: ExplicitBound | None) -> Iterator[Caution]:
    if explicit is None:
        yield Caution(
            code="no-risk-for-this-sampling",
            message="the excess-risk bound is proved for batches drawn without replacement",
        )
    yield from equal_clients_cautions(problem)
    yield from absence_cautions(problem, "initial_distance", "gradient_std")


def equal_clients_cautions(problem: PacedProblem) -> Iterator[Caution]:
    """Warn that lower bounds are for equal clients, if the request has client groups."""
    if problem.client_groups:
        yield Caution(
            code="lower-bound-for-equal-clients",
            message="the lower bound is for equal clients; it is taken at the largest samples_per_client and epsilon",
        )


RISK = RiskPart(
    title="Excess risk of noisy mini-batch SGD for clients that trust nobody",
    summary=(
        "Upper bounds at the run's noise, explicit and as orders. Lower bounds on the cost of privacy against "
        "everyone are given for comparison (Lowy and Razaviyayn, Theorems 2.1, 2.2, 3.1, F.3 to F.5, Section 3)."
    ),
    problem=MbSgdRiskProblem,
    bounds=bounds,
    noise_std=noise_of,
    theorems=("lowy.2.1", "lowy.2.2", EXCESS_RISK_BOUND.id, FEDERATED_RISK.id),
    example_fields={"noise_std": 0.02, "gradient_std": 0.5},
)

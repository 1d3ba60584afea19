"""Risk bounds of mb-sgd: explicit at the run's noise, Theorems 2.1 and 2.2 as printed, and Theorem 3.1 from below."""

from __future__ import annotations

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
from epsilond.calibrators.cautions import assumed
from epsilond.calibrators.envelope import condition_answers
from epsilond.calibrators.mb_sgd.members import (
    federation_of,
    members_of,
    root_mean_square,
    start_of_run,
)
from epsilond.calibrators.mb_sgd.printed import printed_noise_std, registered, theorem_inputs, theorem_of
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
    """A run of mb-sgd, and which lower bounds to set beside its upper ones."""

    def check(self) -> None:
        """Check the fields of mb-sgd, and that a given noise belongs to a given run."""
        super().check()
        check_run(self)


def bounds(asked: MbSgdRiskProblem, run: Run, noise_std: float) -> Bounds:
    """Return the explicit bound at the run's noise, and the printed bounds.

    Args:
        asked: the request.
        run: the run.
        noise_std: σ per coordinate, root mean square over clients.
    """
    seen = risk_problem(asked, run)
    found = None
    if seen is not None:
        found = explicit_bound(
            seen, objective=asked.problem, noise_std=noise_std, rounds=run.rounds, step_size=asked.step_size
        )
    return Bounds(
        upper=(*_explicit(asked, found), *_printed(asked, run, noise_std)),
        setting=setting_of(asked),
        start=start_of_run(asked, asked.problem),
        declared=risk_theorem(asked).conditions if found else (),
        step_size=found.step_size if found else None,
        envelope_smoothness=found.envelope_smoothness if found else None,
        aggregates=_aggregates(asked, run),
        cautions=tuple(_cautions(asked, found)),
    )


def setting_of(asked: PacedProblem) -> LowerBoundSetting:
    """Return the quantities that lower bounds depend on."""
    run = Run(batch_size=1, rounds=1)
    members = members_of(asked, run)
    return LowerBoundSetting(
        epsilon=max(member.target.epsilon for member in members),
        log10_delta=min(member.target.log10_delta for member in members),
        samples_per_client=max(member.samples_per_client for member in members),
        clients=asked.clients,
        dimension=asked.dimension,
        lipschitz=asked.lipschitz,
        diameter=asked.diameter,
        strong_convexity=asked.strong_convexity,
    )


def noise_of(asked: PacedProblem, run: Run, parameters: MbSgdParameters | AcceleratedParameters) -> float:
    """Return σ of the parameters, root mean square over clients.

    Args:
        asked: the request.
        run: the run.
        parameters: the parameters of the answer.
    """
    if parameters.groups is None:
        assert parameters.noise_std is not None
        return parameters.noise_std
    stds = (group.noise_std for group in parameters.groups)
    return root_mean_square(zip(stds, members_of(asked, run), strict=True))


def _explicit(asked: MbSgdRiskProblem, found: ExplicitBound | None) -> Iterator[UpperBound]:
    if found is None:
        return
    yield found.answer(risk_theorem(asked), asked.smoothness or 0.0, heaviest=max(1.0, *asked.scales))


def _printed(asked: MbSgdRiskProblem, run: Run, noise_std: float) -> Iterator[UpperBound]:
    """Yield the bounds of the complete statement at the run's rounds, and of the informal statement.

    The complete statement is read as printed and as corrected. The informal statement is for equal clients. All bounds
    are for the expected loss.
    """
    if asked.problem != "population" or asked.unit != "record":
        return
    inputs, theorem = theorem_inputs(asked, run, run.rounds), registered(asked)
    readings: tuple[tuple[TheoremReading, Literal["complete", "corrected"]], ...]
    readings = (("printed", "complete"), ("corrected", "corrected"))
    for formula, reading in readings:
        others = (one for one in theorem.evaluate(inputs, formula).conditions if one.id in OF_THE_RISK)
        yield _upper(asked, run, noise_std, inputs.prescription(formula), reading, others)
    federation = federation_of(asked, members_of(asked, run))
    if len(federation.groups) == 1 and len(federation.counts) == 1 and asked.smoothness is not None:
        statement = of_same_fields(DescentRun, asked, federation=federation)
        found = informal(statement, rounds=run.rounds)
        yield _upper(asked, run, noise_std, found, "informal")


def _upper(
    asked: MbSgdRiskProblem,
    run: Run,
    noise_std: float,
    found: Prescription,
    reading: Literal["informal", "complete", "corrected"],
    others: Iterable[ConditionResult] = (),
) -> UpperBound:
    members = members_of(asked, run)
    printed = root_mean_square((printed_noise_std(member), member) for member in members)
    explicit = found.constants == "explicit"
    enough = Sides.at_least(run.rounds, found.prescribed_rounds)
    no_more = Sides.at_most(noise_std, printed)
    sides = (
        ("enough-rounds", "R is at least the prescribed number of rounds", enough),
        ("at-most-the-printed-noise", "σ is at most the printed one", no_more),
    )
    return UpperBound(
        theorem=theorem_of(asked),
        reading=reading,
        constant=found.constants,
        value=found.excess_risk if explicit else None,
        scale=None if explicit else found.excess_risk,
        terms={name: value for name, value in found.terms.items() if abs(value) < float("inf")},
        conditions=condition_answers(
            (
                *(ConditionResult(name, text, both.holds, both.left, both.right) for name, text, both in sides),
                *others,
            )
        ),
    )


def _aggregates(asked: MbSgdRiskProblem, run: Run) -> AggregatesAnswer:
    federation = federation_of(asked, members_of(asked, run))
    seen, moments = aggregates(federation, run.rounds), federation.participation
    squared = max(member.lipschitz for member in members_of(asked, run)) ** 2
    return AggregatesAnswer(
        participants=moments.mean,
        rms_participants=moments.rms,
        average_xi=seen.average_xi,
        largest_xi=seen.largest_xi,
        average_psi=squared * seen.average_xi,
        largest_psi=squared * seen.largest_xi,
        branch=seen.branch,
    )


def _cautions(asked: MbSgdRiskProblem, found: ExplicitBound | None) -> Iterator[Caution]:
    if found is None:
        yield Caution(
            code="no-risk-for-this-sampling",
            message="the excess-risk bound is proved for batches drawn without replacement",
        )
    yield from of_equal_clients(asked)
    yield from assumed(asked, "initial_distance", "gradient_std")


def of_equal_clients(asked: PacedProblem) -> Iterator[Caution]:
    """Warn that lower bounds are for equal clients, if the request has client groups."""
    if asked.client_groups:
        yield Caution(
            code="lower-bound-for-equal-clients",
            message="the lower bound is for equal clients; it is taken at the largest samples_per_client and epsilon",
        )


RISK = RiskPart(
    title="Excess risk of noisy mini-batch SGD for clients that trust nobody",
    summary=(
        "Upper bounds at the run's noise, explicit and as orders, beside the least that privacy against everyone costs "
        "(Lowy and Razaviyayn, Theorems 2.1, 2.2, 3.1, F.3 to F.5, Section 3)."
    ),
    problem=MbSgdRiskProblem,
    bounds=bounds,
    noise_std=noise_of,
    theorems=("lowy.2.1", "lowy.2.2", EXCESS_RISK_BOUND.id, FEDERATED_RISK.id),
    given={"noise_std": 0.02, "gradient_std": 0.5},
)

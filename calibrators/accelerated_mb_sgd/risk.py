"""Risk bounds of accelerated-mb-sgd: explicit by stages, the orders of Theorems E.1 and 2.4, and lower bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.quantities import request
from epsilond.accountants.quantities.risks import PairTarget
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import FEDERATED_ACCELERATED_RISK
from epsilond.calibrators.accelerated_mb_sgd.printed import printed_readings
from epsilond.calibrators.accelerated_mb_sgd.problem import AcceleratedMbSgdProblem
from epsilond.calibrators.accelerated_mb_sgd.schedule import plan_of
from epsilond.calibrators.answer import Caution, PrintedReading
from epsilond.calibrators.cautions import absence_cautions
from epsilond.calibrators.mb_sgd.members import start_of_run
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.risk import equal_clients_cautions, noise_of, setting_of
from epsilond.calibrators.risk.answer import OBJECTIVE, Objective, UpperBound
from epsilond.calibrators.risk.mini_batch import MiniBatchRiskPart
from epsilond.calibrators.risk.part import Bounds
from epsilond.calibrators.risk.parts import RiskFields, check_run

if TYPE_CHECKING:
    from epsilond.calibrators.accelerated_mb_sgd.answer import AcceleratedPlan


@request
class AcceleratedRiskProblem(PairTarget, AcceleratedMbSgdProblem, RiskFields):
    """A run of accelerated-mb-sgd whose excess risk is bounded, and the lower bounds to compare it with."""

    problem: Annotated[Objective, OBJECTIVE] = "empirical"

    def check(self) -> None:
        """Check the fields of accelerated-mb-sgd, and that a noise comes with a batch size and rounds."""
        super().check()
        check_run(self)


def bounds(problem: AcceleratedRiskProblem, run: Run, noise_std: float) -> Bounds:
    """Return the upper bounds on the empirical excess risk of a run of accelerated SGD.

    One bound has explicit constants, at the best stages. The others are the orders of magnitude that Theorems E.1 and
    2.4 of Lowy and Razaviyayn print.

    Args:
        problem: the request, with the constants of the losses and the clients.
        run: its batch size and number of rounds.
        noise_std: standard deviation σ per coordinate, root mean square over clients.

    Returns:
        The bounds, with the inputs of the lower bounds, the conditions and the warnings.
    """
    # A risk bound does not need the ε and δ at the printed noise, so none are certified.
    printed = printed_readings(replace(problem, rounds=run.rounds), run, lambda _run, _noise: None)
    return bounds_of(problem, problem, plan=plan_of(problem, run, noise_std), printed=printed, objective="empirical")


def bounds_of(
    problem: AcceleratedMbSgdProblem,
    fields: RiskFields,
    *,
    plan: AcceleratedPlan | None,
    printed: Sequence[PrintedReading],
    objective: Objective,
) -> Bounds:
    """Collect the upper bounds on the excess risk of an accelerated run, the inputs of the lower bounds, and warnings.

    The upper bounds are for one objective, the empirical or the population risk. If the request is about the other one,
    only inputs of the lower bounds and warnings are returned.

    Args:
        problem: the request, which may state the excess risk of the initial model (`initial_gap`).
        fields: the objective and other fields of the request that concern the risk.
        plan: the stages of the run with an upper bound that has all constants; None if no theorem gives one.
        printed: the parameters and risks that a paper states, one entry for each way of reading its theorem.
        objective: the objective of the upper bounds.

    Returns:
        The bounds, with the conditions that the caller declares.
    """
    is_same_objective = fields.problem == objective
    # Bounds with constants first, then orders of growth.
    upper = [*_explicit_bounds(plan), *_orders_of_growth(printed)]
    # The initial excess risk in the request is that of `objective`.
    gap = problem.initial_gap if is_same_objective else None
    declared = plan.declared if plan and is_same_objective else ()
    return Bounds(
        upper=tuple(upper) if is_same_objective else (),
        setting=setting_of(problem),
        start=start_of_run(problem, fields.problem, gap=gap),
        declared=declared,
        envelope_smoothness=plan.envelope_smoothness if plan else None,
        cautions=tuple(_cautions(problem, fields, objective)),
    )


def _explicit_bounds(plan: AcceleratedPlan | None) -> Iterator[UpperBound]:
    """Yield the upper bound on the excess risk with explicit constants, if the plan has one.

    Args:
        plan: stages of the run with their risk bounds; None if no theorem bounds the risk.

    Yields:
        At most one bound, in the form of the answer.
    """
    if plan is None or plan.risk.upper is None:
        return
    bound = plan.risk.upper
    yield UpperBound(
        theorem=bound.theorem,
        reading="corrected",
        constant="explicit",
        value=bound.value,
        terms=bound.terms,
        conditions=(),
    )


def _orders_of_growth(printed: Sequence[PrintedReading]) -> Iterator[UpperBound]:
    """Yield the excess risks that the paper states, one for each interpretation of its theorem.

    The paper hides the constants of its bounds, so each risk is only an order of growth.

    Args:
        printed: the paper's theorem, evaluated in each interpretation ("reading") of its text.

    Yields:
        One bound per reading: its formula without the hidden constant (`scale`), and the theorem's conditions.
    """
    for reading in printed:
        assert reading.reading in ("informal", "complete", "corrected")
        # A theorem whose informal statement has another order of growth shows it under a name of its own.
        scale = reading.parameters.get("informal_excess_risk_scale")
        if scale is None:
            scale = reading.parameters["excess_risk_scale"]
        yield UpperBound(
            theorem=reading.theorem,
            reading=reading.reading,
            constant="hidden",
            scale=scale,
            terms={},
            conditions=reading.conditions,
        )


def _cautions(problem: AcceleratedMbSgdProblem, fields: RiskFields, objective: Objective) -> Iterator[Caution]:
    """Warn of assumptions of the bounds on the excess risk, and of bounds that do not exist.

    The cautions say that no upper bound exists for the requested objective, that clients are assumed equal, or that
    absent fields have assumed values.

    Args:
        problem: the run.
        fields: fields of the request that concern the risk, with its requested objective.
        objective: the objective that the upper bounds are for.

    Yields:
        The warnings that apply, each with a code and a message.
    """
    if fields.problem != objective:
        yield Caution(
            code="no-upper-bound-for-this-objective",
            message=f"the upper bounds of this algorithm are of the {objective} excess risk",
        )
    yield from equal_clients_cautions(problem)
    yield from absence_cautions(problem, "initial_distance", "initial_gap")
    if objective == "population":
        yield from absence_cautions(problem, "gradient_std")


RISK = MiniBatchRiskPart(
    title="Excess risk of accelerated noisy SGD without a trusted server",
    summary=(
        "An explicit bound of the best stages at the run's noise, and the orders of Theorems E.1 and 2.4. Lower "
        "bounds on the cost of privacy against everyone are given for comparison (Lowy and Razaviyayn, Theorems E.1, "
        "2.4, F.4, F.5, Section 3)."
    ),
    problem=AcceleratedRiskProblem,
    bounds=bounds,
    noise_std=noise_of,
    quick=lambda problem: problem.noise_std is not None and problem.quick,
    theorems=("lowy.e.1", "lowy.2.4", ACCELERATED_RISK_BOUND.id, FEDERATED_ACCELERATED_RISK.id),
    example_fields={"noise_std": 0.02},
)

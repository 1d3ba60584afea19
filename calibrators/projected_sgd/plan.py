"""projected-sgd in a plan: one pass over clients of one record each, in a ball, of which the last model is seen."""

from __future__ import annotations

from collections.abc import Iterable

from epsilond.accountants.json_types import Fields
from epsilond.accountants.schedules import Constant, InverseTime, Schedule
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import ConditionAnswer
from epsilond.calibrators.planning.adapter import PlanAdapter
from epsilond.calibrators.planning.answer import Reason
from epsilond.calibrators.planning.problem import PlanProblem


def schedule(plan: PlanProblem) -> Schedule | None:
    """Return the step sizes of a plan for projected SGD.

    They are the plan's constant η, or 1/(μt) in step t, or the constant 1/β. The second needs strong convexity μ, as
    Corollary 1 of Asoodeh et al. assumes. The third needs smoothness β. The first of these that the plan's fields allow
    is used.

    Args:
        plan: the plan of a training, with a step size or with constants of the losses.

    Returns:
        The schedule; None if the plan gives none of η, μ and β.
    """
    if plan.step_size is not None:
        return Constant(value=plan.step_size)
    if plan.strong_convexity:
        return InverseTime(scale=1.0 / plan.strong_convexity)
    if plan.smoothness is not None:
        return Constant(value=1.0 / plan.smoothness)
    return None


def computed_fields(plan: PlanProblem) -> Fields:
    """Return the fields of a request of projected-sgd that differ from the fields of the plan.

    These are the radius of the domain, which is a ball with the plan's diameter, the step sizes and the participants.

    Args:
        plan: the plan of a training, with the diameter of the domain, the losses and the participants.

    Returns:
        Values by the names of the fields.
    """
    return {
        "radius": None if plan.diameter is None else 0.5 * plan.diameter,
        "step_schedule": schedule(plan),
        "participants": plan.reporting,
    }


def refusals(plan: PlanProblem) -> Iterable[Reason]:
    """Yield the reasons why projected SGD cannot run the plan.

    It needs one record per client, as many rounds as one pass has batches, and a known step size.

    Args:
        plan: the plan, a training described without its algorithm.

    Yields:
        One reason for each requirement that fails.
    """
    if (plan.samples_per_client or 1) > 1:
        yield _broken("one-record", "every client holds one record", "/samples_per_client", plan.samples_per_client, 1)
    if plan.clients is not None and plan.reporting is not None:
        steps = plan.clients // plan.reporting
        if plan.rounds not in (None, steps):
            statement = "one pass has ⌊clients / participants⌋ rounds"
            yield _broken("one-pass", statement, "/rounds", plan.rounds, steps)
    if schedule(plan) is None:
        message = "needs step_size (η), or smoothness (β) for steps of 1/β"
        yield Reason(message=message, pointer="/step_size")


def _broken(name: str, statement: str, pointer: str, left: int | None, right: int) -> Reason:
    """Return the reason that a number of the plan differs from the required one.

    Args:
        name: id of the condition.
        statement: the condition in words.
        pointer: JSON pointer to the field of the plan.
        left: the number in the plan; None if it is absent.
        right: the required number.

    Returns:
        The reason, with both numbers.
    """
    sides = {"left": None if left is None else float(left), "right": float(right)}
    condition = ConditionAnswer(id=name, statement=statement, holds=Verdict.NO, **sides)
    return Reason(message=f"{statement}: {left} against {right}", pointer=pointer, condition=condition)


def assumptions(plan: PlanProblem) -> Iterable[Reason]:
    """Yield the assumptions on the domain, and on step sizes that were chosen.

    Args:
        plan: the plan, a training described without its algorithm.

    Yields:
        One or two assumptions, each with the pointer to the field of the plan.
    """
    yield Reason(message="the domain is a ball of half the diameter", pointer="/diameter")
    if plan.step_size is None:
        steps = "1/(μt)" if plan.strong_convexity else "1/β"
        yield Reason(message=f"steps of {steps}, as none are given", pointer="/step_size")


PLANS = (
    PlanAdapter(
        definition="central",
        observer="final-model",
        units=("record", "client"),
        objective="population",
        copied=("clients", "dimension", "lipschitz", "smoothness", "strong_convexity", "gradient_std"),
        read=("participants", "rounds", "samples_per_client", "step_size", "diameter"),
        computed=computed_fields,
        renamed={"radius": "diameter", "step_schedule": "step_size"},
        refusals=refusals,
        assumptions=assumptions,
    ),
)

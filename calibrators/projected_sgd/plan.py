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
    """Return the step sizes of projected SGD for a plan of a training.

    They are the plan's step size in every step; without one, 1/(μt) in step t for strong convexity μ, as in Corollary 1
    of Asoodeh et al.; and without strong convexity, 1/β for smoothness β.

    Args:
        plan: the plan of a training, with a step size or with constants of the losses.

    Returns:
        The schedule; None if the plan has neither a step size nor μ nor β.
    """
    if plan.step_size is not None:
        return Constant(value=plan.step_size)
    if plan.strong_convexity:
        return InverseTime(scale=1.0 / plan.strong_convexity)
    if plan.smoothness is not None:
        return Constant(value=1.0 / plan.smoothness)
    return None


def computed_fields(plan: PlanProblem) -> Fields:
    """Compute the fields of a request of projected-sgd that a plan of a training does not have in this form.

    They are the radius of the domain, which is a ball with the plan's diameter, the step sizes and the participants.

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
        plan: the description of a training without its algorithm.

    Yields:
        One reason for each requirement that fails.
    """
    if (plan.samples_per_client or 1) > 1:
        yield _mismatch(
            "one-record", "every client holds one record", "/samples_per_client", plan.samples_per_client, 1
        )
    if plan.clients is not None and plan.reporting is not None:
        steps = plan.clients // plan.reporting
        if plan.rounds not in (None, steps):
            statement = "one pass has ⌊clients / participants⌋ rounds"
            yield _mismatch("one-pass", statement, "/rounds", plan.rounds, steps)
    if schedule(plan) is None:
        message = "needs step_size (η), or smoothness (β) for steps of 1/β"
        yield Reason(message=message, pointer="/step_size")


def _mismatch(name: str, statement: str, pointer: str, planned: int | None, required: int) -> Reason:
    """Describe the reason that a number of the plan differs from the required one.

    Args:
        name: id of the condition.
        statement: the condition in words.
        pointer: JSON pointer to the field of the plan.
        planned: the number in the plan; None if it is absent.
        required: the required number.
    """
    sides = {"left": None if planned is None else float(planned), "right": float(required)}
    condition = ConditionAnswer(id=name, statement=statement, holds=Verdict.NO, **sides)
    return Reason(message=f"{statement}: {planned} against {required}", pointer=pointer, condition=condition)


def assumptions(plan: PlanProblem) -> Iterable[Reason]:
    """Yield the assumptions on the domain, and on step sizes that were chosen.

    Args:
        plan: the description of a training without its algorithm.

    Yields:
        One or two assumptions, each with the JSON pointer to the field of the plan.
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

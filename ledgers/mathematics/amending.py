"""Amendments of a ledger's plan: items are added, and runs that are neither reserved nor committed are removed.

Before the first output an amendment is always valid, because no output can have influenced it. Afterwards no theorem
covers it: it checks the whole product of profiles against the one point (ε*, δ*) again. It is valid if the decision is
independent of every output, because the ledger might then have been opened with the amended plan (docs/ledger.md,
"Compartments"). That independence is declared, recorded, and a condition of the promise from then on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import ConditionViolated, InvalidInput, LedgerClosed
from epsilond.accountants.verdict import Verdict
from epsilond.ledgers.mathematics.checks.readiness import require_consistent
from epsilond.ledgers.mathematics.invariant import Opening, opening
from epsilond.ledgers.mathematics.state import JOB, LedgerState, PlanItem

Independence = Literal["independent-of-outputs"]
INDEPENDENT: Final[Independence] = "independent-of-outputs"
"""Declaration that neither an amendment nor its time depends on any released output."""


def amend_plan(
    state: LedgerState,
    *,
    add: Sequence[PlanItem] = (),
    lower: Mapping[str, int] | None = None,
    declared: Independence | None = None,
    released: bool = False,
    approval: bool | None = None,
) -> tuple[LedgerState, Opening]:
    """Change the plan of a ledger, and check again that the ledger stays within its privacy target (ε, δ).

    The plan lists the mechanisms that may be run, each with a number of runs. Slots, budgets for mechanisms outside the
    plan, do not change.

    Args:
        state: the ledger before the amendment.
        add: new items. More runs of an existing item are added as a new item.
        lower: new number of planned runs of some items, by name. Runs that are committed or held cannot be removed.
        declared: declaration that no released output influenced the amendment. It is needed once runs were committed,
            except for a change of `approval` only.
        released: whether a run was committed that the state does not contain.
        approval: whether a second person approves amendments and voids from then on. None leaves it as it is.

    Returns:
        The ledger after the amendment, and the result of the check. If runs were committed before a change of the plan,
        the ledger is conditional on the declaration from then on.

    Raises:
        InvalidInput: nothing is amended, a name is taken, an item does not exist, its new number of runs is larger than
            before or smaller than its committed and held runs, or approval already has the requested value.
        ConditionViolated: the plan is changed after runs were committed, and nothing is declared.
        Infeasible: δ of the new plan and the slots together, at the target's ε, exceeds the target's δ.
        LedgerClosed: the ledger was closed.
        RunDiffers: a run was observed to differ from the mechanism that the ledger paid for.
    """
    require_consistent(state)
    changes_plan = bool(add or lower)
    _require_amendable(state, changes_plan=changes_plan, approval=approval)
    if approval is not None:
        state = replace(state, approval=approval)
    if not changes_plan:
        return state, opening(state)

    # After a commit, outputs may be known, so the amendment must be declared to depend on none.
    was_released = released or state.released or _count_committed(state) > 0
    if was_released and declared is None:
        raise _missing_declaration_error(state)

    for name, planned in (lower or {}).items():
        state = state.with_item(_lower_item(state, name, planned))
    for index, item in enumerate(add):
        state = _add_item(state, item, index)
    state = replace(state, amended=True, conditional=state.conditional or was_released)
    return state, opening(state)


def _require_amendable(state: LedgerState, *, changes_plan: bool, approval: bool | None) -> None:
    """Check that a ledger is open, and that an amendment changes something.

    Args:
        state: the ledger before the amendment.
        changes_plan: whether items are added or lowered.
        approval: whether a second person approves from then on. None leaves it as it is.

    Raises:
        LedgerClosed: the ledger was closed.
        InvalidInput: nothing is amended, or approval already has the requested value.
    """
    if state.status == "closed":
        raise LedgerClosed("The ledger was closed: its plan is not amended.")
    if approval is not None and approval == state.approval:
        raise InvalidInput.at("/approval", "is already in the ledger")
    if not changes_plan and approval is None:
        raise InvalidInput.at("/add", "say which items are added, or which fall")


def _missing_declaration_error(state: LedgerState) -> ConditionViolated:
    """Return the error for a change of the plan after runs were committed, without the required declaration.

    After a commit an amendment is valid only if it depends on no output, which only the ledger's owner can declare. The
    violated condition in the error is that the number of committed runs is at most 0.

    Args:
        state: the ledger before the amendment.
    """
    # At least one run was committed, even if the state does not show it.
    committed = max(_count_committed(state), 1)
    statement = "runs were committed before the plan is amended, which no output may have decided"
    violated_condition = ConditionResult("epsilond.ledger-amended", statement, Verdict.NO, float(committed), 0.0)
    return ConditionViolated(
        "Something was committed, so an amendment that depends on outputs holds by no theorem. If neither this one "
        f"nor its time depends on outputs, declare {INDEPENDENT}.",
        violated_condition,
    )


def _lower_item(state: LedgerState, name: str, planned: int) -> PlanItem:
    """Return an item of a ledger's plan, that is, a mechanism with its number of runs, with a smaller number.

    Credit counts the free runs of jobs that were stopped early. It is reduced if fewer free runs remain.

    Args:
        state: the ledger.
        name: name of the item. Items that the charge of a slot (a budget) created cannot be changed.
        planned: new number of runs, from the reserved and committed runs together to the present number.

    Returns:
        The item with the new number of runs, and with at most the former credit.

    Raises:
        InvalidInput: the plan has no such item, or the number is out of range.
    """
    item = state.item(name)
    if item is None or item.job is not None:
        names = ", ".join(planned_item.name for planned_item in state.plan if planned_item.job is None)
        raise InvalidInput.at("/lower", "names no item of the plan", allowed=names or "none")
    taken = item.reserved + item.committed
    if not taken <= planned <= item.planned:
        raise InvalidInput.at("/lower", f"would change what is taken of {name}", allowed=f"{taken} to {item.planned}")
    free_runs = planned - taken
    return replace(item, planned=planned, credit=min(item.credit, free_runs))


def _add_item(state: LedgerState, item: PlanItem, index: int) -> LedgerState:
    """Return the state of a ledger with a further item, a mechanism with its number of runs, in its plan.

    A name identifies an item in later requests, so it must be new.

    Args:
        state: the ledger before the amendment.
        item: the new item.
        index: position of the item in the request, from 0. It is used in the JSON Pointer of errors.

    Returns:
        The new state; the given one is not changed.

    Raises:
        InvalidInput: the name is taken, or it begins with "job ", which is kept for jobs that slots (budgets) pay for.
    """
    pointer = f"/add/{index}/name"
    if item.name.startswith(JOB):
        raise InvalidInput.at(pointer, f'begins with "{JOB}", as items of charged jobs do')
    if state.item(item.name) is not None:
        raise InvalidInput.at(pointer, "is the name of an item: more runs of it are an item of another name")
    return state.with_item(item)


def _count_committed(state: LedgerState) -> int:
    """Return the number of committed runs of the plan, plus the number of slots with a committed charge.

    The result is positive if and only if something was committed. A slot is a part of the privacy budget for mechanisms
    outside the plan. It records amounts and not runs, so it counts once.

    Args:
        state: the ledger.

    Returns:
        The number, at least 0.
    """
    committed_runs = sum(item.committed for item in state.plan)
    used_slots = 0
    for slot in state.slots:
        if any(amount > 0 for amount in slot.used.values()):
            used_slots += 1
    return committed_runs + used_slots

"""The plan of a ledger is amended: items are added, and what nobody has run or holds of others is taken out.

Before the first output that is free: nothing has depended on anything. Afterwards it is a move of no theorem, as it
checks the whole product against the one point (ε*, δ*) again. It is valid by a decision that is independent of every
output: then all that came before, and all that comes, is one ledger that might have been opened so (docs/ledger.md,
"Compartments"). That is declared, written down, and a condition of the promise from then on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import ConditionViolated, InvalidInput, LedgerClosed
from epsilond.accountants.verdict import Verdict
from epsilond.ledgers.mathematics.invariant import Opening, opening
from epsilond.ledgers.mathematics.moves import require_consistent
from epsilond.ledgers.mathematics.state import JOB, LedgerState, PlanItem

Independence = Literal["independent-of-outputs"]
INDEPENDENT: Final[Independence] = "independent-of-outputs"


def amended(
    state: LedgerState,
    *,
    add: Sequence[PlanItem] = (),
    lower: Mapping[str, int] | None = None,
    declared: Independence | None = None,
    released: bool = False,
    approval: bool | None = None,
) -> tuple[LedgerState, Opening]:
    """The ledger with another plan, certified anew to stay within its target. Slots stay as they are.

    `lower` says to how many runs an item falls, at least those that are committed or held: they are never taken out.
    More runs of an item are another item. `released` says that something was committed, where the state does not show
    it; whether the decision depends on outputs is then for the caller to declare. `approval` says whether a second
    person approves amendments and voids from then on; None leaves that as it is. It changes no budget, and alone it
    needs no declaration.

    Raises:
        InvalidInput: nothing is amended, a name is taken, an item is none or falls below what is taken; approval is
            already as it would be.
        ConditionViolated: something was committed, and nothing is declared.
        Infeasible: the new plan and the slots lose more than the target allows.
        LedgerClosed: the ledger was closed.
        RunDiffers: an observation contradicts a run that was paid from the ledger.
    """
    require_consistent(state)
    if state.status == "closed":
        raise LedgerClosed("The ledger was closed: its plan is not amended.")
    if approval is not None and approval == state.approval:
        raise InvalidInput.at("/approval", "is what the ledger has already")
    if not add and not lower and approval is None:
        raise InvalidInput.at("/add", "say which items are added, or which fall")
    state = state if approval is None else replace(state, approval=approval)
    if not add and not lower:
        return state, opening(state)
    committed = _committed(state)
    released = released or committed > 0 or state.released
    if released and declared is None:
        statement = "runs were committed before the plan is amended, which no output may have decided"
        sides = ConditionResult("epsilond.ledger-amended", statement, Verdict.NO, float(max(committed, 1)), 0.0)
        raise ConditionViolated(
            "Something was committed, so an amendment that depends on outputs holds by no theorem. If this one does "
            f"not, nor does its time, declare {INDEPENDENT}.",
            sides,
        )
    for name, planned in (lower or {}).items():
        state = state.with_item(_lowered(state, name, planned))
    for place, item in enumerate(add):
        state = _with_added(state, item, place)
    state = replace(state, amended=True, conditional=state.conditional or released)
    return state, opening(state)


def _lowered(state: LedgerState, name: str, planned: int) -> PlanItem:
    item = state.item(name)
    if item is None or item.job is not None:
        names = ", ".join(one.name for one in state.plan if one.job is None) or "none"
        raise InvalidInput.at("/lower", "names no item of the plan", allowed=names)
    taken = item.reserved + item.committed
    if not taken <= planned <= item.planned:
        raise InvalidInput.at("/lower", f"would change what is taken of {name}", allowed=f"{taken} to {item.planned}")
    return replace(item, planned=planned, credit=min(item.credit, planned - taken))


def _with_added(state: LedgerState, item: PlanItem, place: int) -> LedgerState:
    pointer = f"/add/{place}/name"
    if item.name.startswith(JOB):
        raise InvalidInput.at(pointer, f'begins with "{JOB}", as items of charged jobs do')
    if state.item(item.name) is not None:
        raise InvalidInput.at(pointer, "is the name of an item: more runs of it are an item of another name")
    return state.with_item(item)


def _committed(state: LedgerState) -> int:
    """Runs that were committed, as items and slots tell of them."""
    of_slots = sum(any(amount > 0 for amount in slot.used.values()) for slot in state.slots)
    return sum(item.committed for item in state.plan) + of_slots

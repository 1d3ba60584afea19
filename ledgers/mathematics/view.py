"""What may be shown of a ledger between its moves: functions of its entries alone, none of them a measure of a spend.

At a time that depends on outputs "ε spent so far" is no guarantee (docs/ledger.md, "What may be reported"). What is:
the target, which always holds; what is left of each compartment; and the curve of the whole plan.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.specs import Spec
from epsilond.accountants.statements.settings import NOISE_ADDED_BEFORE, OBSERVERS, UNITS
from epsilond.accountants.theorem import Condition
from epsilond.ledgers.mathematics.amounts import ZERO, Amount
from epsilond.ledgers.mathematics.charges.asked import ChargeRequest
from epsilond.ledgers.mathematics.invariant import plan_pair
from epsilond.ledgers.mathematics.state import LedgerState, Slot, SlotKind

DECISIONS = Condition(
    "ledger-functions-of-releases",
    "specs, counts and the times of calls depend on releases of this ledger only, never on the data otherwise",
)
INDEPENDENT = Condition(
    "ledger-independent-of-outputs", "decisions that were declared to be independent of every output are so"
)
BEFORE = Condition("ledger-nothing-before", "nothing that reads the block was released before the ledger was opened")
ONCE = Condition("ledger-one-run", "each receipt was used for one run, begun after the receipt was there")
RUNNER = Condition(
    "ledger-runner", "outputs leave the runner only as releases that were committed: logs, errors and metrics too"
)
SEALED = Condition("ledger-sealed", "the membership of the block was fixed before anything read it")
BLOCK = Condition(
    "ledger-block", "a unit's block is a function of its identity alone, and no other mechanism computes from the block"
)
UNSEEN = Condition(
    "ledger-unseen", "nobody has seen any output of runs that were voided, and nobody runs anything on their receipts"
)


def conditions(state: LedgerState, *, of_block: bool) -> tuple[Condition, ...]:
    """Return the conditions of the ledger's promise that no computation can check, in the order of reading."""
    found = [BEFORE, DECISIONS, ONCE, RUNNER, SEALED]
    found += [BLOCK] if of_block else []
    decided = state.conditional and state.amended
    found += [INDEPENDENT] if decided or state.declared.inputs == "independent-of-outputs" else []
    found += [UNSEEN] if state.conditional else []
    return (*found, *_of_mechanisms(state))


def _of_mechanisms(state: LedgerState) -> Iterator[Condition]:
    specs = [item.spec for item in state.plan] + [held.spec for held in state.reservations.values()]
    seen: dict[Condition, None] = {}
    for spec in dict.fromkeys(specs):
        for guarantee in _guarantees(state, spec):
            seen.update(dict.fromkeys(guarantee.declared))
    yield from seen


def _guarantees(state: LedgerState, spec: Spec) -> Iterator[Guarantee]:
    yield ChargeRequest(setting=state.setting, spec=spec, count=1).guarantee(spec)


@dataclass(frozen=True)
class PlanCurve:
    """ε of the whole plan alone at some δ: if exactly the plan is run, or is stopped without a look at outputs."""

    log10_delta: float
    epsilon: float


def plan_curve(state: LedgerState) -> tuple[PlanCurve, ...]:
    """Return ε of the plan at the ledger's δ and at tenths and tenfolds of it, as upper bounds.

    There is none without a plan, and none of a contradicted ledger.
    """
    pair = None if state.status == "contradicted" else plan_pair(state)
    if pair is None:
        return ()
    at = [state.target.log_delta + power * math.log(10.0) for power in (-4, -3, -2, -1, 0, 1, 2)]
    found = [(log_delta, pair.epsilon(log_delta).upper) for log_delta in at if log_delta < 0.0]
    return tuple(PlanCurve(log_delta / math.log(10.0), epsilon) for log_delta, epsilon in found if epsilon < math.inf)


@dataclass(frozen=True, kw_only=True)
class ScarceResource:
    """An item of a plan, or a part of a slot, with the share of it that is used or reserved.

    Attributes:
        item: name of the item; None for a part of a slot.
        slot: kind of the slot; None for an item.
        part: name of the slot's part; None for an item.
        share: used and reserved amount, as a share of the capacity; of an item, of the planned runs.
        left: amount, or number of runs, that is neither used nor reserved.
    """

    item: str | None = None
    slot: SlotKind | None = None
    part: str | None = None
    share: Fraction
    left: Amount


def find_scarcest(state: LedgerState) -> ScarceResource | None:
    """Return the resource of a ledger of which the largest share is used or reserved; the first of equals.

    Parts with capacity 0 do not count, and neither do items that residue charges brought: all their runs are held
    from the beginning. Of a Rényi slot with several orders only the order with the smallest share counts, because the
    other orders may be overdrawn.

    Args:
        state: the ledger.

    Returns:
        The resource. None if the ledger has none.
    """
    items = [
        ScarceResource(item=item.name, share=1 - Fraction(item.free, item.planned), left=Amount(item.free))
        for item in state.plan
        if item.planned and item.job is None
    ]
    parts = [part for slot in state.slots for part in _scarce_parts(slot)]
    return max([*items, *parts], key=lambda resource: resource.share, default=None)


def _scarce_parts(slot: Slot) -> list[ScarceResource]:
    """Return the parts of a slot that can run out."""
    parts = [
        ScarceResource(
            slot=slot.kind,
            part=part,
            share=1 - Fraction(slot.free(part)) / Fraction(capacity),
            left=max(slot.free(part), ZERO),
        )
        for part, capacity in slot.capacity.items()
        if capacity
    ]
    if slot.kind == "rdp":
        parts.sort(key=lambda resource: resource.share)
        return parts[:1]
    return parts


def in_words(state: LedgerState, name: str) -> str:
    """State what the ledger guarantees for everything that is released through it, and against whom."""
    setting, target = state.setting, state.target
    unit = UNITS[setting.unit]
    change = {
        "replace-one": "replacing",
        "add-or-remove-one": "adding or removing",
        "zero-out-one": "counting as zero the contribution of",
    }[setting.relation]
    factor, delta = f"{math.exp(min(target.epsilon, 700.0)):.4g}", f"10^{target.log_delta / math.log(10.0):.4g}"
    conditional = ", as long as what its owner declared is so" if state.conditional else ""
    return (
        f"Everything that is released through the ledger {name}, together: {change} {unit} multiplies the probability"
        f" of anything that the adversary sees by at most {factor} (ε = {target.epsilon:g}), apart from an added"
        f" {delta}{conditional}. Against: {OBSERVERS[setting.observer]}. Condition:"
        f" {NOISE_ADDED_BEFORE[setting.observer]}."
    )

"""What a job would cost a ledger and whether it fits: asked before anything is reserved, and changing nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from epsilond.accountants.errors import LedgerExhausted, NoCertificate, RunDiffers
from epsilond.accountants.specs import Spec
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.amounts import ZERO, Amount
from epsilond.ledgers.mathematics.charges.asked import ChargeRequest
from epsilond.ledgers.mathematics.nearest import fitting
from epsilond.ledgers.mathematics.state import Amounts, Charge, LedgerState, SlotKind
from epsilond.ledgers.mathematics.stepped import steps_of
from epsilond.ledgers.mathematics.view import ScarceResource, find_scarcest

_TRIAL = "what-if"


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """Whether a job fits, what it would be charged, and where it does not, why and what would.

    Attributes:
        scarcest: the resource that runs out first: after the job if the job fits, otherwise now.
        held_by_others: amounts that reservations hold, by the kinds of slots and the names of parts.
    """

    fits: bool
    count: int
    item: str | None = None
    slot: SlotKind | None = None
    charge: Charge | None = None
    reason: str | None = None
    nearest: Mapping[str, float | str] = field(default_factory=dict)
    scarcest: ScarceResource | None = None
    held_by_others: Mapping[SlotKind, Amounts] = field(default_factory=dict)


def what_if(
    state: LedgerState,
    *,
    spec: Spec | None = None,
    item: str | None = None,
    slot: SlotKind | None = None,
    count: int | None = None,
    eta: Amount | None = None,
    delta: Amount | None = None,
    rough: bool = False,
) -> WhatIf:
    """As `moves.reserve` would do, with the same words; refusals of the ledger are part of the answer.

    `rough` gives a quick price that may be a little too high, and does not look for what would fit instead.

    Raises:
        InvalidInput: the request contradicts itself.
    """
    runs = 1 if spec is None else steps_of(spec)[1]
    held = {each.kind: {part: each.reserved.get(part, ZERO) for part in each.capacity} for each in state.slots}
    refusal = WhatIf(
        fits=False, count=count or runs, item=item, slot=slot, scarcest=find_scarcest(state), held_by_others=held
    )
    try:
        after = moves.reserve(
            state, _TRIAL, spec=spec, item=item, slot=slot, count=count, eta=eta, delta=delta, rough=rough
        )
    except LedgerExhausted as refused:
        found = (
            refused if rough else with_nearest(refused, state, spec=spec, slot=slot, count=count, eta=eta, delta=delta)
        )
        return replace(refusal, reason=found.message, nearest=found.nearest)
    except RunDiffers as refused:
        return replace(refusal, reason=" ".join([refused.message, *map(str, refused.observations)]))
    except NoCertificate as refused:
        return replace(refusal, reason=refused.message)
    trial = after.reservations[_TRIAL]
    return WhatIf(
        fits=True,
        count=trial.count,
        item=trial.item,
        slot=trial.slot,
        charge=trial.charge,
        scarcest=find_scarcest(after),
        held_by_others=held,
    )


def with_nearest(
    refused: LedgerExhausted,
    state: LedgerState,
    *,
    spec: Spec | None,
    slot: SlotKind | None,
    count: int | None,
    eta: Amount | None = None,
    delta: Amount | None = None,
) -> LedgerExhausted:
    """The refusal, with the largest count and the smallest noise multiplier that would still fit in the slot."""
    chosen = state.slot(slot) if slot is not None else None
    if chosen is None or spec is None or refused.nearest:
        return refused
    step, runs = steps_of(spec)
    asked = ChargeRequest(setting=state.setting, spec=step, count=count or runs, eta=eta, delta=delta)
    return LedgerExhausted(refused.message, refused.condition, fitting(asked, chosen), refused.considered)

"""What a job would cost a ledger and whether it fits: asked before anything is reserved, and changing nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from epsilond.accountants.errors import LedgerExhausted, NoCertificate, RunDiffers
from epsilond.accountants.specs import Spec
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.amounts import Amount
from epsilond.ledgers.mathematics.charges.asked import ChargeRequest
from epsilond.ledgers.mathematics.nearest import fitting
from epsilond.ledgers.mathematics.state import Charge, LedgerState, SlotKind
from epsilond.ledgers.mathematics.stepped import steps_of

_TRIAL = "what-if"


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """Whether a job fits, what it would be charged, and where it does not, why and what would."""

    fits: bool
    count: int
    item: str | None = None
    slot: SlotKind | None = None
    charge: Charge | None = None
    reason: str | None = None
    nearest: Mapping[str, float | str] = field(default_factory=dict)


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
    try:
        after = moves.reserve(
            state, _TRIAL, spec=spec, item=item, slot=slot, count=count, eta=eta, delta=delta, rough=rough
        )
    except LedgerExhausted as refused:
        found = (
            refused if rough else with_nearest(refused, state, spec=spec, slot=slot, count=count, eta=eta, delta=delta)
        )
        return WhatIf(
            fits=False, count=count or runs, item=item, slot=slot, reason=found.message, nearest=found.nearest
        )
    except RunDiffers as refused:
        reason = " ".join([refused.message, *map(str, refused.observations)])
        return WhatIf(fits=False, count=count or runs, item=item, slot=slot, reason=reason)
    except NoCertificate as refused:
        return WhatIf(fits=False, count=count or runs, item=item, slot=slot, reason=refused.message)
    held = after.reservations[_TRIAL]
    return WhatIf(fits=True, count=held.count, item=held.item, slot=held.slot, charge=held.charge)


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

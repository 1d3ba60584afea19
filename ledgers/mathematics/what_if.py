"""Price of a job in a ledger and whether it fits, without a reservation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from epsilond.accountants.errors import LedgerExhausted, NoCertificate, RunDiffers
from epsilond.accountants.specs import Spec
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.amounts import ZERO, Amount
from epsilond.ledgers.mathematics.charges.request import ChargeRequest
from epsilond.ledgers.mathematics.charges.stepped import steps_of
from epsilond.ledgers.mathematics.nearest import nearest_fits
from epsilond.ledgers.mathematics.state import Amounts, Charge, LedgerState, Slot, SlotKind
from epsilond.ledgers.mathematics.view import ScarceResource, find_scarcest

_TRIAL = "what-if"
"""Id of the reservation with which a job is tried. It is never stored."""


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """Answer to the question whether a ledger's budget can pay for some runs of a mechanism (a job).

    Attributes:
        fits: whether the job could be reserved now.
        count: number of runs of the job.
        item: name of the item of the plan that would pay; None if a slot would.
        slot: kind of the slot, a part of the budget for unplanned runs, that would pay; None if the plan would.
        charge: cost in the slot; None if the plan would pay, or if the job does not fit.
        reason: why the job does not fit, as a sentence; None if it fits.
        nearest: figures of the nearest jobs that fit, such as `largest_count`; empty if the job fits.
        scarcest: the resource that runs out first: after the job if the job fits, otherwise now.
        held_by_others: amounts that present reservations hold, by the kind of the slot and the name of the part.
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
    """Return whether a ledger could pay for some runs of a mechanism (a job) now, and at which cost.

    The answer is that of `moves.reserve` with the same arguments. If the job does not fit, it has the reason and the
    nearest jobs that fit.

    Args:
        state: the ledger, which does not change.
        spec: mechanism of the job. None takes the item's mechanism.
        item: name of an item of the plan.
        slot: kind of the slot, a budget for unplanned runs, that is charged.
        count: number of runs. None means all steps of the spec or, without a spec, all free runs of the item.
        eta: η that the job may take from a Gaussian slot.
        delta: δ that each run may take.
        rough: whether to compute only a quick price, which may be a little too high, and no nearest jobs.

    Returns:
        The charge if the job fits, and otherwise the reason with the nearest jobs that fit.

    Raises:
        InvalidInput: the request contradicts itself.
    """
    steps = 1
    if spec is not None:
        _, steps = steps_of(spec)
    held_amounts = {present.kind: _reserved_amounts(present) for present in state.slots}
    rejection = WhatIf(
        fits=False,
        count=count or steps,
        item=item,
        slot=slot,
        scarcest=find_scarcest(state),
        held_by_others=held_amounts,
    )
    # Try the reservation on a copy of the state, which is dropped afterwards.
    try:
        after = moves.reserve(
            state, _TRIAL, spec=spec, item=item, slot=slot, count=count, eta=eta, delta=delta, rough=rough
        )
    except LedgerExhausted as error:
        if not rough:
            error = add_nearest(error, state, spec=spec, slot=slot, count=count, eta=eta, delta=delta)
        return replace(rejection, reason=error.message, nearest=error.nearest)
    except RunDiffers as error:
        sentences = [error.message, *map(str, error.observations)]
        return replace(rejection, reason=" ".join(sentences))
    except NoCertificate as error:
        return replace(rejection, reason=error.message)
    trial = after.reservations[_TRIAL]
    return WhatIf(
        fits=True,
        count=trial.count,
        item=trial.item,
        slot=trial.slot,
        charge=trial.charge,
        scarcest=find_scarcest(after),
        held_by_others=held_amounts,
    )


def _reserved_amounts(slot: Slot) -> Amounts:
    """Return the reserved amount of every part of a slot; an amount that is not reserved is 0.

    Args:
        slot: part of a privacy budget, with amounts by name, such as `rho` and `delta`.

    Returns:
        The amounts, by the names of the parts.
    """
    return {part: slot.reserved.get(part, ZERO) for part in slot.capacity}


def add_nearest(
    error: LedgerExhausted,
    state: LedgerState,
    *,
    spec: Spec | None,
    slot: SlotKind | None,
    count: int | None,
    eta: Amount | None = None,
    delta: Amount | None = None,
) -> LedgerExhausted:
    """Add to a rejection the nearest requests that would fit: the most runs, and the least noise.

    Args:
        error: the error that `moves.reserve` raised, because the slot (a budget) has too little left.
        state: the ledger.
        spec: mechanism of the job.
        slot: kind of the slot.
        count: number of runs. None means all steps of the spec.
        eta: η, the δ that the job may add to the profile of a Gaussian slot (a budget in μ²).
        delta: δ that each run may take from a slot in ρ or in ε.

    Returns:
        A new error with the nearest jobs. The same error if it has them already, or if there is no slot or no spec.
    """
    # Only a slot that prices a given mechanism leads to other jobs.
    chosen = state.slot(slot) if slot is not None else None
    if chosen is None or spec is None or error.nearest:
        return error
    # Search with the mechanism of one step, as the reservation did.
    step, runs = steps_of(spec)
    request = ChargeRequest(setting=state.setting, spec=step, count=count or runs, eta=eta, delta=delta)
    return LedgerExhausted(error.message, error.condition, nearest_fits(request, chosen), error.considered)

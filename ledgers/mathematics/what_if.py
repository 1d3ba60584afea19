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

    A slot is a budget for runs that are not planned yet.

    Attributes:
        fits: whether the job could be reserved now.
        count: number of runs of the job.
        item: name of the item of the plan that would pay; None if a slot would.
        slot: kind of the slot that would pay; None if the plan would.
        charge: cost in the slot; None if the plan would pay, or if the job does not fit.
        reason: sentence that says why the job does not fit; None if it fits.
        nearest: parameters with which a job would fit, such as `largest_count`; empty if the job fits or none is known.
        scarcest: resource with the largest used fraction, after the job if it fits, otherwise now; None if there is
            none.
        held_by_others: amounts that present reservations hold, by the kind of the slot and the name of the amount.
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

    The answer is that of `moves.reserve` with the same arguments, but nothing is reserved.

    Args:
        state: the ledger, which does not change.
        spec: mechanism of the job; None for the mechanism of the item.
        item: name of an item of the plan, a number of planned runs. Those neither reserved nor committed are free.
        slot: kind of the slot, a budget for unplanned runs, that is charged.
        count: number of runs; None for all steps of the spec or, without a spec, all free runs of the item.
        eta: δ that the job may take in addition to μ², if the slot is a budget in μ² (Gaussian differential privacy).
        delta: δ that each run may take.
        rough: True for a quick price, which may be a little too high, without the nearest jobs that fit.

    Returns:
        The charge if the job fits; otherwise the reason, with the nearest jobs that fit. In both cases also the amounts
        that other jobs have reserved, and the scarcest amount.

    Raises:
        InvalidInput: the arguments contradict each other.
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
    # `moves.reserve` returns a new state and does not change the given one.
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
    """Return the reserved part of every amount of a slot, by the name of the amount, such as `rho` or `delta`."""
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
    """Add to an error the nearest jobs that would fit into the slot: those with fewer runs, or with more noise.

    Args:
        error: the error that `moves.reserve` raised, because the slot (a budget) has too little left.
        state: the ledger.
        spec: mechanism of the job; None if it was not given.
        slot: kind of the slot; None if no slot was charged.
        count: number of runs; None for all steps of the spec.
        eta: δ that the job may take from a Gaussian slot in addition to its μ².
        delta: δ that each run may take from a slot in ρ or in ε.

    Returns:
        A new error with the nearest jobs. The same error if it has them already, or without a slot or a spec.
    """
    chosen = state.slot(slot) if slot is not None else None
    if chosen is None or spec is None or error.nearest:
        return error
    # A slot is charged for steps, so a spec of several steps becomes that many runs of one step.
    step, runs = steps_of(spec)
    request = ChargeRequest(setting=state.setting, spec=step, count=count or runs, eta=eta, delta=delta)
    return LedgerExhausted(error.message, error.condition, nearest_fits(request, chosen), error.considered)

"""Compartment of a ledger that a run is to be charged to: whether a run fits, and by how much it exceeds the rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.errors import InvalidInput, LedgerExhausted, NotInPlan
from epsilond.accountants.specs import Gaussian, Spec
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.amounts import Amount, down
from epsilond.ledgers.mathematics.charges import charge
from epsilond.ledgers.mathematics.charges.gaussian import eta_of, mu_squared
from epsilond.ledgers.mathematics.charges.request import ChargeRequest
from epsilond.ledgers.mathematics.charges.stepped import steps_of
from epsilond.ledgers.mathematics.exchange import dominance_reason
from epsilond.ledgers.mathematics.invariant import slot_pair
from epsilond.ledgers.mathematics.nearest import map_noise, noise_of
from epsilond.ledgers.mathematics.residue import may_be_composed, quick_cost, shortfall
from epsilond.ledgers.mathematics.state import LedgerState, PlanItem, Reservation, Slot, SlotKind

TRIAL = "calibration"
"""Id of a reservation that is tried and never made."""
MISSES = 1.0
"""Excess of a run that does not fit, if no figure is available."""
KEPT = Amount("0.9995")
"""Largest cost of a run in the search, as a share of the free amount.

Profiles that include a little Gaussian noise are computed much faster.
"""
SHARE_OF_DELTA = Amount("0.5")
"""Share of the η of a run that its own δ may take, if the mechanism has one."""


@dataclass(frozen=True, kw_only=True)
class ChargeTarget:
    """Slot or item of the plan that pays for a run.

    If neither is named, the Gaussian slot pays, or the only slot.

    Attributes:
        slot: kind of the slot.
        item: name of the item.
        eta: δ that a charge in a Gaussian slot may add; None means a share of the slot's η.
    """

    slot: SlotKind | None = None
    item: str | None = None
    eta: Amount | None = None


class Compartment(Protocol):
    """Part of a ledger's budget that can pay for a run: a slot or an item of the plan, at one moment."""

    @property
    def place(self) -> ChargeTarget:
        """Names of the slot or the item, for a reservation."""

    def likely_epsilon(self, log_delta: float) -> float:
        """Estimate the ε of a run that takes the whole remaining budget. The estimate is only a starting point."""

    def log_delta(self, otherwise: float) -> float:
        """Return log δ for the calibration of a mechanism with noise of bounded support.

        Args:
            otherwise: log δ of the ledger's target.
        """

    def excess(self, spec: Spec) -> float:
        """Return roughly by how much a run exceeds the remaining budget, above 0 if it does.

        Raises:
            NoCertificate: no run of such a mechanism is charged here.
        """


def compartment_of(state: LedgerState, place: ChargeTarget) -> Compartment:
    """Return the requested slot or item of an open ledger, if something is left of it.

    Raises:
        InvalidInput: the ledger has no such slot, or none is named and it has several, or a slot and an item are named.
        NotInPlan: the plan has no such item.
        LedgerExhausted: nothing is left of the slot or the item.
        LedgerClosed, NotSealed: the ledger takes no reservations at present.
    """
    moves.require_open(state)
    if place.slot is not None and place.item is not None:
        raise InvalidInput.at("/slot", "give an item of the plan or a slot, not both")
    if place.item is not None:
        item = state.item(place.item)
        if item is None:
            names = ", ".join(planned.name for planned in state.plan) or "none"
            raise NotInPlan(f"The plan has no item of this name. It has: {names}.")
        if not item.free:
            raise LedgerExhausted(f"no run of the plan's item {item.name} is left")
        return OfItem(state, item, place)
    kinds = [present.kind for present in state.slots]
    kind: SlotKind | None = place.slot
    if kind is None and "gdp" in kinds:
        kind = "gdp"
    elif kind is None and len(kinds) == 1:
        kind = kinds[0]
    slot = None if kind is None else state.slot(kind)
    if slot is None and place.slot is not None:
        raise InvalidInput.at("/slot", "is no slot of this ledger", allowed=", ".join(kinds) or "none: it has a plan")
    if slot is None:
        raise InvalidInput.at("/given", "has no Gaussian slot: name another slot of it, or an item of its plan")
    if not any(slot.free(part) > 0 for part in slot.capacity if part not in ("eta", "delta")):
        raise LedgerExhausted(f"nothing is left of the slot {slot.kind}")
    return OfSlot(state, slot, replace(place, slot=slot.kind))


def reserve_trial(state: LedgerState, spec: Spec, place: ChargeTarget) -> Reservation:
    """Return the reservation that the ledger would make for a run. The ledger does not change.

    Args:
        state: the ledger.
        spec: mechanism of the run.
        place: the slot or item that pays.

    Raises:
        NoCertificate: the ledger rejects the run.
    """
    after = moves.reserve(state, TRIAL, spec=spec, item=place.item, slot=place.slot, eta=place.eta)
    return after.reservations[TRIAL]


@dataclass(frozen=True)
class OfSlot:
    """Slot that pays for a run.

    Attributes:
        state: the ledger.
        slot: the slot.
        place: target of charges, which names the slot's kind.
    """

    state: LedgerState
    slot: Slot
    place: ChargeTarget

    def likely_epsilon(self, log_delta: float) -> float:
        """Return the ε of the pair of a slot of the free size."""
        free = {part: max(self.slot.free(part), Amount(0)) for part in self.slot.capacity}
        return slot_pair(replace(self.slot, capacity=free)).epsilon(log_delta).upper

    def log_delta(self, otherwise: float) -> float:
        """Return log δ for the calibration of noise with bounded support. It uses a part of the slot's η.

        Args:
            otherwise: log δ of the ledger's target, which is returned if the slot has no η.

        Returns:
            The log of half the η that a run may take, at most `otherwise`.
        """
        if self.slot.kind != "gdp":
            return otherwise
        nothing = ChargeRequest(
            setting=self.state.setting, spec=Gaussian(noise_multiplier=1.0), count=1, eta=self.place.eta
        )
        return min(math.log(float(down(eta_of(nothing, self.slot) * SHARE_OF_DELTA))), otherwise)

    def excess(self, spec: Spec) -> float:
        """Return by how much a run exceeds the free amounts of the slot; at most 0 if it fits.

        If charges add up, the value is the largest log of a charge divided by the free amount. A Gaussian slot with a
        mechanism that is not Gaussian compares privacy profiles. A Rényi slot of several orders gives only a sign.
        """
        step, count = steps_of(spec)
        request = ChargeRequest(setting=self.state.setting, spec=step, count=count, eta=self.place.eta)
        if self.slot.kind == "gdp" and mu_squared(request) is None:
            return self._residue_excess(request)
        price = charge(request, self.slot)
        if len(self.slot.capacity) > 1 and self.slot.kind == "rdp":
            return _try_move(lambda: moves.reserve(self.state, TRIAL, spec=spec, slot="rdp"))
        largest = -math.inf
        for part, amount in price.parts.items():
            free = self.slot.free(part)
            if amount > 0 and free > 0:
                largest = max(largest, math.log(Fraction(amount) / Fraction(free)))
            elif amount > 0:
                largest = math.inf
        return largest

    def _residue_excess(self, request: ChargeRequest) -> float:
        """Estimate by how much a job that is charged as a whole exceeds the free part of a Gaussian slot."""
        remaining = self.slot.remainder("mu_squared")
        free = self.slot.free("mu_squared")
        eta = eta_of(request, self.slot)
        if not may_be_composed(request.parts):  # its steps are charged one after another, which costs more
            cost_from_below, _ = quick_cost(request.parts, remaining=remaining, eta=eta)
            if math.isinf(cost_from_below):
                return MISSES
            if cost_from_below > 0.0:
                return math.log(cost_from_below / float(free))
        return shortfall(request.parts, remaining=remaining, cost=down(free * KEPT), eta=eta)


@dataclass(frozen=True)
class OfItem:
    """Item of the plan that pays for a run.

    Attributes:
        state: the ledger.
        item: the item, of which runs are free.
        place: target of charges, which names the item.
    """

    state: LedgerState
    item: PlanItem
    place: ChargeTarget

    def likely_epsilon(self, log_delta: float) -> float:
        """Return the ε of the item's free runs."""
        request = ChargeRequest(setting=self.state.setting, spec=self.item.spec, count=self.item.free)
        return composed_pair(request.parts, "default").epsilon(log_delta).upper

    def log_delta(self, otherwise: float) -> float:
        """Return the ledger's log δ: an item has no η."""
        return otherwise

    def excess(self, spec: Spec) -> float:
        """Return the log of the planned noise divided by the run's noise; at most 0 if the run fits.

        Raises:
            NoCertificate: no noise makes the run fit, because of its number of runs or its kind.
        """
        step, count = steps_of(spec)
        if count > self.item.free:  # more noise does not help: raise the error of the ledger
            reserve_trial(self.state, spec, self.place)
        wanted, present = noise_of(self.item.spec), noise_of(step)
        if wanted is None or present is None:
            return _try_move(lambda: reserve_trial(self.state, spec, self.place))
        with_item_noise = map_noise(spec, lambda _: wanted)
        if dominance_reason(steps_of(with_item_noise)[0], self.item.spec) is None:  # more noise does not help
            reserve_trial(self.state, with_item_noise, self.place)
        return math.log(wanted / present)


def _try_move(move: Callable[[], object]) -> float:
    """Return −`MISSES` if the move succeeds, and `MISSES` if it is rejected because too little is left."""
    try:
        move()
    except (LedgerExhausted, NotInPlan):
        return MISSES
    return -MISSES

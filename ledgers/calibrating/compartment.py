"""The part of a ledger that a run is to be charged to: whether a run fits there, and by how much it misses."""

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
"""The id of a reservation that is tried and never made."""
MISSES = 1.0
"""By how much a run misses that does not fit, where no figure says it."""
KEPT = Amount("0.9995")
"""Of what is free, what the search lets a run cost: beside a little Gaussian noise profiles are found much faster."""
SHARE_OF_DELTA = Amount("0.5")
"""Of the η that a run may take, the share that its own δ may be, where the mechanism has a δ of its own."""


@dataclass(frozen=True, kw_only=True)
class ChargeTarget:
    """Where a run is to be charged: a slot, or an item of the plan; the Gaussian slot, or the only one, if neither.

    Attributes:
        eta: what a residue charge may take of the slot's η; a share of the slot's if absent.
    """

    slot: SlotKind | None = None
    item: str | None = None
    eta: Amount | None = None


class Compartment(Protocol):
    """A slot or an item at one moment."""

    @property
    def place(self) -> ChargeTarget:
        """How requests name it."""

    def likely_epsilon(self, log_delta: float) -> float:
        """Estimate the ε of a run that takes the whole remaining budget. The estimate is only a starting point."""

    def log_delta(self, otherwise: float) -> float:
        """Return log δ for the calibration of a mechanism with noise of bounded support."""

    def missed(self, spec: Spec) -> float:
        """Return roughly by how much a run exceeds the remaining budget; above 0 if it does.

        Raises:
            NoCertificate: no run of such a mechanism is charged here.
        """


def compartment_of(state: LedgerState, place: ChargeTarget) -> Compartment:
    """Return the requested slot or item of an open ledger, if something is left of it.

    Raises:
        InvalidInput: the ledger has no such slot, or none is named and it has several, or both are named.
        NotInPlan: the plan has no such item.
        LedgerExhausted: nothing is left of it.
        LedgerClosed, NotSealed: nothing is reserved at present.
    """
    moves.require_open(state)
    if place.slot is not None and place.item is not None:
        raise InvalidInput.at("/slot", "give an item of the plan or a slot, not both")
    if place.item is not None:
        item = state.item(place.item)
        if item is None:
            names = ", ".join(one.name for one in state.plan) or "none"
            raise NotInPlan(f"The plan has no item of this name. It has: {names}.")
        if not item.free:
            raise LedgerExhausted(f"no run of the plan's item {item.name} is left")
        return OfItem(state, item, place)
    kinds = [one.kind for one in state.slots]
    kind = place.slot or ("gdp" if "gdp" in kinds else kinds[0] if len(kinds) == 1 else None)
    slot = None if kind is None else state.slot(kind)
    if slot is None and place.slot is not None:
        raise InvalidInput.at("/slot", "is no slot of this ledger", allowed=", ".join(kinds) or "none: it has a plan")
    if slot is None:
        raise InvalidInput.at("/given", "has no Gaussian slot: name another slot of it, or an item of its plan")
    if not any(slot.free(part) > 0 for part in slot.capacity if part not in ("eta", "delta")):
        raise LedgerExhausted(f"nothing is left of the slot {slot.kind}")
    return OfSlot(state, slot, replace(place, slot=slot.kind))


def reserved(state: LedgerState, spec: Spec, place: ChargeTarget) -> Reservation:
    """Return the reservation that the ledger would make of this run, certified by the ledger's own rule.

    Raises:
        NoCertificate: the ledger rejects the run.
    """
    after = moves.reserve(state, TRIAL, spec=spec, item=place.item, slot=place.slot, eta=place.eta)
    return after.reservations[TRIAL]


@dataclass(frozen=True)
class OfSlot:
    """A slot."""

    state: LedgerState
    slot: Slot
    place: ChargeTarget

    def likely_epsilon(self, log_delta: float) -> float:
        """Return the ε of the pair of a slot of the free size."""
        left = {part: max(self.slot.free(part), Amount(0)) for part in self.slot.capacity}
        return slot_pair(replace(self.slot, capacity=left)).epsilon(log_delta).upper

    def log_delta(self, otherwise: float) -> float:
        """Return log of half the η that a run may take, at most `otherwise`; `otherwise` if the slot has no η."""
        if self.slot.kind != "gdp":
            return otherwise
        nothing = ChargeRequest(
            setting=self.state.setting, spec=Gaussian(noise_multiplier=1.0), count=1, eta=self.place.eta
        )
        return min(math.log(float(down(eta_of(nothing, self.slot) * SHARE_OF_DELTA))), otherwise)

    def missed(self, spec: Spec) -> float:
        """Return the excess from the price if prices are additive, and from the privacy profiles if they are not."""
        step, count = steps_of(spec)
        asked = ChargeRequest(setting=self.state.setting, spec=step, count=count, eta=self.place.eta)
        if self.slot.kind == "gdp" and mu_squared(asked) is None:
            left, free, eta = self.slot.remainder("mu_squared"), self.slot.free("mu_squared"), eta_of(asked, self.slot)
            if not may_be_composed(asked.parts):  # then its steps are charged one after another, which is dearer
                price_from_below, _ = quick_cost(asked.parts, remaining=left, eta=eta)
                if math.isinf(price_from_below):
                    return MISSES
                if price_from_below > 0.0:
                    return math.log(price_from_below / float(free))
            return shortfall(asked.parts, remaining=left, cost=down(free * KEPT), eta=eta)
        price = charge(asked, self.slot)
        if len(self.slot.capacity) > 1 and self.slot.kind == "rdp":
            return _tried(lambda: moves.reserve(self.state, TRIAL, spec=spec, slot="rdp"))
        ratios = [
            math.log(Fraction(amount) / Fraction(self.slot.free(part))) if self.slot.free(part) > 0 else math.inf
            for part, amount in price.parts.items()
            if amount > 0
        ]
        return max(ratios, default=-math.inf)


@dataclass(frozen=True)
class OfItem:
    """An item of the plan."""

    state: LedgerState
    item: PlanItem
    place: ChargeTarget

    def likely_epsilon(self, log_delta: float) -> float:
        """Return the ε of the item's free runs."""
        asked = ChargeRequest(setting=self.state.setting, spec=self.item.spec, count=self.item.free)
        return composed_pair(asked.parts, "default").epsilon(log_delta).upper

    def log_delta(self, otherwise: float) -> float:
        """Return the ledger's log δ: an item has no η."""
        return otherwise

    def missed(self, spec: Spec) -> float:
        """Return the log of the item's noise over the run's noise."""
        step, count = steps_of(spec)
        if count > self.item.free:  # no noise helps: the ledger says it in its words
            reserved(self.state, spec, self.place)
        wanted, present = noise_of(self.item.spec), noise_of(step)
        if wanted is None or present is None:
            return _tried(lambda: reserved(self.state, spec, self.place))
        alike = map_noise(spec, lambda _: wanted)
        if dominance_reason(steps_of(alike)[0], self.item.spec) is None:  # no noise helps
            reserved(self.state, alike, self.place)
        return math.log(wanted / present)


def _tried(move: Callable[[], object]) -> float:
    """Return a negative constant if a move is made, and a positive constant if the ledger rejects it."""
    try:
        move()
    except (LedgerExhausted, NotInPlan):
        return MISSES
    return -MISSES

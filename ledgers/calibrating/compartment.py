"""The slot or plan item of a ledger that is to pay for a run: whether the run fits, and how far it exceeds the rest."""

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
from epsilond.ledgers.mathematics.checks.composition import may_be_composed
from epsilond.ledgers.mathematics.checks.readiness import require_open
from epsilond.ledgers.mathematics.exchange import dominance_reason
from epsilond.ledgers.mathematics.invariant import slot_pair
from epsilond.ledgers.mathematics.residue import quick_cost, shortfall
from epsilond.ledgers.mathematics.searches.noise_multipliers import map_noise, noise_of
from epsilond.ledgers.mathematics.state import LedgerState, PlanItem, Reservation, Slot, SlotKind

TRIAL = "calibration"
"""Id of a reservation that is tried and never made."""
UNKNOWN_EXCESS = 1.0
"""Excess of a run that does not fit, if only the rejection is known; only its sign has a meaning."""
LARGEST_COST_SHARE = Amount("0.9995")
"""Largest cost of a run in the search, as a share of the free amount. The rest keeps profiles quick to compute."""
SHARE_OF_DELTA = Amount("0.5")  # share of the η of a run that its own δ may take, if the mechanism has one


@dataclass(frozen=True, kw_only=True)
class ChargeTarget:
    """The user's choice of the part of a ledger's privacy budget that is to pay for a run.

    A slot is a budget in one notion of privacy. An item of the plan is a mechanism with a number of runs. If neither is
    named, the Gaussian slot pays, or the only slot.

    Attributes:
        slot: kind of the slot; None without one.
        item: name of the item; None without one.
        eta: η, the δ that the run may add to the profile of a Gaussian slot; None means a share of the slot's η.
    """

    slot: SlotKind | None = None
    item: str | None = None
    eta: Amount | None = None


class Compartment(Protocol):
    """Interface of the part of a ledger's privacy budget that is to pay for a run: a slot, or an item of the plan.

    A slot is a budget in one notion of privacy. An item of the plan is a mechanism with a number of runs. A calibration
    searches for the least noise with which the part can pay.
    """

    @property
    def charge_target(self) -> ChargeTarget:
        """The slot or the item of the plan by its name, as a reservation states it."""

    def estimate_epsilon(self, log_delta: float) -> float:
        """Estimate the ε of a run that takes the whole remaining budget. The estimate is only the start of a search.

        Args:
            log_delta: natural logarithm of the δ at which ε is estimated.
        """

    def log_delta(self, target_log_delta: float) -> float:
        """Return the log δ for which a single run is calibrated.

        Noise of bounded support has no finite ε at small δ, so the budget must be able to pay for this δ.

        Args:
            target_log_delta: log δ of the ledger's whole budget.
        """

    def excess(self, spec: Spec) -> float:
        """Return by how much a run exceeds the remaining budget.

        Args:
            spec: description of the run: a mechanism, with the number of its steps.

        Returns:
            A number above 0 if it does, otherwise at most 0. It is roughly log(cost / remaining budget). The cost is
            the privacy loss of the run in the notion of the budget, such as ρ of zCDP.

        Raises:
            NoCertificate: no theorem gives such a cost for the mechanism.
        """


def compartment_of(state: LedgerState, charge_target: ChargeTarget) -> Compartment:
    """Return the part of an open ledger's budget that is to pay for a run, after checking that something is left of it.

    It is a slot, a budget in one notion of privacy, or an item of the plan, a mechanism with a number of runs.

    Args:
        state: state of the ledger.
        charge_target: the slot or item that the caller chose. If it names neither, the Gaussian slot or the only slot
            is taken.

    Returns:
        The slot or the item, together with the ledger's state.

    Raises:
        InvalidInput: the ledger has no such slot, or a slot and an item are named. Also if none is named, and the
            ledger does not have exactly one slot or a Gaussian one.
        NotInPlan: the plan has no such item.
        LedgerExhausted: nothing is left of the slot or the item.
        LedgerClosed, NotSealed: the ledger takes no reservations at present.
    """
    require_open(state)
    if charge_target.slot is not None and charge_target.item is not None:
        raise InvalidInput.at("/slot", "give an item of the plan or a slot, not both")
    if charge_target.item is not None:
        return _item_compartment(state, charge_target.item, charge_target)
    slot = _choose_slot(state, charge_target.slot)
    # η or δ alone cannot pay for a run.
    main_parts = [part for part in slot.capacity if part not in ("eta", "delta")]
    if not any(slot.free(part) > 0 for part in main_parts):
        raise LedgerExhausted(f"nothing is left of the slot {slot.kind}")
    return OfSlot(state, slot, replace(charge_target, slot=slot.kind))


def _item_compartment(state: LedgerState, name: str, charge_target: ChargeTarget) -> OfItem:
    """Return an item of a ledger's plan, which must have free runs, as the part of the budget that pays.

    An item is a mechanism with a number of planned runs. A run is free if it is neither reserved nor committed.

    Args:
        state: state of the ledger.
        name: name of the item.
        charge_target: the caller's choice, which names this item.

    Returns:
        The item, together with the ledger's state and the caller's choice.

    Raises:
        NotInPlan: the plan has no item of this name.
        LedgerExhausted: no run of the item is left.
    """
    item = state.item(name)
    if item is None:
        names = ", ".join(planned.name for planned in state.plan) or "none"
        raise NotInPlan(f"The plan has no item of this name. It has: {names}.")
    if not item.free:
        raise LedgerExhausted(f"no run of the plan's item {item.name} is left")
    return OfItem(state, item, charge_target)


def _choose_slot(state: LedgerState, kind: SlotKind | None) -> Slot:
    """Return a ledger's slot (a budget in one notion of privacy) of a given kind, or the default slot.

    Args:
        state: state of the ledger.
        kind: kind of the slot, such as "gdp" for the Gaussian slot; None for the Gaussian slot, or otherwise the only
            slot.

    Returns:
        The slot, with its capacity and its used and reserved amounts.

    Raises:
        InvalidInput: the ledger has no such slot.
    """
    if kind is not None:
        slot = state.slot(kind)
        if slot is None:
            kinds = ", ".join(present.kind for present in state.slots)
            allowed = kinds or "none: it has a plan"
            raise InvalidInput.at("/slot", "is not a slot of this ledger", allowed=allowed)
        return slot

    slot = state.slot("gdp")
    if slot is None and len(state.slots) == 1:
        (slot,) = state.slots
    if slot is None:
        raise InvalidInput.at("/given", "has no Gaussian slot: name another slot of it, or an item of its plan")
    return slot


def reserve_trial(state: LedgerState, spec: Spec, charge_target: ChargeTarget) -> Reservation:
    """Return the reservation that a ledger would make for a run, without changing the ledger.

    Args:
        state: the ledger.
        spec: mechanism of the run.
        charge_target: the slot (a budget) or planned item that pays.

    Returns:
        The trial reservation, with its number of runs and the amounts that it would hold.

    Raises:
        NoCertificate: the ledger rejects the run.
    """
    after = moves.reserve(
        state, TRIAL, spec=spec, item=charge_target.item, slot=charge_target.slot, eta=charge_target.eta
    )
    return after.reservations[TRIAL]


@dataclass(frozen=True)
class OfSlot:
    """Slot of a ledger, a privacy budget in one notion of privacy, that is to pay for a run.

    Attributes:
        state: the ledger.
        slot: the slot.
        charge_target: request that this slot pays, with the η that the run may add.
    """

    state: LedgerState
    slot: Slot
    charge_target: ChargeTarget

    def estimate_epsilon(self, log_delta: float) -> float:
        """Return an upper bound on ε of everything that the free amounts of the slot may pay for.

        Args:
            log_delta: natural logarithm of the δ at which ε holds.
        """
        free_amounts = {part: max(self.slot.free(part), Amount(0)) for part in self.slot.capacity}
        remaining_slot = replace(self.slot, capacity=free_amounts)
        return slot_pair(remaining_slot).epsilon(log_delta).upper

    def log_delta(self, target_log_delta: float) -> float:
        """Return log δ of the target for which noise of bounded support is calibrated.

        Such noise has infinite privacy losses with a small probability. A Gaussian slot, a budget in μ², has a budget η
        of probabilities for them.

        Args:
            target_log_delta: log δ of the ledger's target, which is returned if the slot has no η.

        Returns:
            The log of half the η that a run may take, and at most `target_log_delta`.
        """
        if self.slot.kind != "gdp":
            return target_log_delta
        # The η of a run does not depend on the mechanism, so the request may have any.
        any_spec = Gaussian(noise_multiplier=1.0)
        request = ChargeRequest(setting=self.state.setting, spec=any_spec, count=1, eta=self.charge_target.eta)
        own_delta = down(eta_of(request, self.slot) * SHARE_OF_DELTA)
        return min(math.log(float(own_delta)), target_log_delta)

    def excess(self, spec: Spec) -> float:
        """Return by how much a run exceeds the slot, a budget in one notion of privacy; at most 0 if it fits.

        Args:
            spec: description of the run: a mechanism, with the number of its steps.

        Returns:
            The largest log(charge / free amount) over the amounts of the slot, such as ρ and δ; −∞ if the run costs
            nothing. There are two exceptions. A mechanism without a μ of Gaussian differential privacy may still be
            charged to a Gaussian slot; the number is then an estimate from privacy profiles. In a slot with several
            orders of Rényi divergences, the number only has the correct sign.
        """
        step, count = steps_of(spec)
        request = ChargeRequest(setting=self.state.setting, spec=step, count=count, eta=self.charge_target.eta)
        if self.slot.kind == "gdp" and mu_squared(request) is None:
            return self._residue_excess(request)
        price = charge(request, self.slot)
        if self.slot.kind == "rdp" and len(self.slot.capacity) > 1:
            return _sign_of_excess(lambda: moves.reserve(self.state, TRIAL, spec=spec, slot="rdp"))
        log_shares = [self._log_share(part, amount) for part, amount in price.parts.items()]
        return max(log_shares, default=-math.inf)

    def _log_share(self, part: str, amount: Amount) -> float:
        """Return log(cost / free amount) of a run in one part of the slot, such as ρ or δ.

        Args:
            part: name of the part.
            amount: cost of the run in this part, at least 0.

        Returns:
            −∞ if the cost is 0, which always fits. Otherwise ∞ if nothing is free. The run fits if the value is at most
            0.
        """
        free = self.slot.free(part)
        if amount <= 0:
            return -math.inf
        if free <= 0:
            return math.inf
        return math.log(Fraction(amount) / Fraction(free))

    def _residue_excess(self, request: ChargeRequest) -> float:
        """Estimate by how much a run that is not Gaussian exceeds the free μ² of a Gaussian slot.

        All steps of the run are charged together. Their cost is a μ² that is subtracted from the slot's. The remaining
        Gaussian budget and the run together may exceed the former privacy profile by at most η, a δ. The run may fit
        if the estimate is at most 0.

        Args:
            request: the run with its number of steps, and the η that its charge may use.

        Returns:
            The log of cost / free μ², if a lower estimate of the cost is quick to compute; `UNKNOWN_EXCESS` if this
            estimate is infinite. Otherwise a measure of how much the run's profile exceeds the available one.
        """
        remaining = self.slot.remainder("mu_squared")
        free = self.slot.free("mu_squared")
        eta = eta_of(request, self.slot)
        # Steps that cannot be composed are charged one by one. Then a lower estimate of the cost is quick.
        if not may_be_composed(request.parts):
            cost_from_below, _ = quick_cost(request.parts, remaining=remaining, eta=eta)
            if math.isinf(cost_from_below):
                return UNKNOWN_EXCESS
            if cost_from_below > 0.0:
                return math.log(cost_from_below / float(free))

        largest_cost = down(free * LARGEST_COST_SHARE)
        return shortfall(request.parts, remaining=remaining, cost=largest_cost, eta=eta)


@dataclass(frozen=True)
class OfItem:
    """Item of a ledger's plan, a mechanism with a number of planned runs, that is to pay for a run.

    Attributes:
        state: the ledger.
        item: the item, of which runs are free.
        charge_target: request that this item pays.
    """

    state: LedgerState
    item: PlanItem
    charge_target: ChargeTarget

    def estimate_epsilon(self, log_delta: float) -> float:
        """Return an upper bound on ε of all free runs of the item together.

        Args:
            log_delta: natural logarithm of the δ at which ε holds.
        """
        request = ChargeRequest(setting=self.state.setting, spec=self.item.spec, count=self.item.free)
        return composed_pair(request.parts, "default").epsilon(log_delta).upper

    def log_delta(self, target_log_delta: float) -> float:
        """Return log δ of the ledger's target, because an item of the plan has no δ of its own.

        Args:
            target_log_delta: log δ of the ledger's target, natural logarithm.
        """
        return target_log_delta

    def excess(self, spec: Spec) -> float:
        """Return by how much the noise of a run is below that of the planned mechanism; at most 0 if the run fits.

        The ledger's plan has items, each with a mechanism and a number of runs. A run fits an item if its mechanism
        loses no more privacy than the planned one, and enough runs are left.

        Args:
            spec: description of the run: a mechanism, with the number of its steps.

        Returns:
            log(planned noise multiplier / that of the run). If a mechanism has no single noise multiplier, only the
            sign of the result has a meaning.

        Raises:
            NoCertificate: no noise makes the run fit, because it has too many steps or is of another kind than the
                planned mechanism.
        """
        # More noise does not help a run with too many steps. The trial raises the ledger's own error.
        step, count = steps_of(spec)
        if count > self.item.free:
            reserve_trial(self.state, spec, self.charge_target)

        # Without a single noise multiplier, only a trial shows whether the run fits.
        planned_noise = noise_of(self.item.spec)
        run_noise = noise_of(step)
        if planned_noise is None or run_noise is None:
            return _sign_of_excess(lambda: reserve_trial(self.state, spec, self.charge_target))

        # More noise does not help a run of another kind, either.
        with_planned_noise = map_noise(spec, lambda _: planned_noise)
        step_with_planned_noise, _ = steps_of(with_planned_noise)
        if dominance_reason(step_with_planned_noise, self.item.spec) is None:
            reserve_trial(self.state, with_planned_noise, self.charge_target)
        return math.log(planned_noise / run_noise)


def _sign_of_excess(move: Callable[[], object]) -> float:
    """Find by a trial reservation whether a run exceeds the budget that is left, but not by how much.

    Args:
        move: function that reserves the run in a copy of the ledger.

    Returns:
        The positive number `UNKNOWN_EXCESS` if the run is rejected because too little is left; its negative if it fits.
    """
    try:
        move()
    except (LedgerExhausted, NotInPlan):
        return UNKNOWN_EXCESS
    return -UNKNOWN_EXCESS

"""The invariant of a ledger: everything that it allows is within its target, certified once, at its opening.

δ of all planned mechanisms and full slots at ε*, plus every η and δ that slots may add, must be at most δ*, in both
directions (docs/ledger.md, "Compartments"). To check a later state again would not be valid ("Rules that are false").
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.errors import Infeasible
from epsilond.accountants.kinds.declared.approximate import approximate_pair
from epsilond.accountants.numerics.outward import sum_up
from epsilond.accountants.profiles.concentrated import concentrated_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.powers import powers_pair
from epsilond.accountants.verdict import Verdict
from epsilond.ledgers.mathematics.amounts import ZERO, Amount, down, float_above, float_below, less, root_above, total
from epsilond.ledgers.mathematics.charges.request import ChargeRequest
from epsilond.ledgers.mathematics.mixture import log_coefficients
from epsilond.ledgers.mathematics.searches.capacity import estimate_capacity, root_near
from epsilond.ledgers.mathematics.targets.risks import is_implied, remaining_risk, risk_excess, risk_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.rule import Effort
    from epsilond.accountants.target import RiskTarget
    from epsilond.ledgers.mathematics.state import LedgerState, PlanItem, Slot

# Name of the part whose largest capacity is searched, by kind of slot. All orders of a Rényi slot get the same.
_SEARCHED = {"gdp": "mu_squared", "zcdp": "rho", "pure": "epsilon"}
_MORE = 1.0 + 1e-9  # factor on a proposed risk, so that rounding does not reject it again


@dataclass(frozen=True)
class Opening:
    """Certificate that a ledger stays within its target (ε*, δ*), even if it is used up completely.

    Slots are parts of the budget for mechanisms outside the plan. They may add a δ to the composed privacy profile.

    Attributes:
        log_delta: upper bound on log δ at ε* of all planned runs and full slots, with the δ that slots add.
        epsilon: upper bound on ε of all planned runs and full slots, in nats, at δ* minus the δ that slots add; at most
            ε*.
    """

    log_delta: float
    epsilon: float


def opening(state: LedgerState) -> Opening:
    """Certify that a ledger never exceeds its target (ε*, δ*), even if everything that it allows is run.

    The condition is:

        δ(ε*) ≤ δ* − Σ η,

    where δ(ε) is the privacy profile of all planned runs composed with all full slots, which are budgets for other
    runs. Σ η is the δ that slots may add to it. A risk as the target, such as an attacker's advantage, is compared in
    the same way.

    Args:
        state: the ledger with its target, its plan and its slots. Used and reserved amounts do not count.

    Returns:
        Upper bounds: log δ at ε*, and ε at the δ that δ* leaves after the δ of the slots.

    Raises:
        Infeasible: the target is exceeded. `nearest` has the smallest ε or risk that could be the target instead.
        ConditionViolated: no theorem covers a mechanism of the plan under the ledger's setting.
    """
    pair = product(state)
    target = state.target
    log_allowed = _log_allowed(state)
    log_delta = pair.log_delta_bounds(target.epsilon).upper
    if target.risk is not None:
        _require_risk(state, pair, target.risk)
        # The risk implies (ε*, δ*). So log δ at ε* is at most the allowed value, even if the computed bound is larger.
        log_delta = min(log_delta, log_allowed)
    elif not log_delta <= log_allowed:
        raise _exceeds_target(pair, log_delta, log_allowed)
    epsilon = min(pair.epsilon(log_allowed).upper, target.epsilon)
    return Opening(log_delta=_with_added(log_delta, state), epsilon=epsilon)


def _require_risk(state: LedgerState, pair: Pair, risk: RiskTarget) -> None:
    """Certify that everything that a ledger allows stays within a risk, such as an attacker's advantage.

    Args:
        state: the ledger. The risk must imply its (ε*, δ*).
        pair: dominating pair of everything that the ledger allows, without the δ that slots (parts of its budget) add.
        risk: the ledger's target.

    Raises:
        Infeasible: the risk is exceeded, or does not imply (ε*, δ*). `nearest` has the smallest possible target, if
            any.
    """
    if not is_implied(state.target):
        raise Infeasible(f"The target {risk.kind} does not imply the ε and δ that the ledger states.")
    # The δ that slots add is subtracted from the permitted risk.
    composed_risk = risk_figure(risk, pair, _plan_pairs(state), state.slots)
    added_delta = slots_delta(state)
    if risk_excess(composed_risk, remaining_risk(risk, added_delta)) <= 0.0:
        return

    total_risk = math.inf
    if math.isfinite(composed_risk):
        total_risk = sum_up((composed_risk, float_above(added_delta)))
    condition = ConditionResult(
        "epsilond.ledger-invariant",
        f"{risk.kind} of everything that the ledger allows is at most its target",
        Verdict.NO,
        total_risk,
        risk.bound,
    )
    # The error proposes a target slightly above the total risk, if such a target is possible.
    nearest: dict[str, float] = {}
    if total_risk < math.inf and (state.target.admits_delta or added_delta <= 0):
        nearest[risk.kind] = total_risk * _MORE
    raise Infeasible("The plan and the slots have a larger risk together than the target allows.", condition, nearest)


def _exceeds_target(pair: Pair, log_delta: float, log_allowed: float) -> Infeasible:
    """Return the error that a ledger exceeds its target (ε, δ), with the smallest ε that would be possible.

    Args:
        pair: dominating pair of everything that the ledger allows, without the δ that slots add.
        log_delta: upper bound on log δ of the pair at the target's ε.
        log_allowed: log of the δ that the target allows the pair; −∞ if slots may add all of the target's δ.

    Returns:
        The error, which the caller raises. `nearest` has the ε, if one is finite.
    """
    nearest: dict[str, float] = {}
    if log_allowed > -math.inf:
        smallest_epsilon = pair.epsilon(log_allowed).upper
        if math.isfinite(smallest_epsilon):
            nearest["epsilon"] = smallest_epsilon
    condition = ConditionResult(
        "epsilond.ledger-invariant",
        "δ of everything that the ledger allows, at its ε, is at most its δ less what its slots may add",
        Verdict.NO,
        math.exp(log_delta),
        math.exp(log_allowed),
    )
    message = "The plan and the slots lose more together than the target allows."
    return Infeasible(message, condition, nearest)


def largest(state: LedgerState, kind: str) -> Slot:
    """Find the largest capacity of a slot (a part of the budget) with which a ledger stays within its target.

    The planned runs and the other slots remain as they are. The search uses rough bounds on δ first, and tight ones
    near the result.

    Args:
        state: the ledger, which has a slot of this kind with any capacity.
        kind: kind of the slot.

    Returns:
        The slot. Its capacity is rounded down and certified.

    Raises:
        Infeasible: no capacity is left for the slot.
    """
    slot = state.slot(kind)
    assert slot is not None  # required of the caller
    part = _SEARCHED.get(kind, "")
    rest = state.without_slot(kind)
    other_pairs = _all_pairs(rest)
    log_allowed = _log_allowed(state)

    @cache
    def excess(capacity: float, effort: Effort) -> float:
        """Return log δ of the ledger with this capacity minus the allowed log δ, which increases with the capacity."""
        trial = _with_capacity(slot, part, capacity)
        pair = composed_pair([*other_pairs, (slot_pair(trial), 1)], effort)
        return _excess(state.with_slot(trial), pair, log_allowed)

    capacity = 0.0
    if _leaves_room(rest, other_pairs, log_allowed):
        estimate = estimate_capacity(partial(excess, effort="coarse"))
        capacity = root_near(partial(excess, effort="default"), estimate)
    if down(capacity) <= 0:
        raise Infeasible(f"Nothing is left for the slot {kind}: the rest of the ledger takes all of the target.")
    return _with_capacity(slot, part, capacity)


def _excess(state: LedgerState, pair: Pair, log_allowed: float) -> float:
    """Return by how much a ledger (a privacy budget) exceeds its target. At most 0 proves that it does not.

    Args:
        state: the ledger.
        pair: dominating pair of the composition of all planned runs and of its slots (budgets for other runs).
        log_allowed: log of the δ that this pair may have at the target's ε*.

    Returns:
        log δ(ε*) minus the allowed log δ. If the target is a risk, log risk minus the log of the permitted risk.
    """
    risk = state.target.risk
    if risk is None:
        return pair.upper_log_delta(state.target.epsilon) - log_allowed
    composed_risk = risk_figure(risk, pair, _plan_pairs(state), state.slots)
    return risk_excess(composed_risk, remaining_risk(risk, slots_delta(state)))


def _leaves_room(rest: LedgerState, pairs: Sequence[tuple[Pair, int]], log_allowed: float) -> bool:
    """Return whether a ledger without one of its slots (parts of the budget) is certified to be within its target.

    Args:
        rest: the ledger without the slot.
        pairs: dominating pairs of the rest, each with its number of runs.
        log_allowed: log of the δ that the rest may have at the target's ε; −∞ if it is 0. The δ that the slot may add
            is subtracted already.

    Returns:
        True if the composed pairs have at most that δ, or the permitted risk if a risk is the target.
    """
    if math.isinf(log_allowed):
        return False
    if not pairs:
        return True
    return _excess(rest, composed_pair(pairs, "default"), log_allowed) <= 0.0


def product(state: LedgerState) -> Pair:
    """Return a dominating pair of all planned runs of a ledger, composed with all its full slots.

    The δ that slots (budgets for mechanisms outside the plan) add is not included.

    Args:
        state: the ledger.

    Returns:
        A pair of distributions. Its hockey-stick divergence is at least δ of everything that is allowed, at every ε.
    """
    return composed_pair(_all_pairs(state), "default")


def plan_pair(state: LedgerState) -> Pair | None:
    """Return the dominating pair of all planned runs of a ledger, without its slots, which are for other mechanisms.

    Args:
        state: the ledger.

    Returns:
        The pair. Its hockey-stick divergence is at least δ of the runs at every ε. None if no run is planned.
    """
    pairs = _plan_pairs(state)
    if not pairs:
        return None
    return composed_pair(pairs, "default")


def _all_pairs(state: LedgerState) -> list[tuple[Pair, int]]:
    """Return the dominating pairs of everything that a ledger allows, each with its number of runs.

    Args:
        state: the ledger.

    Returns:
        The pairs of all planned runs, then one pair for each slot (part of the budget) as if it were used up.
    """
    pairs_of_slots = [(slot_pair(slot), 1) for slot in state.slots]
    return _plan_pairs(state) + pairs_of_slots


def _plan_pairs(state: LedgerState) -> list[tuple[Pair, int]]:
    """Return the dominating pairs of all planned runs of a ledger, each with its number of runs.

    Items of the plan with a `job` are left out. They were added for runs that a slot, another part of the budget, has
    paid for.

    Args:
        state: the ledger.

    Returns:
        Pairs (dominating pair, number of runs), in the order of the plan.
    """
    pairs: list[tuple[Pair, int]] = []
    for item in state.plan:
        if item.job is None and item.planned:
            pairs += item_pairs(item, state)
    return pairs


def item_pairs(item: PlanItem, state: LedgerState) -> Sequence[tuple[Pair, int]]:
    """Return the dominating pairs of all planned runs of one item of a ledger's plan.

    Args:
        item: the item, a mechanism with its number of planned runs.
        state: the ledger, with the neighbouring relation, the protected unit and the observer of the guarantee.

    Returns:
        Pairs (dominating pair, number of runs), one for each part of the mechanism.
    """
    return ChargeRequest(setting=state.setting, spec=item.spec, count=item.planned).parts


def slot_pair(slot: Slot) -> Pair:
    """Return the dominating pair of everything that a full slot may pay for.

    A slot is a part of the privacy budget: a μ² (gdp), a ρ (zcdp), an ε (pure), or Rényi divergences (rdp). The δ or η
    that it may add to the composed privacy profile is not in the pair.

    Args:
        slot: the slot, of which the whole capacity counts.

    Returns:
        The pair. Its hockey-stick divergence bounds δ, at every ε, of all that the slot pays for.
    """
    if slot.kind == "gdp":
        return gaussian_pair(root_above(slot.capacity["mu_squared"]))
    if slot.kind == "zcdp":
        return concentrated_pair(float_above(slot.capacity["rho"]))
    if slot.kind == "pure":
        return approximate_pair(float_above(slot.capacity["epsilon"]), 0.0)
    return powers_pair(slot.orders, log_coefficients(slot))


def _with_capacity(slot: Slot, part: str, capacity: float) -> Slot:
    """Return a slot, a part of the privacy budget, with another capacity in one of its amounts.

    Args:
        slot: the slot.
        part: name of the amount, such as `rho`. It is ignored for a Rényi slot: all its orders get the capacity.
        capacity: the new capacity. It is rounded down to 18 decimal places.

    Returns:
        A copy of the slot with the new capacity.
    """
    amount = down(capacity)
    if slot.kind == "rdp":
        return replace(slot, capacity=dict.fromkeys(slot.capacity, amount))
    return replace(slot, capacity={**slot.capacity, part: amount})


def slots_delta(state: LedgerState) -> Amount:
    """Return the δ that all slots of a ledger together may add to the composed privacy profile.

    A slot, a part of the privacy budget, adds its part `eta` or `delta`. A Rényi slot has neither and adds nothing.

    Args:
        state: the ledger.

    Returns:
        The exact sum over all slots, used or not.
    """
    added_deltas: list[Amount] = []
    for slot in state.slots:
        added_deltas += [slot.capacity.get(part, ZERO) for part in ("eta", "delta")]
    return total(*added_deltas)


def _log_allowed(state: LedgerState) -> float:
    """Return the logarithm of the δ that is left for the composed mechanisms of a ledger.

    It is δ* of the ledger's target, minus the δ that slots (parts of the budget) may add.

    Args:
        state: the ledger.

    Returns:
        The logarithm, rounded down; −∞ if nothing is left.
    """
    added_delta = slots_delta(state)
    remaining_delta = less(state.target.delta, added_delta)
    if added_delta <= 0:
        log_remaining = state.target.log_delta  # amounts have 18 decimal places, so a tiny δ* would be 0
    elif remaining_delta > 0:
        log_remaining = math.log(float_below(remaining_delta))
    else:
        return -math.inf
    rounding_error = 1e-15 * (1.0 + abs(log_remaining))  # more than the error of the logarithm
    return log_remaining - rounding_error


def _with_added(log_delta: float, state: LedgerState) -> float:
    """Return an upper bound on log δ of a whole ledger: its mechanisms, and the δ that its slots (budgets) may add.

    Args:
        log_delta: log δ of the composed mechanisms at the target's ε*. With the added δ it is known to be at most δ*.
        state: the ledger.

    Returns:
        The upper bound, at most log δ* of the target.
    """
    added_delta = slots_delta(state)
    if added_delta <= 0:
        return log_delta
    delta = math.exp(log_delta) + float_above(added_delta)
    rounding_error = 1e-14  # more than the error of the sum and of the logarithm
    return min(math.log(delta) + rounding_error, state.target.log_delta)

"""The invariant of a ledger: everything that it allows is within its target, certified once, at its opening.

The privacy profiles of all planned mechanisms and of all full slots are composed. A full Gaussian slot has the profile
of one Gaussian mechanism with its whole μ². The δ of the composition at ε*, plus every η and δ that slots may add, must
be at most δ*, in both directions (docs/ledger.md, "Compartments"). No later state is checked against the target again:
that would not be valid (docs/ledger.md, "Rules that are false").
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
from epsilond.accountants.numerics.root_search import brent_root
from epsilond.accountants.profiles.concentrated import concentrated_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.powers import powers_pair
from epsilond.accountants.verdict import Verdict
from epsilond.ledgers.mathematics.amounts import ZERO, Amount, down, float_above, float_below, less, root_above, total
from epsilond.ledgers.mathematics.charges.request import ChargeRequest
from epsilond.ledgers.mathematics.mixture import log_coefficients
from epsilond.ledgers.mathematics.targets.risks import is_implied, remaining_risk, risk_excess, risk_figure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.rule import Effort
    from epsilond.accountants.target import RiskTarget
    from epsilond.ledgers.mathematics.state import LedgerState, PlanItem, Slot

_SEARCHED = {"gdp": "mu_squared", "zcdp": "rho", "pure": "epsilon"}
"""Name of the part whose largest capacity is searched, by kind of slot. All orders of a Rényi slot get the same."""
_SMALLEST = 1e-15
"""Capacity at or below which nothing is left for a slot, in the unit of its part."""
_TOLERANCE = 1e-9
"""Relative tolerance of the search for the largest capacity; the remainder of the target is lost to the slot."""
_MORE = 1.0 + 1e-9
"""Factor by which a proposed risk exceeds the smallest possible target, so that rounding does not reject it again."""
_ESTIMATED = 1e-4
"""Relative tolerance of the first search. Its rough bounds on δ have errors of this size; the root is certified later.
"""


@dataclass(frozen=True)
class Opening:
    """Certificate that a ledger stays within its target (ε*, δ*), even if it is used up completely."""

    log_delta: float
    """Upper bound on log δ at ε* of all planned runs and full slots, including the δ that slots may add."""
    epsilon: float
    """Upper bound on ε at δ* of all planned runs and full slots, in nats; at most ε*."""


def opening(state: LedgerState) -> Opening:
    """Certify that a ledger never exceeds its target (ε*, δ*), even if everything that it allows is run.

    A ledger allows the planned runs, and other runs that its slots pay for. A slot is a part of the privacy budget. The
    condition is δ(ε*) ≤ δ* − Σ η. Here δ(ε) is the privacy profile of all planned runs composed with all full slots. Σ
    η is the δ that slots may add to it. A risk as the target, such as an attacker's advantage, is compared in the same
    way.

    Returns:
        Upper bounds: log δ at ε*, and ε at the δ that δ* leaves after the δ of the slots.

    Raises:
        Infeasible: the target is exceeded. `nearest` has the smallest ε, or the smallest risk, that could be the target
            instead.
        ConditionViolated: no theorem covers a mechanism of the plan under the ledger's setting.
    """
    pair, target = product(state), state.target
    log_allowed = _log_allowed(state)
    log_delta = pair.log_delta_bounds(target.epsilon).upper
    if target.risk is not None:
        _require_risk(state, pair, target.risk)
        log_delta = min(log_delta, log_allowed)  # a larger bound is less close than the (ε*, δ*) that the risk implies
    elif not log_delta <= log_allowed:
        raise _exceeds_target(pair, log_delta, log_allowed)
    epsilon = min(pair.epsilon(log_allowed).upper, target.epsilon)
    return Opening(log_delta=_with_added(log_delta, state), epsilon=epsilon)


def _require_risk(state: LedgerState, pair: Pair, risk: RiskTarget) -> None:
    """Certify that everything which a ledger allows stays within a risk, such as an attacker's advantage.

    A ledger allows its planned runs, and the runs that its full slots (parts of the budget) pay for. The risk must
    imply the ledger's (ε*, δ*).

    Args:
        state: the ledger.
        pair: dominating pair of everything that the ledger allows, without the δ that slots add.
        risk: the ledger's target.

    Raises:
        Infeasible: the risk is exceeded, or does not imply (ε*, δ*). `nearest` has the smallest risk that could be the
            target, if any.
    """
    if not is_implied(state.target):
        raise Infeasible(f"The target {risk.kind} does not imply the ε and δ that the ledger states.")
    figure = risk_figure(risk, pair, _of_plan(state), state.slots)
    added = slots_delta(state)
    if risk_excess(figure, remaining_risk(risk, added)) <= 0.0:
        return
    total_figure = sum_up((figure, float_above(added))) if math.isfinite(figure) else math.inf
    condition = ConditionResult(
        "epsilond.ledger-invariant",
        f"{risk.kind} of everything that the ledger allows is at most its target",
        Verdict.NO,
        total_figure,
        risk.bound,
    )
    is_possible = total_figure < math.inf and (state.target.admits_delta or added <= 0)
    nearest: dict[str, float] = {risk.kind: total_figure * _MORE} if is_possible else {}
    raise Infeasible("The plan and the slots have a larger risk together than the target allows.", condition, nearest)


def _exceeds_target(pair: Pair, log_delta: float, log_allowed: float) -> Infeasible:
    """Return the error that a ledger exceeds its target (ε, δ), with the smallest ε that could be the target instead.

    No ε is proposed if none is finite.

    Args:
        pair: dominating pair of everything that the ledger allows, without the δ that slots add.
        log_delta: upper bound on log δ of the pair at the target's ε.
        log_allowed: log of the δ that the target allows the pair; −∞ if slots may add all of the target's δ.
    """
    nearest = pair.epsilon(log_allowed).upper if log_allowed > -math.inf else math.inf
    condition = ConditionResult(
        "epsilond.ledger-invariant",
        "δ of everything that the ledger allows, at its ε, is at most its δ less what its slots may add",
        Verdict.NO,
        math.exp(log_delta),
        math.exp(log_allowed),
    )
    message = "The plan and the slots lose more together than the target allows."
    return Infeasible(message, condition, {"epsilon": nearest} if math.isfinite(nearest) else {})


def largest(state: LedgerState, kind: str) -> Slot:
    """Find the largest capacity of a slot, a part of the privacy budget, with which a ledger stays within its target.

    The ledger's planned runs and its other slots remain as they are. The search uses rough bounds on δ first, and
    certified bounds near the result.

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
    other_pairs, log_allowed = _pairs(state.without_slot(kind)), _log_allowed(state)

    @cache
    def excess(capacity: float, effort: Effort) -> float:
        """Return log δ of the ledger with this capacity, less the allowed log δ; a larger capacity gives more."""
        trial = _with_capacity(slot, part, capacity)
        pair = composed_pair([*other_pairs, (slot_pair(trial), 1)], effort)
        return _excess(state.with_slot(trial), pair, log_allowed)

    capacity = 0.0
    if _leaves_room(state.without_slot(kind), other_pairs, log_allowed):
        estimate = _estimate_capacity(partial(excess, effort="coarse"))
        capacity = _root_near(partial(excess, effort="default"), estimate)
    if down(capacity) <= 0:
        raise Infeasible(f"Nothing is left for the slot {kind}: the rest of the ledger takes all of the target.")
    return _with_capacity(slot, part, capacity)


def _excess(state: LedgerState, pair: Pair, log_allowed: float) -> float:
    """Return by how much a ledger exceeds its target: at most 0 if and only if it is certified to be within it.

    The number is a difference of logarithms: of δ, or of the risk that is the target.

    Args:
        state: the ledger.
        pair: dominating pair of everything that the ledger allows: all planned runs and full slots.
        log_allowed: log of the δ that this pair may have at the target's ε.
    """
    risk = state.target.risk
    if risk is None:
        return pair.upper_log_delta(state.target.epsilon) - log_allowed
    figure = risk_figure(risk, pair, _of_plan(state), state.slots)
    return risk_excess(figure, remaining_risk(risk, slots_delta(state)))


def _leaves_room(rest: LedgerState, pairs: Sequence[tuple[Pair, int]], log_allowed: float) -> bool:
    """Return whether a ledger without one of its slots is within the target, so that the slot can have some capacity.

    Args:
        rest: the ledger without the slot (a part of the privacy budget).
        pairs: dominating pairs of the rest, each with its number of runs.
        log_allowed: log of the δ that the rest may have at ε. The δ of the requested slot is subtracted already.
    """
    if math.isinf(log_allowed):
        return False
    if not pairs:
        return True
    return _excess(rest, composed_pair(pairs, "default"), log_allowed) <= 0.0


def _estimate_capacity(excess: Callable[[float], float]) -> float:
    """Estimate the capacity at which a ledger just reaches its target, within the relative tolerance `_ESTIMATED`.

    Args:
        excess: increasing function of the capacity; at most 0 if and only if the ledger is within its target.

    Returns:
        The capacity. If the root is below 1e-15, a number between it and 1e-15.
    """
    low, high = 0.0, 0.25  # a capacity that many ledgers have; the bracket grows and shrinks quickly from there
    while excess(high) <= 0.0:
        low, high = high, 8.0 * high
    while low == 0.0 and high > _SMALLEST:
        smaller = high / 64.0
        if excess(smaller) <= 0.0:
            low = smaller
        else:
            high = smaller
    if low == 0.0:
        return high
    if excess(low) == 0.0:
        return low
    return brent_root(excess, low, high, absolute=1e-300, relative=_ESTIMATED)  # in effect only relative


def _root_near(excess: Callable[[float], float], estimate: float) -> float:
    """Find the root of an increasing function, and return a number near it at which the function is at most 0.

    Args:
        excess: the function. It is an upper bound: rounding may make it too large, never too small.
        estimate: initial estimate of the root, above 0.

    Returns:
        The number: within a relative tolerance of 1e-9 of a root if the function is smooth. Otherwise the function's
        jumps limit the accuracy. It is 0 if no number above 1e-15 is found.
    """
    low, high = _bracket_root(excess, estimate)
    low_excess = excess(low)
    if low <= _SMALLEST and low_excess > 0.0:
        return 0.0
    root = low if low_excess == 0.0 else brent_root(excess, low, high, absolute=1e-300, relative=_TOLERANCE)
    margin = _TOLERANCE
    while excess(root) > 0.0:  # the root search may end just above the root
        root = max(root * (1.0 - margin), low)
        margin *= 4.0
    return root


def _bracket_root(excess: Callable[[float], float], estimate: float) -> tuple[float, float]:
    """Return two numbers around the root of an increasing function, the first with a value of at most 0.

    The bracket begins next to the estimate, with a relative width that grows by a factor of 8 in each step.

    Args:
        excess: the function.
        estimate: initial estimate of the root, above 0.

    Returns:
        The bracket. If the root is below 1e-15, the first number is at most 1e-15 and may have a positive value.
    """
    low = high = estimate
    width = 4.0 * _ESTIMATED
    while excess(high) <= 0.0:
        low, high = high, high * (1.0 + width)
        width *= 8.0
    while low > _SMALLEST and excess(low) > 0.0:
        low, high = low / (1.0 + width), low
        width *= 8.0
    return low, high


def product(state: LedgerState) -> Pair:
    """Return a dominating pair of everything that a ledger allows: all planned runs composed with all full slots.

    The hockey-stick divergence of the pair of distributions bounds δ at every ε. The δ that slots (budgets for other
    mechanisms) add is not included.

    Args:
        state: the ledger.
    """
    return composed_pair(_pairs(state), "default")


def plan_pair(state: LedgerState) -> Pair | None:
    """Return the dominating pair of all planned runs of a ledger, without its slots; None if it has no planned runs.

    The hockey-stick divergence of the pair of distributions is at least δ of the composed runs at every ε. Slots are
    budgets for mechanisms outside the plan.
    """
    pairs = _of_plan(state)
    return composed_pair(pairs, "default") if pairs else None


def _pairs(state: LedgerState) -> list[tuple[Pair, int]]:
    """Return the dominating pairs of the plan and of the full slots, each with its number of runs."""
    slots = [(slot_pair(slot), 1) for slot in state.slots]
    return _of_plan(state) + slots


def _of_plan(state: LedgerState) -> list[tuple[Pair, int]]:
    """Return the dominating pairs of all planned runs of a ledger, each with its number of runs.

    Items of the plan that were made for a job are left out, because a slot, another part of the budget, has paid for
    them.
    """
    pairs: list[tuple[Pair, int]] = []
    for item in state.plan:
        if item.job is None and item.planned:  # the slot pays for the items of jobs
            pairs += item_pairs(item, state)
    return pairs


def item_pairs(item: PlanItem, state: LedgerState) -> Sequence[tuple[Pair, int]]:
    """Return the dominating pairs of all planned runs of an item, each with its number of runs."""
    return ChargeRequest(setting=state.setting, spec=item.spec, count=item.planned).parts


def slot_pair(slot: Slot) -> Pair:
    """Return the dominating pair of everything that a full slot may pay for.

    A slot is a part of the privacy budget: a μ² (gdp), a ρ (zcdp), an ε (pure), or Rényi divergences (rdp). Its δ or η,
    which it may add to the result, is not in the pair. The caller adds it.

    Args:
        slot: the slot, of which the whole capacity counts.
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
        part: name of the amount, such as `rho`. It is ignored for a Rényi slot, of which every order gets the capacity.
        capacity: the new capacity. It is rounded down to 18 decimal places.
    """
    amount = down(capacity)
    if slot.kind == "rdp":
        return replace(slot, capacity=dict.fromkeys(slot.capacity, amount))
    return replace(slot, capacity={**slot.capacity, part: amount})


def slots_delta(state: LedgerState) -> Amount:
    """Return the δ that all slots together may add to the composed profile: the sum of their parts η and δ."""
    return total(*(slot.capacity.get(part, ZERO) for slot in state.slots for part in ("eta", "delta")))


def _log_allowed(state: LedgerState) -> float:
    """Return the logarithm of the δ that is left for the composed mechanisms of a ledger: log(δ* − δ of slots).

    It is rounded down, and −∞ if nothing is left. δ* belongs to the ledger's target (ε*, δ*). Slots, parts of the
    budget, may add a δ to the composed profile. The last line subtracts more than the rounding error of the logarithm.
    """
    added = slots_delta(state)
    rest = less(state.target.delta, added)
    if added <= 0:
        log_rest = state.target.log_delta  # as an amount, a δ* below 10^-18 would be 0
    elif rest > 0:
        log_rest = math.log(float_below(rest))
    else:
        return -math.inf
    return log_rest - 1e-15 * (1.0 + abs(log_rest))


def _with_added(log_delta: float, state: LedgerState) -> float:
    """Return an upper bound on the log δ of a whole ledger: of its composed mechanisms, and added by its slots.

    It is cut off at log δ* of the target. Slots are parts of the budget, which may add a δ to the composed profile.

    Args:
        log_delta: log δ of the composed mechanisms at the target's ε, which was certified to fit.
        state: the ledger.
    """
    added = slots_delta(state)
    if added <= 0:
        return log_delta
    delta = math.exp(log_delta) + float_above(added)
    return min(math.log(delta) + 1e-14, state.target.log_delta)  # 1e-14 exceeds the rounding of the sum and logarithm

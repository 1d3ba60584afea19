"""Figures of a ledger that may be shown between its moves: functions of its entries, none of which measures a spent ε.

At a time that depends on outputs "ε spent so far" is not a guarantee (docs/ledger.md, "What may be reported"). The
figures are the target, which always holds, the amounts left in each compartment, and the curve of the whole plan.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter

from epsilond.accountants.quantities import WindowedUnit
from epsilond.accountants.statements.settings import NOISE_ADDED_BEFORE, OBSERVERS, UNITS
from epsilond.accountants.statements.windows import describe_window, window_conditions
from epsilond.accountants.target import RiskTarget
from epsilond.accountants.theorem import Condition
from epsilond.ledgers.mathematics.amounts import ZERO, Amount
from epsilond.ledgers.mathematics.charges.request import ChargeRequest
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
    "ledger-block", "a unit's block is a function of its identity only, and no other mechanism computes from the block"
)
UNSEEN = Condition("ledger-unseen", "no output of voided runs was seen, and nothing is run on their receipts")
_CHANGES = {
    "replace-one": "replacing",
    "add-or-remove-one": "adding or removing",
    "zero-out-one": "counting as zero the contribution of",
}
"""Words for the change of one protected unit, by the neighbouring relation."""


def conditions(state: LedgerState, *, of_block: bool) -> tuple[Condition, ...]:
    """Return the conditions of a ledger's guarantee that no computation can check, in the order of display.

    Args:
        state: the ledger.
        of_block: whether the ledger covers only a block of a data set, so that the blocks must be disjoint.

    Returns:
        The conditions of every ledger, then those that follow from the ledger's settings and from its mechanisms.
    """
    result = [BEFORE, DECISIONS, ONCE, RUNNER, SEALED]
    if of_block:
        result.append(BLOCK)
    if isinstance(state.setting.protected_unit, WindowedUnit):
        result += window_conditions(state.setting.protected_unit, is_drawn=True)
    if (state.conditional and state.amended) or state.declared.inputs == "independent-of-outputs":
        result.append(INDEPENDENT)
    if state.conditional:
        result.append(UNSEEN)
    return (*result, *_conditions_of_mechanisms(state))


def _conditions_of_mechanisms(state: LedgerState) -> Iterator[Condition]:
    """Yield the conditions that the guarantees of all planned and reserved mechanisms need, each condition once.

    Only conditions that no computation can check are yielded, such as that randomness is secret.
    """
    specs = [item.spec for item in state.plan] + [reservation.spec for reservation in state.reservations.values()]
    seen: dict[Condition, None] = {}
    for spec in dict.fromkeys(specs):
        # The conditions do not depend on the number of runs.
        guarantee = ChargeRequest(setting=state.setting, spec=spec, count=1).guarantee(spec)
        seen.update(dict.fromkeys(guarantee.declared))
    yield from seen


@dataclass(frozen=True)
class PlanCurve:
    """Point (δ, ε) of the privacy curve of all planned runs of a ledger.

    The ε is valid if exactly the plan is run, or if the runs are stopped independently of their outputs.

    Attributes:
        log10_delta: log10 of δ.
        epsilon: upper bound on ε at δ, in nats.
    """

    log10_delta: float
    epsilon: float


def plan_curve(state: LedgerState) -> tuple[PlanCurve, ...]:
    """Return upper bounds on ε of all planned runs of a ledger, at 10^k times the target's δ for k = −4, …, 2.

    Runs that the ledger allows outside the plan, by its slots (budgets), are not included.

    Args:
        state: the ledger.

    Returns:
        The points with δ below 1 and finite ε, in increasing δ. Empty if there is no plan, or if a run was observed to
        differ from the mechanism that was paid for.
    """
    pair = None if state.status == "contradicted" else plan_pair(state)
    if pair is None:
        return ()
    points = []
    for power in range(-4, 3):
        log_delta = state.target.log_delta + power * math.log(10.0)
        epsilon = pair.epsilon(log_delta).upper if log_delta < 0.0 else math.inf
        if epsilon < math.inf:
            points.append(PlanCurve(log_delta / math.log(10.0), epsilon))
    return tuple(points)


@dataclass(frozen=True, kw_only=True)
class ScarceResource:
    """State of one resource of a ledger: of the planned runs of a mechanism, or of an amount of a slot.

    A slot is a budget for runs that are not planned yet.

    Attributes:
        item: name of the item of the plan; None for an amount of a slot.
        slot: kind of the slot; None for an item.
        part: name of the slot's amount, such as `mu_squared`; None for an item.
        share: fraction of the planned runs, or of the slot's capacity, that is used or reserved.
        left: number of runs, or amount, that is neither used nor reserved; at least 0.
    """

    item: str | None = None
    slot: SlotKind | None = None
    part: str | None = None
    share: Fraction
    left: Amount


def find_scarcest(state: LedgerState) -> ScarceResource | None:
    """Find the resource of a ledger of which the largest fraction is used or reserved.

    Resources are the planned runs of each mechanism and the amounts of each slot, a budget for runs that are not
    planned yet. Amounts with capacity 0 are not counted.

    Args:
        state: the ledger.

    Returns:
        The resource, the first one of equals; None if the ledger has none.
    """
    # An item that was added for a job has no free runs from the beginning, and a slot has paid for it.
    resources = [
        ScarceResource(item=item.name, share=1 - Fraction(item.free, item.planned), left=Amount(item.free))
        for item in state.plan
        if item.planned and item.job is None
    ]
    for slot in state.slots:
        resources += _scarce_parts(slot)
    return max(resources, key=attrgetter("share"), default=None)


def _scarce_parts(slot: Slot) -> list[ScarceResource]:
    """Return the resources of a slot: its amounts with a capacity above 0.

    Args:
        slot: a budget for runs that are not planned yet, with one amount or several, by name.

    Returns:
        One resource for each amount. A Rényi slot has an amount for each order, of which one must suffice: only the
        order with the smallest used fraction is returned.
    """
    parts = []
    for name, capacity in slot.capacity.items():
        if capacity:
            free = slot.free(name)
            share = 1 - Fraction(free) / Fraction(capacity)
            parts.append(ScarceResource(slot=slot.kind, part=name, share=share, left=max(free, ZERO)))
    if slot.kind == "rdp":
        return sorted(parts, key=attrgetter("share"))[:1]
    return parts


def _risk_sentence(risk: RiskTarget | None) -> str:
    """State the limit on a risk that a ledger has as its target, such as an attacker's advantage, in a sentence.

    Args:
        risk: the limit; None if the target is a pair (ε, δ).

    Returns:
        The sentence, with a leading space, because it follows another sentence. Empty if `risk` is None.
    """
    if risk is None:
        return ""
    if risk.kind == "advantage":
        return (
            " The true positive rate of any attacker who wants to know whether the change was made exceeds its false"
            f" positive rate by at most {risk.bound:g} (advantage)."
        )
    if risk.kind == "true_positive_rate":
        return (
            f" An attacker who wants to know whether the change was made, with a false positive rate of at most"
            f" {risk.false_positive_rate:g}, has a true positive rate of at most {risk.bound:g}."
        )
    if risk.kind == "gaussian_dp_mu":
        return f" Together the releases are μ-Gaussian differentially private for μ = {risk.bound:g}."
    return f" Together the releases are ρ-zero-concentrated differentially private for ρ = {risk.bound:g}."


def in_words(state: LedgerState, name: str) -> str:
    """State the guarantee of a ledger in one paragraph: (ε, δ)-privacy of all its releases together.

    Args:
        state: the ledger.
        name: name of the ledger in the text.

    Returns:
        The paragraph in English, with the limit on a risk if that is the target, the adversary, and the condition on
        the noise.
    """
    setting = state.setting
    target = state.target
    # The difference of two neighbouring data sets, such as "replacing one person".
    unit = UNITS[setting.unit]
    if isinstance(setting.protected_unit, WindowedUnit):
        unit = describe_window(setting.protected_unit)
    change = _CHANGES[setting.relation]

    largest_exponent = 700.0  # e^700 is close to the largest double
    factor = f"{math.exp(min(target.epsilon, largest_exponent)):.4g}"
    log10_delta = target.log_delta / math.log(10.0)
    delta = f"10^{log10_delta:.4g}"
    conditional = ", as long as what its owner declared is so" if state.conditional else ""
    return (
        f"Everything that is released through the ledger {name}, together: {change} {unit} multiplies the probability"
        f" of anything that the adversary sees by at most {factor} (ε = {target.epsilon:g}), apart from an added"
        f" {delta}{conditional}.{_risk_sentence(target.risk)} Against: {OBSERVERS[setting.observer]}. Condition:"
        f" {NOISE_ADDED_BEFORE[setting.observer]}."
    )

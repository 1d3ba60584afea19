"""Adversaries that choose every run in a pure, concentrated or Rényi slot by what they saw: none passes the target's δ.

The ledger's own moves say which runs still fit. What the best adversary reaches is found by dynamic programming over
the accumulated loss: randomised responses whose ε are multiples of STEP have losses that are multiples of STEP, so
nothing is rounded. With a slot of more room than the target leaves, the same adversaries do pass it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from functools import cache

import pytest

from epsilond.accountants.errors import LedgerExhausted
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.specs import RandomizedResponse
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.opening import RequestedSlot, open_ledger
from epsilond.ledgers.mathematics.state import LedgerState, LedgerTarget
from tests.ledgers.mathematics.setups import SEALED

STEP = 0.1
"""Unit of losses, in nats."""
RESPONSES = (3, 7, 12)
"""ε of the randomised responses that adversaries choose from, in STEP."""
MOST_RUNS = 5
SETTING = Setting(relation="replace-one")
TARGETS = ((0.5, 0.2), (1.0, 0.15), (2.0, 0.1))
"""ε and δ of ledgers."""
SLOTS = {
    "pure": RequestedSlot(kind="pure", capacity="largest"),
    "zcdp": RequestedSlot(kind="zcdp", capacity="largest"),
    "rdp of one order": RequestedSlot(kind="rdp", capacity={"orders": [4], "budget": "largest"}),
    "rdp of two orders": RequestedSlot(
        kind="rdp", capacity={"orders": [4, 16], "weights": [0.5, 0.5], "budget": "largest"}
    ),
}


def open_slot(slot: RequestedSlot, epsilon: float, delta: float) -> LedgerState:
    """Return a ledger that has this slot only."""
    target = LedgerTarget(epsilon=epsilon, log_delta=math.log(delta))
    return open_ledger(setting=SETTING, target=target, declared=SEALED, plan=(), slots=(slot,))[0]


def run_once(state: LedgerState, response: int, number: int) -> LedgerState | None:
    """Return the ledger after one committed response, or None if it does not fit."""
    spec = RandomizedResponse(epsilon=STEP * response, categories=2)
    try:
        held = moves.reserve(state, str(number), spec=spec, slot=state.slots[0].kind)
    except LedgerExhausted:
        return None
    return moves.commit(held, str(number))


def best_delta(first: LedgerState, epsilon: float) -> float:
    """Return the largest E[(1 − e^{ε − loss})₊] of an adversary who may run what fits, up to MOST_RUNS runs, or stop."""

    @cache
    def after(runs: tuple[int, ...]) -> LedgerState | None:
        """The ledger after these responses in any order: charges of runs add up."""
        before = first if len(runs) == 1 else after(runs[:-1])
        return None if before is None else run_once(before, runs[-1], len(runs))

    @cache
    def value(runs: tuple[int, ...], loss: int) -> float:
        outcomes = [max(0.0, -math.expm1(epsilon - STEP * loss))]
        for response in RESPONSES:
            following = tuple(sorted((*runs, response)))
            if len(following) <= MOST_RUNS and after(following) is not None:
                keep = 1.0 / (1.0 + math.exp(-STEP * response))
                outcomes.append(
                    keep * value(following, loss + response) + (1.0 - keep) * value(following, loss - response)
                )
        return max(outcomes)

    return value((), 0)


@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
@pytest.mark.parametrize("slot", SLOTS)
def test_no_adversary_passes_the_target(slot: str, epsilon: float, delta: float) -> None:
    reached = best_delta(open_slot(SLOTS[slot], epsilon, delta), epsilon)
    assert 0.0 < reached <= delta * (1.0 + 1e-12)


@pytest.mark.parametrize("slot", SLOTS)
def test_a_slot_with_more_room_than_the_target_leaves_is_passed(slot: str) -> None:
    epsilon, delta = TARGETS[1]
    state = open_slot(SLOTS[slot], epsilon, delta)
    wide = {part: 4 * capacity for part, capacity in state.slots[0].capacity.items()}
    too_wide = replace(state, slots=(replace(state.slots[0], capacity=wide),))
    assert best_delta(too_wide, epsilon) > 1.2 * delta
    assert all(isinstance(capacity, Decimal) for capacity in wide.values())

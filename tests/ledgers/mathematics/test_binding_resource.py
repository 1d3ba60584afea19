"""Test which resource of a ledger runs out first, and what a what-if says of it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from epsilond.accountants import specs
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.opening import RequestedSlot
from epsilond.ledgers.mathematics.view import find_scarcest
from epsilond.ledgers.mathematics.what_if import what_if
from tests.ledgers.mathematics.setups import gaussian_slot, job, ledger, step

QUERY = specs.Gaussian(noise_multiplier=10.0)
"""It costs 0.01 of μ²."""
LAPLACE = specs.Laplace(scale_multiplier=10.0)
RENYI = RequestedSlot(kind="rdp", capacity={"orders": [4, 16], "weights": [0.5, 0.5], "budget": "0.2"})


def test_a_ledger_without_resources_has_none() -> None:
    assert find_scarcest(replace(ledger(gaussian_slot()), slots=())) is None


def test_the_largest_share_of_used_and_reserved_counts() -> None:
    state = ledger(gaussian_slot(mu_squared="0.1"), plan=(job(steps=100),))
    first = find_scarcest(state)
    assert first is not None
    assert (first.share, first.item) == (0, "a")  # the first of equals
    state = moves.reserve(state, "r1", item="a", count=20)
    scarcest = find_scarcest(state)
    assert scarcest is not None
    assert (scarcest.item, scarcest.share, scarcest.left) == ("a", Fraction(1, 5), 80)
    state = moves.commit(moves.reserve(state, "r2", spec=QUERY, slot="gdp", count=3), "r2", 1)
    scarcest = find_scarcest(state)
    assert scarcest is not None
    assert (scarcest.slot, scarcest.part) == ("gdp", "mu_squared")
    slot = state.slots[0]
    taken = slot.used["mu_squared"] + slot.reserved["mu_squared"]
    assert scarcest.share == Fraction(taken) / Fraction(slot.capacity["mu_squared"])
    assert scarcest.left == slot.capacity["mu_squared"] - taken
    assert Fraction(3, 10) <= scarcest.share < Fraction(31, 100)


def test_a_part_without_capacity_does_not_run_out() -> None:
    state = ledger(gaussian_slot(eta="0", mu_squared="0.1"))
    scarcest = find_scarcest(state)
    assert scarcest is not None
    assert scarcest.part == "mu_squared"


def test_of_several_orders_the_one_with_most_room_counts() -> None:
    state = moves.reserve(ledger(RENYI), "r", spec=LAPLACE, slot="rdp", count=3)
    slot = state.slots[0]
    shares = {part: Fraction(slot.reserved[part]) / Fraction(slot.capacity[part]) for part in slot.capacity}
    scarcest = find_scarcest(state)
    assert scarcest is not None
    assert len(set(shares.values())) == 2
    assert scarcest.share == min(shares.values())
    overdrawn = replace(slot, reserved={part: 2 * amount for part, amount in slot.capacity.items()})
    scarcest = find_scarcest(state.with_slot(overdrawn))
    assert scarcest is not None
    assert (scarcest.share, scarcest.left) == (2, 0)


def test_items_that_residues_brought_do_not_count() -> None:
    state = moves.reserve(ledger(gaussian_slot()), "r", spec=job(steps=20), slot="gdp")
    state = moves.commit(state, "r", 1)
    assert [item.job for item in state.plan] == ["r"]
    scarcest = find_scarcest(state)
    assert scarcest is not None
    assert scarcest.slot == "gdp"


@pytest.mark.parametrize(("count", "fits"), [(2, True), (20, False)])
def test_a_what_if_looks_after_the_job_and_at_what_is_held(count: int, fits: bool) -> None:
    state = moves.reserve(ledger(gaussian_slot(mu_squared="0.1"), plan=(step(),)), "r", spec=QUERY, slot="gdp", count=2)
    answer = what_if(state, spec=QUERY, slot="gdp", count=count)
    assert answer.fits is fits
    assert answer.held_by_others == {"gdp": {"eta": Decimal(0), **state.slots[0].reserved}}
    after = moves.reserve(state, "s", spec=QUERY, slot="gdp", count=count) if fits else state
    assert answer.scarcest == find_scarcest(after)
    assert answer.scarcest is not None
    assert answer.scarcest.share >= (Fraction(4, 10) if fits else Fraction(2, 10))

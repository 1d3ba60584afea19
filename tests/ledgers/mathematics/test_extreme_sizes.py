"""Test extreme sizes: counts beyond the doubles, orders next to one, and tiny and huge slots."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from epsilond.accountants import specs
from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.ledgers.mathematics.opening import RequestedSlot
from epsilond.ledgers.mathematics.state import LedgerTarget, SlotKind
from epsilond.ledgers.mathematics.what_if import what_if
from tests.ledgers.mathematics.setups import gaussian_slot, job, ledger, step

WIDE = LedgerTarget(epsilon=3e6, log_delta=math.log(1e-6))
LAX = LedgerTarget(epsilon=1e7, log_delta=math.log(0.5))
LOUD = specs.Gaussian(noise_multiplier=1e9)
LAPLACE = specs.Laplace(scale_multiplier=10.0)


def nested(*times: int, of: Any) -> Any:
    """Repeated, and that repeated, and so on."""
    for each in times:
        of = specs.Repeated(times=each, mechanism=of)
    return of


def test_counts_beyond_the_doubles_are_refused_with_a_count_that_fits() -> None:
    state = ledger(gaussian_slot())
    found = what_if(state, spec=nested(2**40, 2**40, of=LOUD), slot="gdp")
    assert not found.fits
    assert found.count == 2**80
    most = int(found.nearest["largest_count"])
    assert most > 2**53
    assert what_if(state, spec=LOUD, slot="gdp", count=most).fits


def test_the_largest_count_fits_at_the_requested_eta() -> None:
    state = ledger(gaussian_slot(mu_squared="0.3"))
    eta = Decimal("1e-15")
    found = what_if(state, spec=step(), slot="gdp", count=200_000, eta=eta)
    assert not found.fits
    largest = int(found.nearest["largest_count"])
    assert what_if(state, spec=step(), slot="gdp", count=largest, eta=eta).fits
    beyond = what_if(state, spec=step(), slot="gdp", count=10, eta=Decimal("1e-3"))
    assert not beyond.fits
    assert not beyond.nearest  # no count and no noise make the slot hold so much η


@pytest.mark.parametrize(
    ("spec", "count"), [(step(), 10**15), (nested(10**15, 10**15, of=step()), None), (step(), 10**9), (LAPLACE, 10**12)]
)
def test_huge_counts_are_answered(spec: Any, count: int | None) -> None:
    found = what_if(ledger(gaussian_slot()), spec=spec, slot="gdp", count=count)
    assert not found.fits
    assert found.reason


def test_a_plan_of_too_many_runs_is_refused_by_its_place() -> None:
    with pytest.raises(InvalidInput, match="/plan/0/spec"):
        ledger(gaussian_slot(), plan=(nested(2**30, 2**30, of=LOUD),))


def test_an_order_next_to_one_has_room_for_nothing_and_one_of_a_million_for_little() -> None:
    with pytest.raises(Infeasible, match="Nothing is left"):
        ledger(RequestedSlot(kind="rdp", capacity={"orders": [1.0000001]}))
    state = ledger(RequestedSlot(kind="rdp", capacity={"orders": [1.0000001], "budget": "0.5"}), target=LAX)
    assert what_if(state, spec=LAPLACE, slot="rdp", count=2).fits
    steep = ledger(RequestedSlot(kind="rdp", capacity={"orders": [1e6]}))
    assert what_if(steep, spec=LAPLACE, slot="rdp", count=10).fits
    assert not what_if(steep, spec=LAPLACE, slot="rdp", count=100).fits


@pytest.mark.parametrize(("kind", "part"), [("gdp", "mu_squared"), ("zcdp", "rho"), ("pure", "epsilon")])
@pytest.mark.parametrize("capacity", ["0.000000000001", "1000000"])
def test_capacities_of_almost_nothing_and_of_far_too_much(kind: SlotKind, part: str, capacity: str) -> None:
    state = ledger(RequestedSlot(kind=kind, capacity={part: capacity}), target=WIDE)
    found = what_if(state, spec=LAPLACE, slot=kind, count=10)
    assert found.fits == (capacity == "1000000")
    if found.fits:
        assert found.charge is not None
        assert Decimal(0) < found.charge.parts[part] < Decimal("1.1")


def test_a_large_slot_is_charged_no_more_than_a_small_one() -> None:
    costs = []
    for held in ("60", "80", "1000000"):
        state = ledger(gaussian_slot("1e-9", held), target=WIDE)
        found = what_if(state, spec=job(steps=20), slot="gdp")
        assert found.charge is not None
        costs.append(found.charge.parts["mu_squared"])
    assert costs[0] >= costs[1] == costs[2]


def test_noise_that_hides_nothing_is_refused_with_noise_that_fits() -> None:
    state = ledger(gaussian_slot())
    found = what_if(state, spec=step(0.5, 1e-3), slot="gdp", count=3)
    assert not found.fits
    noise = found.nearest["smallest_noise_multiplier"]
    assert isinstance(noise, float)
    assert what_if(state, spec=step(0.5, noise), slot="gdp", count=3).fits

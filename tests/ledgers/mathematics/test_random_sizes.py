"""Ledgers charge contributions of random size, clients' records and truncated batches, and exchange none of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from epsilond.accountants import specs
from epsilond.accountants.errors import NotInPlan
from epsilond.accountants.guarantee import Setting
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.exchange import dominance_reason
from epsilond.ledgers.mathematics.what_if import what_if
from tests.ledgers.mathematics.setups import gaussian_slot, ledger

CLIENTS = Setting(relation="add-or-remove-one", unit="client", observer="released-models")
NOISE = specs.Gaussian(noise_multiplier=4.0)
MIXTURE = specs.GaussianMixture(sensitivities=(0.0, 1.0, 2.0), probabilities=(0.9, 0.09, 0.01), noise_multiplier=4.0)
RECORDS = specs.Subsampled(sampling="poisson", rate=0.01, level="records", records_of_one_client=8, mechanism=NOISE)
TRUNCATED = specs.Subsampled(sampling="poisson", rate=0.01, population=1000, largest_batch=25, mechanism=NOISE)
EACH = pytest.mark.parametrize("step", [MIXTURE, RECORDS, TRUNCATED], ids=["mixture", "records", "truncated"])


@EACH
def test_runs_are_planned_and_committed(step: Any) -> None:
    state = ledger(plan=(specs.Repeated(times=100, mechanism=step),), setting=CLIENTS)
    state = moves.commit(moves.reserve(state, "x", item="a", count=60, spec=step), "x", 60)
    assert (state.plan[0].committed, state.plan[0].reserved) == (60, 0)


@EACH
def test_a_gaussian_slot_charges_a_run(step: Any) -> None:
    state = ledger(gaussian_slot(), setting=CLIENTS)
    found = what_if(state, slot="gdp", spec=specs.Repeated(times=20, mechanism=step))
    assert found.fits
    state = moves.commit(
        moves.reserve(state, "x", slot="gdp", spec=specs.Repeated(times=20, mechanism=step)), "x", None
    )
    slot = state.slot("gdp")
    assert slot is not None
    assert slot.remainder("mu_squared") < slot.capacity["mu_squared"]


def test_more_noise_is_exchanged_at_the_same_draw_only() -> None:
    quieter = specs.Gaussian(noise_multiplier=5.0)
    plain = specs.Subsampled(sampling="poisson", rate=0.01, mechanism=NOISE)
    for step in (RECORDS, TRUNCATED):
        assert dominance_reason(replace(step, mechanism=quieter), step)
        assert dominance_reason(step, replace(step, mechanism=quieter)) is None
        assert dominance_reason(step, replace(plain, level=step.level, rate=0.5)) is None
        assert dominance_reason(replace(plain, level=step.level), replace(step, rate=0.5)) is None
    assert dominance_reason(replace(RECORDS, records_of_one_client=9), RECORDS) is None
    assert dominance_reason(replace(TRUNCATED, largest_batch=24), TRUNCATED) is None
    state = ledger(plan=(specs.Repeated(times=5, mechanism=NOISE),), setting=CLIENTS)
    with pytest.raises(NotInPlan):
        moves.reserve(state, "x", item="a", spec=MIXTURE)

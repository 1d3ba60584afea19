"""A ledger is charged for random allocations and for shuffled epochs as for one indivisible run."""

from __future__ import annotations

from pathlib import Path

import pytest

import epsilond
from tests.ledgers.client.places import opened

MECHANISM = epsilond.Gaussian(noise_multiplier=4.0)
RUNS = {
    "allocation": epsilond.RandomAllocation(steps=4, times_chosen=1, kept=False, epochs=2, mechanism=MECHANISM),
    "epochs": epsilond.Subsampled(
        sampling="shuffled-epochs", batch_size=10, population=500, epochs=2, mechanism=MECHANISM
    ),
}
SETTING = {"relation": "zero-out-one", "observer": "released-models"}


@pytest.mark.parametrize("name", RUNS)
def test_a_planned_run_is_reserved_and_committed(name: str, tmp_path: Path) -> None:
    _, ledger = opened(tmp_path, **SETTING, plan={"train": RUNS[name]}, slots=[])
    with ledger.reserve("train", count=1) as run:
        run.commit(1)
    assert ledger.show().plan[0]["committed"] == 1
    with pytest.raises(epsilond.EpsilondError):
        ledger.reserve("train", count=1)


def test_a_slot_is_charged_by_the_upper_bound(tmp_path: Path) -> None:
    _, ledger = opened(tmp_path, **SETTING, plan={})
    answer = ledger.what_if(spec=RUNS["allocation"], slot="gdp")
    assert answer["fits"] is True

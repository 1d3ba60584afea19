"""Every charge names a theorem that is registered and proved."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from epsilond.accountants import specs
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems import THEOREMS
from epsilond.ledgers.mathematics.charges import CHARGES, charge
from epsilond.ledgers.mathematics.charges.request import ChargeRequest
from epsilond.ledgers.mathematics.opening import RequestedSlot
from tests.ledgers.mathematics.setups import SETTING, gaussian_slot, ledger, step

PROVED = {theorem.id for theorem in THEOREMS if theorem.status is Status.PROVED}
SLOTS = {
    "gdp": gaussian_slot(mu_squared="1"),
    "zcdp": RequestedSlot(kind="zcdp", capacity={"rho": "0.1"}),
    "rdp": RequestedSlot(kind="rdp", capacity={"orders": [8], "budget": "0.5"}),
    "pure": RequestedSlot(kind="pure", capacity={"epsilon": "1", "delta": "1e-7"}),
}


@pytest.mark.parametrize("kind", CHARGES)
@pytest.mark.parametrize("spec", [specs.Gaussian(noise_multiplier=9.0), step(0.001, 2.0)])
def test_a_charge_rests_on_a_proved_theorem(kind: str, spec: Any) -> None:
    slot = ledger(SLOTS[kind]).slots[0]
    delta = Decimal("1e-8") if kind in ("pure", "zcdp") else None
    found = charge(ChargeRequest(setting=SETTING, spec=spec, count=2, delta=delta), slot)
    assert found.theorem in PROVED
    assert all(amount >= 0 for amount in found.parts.values())
    assert any(amount > 0 for amount in found.parts.values())

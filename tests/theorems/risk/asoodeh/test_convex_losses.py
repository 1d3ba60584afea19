"""The order of the risk without strong convexity: a scale, and never a bound."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.risk.asoodeh.convex_losses import CONVEX


@pytest.mark.compares("asoodeh.convex-losses")
@pytest.mark.parametrize(("clients", "participants"), [(1, 1), (1000, 30), (10**12, 7)])
def test_an_order_is_no_bound(clients: int, participants: int) -> None:
    found = CONVEX.evaluate(CONVEX.request(clients=clients, participants=participants))
    steps = math.floor(Fraction(clients, participants))
    assert found.outputs["steps"] == steps
    assert found.outputs["excess_risk_scale"] ** 2 * steps == pytest.approx(1.0, rel=1e-14)
    assert set(found.outputs) == {"steps", "excess_risk_scale"}
    assert CONVEX.constants == "hidden"
    assert CONVEX.status is Status.UNPROVED
    assert [one.holds for one in found.conditions] == ["undecidable"]


def test_four_times_the_users_halve_it() -> None:
    few, many = (
        CONVEX.evaluate(CONVEX.request(clients=n, participants=10)).outputs["excess_risk_scale"] for n in (1000, 4000)
    )
    assert many == pytest.approx(few / 2)
    assert math.isfinite(few)

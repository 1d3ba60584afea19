"""Windowed units in plans, audits and training loops: the figures of the base unit, and the unit of the request."""

from __future__ import annotations

from typing import Any, get_args

import pytest

import epsilond
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Unit, WindowedUnit
from epsilond.accountants.quantities.units import unit_json
from epsilond.calibrators.answer import as_json
from epsilond.integrations.target import TargetBudget
from tests.laws.test_units import WINDOWS

FEDERATION: dict[str, Any] = {
    "epsilon": 2.0,
    "delta": 1e-6,
    "clients": 1000,
    "samples_per_client": 50,
    "participants": 100,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": 1.0,
    "smoothness": 1.0,
    "rounds": 100,
    "relation": "replace-one",
    "observers": ["server", "released-models", "other-clients"],
}
AUDIT: dict[str, Any] = {
    "kind": "audit",
    "spec": {"kind": "gaussian", "noise_multiplier": 1.0},
    "relation": "add-or-remove-one",
    "observer": "released-models",
    "delta": 1e-5,
    "samples": 1000,
}


def without_units(value: Any) -> Any:
    """Return a JSON value without its units, and without the sentences that name a unit or its conditions."""
    if isinstance(value, dict):
        about_units = {"unit", "in_words", "statements", "declared_conditions", "meaning", "recommended"}
        return {name: without_units(member) for name, member in value.items() if name not in about_units}
    return [without_units(member) for member in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def plans() -> dict[Unit, Any]:
    """Return the plan for each base unit."""
    return {unit: as_json(epsilond.plan(**FEDERATION, unit=unit)) for unit in get_args(Unit)}


@pytest.mark.parametrize("unit", WINDOWS, ids=str)
def test_a_plan_for_a_window_has_the_figures_of_its_base_unit(unit: WindowedUnit, plans: dict[Unit, Any]) -> None:
    plan = as_json(epsilond.plan(**FEDERATION, unit=unit_json(unit)))
    entries = [entry for entry in plan["entries"] if entry["applies"] == "yes"]
    assert len(entries) > 1
    assert all(entry["guarantee"]["unit"] == unit_json(unit) for entry in entries)
    assert all(entry["calibration"]["guarantee"]["unit"] == unit_json(unit) for entry in entries)
    assert without_units(plan["entries"]) == without_units(plans[unit.of]["entries"])
    assert plan["recommended"]["entry"] == plans[unit.of]["recommended"]["entry"]
    assert f"one {unit.of} within one {unit.window}" in plan["recommended"]["why"]


@pytest.mark.parametrize("unit", WINDOWS, ids=str)
def test_an_audit_of_a_window_attacks_its_base_unit(unit: WindowedUnit) -> None:
    own = as_json(epsilond.simulate(AUDIT | {"unit": unit_json(unit)}))
    base = as_json(epsilond.simulate(AUDIT | {"unit": unit.of}))
    assert own.pop("unit") == unit_json(unit)
    assert base.pop("unit") == unit.of
    assert own == base


@pytest.mark.parametrize("unit", [{"of": "galaxy", "window": "day"}, {"of": "client"}, "household", 3])
def test_plans_audits_and_targets_reject_another_unit(unit: Any) -> None:
    for call in (
        lambda: epsilond.plan(**FEDERATION, unit=unit),
        lambda: epsilond.simulate(AUDIT | {"unit": unit}),
        lambda: TargetBudget(epsilon=1.0, delta=1e-6, relation="replace-one", unit=unit, observer="released-models"),
    ):
        with pytest.raises(InvalidInput) as caught:
            call()
        assert all(fault.pointer.startswith("/unit") for fault in caught.value.faults)


def test_a_target_of_a_training_loop_may_protect_a_window() -> None:
    step = epsilond.Gaussian(noise_multiplier=10.0)
    setting: Any = {"epsilon": 1.0, "delta": 1e-6, "relation": "add-or-remove-one", "observer": "released-models"}
    day, client = (TargetBudget(unit=unit, **setting) for unit in ({"of": "client", "window": "day"}, "client"))
    assert day.reserve(step, 1000) == client.reserve(step, 1000) > 0
    day.pay(step, 1)
    assert day.spent() > 0.0


def test_a_plan_has_no_request_for_a_clients_day_that_may_be_absent_with_its_noise() -> None:
    fields = FEDERATION | {"relation": "add-or-remove-one"}
    for unit in ("client", {"of": "client", "window": "day"}):
        entries = as_json(epsilond.plan(**fields, unit=unit))["entries"]
        local = [entry for entry in entries if entry["guarantee"]["definition"] == "local"]
        assert local
        assert all(entry["applies"] == "no" and "request" not in entry for entry in local)


def test_a_list_of_mechanisms_is_the_tuple_of_them() -> None:
    step = epsilond.Gaussian(noise_multiplier=2.0)
    listed: Any = [step, step]
    assert epsilond.Composed(mechanisms=listed) == epsilond.Composed(mechanisms=(step, step))
    assert hash(epsilond.Composed(mechanisms=listed)) == hash(epsilond.Composed(mechanisms=(step, step)))

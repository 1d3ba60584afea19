"""Windowed units: the same figures as the base unit, their own statements, and bounds for all windows together."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any, get_args

import pytest
from scipy.special import log_ndtr

import epsilond
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.quantities import Relation, Unit, WindowedUnit, base_unit, require_unit
from epsilond.accountants.quantities.units import Window, unit_json, unit_named
from epsilond.accountants.theorems.conversions.windows import epsilon_over_windows, log_delta_over_windows
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.serving.json_form import as_json
from epsilond.reading import read
from tests.answers import example_answer
from tests.laws.test_trust import NO_DRAW

WINDOWS = [WindowedUnit(of=of, window=window) for of, window in itertools.product(get_args(Unit), get_args(Window))]
RUN = epsilond.Repeated(
    times=50,
    mechanism=epsilond.Subsampled(sampling="poisson", rate=0.02, mechanism=epsilond.Gaussian(noise_multiplier=1.0)),
)
SETTING: Any = {"relation": "add-or-remove-one", "observer": "released-models"}


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return δ(ε) of N(μ, 1) against N(0, 1)."""
    first, second = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return math.exp(first) - math.exp(second)


@pytest.mark.parametrize("unit", WINDOWS, ids=str)
def test_a_window_has_the_figures_of_its_base_unit(unit: WindowedUnit) -> None:
    own = epsilond.account(RUN, unit=unit_json(unit), delta=1e-6, **SETTING)
    base = epsilond.account(RUN, unit=unit.of, delta=1e-6, **SETTING)
    assert own.guarantee.unit == unit
    assert own.guarantee.epsilon == base.guarantee.epsilon
    assert own.meaning == base.meaning
    assert own.derivation == base.derivation
    assert as_json(own)["guarantee"]["unit"] == {"of": unit.of, "window": unit.window}
    ids = {condition.id for condition in own.declared_conditions} - {each.id for each in base.declared_conditions}
    assert ids == {"window-contributions", "window-draws"}


@pytest.mark.parametrize("relation", get_args(Relation))
@pytest.mark.parametrize("unit", [*get_args(Unit), *WINDOWS], ids=str)
def test_statements_say_what_is_protected(unit: Unit | WindowedUnit, relation: Relation) -> None:
    gaussian = epsilond.Gaussian(noise_multiplier=3.0)
    guarantee = epsilond.account(gaussian, relation=relation, unit=unit, observer="released-models").guarantee
    assert guarantee.in_words == " ".join(statement.text for statement in guarantee.statements)
    texts = {statement.about: statement.text for statement in guarantee.statements}
    assert ("not-protected" in texts) == isinstance(unit, WindowedUnit)
    assert base_unit(unit) in texts["protects"]
    if isinstance(unit, WindowedUnit):
        for about in ("protects", "neighbours"):
            assert f"one {unit.of} within one {unit.window}" in texts[about]
        assert f"over several {unit.window}s" in texts["not-protected"]
    assert texts["sampling"] == NO_DRAW


def test_a_draw_is_of_windows() -> None:
    own = epsilond.account(RUN, unit={"of": "client", "window": "week"}, **SETTING).guarantee
    assert "each client-week is drawn independently" in own.in_words
    fixed = epsilond.Subsampled(
        sampling="without-replacement", batch_size=5, population=50, mechanism=epsilond.Gaussian(noise_multiplier=1.0)
    )
    unit = {"of": "record", "window": "day"}
    guarantee = epsilond.account(fixed, relation="replace-one", unit=unit, observer="released-models").guarantee
    assert "a fixed number of record-days is drawn" in guarantee.in_words


@pytest.mark.parametrize("windows", [1, 2, 7, 365])
@pytest.mark.parametrize("noise", [1.0, 30.0])
def test_a_group_of_windows_is_at_least_one_release_of_all(windows: int, noise: float) -> None:
    """The whole client of w windows moves a Gaussian sum by w bounds at most, and one pair attains this."""
    unit = {"of": "client", "window": "day"}
    gaussian = epsilond.Gaussian(noise_multiplier=noise)
    answer = epsilond.account(gaussian, unit=unit, delta=1e-6, windows=windows, **SETTING)
    assert answer.over_windows is not None
    epsilon = answer.over_windows.epsilon
    assert epsilon.lower == 0.0 or windows == 1
    if epsilon.upper < 300.0:
        assert gaussian_delta(windows / noise, epsilon.upper) <= 1e-6 * (1.0 + 1e-9)
    at = epsilond.account(gaussian, unit=unit, epsilon=2.0, windows=windows, **SETTING).over_windows
    assert at is not None
    assert at.delta.upper >= gaussian_delta(windows / noise, 2.0) * (1.0 - 1e-9)


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("windows", [2, 3])
def test_windows_that_are_drawn_one_by_one_stay_below_the_bound(windows: int, rounds: int) -> None:
    """Every pattern of drawn days is enumerated: each drawn day is a report, by name, of another category."""
    rate, epsilon = 0.4, 0.7
    yes = math.exp(epsilon) / (math.exp(epsilon) + 1.0)
    day = [(rate * yes, rate * (1.0 - yes)), (rate * (1.0 - yes), rate * yes), (1.0 - rate, 1.0 - rate)]
    outputs = [
        (math.prod(each[0] for each in pattern), math.prod(each[1] for each in pattern))
        for pattern in itertools.product(day, repeat=windows * rounds)
    ]
    response = epsilond.RandomizedResponse(epsilon=epsilon, categories=2)
    step = epsilond.Subsampled(sampling="poisson", rate=rate, mechanism=response)
    for at in (0.0, 0.3, 1.0, 2.0, 3.0):
        truth = math.fsum(max(first - math.exp(at) * second, 0.0) for first, second in outputs)
        found = epsilond.account(
            epsilond.Repeated(times=rounds, mechanism=step), unit={"of": "client", "window": "day"}, epsilon=at,
            windows=windows, **SETTING | {"relation": "replace-one"},
        )  # fmt: skip
        assert found.over_windows is not None
        assert truth <= found.over_windows.delta.upper * (1.0 + 1e-12)


@pytest.mark.compares("lowy.lemma-f.2")
def test_windows_of_a_pure_mechanism_add_up() -> None:
    curve = epsilond.account(
        epsilond.RandomizedResponse(epsilon=0.5, categories=2), relation="replace-one", unit="client", observer="server"
    ).guarantee.curve.natural
    assert epsilon_over_windows(curve, 6, math.log(1e-12)) == pytest.approx(3.0, rel=1e-5)
    assert log_delta_over_windows(curve, 6, 3.0000001) == -math.inf
    assert log_delta_over_windows(curve, 6, 0.0) <= math.log(6) + curve.log_delta(0.0).upper + 1e-12
    assert epsilon_over_windows(curve, 1, math.log(1e-3)) == curve.epsilon(math.log(1e-3)).upper
    assert epsilon_over_windows(curve, 10**6, math.log(0.999999)) >= 0.0


def test_windows_need_a_unit_with_a_window_and_a_point() -> None:
    with pytest.raises(InvalidInput, match="/windows"):
        epsilond.account(RUN, unit="client", delta=1e-6, windows=3, **SETTING)
    with pytest.raises(InvalidInput, match="/windows"):
        epsilond.account(RUN, unit={"of": "client", "window": "day"}, windows=3, **SETTING)


def test_windows_of_truncated_batches_need_a_fixed_population() -> None:
    """Of two days only one is in a batch, so a step from one day to none has more influence than the curve of two."""

    def truncated(largest_batch: int, population: int) -> epsilond.Subsampled:
        return epsilond.Subsampled(
            sampling="poisson", rate=1.0, largest_batch=largest_batch, population=population,
            mechanism=epsilond.Gaussian(noise_multiplier=0.1),
        )  # fmt: skip

    day = {"of": "client", "window": "day"}
    of_two, of_one = (epsilond.account(truncated(1, size), unit=day, **SETTING).guarantee.curve for size in (2, 1))
    assert of_two.delta(epsilon=0.0).upper < 0.51 < of_one.delta(epsilon=0.0).lower
    with pytest.raises(InvalidInput, match="/windows: must be 1 for batches of a fixed or largest size"):
        epsilond.account(
            epsilond.Repeated(times=3, mechanism=truncated(1, 2)), unit=day, delta=1e-6, windows=2, **SETTING
        )
    records = epsilond.Subsampled(
        sampling="without-replacement", batch_size=10, population=1000, level="records", records_of_one_client=2,
        mechanism=epsilond.Gaussian(noise_multiplier=4.0),
    )  # fmt: skip
    with pytest.raises(InvalidInput, match="/windows: must be 1 for batches of a fixed or largest size"):
        epsilond.account(records, unit=day, delta=1e-6, windows=7, **SETTING)
    for spec, windows, relation in (
        (truncated(1, 2), 1, "add-or-remove-one"),
        (records, 1, "add-or-remove-one"),
        (records, 7, "replace-one"),
        (truncated(2, 2), 2, "add-or-remove-one"),
        (truncated(1, 2), 2, "replace-one"),
    ):
        setting = SETTING | {"relation": relation}
        assert epsilond.account(spec, unit=day, delta=1e-6, windows=windows, **setting).over_windows is not None


@pytest.mark.parametrize(
    "unit", ["household", {"of": "client"}, {"of": "household", "window": "day"}, {}, 3, "client-day"]
)
def test_another_unit_is_rejected(unit: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        epsilond.account(RUN, unit=unit, **SETTING)
    assert all(fault.pointer.startswith("/unit") for fault in caught.value.faults)
    if isinstance(unit, str):
        assert (
            str(caught.value) == '/unit: is not one of the allowed values (record, client; or {"of": …, "window": …})'
        )


@pytest.mark.parametrize("unit", [*get_args(Unit), *WINDOWS], ids=str)
def test_a_unit_has_one_form_in_json_and_one_word(unit: Unit | WindowedUnit) -> None:
    assert require_unit(json.loads(json.dumps(unit_json(unit)))) == unit
    assert require_unit(unit_named(str(unit))) == unit
    setting = Setting.of(relation="replace-one", unit=unit, observer="server")
    assert setting.protected_unit == unit
    assert setting.unit == base_unit(unit)


def test_guarantees_of_a_client_and_of_its_days_are_not_combined() -> None:
    day = Setting.of(relation="replace-one", unit=WINDOWS[3], observer="server")
    whole = Setting(relation="replace-one", unit="client", observer="server")
    with pytest.raises(InvalidInput, match="cannot combine client-day with client"):
        day.same_as(whole)


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=lambda calibrator: calibrator.name)
def test_a_calibration_of_a_window_is_that_of_its_base_unit(calibrator: Any) -> None:
    unit = {"of": calibrator.example["unit"], "window": "day"}
    own = calibrator.solve(read(calibrator.problem, {**calibrator.example, "unit": unit}))
    base = example_answer(calibrator.name)
    assert own.guarantee.epsilon == base.guarantee.epsilon
    assert as_json(own)["parameters"] == as_json(base)["parameters"]
    assert as_json(own)["guarantee"]["unit"] == unit
    assert "within one day" in own.guarantee.in_words
    assert "window-contributions" in {condition.id for condition in own.declared_conditions}


def test_a_ledger_of_days_keeps_its_unit_and_refuses_whole_clients(tmp_path: Path) -> None:
    unit = {"of": "client", "window": "day"}
    with epsilond.ledger(str(tmp_path / "days.db")) as books:
        ledger = books.open(
            name="days", dataset="visits", unit=unit, epsilon=3.0, delta=1e-6, slots=["gdp"], sealed=True, by="ada",
            **SETTING,
        )  # fmt: skip
        assert ledger.show()["unit"] == unit
        opened = ledger.entries()[0]
        assert opened["unit"] == unit
        assert "window-draws" in {condition["id"] for condition in ledger.show()["declared_conditions"]}
        job = {"spec": {"kind": "gaussian", "noise_multiplier": 50.0}, "slot": "gdp"}
        with pytest.raises(InvalidInput, match=r"is client, and the ledger's is client-day"):
            ledger.reserve(**job, unit="client")
        with pytest.raises(InvalidInput, match=r"is client, and not the ledger's"):
            ledger.calibrate("gaussian", {"unit": "client", "sampling": "full", "rounds": 1}, slot="gdp")
        ledger.reserve(**job, unit=unit)
    with epsilond.ledger(str(tmp_path / "days.db")) as books:
        assert books.ledger("days").show()["unit"] == unit


def test_a_report_names_the_window() -> None:
    request = {
        "spec": {"kind": "gaussian", "noise_multiplier": 5.0}, "unit": {"of": "client", "window": "month"},
        "query": {"delta": 1e-6}, **SETTING,
    }  # fmt: skip
    page = epsilond.report("account", request=request)
    assert "within one month" in page
    assert "client-month" in page

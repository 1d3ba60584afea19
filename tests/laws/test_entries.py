"""Laws of `as_printed`: an entry groups readings, and nothing that differs between them is lost or merged."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

import epsilond
from epsilond.accountants.theorem import Status
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import (
    Calibration,
    Claims,
    ConditionAnswer,
    Ends,
    PrintedEntry,
    PrintedReading,
    TargetAnswer,
    TrueFigures,
    as_json,
)
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.serving.entries import printed_entries
from epsilond.calibrators.serving.printed import ReadingDetails
from tests.laws.test_printed import each_case, solved

README_REQUEST: dict[str, Any] = {
    "epsilon": 1.0, "delta": 1e-5, "samples_per_client": 1000, "clients": 50, "participants": 10, "dimension": 100,
    "lipschitz": 1.0, "diameter": 10.0, "smoothness": 1.0, "rounds": 100, "batch_size": 50,
    "relation": "replace-one", "unit": "record", "observer": "server",
}  # fmt: skip
MOST_BYTES = 3500 + 600
"""Bytes of the answer to the README's request: the limit of short answers, and the statements of the guarantee."""
TARGET = TargetAnswer(epsilon=1.0, delta=1e-5, log10_delta=-5.0)


def entry_of(answer: Calibration, reading: PrintedReading) -> tuple[PrintedEntry, ReadingDetails]:
    """Return the one entry that names the reading, and the reading's own details."""
    (entry,) = (one for one in answer.as_printed if one.theorem == reading.theorem and reading.reading in one.readings)
    named = [one for one in entry.by_reading or () if one.reading == reading.reading]
    assert len(named) <= 1
    return entry, named[0] if named else ReadingDetails(reading=reading.reading)


def held(answer: Calibration, reading: PrintedReading) -> None:
    """Check that request, entry and details say what the reading says."""
    entry, details = entry_of(answer, reading)
    assert (entry.status, entry.reason) == (reading.status, reading.reason)
    for name, value in reading.parameters.items():
        if name in (details.parameters or {}):
            assert 0.0 <= details.parameters[name] / value - 1.0 < 1e-5
        elif name in entry.parameters:
            assert entry.parameters[name] == value, name
        else:
            assert name == "noise_multiplier" or getattr(answer.problem, name) == value, name
    assert {*(details.leaves_open or ())} == {*entry.parameters} - {*reading.parameters}
    _claims_are_kept(answer, reading, entry, details)
    shown = {one.id: one for one in (*(entry.conditions or ()), *(details.conditions or ()))}
    open_conditions = {one.id: one for one in reading.conditions if one.holds != "yes"}
    assert shown.keys() == open_conditions.keys()
    for name, condition in open_conditions.items():
        _sides_are_kept(shown[name], condition)
    statements = {one.id: one.statement for one in _every_condition(entry) if one.statement is not None}
    assert all(statements[name] == one.statement for name, one in open_conditions.items())
    assert (entry.true is None) == (reading.true is None)
    if entry.true is not None and reading.true is not None:
        for shorter, whole in (
            (entry.true.epsilon, reading.true.epsilon),
            (entry.true.log10_delta, reading.true.log10_delta),
        ):
            assert shorter.lower <= whole.lower <= whole.upper <= shorter.upper
            assert shorter.upper == pytest.approx(whole.upper, rel=1e-5)
            assert shorter.lower == pytest.approx(whole.lower, rel=1e-5)


def _sides_are_kept(shown: ConditionAnswer, whole: ConditionAnswer) -> None:
    """Check the verdict and the sides, which may be rounded apart."""
    assert shown.holds == whole.holds
    if shown.left is None or shown.right is None or whole.left is None or whole.right is None:
        assert (shown.left, shown.right) == (whole.left, whole.right)
        return
    assert (shown.left, shown.right) == pytest.approx((whole.left, whole.right), rel=1e-5)
    assert (shown.left < shown.right, shown.left > shown.right) == (whole.left < whole.right, whole.left > whole.right)


def _every_condition(entry: PrintedEntry) -> list[ConditionAnswer]:
    own = [one for details in entry.by_reading or () for one in details.conditions or ()]
    return [*(entry.conditions or ()), *own]


def _claims_are_kept(
    answer: Calibration, reading: PrintedReading, entry: PrintedEntry, details: ReadingDetails
) -> None:
    claims, target, shared = reading.claims, answer.guarantee.target, entry.claims
    privacy = (claims.epsilon, claims.delta, claims.log10_delta)
    if shared is not None and shared.log10_delta is not None:
        assert (shared.epsilon, shared.delta, shared.log10_delta) == privacy
    else:
        assert (target.epsilon, target.delta, target.log10_delta) == privacy
    common = shared.excess_risk if shared is not None else None
    claimed = details.excess_risk if details.excess_risk is not None else common
    if claims.excess_risk is None:
        assert claimed is None
        return
    assert claimed is not None
    assert 0.0 <= claimed - claims.excess_risk <= 1e-5 * claims.excess_risk
    vacuous = details.vacuous if details.excess_risk is not None else shared.vacuous if shared else None
    assert vacuous == claims.vacuous
    baseline = shared.baseline if shared is not None and shared.baseline is not None else None
    assert (baseline or (answer.risk and answer.risk.baseline)) == claims.baseline


@each_case
def test_every_reading_is_in_one_entry_with_all_that_it_says(calibrator: Calibrator, changes: dict[str, Any]) -> None:
    answer = solved(calibrator, changes)
    assert sum(len(entry.readings) for entry in answer.as_printed) == len(answer.readings)
    for reading in answer.readings:
        held(answer, reading)


@each_case
def test_no_two_entries_prescribe_the_same_with_the_same_verdict(
    calibrator: Calibrator, changes: dict[str, Any]
) -> None:
    answer = solved(calibrator, changes)
    said = [
        json.dumps(as_json((one.theorem, one.status, one.reason, one.parameters, one.claims, one.true)), sort_keys=True)
        for one in answer.as_printed
    ]
    assert len(set(said)) == len(said)


def reading(name: Any = "complete", **changes: Any) -> PrintedReading:
    """Return a reading of an invented theorem, with changes."""
    parts: dict[str, Any] = {
        "theorem": "toy.1",
        "reading": name,
        "status": Status.PROVED,
        "parameters": {"noise_std": 2.0, "rounds": 10},
        "claims": Claims(epsilon=1.0, delta=1e-5, log10_delta=-5.0),
        "true": TrueFigures(epsilon=Ends(0.5, 0.6), delta=Ends(0.0, 1e-9), log10_delta=Ends(-10.0, -9.0)),
        "conditions": (),
    }
    return PrintedReading(**{**parts, **changes})


OTHER_TRUTH = TrueFigures(epsilon=Ends(0.5, 0.7), delta=Ends(0.0, 1e-9), log10_delta=Ends(-10.0, -9.0))


@pytest.mark.parametrize(
    "changes",
    [
        {"status": Status.REFUTED},
        {"reason": "the request draws otherwise"},
        {"true": OTHER_TRUTH},
        {"true": None},
        {"theorem": "toy.2"},
        {"parameters": {"noise_std": 2.5, "rounds": 10}},
        {"parameters": {"noise_std": 2.0, "rounds": 11}},
        {"parameters": {"noise_std": 2.0}},
        {"claims": Claims(epsilon=2.0, delta=1e-5, log10_delta=-5.0)},
    ],
)
def test_readings_that_say_different_things_stay_apart(changes: dict[str, Any]) -> None:
    entries = printed_entries((reading(), reading("proof", **changes)), problem=None, target=TARGET, risk=None)
    assert [entry.readings for entry in entries] == [("complete",), ("proof",)]


def test_a_reading_that_leaves_a_parameter_open_joins_and_says_so() -> None:
    step = reading(parameters={"noise_std": 2.0, "rounds": 10, "step_size": 0.25})
    other = replace(step, reading="proof", parameters={**step.parameters, "step_size": 0.5})
    entries = printed_entries((reading("informal"), step, other), problem=None, target=TARGET, risk=None)
    assert [entry.readings for entry in entries] == [("informal", "complete"), ("proof",)]
    assert entries[0].parameters == {"noise_std": 2.0, "rounds": 10, "step_size": 0.25}
    assert entries[0].by_reading == (ReadingDetails(reading="informal", leaves_open=("step_size",)),)


def test_a_condition_that_fails_for_one_reading_only_stays_with_it() -> None:
    def condition(holds: Any, right: float) -> ConditionAnswer:
        return ConditionAnswer(id="enough", statement="R is enough", holds=holds, left=10.0, right=right)

    readings = (
        reading("informal", conditions=(condition(Verdict.YES, 5.0),)),
        reading("complete", conditions=(condition(Verdict.NO, 20.0),)),
        reading("proof", conditions=(condition(Verdict.NO, 30.0),)),
    )
    (entry,) = printed_entries(readings, problem=None, target=TARGET, risk=None)
    assert entry.conditions is None
    assert entry.by_reading == (
        ReadingDetails(reading="complete", conditions=(condition(Verdict.NO, 20.0),)),
        ReadingDetails(reading="proof", conditions=(replace(condition(Verdict.NO, 30.0), statement=None),)),
    )


def test_the_answer_of_the_readme_is_short() -> None:
    answer = epsilond.calibrate("mb-sgd", **README_REQUEST)
    served = json.dumps(as_json(answer), ensure_ascii=False, separators=(",", ":")).encode()
    assert len(served) <= MOST_BYTES
    assert [entry.readings for entry in answer.as_printed] == [
        ("informal", "complete", "proof", "corrected"),
        ("experimental",),
    ]


@each_case
def test_an_entry_repeats_no_value_of_the_request(calibrator: Calibrator, changes: dict[str, Any]) -> None:
    answer = solved(calibrator, changes)
    for entry in answer.as_printed:
        assert "noise_multiplier" not in entry.parameters
        assert not [name for name, value in entry.parameters.items() if getattr(answer.problem, name, None) == value]

"""Laws of the list of theorems: what every entry must have."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from epsilond.accountants.bibliography import WORKS
from epsilond.accountants.theorem import Grade, Status, Theorem
from epsilond.accountants.theorems import FAMILIES, RULES, THEOREMS
from epsilond.accountants.theorems.withdrawn import WITHDRAWN
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import as_json

ROOT = Path(__file__).resolve().parents[2]
ID = re.compile(r"^[a-z-]+(-\d{4})?\.[a-z0-9.-]+$")

each_theorem = pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: theorem.id)


def test_ids_are_unique_and_well_formed() -> None:
    ids = [theorem.id for theorem in THEOREMS]
    assert len(set(ids)) == len(ids)
    assert [one for one in ids if not ID.match(one)] == []


def test_families_with_rules_say_so() -> None:
    assert [one.name for one in FAMILIES if one.rules] == [one.name for one in FAMILIES if hasattr(one.module, "RULES")]


@each_theorem
def test_sources_stand_in_the_bibliography(theorem: Theorem) -> None:
    assert theorem.source.key in WORKS


@each_theorem
def test_a_refuted_statement_has_an_error_and_no_withdrawn_erratum_is_served(theorem: Theorem) -> None:
    grades = {erratum.grade for erratum in theorem.errata}
    assert Grade.WITHDRAWN not in grades
    assert theorem.status is not Status.REFUTED or any(grade.is_error for grade in grades)


def test_withdrawn_errata_name_theorems_that_exist() -> None:
    ids = {theorem.id for theorem in THEOREMS}
    for withdrawal in WITHDRAWN:
        assert withdrawal.erratum.grade is Grade.WITHDRAWN
        assert set(withdrawal.theorems) <= ids


@each_theorem
def test_a_formula_comes_with_inputs_and_examples_that_run(theorem: Theorem) -> None:
    assert (theorem.formula is None) == (theorem.inputs is None)
    if theorem.inputs is None:
        return
    assert theorem.examples
    for example in theorem.examples:
        for reading in theorem.readings:
            evaluation = theorem.evaluate(theorem.inputs(**example), reading)
            assert evaluation.outputs
            json.dumps(as_json(evaluation.outputs), allow_nan=False)


@each_theorem
def test_conditions_are_checked_or_undecidable_never_silently_true(theorem: Theorem) -> None:
    if theorem.inputs is None:
        return
    for example in theorem.examples:
        for result, condition in zip(
            theorem.evaluate(theorem.inputs(**example)).conditions, theorem.conditions, strict=True
        ):
            assert condition.checked or result.holds == "undecidable"
            assert not condition.checked or (result.left is not None and result.right is not None)


def test_rules_and_calibrators_rest_on_registered_theorems() -> None:
    ids = {theorem.id for theorem in THEOREMS}
    assert {rule.theorem.id for rule in RULES} <= ids
    for calibrator in CALIBRATORS:
        assert set(calibrator.theorems) <= ids, calibrator.name

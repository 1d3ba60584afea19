"""Law: texts of fields are for readers of a page, and follow the unit that is protected."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from epsilond.accountants.quantities import Unit
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.accounts import AccountAnswer, AccountProblem
from epsilond.calibrators.answer import Calibration

CODE = re.compile(r"\bmath\.|\bNone\b|\bfloat\b|\bself\b")
TYPES = [AccountProblem, AccountAnswer, Calibration]
TYPES += [each for calibrator in CALIBRATORS for each in (calibrator.problem, calibrator.parameters)]
OTHER_UNIT = {"record": "client", "client": "record"}


def described(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema that has a description, at any depth."""
    if isinstance(schema, dict):
        if isinstance(schema.get("description"), str):
            yield schema
        for each in schema.values():
            yield from described(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from described(each)


@pytest.mark.parametrize("record", TYPES, ids=lambda each: each.__name__)
def test_no_text_speaks_python(record: type) -> None:
    found = list(described(TypeAdapter(record).json_schema()))
    assert found
    for schema in found:
        assert not CODE.search(schema["description"]), schema["description"]


@pytest.mark.parametrize("record", TYPES, ids=lambda each: each.__name__)
@pytest.mark.parametrize("unit", get_args(Unit))
def test_a_text_of_a_unit_speaks_of_that_unit_alone(record: type, unit: Unit) -> None:
    for schema in described(TypeAdapter(record).json_schema()):
        if template := schema.get("x-of-unit"):
            told = template.replace("{unit}", unit)
            assert unit in told
            assert OTHER_UNIT[unit] not in told
            assert {"record", "client"} <= set(re.findall(r"record|client", schema["description"]))


@pytest.mark.parametrize("name", ["rate", "batch_size", "population"])
def test_what_gaussian_draws_is_told_of_the_unit(name: str) -> None:
    gaussian = next(each for each in CALIBRATORS if each.name == "gaussian")
    for record in (gaussian.problem, gaussian.parameters):
        assert "{unit}" in TypeAdapter(record).json_schema()["properties"][name]["x-of-unit"]

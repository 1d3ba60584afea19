"""Verdicts are one string enumeration in every package and in every served schema."""

from __future__ import annotations

import copy
import json
import pickle
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.theorem import Sides
from epsilond.accountants.theorems import THEOREMS
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.accounting.claims import ClaimAnswer
from epsilond.calibrators.accounts import ConsideredAnswer
from epsilond.calibrators.answer import ConditionAnswer, ConsideredBound
from epsilond.calibrators.planning.answer import PlanEntry
from epsilond.witness.audits.answer import ClaimChecked
from epsilond.witness.kinds import KINDS
from epsilond.witness.risks.answer import BoundAnswer
from scripts.pages.simulations import result_schema

DOCUMENT = Path(__file__).parents[2] / "openapi" / "openapi.json"
"""The committed document, which another test compares with the served one."""
WORDS = {"yes", "no", "undecidable"}
OTHER_STATEMENTS = {"ListedConditionKind"}
"""Enumerations that share a word with the verdicts and are none: how a condition is settled, not whether it holds."""
VERDICT_FIELDS = {"holds", "applies", "violated"}


def test_a_verdict_equals_its_string_and_survives_copies() -> None:
    assert {str(verdict) for verdict in Verdict} == WORDS
    assert json.loads(json.dumps(list(Verdict))) == ["yes", "no", "undecidable"]
    assert Verdict.of(1.0 <= 2.0) == "yes"
    assert Verdict.of(2.0 <= 1.0) == "no"
    assert repr(Verdict.UNDECIDABLE) == "'undecidable'"
    for verdict in Verdict:
        assert copy.deepcopy(verdict) is pickle.loads(pickle.dumps(verdict)) is verdict


@pytest.mark.parametrize("verdict", Verdict)
def test_a_verdict_has_no_truth_value(verdict: Verdict) -> None:
    with pytest.raises(TypeError, match="compare it"):
        bool(verdict)
    with pytest.raises(TypeError, match="compare it"):
        all([verdict])


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        (Sides, "holds"),
        (ConditionResult, "holds"),
        (ConditionAnswer, "holds"),
        (ClaimAnswer, "holds"),
        (BoundAnswer, "holds"),
        (ClaimChecked, "violated"),
        (PlanEntry, "applies"),
        (ConsideredAnswer, "applies"),
        (ConsideredBound, "applies"),
    ],
)
def test_the_answers_of_the_library_have_the_enumeration(answer: type, field: str) -> None:
    kind = typing.get_type_hints(answer)[field]
    assert kind in (Verdict, Verdict | None)


@pytest.mark.parametrize(
    "theorem", [one for one in THEOREMS if one.conditions and one.examples], ids=lambda one: one.id
)
def test_the_conditions_of_every_theorem_are_verdicts(theorem: Any) -> None:
    for example in theorem.examples:
        for condition in theorem.evaluate(theorem.request(**example)).conditions:
            assert isinstance(condition.holds, Verdict), condition


def _fields(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield every property of every schema in a part of the document, with its name."""
    if isinstance(node, dict):
        properties = node.get("properties")
        if isinstance(properties, dict):
            yield from properties.items()
        for key, item in node.items():
            if key != "examples":
                yield from _fields(item)
    elif isinstance(node, list):
        for item in node:
            yield from _fields(item)


def _choices(node: Any) -> Iterator[set[str]]:
    """Yield the values of every enumeration and constant in a part of the document."""
    if isinstance(node, dict):
        choices = node.get("enum", [node["const"]] if "const" in node else None)
        if isinstance(choices, list):
            yield {str(choice).lower() for choice in choices}
        for item in node.values():
            yield from _choices(item)
    elif isinstance(node, list):
        for item in node:
            yield from _choices(item)


def test_every_served_verdict_refers_to_the_one_enumeration() -> None:
    schemas = json.loads(DOCUMENT.read_text(encoding="utf-8"))["components"]["schemas"]
    assert set(schemas["Verdict"]["enum"]) == WORDS
    fields = [(name, field) for name, field in _fields(schemas) if name in VERDICT_FIELDS]
    assert {name for name, _ in fields} == {"holds", "applies"}
    assert [name for name, field in fields if field.get("$ref") != "#/components/schemas/Verdict"] == []
    others = {
        name: choices
        for name, schema in schemas.items()
        if name not in {"Verdict", *OTHER_STATEMENTS}
        for choices in _choices(schema)
        if choices & {*WORDS, "true", "false"}
    }
    assert others == {}


def test_every_verdict_of_a_simulation_refers_to_the_one_enumeration() -> None:
    schemas = [result_schema(kind) for kind in KINDS]
    fields = [(name, field) for name, field in _fields(schemas) if name in VERDICT_FIELDS]
    assert {name for name, _ in fields} == {"holds", "violated"}
    assert [name for name, field in fields if field.get("$ref") != "#/$defs/Verdict"] == []
    words = [schema["$defs"]["Verdict"]["enum"] for schema in schemas if "Verdict" in schema.get("$defs", {})]
    assert words
    assert all(set(choices) == WORDS for choices in words)

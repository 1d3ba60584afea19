"""Laws of texts: fields' texts are for readers of a page and follow the unit; shown calls name the right observer."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from epsilond.accountants.quantities import Unit
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.accounts import AccountAnswer, AccountProblem
from epsilond.calibrators.answer import Calibration
from tests.documents import ROOT, blocks

CODE = re.compile(r"\bmath\.|\bNone\b|\bfloat\b|\bself\b")
TYPES = [AccountProblem, AccountAnswer, Calibration]
TYPES += [each for calibrator in CALIBRATORS for each in (calibrator.problem, calibrator.parameters_type)]
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
    for record in (gaussian.problem, gaussian.parameters_type):
        assert "{unit}" in TypeAdapter(record).json_schema()["properties"][name]["x-of-unit"]


PACKAGES = (
    "accountants", "app", "calibrators", "ledgers", "mechanisms", "simulators", "src/epsilond", "training", "witness",
)  # fmt: skip
CENTRAL_GAUSSIAN = re.compile(
    r"\bGaussian\(|\"kind\": \"gaussian\"|calibrate\(\s*\"gaussian\"|\b(?:calibrate |/)gaussian\b"
)
SERVER = re.compile(r"observer\"?\s*[:=]\s*\"server\"|--observer[ =]server\b|Observer\.SERVER\b")


def shown_code() -> Iterator[tuple[str, str]]:
    """Yield each block of code that a reader is shown, with its place."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for block in blocks(path.read_text()):
            yield f"{path.relative_to(ROOT)}: {block.text.splitlines()[0]}", block.text
    for path in sorted((ROOT / "examples").rglob("*.ipynb")):
        cells = json.loads(path.read_text())["cells"]
        yield path.name, "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    for path in (*sorted((ROOT / "examples").glob("*.py")), *sorted((ROOT / "examples/typescript").glob("*.ts"))):
        yield path.name, path.read_text()
    for path in sorted({path for package in PACKAGES for path in (ROOT / package).rglob("*.py")}):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                yield f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'module')}", text


def names_the_server(text: str) -> bool:
    """Return whether code has a Gaussian spec, whose noise is added centrally, and the observer `server`."""
    return bool(CENTRAL_GAUSSIAN.search(text) and SERVER.search(text))


def test_no_shown_code_accounts_for_central_gaussian_noise_against_the_server() -> None:
    shown = list(shown_code())
    assert sum(bool(CENTRAL_GAUSSIAN.search(text)) for _, text in shown) > 20
    assert [place for place, text in shown if names_the_server(text)] == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('step = Gaussian(noise_multiplier=1.0)\nbooks.open(observer="server")', True),
        ('{"spec": {"kind": "gaussian"}, "observer": "server"}', True),
        ("epsilond calibrate gaussian --observer server", True),
        ('account(Gaussian(noise_multiplier=1.0), observer="released-models")', False),
        ('calibrate("mb-sgd", observer="server")', False),
    ],
)
def test_the_search_for_the_server_sees_every_spelling(text: str, named: bool) -> None:
    assert names_the_server(text) == named

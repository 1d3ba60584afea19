"""Habits that make code hard to read are counted. No count exceeds its ceiling, and ceilings only fall."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.documents import ROOT

CEILINGS: Final = {
    "name is a participle": 8,
    "vague variable": 10,
    "docstring opens with a preposition or pronoun": 0,
    "docstring without a verb": 0,
    "constant's docstring opens with a preposition or pronoun": 0,
    "public function of three arguments without Args": 0,
    "dense statement": 10,
    "riddle word": 127,
}
"""Largest count of each habit. Lower a ceiling when its count falls."""
FOLDERS: Final = (
    "accountants",
    "app",
    "benchmarks",
    "calibrators",
    "kernel",
    "ledgers",
    "mechanisms",
    "scripts",
    "simulators",
    "src/epsilond",
    "storage",
    "training",
    "witness",
)
IRREGULAR: Final = (
    "known|found|told|met|read|laid|drawn|given|kept|taken|shown|seen|said|sent|made|built|held|left|put|cut|lost"
)
PARTICIPLE: Final = re.compile(rf"_?([a-z]+ed|{IRREGULAR})")
VAGUE: Final = frozenset(
    [
        *("found", "asked", "told", "known", "beside", "alike", "kept", "tried", "laid", "placed", "given", "whole"),
        *("dear", "spread", "stated", "dealt", "meant", "one", "other", "others", "each"),
    ]
)
OPENERS: Final = frozenset(
    [
        *("Of", "By", "Those", "That", "As", "Where", "From", "With", "At", "For", "In", "What", "How", "Whether"),
        *("Which", "On", "Under", "About", "Above", "Below", "Between", "Out", "Such", "Same", "It", "Its", "This"),
        "These",
    ]
)
NOT_VERBS: Final = frozenset(["The", "A", "An", "One", "Every", "All", "Both", "Each", "Any", "No", "None", "Some"])
RIDDLE: Final = re.compile(
    r"\b(what|whoever|whatever|whichever|nobody|whose|beside|alike|told|asked|stands?|lays?|dear|else|alone)\b",
    re.IGNORECASE,
)
PROPERTIES: Final = frozenset(["property", "cached_property", "overload"])
NESTED: Final = (
    *(ast.IfExp, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp),
    *(ast.Lambda, ast.NamedExpr, ast.Starred),
)
"""Expressions of which a plain statement has at most two."""


def first_word(text: str) -> str:
    return (re.findall(r"[\w'’\-]+", text) or [""])[0]


def of_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the habits of a function's name and docstring."""
    decorators = {ast.unparse(each).split("(")[0].split(".")[-1] for each in node.decorator_list}
    is_property = bool(decorators & PROPERTIES)
    if not is_property and PARTICIPLE.fullmatch(node.name):
        yield "name is a participle"
    docstring = ast.get_docstring(node)
    if not docstring:
        return
    first = first_word(docstring)
    if first in OPENERS:
        yield "docstring opens with a preposition or pronoun"
    elif not is_property and (first in NOT_VERBS or not first[:1].isupper()):
        yield "docstring without a verb"
    arguments = [each.arg for each in node.args.args + node.args.kwonlyargs if each.arg not in ("self", "cls")]
    is_public = not node.name.startswith("_") and not is_property
    if is_public and len(arguments) >= 3 and "Args:" not in docstring:
        yield "public function of three arguments without Args"


def of_constants(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the habits of docstrings that follow an assignment."""
    for before, after in zip(body, body[1:], strict=False):
        if isinstance(before, ast.Assign | ast.AnnAssign) and isinstance(after, ast.Expr):
            text = after.value.value if isinstance(after.value, ast.Constant) else None
            if isinstance(text, str) and first_word(text) in OPENERS:
                yield "constant's docstring opens with a preposition or pronoun"


def of_statement(node: ast.AST) -> Iterator[str]:
    """Yield the habits of a statement."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr | ast.For):
        targets = [node.target]
    for target in targets:
        names = (each.id for each in ast.walk(target) if isinstance(each, ast.Name))
        yield from ("vague variable" for name in names if name in VAGUE)
    value = node.value if isinstance(node, ast.Assign | ast.Return | ast.Expr) else None
    if value is not None and sum(isinstance(each, NESTED) for each in ast.walk(value)) >= 3:
        yield "dense statement"


def habits(text: str) -> Iterator[str]:
    """Yield each habit as often as a module has it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from of_function(node)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from ("riddle word" for _ in RIDDLE.findall(ast.get_docstring(node) or ""))
            yield from of_constants(node.body)
        yield from of_statement(node)


def modules(folder: Path) -> Iterator[Path]:
    """Yield the modules of a folder; linked folders belong to another."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from modules(path)
        elif path.suffix == ".py" and not path.is_symlink():
            yield path


@pytest.fixture(scope="module")
def counts() -> Counter[str]:
    return Counter(
        habit
        for folder in FOLDERS
        for path in modules(ROOT / folder)
        for habit in habits(path.read_text(encoding="utf-8"))
    )


@pytest.mark.parametrize("habit", CEILINGS)
def test_no_habit_grows(habit: str, counts: Counter[str]) -> None:
    assert counts[habit] <= CEILINGS[habit]


@pytest.mark.parametrize(
    ("text", "habit"),
    [
        ("def _merged(): pass", "name is a participle"),
        ("found = 1", "vague variable"),
        ('def end():\n    """Of the curve."""', "docstring opens with a preposition or pronoun"),
        ('def end():\n    """The upper end."""', "docstring without a verb"),
        ('A = 1\n"""Of log noise."""', "constant's docstring opens with a preposition or pronoun"),
        ('def end(a, b, c):\n    """Return a."""', "public function of three arguments without Args"),
        ("x = [a if b else c for a in [d for d in e]]", "dense statement"),
        ('"""What is asked."""', "riddle word"),
    ],
)
def test_each_habit_is_noticed(text: str, habit: str) -> None:
    assert habit in set(habits(text))


def test_plain_code_has_no_habit() -> None:
    text = '"""Roots."""\n\ndef find_root(low, high):\n    """Return the root between two bounds."""\n    return low'
    assert list(habits(text)) == []

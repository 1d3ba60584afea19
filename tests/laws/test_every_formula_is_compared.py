"""Every formula is compared with a value that was worked out apart from it: by an oracle, or in a golden file.

A test that does so says of which theorems, by their ids: `@pytest.mark.compares("lowy.2.1")`.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

import pytest

from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS
from tests.laws.marks import ROOT, marks
from tests.perturbed import HEADING


def comparisons() -> Iterator[tuple[str, str]]:
    """Id of a theorem, and the test that says it compares it."""
    for test, mark, body in marks("compares"):
        tables = {
            node.target.id: [ast.literal_eval(key) for key in node.value.keys if key]
            for node in body
            if isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and isinstance(node.value, ast.Dict)
            if all(isinstance(key, ast.Constant) for key in node.value.keys)
        }
        for theorem in named(mark, tables):
            yield theorem, test


def named(mark: ast.Call, tables: dict[str, list[str]]) -> Iterator[str]:
    """Ids in a mark: written out, or the keys of a table of the module."""
    for argument in mark.args:
        if isinstance(argument, ast.Starred):
            yield from tables[ast.unparse(argument.value)]
        else:
            yield ast.literal_eval(argument)


COMPARED = dict(comparisons())
WITH_FORMULA = [theorem for theorem in THEOREMS if theorem.formula is not None]


@pytest.mark.parametrize("theorem", WITH_FORMULA, ids=lambda theorem: theorem.id)
def test_every_formula_is_compared(theorem: Theorem) -> None:
    assert theorem.id in COMPARED, 'mark the test that compares it: @pytest.mark.compares("…")'


def test_only_registered_formulas_are_said_to_be_compared() -> None:
    assert set(COMPARED) <= {theorem.id for theorem in WITH_FORMULA}


def test_a_formula_that_is_off_by_a_millionth_is_noticed() -> None:
    nodes = sorted({node for _, node in comparisons()})
    plugins = ("-p", "tests.perturbed", "-p", "no:xdist", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", "-q", *plugins]
    ran = subprocess.run([*command, *nodes], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert f"{HEADING} \n" in ran.stdout, ran.stdout.rpartition(HEADING)[2]

"""The numeric constants of the engines and the kernel: few, and each with its reason beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CEILING = 149
"""Most constants in the engines and the kernel together. Lower it when constants go; never raise it."""
IN_C = re.compile(r"^(?:#define\s+(\w+)\s+\(?[-+]?[\d.]|(?:static )?const (?:double|int|size_t) (\w+)\s*=)")


@dataclass(frozen=True)
class Constant:
    """One numeric constant of a module, or of a file of C."""

    path: Path
    name: str
    explained: bool
    """Whether a comment or a docstring stands beside it."""


def is_numeric(value: ast.expr) -> bool:
    """Return whether a number is written in an expression."""
    return any(
        isinstance(node, ast.Constant) and type(node.value) in (int, float)
        for node in ast.walk(value)
        if not isinstance(node, ast.Subscript)
    )


def read_python(path: Path) -> Iterator[Constant]:
    """Yield the constants of a module; each name of a tuple counts."""
    lines = path.read_text().splitlines()
    body = ast.parse("\n".join(lines)).body
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        if statement.value is None or not is_numeric(statement.value):
            continue
        has_docstring = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        above, own = lines[statement.lineno - 2], lines[statement.lineno - 1 : statement.end_lineno]
        explained = has_docstring or above.startswith("#") or any("#" in line for line in own)
        for target in targets:
            for node in ast.walk(target):
                if isinstance(node, ast.Name):
                    yield Constant(path, node.id, explained)


def read_c(path: Path) -> Iterator[Constant]:
    """Yield the constants of a file of C."""
    above = ""
    for line in path.read_text().splitlines():
        if named := IN_C.match(line):
            explained = "/*" in line or "//" in line or above.endswith("*/") or above.startswith("//")
            yield Constant(path, named[1] or named[2], explained)
        above = line.strip()


def read_constants() -> list[Constant]:
    """Return the constants of the engines and the kernel."""
    python = sorted((ROOT / "accountants" / "engine").rglob("*.py"))
    c = sorted((ROOT / "kernel" / "src").glob("*.[ch]"))
    return [*(each for path in python for each in read_python(path)), *(each for path in c for each in read_c(path))]


def test_the_engines_and_the_kernel_have_few_numeric_constants() -> None:
    """Each constant is a choice that a reader has to understand."""
    assert len(read_constants()) <= CEILING


def test_numeric_constants_have_their_reasons_beside_them() -> None:
    """A comment or a docstring says the unit and where the value is from."""
    bare = [f"{each.path.relative_to(ROOT)}: {each.name}" for each in read_constants() if not each.explained]
    assert not bare


def test_the_count_sees_each_way_to_write_a_constant(tmp_path: Path) -> None:
    """Tuples, products, annotations, defines and constants of C count; strings and subscripts do not."""
    module, source = tmp_path / "module.py", tmp_path / "file.c"
    module.write_text('A = 1\n"""Unit."""\n# Units.\nB, C = 2.0, -3\nD: float = 4 * A\nE = "5"\nF: tuple[int, ...]\n')
    source.write_text("#define G 6 /* unit */\n#define H(x) (x)\nstatic const double I = 7;\n")
    assert [(each.name, each.explained) for each in read_python(module)] == [
        ("A", True),
        ("B", True),
        ("C", True),
        ("D", False),
    ]
    assert [(each.name, each.explained) for each in read_c(source)] == [("G", True), ("I", False)]

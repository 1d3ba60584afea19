"""Marks of tests, read from their source without importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def marks(name: str) -> Iterator[tuple[str, ast.Call, list[ast.stmt]]]:
    """Yield the node ID of each test with a mark of this name, the mark, and the module's statements."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        body = ast.parse(text).body if f"pytest.mark.{name}(" in text else []
        for node in body:
            for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else []:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == f"pytest.mark.{name}":
                    yield f"{path.relative_to(ROOT)}::{node.name}", mark, body  # type: ignore[attr-defined]

"""Notebooks of examples/notebooks: python -m scripts.notebooks runs them and writes the output of their cells.

--check compares instead, and exits with 1 if an output differs. The output of a cell is its printed text, then its last
expression: a figure of matplotlib as a picture, another value as text. No kernel is needed. Pictures are drawn anew and
not compared: their bytes differ between versions of matplotlib.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "notebooks"


def execute(notebook: dict[str, Any]) -> dict[str, Any]:
    """Run the code cells of a notebook in one namespace.

    Args:
        notebook: JSON form of the notebook.

    Returns:
        A copy with the outputs and the numbers of the cells.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            cells.append(cell)
            continue
        count += 1
        cells.append({**cell, "execution_count": count, "outputs": _outputs("".join(cell["source"]), names)})
    return {**notebook, "cells": cells}


def _outputs(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell, and return its outputs: the printed text, and the figure if its last expression is one.

    Args:
        source: code of the cell.
        names: namespace of the notebook, which the cell changes.

    Returns:
        The outputs in the format of notebooks, at most two.
    """
    statements = ast.parse(source).body
    last_expression: ast.expr | None = None
    last = statements[-1] if statements else None
    # The value of a last expression is an output, as in an interactive session.
    if isinstance(last, ast.Expr):
        last_expression = last.value
        statements.pop()
    value = None
    with contextlib.redirect_stdout(io.StringIO()) as stdout:
        exec(compile(ast.Module(statements, []), "<cell>", "exec"), names)  # noqa: S102  our own notebooks
        if last_expression is not None:
            value = eval(compile(ast.Expression(last_expression), "<cell>", "eval"), names)  # noqa: S307
        is_figure = hasattr(value, "savefig")
        if value is not None and not is_figure:
            print(repr(value))
    text = stdout.getvalue()
    outputs: list[dict[str, Any]] = []
    if text:
        outputs.append({"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)})
    if is_figure:
        outputs.append(_picture(value))
    return outputs


def _picture(figure: Any) -> dict[str, Any]:
    """Return a figure as the output of a cell."""
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=80, metadata={"Software": None})
    data = {"image/png": base64.b64encode(image.getvalue()).decode(), "text/plain": [str(figure)]}
    return {"data": data, "metadata": {}, "output_type": "display_data"}


def without_pictures(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a notebook with a word in place of each picture, for comparison."""
    copy: dict[str, Any] = json.loads(json.dumps(notebook))
    for cell in copy["cells"]:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output["data"]["image/png"] = "a picture"
    return copy


def main(arguments: Sequence[str]) -> int:
    """Run every notebook and store the outputs, or with --check compare them with the stored ones.

    Args:
        arguments: arguments of the command line.

    Returns:
        The exit code: 1 if outputs differ, and otherwise 0.
    """
    differences = 0
    for path in sorted(FOLDER.glob("*.ipynb")):
        stored = json.loads(path.read_text(encoding="utf-8"))
        result = execute(stored)
        if "--check" not in arguments:
            path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        elif without_pictures(result) != without_pictures(stored):
            differences += 1
            print(f"{path.name} prints something else: run python -m scripts.notebooks and commit the result")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

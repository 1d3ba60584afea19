"""A page for each calibrator, and the page that lists them."""

from __future__ import annotations

import inspect
import json
import shlex
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.calibration import Calibrator
from scripts.pages import schemas
from scripts.pages.markdown import code, plain, table
from scripts.pages.theorems import row

THEOREM_HEAD = ("theorem", "what it says", "status", "source", "errata")
BY_ID = {theorem.id: theorem for theorem in THEOREMS}


def pages() -> Iterator[tuple[str, str]]:
    """Yield path and text of each page."""
    yield "algorithms/index.md", index()
    for calibrator in CALIBRATORS:
        yield f"algorithms/{calibrator.name}.md", page(calibrator)


def index() -> str:
    """Write the list of all algorithms that can be calibrated."""
    rows = [
        (f"[{code(calibrator.name)}]({calibrator.name}.md)", plain(calibrator.title), plain(calibrator.summary))
        for calibrator in CALIBRATORS
    ]
    return f"# Algorithms\n\n{table(('algorithm', 'title', 'what it does'), rows)}\n"


def page(calibrator: Calibrator) -> str:
    """Write the page of an algorithm: its request, an example, its answer, and its theorems.

    Args:
        calibrator: the calibrator of the algorithm.

    Returns:
        The page in Markdown.
    """
    name = calibrator.name
    path = f"/v1/calibrations/{name}"
    operation = schemas.operation(path)
    request = schemas.body(operation) if operation else None
    assert request is not None
    parts = [
        f"# {plain(calibrator.title)}\n",
        f"{code(name)}: {plain(calibrator.summary)}\n",
        "## Request\n",
        f"`POST {path}`, `epsilond.calibrate({name!r}, …)` or `epsilond calibrate {name}`.\n",
        f"{_paragraphs(request.get('description', ''))}\n",
        schemas.fields(request),
        "\n## Example\n",
        f"```sh\n{_command(calibrator, path)}\n```\n",
        "## Answer\n",
        f"`parameters` has the values of the run: {_parameters(calibrator)}. The rest is the same for every algorithm:",
        "[reading an answer](../answers.md).\n",
        "## Theorems\n",
        table(THEOREM_HEAD, map(_theorem_row, calibrator.theorems)),
    ]
    return "\n".join(parts) + "\n"


def _parameters(calibrator: Calibrator) -> str:
    """Return the names of the parameters of an algorithm's answer."""
    parameters: Any = calibrator.parameters_type
    if not is_dataclass(parameters) or not fields(parameters):
        return "the number that was left out"
    return ", ".join(code(field.name) for field in fields(parameters))


def _theorem_row(theorem: str) -> tuple[str, ...]:
    link, *rest = row(BY_ID[theorem])
    return link.replace("](", "](../theorems/"), *rest


def _command(calibrator: Calibrator, path: str) -> str:
    body = json.dumps(calibrator.example, ensure_ascii=False)
    return f'curl http://127.0.0.1:8000{path} -H "content-type: application/json" -d {shlex.quote(body)}'


def _paragraphs(text: str) -> str:
    return "\n\n".join(plain(part) for part in inspect.cleandoc(text).split("\n\n"))

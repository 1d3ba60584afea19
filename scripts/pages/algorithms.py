"""A page for each calibrator, and the page that lists them."""

from __future__ import annotations

import inspect
import json
import shlex
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.calibration import Calibrator
from scripts.pages import schemas
from scripts.pages.markdown import code, plain, table
from scripts.pages.theorems import row

THEOREM_HEAD = ("theorem", "what it says", "status", "source", "errata")
BY_ID = {each.id: each for each in THEOREMS}


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of each page."""
    yield "algorithms/index.md", index()
    for each in CALIBRATORS:
        yield f"algorithms/{each.name}.md", page(each)


def index() -> str:
    """Every algorithm that can be calibrated."""
    rows = ((f"[{code(each.name)}]({each.name}.md)", plain(each.title), plain(each.summary)) for each in CALIBRATORS)
    return f"# Algorithms\n\n{table(('algorithm', 'title', 'what it does'), rows)}\n"


def page(each: Calibrator) -> str:
    """What is asked, what is answered, and what it rests on."""
    path = f"/v1/calibrations/{each.name}"
    operation = schemas.operation(path)
    asked = schemas.body(operation) if operation else None
    assert asked is not None
    parts = [
        f"# {plain(each.title)}\n",
        f"{code(each.name)}: {plain(each.summary)}\n",
        "## What is asked\n",
        f"`POST {path}`, `epsilond.calibrate({each.name!r}, …)` or `epsilond calibrate {each.name}`.\n",
        f"{_paragraphs(asked.get('description', ''))}\n",
        schemas.fields(asked),
        "\n## Example\n",
        f"```sh\n{_command(each, path)}\n```\n",
        "## What is answered\n",
        f"`parameters` is what to run with: {_parameters(each)}. The rest is the same for every algorithm:",
        "[reading an answer](../answers.md).\n",
        "## What it rests on\n",
        table(THEOREM_HEAD, (_linked(each_id) for each_id in each.theorems)),
    ]
    return "\n".join(parts) + "\n"


def _parameters(each: Calibrator) -> str:
    options = [each.parameters_type] if is_dataclass(each.parameters_type) else []
    names = [field.name for option in options for field in fields(option)]
    return ", ".join(map(code, names)) if names else "the number that was left out"


def _linked(theorem: str) -> tuple[str, ...]:
    link, *rest = row(BY_ID[theorem])
    return link.replace("](", "](../theorems/"), *rest


def _command(each: Calibrator, path: str) -> str:
    body = json.dumps(each.example, ensure_ascii=False)
    return f'curl http://127.0.0.1:8000{path} -H "content-type: application/json" -d {shlex.quote(body)}'


def _paragraphs(text: str) -> str:
    return "\n\n".join(plain(part) for part in inspect.cleandoc(text).split("\n\n"))

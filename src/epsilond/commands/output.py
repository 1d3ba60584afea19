"""What commands print: a table, or the body the service would answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType

from epsilond.calibrators.answer import as_json
from epsilond.terminal.parts import show

AsJson = Annotated[bool, typer.Option("--json", help="print the body the HTTP service answers")]


def print_answer(answer: Any, table: Callable[[Any], RenderableType], *, as_body: bool) -> None:
    """The answer as JSON, or as the table that is made of it."""
    print_body(answer) if as_body else show(table(answer))


def print_body(answer: Any) -> None:
    """The bytes the service would send."""
    sys.stdout.write(json.dumps(as_json(answer), ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n")


def waiting(what: str) -> AbstractContextManager[Any]:
    """Say what is being waited for while it lasts; nothing where standard error is no terminal."""
    return Console(stderr=True).status(f"{what} …") if sys.stderr.isatty() else nullcontext()

"""Output of commands: a table, or the JSON body that the service would send."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from epsilond.commands.parsing import COMMON

if TYPE_CHECKING:
    from rich.console import RenderableType

T = TypeVar("T")
AsJson = Annotated[
    bool, typer.Option("--json", help="print the answer as JSON, as the HTTP service does", rich_help_panel=COMMON)
]


def print_answer(answer: T, table: Callable[[T], RenderableType], *, as_body: bool) -> None:
    """Print an answer as JSON or as a table.

    Args:
        answer: the answer to print.
        table: function from an answer to its table.
        as_body: whether to print JSON.
    """
    if as_body:
        print_body(answer)
    else:
        show(table(answer))


def show(answer: RenderableType) -> None:
    """Print a table or a text to standard output.

    Args:
        answer: the table or text, in a form that the package rich can print.
    """
    from epsilond.terminal import parts  # noqa: PLC0415  help shows no answer

    parts.show(answer)


def print_body(answer: object) -> None:
    """Print an answer as JSON on one line: the body that the service would send.

    Args:
        answer: an answer of the library, or a JSON value.
    """
    from epsilond.calibrators.answer import as_json  # noqa: PLC0415  help shows no answer

    text = json.dumps(as_json(answer), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    sys.stdout.write(f"{text}\n")


def show_progress(title: str) -> AbstractContextManager[object]:
    """Show the name of a computation while it lasts; print nothing if standard error is not a terminal.

    Args:
        title: name of the computation.

    Returns:
        A context manager, within which the name is shown.
    """
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console  # noqa: PLC0415  help shows no progress

    return Console(stderr=True).status(f"{title} …")

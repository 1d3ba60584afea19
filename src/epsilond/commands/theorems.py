"""`epsilond theorems` and `epsilond evaluate`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from epsilond.accountants.json_types import JsonRecord
from epsilond.commands.exits import exit_codes
from epsilond.commands.output import AsJson, print_answer, print_body, show
from epsilond.commands.requests import assignment
from epsilond.options import option_name

Reading = Literal["printed", "corrected"]
"""The readings of `epsilond.accountants.theorem`, which help does not import."""


def add(main: typer.Typer) -> None:
    """Add both commands."""
    main.command()(theorems)
    main.command()(evaluate)


def theorems(
    theorem_id: Annotated[str | None, typer.Argument(metavar="ID", help="one theorem in full")] = None,
    as_body: AsJson = False,
) -> None:
    """List the theorems, or show one in full.

    \f

    Args:
        theorem_id: id of the theorem that is shown; None to list all.
        as_body: whether to print JSON as the service answers it; otherwise a table is printed.

    Raises:
        typer.Exit: there is no such theorem; the reason was printed.
    """
    with exit_codes():
        from epsilond import listing  # noqa: PLC0415  help needs no theorem
        from epsilond.accountants.theorems import THEOREMS  # noqa: PLC0415
        from epsilond.questions import evaluate as evaluating  # noqa: PLC0415
        from epsilond.terminal import lists  # noqa: PLC0415

        if theorem_id is not None:
            chosen = evaluating.theorem(theorem_id)
            if as_body:
                print_body(listing.theorem_in_full(chosen))
            else:
                show(lists.theorem(chosen))
        elif as_body:
            print_body({"theorems": list(map(listing.listed_theorem, THEOREMS))})
        else:
            show(lists.theorems(THEOREMS))


def evaluate(
    theorem_id: Annotated[str, typer.Argument(metavar="ID", help="the theorem")],
    inputs: Annotated[list[str] | None, typer.Option("--input", metavar="NAME=VALUE", help="repeat for each")] = None,
    reading: Annotated[Reading, typer.Option(help="the formula as printed, or as corrected")] = "printed",
    as_body: AsJson = False,
) -> None:
    """Evaluate a theorem's formula and its conditions.

    \f

    Args:
        theorem_id: id of the theorem.
        inputs: NAME=VALUE for each input of the formula.
        reading: whether to evaluate the formula as printed or as corrected.
        as_body: whether to print JSON as the service answers it; otherwise a table is printed.

    Raises:
        typer.Exit: the theorem is unknown or has no formula, or an input is missing or invalid; the reason was printed.
    """
    with exit_codes(name_field=_name_input):
        from epsilond import option_values  # noqa: PLC0415  help needs no theorem
        from epsilond.questions import evaluate as evaluating  # noqa: PLC0415
        from epsilond.terminal import lists  # noqa: PLC0415

        texts: JsonRecord = dict(assignment(text, at="/input") for text in inputs or [])
        problem = evaluating.theorem(theorem_id).inputs
        values = texts if problem is None else option_values.read_options(problem, texts)
        answer = evaluating.evaluate(theorem_id, reading=reading, **values)
        print_answer(answer, lambda evaluation: lists.evaluation(theorem_id, evaluation), as_body=as_body)


def _name_input(field: str) -> str:
    """Return the option with which an input of a theorem is given, such as `--input epsilon=…`."""
    return option_name(field) if field in ("input", "reading") else f"--input {field}=…"

"""`epsilond cite`."""

from __future__ import annotations

from typing import Annotated

import typer

from epsilond.commands.exits import exit_codes
from epsilond.commands.requests import structure_of


def add(main: typer.Typer) -> None:
    """Add the command `epsilond cite` to the command line.

    Args:
        main: the command line.
    """
    main.command()(cite)


def cite(
    theorems: Annotated[
        list[str] | None, typer.Argument(metavar="ID…", help="theorems, as `epsilond theorems` lists")
    ] = None,
    answer: Annotated[
        str | None, typer.Option(metavar="FILE", help="an answer as JSON, as printed by --json; - reads standard input")
    ] = None,
) -> None:
    """Print BibTeX entries of this software, and of the works that prove the given theorems or those of an answer.

    \f

    Args:
        theorems: ids of theorems.
        answer: JSON text or path of a JSON file with an answer, or `-` for standard input; None for no answer.

    Raises:
        typer.Exit: there is no such theorem, or the answer cannot be read; the reason was printed.
    """
    with exit_codes():
        from epsilond.questions.cite import cite as bibtex  # noqa: PLC0415  help cites nothing

        answers = []
        if answer is not None:
            answers.append(structure_of(answer, at="/answer"))
        typer.echo(bibtex(*(theorems or ()), *answers))

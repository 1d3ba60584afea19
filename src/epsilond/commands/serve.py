"""`epsilond serve`, and `epsilond keys` for it: the only commands that reach the service."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from epsilond.commands.exits import BAD_INPUT
from epsilond.extras import extra

keys = typer.Typer(no_args_is_help=True, help="Make API keys for the service.")


def add(main: typer.Typer) -> None:
    """Add both."""
    main.command()(serve)
    main.add_typer(keys, name="keys")


def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on; else EPSILOND_HOST, else 127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(help="else EPSILOND_PORT, else 8000", min=0, max=65535)] = None,
) -> None:
    """Start the HTTP service."""
    with extra("service", "the service"):
        from epsilond.app.serve import serve as start  # noqa: PLC0415  the rest of the command line needs no framework

    try:
        start(host=host, port=port)
    except ValueError as error:
        if not str(error).startswith("EPSILOND_"):
            raise
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from None


@keys.callback()
def group() -> None:
    """Make API keys for the service."""


@keys.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="whose it is; simulations belong to this name")],
    file: Annotated[Path | None, typer.Option(help="file of keys to add the line to; else it is printed")] = None,
    requests_per_minute: Annotated[int | None, typer.Option(min=1, help="absent: no limit")] = None,
    concurrent_computations: Annotated[int | None, typer.Option(min=1, help="absent: no limit")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="simulations that have not ended; absent: no limit")] = None,
) -> None:
    """Print a fresh key, once, and the line that makes it known: the service keeps digests only."""
    with extra("service", "the service"):
        from epsilond.app.http import keys as made  # noqa: PLC0415  as above

    try:
        key, line = made.new(
            name,
            made.Limits(
                requests_per_minute=requests_per_minute, concurrent_computations=concurrent_computations, jobs=jobs
            ),
        )
        if file is not None:
            append(file, line.text, lambda whole: made.lines_of(whole, file))
    except (ValueError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from None
    typer.echo(key)
    if file is None:
        typer.echo(line.text)


def append(file: Path, text: str, check: Callable[[str], object]) -> None:
    """One line more in a file that only its owner can read if it is made here; nothing is written that `check` refuses.

    Raises:
        OSError: it cannot be read or written.
    """
    descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+", encoding="utf-8") as opened:
        whole = opened.read()
        added = text + "\n" if not whole or whole.endswith("\n") else f"\n{text}\n"
        check(whole + added)
        opened.write(added)

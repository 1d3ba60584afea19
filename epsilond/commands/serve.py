"""`epsilond serve`: the only command that reaches the service."""

from __future__ import annotations

from typing import Annotated

import typer

from epsilond.commands.exits import BAD_INPUT


def add(main: typer.Typer) -> None:
    """Add the command."""
    main.command()(serve)


def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on; else EPSILOND_HOST, else 127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(help="else EPSILOND_PORT, else 8000", min=0, max=65535)] = None,
) -> None:
    """Start the HTTP service."""
    from app.serve import serve as start  # noqa: PLC0415  the rest of the command line needs no web framework

    try:
        start(host=host, port=port)
    except ValueError as error:
        if not str(error).startswith("EPSILOND_"):
            raise
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from None

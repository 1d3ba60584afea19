"""`epsilond serve`, and `epsilond keys` for it: the only commands that reach the service."""

from __future__ import annotations

import gc
import os
from typing import Annotated

import typer

from epsilond.commands import keys
from epsilond.commands.exits import BAD_INPUT
from epsilond.extras import extra


def add(main: typer.Typer) -> None:
    """Add both."""
    main.command()(serve)
    main.add_typer(keys.group, name="keys")


def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on; default EPSILOND_HOST, or 127.0.0.1")] = None,
    port: Annotated[
        int | None, typer.Option(help="port to listen on; default EPSILOND_PORT, or 8000", min=0, max=65535)
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="run jobs on the Dask cluster of this scheduler; default EPSILOND_DASK"),
    ] = None,
) -> None:
    """Start the HTTP service.

    \f

    Args:
        host: address to listen on; None for EPSILOND_HOST, or 127.0.0.1.
        port: port to listen on, 0 to 65535; None for EPSILOND_PORT, or 8000.
        dask: address of the scheduler of the Dask cluster that runs jobs; None for EPSILOND_DASK.

    Raises:
        typer.Exit: a setting is invalid, or the address cannot be listened on; the reason was printed.
        MissingExtra: the packages of the service are not installed.
    """
    # The service enables the collector after its start. Until then it would only scan imported objects, which all stay.
    gc.disable()
    from epsilond.app.workers.threads import ONE_THREAD  # noqa: PLC0415  help needs nothing of the service

    # Numpy reads these variables when it is imported, and workers are forks of a process that inherits them.
    os.environ.update(ONE_THREAD)
    with extra("service", "the service"):
        from epsilond.app.serve import serve as start  # noqa: PLC0415  the rest of the command line needs no framework

    try:
        start(host=host, port=port, dask=dask)
    except ValueError as error:
        if not str(error).startswith("EPSILOND_"):
            raise
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from None

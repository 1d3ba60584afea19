"""`--dask`: the commands whose work has many parts run them on a cluster."""

from __future__ import annotations

import inspect
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from epsilond.commands.parsing import COMMON

if TYPE_CHECKING:
    from concurrent.futures import Executor

OPTION = typer.Option(
    "--dask",
    metavar="ADDRESS",
    envvar="EPSILOND_DASK",
    help="run the parts on the Dask cluster of this scheduler, as tcp://10.0.0.1:8786; the answer is the same",
    rich_help_panel=COMMON,
)
OnDask = Annotated[str | None, OPTION]


def parameter() -> inspect.Parameter:
    """The option, for commands whose signature is made."""
    return inspect.Parameter("dask", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=OnDask)


def executor_at(address: str | None) -> AbstractContextManager[Executor | None]:
    """The cluster of this address, or none.

    Raises:
        MissingExtra: distributed is not installed.
        ClusterError: it cannot be used.
    """
    if not address:
        return nullcontext()
    import logging  # noqa: PLC0415  few commands use a cluster

    from epsilond.executors import dask_executor  # noqa: PLC0415

    # What it logs of a lost connection are tracebacks; what of it matters is raised in words.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    return dask_executor(address)

"""`--dask`: execution of the parts of a command on a cluster."""

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
    """Return the option as a parameter, for commands with a constructed signature."""
    return inspect.Parameter("dask", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=OnDask)


def executor_at(address: str | None) -> AbstractContextManager[Executor | None]:
    """Return a context manager that yields an executor on a Dask cluster; it yields None without an address.

    Args:
        address: address of the scheduler, such as tcp://10.0.0.1:8786; None or empty to compute in this process.

    Returns:
        The context manager; at its end the connection to the cluster is closed.

    Raises:
        MissingExtra: distributed is not installed.
        ClusterError: the cluster cannot be used.
    """
    if not address:
        return nullcontext()
    import logging  # noqa: PLC0415  few commands use a cluster

    from epsilond.executors import dask_executor  # noqa: PLC0415

    # It logs tracebacks of a lost connection. The errors that matter are raised as ClusterError.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    return dask_executor(address)

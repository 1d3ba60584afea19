"""`epsilond ledger drill`: faults of a deployment, tried in a temporary store."""

from __future__ import annotations

from typing import Annotated

import typer

from epsilond.commands.exits import UNEXPECTED, exit_codes
from epsilond.commands.output import AsJson, print_body, show, show_progress
from epsilond.extras import extra
from epsilond.ledgers.commands.shared import group
from epsilond.ledgers.drills.names import DrillName


@group.command()
def drill(
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            envvar="EPSILOND_DRILL_STORE",
            help="of a PostgreSQL server (postgresql://…) on which temporary databases are made; absent: SQLite files",
        ),
    ] = None,
    only: Annotated[
        list[DrillName] | None,
        typer.Option(metavar="NAME", help=f"a drill, once for each: {', '.join(DrillName)}; absent: all"),
    ] = None,
    as_body: AsJson = False,
) -> None:
    """Cause faults of a deployment in a temporary store, and report each outcome. Existing ledgers are not used.

    Exits with 0 where all drills passed, 1 where one failed.

    \f

    Args:
        store: URL of a PostgreSQL server for temporary databases; None uses temporary SQLite files.
        only: names of the drills; None runs all.
        as_body: whether to print JSON; otherwise a table is printed.

    Raises:
        typer.Exit: a drill failed (code 1), or the server cannot be used.
    """
    with exit_codes(), extra("ledger", "a ledger"):
        from epsilond.ledgers.commands import tables  # noqa: PLC0415  few commands use it
        from epsilond.ledgers.drills.running import run_drills  # noqa: PLC0415  only the extra has its packages

        with show_progress("drills"):
            reports = list(run_drills(only or (), store))
        passed = all(report.passed for report in reports)
        kind = "SQLite" if store is None else "PostgreSQL"
        body = {"passed": passed, "store": kind, "drills": [report.record for report in reports]}
        print_body(body) if as_body else show(tables.drills(body))
        if not passed:
            typer.echo("a drill failed: the outcome differs from the expected one", err=True)
            raise typer.Exit(UNEXPECTED)

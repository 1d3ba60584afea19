"""The command line. The commands are families in `epsilond/commands/`, here in the order in which they are listed.

Exit codes: `src/epsilond/commands/exits.py`; they stand at the end of `epsilond --help` too.
"""

from __future__ import annotations

import typer

from epsilond.accountants import ENGINE_VERSION
from epsilond.commands import account, algorithms, plan, report, serve, simulate, theorems
from epsilond.commands.exits import EPILOG

main = typer.Typer(
    name="epsilond",
    help="Certified privacy accounting and noise calibration for federated learning.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
FAMILIES = (serve, algorithms, plan, account, theorems, simulate, report)
for _family in FAMILIES:
    _family.add(main)


@main.command()
def version() -> None:
    """Print the version."""
    typer.echo(ENGINE_VERSION)

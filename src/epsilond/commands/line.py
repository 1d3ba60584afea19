"""The command line. Each family of commands is one module, which is imported when one of its commands is called.

Exit codes: `src/epsilond/commands/exits.py`; they are at the end of `epsilond --help` too.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.main import get_group

from epsilond.accountants import ENGINE_VERSION
from epsilond.commands.exits import EPILOG
from epsilond.commands.parsing import CommandLine, LazyGroup

FAMILIES = {
    "serve": "commands.serve",
    "keys": "commands.serve",
    "jobs": "commands.jobs",
    "ledger": "ledgers.commands.lifetime",
    "calibrate": "commands.algorithms",
    "risk-bound": "commands.algorithms",
    "algorithms": "commands.algorithms",
    "plan": "commands.plan",
    "account": "commands.account",
    "theorems": "commands.theorems",
    "evaluate": "commands.theorems",
    "simulate": "commands.simulate",
    "report": "commands.report",
    "verify": "commands.report",
    "cite": "commands.cite",
}
"""Commands in the order of the help, and for each the module of epsilond whose function `add(main)` adds it."""


class Commands(LazyGroup):
    """Group of the commands of `FAMILIES`, with modules that are imported when they are called, and of `version`."""

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002
        """Return the names of the commands, in the order in which the help shows them.

        Args:
            ctx: context of the command line, which is not used.
        """
        return [*FAMILIES, "version"]

    def get_command(self, ctx: object, cmd_name: str) -> Any:  # noqa: ARG002
        """Return a command by its name, and import the module that adds it.

        Args:
            ctx: context of the command line, which is not used.
            cmd_name: name of the command.

        Returns:
            The command; None for an unknown name.
        """
        family = CommandLine(pretty_exceptions_enable=False)
        family.command()(version)  # the only command without a module of its own
        if cmd_name in FAMILIES:
            import_module(f"epsilond.{FAMILIES[cmd_name]}").add(family)
        return get_group(family).commands.get(cmd_name)


line = typer.Typer(
    name="epsilond",
    cls=Commands,
    help="Certified privacy accounting and noise calibration for federated learning.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def version() -> None:
    """Print the version."""
    typer.echo(ENGINE_VERSION)


def _print_version(is_given: bool) -> None:
    """Print the version and exit, if the option --version is given."""
    if is_given:
        version()
        raise typer.Exit


@line.callback()
def options(
    _: Annotated[
        bool, typer.Option("--version", help="print the version", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Certified privacy accounting and noise calibration for federated learning."""

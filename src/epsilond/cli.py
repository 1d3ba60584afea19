"""Entry point of the command line: `epsilond`, and `python -m epsilond`."""

from __future__ import annotations

import sys

from epsilond.accountants import ENGINE_VERSION
from epsilond.extras import MissingExtra, extra

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C has stopped."""


def main() -> None:
    """Run the command that the arguments name, and exit with its exit code.

    Printing the version does not need the packages of the command line.

    Raises:
        SystemExit: always, except after printing the version. The code is that of the command, `INTERRUPTED` after
            Ctrl-C, or 1 if a package is missing.
    """
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"{ENGINE_VERSION}\n")
        return
    try:
        with extra("cli", "the command line"):
            from epsilond.commands.line import line  # noqa: PLC0415  so that a missing package gives a message
        line()
    except MissingExtra as error:
        raise SystemExit(f"error: {error}") from None
    except KeyboardInterrupt:  # during the import; later the command line handles it
        raise SystemExit(INTERRUPTED) from None

"""Where the command line starts: `epsilond`, and `python -m epsilond`."""

from __future__ import annotations

import sys

from epsilond.accountants import ENGINE_VERSION
from epsilond.extras import MissingExtra, extra

INTERRUPTED = 130
"""The exit code of what Ctrl-C has stopped."""


def main() -> None:
    """Run the command that the arguments name. The version is told without the packages of the command line."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"{ENGINE_VERSION}\n")
        return
    try:
        with extra("cli", "the command line"):
            from epsilond.commands.line import line  # noqa: PLC0415  only then can it be said what is missing
        line()
    except MissingExtra as error:
        raise SystemExit(f"error: {error}") from None
    except KeyboardInterrupt:  # while it is imported; later the command line sees to it
        raise SystemExit(INTERRUPTED) from None

"""Where the command line starts: `epsilond`, and `python -m epsilond`."""

from __future__ import annotations

from epsilond.extras import MissingExtra, extra


def main() -> None:
    """Run the command that the arguments name."""
    try:
        with extra("cli", "the command line"):
            from epsilond.commands.line import line  # noqa: PLC0415  only then can it be said what is missing
        line()
    except MissingExtra as error:
        raise SystemExit(f"error: {error}") from None

"""Compute the exhibits of the paper, print them, and write them into the paper.

python -m benchmarks.paper [NAME …]             compute these exhibits and print their words (all without a name)
python -m benchmarks.paper [NAME …] --write     the same, and write docs/paper: the text and the figures
python -m benchmarks.paper --render             write docs/paper from the numbers of the last computation
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.paper.exhibits import EXHIBITS, files, read_stored, store


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute the exhibits of the paper, print their texts, and write them to docs/paper if requested.

    Args:
        arguments: arguments of the command line; those of the process if None.

    Returns:
        The exit code 0.
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [exhibit.name for exhibit in EXHIBITS]
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *names])
    parser.add_argument("--short", action="store_true", help="leave rows out, as the tests do; writes nothing")
    parser.add_argument("--write", action="store_true", help="write docs/paper")
    parser.add_argument("--render", action="store_true", help="write docs/paper without computing anything")
    chosen = parser.parse_args(arguments)
    measured = read_stored()
    # With --render the stored numbers are used, and nothing is computed.
    for exhibit in () if chosen.render else EXHIBITS:
        if not chosen.names or exhibit.name in chosen.names:
            measured[exhibit.name] = exhibit.measure(chosen.short)
            print(f"# {exhibit.name}: {exhibit.about}\n")
            for name, words in exhibit.words(measured[exhibit.name]).items():
                print(f"{name}: {words}" if "\n" not in words else f"\n{words}\n")
    if (chosen.write or chosen.render) and not chosen.short:
        store({name: measured[name] for name in names})
        for path, text in files(measured).items():
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

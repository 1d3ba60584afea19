"""Compute what the paper shows, print it, and write it into the paper.

python -m benchmarks.paper [NAME …]             compute these exhibits and print their words (all without a name)
python -m benchmarks.paper [NAME …] --write     the same, and write docs/paper: the text and the figures
python -m benchmarks.paper --render             write docs/paper from the numbers of the last time
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.paper.exhibits import EXHIBITS, files, store, stored


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute, print, write; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *(each.name for each in EXHIBITS)])
    parser.add_argument("--short", action="store_true", help="leave rows out, as the tests do; writes nothing")
    parser.add_argument("--write", action="store_true", help="write docs/paper")
    parser.add_argument("--render", action="store_true", help="write docs/paper without computing anything")
    chosen = parser.parse_args(arguments)
    measured = stored()
    for each in () if chosen.render else EXHIBITS:
        if not chosen.names or each.name in chosen.names:
            measured[each.name] = each.measure(chosen.short)
            print(f"# {each.name}: {each.about}\n")
            for name, words in each.words(measured[each.name]).items():
                print(f"{name}: {words}" if "\n" not in words else f"\n{words}\n")
    if (chosen.write or chosen.render) and not chosen.short:
        store({each.name: measured[each.name] for each in EXHIBITS})
        for path, text in files(measured).items():
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Computes what the paper shows, prints it, and writes it into the paper.

python -m benchmarks.paper [NAME …]             compute these exhibits and print their words (all without a name)
python -m benchmarks.paper [NAME …] --write     the same, and write docs/paper: the text and the figures
python -m benchmarks.paper --render             write docs/paper from the numbers of the last time
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.paper.exhibits import EXHIBITS, files, store, stored
from benchmarks.paper.text import FOLDER


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute, print, write; answers the exit code."""
    names = [each.name for each in EXHIBITS]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--short", action="store_true", help="leave rows out, as the tests do; writes nothing")
    parser.add_argument("--write", action="store_true", help="write docs/paper")
    parser.add_argument("--render", action="store_true", help="write docs/paper without computing anything")
    asked = parser.parse_args(arguments)
    if unknown := set(asked.names) - set(names):
        parser.error(f"no exhibit is called {', '.join(sorted(unknown))}: {', '.join(names)}")
    measured = stored()
    for each in EXHIBITS:
        if not asked.render and (not asked.names or each.name in asked.names):
            found = measured[each.name] = each.measure(asked.short)
            print(f"# {each.name}: {each.about}\n")
            for name, words in each.words(found).items():
                print(f"{name}: {words}" if "\n" not in words else f"\n{words}\n")
            print()
    if (asked.write or asked.render) and not asked.short:
        store({each.name: measured[each.name] for each in EXHIBITS})
        FOLDER.mkdir(parents=True, exist_ok=True)
        for path, text in files(measured).items():
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

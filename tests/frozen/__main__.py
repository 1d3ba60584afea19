"""Compare answers by hand: scripts/compare-answers [COMMIT] [-k WORD]…"""

from __future__ import annotations

import argparse
import sys
import time

from tests.frozen.sides import BASE, NoBase, differences, report, requests


def main() -> int:
    """Answers 1 if a figure, a key or a word differs, 2 if nothing could be compared."""
    parser = argparse.ArgumentParser(prog="scripts/compare-answers", description="Compare answers with a commit's.")
    parser.add_argument("commit", nargs="?", default=BASE, help="the commit to compare with (%(default)s)")
    parser.add_argument("-k", dest="words", action="append", default=[], help="only requests whose name or path has it")
    parser.add_argument("-n", dest="most", type=int, default=40, help="how many differences of a kind are printed")
    parser.add_argument("--list", action="store_true", help="print the names of the requests, and compare nothing")
    chosen = parser.parse_args()
    asked = requests(*chosen.words)
    if chosen.list or not asked:
        sys.stdout.write("".join(f"{one['name']}  {one['path']}\n" for one in asked))
        return 0 if asked else 2
    start = time.monotonic()
    try:
        found = differences(asked, chosen.commit)
    except (NoBase, RuntimeError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    failures = sum(each.kind == "failure" for each in found)
    told = report(found, chosen.most)
    seconds = time.monotonic() - start
    sys.stdout.write(
        (told + "\n" if told else "") + f"{len(asked)} requests, {failures} differences, {seconds:.0f} s\n"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

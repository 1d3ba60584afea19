"""Questions of users of riskcal and dp-accounting: python -m benchmarks.migrants [--short] [--own].

The first table has Rényi divergences and ε by dp-accounting's RdpAccountant and by epsilond. The second one is
riskcal's black-box search for the noise that bounds a pair of error rates, with epsilond, and with --own also with
riskcal's accountant.
Both peers get an environment of their own. The tables are written to docs/riskcal.md.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

from benchmarks import tables
from benchmarks.environments import CACHE, ROOT, THREADS, Accountant, interpreter, shorten

EPSILOND = Accountant("epsilond", "", ())
DP_ACCOUNTING = Accountant("dp-accounting-renyi", "", (), ("dp-accounting==0.4.4",))
RISKCAL = Accountant("riskcal", "", (), ("riskcal==1.3.0", "typing_extensions"))
SECONDS = 600
"""CPU limit of one search."""
HEAD = ("1000 steps", "question", "dp-accounting 0.4.4", "epsilond")
PAGE = ROOT / "docs" / "riskcal.md"
SEARCH_HEAD = ("accountant", "CPU", "questions", "noise multiplier")


def run(accountant: Accountant, *arguments: str) -> dict[str, Any]:
    """Run a module in the environment of an accountant, and read the JSON object that it prints last.

    Args:
        accountant: the accountant.
        *arguments: name of the module, and its arguments.

    Returns:
        The JSON object in the last line of the output.

    Raises:
        RuntimeError: the module fails.
    """
    command = [str(interpreter(accountant, CACHE)), "-m", *arguments]
    environ = {**os.environ, **THREADS, "PYTHONDONTWRITEBYTECODE": "1"}
    environ["PYTHONPATH"] = f"{ROOT}{os.pathsep}{ROOT / 'src'}"
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(shorten(done.stderr))
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def renyi_rows() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the first table."""
    theirs = run(DP_ACCOUNTING, "benchmarks.runners.renyi", "dp_accounting")
    ours = run(EPSILOND, "benchmarks.runners.renyi", "epsilond")
    for question, seconds in theirs.items():
        steps, _, kind = question.partition(": ")
        yield steps, kind, tables.seconds(seconds), tables.seconds(ours[question])


def search_rows(*, own: bool) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the second table: of epsilond, and with --own of riskcal's accountant, which takes long."""
    for name in ("epsilond", "riskcal") if own else ("epsilond",):
        result = run(RISKCAL, "benchmarks.runners.riskcal", name, str(SECONDS))
        if "cpu" in result:
            questions = str(result["questions"]) if name == "epsilond" else ""
            yield name, tables.seconds(result["first"]), questions, f"{result['noise_multiplier']:.4f}"
        else:
            yield name, "; ".join(f"{word} {reason}" for word, reason in result.items()), "", ""


def main() -> None:
    """Measure questions of users of other libraries, print the tables, and write the section of the document."""
    parser = tables.parser("migrants", __doc__)
    parser.add_argument("--own", action="store_true", help="also search with riskcal's own accountant")
    chosen = parser.parse_args()
    head = f"`python -m benchmarks.migrants`, {chosen.date}: {tables.machine()}."
    parts = [tables.as_markdown(HEAD, renyi_rows()), tables.as_markdown(SEARCH_HEAD, search_rows(own=chosen.own))]
    text = "\n\n".join([f"{head} Load average {os.getloadavg()[0]:.1f}.", *parts])
    print(text)
    if not chosen.short:
        tables.write_section("migrants", text, PAGE)


if __name__ == "__main__":
    main()

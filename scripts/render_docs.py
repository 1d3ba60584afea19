"""Writes what the README can know from the code: python scripts/render_docs.py [--check].

The tables of calibrators, theorems and other accountants stand between `<!-- begin NAME -->` and `<!-- end NAME -->`.
The answer to the request and the output of the command that the README shows are computed anew, for the members and
lines that are shown; --check leaves these to the tests. The full table of theorems is a page of the site.
docs/coverage.md, which says where each statement of the five papers is served, is written whole.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import epsilond
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from scripts.coverage.page import PAGE as COVERAGE
from scripts.coverage.page import page as coverage
from scripts.pages import peers
from scripts.pages.markdown import cited, of_text
from scripts.pages.theorems import by_work

README = Path(__file__).parents[1] / "README.md"


def algorithms() -> str:
    """One row for each calibrator."""
    return of_text(("algorithm", "what it does"), ((f"`{each.name}`", each.summary) for each in CALIBRATORS))


def refuted() -> str:
    """The theorems that algorithms are built on and that are false as printed."""
    used = {theorem for calibrator in CALIBRATORS for theorem in calibrator.theorems}
    rows = (
        (f"`{each.id}`", each.title.removesuffix(", as printed: false"), cited(each.source))
        for each in THEOREMS
        if each.id in used and each.status is Status.REFUTED
    )
    return of_text(("theorem", "what it is about", "source"), rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "algorithms": algorithms,
    "theorems": by_work,
    "refuted": refuted,
    "peers": peers.table,
}


def render(text: str) -> str:
    """`text` with every table written anew.

    Raises:
        ValueError: a table's markers are missing.
    """
    for name, table in TABLES.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"the markers of {name} are missing")
        text = pattern.sub(lambda found, table=table: f"{found[1]}{table()}\n{found[2]}", text)  # type: ignore[misc]
    return text


def answer_shown(text: str) -> str:
    """`text` with the numbers of the answer that is shown replaced by those of the library."""
    request = re.search(r"/v1/calibrations/(\S+) .*?-d '(.*?)'", text, flags=re.DOTALL)
    shown = re.search(r"```json\n(.*?)```", text, flags=re.DOTALL)
    assert request is not None
    assert shown is not None
    answer = epsilond.as_json(epsilond.calibrate(request[1], **json.loads(request[2])))
    return text.replace(shown[1], _json(_filled(json.loads(shown[1]), answer)) + "\n")


def output_shown(text: str) -> str:
    """`text` with each line of output shown replaced by the printed line that begins with the same words."""
    shown = re.search(r"```console\n\$ epsilond ((?:.*\\\n)*.*)\n([^`]*)```", text)
    assert shown is not None
    command = [sys.executable, "-m", "epsilond", *shlex.split(shown[1].replace("\\\n", " "))]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  our own README's
    printed = {_label(line): line.rstrip() for line in ran.stdout.splitlines()}
    lines = [printed.get(_label(line), line) for line in shown[2].splitlines()]
    return text.replace(shown[2], "\n".join(lines) + "\n")


def _label(line: str) -> str:
    return line.split("  ", maxsplit=1)[0].strip()


def _filled(shown: Any, answer: Any) -> Any:
    if isinstance(shown, dict):
        return {name: _filled(part, answer[name]) for name, part in shown.items()}
    if isinstance(shown, list):
        return [_filled(part, answered) for part, answered in zip(shown, answer, strict=False)]
    return answer


def _json(value: Any, indent: str = "") -> str:
    """JSON with each member on one line where that fits, and broken up where it does not."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or (indent and len(indent) + len(line) <= 105):
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        return "[\n" + ",\n".join(deeper + _json(part, deeper) for part in value) + f"\n{indent}]"
    members = (f"{deeper}{json.dumps(name)}: {_json(part, deeper)}" for name, part in value.items())
    return "{\n" + ",\n".join(members) + f"\n{indent}}}"


def main(arguments: Sequence[str]) -> int:
    """Rewrite the README and docs/coverage.md; with --check only say whether tables or that page would change."""
    old = README.read_text(encoding="utf-8")
    if "--check" in arguments:
        return int(old != render(old) or COVERAGE.read_text(encoding="utf-8") != coverage())
    COVERAGE.write_text(coverage(), encoding="utf-8")
    README.write_text(output_shown(answer_shown(render(old))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

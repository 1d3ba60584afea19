"""Sections of docs/experiments.md from answers: `python -m scripts.pages.experiments ANSWER.json`, one or more.

An answer is what `epsilond simulate NAME --json` prints. Its tables go between `<!-- begin NAME -->` and
`<!-- end NAME -->`, which the page has for each experiment.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.pages.markdown import of_text

PAGE = Path(__file__).parents[2] / "docs" / "experiments.md"


def section(answer: Mapping[str, Any]) -> str:
    """What the answer stands in for, what was found of the claims, and every measured figure."""
    claims = ((each["claim"], each["verdict"], each["words"]) for each in answer["findings"])
    return "\n\n".join(
        (
            answer["stands_in_for"],
            f"{answer['repetitions']} repetitions, seed {answer['seed']}; bands of 95 %.",
            of_text(("claim", "verdict", "what was measured"), claims),
            of_text(_head(answer), _rows(answer)),
        )
    )


def _axes(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [answer[name] for name in ("panels", "lines", "across") if name in answer]


def _beside(answer: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(name for cell in answer["cells"] for name in cell.get("scores_beside", {})))


def _head(answer: Mapping[str, Any]) -> list[str]:
    measured = answer["measure"].replace("_", " ")
    axes = [axis["name"].replace("_", " ") for axis in _axes(answer)]
    return [*axes, "claimed ε", "certified ε", measured, "band", *(f"{name}" for name in _beside(answer))]


def _rows(answer: Mapping[str, Any]) -> Iterator[list[str]]:
    for cell in answer["cells"]:
        score, others = cell["scores"][answer["measure"]], cell.get("scores_beside", {})
        yield [
            *(_short(cell["place"][axis["name"]]) for axis in _axes(answer)),
            _short(cell["claimed_epsilon"]) if "claimed_epsilon" in cell else "",
            f"≤ {_short(cell['epsilon']['upper'])}" if "epsilon" in cell else "",
            f"{score['mean']:.3f}",
            f"{score['lower']:.3f} to {score['upper']:.3f}",
            *(f"{others[name][answer['measure']]['mean']:.3f}" if name in others else "" for name in _beside(answer)),
        ]


def _short(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def put(page: str, answer: Mapping[str, Any]) -> str:
    """The page with this answer's section in its place.

    Raises:
        LookupError: the page has no place for it.
    """
    name = answer["preset"]
    place = re.compile(rf"(<!-- begin {re.escape(name)} -->\n).*?(<!-- end {re.escape(name)} -->)", re.DOTALL)
    made, count = place.subn(lambda found: f"{found[1]}\n{section(answer)}\n\n{found[2]}", page)
    if count != 1:
        raise LookupError(f"docs/experiments.md has no place for {name}")
    return made


def main(files: list[str]) -> None:
    """Write every answer's section."""
    page = PAGE.read_text(encoding="utf-8")
    for file in files:
        page = put(page, json.loads(Path(file).read_text(encoding="utf-8")))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

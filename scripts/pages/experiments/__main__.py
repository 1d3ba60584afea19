"""`python -m scripts.pages.experiments [NAME or ANSWER.json …]`: the experiments' page, its figures and their numbers.

A NAME is run, as by `epsilond simulate NAME`, and its answer is stored. An ANSWER.json, as printed by
`epsilond simulate NAME --json`, is stored as it is. Then the page and its figures are written from all stored answers;
without arguments nothing is run.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from epsilond.calibrators.answer import as_json
from epsilond.questions.simulate import simulate
from scripts.pages.experiments import page, stored


def answer_of(source: str) -> Mapping[str, Any]:
    """Read an answer from a file, or run the experiment of a name."""
    if source.endswith(".json"):
        return json.loads(Path(source).read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    return as_json(simulate(source, workers=os.cpu_count() or 1))  # type: ignore[no-any-return]


def main(sources: Sequence[str]) -> None:
    """Store the answers of the sources, and write the page."""
    for source in sources:
        stored.keep(answer_of(source))
    page.write()


if __name__ == "__main__":
    main(sys.argv[1:])

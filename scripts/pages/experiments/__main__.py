"""`python -m scripts.pages.experiments [NAME or ANSWER.json …]`: the experiments' page, its figures and their numbers.

An experiment that is named is run, as `epsilond simulate NAME` does, and its answer stored; an answer that was printed
by `epsilond simulate NAME --json` is stored as it is. Then the page and its figures are written from all that is
stored, which without arguments is all that is done.
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


def answer_of(asked: str) -> Mapping[str, Any]:
    """The answer in a file, or of an experiment that is run."""
    if asked.endswith(".json"):
        return json.loads(Path(asked).read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    return as_json(simulate(asked, workers=os.cpu_count() or 1))  # type: ignore[no-any-return]


def main(asked: Sequence[str]) -> None:
    """Store what is asked for, and write the page."""
    for each in asked:
        stored.keep(answer_of(each))
    page.write()


if __name__ == "__main__":
    main(sys.argv[1:])

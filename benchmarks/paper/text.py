"""The text of the paper: a template with places for numbers, and the Markdown that it becomes.

A place is `{exhibit.name}`; it is filled with a word of that exhibit. `{references}` is the list of what is cited.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from benchmarks.environments import ROOT
from benchmarks.paper import works
from benchmarks.paper.exhibit import Words

TEMPLATE = Path(__file__).with_name("template.md")
FOLDER = ROOT / "docs" / "paper"
PAGE = FOLDER / "index.md"
PLACE = re.compile(r"\{([a-z]+)\.([a-z_]+)\}")


def places(text: str) -> set[tuple[str, str]]:
    """Every place of a template, as exhibit and word."""
    return set(PLACE.findall(text))


def filled(template: str, words: Mapping[str, Words]) -> str:
    """The template with every place filled.

    Raises:
        KeyError: an exhibit has no such word, or a work that is cited is not listed.
    """
    text = PLACE.sub(lambda found: words[found[1]][found[2]], template)
    return works.cited(text.replace("{references}", works.references(template)))

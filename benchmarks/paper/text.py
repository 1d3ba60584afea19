"""The text of the paper: Markdown from a template with places for numbers and citations.

A place is `{exhibit.name}`; its text is a word of that exhibit. `{references}` is the list of cited works. A citation
is `@key` in a sentence, `[@one; @two]` in parentheses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from benchmarks.environments import ROOT
from benchmarks.paper.exhibit import Words
from epsilond.accountants.bibliography import WORKS, CitedWork

TEMPLATE = Path(__file__).with_name("template.md")
FOLDER = ROOT / "docs" / "paper"
PAGE = FOLDER / "index.md"
PLACE = re.compile(r"\{([a-z]+)\.([a-z_]+)\}")
BRACKETED = re.compile(r"\[(@\w+(?:;\s@\w+)*)\]")
CITED = re.compile(r"@(\w+)")
RELATED: Mapping[str, CitedWork] = {
    key: CitedWork(**work | {"authors": tuple(work["authors"])})
    for key, work in json.loads(Path(__file__).with_name("works.json").read_text(encoding="utf-8")).items()
}
"""Works that the paper cites in addition to those of the bibliography."""


def places(text: str) -> set[tuple[str, str]]:
    """Return every place of a template, as exhibit and word."""
    return set(PLACE.findall(text))


def work(key: str) -> CitedWork:
    """Return a work by its key; a KeyError if no list has it."""
    return RELATED[key] if key in RELATED else WORKS[key]


def keys_in(text: str) -> list[str]:
    """Return the keys of every citation of a text, in the order of the references."""
    return sorted(set(CITED.findall(text)), key=lambda key: (_last(work(key).authors[0]), work(key).year, key))


def fill(template: str, words: Mapping[str, Words]) -> str:
    """Return the template with every place filled.

    Raises:
        KeyError: there is no such word, or no such work.
    """
    text = PLACE.sub(lambda match: words[match[1]][match[2]], template)
    references = "\n".join(f'- <a id="{key}"></a>{work(key).citation}' for key in keys_in(template))
    return link_citations(text.replace("{references}", references))


def link_citations(text: str) -> str:
    """Return a text with each citation as a link with authors and year."""
    text = BRACKETED.sub(lambda match: f"({match[1]})", text)
    return CITED.sub(lambda match: _in_words(match[1]), text)


def _in_words(key: str) -> str:
    names = [_last(author) for author in work(key).authors]
    all_names = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    authors = f"{names[0]} et al." if len(names) > 3 else all_names
    return f"[{authors} {work(key).year}](#{key})"


def _last(author: str) -> str:
    return author.rpartition(" ")[2]

"""Works that the paper cites besides those of the bibliography, and how a citation is written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from epsilond.accountants.bibliography import WORKS, CitedWork

RELATED: Mapping[str, CitedWork] = {
    key: CitedWork(**work | {"authors": tuple(work["authors"])})
    for key, work in json.loads(Path(__file__).with_name("works.json").read_text(encoding="utf-8")).items()
}
BRACKETED = re.compile(r"\[(@\w+(?:;\s@\w+)*)\]")
CITED = re.compile(r"@(\w+)")


def work(key: str) -> CitedWork:
    """A work by its key.

    Raises:
        KeyError: it stands in neither list.
    """
    return RELATED[key] if key in RELATED else WORKS[key]


def keys_in(text: str) -> list[str]:
    """The keys of every citation of a text, in the order of the references."""
    return sorted(set(CITED.findall(text)), key=lambda key: (_last(work(key).authors[0]), work(key).year, key))


def cited(text: str) -> str:
    """`text` with each citation as authors and year, linked: `@key` in the sentence, `[@one; @two]` in parentheses."""
    text = BRACKETED.sub(lambda found: f"({found[1]})", text)
    return CITED.sub(lambda found: _in_words(found[1]), text)


def references(text: str) -> str:
    """The list of what a text cites."""
    return "\n".join(f'- <a id="{key}"></a>{work(key).citation}' for key in keys_in(text))


def _in_words(key: str) -> str:
    first, *others = [_last(author) for author in work(key).authors]
    named = f"{first} et al." if len(others) > 2 else " and ".join([", ".join([first, *others[:-1]]), *others[-1:]])
    return f"[{named} {work(key).year}](#{key})"


def _last(author: str) -> str:
    return author.rpartition(" ")[2]

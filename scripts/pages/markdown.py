"""Markdown from data: text that shows as it is, tables, and where a theorem stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from epsilond.accountants.bibliography import WORKS
from epsilond.accountants.theorem import Source

SPECIAL = re.compile(r"([\\*_\[\]<>|#`])")
CODE = re.compile(r"(`[^`]+`)")


def plain(text: str) -> str:
    """Text that no Markdown reads anything into, but names in backticks: formulas hold stars, brackets, underscores."""
    return "".join(part.replace("|", "\\|") if CODE.fullmatch(part) else _escaped(part) for part in CODE.split(text))


def _escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\1", re.sub(r"\s+", " ", text)).replace("\\<", "&lt;").replace("\\>", "&gt;")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def of_text(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells hold no bar of their own but as text."""
    return table(head, ([cell.replace("|", "\\|") for cell in row] for row in rows))


def cited(source: Source) -> str:
    """A theorem's source in a few words."""
    if source.key == "epsilond":
        return f"this project, {source.item}"
    return f"{paper(source.key)}, {source.item}"


def paper(key: str) -> str:
    """A work in a few words: its authors and its year."""
    if key == "epsilond":
        return "this project"
    work = WORKS[key]
    names = [author.rpartition(" ")[2] for author in work.authors]
    authors = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    return f"{authors} ({work.year})"


def code(text: str) -> str:
    """Text as code."""
    return f"`{text}`"

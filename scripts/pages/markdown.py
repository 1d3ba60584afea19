"""Markdown from data: escaped text, tables, and sources of theorems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from epsilond.accountants.bibliography import WORKS
from epsilond.accountants.theorem import Source

SPECIAL = re.compile(r"([\\*_\[\]<>|#`])")
CODE = re.compile(r"(`[^`]+`)")


def plain(text: str) -> str:
    """Escape text for Markdown, except for names in backticks: formulas contain stars, brackets and underscores."""
    return "".join(part.replace("|", "\\|") if CODE.fullmatch(part) else _escape(part) for part in CODE.split(text))


def _escape(text: str) -> str:
    """Escape all special characters of a text in one line."""
    line = re.sub(r"\s+", " ", text)
    return SPECIAL.sub(r"\\\1", line).replace("\\<", "&lt;").replace("\\>", "&gt;")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with cells in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with cells of text, in which bars are escaped."""
    return table(head, ([cell.replace("|", "\\|") for cell in row] for row in rows))


def cite_source(source: Source) -> str:
    """Return a theorem's source in a few words."""
    if source.key == "epsilond":
        return f"this project, {source.item}"
    return f"{paper(source.key)}, {source.item}"


def paper(key: str) -> str:
    """Return the authors and the year of a work."""
    if key == "epsilond":
        return "this project"
    work = WORKS[key]
    names = [author.rpartition(" ")[2] for author in work.authors]
    authors = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    return f"{authors} ({work.year})"


def code(text: str) -> str:
    """Return text as code."""
    return f"`{text}`"

"""Tables for a terminal and in Markdown, the numbers in them, and the sections of docs/benchmarks.md."""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.environments import ROOT
from epsilond.accountants import VERSION
from epsilond.app.settings import cores

DOCUMENT = ROOT / "docs" / "benchmarks.md"
Cells = Sequence[Sequence[str]]


def number(value: float | None) -> str:
    """Return eight digits, five for a small number."""
    if value is None:
        return ""
    return f"{value:.8g}" if value == 0 or abs(value) >= 1e-3 else f"{value:.5e}"


def seconds(value: float | None) -> str:
    """Return a time in s or ms."""
    if value is None:
        return ""
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"


def times(value: float | None) -> str:
    """Return a ratio."""
    if value is None:
        return ""
    return f"{value:.3g}×" if value < 1000 else f"{value:,.0f}×"


def error(value: float | None) -> str:
    """Return a relative error: inside our interval, in parts or in per cent."""
    if value is None:
        return ""
    if value == 0:
        return "inside"
    if not math.isfinite(value):
        return "unbounded" if value > 0 else str(value)
    if abs(value) >= 10:
        return f"{value:+.1e}"
    return f"{100 * value:+.2g} %" if abs(value) >= 1e-3 else f"{value:+.1e}"


def as_markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    cells = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in line] for line in lines)]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def show(title: str, head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """Print a table on a terminal."""
    table = Table(*head, title=title, title_justify="left", header_style="bold")
    for line in lines:
        table.add_row(*line)
    Console(width=max(Console().width, 170)).print(table)


def write_section(name: str, text: str, path: Path = DOCUMENT) -> None:
    """Put `text` between the markers of a section; the other sections stay as they are.

    Raises:
        ValueError: the document has no such markers.
    """
    document = path.read_text(encoding="utf-8")
    pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    if not pattern.search(document):
        raise ValueError(f"{path.name} has no markers for {name}")
    path.write_text(pattern.sub(lambda found: f"{found[1]}{text.strip()}\n{found[2]}", document), encoding="utf-8")


def machine() -> str:
    """Return what the figures depend on: versions and cores."""
    return (
        f"epsilond {VERSION}, {platform.python_implementation()} {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, {cores()} cores"
    )

"""Tables for a terminal and in Markdown, the numbers in them, and the sections of docs/benchmarks.md."""

from __future__ import annotations

import argparse
import math
import platform
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.environments import ROOT
from benchmarks.rows import Row
from epsilond.accountants import VERSION
from epsilond.app.machine import cores

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
    """Write a relative error for a table.

    Args:
        value: the error; 0 means inside our interval, and None that there is none.

    Returns:
        `inside`; a percentage if its size is from 0.1 % to 1000 %, and otherwise a decimal power; empty for None.
    """
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
    rows = [head, ["---"] * len(head)]
    rows.extend([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def show(title: str, head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """Print a table on the terminal.

    Args:
        title: title of the table.
        head: titles of the columns.
        lines: cells of each line.
    """
    table = Table(*head, title=title, title_justify="left", header_style="bold")
    for line in lines:
        table.add_row(*line)
    Console(width=max(Console().width, 170)).print(table)


def write_section(name: str, text: str, path: Path = DOCUMENT) -> None:
    """Replace the text between the two markers of a section of a document.

    Args:
        name: name of the section in its markers.
        text: the new text.
        path: the document.

    Raises:
        ValueError: the document has no such markers.
    """
    document = path.read_text(encoding="utf-8")
    pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    if not pattern.search(document):
        raise ValueError(f"{path.name} has no markers for {name}")
    path.write_text(pattern.sub(lambda match: f"{match[1]}{text.strip()}\n{match[2]}", document), encoding="utf-8")


def machine() -> str:
    """Return the versions and the number of cores that the figures depend on."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"epsilond {VERSION}, {python}, {platform.system()} {platform.machine()}, {cores()} cores"


def provenance(command: str, rows: Sequence[Row]) -> str:
    """Return the command that measured the rows, its dates, its machine and its load average."""
    dates, loads = sorted({row.date for row in rows if row.date}) or [""], [row.load or 0.0 for row in rows]
    when = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    return f"`{command}`, {when}: {machine()}. Load average {min(loads):.1f} to {max(loads):.1f}."


def parser(name: str, text: str | None) -> argparse.ArgumentParser:
    """Return the parser of a command, with the options of all commands."""
    description = (text or "").partition("\n")[0]
    options = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    options.add_argument("--short", action="store_true", help="measure little and write nothing")
    options.add_argument("--again", action="store_true", help="measure nothing, write the document from the rows")
    options.add_argument("--date", default=datetime.now(tz=UTC).date().isoformat(), help="the date to write down")
    return options

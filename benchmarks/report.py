"""What is printed and written of the rows: summaries, tables, and docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from benchmarks import document, tables, targets
from benchmarks.environments import OURS, PEERS, ROOT
from benchmarks.rows import Row, write_csv

CSV = ROOT / "benchmarks" / "rows.csv"
TITLES = {
    "short": "A few answers that are known to many digits",
    "epsilon": "ε(δ) at δ = 1e-6",
    "delta": "δ(ε), at ε where δ is near 1e-6",
    "small": "Tiny δ: rate 0.01, noise multiplier 1, 1000 steps",
    "different": "ε(1e-6) of n different mechanisms, a thousand steps in all",
    "calibration": "Calibration: the least noise multiplier for (ε, δ), rate and steps",
}
IN_FULL = ("short", "calibration", "small", "different")
INTRODUCTION = """## Beside peers

`{command}`, {dates}: {machine}.

Poisson-subsampled Gaussian mechanisms, add-or-remove-one, noise multiplier σ over the clipping norm. Each question was
put to each accountant in turn, in a fresh fork of a process that had imported that peer and nothing else.

- **CPU** is process time of one call, in the best of a few runs of a tenth of a second or more; where the first call
  took over half a second it is the only one. Imports are not in it. **First call** is the first in its process, with
  whatever it warms up. **Peak memory** is the process's, imports and interpreter included.
- {loads}CPU time is longer on a busy machine than on an idle one; those who answer one case one after
  the other share its moods.
- A question may take {limits}, all its calls together; beyond, the row says **over the limit**, and
  longer runs of the same mechanism are not tried. Such rows enter no mean.
- **Error** is how far a value lies outside our certified interval, relative to its nearer end; *inside* means that the
  interval cannot tell. *Below ours* counts values under our lower end: less ε, δ or noise than is really so.
- Every peer runs as it comes: default grids, orders and tolerances. They compute different things, and a Rényi bound is
  not meant to be tight; a peer given a finer grid is more exact and slower.
- Means are geometric, over the questions both answered. A ratio above 1 is in our favour.

{accountants}

{pending}"""


def line(row: Row) -> str:
    """One row, while it is being measured."""
    if row.outcome != "answered":
        return f"{row.case}  {row.accountant}  {tables.said(row)}"
    return f"{row.case}  {row.accountant}  {tables.number(row.value)}  {tables.seconds(row.cpu)}"


def show(console: Console, rows: Sequence[Row]) -> None:
    """All tables, on a terminal."""
    for group, of in _grouped(rows).items():
        console.print(tables.as_rich(TITLES[group], tables.ROW_HEAD, tables.rows_in_full(of)))
        console.print(tables.as_rich(f"{TITLES[group]}: means", tables.SUMMARY_HEAD, tables.summary(of)))
    console.print(tables.as_rich("Aims", targets.HEAD, targets.lines(rows)))


def write(rows: Sequence[Row], *, pending: int, limits: str) -> None:
    """docs/benchmarks.md and rows.csv."""
    document.write("peers", markdown(rows, pending=pending, limits=limits))
    write_csv(rows, CSV)


def markdown(rows: Sequence[Row], *, pending: int, limits: str) -> str:
    """The section of the document."""
    dates = sorted({row.date for row in rows if row.date})
    parts = [
        INTRODUCTION.format(
            command="python -m benchmarks.peers",
            dates=" to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "no date",
            machine=document.machine(),
            limits=limits,
            loads=_loads(rows),
            accountants=tables.as_markdown(("accountant", "version", "what it computes"), _accountants(rows)),
            pending=f"**{pending} questions are not measured yet.**\n" if pending else "",
        ),
        "### Aims\n",
        tables.as_markdown(targets.HEAD, targets.lines(rows)),
    ]
    for group, of in _grouped(rows).items():
        parts += [f"\n### {TITLES[group]}\n", tables.as_markdown(tables.SUMMARY_HEAD, tables.summary(of))]
        if group in IN_FULL:
            parts += ["", tables.as_markdown(tables.ROW_HEAD, tables.rows_in_full(of))]
        else:
            parts += ["\nCPU over ours, and error:\n", tables.as_markdown(*tables.matrix(of))]
    parts.append("\nEvery row whole, with times and memory, stands in `benchmarks/rows.csv`.")
    return "\n".join(parts)


def _loads(rows: Sequence[Row]) -> str:
    loads = [row.load for row in rows if row.load is not None]
    return f"The load average was {min(loads):.1f} to {max(loads):.1f}. " if loads else ""


def _accountants(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    versions = {row.accountant: row.version for row in rows if row.version}
    absent = {row.accountant: row.reason for row in rows if row.outcome == "absent" and row.accountant not in versions}
    return [
        (each.name, versions.get(each.name, absent.get(each.name, "")), each.computes)
        for peer in (OURS, *PEERS)
        for each in peer.accountants
    ]


def _grouped(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.group, []).append(row)
    return found

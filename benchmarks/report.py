"""What is printed and written of the rows: summaries and tables, docs/benchmarks.md, and the rows themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console

from benchmarks import document, findings, tables, targets
from benchmarks.cases import everything
from benchmarks.environments import OURS, PEERS, ROOT
from benchmarks.rows import Row, write_csv
from benchmarks.runners.loop import CHANGE, ENOUGH_SECONDS, REPEATED_SECONDS

CSV = ROOT / "benchmarks" / "rows.csv"
TITLES = {
    "short": "A few answers that are known to many digits",
    "epsilon": "ε(δ) at δ = 1e-6",
    "delta": "δ(ε), at ε where δ is near 1e-6",
    "small": "Tiny δ: rate 0.01, noise multiplier 1, 1000 steps",
    "corner": "Few steps, and rare large losses",
    "plain": "Without sampling: randomised response (two answers and three), and Laplace of scale b",
    "different": "ε(1e-6) of n different mechanisms, a thousand steps in all",
    "calibration": "Calibration: the least noise multiplier for (ε, δ), rate and steps",
}
INTRODUCTION = """## Beside peers

`{command}`, {dates}: {machine}.

Poisson-subsampled Gaussian mechanisms, add-or-remove-one, noise multiplier σ over the clipping norm, but for one table
without sampling, where randomised response is for replace-one and a Laplace's b is over the sensitivity. Each question
was put to each accountant in turn, in a fresh fork of a process that had imported that peer and nothing else.

- **CPU** is process time of one call that asks **a new question**: every noise, ε and δ given is larger by {change:g}
  of itself than in the call before, so that no answer and no part of one is at hand. It is the mean of the best of a
  few runs of a tenth of a second or more; where the first call took over {enough:g} s it is the only one. Imports are
  not in it. **CPU, asked again** is the same where one question is asked again and again, as a cache likes it best;
  where the first call took over {repeated:g} s it was not measured. Every ratio and every aim is of new questions.
  **First call** is the first in its process, with whatever it warms up. **Peak memory** is the process's, imports and
  interpreter included.
- CPU time is longer on a busy machine than on an idle one. In one run the accountants answer a case one after the other
  and share the machine's moods; rows kept from an earlier run do not.
  {loads}
- A question may take {limits}, all its calls together; beyond, the row says **over the limit**, and
  longer runs of the same mechanism are not tried. Such rows enter no mean.
- **Error** is how far a value lies outside our certified interval, relative to its nearer end; *inside* means that the
  interval cannot tell. *Below ours* counts values under our lower end: less ε, δ or noise than is really so.
- Every peer runs as it comes: default grids, orders and tolerances. They compute different things, and a Rényi bound is
  not meant to be tight; a peer given a finer grid is more exact and slower.
- Means are geometric, over the questions both answered. A ratio above 1 is in our favour.

{accountants}

{pending}"""

OVERVIEW = """
### CPU over ours

Geometric means, and in brackets over how many questions. The row of our own kernel is below 1, as it takes less CPU
than we do without it.
"""
BELOW = """
### Values below our certified interval

A value under our lower end promises more than is so: less ε or δ than is spent, or noise that does not suffice. One
line for each accountant and group of questions, with the worst of it.
"""
APART = """
### Intervals that do not meet ours

Two intervals that both hold the truth overlap, so one of each pair is wrong.
"""
WORST = """
### The worst for each side

Where a peer is quickest beside us, and where its value is furthest from our interval.
"""
TWINS = """
### One release, written down in two ways

A mechanism repeated ten times is the same release as a list of ten. These are small enough to enumerate every outcome,
which tells whose ε is so.
"""


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


def write(rows: Sequence[Row], *, limits: str) -> None:
    """docs/benchmarks.md and rows.csv."""
    document.write("peers", markdown(rows, limits=limits))
    write_csv(rows, CSV)


def markdown(rows: Sequence[Row], *, limits: str) -> str:
    """The section of the document."""
    dates = sorted({row.date for row in rows if row.date})
    parts = [
        INTRODUCTION.format(
            command="python -m benchmarks.peers",
            dates=" to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "no date",
            machine=document.machine(),
            limits=limits,
            enough=ENOUGH_SECONDS,
            change=CHANGE,
            repeated=REPEATED_SECONDS,
            loads=_loads(rows),
            accountants=tables.as_markdown(("accountant", "version", "what it computes"), _accountants(rows)),
            pending=_pending(rows),
        ),
        "### Aims\n",
        tables.as_markdown(targets.HEAD, targets.lines(rows)),
        OVERVIEW,
        tables.as_markdown(*tables.overview(rows)),
        *_findings(rows),
    ]
    parts.append(WORST)
    parts.append(tables.as_markdown(tables.WORST_HEAD, tables.worst(rows)))
    parts.append(f"\nThe {len(rows)} rows stand with all their digits in `{CSV.relative_to(ROOT)}`.")
    return "\n".join(parts)


def _findings(rows: Sequence[Row]) -> Iterator[str]:
    """Where a peer is wrong on the side that matters, each with its table; nothing of what did not occur."""
    for text, head, of in (
        (BELOW, findings.BELOW_HEAD, list(findings.below(rows))),
        (APART, findings.APART_HEAD, list(findings.apart(rows))),
        (TWINS, findings.TWINS_HEAD, list(findings.twins(rows))),
    ):
        if of:
            yield from (text, tables.as_markdown(head, of))


def _pending(rows: Sequence[Row]) -> str:
    """Who was not asked what, and how that is mended."""
    measured = {(row.case, row.accountant) for row in rows}
    left = {
        each.name: sum(
            (case.id, each.name) not in measured for case in everything() if not each.only or case.id in each.only
        )
        for peer in (OURS, *PEERS)
        for each in peer.accountants
    }
    told = ", ".join(f"{name} {count}" for name, count in left.items() if count)
    if not told:
        return ""
    return (
        f"**Not asked yet, with the number of questions: {told}.**\nEach needs an environment of its own, which the run"
        " that wrote this did not have;\nmeans and aims are of what was measured."
        " A run without `--peers` asks them all.\n"
    )


def _loads(rows: Sequence[Row]) -> str:
    """Under what load average ours and the peers' rows were measured."""
    said, own = [], {each.name for each in OURS.accountants}
    for who, mine in (("our own rows", True), ("the peers'", False)):
        loads = [row.load for row in rows if row.load is not None and (row.accountant in own) is mine]
        said += [f"{min(loads):.1f} to {max(loads):.1f} for {who}"] if loads else []
    return f"The load average was {' and '.join(said)}." if said else ""


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

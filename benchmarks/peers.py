"""Kernel, reference, dp-accounting, prv-accountant and Opacus in one table: python -m benchmarks.peers.

Every question goes to each accountant in turn, in a process that has imported that accountant only. Each answer is
written to benchmarks/rows.csv at once, in the place of an earlier one, and at the end docs/benchmarks.md is written.
--only measures some accountants, --groups some questions, and the other rows stay; --missing measures what has no row.
--again writes the document from the rows. --short asks a few questions, prints the table and writes nothing.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import cases, findings, tables
from benchmarks.cases import Case
from benchmarks.environments import (
    ACCOUNTANTS,
    CACHE,
    KERNEL,
    OURS,
    PEER,
    REFERENCE,
    ROOT,
    Accountant,
    Runner,
    Unavailable,
)
from benchmarks.measuring import CHANGE, ENOUGH_SECONDS
from benchmarks.rows import Row, certified, geometric_mean, paired, ratios, read_csv, relative_error, write_csv

CSV = ROOT / "benchmarks" / "rows.csv"
SECONDS, MEGABYTES = 20, 6000
"""Limits of one question, all its calls together: CPU, and address space."""
TEXT = """## Compared with other accountants

`python -m benchmarks.peers`, {dates}: {machine}, one thread for each accountant. Load average {loads}.

Poisson-subsampled Gaussian mechanisms, add-or-remove-one, noise multiplier σ over the clipping norm. The table *plain*
is without sampling: randomised response for replace-one, and Laplace noise of scale b over the sensitivity. Each
question goes to each accountant in turn, in a fresh fork of a process that has imported that accountant only.

- **CPU** is process time of **a new question**: every noise, ε and δ is larger by {change:g} of itself than in the
  call before. It is the mean of the best run of a tenth of a second or more, or the first call where that took over
  {enough:g} s. Imports are not in it. Peak memory is the process's, imports and interpreter included.
- A question may take {seconds} s of CPU and {megabytes} MB of address space, all its calls together. Beyond that the
  row is **over the limit**, and longer runs of the same mechanism are not tried. Such rows enter no mean.
- Each peer runs with its default grid and tolerances. They compute different things: a finer grid is more exact and
  slower.
- Means are geometric, over the questions that both answered.

{accountants}
"""
FINDINGS = (
    (
        "Values below our certified interval",
        "Such a value promises more than holds: less ε or δ than is spent, or too little noise. Lines show the worst.",
        findings.BELOW_HEAD,
        findings.below,
    ),
    (
        "Intervals that do not meet ours",
        "Two intervals that both hold the truth overlap, so one of each pair is wrong.",
        findings.APART_HEAD,
        findings.apart,
    ),
    (
        "One release, written in two ways",
        "A mechanism repeated ten times is the same release as a list of ten. Every outcome of these is enumerated.",
        findings.TWINS_HEAD,
        findings.twins,
    ),
)
SUMMARY_HEAD = (
    "accountant", "table", "answered", "over the limit", "CPU", "over the kernel", "least", "over the reference",
    "least", "first call", "peak memory", "width, or worst error", "below",
)  # fmt: skip
ROW_HEAD = ("case", "accountant", "value", "width, or error", "CPU", "over the kernel", "first call", "peak memory")


@dataclass
class Session:
    """Asks questions. After one that is over the limit, harder ones of the same accountant are not tried."""

    date: str
    cache: Path = CACHE
    _runners: dict[str, Runner | str] = field(default_factory=dict)
    _over: dict[str, list[Case]] = field(default_factory=dict)

    def rows(self, asked: Sequence[Case], accountants: Sequence[Accountant]) -> Iterator[Row]:
        """Ask case by case, all accountants in turn, so that changes of the machine's speed meet all."""
        with ExitStack() as stack:
            for case in asked:
                for accountant in accountants:
                    yield self._row(case, accountant, stack)

    def _row(self, case: Case, accountant: Accountant, stack: ExitStack) -> Row:
        known = {"case": case.id, "group": case.group, "accountant": accountant.name, "date": self.date}
        if any(case.harder_than(easier) for easier in self._over.get(accountant.name, ())):
            return Row.of({"over": "not tried, as an easier one was"}, **known)
        runner = self._runner(accountant, stack)
        if isinstance(runner, str):
            return Row.of({"absent": runner}, **known)
        result = runner.ask(case, seconds=SECONDS, megabytes=MEGABYTES)
        row = Row.of(result, version=runner.version, load=os.getloadavg()[0], **known)
        if row.outcome == "over":
            self._over.setdefault(accountant.name, []).append(case)
        return row

    def _runner(self, accountant: Accountant, stack: ExitStack) -> Runner | str:
        """Return the accountant's process, or why there is none."""
        if accountant.name not in self._runners:
            try:
                runner = Runner(accountant, self.cache)
                stack.callback(runner.close)
                self._runners[accountant.name] = runner
            except Unavailable as error:
                self._runners[accountant.name] = str(error)
        return self._runners[accountant.name]


def merged(kept: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """Return the rows of an earlier run with new ones in their place, in the order of questions and accountants."""
    known = {(row.case, row.accountant): row for row in (*kept, *new)}
    order = ((case.id, each.name) for case in cases.everything() for each in ACCOUNTANTS)
    return [known[key] for key in order if key in known]


# Tables -------------------------------------------------------------------------------------------------------------
def rows_in_full(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each row."""
    ours = certified(rows)
    kernel = {row.case: row.cpu for row in rows if row.accountant == KERNEL.name and row.cpu}
    for row in rows:
        if row.outcome != "answered":
            yield row.case, row.accountant, f"{row.outcome}: {row.reason}", *[""] * (len(ROW_HEAD) - 3)
            continue
        over = tables.times(row.cpu / kernel[row.case] if row.cpu and row.case in kernel else None)
        spent = (tables.seconds(row.cpu), over, tables.seconds(row.first), f"{row.megabytes or 0:.0f} MB")
        yield row.case, row.accountant, tables.number(row.value), _off([(row, ours.get(row.case, row))]), *spent


def summary(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each accountant and table, and one for the forward grid."""
    groups = {group: (group,) for group in dict.fromkeys(row.group for row in rows)}
    if {"epsilon", "delta"} <= groups.keys():
        groups["epsilon and delta"] = ("epsilon", "delta")
    for group, names in groups.items():
        for accountant in dict.fromkeys(row.accountant for row in rows):
            of = [row for row in rows if row.group in names]
            mine = [row for row in of if row.accountant == accountant and row.outcome != "absent"]
            if mine:
                yield accountant, group, *_summary(of, mine, accountant)


def _summary(of: Sequence[Row], mine: Sequence[Row], accountant: str) -> Iterator[str]:
    answered = [row for row in mine if row.outcome == "answered"]
    yield from (f"{len(answered)} of {len(mine)}", str(sum(row.outcome == "over" for row in mine)))
    yield tables.seconds(geometric_mean(row.cpu for row in answered if row.cpu))
    for ours in OURS:
        over = [] if accountant == ours else ratios(of, accountant, ours)
        yield from (tables.times(geometric_mean(over)), tables.times(min(over, default=None)))
    yield tables.seconds(geometric_mean(row.first for row in answered if row.first))
    yield f"{max((row.megabytes or 0 for row in answered), default=0):.0f} MB"
    pairs = paired(of, accountant)
    yield _off(pairs)
    below = [found for row, ours in pairs if (found := relative_error(row, ours)) is not None and not found >= 0]
    yield "" if accountant in OURS else str(len(below))


def _off(pairs: Sequence[tuple[Row, Row]]) -> str:
    """Return the largest width of our intervals, or the worst error of a peer."""
    widths = [row.width for row, _ in pairs if row.accountant in OURS and row.width is not None]
    if widths:
        return f"width {max(widths):.0e}"
    errors = [found for row, ours in pairs if (found := relative_error(row, ours)) is not None]
    return tables.error(max(errors, key=lambda each: (math.isnan(each), abs(each)), default=None))


def markdown(rows: Sequence[Row]) -> str:
    """Return the section of the document."""
    dates = sorted({row.date for row in rows if row.date})
    loads = [row.load for row in rows if row.load is not None] or [0.0]
    versions = {row.accountant: row.version for row in rows if row.version}
    reasons = {row.accountant: row.reason for row in rows if row.outcome == "absent"}
    head = TEXT.format(
        dates=" to ".join(dict.fromkeys((dates[0], dates[-1]))),
        machine=tables.machine(),
        loads=f"{min(loads):.1f} to {max(loads):.1f}",
        change=CHANGE,
        enough=ENOUGH_SECONDS,
        seconds=SECONDS,
        megabytes=MEGABYTES,
        accountants=tables.as_markdown(
            ("accountant", "version", "what it computes"),
            ((each.name, versions.get(each.name, reasons.get(each.name, "")), each.computes) for each in ACCOUNTANTS),
        ),
    )
    parts = [head, tables.as_markdown(SUMMARY_HEAD, summary(rows))]
    for title, text, columns, find in FINDINGS:
        lines = list(find(rows))
        if lines:
            parts.append(f"\n### {title}\n\n{text}\n\n{tables.as_markdown(columns, lines)}")
    parts.append(f"\nThe {len(rows)} rows are in `{CSV.relative_to(ROOT)}`.")
    return "\n".join(parts)


def headline(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the figures that README states: CPU of dp-accounting over ours."""
    for what, groups in (("forward", ("epsilon", "delta")), ("calibration", ("calibration",))):
        of = [row for row in rows if row.group in groups]
        for ours in (KERNEL, REFERENCE):
            over = ratios(of, PEER.name, ours.name)
            if over:
                mean, least = tables.times(geometric_mean(over)), tables.times(min(over))
                yield f"{what}: CPU of {PEER.name} over {ours.name}: mean {mean}, least {least}, of {len(over)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the document."""
    chosen = _parser().parse_args(arguments)
    rows = [] if chosen.short else read_csv(CSV)
    accountants = [each for each in ACCOUNTANTS if not chosen.only or each.name in chosen.only]
    asked = (
        cases.short()
        if chosen.short
        else [each for each in cases.everything() if not chosen.groups or each.group in chosen.groups]
    )
    if chosen.missing:
        known = {(row.case, row.accountant) for row in rows}
        asked = [case for case in asked if any((case.id, each.name) not in known for each in accountants)]
    for row in () if chosen.again else Session(chosen.date).rows(asked, accountants):
        print(
            f"{row.case}  {row.accountant}  {tables.number(row.value) or row.reason}  {tables.seconds(row.cpu)}",
            flush=True,
        )
        rows = [*rows, row] if chosen.short else merged(rows, [row])
        if not chosen.short:
            write_csv(rows, CSV)
    if chosen.short:
        tables.show("A few questions", ROW_HEAD, rows_in_full(rows))
    else:
        tables.write_section("peers", markdown(rows))
    tables.show("Accountants", SUMMARY_HEAD, summary(rows))
    print("\n".join(headline(rows)))
    return 0


def _parser() -> argparse.ArgumentParser:
    summary_line = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=summary_line)
    parser.add_argument("--short", action="store_true", help="ask a few questions and write nothing")
    parser.add_argument("--again", action="store_true", help="measure nothing, write the document from the rows")
    parser.add_argument("--missing", action="store_true", help="measure only questions that lack a row")
    parser.add_argument("--only", nargs="*", choices=[each.name for each in ACCOUNTANTS], help="these accountants")
    parser.add_argument("--groups", nargs="*", choices=sorted({case.group for case in cases.everything()}))
    parser.add_argument("--date", default=datetime.now(tz=UTC).date().isoformat(), help="the date to write down")
    return parser


if __name__ == "__main__":
    sys.exit(main())

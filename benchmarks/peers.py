"""Kernel, reference, dp-accounting, prv-accountant and Opacus in one table: python -m benchmarks.peers.

Every question goes to each accountant in turn, in a process that has imported that accountant only. Each answer is
written to benchmarks/rows.csv at once, in the place of an earlier one, and at the end docs/benchmarks.md is written.
--only measures some accountants, --groups some questions, and the other rows stay; --missing measures what has no row.
--again writes the document and README's sentence from the rows. --short asks little, and writes nothing.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
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
from benchmarks.rows import Row, certified, geometric_mean, paired, ratios, read_csv, relative_error, write_csv

CSV = ROOT / "benchmarks" / "rows.csv"
SECONDS, MEGABYTES = 20, 6000
"""Limits of one question, all its calls together: CPU, and address space."""
FORWARD = ("epsilon", "delta")
CALIBRATION = ("calibration",)
README = ROOT / "README.md"
SUMMARY_HEAD = (
    "accountant", "table", "answered", "over the limit", "CPU", "over the kernel", "least", "over the reference",
    "least", "first call", "peak memory", "width, or worst error", "below",
)  # fmt: skip


def measured(asked: Sequence[Case], accountants: Sequence[Accountant], date: str, cache: Path = CACHE) -> Iterator[Row]:
    """Ask case by case, all accountants in turn, so that changes of the machine's speed meet all."""
    runners: dict[str, Runner | str] = {}
    with ExitStack() as stack:
        for accountant in accountants:
            try:
                runner = runners[accountant.name] = Runner(accountant, cache)
                stack.callback(runner.close)
            except Unavailable as error:
                runners[accountant.name] = str(error)
        for case in asked:
            for name, each in runners.items():
                known = {"case": case.id, "group": case.group, "accountant": name, "date": date}
                if isinstance(each, str):
                    yield Row.of({"absent": each}, **known)
                else:
                    result = each.ask(case, seconds=SECONDS, megabytes=MEGABYTES)
                    yield Row.of(result, version=each.version, load=os.getloadavg()[0], **known)


def merged(kept: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """Return the rows of an earlier run with new ones in their place, in the order of questions and accountants."""
    known = {(row.case, row.accountant): row for row in (*kept, *new)}
    order = ((case.id, each.name) for case in (*cases.everything(), *cases.short()) for each in ACCOUNTANTS)
    return [known[key] for key in order if key in known]


# Tables -------------------------------------------------------------------------------------------------------------
def summary(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each accountant and table, and one for the forward grid."""
    groups = {group: (group,) for group in dict.fromkeys(row.group for row in rows)}
    if groups.keys() >= {*FORWARD}:
        groups["epsilon and delta"] = FORWARD
    for group, names in groups.items():
        of = [row for row in rows if row.group in names]
        for accountant in dict.fromkeys(row.accountant for row in rows):
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
    if accountant in OURS:
        yield from (f"width {max((row.width or 0.0 for row in answered), default=0.0):.0e}", "")
    else:
        found = [relative_error(row, ours) for row, ours in paired(of, accountant)]
        errors = [each for each in found if each is not None]
        yield tables.error(max(errors, key=lambda each: (math.isnan(each), abs(each)), default=None))
        yield str(sum(not each >= 0 for each in errors))


def markdown(rows: Sequence[Row]) -> str:
    """Return the section of the document."""
    versions = {row.accountant: row.version or row.reason for row in rows}
    accountants = [(each.name, versions.get(each.name, ""), each.computes) for each in ACCOUNTANTS]
    parts = [
        tables.provenance("python -m benchmarks.peers", rows),
        tables.as_markdown(("accountant", "version", "what it computes"), accountants),
        tables.as_markdown(SUMMARY_HEAD, summary(rows)),
        *(f"### {title}\n\n{tables.as_markdown(head, lines)}" for title, head, lines in findings.found(rows)),
        f"The {len(rows)} rows are in `{CSV.relative_to(ROOT)}`.",
    ]
    return "\n\n".join(parts)


def cpu_ratios(rows: Sequence[Row], ours: Accountant, groups: Sequence[str]) -> list[float]:
    """Return CPU of dp-accounting over that of an accountant of ours, for each question that both answered."""
    return ratios([row for row in rows if row.group in groups], PEER.name, ours.name)


def headline(rows: Sequence[Row]) -> Iterator[str]:
    """Yield CPU of dp-accounting over ours: geometric mean, least, and number of questions."""
    for what, groups in (("forward", FORWARD), ("calibration", CALIBRATION)):
        for ours in (KERNEL, REFERENCE):
            over = cpu_ratios(rows, ours, groups)
            if over:
                mean, least = tables.times(geometric_mean(over)), tables.times(min(over))
                yield f"{what}: CPU of {PEER.name} over {ours.name}: mean {mean}, least {least}, of {len(over)}"


def readme_sentence(rows: Sequence[Row]) -> str:
    """Return what README says about speed."""
    forward, calibration = (
        f"{geometric_mean(cpu_ratios(rows, KERNEL, groups)):,.0f}" for groups in (FORWARD, CALIBRATION)
    )
    return (
        "With a C compiler, it builds the [compiled kernel](docs/install.md) too: then ε costs "
        f"{forward} times less CPU than\nwith dp-accounting, a calibration {calibration} times less "
        "([geometric means](docs/benchmarks.md))."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the document."""
    parser = tables.parser("peers", __doc__)
    parser.add_argument("--missing", action="store_true", help="measure only questions that lack a row")
    names = [each.name for each in ACCOUNTANTS]
    parser.add_argument("--only", nargs="*", choices=names, default=names, help="measure these accountants")
    groups = list(dict.fromkeys(case.group for case in cases.everything()))
    parser.add_argument("--groups", nargs="*", choices=groups, default=groups, help="measure these questions")
    chosen = parser.parse_args(arguments)
    rows = [] if chosen.short else read_csv(CSV)
    accountants = [each for each in ACCOUNTANTS if each.name in chosen.only]
    asked = cases.short() if chosen.short else [each for each in cases.everything() if each.group in chosen.groups]
    if chosen.missing:
        known = {(row.case, row.accountant) for row in rows}
        asked = [case for case in asked if any((case.id, each.name) not in known for each in accountants)]
    ours = {} if chosen.again else certified(rows)
    for row in () if chosen.again else measured(asked, accountants, chosen.date):
        ours |= certified([row])
        off = f"width {row.width:.0e}" if row.width is not None and row.accountant in OURS else ""
        error = off or tables.error(relative_error(row, ours[row.case]) if row.case in ours else None)
        value = tables.number(row.value) or row.reason
        print(f"{row.case}  {row.accountant}  {value}  {tables.seconds(row.cpu)}  {error}", flush=True)
        rows = merged(rows, [row])
        if not chosen.short:
            write_csv(rows, CSV)
    if not chosen.short:
        tables.write_section("peers", markdown(rows))
        tables.write_section("speed", readme_sentence(rows), README)
    tables.show("Accountants", SUMMARY_HEAD, summary(rows))
    print("\n".join(headline(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

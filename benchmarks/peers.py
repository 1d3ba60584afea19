"""Kernel, reference, dp-accounting, prv-accountant and Opacus in one table: python -m benchmarks.peers.

Every question goes to each accountant in turn, in a process that has imported only this accountant. Each answer is
written to benchmarks/rows.csv at once, in place of an earlier one, and at the end docs/benchmarks.md is written.
--only measures some accountants, --groups some questions, and the other rows stay; --missing measures questions without
a row. --again writes the document and README's sentence from the rows. --short asks few questions, and writes nothing.
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
from benchmarks.rows import Row, certified_rows, geometric_mean, pair_rows, ratios, read_csv, relative_error, write_csv

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


def measure_rows(
    questions: Sequence[Case], accountants: Sequence[Accountant], date: str, cache: Path = CACHE
) -> Iterator[Row]:
    """Yield a row for each case and accountant, case by case.

    All accountants answer a case in turn, so that changes of the machine's speed affect all of them.

    Args:
        questions: the cases.
        accountants: the accountants.
        date: date of the rows.
        cache: folder of the accountants' environments.
    """
    runners: dict[str, Runner | str] = {}
    with ExitStack() as stack:
        for accountant in accountants:
            try:
                runner = runners[accountant.name] = Runner(accountant, cache)
                stack.callback(runner.close)
            except Unavailable as error:
                runners[accountant.name] = str(error)
        for case in questions:
            for name, runner_or_reason in runners.items():
                labels = {"case": case.id, "group": case.group, "accountant": name, "date": date}
                if isinstance(runner_or_reason, str):
                    yield Row.of({"absent": runner_or_reason}, **labels)
                else:
                    result = runner_or_reason.ask(case, seconds=SECONDS, megabytes=MEGABYTES)
                    yield Row.of(result, version=runner_or_reason.version, load=os.getloadavg()[0], **labels)


def merge_rows(earlier: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """Return the rows of an earlier run with new ones in their place, in the order of questions and accountants."""
    by_key = {(row.case, row.accountant): row for row in (*earlier, *new)}
    merged = []
    for case in cases.everything() + cases.short():
        for accountant in ACCOUNTANTS:
            row = by_key.get((case.id, accountant.name))
            if row is not None:
                merged.append(row)
    return merged


# Tables -------------------------------------------------------------------------------------------------------------
def summary(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each accountant and table, and one for the forward grid."""
    groups = {group: (group,) for group in dict.fromkeys(row.group for row in rows)}
    if groups.keys() >= {*FORWARD}:
        groups["epsilon and delta"] = FORWARD
    for group, names in groups.items():
        in_table = [row for row in rows if row.group in names]
        for accountant in dict.fromkeys(row.accountant for row in rows):
            own = [row for row in in_table if row.accountant == accountant and row.outcome != "absent"]
            if own:
                yield accountant, group, *_summary(in_table, own, accountant)


def _summary(rows: Sequence[Row], own: Sequence[Row], accountant: str) -> Iterator[str]:
    """Yield the cells of an accountant's line: `rows` are those of its table, `own` those of the accountant."""
    answers = [row for row in own if row.outcome == "answered"]
    yield f"{len(answers)} of {len(own)}"
    yield str(sum(row.outcome == "over" for row in own))
    yield tables.seconds(geometric_mean(row.cpu for row in answers if row.cpu))
    for ours in OURS:
        cpu_over_ours = [] if accountant == ours else ratios(rows, accountant, ours)
        yield tables.times(geometric_mean(cpu_over_ours))
        yield tables.times(min(cpu_over_ours, default=None))
    yield tables.seconds(geometric_mean(row.first for row in answers if row.first))
    yield f"{max((row.megabytes or 0 for row in answers), default=0):.0f} MB"
    if accountant in OURS:
        yield f"width {max((row.width or 0.0 for row in answers), default=0.0):.0e}"
        yield ""
        return
    known_errors = [relative_error(row, certified) for row, certified in pair_rows(rows, accountant)]
    errors = [value for value in known_errors if value is not None]
    yield tables.error(max(errors, key=lambda value: (math.isnan(value), abs(value)), default=None))
    yield str(sum(not value >= 0 for value in errors))  # NaN counts as too low


def markdown(rows: Sequence[Row]) -> str:
    """Return the section of the document."""
    versions = {row.accountant: row.version or row.reason for row in rows}
    accountants = [
        (accountant.name, versions.get(accountant.name, ""), accountant.computes) for accountant in ACCOUNTANTS
    ]
    parts = [
        tables.provenance("python -m benchmarks.peers", rows),
        tables.as_markdown(("accountant", "version", "what it computes"), accountants),
        tables.as_markdown(SUMMARY_HEAD, summary(rows)),
    ]
    for title, head, lines in findings.finding_tables(rows):
        parts.append(f"### {title}\n\n{tables.as_markdown(head, lines)}")
    parts.append(f"The {len(rows)} rows are in `{CSV.relative_to(ROOT)}`.")
    return "\n\n".join(parts)


def cpu_ratios(rows: Sequence[Row], ours: Accountant, groups: Sequence[str]) -> list[float]:
    """Return CPU of dp-accounting over that of an accountant of ours, for each question that both answered.

    Args:
        rows: all rows.
        ours: the kernel or the reference.
        groups: groups of questions.
    """
    return ratios([row for row in rows if row.group in groups], PEER.name, ours.name)


def headline(rows: Sequence[Row]) -> Iterator[str]:
    """Yield CPU of dp-accounting over ours: geometric mean, least, and number of questions."""
    for what, groups in (("forward", FORWARD), ("calibration", CALIBRATION)):
        for ours in (KERNEL, REFERENCE):
            cpu_over_ours = cpu_ratios(rows, ours, groups)
            if cpu_over_ours:
                mean = tables.times(geometric_mean(cpu_over_ours))
                least = tables.times(min(cpu_over_ours))
                count = len(cpu_over_ours)
                yield f"{what}: CPU of {PEER.name} over {ours.name}: mean {mean}, least {least}, of {count}"


def readme_sentence(rows: Sequence[Row]) -> str:
    """Return the sentence of README about speed."""
    forward = f"{geometric_mean(cpu_ratios(rows, KERNEL, FORWARD)):,.0f}"
    calibration = f"{geometric_mean(cpu_ratios(rows, KERNEL, CALIBRATION)):,.0f}"
    return (
        "With a C compiler, it builds the [compiled kernel](docs/install.md) too: then ε costs "
        f"{forward} times less CPU than\nwith dp-accounting, a calibration {calibration} times less "
        "([geometric means](docs/benchmarks.md))."
    )


def _progress(row: Row, ours: Row | None) -> str:
    """Return a line about a new row, with its width or its error relative to our row of the same case."""
    if row.width is not None and row.accountant in OURS:
        deviation = f"width {row.width:.0e}"
    else:
        deviation = tables.error(None if ours is None else relative_error(row, ours))
    value = tables.number(row.value) or row.reason
    return f"{row.case}  {row.accountant}  {value}  {tables.seconds(row.cpu)}  {deviation}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the document."""
    parser = tables.parser("peers", __doc__)
    parser.add_argument("--missing", action="store_true", help="measure only questions that lack a row")
    names = [accountant.name for accountant in ACCOUNTANTS]
    parser.add_argument("--only", nargs="*", choices=names, default=names, help="measure these accountants")
    groups = list(dict.fromkeys(case.group for case in cases.everything()))
    parser.add_argument("--groups", nargs="*", choices=groups, default=groups, help="measure these questions")
    chosen = parser.parse_args(arguments)
    rows = [] if chosen.short else read_csv(CSV)
    accountants = [accountant for accountant in ACCOUNTANTS if accountant.name in chosen.only]
    questions = cases.short() if chosen.short else [case for case in cases.everything() if case.group in chosen.groups]
    if chosen.missing:
        present = {(row.case, row.accountant) for row in rows}
        questions = [case for case in questions if any((case.id, peer.name) not in present for peer in accountants)]
    if not chosen.again:
        ours = certified_rows(rows)
        for row in measure_rows(questions, accountants, chosen.date):
            ours |= certified_rows([row])
            print(_progress(row, ours.get(row.case)), flush=True)
            rows = merge_rows(rows, [row])
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

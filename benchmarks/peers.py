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
    """Yield the measured answer of each accountant to each question, question by question.

    All accountants answer a question in turn, so that changes of the machine's speed affect all of them.

    Args:
        questions: the questions.
        accountants: the accountants.
        date: date of the measurement.
        cache: folder of the accountants' environments.

    Yields:
        One row for each question and accountant. An accountant that cannot be installed has rows with the reason.
    """
    runners: dict[str, Runner | str] = {}
    with ExitStack() as stack:
        for accountant in accountants:
            try:
                runner = runners[accountant.name] = Runner(accountant, cache)
                stack.callback(runner.close)
            except Unavailable as error:
                runners[accountant.name] = str(error)
        # An accountant without a process has the reason in place of answers.
        for case in questions:
            for name, runner_or_reason in runners.items():
                labels = {"case": case.id, "group": case.group, "accountant": name, "date": date}
                if isinstance(runner_or_reason, str):
                    yield Row.of({"absent": runner_or_reason}, **labels)
                else:
                    result = runner_or_reason.ask(case, seconds=SECONDS, megabytes=MEGABYTES)
                    yield Row.of(result, version=runner_or_reason.version, load=os.getloadavg()[0], **labels)


def merge_rows(earlier: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """Replace the rows of an earlier run by new ones with the same question and accountant.

    Args:
        earlier: rows of the earlier run.
        new: new rows.

    Returns:
        The remaining earlier rows and the new ones, in the order of questions and accountants.
    """
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
    """Yield a line of the summary for each accountant and table, and for both tables of the grid together.

    Args:
        rows: answers of all accountants.

    Yields:
        Cells of the line: accountant, table, counts, CPU times, memory and errors.
    """
    groups = {group: (group,) for group in dict.fromkeys(row.group for row in rows)}
    # The two tables of the grid are also summarised together.
    if groups.keys() >= {*FORWARD}:
        groups["epsilon and delta"] = FORWARD
    for group, names in groups.items():
        in_table = [row for row in rows if row.group in names]
        for accountant in dict.fromkeys(row.accountant for row in rows):
            own = [row for row in in_table if row.accountant == accountant and row.outcome != "absent"]
            if own:
                yield accountant, group, *_summary(in_table, own, accountant)


def _summary(rows: Sequence[Row], own: Sequence[Row], accountant: str) -> Iterator[str]:
    """Yield the cells of one line of the summary after the names of accountant and table.

    Args:
        rows: answers of all accountants in the table.
        own: answers of the accountant in the table.
        accountant: name of the accountant.

    Yields:
        The cells:
        - answers of all questions, and questions over the limits;
        - mean CPU time, and its mean and least ratio to each of our accountants;
        - mean CPU time of the first question, and peak memory;
        - largest relative error and number of values that are too low; for ours the largest relative width.
    """
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
    """Return the section of docs/benchmarks.md on accountants as Markdown.

    Args:
        rows: answers of all accountants.

    Returns:
        The text: versions, the summary, and the tables of faults.
    """
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
    """Yield sentences on the CPU time of dp-accounting over ours, for both kinds of questions.

    Args:
        rows: answers of all accountants.

    Yields:
        A sentence with the geometric mean, the least ratio, and the number of questions.
    """
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
    """Measure all accountants, print the summary, and write the section of docs/benchmarks.md.

    Args:
        arguments: arguments of the command line; those of the process if None.

    Returns:
        The exit code 0.
    """
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
        # Every row is stored at once, so that an interrupted run keeps its answers.
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

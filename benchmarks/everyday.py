"""What people ask all day, and how its cost grows: python -m benchmarks.everyday [--short | --again] [--only GROUP …].

CPU and peak memory of questions that were never asked before: every algorithm's example, a picture and a sweep of it, a
plan, every kind of spec, questions that a random search found dear, and series of growing questions with fitted
exponents. Writes benchmarks/everyday.csv and its section of docs/benchmarks.md. Each row is added to the file as it is
measured, and takes the place of an earlier one of the same question. --only and --named measure some alone; --short
asks a few questions and writes nothing; --again writes the document from the file and measures nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain

from rich.console import Console

from benchmarks import document, everyday_report, tables
from benchmarks.costs import Cost, cost, imported
from benchmarks.environments import single_threaded
from benchmarks.everyday_cases import Asked, everything, short
from benchmarks.everyday_report import CSV, Line, add_line, read_lines, write_lines
from benchmarks.everyday_searched import searched
from benchmarks.growth import named, series

SECONDS, GROWTH_SECONDS, MEGABYTES = 120, 20, 3000
GROWTH = "growth"


def questions() -> list[Asked]:
    """What people ask all day, and what a search found dear."""
    return [*everything(), *searched()]


def lines(asked: Sequence[Asked], date: str) -> Iterator[Line]:
    """Each question's cost."""
    for each in asked:
        found = cost(each.ask, seconds=SECONDS, megabytes=MEGABYTES)
        yield _line(each.group, each.name, each.points, found, date)


def grown(date: str) -> Iterator[Line]:
    """The cost of each series at each size, until one is over the limit."""
    for each in series():
        for size in each.sizes:
            found = cost(each.ask(size), seconds=GROWTH_SECONDS, megabytes=MEGABYTES)
            yield _line(GROWTH, named(each), size, found, date)
            if found.cpu is None:
                break


def _line(group: str, name: str, size: int, found: Cost, date: str) -> Line:
    return Line(group=group, name=name, size=size, load=os.getloadavg()[0], date=date, **vars(found))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the section."""
    chosen = _parser().parse_args(arguments)
    if chosen.again:
        written()
        return 0
    if not chosen.short and os.environ.get("OMP_NUM_THREADS") != "1":
        os.execve(sys.executable, [sys.executable, "-m", "benchmarks.everyday", *sys.argv[1:]], single_threaded())
    imported()
    console = Console(width=150)
    asked = short() if chosen.short else [each for each in questions() if not chosen.only or each.group in chosen.only]
    asked = [each for each in asked if not chosen.named or each.name in chosen.named]
    growing = not (chosen.short or chosen.named) and (not chosen.only or GROWTH in chosen.only)
    measured = []
    for line in chain(lines(asked, chosen.date), grown(chosen.date) if growing else ()):
        measured.append(line)
        if not chosen.short:
            add_line(line, CSV)
        said = tables.seconds(line.cpu) if line.cpu is not None else line.reason
        console.print(f"{line.group}  {line.name}  {line.size}  {said}", highlight=False, soft_wrap=True)
    for title, head, of in everyday_report.all_tables(measured):
        console.print(tables.as_rich(title, head, of))
    if not chosen.short:
        written()
    return 0


def written() -> None:
    """Put the file in the order of the questions, without those that are asked no more, and write the document."""
    order = [(each.group, each.name, each.points) for each in questions()]
    order += [(GROWTH, named(each), size) for each in series() for size in each.sizes]
    places = {key: place for place, key in enumerate(order)}
    found = [line for line in read_lines(CSV) if (line.group, line.name, line.size) in places]
    found.sort(key=lambda line: places[line.group, line.name, line.size])
    write_lines(found, CSV)
    document.write("everyday", section())


def section() -> str:
    """The section of the document, of the rows in the file; it says which questions have none."""
    found = read_lines(CSV)
    measured = {(line.group, line.name, line.size) for line in found}
    stopped = {line.name for line in found if line.group == GROWTH and line.cpu is None}
    absent = [
        f"{each.group} of {each.name}" for each in questions() if (each.group, each.name, each.points) not in measured
    ]
    absent += [
        f"growth of {named(each)} at {size:.0e}".replace("e+0", "e").replace("e+", "e")
        for each in series()
        for size in each.sizes
        if (GROWTH, named(each), size) not in measured and named(each) not in stopped
    ]
    return everyday_report.markdown(found, absent)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.everyday", description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few questions, nothing written")
    parser.add_argument("--again", action="store_true", help="write the document from the rows of the last run")
    groups = sorted({each.group for each in questions()} | {GROWTH})
    parser.add_argument("--only", nargs="*", choices=groups, default=[], help="measure these, keep the others")
    parser.add_argument("--named", nargs="*", default=[], help="of these, measure only what has one of these names")
    today = datetime.now(tz=UTC).date().isoformat()
    parser.add_argument("--date", default=today, help="the date to write down")
    return parser


if __name__ == "__main__":
    sys.exit(main())

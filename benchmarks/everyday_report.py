"""What is written of the everyday questions: the rows, the tables, the aims, and the section of the document."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from benchmarks import document, tables
from benchmarks.costs import CHANGE, ENOUGH_SECONDS
from benchmarks.environments import ROOT
from benchmarks.everyday_reasons import reason
from benchmarks.growth import exponent

CSV = ROOT / "benchmarks" / "everyday.csv"
LONG = 0.5
"""CPU seconds of an answer beyond which it is named with its reason."""
PICTURE = 1.0
B1 = "poisson gaussian T=1000 (b1)"
DIFFERENT = "composed of 1000 different, a step each"
WORST = 3.0
"""How many times its ε an account may cost."""

AIMS_HEAD = ("aim", "wanted", "measured", "met")
LONG_HEAD = ("asked", "of what", "points", "CPU a point", "CPU in all", "peak memory", "reason")
ALGORITHMS_HEAD = (
    "algorithm",
    "example",
    "as a closed form",
    "picture of 30",
    "a point",
    "sweep of 200",
    "a point",
    "peak memory",
)
SPECS_HEAD = ("spec", "ε alone", "whole account", "account over ε", "peak memory")
GROWTH_HEAD = ("series", "CPU at each size", "exponent", "peak memory")

TEXT = """## What people ask all day

`python -m benchmarks.everyday`, {dates}: {machine}.

CPU is process time of one call that asks **a new question**, every ε, δ and amount of noise larger by {change:g} of
itself than in the call before, in a fresh fork of a process that has imported the library: the mean of the best run of
a tenth of a second or more, or the only call where the first took over {enough:g} s. Peak memory is the process's,
interpreter and imports included. *A picture* and *a sweep* are 30 and 200 ε at equal ratios from a tenth of the
example's to ten times it, by the library's `sweep`. *ε alone* is the curve's at δ = 1e-6, *the whole account* what
`POST /v1/accounts` answers, with what it means to an attacker. *Searched* are the dearest kinds that a random search
over all that the service accepts came upon, far from what is usual. The load average was {loads}.{yardsticks}

"""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One question's cost. `size` is how many points it has, or of a growing series its size."""

    group: str
    name: str
    size: int
    cpu: float | None = None
    first: float | None = None
    megabytes: float | None = None
    reason: str = ""
    load: float = 0.0
    date: str = ""

    @property
    def each(self) -> float | None:
        """CPU seconds a point."""
        return None if self.cpu is None else self.cpu / self.points

    @property
    def points(self) -> int:
        """Answers that are given: a growing series gives one, but where points are what grows."""
        return self.size if self.group != "growth" or self.name.endswith(": points") else 1

    @property
    def long(self) -> bool:
        """Whether it takes over half a second a point, or is not answered within the limit."""
        return self.each is None or self.each > LONG


Table = tuple[str, tuple[str, ...], list[tuple[str, ...]]]


def write_lines(lines: Sequence[Line], path: Path) -> None:
    """Every row whole."""
    path.write_text("", encoding="utf-8")
    for line in lines:
        add_line(line, path)


def add_line(line: Line, path: Path) -> None:
    """One row more, in one write, so that several groups may be measured at once."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if not path.exists() or not path.stat().st_size:
        writer.writerow([field.name for field in fields(Line)])
    writer.writerow([f"{each:.4g}" if isinstance(each, float) else each for each in asdict(line).values()])
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text.getvalue())


def read_lines(path: Path) -> list[Line]:
    """The rows that were written, of each question the last."""

    def number(cell: str) -> float | None:
        return float(cell) if cell else None

    with path.open(encoding="utf-8", newline="") as file:
        found = [
            Line(
                group=row["group"],
                name=row["name"],
                size=int(row["size"]),
                cpu=number(row["cpu"]),
                first=number(row["first"]),
                megabytes=number(row["megabytes"]),
                reason=row["reason"],
                load=float(row["load"]),
                date=row["date"],
            )
            for row in csv.DictReader(file)
        ]
    return list({(line.group, line.name, line.size): line for line in found}.values())


def all_tables(lines: Sequence[Line]) -> list[Table]:
    """Aims, what is long, algorithms, specs and growth; nothing of what was not asked."""
    found: list[Table] = [
        ("Aims of everyday questions", AIMS_HEAD, list(aims(lines))),
        ("Above half a second", LONG_HEAD, list(_long(lines))),
        ("Algorithms", ALGORITHMS_HEAD, list(_algorithms(lines))),
        ("Kinds of specs", SPECS_HEAD, list(_specs(lines))),
        ("Growth", GROWTH_HEAD, list(_growth(lines))),
    ]
    return [table for table in found if table[2]]


def markdown(lines: Sequence[Line], absent: Sequence[str] = ()) -> str:
    """The section of the document; `absent` are the questions that are not measured."""
    dates = sorted({line.date for line in lines if line.date})
    loads = [line.load for line in lines]
    head = TEXT.format(
        dates=" to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "no date",
        machine=document.machine().replace("each accountant", "each call"),
        change=CHANGE,
        enough=ENOUGH_SECONDS,
        loads=f"{min(loads):.1f} to {max(loads):.1f}",
        yardsticks=_yardsticks(lines),
    )
    parts = [f"### {title}\n\n{tables.as_markdown(head, of)}\n" for title, head, of in all_tables(lines)]
    if absent:
        head += f"**Not measured yet, and in no aim: {', '.join(absent)}.**\n\n"
    return head + "\n".join(parts) + f"\nThe {len(lines)} rows stand in `{CSV.relative_to(ROOT)}`."


def _yardsticks(lines: Sequence[Line]) -> str:
    """What tells this machine from another."""
    found = [f"{line.name} took {tables.seconds(line.cpu)}" for line in lines if line.group == "yardstick" and line.cpu]
    return f" To compare machines:\n{', '.join(found)}." if found else ""


def aims(lines: Sequence[Line]) -> Iterator[tuple[str, ...]]:
    """One line for each aim that the rows speak of."""
    alone, whole = _one(lines, "ε alone", B1), _one(lines, "whole account", B1)
    if alone and alone.cpu:
        yield _aim("ε of b1: rate 0.01, noise multiplier 1, 1000 steps, δ = 1e-6", 1.5e-3, alone.cpu)
        if whole and whole.cpu:
            times = whole.cpu / alone.cpu
            met = "yes" if times <= WORST else "not yet"
            yield "account of b1 with its meaning, over its ε", f"≤ {WORST:g}×", tables.times(times), met
    noise = _one(lines, "example", "gaussian")
    if noise and noise.cpu:
        yield _aim("σ for ε = 1, δ = 1e-6, rate 0.01, 1000 steps", 8e-3, noise.cpu)
    yield from _slowest(lines, "closed form", "slowest calibration in closed form", 2e-3)
    yield from _slowest(lines, "example", "slowest example of an algorithm", LONG)
    yield from _slowest(lines, "ε alone", "slowest ε of a kind of spec", LONG)
    yield from _slowest(lines, "whole account", "slowest whole account of a kind of spec", LONG)
    yield from _slowest(lines, "plan", "the example of a plan", LONG)
    yield from _slowest(lines, "picture", "slowest picture of 30 points, in all", PICTURE, whole=True)
    yield from _slowest(lines, "sweep", "slowest sweep of 200 points, a point", LONG)
    yield from _slowest(lines, "searched", "slowest of those that a random search found dear", LONG)
    different = _one(lines, "ε alone", DIFFERENT)
    if different:
        yield _aim("1000 different mechanisms, a step each", LONG, different.cpu, different.reason)
    peaks = [line.megabytes for line in lines if line.megabytes]
    if peaks:
        yield "peak memory of any answer", "≤ 300 MB", f"{max(peaks):.0f} MB", "yes" if max(peaks) <= 300 else "not yet"


def _slowest(
    lines: Sequence[Line], group: str, aim: str, most: float, *, whole: bool = False
) -> Iterator[tuple[str, ...]]:
    """The slowest of a group, and how many are within the aim; what has no figure is the slowest of all."""
    spent = [(line, line.cpu if whole else line.each) for line in lines if line.group == group]
    if spent:
        within = sum(cpu is not None and cpu <= most for _, cpu in spent)
        line, cpu = max(spent, key=lambda each: float("inf") if each[1] is None else each[1])
        measured = (
            f"{line.reason if cpu is None else tables.seconds(cpu)} ({line.name}); {within} of {len(spent)} within"
        )
        yield aim, f"≤ {tables.seconds(most)}", measured, "yes" if within == len(spent) else "not yet"


def _aim(aim: str, most: float, cpu: float | None, why: str = "") -> tuple[str, ...]:
    met = cpu is not None and cpu <= most
    return aim, f"≤ {tables.seconds(most)}", why if cpu is None else tables.seconds(cpu), "yes" if met else "not yet"


def _long(lines: Sequence[Line]) -> Iterator[tuple[str, ...]]:
    for line in sorted((line for line in lines if line.long), key=lambda line: -(line.each or float("inf"))):
        spent = (line.reason, "") if line.cpu is None else (tables.seconds(line.each), tables.seconds(line.cpu))
        what = f"{line.name} = {line.size}" if line.group == "growth" else line.name
        yield line.group, what, str(line.points), *spent, _memory(line), reason(line.name)


def _algorithms(lines: Sequence[Line]) -> Iterator[tuple[str, ...]]:
    names = dict.fromkeys(line.name for line in lines if line.group in ("example", "sweep"))
    for name in [*names, *(("plan",) if _one(lines, "plan", "plan") else ())]:
        found = [_one(lines, group, name) for group in ("example", "closed form", "picture", "sweep")]
        example, closed, picture, sweep = found
        if name == "plan":
            example = _one(lines, "plan", name)
        peaks = [line.megabytes for line in (*found, example) if line and line.megabytes]
        memory = f"{max(peaks):.0f} MB" if peaks else ""
        both = [cell for line in (picture, sweep) for cell in (_cell(line), _cell(line, each=True))]
        yield name, _cell(example), _cell(closed), *both, memory


def _specs(lines: Sequence[Line]) -> Iterator[tuple[str, ...]]:
    for name in dict.fromkeys(line.name for line in lines if line.group == "ε alone"):
        alone, whole = _one(lines, "ε alone", name), _one(lines, "whole account", name)
        over = tables.times(whole.cpu / alone.cpu) if alone and whole and alone.cpu and whole.cpu else ""
        yield name, _cell(alone), _cell(whole), over, _memory(whole or alone)


def _growth(lines: Sequence[Line]) -> Iterator[tuple[str, ...]]:
    for name in dict.fromkeys(line.name for line in lines if line.group == "growth"):
        of = [line for line in lines if line.group == "growth" and line.name == name]
        slope = exponent({line.size: line.cpu for line in of if line.cpu})
        at = ", ".join(f"{line.size:.0e}: {_cell(line)}".replace("e+0", "e").replace("e+", "e") for line in of)
        peaks = [line.megabytes for line in of if line.megabytes]
        yield name, at, "" if slope is None else f"{slope:.2f}", f"{max(peaks):.0f} MB" if peaks else ""


def _one(lines: Sequence[Line], group: str, name: str) -> Line | None:
    return next((line for line in lines if (line.group, line.name) == (group, name)), None)


def _cell(line: Line | None, *, each: bool = False) -> str:
    if line is None:
        return ""
    spent = line.each if each else line.cpu
    return ("" if each else line.reason) if spent is None else tables.seconds(spent)


def _memory(line: Line | None) -> str:
    return f"{line.megabytes:.0f} MB" if line and line.megabytes else ""

"""CPU and peak memory of everyday questions: python -m benchmarks.everyday [--short | --again] [--only GROUP …].

Asked are the example of each algorithm, a picture of it, a plan, and ε and the whole account of each kind of spec. Each
row is written to benchmarks/everyday.csv at once, in the place of an earlier one, and at the end the section of
docs/benchmarks.md is written. --short asks a few questions and writes nothing; --again writes the section again.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import epsilond
from benchmarks import tables
from benchmarks.environments import KERNEL, ROOT, THREADS
from benchmarks.measuring import CHANGE, ENOUGH_SECONDS, Ask, measure_isolated
from benchmarks.rows import Row, read_csv, write_csv
from benchmarks.specs import B1, LAPLACE, SPECS, Body, Setting, repeated
from epsilond.calibrators.planning.examples import EXAMPLES as PLANS

CSV = ROOT / "benchmarks" / "everyday.csv"
SECONDS, MEGABYTES = 120, 3000
"""Limits of one question, all its calls together: CPU, and address space."""
DELTA = 1e-6
DRAWN = 30
"""Number of points of a picture."""
LONG = 0.5
"""CPU seconds of an answer beyond which the section names it."""
SHORT = ("gaussian", "gaussian T=1", "poisson gaussian T=1000 (b1)")
EXAMPLES: Mapping[str, Body] = {each.name: each.example for each in epsilond.CALIBRATORS}
PLAN: Body = PLANS["one problem"]
MOVED = frozenset({
    "epsilon", "epsilons", "delta", "deltas", "log10_delta", "noise_multiplier", "scale_multiplier", "decay_rate",
    "noise_schedule", "noise_stds",
})  # fmt: skip
"""The members that hold an ε, a δ or an amount of noise, by which a question differs from the one before."""
ALGORITHMS_HEAD = ("algorithm", "example", f"picture of {DRAWN}", "a point", "peak memory")
SPECS_HEAD = ("spec", "ε", "whole account", "account over ε", "peak memory")
TEXT = """## Everyday questions

`python -m benchmarks.everyday`, {dates}: {machine}, one thread for each call. Load average {loads}.

CPU is process time of **a new question**, every ε, δ and amount of noise larger by {change:g} of itself than in the
call before, in a fresh fork of a process that has imported the library: the mean of the best run of a tenth of a
second or more, or the only call where the first took over {enough:g} s. Peak memory is the process's, interpreter and
imports included. *A picture* is {drawn} ε at equal ratios from a tenth of the example's to ten times it, by the
library's `sweep`. *ε* is the curve's at δ = 1e-6. *The whole account* is what `POST /v1/accounts` answers.

{absent}Above {long:g} s of CPU an answer: {above}.

"""


@dataclass(frozen=True)
class Everyday:
    """A question by its name; `points` is how many answers it gives."""

    group: str
    name: str
    ask: Ask
    points: int = 1


def moved(body: Any, place: int, *, within: bool = False) -> Any:
    """Return a body with its ε, δ and noise larger by `CHANGE` of themselves for each place."""
    if isinstance(body, Mapping):
        return {name: moved(value, place, within=within or name in MOVED) for name, value in body.items()}
    if isinstance(body, list | tuple):
        return type(body)(moved(value, place, within=within) for value in body)
    return body * (1.0 + CHANGE * place) if within and isinstance(body, float) else body


def calibration(algorithm: str, body: Body) -> Ask:
    """Ask for one calibration."""
    return lambda place: epsilond.calibrate(algorithm, **moved(body, place))


def picture(algorithm: str, body: Body) -> Ask:
    """Ask for a calibration at DRAWN ε, without what is true at printed noise, as the page draws them."""
    values = [body["epsilon"] * 10.0 ** (2.0 * index / (DRAWN - 1) - 1.0) for index in range(DRAWN)]

    def ask(place: int) -> object:
        given = moved(body, place)
        swept = moved(values, place, within=True)
        answers = epsilond.sweep(algorithm, "epsilon", swept, true_figures=False, **given).answers
        if all(each.error is not None for each in answers):
            raise RuntimeError("each point is refused")
        return answers

    return ask


def account(setting: Setting, *, whole: bool) -> Ask:
    """Ask for ε at DELTA, or for the whole account."""
    spec, relation, observer = setting

    def ask(place: int) -> object:
        delta = DELTA * (1.0 + CHANGE * place)
        query = {"delta": delta} if whole else {}
        found: Any = epsilond.account(moved(spec, place), relation=relation, observer=observer, unit="record", **query)  # type: ignore[call-overload]
        return found if whole else found.guarantee.curve.epsilon(delta=delta)

    return ask


def questions() -> list[Everyday]:
    """Return all questions."""
    found = [Everyday("plan", "plan", lambda place: epsilond.plan(**moved(PLAN, place)))]
    for name, body in EXAMPLES.items():
        found += [
            Everyday("example", name, calibration(name, body)),
            Everyday("picture", name, picture(name, body), DRAWN),
        ]
    for name, setting in SPECS.items():
        found += [
            Everyday("ε", name, account(setting, whole=False)),
            Everyday("account", name, account(setting, whole=True)),
        ]
    return found


def import_everything() -> None:
    """Import all that an answer needs, so that no figure has an import in it."""
    for name in epsilond.__all__:
        getattr(epsilond, name)
    account(B1, whole=True)(0)
    account(Setting(repeated(2, LAPLACE), "add-or-remove-one"), whole=True)(0)


def measured(asked: Sequence[Everyday], date: str) -> Iterator[Row]:
    """Yield the cost of each question."""
    for each in asked:
        result = measure_isolated(each.ask, seconds=SECONDS, megabytes=MEGABYTES)
        yield Row.of(
            result, case=each.name, group=each.group, accountant=KERNEL.name, date=date, load=os.getloadavg()[0]
        )


# Tables -------------------------------------------------------------------------------------------------------------
def algorithm_lines(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each algorithm, and the plan's."""
    for name in dict.fromkeys(row.case for row in rows if row.group in ("example", "plan")):
        example = _row(rows, "example", name) or _row(rows, "plan", name)
        drawn = _row(rows, "picture", name)
        point = tables.seconds(drawn.cpu / DRAWN) if drawn and drawn.cpu else ""
        yield name, _cell(example), _cell(drawn), point, _memory(example, drawn)


def spec_lines(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each spec."""
    for name in dict.fromkeys(row.case for row in rows if row.group == "ε"):
        epsilon, whole = _row(rows, "ε", name), _row(rows, "account", name)
        over = whole.cpu / epsilon.cpu if epsilon and whole and epsilon.cpu and whole.cpu else None
        yield name, _cell(epsilon), _cell(whole), tables.times(over), _memory(epsilon, whole)


def _row(rows: Sequence[Row], group: str, name: str) -> Row | None:
    return next((row for row in rows if (row.group, row.case) == (group, name)), None)


def _cell(row: Row | None) -> str:
    return "" if row is None else tables.seconds(row.cpu) or row.reason


def _memory(*rows: Row | None) -> str:
    peaks = [row.megabytes for row in rows if row and row.megabytes]
    return f"{max(peaks):.0f} MB" if peaks else ""


def section(rows: Sequence[Row]) -> str:
    """Return the section of the document."""
    dates, loads = sorted(row.date for row in rows), [row.load or 0.0 for row in rows]
    points = {(each.group, each.name): each.points for each in questions()}
    known = {(row.group, row.case) for row in rows}
    absent = ", ".join(f"{group} of {name}" for group, name in points if (group, name) not in known)
    long = [row for row in rows if row.cpu is None or row.cpu / points.get((row.group, row.case), 1) > LONG]
    text = TEXT.format(
        dates=" to ".join(dict.fromkeys((dates[0], dates[-1]))),
        machine=tables.machine(),
        loads=f"{min(loads):.1f} to {max(loads):.1f}",
        change=CHANGE,
        enough=ENOUGH_SECONDS,
        drawn=DRAWN,
        absent=f"**Not measured yet: {absent}.**\n\n" if absent else "",
        long=LONG,
        above=", ".join(f"{row.group} of {row.case} ({_cell(row)})" for row in long) or "none",
    )
    algorithms = tables.as_markdown(ALGORITHMS_HEAD, algorithm_lines(rows))
    return f"{text}{algorithms}\n\n{tables.as_markdown(SPECS_HEAD, spec_lines(rows))}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the section."""
    chosen = _parser().parse_args(arguments)
    if not chosen.short and THREADS.items() - os.environ.items():
        os.execve(sys.executable, [sys.executable, "-m", "benchmarks.everyday", *sys.argv[1:]], os.environ | THREADS)
    asked = questions()
    order = {(each.group, each.name): place for place, each in enumerate(asked)}
    known = {} if chosen.short else {(row.group, row.case): row for row in read_csv(CSV)}
    asked = [each for each in asked if not chosen.only or each.group in chosen.only]
    asked = [each for each in asked if each.name in SHORT and each.group != "picture"] if chosen.short else asked
    if not chosen.again:
        import_everything()
        for row in measured(asked, chosen.date):
            known[row.group, row.case] = row
            print(f"{row.group}  {row.case}  {_cell(row)}", flush=True)
            if not chosen.short:
                write_csv([known[key] for key in order if key in known], CSV)
    rows = [known[key] for key in order if key in known]
    tables.show("Algorithms", ALGORITHMS_HEAD, algorithm_lines(rows))
    tables.show("Kinds of specs", SPECS_HEAD, spec_lines(rows))
    if not chosen.short:
        tables.write_section("everyday", section(rows))
    return 0


def _parser() -> argparse.ArgumentParser:
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.everyday", description=summary)
    parser.add_argument("--short", action="store_true", help="ask a few questions and write nothing")
    parser.add_argument("--again", action="store_true", help="measure nothing, write the section from the rows")
    groups = list(dict.fromkeys(each.group for each in questions()))
    parser.add_argument("--only", nargs="*", choices=groups, default=[], help="measure these groups, keep the others")
    parser.add_argument("--date", default=datetime.now(tz=UTC).date().isoformat(), help="the date to write down")
    return parser


if __name__ == "__main__":
    sys.exit(main())

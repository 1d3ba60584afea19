"""CPU and peak memory of everyday questions: python -m benchmarks.everyday [--short | --again] [--only GROUP …].

Asked are the example of each algorithm, a picture of it, a plan, and ε and the whole account of each kind of spec. Each
row is written to benchmarks/everyday.csv at once, in the place of an earlier one, and at the end the section of
docs/benchmarks.md is written. --short asks a few questions and writes nothing; --again writes the section again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import epsilond
from benchmarks import tables
from benchmarks.environments import KERNEL, ROOT, THREADS
from benchmarks.measuring import CHANGE, Ask, measure_isolated
from benchmarks.rows import Row, read_csv, write_csv
from benchmarks.specs import B1, LAPLACE, SPECS, Body, Setting
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
NOISE = ("noise_multiplier", "scale_multiplier", "decay_rate", "noise_schedule", "noise_stds")
MOVED = frozenset(("epsilon", "epsilons", "delta", "deltas", "log10_delta", *NOISE))
"""The members that hold an ε, a δ or an amount of noise, by which a question differs from the one before."""
ALGORITHMS_HEAD = ("algorithm", "example", f"picture of {DRAWN}", "a point", "peak memory")
SPECS_HEAD = ("spec", "ε", "whole account", "account over ε", "peak memory")
Key = tuple[str, str]
"""Group and name of a question."""


def moved(body: Any, place: int, *, within: bool = False) -> Any:
    """Return a body with its ε, δ and noise larger by `CHANGE` of themselves for each place."""
    if isinstance(body, Mapping):
        return {name: moved(value, place, within=within or name in MOVED) for name, value in body.items()}
    if isinstance(body, list | tuple):
        return type(body)(moved(value, place, within=within) for value in body)
    return body * (1.0 + CHANGE * place) if within and isinstance(body, float) else body


def picture(algorithm: str, body: Body) -> Ask:
    """Ask for a calibration at DRAWN ε, without what is true at printed noise, as the page draws them."""
    values = [body["epsilon"] * 10.0 ** (2.0 * index / (DRAWN - 1) - 1.0) for index in range(DRAWN)]

    def ask(place: int) -> object:
        swept = moved(values, place, within=True)
        answer = epsilond.sweep(algorithm, "epsilon", swept, true_figures=False, **moved(body, place))
        if all(each.error is not None for each in answer.answers):
            raise RuntimeError("each point is refused")
        return answer

    return ask


def account(setting: Setting, *, whole: bool) -> Ask:
    """Ask for ε at DELTA, or for the whole account."""

    def ask(place: int) -> object:
        delta = DELTA * (1.0 + CHANGE * place)
        given: dict[str, Any] = {"relation": setting.relation, "observer": setting.observer, "unit": "record"}
        found = epsilond.account(moved(setting.spec, place), **given, **({"delta": delta} if whole else {}))
        return found if whole else found.guarantee.curve.epsilon(delta=delta)

    return ask


def questions() -> dict[Key, Ask]:
    """Return all questions."""
    found: dict[Key, Ask] = {("plan", "plan"): lambda place: epsilond.plan(**moved(PLAN, place))}
    for name, body in EXAMPLES.items():
        found["example", name] = lambda place, name=name, body=body: epsilond.calibrate(name, **moved(body, place))  # type: ignore[misc]
        found["picture", name] = picture(name, body)
    for name, setting in SPECS.items():
        found |= {("ε", name): account(setting, whole=False), ("account", name): account(setting, whole=True)}
    return found


def import_everything() -> None:
    """Import all that an answer needs, so that no figure has an import in it."""
    for name in epsilond.__all__:
        getattr(epsilond, name)
    account(B1, whole=True)(0)
    account(LAPLACE, whole=True)(0)


# Tables -------------------------------------------------------------------------------------------------------------
def algorithm_lines(rows: Mapping[Key, Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each algorithm, and the plan's."""
    for group, name in rows:
        if group in ("example", "plan"):
            drawn = rows.get(("picture", name))
            point = tables.seconds(drawn.cpu / DRAWN) if drawn and drawn.cpu else ""
            yield name, _cpu(rows[group, name]), _cpu(drawn), point, _memory(rows[group, name], drawn)


def spec_lines(rows: Mapping[Key, Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each spec."""
    for name in (name for group, name in rows if group == "ε"):
        epsilon, whole = rows["ε", name], rows.get(("account", name))
        over = whole.cpu / epsilon.cpu if whole and epsilon.cpu and whole.cpu else None
        yield name, _cpu(epsilon), _cpu(whole), tables.times(over), _memory(epsilon, whole)


def _cpu(row: Row | None) -> str:
    return "" if row is None else tables.seconds(row.cpu) or row.reason


def _memory(*rows: Row | None) -> str:
    return f"{max(row.megabytes or 0.0 for row in rows if row):.0f} MB"


def section(rows: Mapping[Key, Row]) -> str:
    """Return the section of the document."""
    absent = ", ".join(f"{group} of {name}" for group, name in questions() if (group, name) not in rows)
    points = {"picture": DRAWN}
    long = [row for row in rows.values() if row.cpu is None or row.cpu / points.get(row.group, 1) > LONG]
    above = ", ".join(f"{row.group} of {row.case} ({_cpu(row)})" for row in long) or "none"
    parts = [
        tables.provenance("python -m benchmarks.everyday", list(rows.values())),
        *([f"**Not measured yet: {absent}.**"] if absent else []),
        f"Above {LONG:g} s of CPU an answer: {above}.",
        tables.as_markdown(ALGORITHMS_HEAD, algorithm_lines(rows)),
        tables.as_markdown(SPECS_HEAD, spec_lines(rows)),
    ]
    return "\n\n".join(parts)


def known_rows() -> dict[Key, Row]:
    """Return the rows of the last run, in the order of the questions."""
    known = {(row.group, row.case): row for row in read_csv(CSV)}
    return {key: known[key] for key in questions() if key in known}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the section."""
    parser = tables.parser("everyday", __doc__)
    groups = list(dict.fromkeys(group for group, _ in questions()))
    parser.add_argument("--only", nargs="*", choices=groups, default=groups, help="measure these groups only")
    chosen = parser.parse_args(arguments)
    if not chosen.short and THREADS.items() - os.environ.items():
        os.execve(sys.executable, [sys.executable, "-m", "benchmarks.everyday", *sys.argv[1:]], os.environ | THREADS)
    rows = {} if chosen.short else known_rows()
    if not chosen.again:
        import_everything()
        for (group, name), ask in questions().items():
            if group not in chosen.only or (chosen.short and (name not in SHORT or group == "picture")):
                continue
            result = measure_isolated(ask, seconds=SECONDS, megabytes=MEGABYTES)
            known = {"case": name, "group": group, "accountant": KERNEL.name, "date": chosen.date}
            rows[group, name] = Row.of(result, load=os.getloadavg()[0], **known)
            print(f"{group}  {name}  {_cpu(rows[group, name])}", flush=True)
            if not chosen.short:
                write_csv(list(rows.values()), CSV)
    tables.show("Algorithms", ALGORITHMS_HEAD, algorithm_lines(rows))
    tables.show("Kinds of specs", SPECS_HEAD, spec_lines(rows))
    if not chosen.short:
        write_csv(list(known_rows().values()), CSV)
        tables.write_section("everyday", section(known_rows()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

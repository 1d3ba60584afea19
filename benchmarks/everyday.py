"""CPU and peak memory of everyday questions: python -m benchmarks.everyday [--short | --again] [--only GROUP …].

The questions are the example of each algorithm, a picture of it, a plan, and ε and the whole account of each kind of
spec. Each row is written to benchmarks/everyday.csv at once, in place of an earlier one. At the end the section of
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
EXAMPLES: Mapping[str, Body] = {calibrator.name: calibrator.example for calibrator in epsilond.CALIBRATORS}
PLAN: Body = PLANS["one problem"]
NOISE = ("noise_multiplier", "scale_multiplier", "decay_rate", "noise_schedule", "noise_stds")
MOVED = frozenset(("epsilon", "epsilons", "delta", "deltas", "log10_delta", *NOISE))
"""Members with an ε, a δ or an amount of noise, in which a question differs from the previous one."""
ALGORITHMS_HEAD = ("algorithm", "example", f"picture of {DRAWN}", "a point", "peak memory")
SPECS_HEAD = ("spec", "ε", "whole account", "account over ε", "peak memory")
Key = tuple[str, str]
"""Group and name of a question."""


def scale_body(body: Any, place: int, *, within: bool = False) -> Any:
    """Return a request with its ε, δ and noise multiplied by 1 + `CHANGE` · place.

    Such a question is new, so that no part of its answer comes from a cache.

    Args:
        body: the body of the request, or a part of it.
        place: number of the question, from 0 for the unchanged request.
        within: whether the part is in a member of `MOVED`, the members with an ε, a δ or a noise.

    Returns:
        The changed copy, of the same structure.
    """
    if isinstance(body, Mapping):
        return {name: scale_body(value, place, within=within or name in MOVED) for name, value in body.items()}
    if isinstance(body, list | tuple):
        return type(body)(scale_body(value, place, within=within) for value in body)
    return body * (1.0 + CHANGE * place) if within and isinstance(body, float) else body


def picture(algorithm: str, body: Body) -> Ask:
    """Return a function that calibrates at `DRAWN` values of ε, as for a plot.

    The values span a factor of 100 around the ε of the request, evenly on a logarithmic scale. The true ε at printed
    noise is not computed.

    Args:
        algorithm: name of the algorithm.
        body: request of the algorithm.

    Returns:
        A function of the number of the question, with the answer of the sweep. It raises RuntimeError if no value has
        one.
    """
    # From a tenth of ε to ten times ε.
    values = [body["epsilon"] * 10.0 ** (2.0 * index / (DRAWN - 1) - 1.0) for index in range(DRAWN)]

    def ask(place: int) -> object:
        """Sweep ε for the question with this number, which no earlier question equals."""
        epsilons = scale_body(values, place, within=True)
        answer = epsilond.sweep(algorithm, "epsilon", epsilons, true_figures=False, **scale_body(body, place))
        if all(entry.error is not None for entry in answer.answers):
            raise RuntimeError("each point is refused")
        return answer

    return ask


def account(setting: Setting, *, whole: bool) -> Ask:
    """Return a function that computes the ε of a mechanism at `DELTA`, or its whole account.

    Args:
        setting: specification of the mechanism, the neighbouring relation and the observer.
        whole: whether to compute the whole answer at δ, and not only the bounds on ε.

    Returns:
        A function of the number of the question, with bounds on ε or the account.
    """

    def ask(place: int) -> object:
        """Account for the question with this number, which no earlier question equals."""
        delta = DELTA * (1.0 + CHANGE * place)
        fields: dict[str, Any] = {"relation": setting.relation, "observer": setting.observer, "unit": "record"}
        if whole:
            return epsilond.account(scale_body(setting.spec, place), **fields, delta=delta)
        return epsilond.account(scale_body(setting.spec, place), **fields).guarantee.curve.epsilon(delta=delta)

    return ask


def questions() -> dict[Key, Ask]:
    """Return the calls to measure, by group and name.

    Returns:
        Functions of the number of the question. The groups are a plan, the example of each algorithm, a picture of it,
        and ε and the whole account of each kind of mechanism.
    """
    asks: dict[Key, Ask] = {("plan", "plan"): lambda place: epsilond.plan(**scale_body(PLAN, place))}
    for name, body in EXAMPLES.items():
        asks["example", name] = lambda place, name=name, body=body: epsilond.calibrate(name, **scale_body(body, place))  # type: ignore[misc]
        asks["picture", name] = picture(name, body)
    for name, setting in SPECS.items():
        asks["ε", name] = account(setting, whole=False)
        asks["account", name] = account(setting, whole=True)
    return asks


def import_everything() -> None:
    """Import all modules of an answer, so that no figure contains an import."""
    for name in epsilond.__all__:
        getattr(epsilond, name)
    account(B1, whole=True)(0)
    account(LAPLACE, whole=True)(0)


# Tables -------------------------------------------------------------------------------------------------------------
def algorithm_lines(rows: Mapping[Key, Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each algorithm, and the plan's."""
    for group, name in rows:
        if group in ("example", "plan"):
            picture_row = rows.get(("picture", name))
            point = tables.seconds(picture_row.cpu / DRAWN) if picture_row and picture_row.cpu else ""
            yield name, _cpu(rows[group, name]), _cpu(picture_row), point, _memory(rows[group, name], picture_row)


def spec_lines(rows: Mapping[Key, Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each spec."""
    for name in (name for group, name in rows if group == "ε"):
        epsilon, full = rows["ε", name], rows.get(("account", name))
        ratio = full.cpu / epsilon.cpu if full and epsilon.cpu and full.cpu else None
        yield name, _cpu(epsilon), _cpu(full), tables.times(ratio), _memory(epsilon, full)


def _cpu(row: Row | None) -> str:
    return "" if row is None else tables.seconds(row.cpu) or row.reason


def _memory(*rows: Row | None) -> str:
    return f"{max(row.megabytes or 0.0 for row in rows if row):.0f} MB"


def section(rows: Mapping[Key, Row]) -> str:
    """Return the section of docs/benchmarks.md as Markdown.

    Args:
        rows: measured calls by group and name. Calls that were not measured are listed in the text.

    Returns:
        The text with both tables. It names the calls that take over `LONG` CPU seconds per answer or have no time.
    """
    absent = ", ".join(f"{group} of {name}" for group, name in questions() if (group, name) not in rows)
    # A picture has `DRAWN` answers, and every other call has one.
    answers_of = {"picture": DRAWN}
    long = [row for row in rows.values() if row.cpu is None or row.cpu / answers_of.get(row.group, 1) > LONG]
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
    rows = {(row.group, row.case): row for row in read_csv(CSV)}
    return {key: rows[key] for key in questions() if key in rows}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure everyday questions, print the tables, and write the section of docs/benchmarks.md.

    Args:
        arguments: arguments of the command line; those of the process if None.

    Returns:
        The exit code 0.
    """
    parser = tables.parser("everyday", __doc__)
    groups = list(dict.fromkeys(group for group, _ in questions()))
    parser.add_argument("--only", nargs="*", choices=groups, default=groups, help="measure these groups only")
    chosen = parser.parse_args(arguments)
    # Start again with the variables that limit numerical libraries to one thread.
    if not chosen.short and THREADS.items() - os.environ.items():
        os.execve(sys.executable, [sys.executable, "-m", "benchmarks.everyday", *sys.argv[1:]], os.environ | THREADS)
    rows = {} if chosen.short else known_rows()
    if not chosen.again:
        import_everything()
        for (group, name), ask in questions().items():
            if group not in chosen.only or (chosen.short and (name not in SHORT or group == "picture")):
                continue
            result = measure_isolated(ask, seconds=SECONDS, megabytes=MEGABYTES)
            labels = {"case": name, "group": group, "accountant": KERNEL.name, "date": chosen.date}
            rows[group, name] = Row.of(result, load=os.getloadavg()[0], **labels)
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

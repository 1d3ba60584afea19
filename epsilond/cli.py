"""The command line. Each calibrator's options are generated from its problem: a new one needs no line here.

Exit codes: 0 answered, 1 unexpected, 2 bad input (the fields are named), 3 nothing can be certified.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import RenderableType

from accountants import ENGINE_VERSION
from accountants.errors import Fault, InvalidInput, NoCertificate
from accountants.theorem import Reading
from accountants.theorems import THEOREMS
from calibrators import CALIBRATORS
from calibrators.answer import as_json
from calibrators.problem import Calibrator
from calibrators.risk_bounds import RISK_BOUNDS
from calibrators.risk_bounds_answer import RiskBounder
from epsilond import ask, options, simulating, simulation_tables, strict_json, tables
from epsilond.commands_keys import keys
from witness.presets import PRESETS

BAD_INPUT, NOT_CERTIFIED = 2, 3

main = typer.Typer(
    name="epsilond",
    help="Certified privacy accounting and noise calibration for federated learning.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
calibrate = typer.Typer(no_args_is_help=True, help="Find what to run an algorithm with.")
main.add_typer(calibrate, name="calibrate")
risk_bound = typer.Typer(no_args_is_help=True, help="Bound the excess risk of an algorithm, from above and below.")
main.add_typer(risk_bound, name="risk-bound")
main.add_typer(keys, name="keys")

AsJson = Annotated[bool, typer.Option("--json", help="print the body the HTTP service answers")]


@main.command()
def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on; else EPSILOND_HOST, else 127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(help="else EPSILOND_PORT, else 8000", min=0, max=65535)] = None,
) -> None:
    """Start the HTTP service."""
    from app.serve import serve as start  # noqa: PLC0415  the rest of the command line needs no web framework

    try:
        start(host=host, port=port)
    except ValueError as error:
        if not str(error).startswith("EPSILOND_"):
            raise
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from None


@main.command()
def theorems(
    theorem_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="one theorem in full")] = None,
) -> None:
    """List the theorems, or show one in full."""
    with exit_codes():
        tables.show(tables.theorems(THEOREMS) if theorem_id is None else tables.theorem(ask.theorem(theorem_id)))


@main.command()
def evaluate(
    theorem_id: Annotated[str, typer.Argument(metavar="ID", help="the theorem")],
    inputs: Annotated[list[str] | None, typer.Option("--input", metavar="NAME=VALUE", help="repeat for each")] = None,
    reading: Annotated[Reading, typer.Option(help="the formula as printed, or as corrected")] = "printed",
    as_body: AsJson = False,
) -> None:
    """Evaluate a theorem's formula and its conditions."""
    with exit_codes():
        given: dict[str, Any] = dict(_assignment(each) for each in inputs or [])
        problem = ask.theorem(theorem_id).inputs
        values = options.read_options(problem, given) if problem is not None else given
        answer = ask.evaluate(theorem_id, reading=reading, **values)
        _print_body(answer) if as_body else tables.show(tables.evaluation(theorem_id, answer))


@main.command()
def simulate(
    asked: Annotated[
        str | None,
        typer.Argument(metavar="[PRESET|REQUEST.json]", help="an experiment by its name, or a request; - reads it"),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="list the presets")] = False,
    repetitions: Annotated[
        int | None, typer.Option(metavar="COUNT", help="else those of the preset or request")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="COUNT", help="the same seed gives the same answer")] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="COUNT", min=1, help="processes; default: one per core, to the same answer")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="the figure, .png or .svg; default: the preset's name, .png")
    ] = None,
    as_body: AsJson = False,
) -> None:
    """Run an algorithm or attack a mechanism, and measure beside what is promised. Draws a figure."""
    with exit_codes():
        if listed or asked is None:
            tables.show(simulation_tables.presets(PRESETS))
            return
        preset = not (asked == "-" or asked.endswith(".json"))
        request = ask.simulation_request(
            asked if preset else _request_fields(asked), repetitions=repetitions, seed=seed
        )
        stem = asked if preset else Path(asked).stem
        target = simulating.figure_file(out if out is not None or as_body else f"{stem}.png")
        answer = simulating.with_progress(request, workers)
        if target is not None:
            simulating.write_figure(answer, target)
        _print_body(answer) if as_body else tables.show(simulation_tables.simulation(answer))
        if target is not None and not as_body:
            typer.echo(f"\nfigure: {target}")


@main.command()
def version() -> None:
    """Print the version."""
    typer.echo(ENGINE_VERSION)


def calibration_command(calibrator: Calibrator) -> Callable[..., None]:
    """A command with one option for each field of the calibrator's problem."""
    return _command(calibrator, "calibrate", tables.calibration)


def risk_bound_command(bounder: RiskBounder) -> Callable[..., None]:
    """A command with one option for each field of the question about risk."""
    return _command(bounder, "bound_risk", tables.risk_bounds)


def _command(
    asked: Calibrator | RiskBounder,
    question: Literal["calibrate", "bound_risk"],
    table: Callable[[Any], RenderableType],
) -> Callable[..., None]:
    def command(*, request: str | None, as_body: bool, **given: Any) -> None:
        with exit_codes():
            fields = _request_fields(request) | options.read_options(asked.problem, given)
            answer = getattr(ask, question)(asked.name, **fields)
            _print_body(answer) if as_body else tables.show(table(answer))

    keyword = inspect.Parameter.KEYWORD_ONLY
    source_help = "a JSON request, - for standard input; options override its fields"
    source = typer.Option("--request", metavar="FILE", help=source_help)
    parameters = [
        *options.parameters(asked.problem),
        inspect.Parameter("request", keyword, default=None, annotation=Annotated[str | None, source]),
        inspect.Parameter("as_body", keyword, default=False, annotation=AsJson),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = f"{asked.title}. {asked.summary}"
    return command


for _calibrator in CALIBRATORS:
    calibrate.command(_calibrator.name)(calibration_command(_calibrator))
for _bounder in RISK_BOUNDS:
    risk_bound.command(_bounder.name)(risk_bound_command(_bounder))


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn the library's errors into a message on standard error and an exit code."""
    try:
        yield
    except InvalidInput as error:
        for fault in error.faults:
            typer.echo(_complaint(fault), err=True)
        raise typer.Exit(BAD_INPUT) from None
    except NoCertificate as error:
        typer.echo(f"not certified ({error.slug}): {error.message}", err=True)
        if error.condition is not None:
            sides = f"left {error.condition.left}, right {error.condition.right}"
            typer.echo(f"  condition {error.condition.id}: {error.condition.statement}; {sides}", err=True)
        for name, value in error.nearest.items():
            typer.echo(f"  nearest {name}: {value}", err=True)
        raise typer.Exit(NOT_CERTIFIED) from None


def _complaint(fault: Fault) -> str:
    name, *inner = fault.pointer.removeprefix("/").split("/")
    where = " at ".join(part for part in (options.option_name(name) if name else "", "/".join(inner)) if part)
    allowed = f" (allowed: {fault.allowed})" if fault.allowed else ""
    return f"error: {where} {fault.message}{allowed}"


def _print_body(answer: Any) -> None:
    """The bytes the service would send."""
    sys.stdout.write(json.dumps(as_json(answer), ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n")


def _request_fields(source: str | None) -> dict[str, Any]:
    if source is None:
        return {}
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput.at("/request", f"cannot be read: {error}") from None
    body = strict_json.parse(text)
    if not isinstance(body, dict):
        raise InvalidInput.at("/request", "must hold a JSON object")
    return body


def _assignment(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise InvalidInput.at("/input", "must be NAME=VALUE")
    return name.strip().replace("-", "_"), value

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
from calibrators.plan_problem import PlanProblem
from calibrators.problem import Calibrator
from calibrators.risk_bounds import RISK_BOUNDS
from calibrators.risk_bounds_answer import RiskBounder
from epsilond import ask, options, plan_tables, simulating, simulation_tables, strict_json, tables
from witness.presets import PRESETS

BAD_INPUT, NOT_CERTIFIED = 2, 3
ARGUMENTS = {"": "the request", "request": "the request", "preset": "", "id": ""}
"""What is no option by its name, in words; a message that names it itself needs none."""
SENTENCES = ("there is no such", "an audit has")
"""How messages begin that are sentences of their own."""

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
        # First the answer: whatever a figure may run into, minutes of work are not lost with it.
        _print_body(answer) if as_body else tables.show(simulation_tables.simulation(answer))
        if target is not None:
            simulating.write_figure(answer, target)
            if not as_body:
                typer.echo(f"\nfigure: {target}")


@main.command()
def version() -> None:
    """Print the version."""
    typer.echo(ENGINE_VERSION)


def calibration_command(calibrator: Calibrator) -> Callable[..., None]:
    """A command with one option for each field of the calibrator's problem."""
    single = _command(calibrator, "calibrate", tables.calibration)

    def command(*, sweep: str | None, request: str | None, as_body: bool, **given: Any) -> None:
        if sweep is None:
            single(request=request, as_body=as_body, **given)
            return
        with exit_codes():
            name, texts = _assignment(sweep, at="/sweep")
            values = [options.read_options(calibrator.problem, {name: text.strip()})[name] for text in texts.split(",")]
            fields = _request_fields(request) | options.read_options(calibrator.problem, given)
            answer = ask.sweep(calibrator.name, name, values, **fields)
            _print_body(answer.body) if as_body else tables.show(plan_tables.sweep(answer))

    keyword = inspect.Parameter.KEYWORD_ONLY
    swept = typer.Option("--sweep", metavar="FIELD=VALUE,…", help="a table over values of one field, at most 200")
    extra = inspect.Parameter("sweep", keyword, default=None, annotation=Annotated[str | None, swept])
    return _with_parameters(command, [*inspect.signature(single).parameters.values(), extra], single.__doc__)


def plan_command() -> Callable[..., None]:
    """A command with one option for each field of a plan."""

    def command(*, request: str | None, as_body: bool, **given: Any) -> None:
        with exit_codes():
            fields = _request_fields(request) | _plan_fields(given)
            answer = ask.plan(**fields)
            _print_body(answer) if as_body else tables.show(plan_tables.plan(answer))

    text = "Calibrate every algorithm for one problem, side by side, and rank those that can be compared."
    return _with_parameters(command, [*options.parameters(PlanProblem), *_request_parameters()], text)


def _plan_fields(given: dict[str, Any]) -> dict[str, Any]:
    """Lists of words may be written with commas."""
    lists = {
        name: text.split(",")
        for name, text in given.items()
        if name in ("trust", "observers", "algorithms") and text is not None and not text.startswith("[")
    }
    rest = {name: text for name, text in given.items() if name not in lists}
    return options.read_options(PlanProblem, rest) | lists


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

    parameters = [*options.parameters(asked.problem), *_request_parameters()]
    return _with_parameters(command, parameters, f"{asked.title}. {asked.summary}")


def _request_parameters() -> list[inspect.Parameter]:
    """--request and --json."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    source_help = "a JSON request, - for standard input; options override its fields"
    source = typer.Option("--request", metavar="FILE", help=source_help)
    return [
        inspect.Parameter("request", keyword, default=None, annotation=Annotated[str | None, source]),
        inspect.Parameter("as_body", keyword, default=False, annotation=AsJson),
    ]


def _with_parameters(
    command: Callable[..., None], parameters: list[inspect.Parameter], text: str | None
) -> Callable[..., None]:
    """The command with the signature that typer reads its options from."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = text
    return command


main.command("plan")(plan_command())
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
    """`--clients is out of range`; a message that is a sentence of its own stands behind a colon."""
    name, *inner = fault.pointer.removeprefix("/").split("/")
    option = ARGUMENTS.get(name, options.option_name(name))
    where = " at ".join(part for part in (option, "/".join(inner)) if part)
    is_sentence = fault.message.startswith(SENTENCES)
    where = f"{where}{':' if is_sentence else ''} " if where else ""
    allowed = f" (allowed: {fault.allowed})" if fault.allowed else ""
    return f"error: {where}{fault.message}{allowed}"


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


def _assignment(text: str, *, at: str = "/input") -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise InvalidInput.at(at, "must be NAME=VALUE")
    return name.strip().replace("-", "_"), value

"""`epsilond calibrate`, `epsilond risk-bound` and `epsilond algorithms`.

Each algorithm's options are generated from its problem: a new one needs no line here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from epsilond import listing, options
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.risk.bounder import RiskBounder
from epsilond.calibrators.risk.bounders import RISK_BOUNDS
from epsilond.commands import cluster, given_ledger
from epsilond.commands.exits import exit_codes
from epsilond.commands.output import AsJson, print_answer, print_body, waiting
from epsilond.commands.requests import assignment, fields_of, request_parameters, with_parameters
from epsilond.questions import calibrate as calibrating
from epsilond.questions import risk
from epsilond.questions import sweep as sweeping
from epsilond.terminal import calibrations as shown
from epsilond.terminal import lists
from epsilond.terminal.parts import show


def add(main: typer.Typer) -> None:
    """Add a command for each algorithm of both lists, and the list."""
    calibrate = typer.Typer(no_args_is_help=True, help="Find what to run an algorithm with.")
    risk_bound = typer.Typer(no_args_is_help=True, help="Bound the excess risk of an algorithm, from above and below.")
    main.add_typer(calibrate, name="calibrate")
    main.add_typer(risk_bound, name="risk-bound")
    for calibrator in CALIBRATORS:
        calibrate.command(calibrator.name)(_calibration_command(calibrator))
    for bounder in RISK_BOUNDS:
        risk_bound.command(bounder.name)(_command(bounder, risk.bound_risk, shown.risk_bounds))
    main.command()(algorithms)


def algorithms(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="one algorithm in full")] = None,
    as_body: AsJson = False,
) -> None:
    """List the algorithms that can be calibrated, or show one in full."""
    with exit_codes():
        if name is None:
            print_body(listing.algorithms(CALIBRATORS)) if as_body else show(lists.algorithms(CALIBRATORS))
            return
        chosen = calibrating.calibrator(name)
        print_body(listing.algorithm(chosen)) if as_body else show(lists.algorithm(chosen))


def _command(
    asked: Calibrator | RiskBounder,
    question: Callable[..., Any],
    table: Callable[[Any], RenderableType],
) -> Callable[..., None]:
    """A command with one option for each field of the problem."""

    def command(*, request: str | None, as_body: bool, **given: Any) -> None:
        with exit_codes():
            fields = fields_of(request) | options.read_options(asked.problem, given)
            with waiting(asked.name):
                answer = question(asked.name, **fields)
            print_answer(answer, table, as_body=as_body)

    parameters = [*options.parameters(asked.problem), *request_parameters()]
    return with_parameters(command, parameters, f"{asked.title}. {asked.summary}")


def _calibration_command(calibrator: Calibrator) -> Callable[..., None]:
    """A command with one option for each field of the calibrator's problem, --sweep, and --dask for it."""
    single = _command(calibrator, calibrating.calibrate, shown.calibration)

    def command(*, sweep: str | None, dask: str | None, request: str | None, as_body: bool, **given: Any) -> None:
        budget = given_ledger.taken(given)
        if budget is not None:
            with budget.found(sweep=sweep, dask=dask) as ledger:
                fields = fields_of(request) | options.read_options(calibrator.problem, given)
                with waiting(calibrator.name):
                    within = calibrating.calibrate(calibrator.name, given=ledger, **budget.place, **fields)
                print_answer(within, shown.calibration, as_body=as_body)
            return
        if sweep is None:
            single(request=request, as_body=as_body, **given)
            return
        with exit_codes():
            name, texts = assignment(sweep, at="/sweep")
            values = [options.read_options(calibrator.problem, {name: text.strip()})[name] for text in texts.split(",")]
            fields = fields_of(request) | options.read_options(calibrator.problem, given)
            with waiting(calibrator.name), cluster.executor_at(dask) as executor:
                # The table shows no printed readings.
                how: dict[str, Any] = {"executor": executor, "true_figures": as_body}
                answer = sweeping.sweep(calibrator.name, name, values, **how, **fields)
            print_body(answer.body) if as_body else show(shown.sweep(answer))

    keyword = inspect.Parameter.KEYWORD_ONLY
    swept = typer.Option("--sweep", metavar="FIELD=VALUE,…", help="a table over values of one field, at most 200")
    extra = inspect.Parameter("sweep", keyword, default=None, annotation=Annotated[str | None, swept])
    made = [*inspect.signature(single).parameters.values(), extra, cluster.parameter(), *given_ledger.parameters()]
    return with_parameters(command, made, single.__doc__)

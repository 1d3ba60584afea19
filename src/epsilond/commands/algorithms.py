"""`epsilond calibrate`, `epsilond risk-bound` and `epsilond algorithms`.

The options of each algorithm are those of `epsilond/options.json`: a new algorithm needs no line here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer

from epsilond.accountants.json_types import JsonObject
from epsilond.commands import cluster
from epsilond.commands.exits import exit_codes
from epsilond.commands.output import AsJson, print_answer, print_body, show, show_progress
from epsilond.commands.parsing import COMMON, CommandLine, LazyGroup, RequestCommand, option_faults
from epsilond.commands.requests import RequestFields, assignment, field_parameters, request_parameters, with_parameters
from epsilond.ledgers.commands import budget_options
from epsilond.options import FieldOption, ListedCommand, listed_commands

INFERRED = {"gaussian": "solve_for"}
"""The field of an algorithm that the command line infers from the other fields."""


def add(main: typer.Typer) -> None:
    """Add a command for each algorithm of both lists, and the list."""
    calibrate = typer.Typer(
        cls=AlgorithmGroup, no_args_is_help=True, help="Find the parameters of an algorithm for a target."
    )
    risk_bound = typer.Typer(
        cls=AlgorithmGroup, no_args_is_help=True, help="Bound the excess risk of an algorithm, from above and below."
    )
    for group, name in ((calibrate, "calibrate"), (risk_bound, "risk-bound")):
        group.callback()(lambda: None)
        main.add_typer(group, name=name)
    main.command()(algorithms)


class AlgorithmGroup(LazyGroup):
    """The commands of `epsilond calibrate` or `epsilond risk-bound`, one for each algorithm."""

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002
        """Return the names of the algorithms."""
        return list(listed_commands(self.name))

    def get_command(self, ctx: object, cmd_name: str) -> Any:  # noqa: ARG002
        """Return the command of an algorithm."""
        listed = listed_commands(self.name).get(cmd_name)
        if listed is None:
            return None
        make_command = _calibration_command if self.name == "calibrate" else _risk_command
        return _click_command(listed, make_command(listed))


def algorithms(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="one algorithm in full")] = None,
    as_body: AsJson = False,
) -> None:
    """List the algorithms that can be calibrated, or show one in full."""
    with exit_codes():
        from epsilond import listing  # noqa: PLC0415  help needs no algorithm
        from epsilond.calibrators import CALIBRATORS  # noqa: PLC0415
        from epsilond.questions.calibrate import calibrator  # noqa: PLC0415
        from epsilond.terminal import lists  # noqa: PLC0415

        if name is None:
            print_body({"algorithms": list(map(listing.listed_algorithm, CALIBRATORS))}) if as_body else show(
                lists.algorithms(CALIBRATORS)
            )
            return
        chosen = calibrator(name)
        print_body(listing.listed_algorithm(chosen)) if as_body else show(lists.algorithm(chosen))


def _click_command(listed: ListedCommand, command: Callable[..., None]) -> object:
    """Return a command as the parser needs it."""
    line = CommandLine(pretty_exceptions_enable=False)
    line.callback()(lambda: None)
    line.command(listed.name, cls=RequestCommand)(command)
    group: Any = typer.main.get_command(line)
    return group.commands[listed.name]


def _risk_command(listed: ListedCommand) -> Callable[..., None]:
    """Make the command that bounds the excess risk of an algorithm, with one option for each field of its request."""

    def command(*, context: typer.Context, request: str | None, as_body: bool, **texts: Any) -> None:
        """Bound the excess risk, and print the bounds."""
        with exit_codes():
            from epsilond.calibrators.risk.bounder import RISK_BOUNDS  # noqa: PLC0415  help needs no mathematics
            from epsilond.questions import risk  # noqa: PLC0415
            from epsilond.terminal import calibrations  # noqa: PLC0415

            problem = next(bounder.problem for bounder in RISK_BOUNDS if bounder.name == listed.name)
            request_fields = RequestFields.from_options(problem, request, texts, option_faults(context))
            request_fields.check()
            with show_progress(listed.name):
                answer = risk.bound_risk(listed.name, **request_fields.values)
            print_answer(answer, calibrations.risk_bounds, as_body=as_body)

    parameters = [*field_parameters(listed.options), *request_parameters()]
    return with_parameters(command, parameters, f"{listed.title}. {listed.summary}")


def _calibration_command(listed: ListedCommand) -> Callable[..., None]:
    """Make the command that calibrates an algorithm.

    It has one option for each field of the request, the options --sweep and --dask, and the options of a ledger.

    Args:
        listed: name, texts and options of the algorithm.
    """

    def command(
        *,
        context: typer.Context,
        sweep: str | None,
        dask: str | None,
        request: str | None,
        as_body: bool,
        **texts: object,
    ) -> None:
        """Calibrate the algorithm, and print the answer or the sweep."""
        budget = budget_options.take_budget(texts)
        faults = option_faults(context)
        if budget is not None:
            with budget.open_ledger(sweep=sweep, dask=dask) as ledger:
                fields = RequestFields.from_options(_problem(listed.name), request, texts, faults).without_check()
                _print_calibration(listed.name, fields, as_body=as_body, given=ledger, **budget.place)
            return
        with exit_codes():
            problem = _problem(listed.name)
            read = RequestFields.from_options(problem, request, texts, faults)
            if sweep is None:
                _infer_field(listed.name, read.values)
                read.check()
                _print_calibration(listed.name, read.values, as_body=as_body)
            else:
                swept, values = _swept_values(problem, sweep)
                _infer_field(listed.name, read.values, swept=swept)
                read.check(**{swept: values[0]})
                _print_sweep(listed.name, swept, values, read.values, dask=dask, as_body=as_body)

    keyword = inspect.Parameter.KEYWORD_ONLY
    sweep_option = typer.Option(
        "--sweep", metavar="FIELD=VALUE,…", help="a table over at most 200 values of one field", rich_help_panel=COMMON
    )
    sweep = inspect.Parameter("sweep", keyword, default=None, annotation=Annotated[str | None, sweep_option])
    parameters = field_parameters(_options_with_inference(listed))
    parameters += [*request_parameters(), sweep, cluster.parameter(), *budget_options.parameters()]
    return with_parameters(command, parameters, f"{listed.title}. {listed.summary}")


def _options_with_inference(listed: ListedCommand) -> list[FieldOption]:
    """Return the options of an algorithm; the help of the inferred field states this."""
    field = INFERRED.get(listed.name)
    return [_describe_inference(option) if option.field == field else option for option in listed.options]


def _describe_inference(option: FieldOption) -> FieldOption:
    return replace(option, help=f"{option.help.partition(' · ')[0]} · absent: the one that is missing")


def _print_calibration(name: str, fields: JsonObject, *, as_body: bool, **budget: Any) -> None:
    from epsilond.questions import calibrate  # noqa: PLC0415  help needs no mathematics
    from epsilond.terminal import calibrations  # noqa: PLC0415

    with show_progress(name):
        answer = calibrate.calibrate(name, **budget, **fields)
    print_answer(answer, calibrations.calibration, as_body=as_body)


def _print_sweep(
    name: str, swept: str, values: list[object], fields: Mapping[str, object], *, dask: str | None, as_body: bool
) -> None:
    from epsilond.questions import sweep  # noqa: PLC0415  as above
    from epsilond.terminal import calibrations  # noqa: PLC0415

    with show_progress(name), cluster.executor_at(dask) as executor:
        # The table shows no printed readings, so that their true figures are not computed for it.
        answer = sweep.sweep(name, swept, values, executor=executor, true_figures=as_body, **fields)
    print_body(answer.body) if as_body else show(calibrations.sweep(answer))


def _swept_values(problem: type, text: str) -> tuple[str, list[object]]:
    """Return the field and the values that `--sweep FIELD=VALUE,…` names."""
    from epsilond.option_values import read_options  # noqa: PLC0415  help reads no fields

    name, values = assignment(text, at="/sweep")
    return name, [read_options(problem, {name: value.strip()})[name] for value in values.split(",")]


def _problem(name: str) -> type:
    from epsilond.questions.calibrate import calibrator  # noqa: PLC0415  help needs no mathematics

    return calibrator(name).problem


def _infer_field(name: str, fields: dict[str, object], *, swept: str | None = None) -> None:
    """Add the field that `INFERRED` names for an algorithm, if it is absent and the other fields determine it.

    Args:
        name: name of the algorithm.
        fields: fields of the request, to which the field is added.
        swept: name of a swept field, which counts as present.
    """
    field = INFERRED.get(name)
    if field is None or field in fields:
        return
    from epsilond.calibrators.gaussian.problem import infer_unknown  # noqa: PLC0415  few commands need it

    unknown = infer_unknown({**fields, **({} if swept is None else {swept: ...})})
    if unknown is not None:
        fields[field] = unknown

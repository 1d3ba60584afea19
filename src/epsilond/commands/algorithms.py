"""`epsilond calibrate`, `epsilond risk-bound` and `epsilond algorithms`.

The options of each algorithm are those of `epsilond/options.json`: a new algorithm needs no line here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
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
"""The field of an algorithm that the command line infers from the other fields, by the algorithm's name."""


def add(main: typer.Typer) -> None:
    """Add the commands about algorithms to the command line.

    The groups `epsilond calibrate` and `epsilond risk-bound` have one command for each algorithm. `epsilond algorithms`
    lists the algorithms.

    Args:
        main: the command line.
    """
    calibrate = typer.Typer(
        cls=AlgorithmGroup, no_args_is_help=True, help="Find the parameters of an algorithm for a target."
    )
    risk_bound = typer.Typer(
        cls=AlgorithmGroup, no_args_is_help=True, help="Bound the excess risk of an algorithm, from above and below."
    )
    for group, name in ((calibrate, "calibrate"), (risk_bound, "risk-bound")):
        # typer needs a callback for a group without commands of its own.
        group.callback()(lambda: None)
        main.add_typer(group, name=name)
    main.command()(algorithms)


class AlgorithmGroup(LazyGroup):
    """The commands of `epsilond calibrate` or `epsilond risk-bound`, one for each algorithm.

    Their names and options come from a stored list of the algorithms. A command is made from it when it is needed.
    """

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002
        """Return the names of the algorithms, which are the names of the commands.

        Args:
            ctx: context of the command line, which is not used.
        """
        return list(listed_commands(self.name))

    def get_command(self, ctx: object, cmd_name: str) -> Any:  # noqa: ARG002
        """Return the command of an algorithm, which is made for this call.

        Args:
            ctx: context of the command line, which is not used.
            cmd_name: name of the algorithm.

        Returns:
            The command; None if there is no such algorithm.
        """
        listed = listed_commands(self.name).get(cmd_name)
        if listed is None:
            return None
        make_command = _calibration_command if self.name == "calibrate" else _risk_command
        return _click_command(listed, make_command(listed))


def algorithms(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="one algorithm in full")] = None,
    as_body: AsJson = False,
) -> None:
    """List the algorithms that can be calibrated, or show one in full.

    \f

    Args:
        name: name of the algorithm that is shown; None for the list of all.
        as_body: whether to print JSON as the service answers it; otherwise a table is printed.

    Raises:
        typer.Exit: there is no such algorithm; the reason was printed.
    """
    with exit_codes():
        from epsilond import listing  # noqa: PLC0415  help needs no algorithm
        from epsilond.calibrators import CALIBRATORS  # noqa: PLC0415
        from epsilond.questions.calibrate import calibrator  # noqa: PLC0415
        from epsilond.terminal import lists  # noqa: PLC0415

        if name is not None:
            chosen = calibrator(name)
            if as_body:
                print_body(listing.listed_algorithm(chosen))
            else:
                show(lists.algorithm(chosen))
        elif as_body:
            print_body({"algorithms": list(map(listing.listed_algorithm, CALIBRATORS))})
        else:
            show(lists.algorithms(CALIBRATORS))


def _click_command(listed: ListedCommand, command: Callable[..., None]) -> object:
    """Convert a function with typer options to a command of click, the parser of the command line.

    The command is made when it is called, because its options depend on the algorithm.

    Args:
        listed: name and title of the command.
        command: the function, with one parameter for each option.

    Returns:
        The command, ready to be added to a group of commands.
    """
    # With a callback, even an empty one, Typer converts the program to a group of commands, here of a single one.
    line = CommandLine(pretty_exceptions_enable=False)
    line.callback()(lambda: None)
    line.command(listed.name, cls=RequestCommand)(command)
    group: Any = typer.main.get_command(line)
    return group.commands[listed.name]


def _risk_command(listed: ListedCommand) -> Callable[..., None]:
    """Make the command that bounds the excess risk of an algorithm, with one option for each field of its request.

    Args:
        listed: name, texts and options of the algorithm.

    Returns:
        The function of the command; its signature has a parameter for each option.
    """

    def command(*, context: typer.Context, request: str | None, as_body: bool, **texts: Any) -> None:
        """Bound the excess risk, and print the bounds.

        Args:
            context: context of the command, with the faults of its options.
            request: JSON text or path of a JSON file with fields, or `-` for standard input; options override them.
            as_body: whether to print JSON; otherwise tables are printed.
            **texts: texts of the options, by the names of the fields; None if an option is absent.
        """
        with exit_codes():
            from epsilond.calibrators.risk.bounder import RISK_BOUNDS  # noqa: PLC0415  help needs no mathematics
            from epsilond.questions import risk  # noqa: PLC0415
            from epsilond.terminal import calibrations  # noqa: PLC0415

            # The class of the request has the fields of the algorithm, with their ranges.
            problem = next(bounder.problem for bounder in RISK_BOUNDS if bounder.name == listed.name)
            request_fields = RequestFields.from_options(problem, request, texts, option_faults(context))
            request_fields.check()
            with show_progress(listed.name):
                answer = risk.bound_risk(listed.name, **request_fields.values)
            print_answer(answer, calibrations.risk_bounds, as_body=as_body)

    # Typer makes the options of the command from its signature.
    parameters = [*field_parameters(listed.options), *request_parameters()]
    return with_parameters(command, parameters, f"{listed.title}. {listed.summary}")


def _calibration_command(listed: ListedCommand) -> Callable[..., None]:
    """Make the command that calibrates an algorithm.

    Args:
        listed: name, texts and options of the algorithm.

    Returns:
        The command, with one option for each field of the request.
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
        """Calibrate the algorithm, and print the answer or the sweep.

        Args:
            context: context of the command, with the faults of its options.
            sweep: FIELD=VALUE,… with the swept field and its values; None for a single calibration.
            dask: address of the scheduler of a Dask cluster; None computes in this process.
            request: JSON text or path of a JSON file with fields, or `-` for standard input; options override them.
            as_body: whether to print JSON; otherwise tables are printed.
            **texts: texts of the options, by the names of the fields; None if absent. Options of a ledger are among
                them.
        """
        budget = budget_options.take_budget(texts)
        faults = option_faults(context)
        if budget is not None:
            with budget.open_ledger(sweep=sweep, dask=dask) as ledger:
                request_fields = RequestFields.from_options(_problem(listed.name), request, texts, faults)
                fields = request_fields.without_check()
                _print_calibration(listed.name, fields, as_body=as_body, given=ledger, **budget.place)
            return

        # Without a ledger, the command only prints.
        with exit_codes():
            request_fields = RequestFields.from_options(_problem(listed.name), request, texts, faults)
            if sweep is not None:
                _print_sweep(listed.name, sweep, request_fields, dask=dask, as_body=as_body)
                return
            _infer_field(listed.name, request_fields.values)
            request_fields.check()
            _print_calibration(listed.name, request_fields.values, as_body=as_body)

    return with_parameters(command, _calibration_parameters(listed), f"{listed.title}. {listed.summary}")


def _calibration_parameters(listed: ListedCommand) -> list[inspect.Parameter]:
    """Return the parameters of the command that calibrates one algorithm.

    There is one for each field of the request. Then follow --request, --json, --sweep and --dask, and the options for
    a ledger that pays for the run.

    Args:
        listed: name, texts and options of the algorithm.

    Returns:
        The parameters in the order in which the help shows them.
    """
    sweep_option = typer.Option(
        "--sweep", metavar="FIELD=VALUE,…", help="a table over at most 200 values of one field", rich_help_panel=COMMON
    )
    sweep = inspect.Parameter(
        "sweep", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, sweep_option]
    )

    # The help shows the parameters in this order.
    return [
        *field_parameters(_options_with_inference(listed)),
        *request_parameters(),
        sweep,
        cluster.parameter(),
        *budget_options.parameters(),
    ]


def _options_with_inference(listed: ListedCommand) -> list[FieldOption]:
    """Return the options of an algorithm. The help of an option that can be inferred says how it is inferred.

    Args:
        listed: name, texts and options of the algorithm.

    Returns:
        The options in the same order.
    """
    options = []
    for option in listed.options:
        if option.field == INFERRED.get(listed.name):
            description = option.help.partition(" · ")[0]  # without the default value, which does not apply here
            options.append(replace(option, help=f"{description} · absent: the quantity that is not given"))
        else:
            options.append(option)
    return options


def _print_calibration(name: str, fields: JsonObject, *, as_body: bool, **budget: Any) -> None:
    """Calibrate an algorithm, and print the answer.

    Args:
        name: name of the algorithm.
        fields: fields of the request.
        as_body: whether to print JSON.
        **budget: arguments of `calibrate` for a run that a ledger pays for: `given`, `slot`, `item` and `eta`.
    """
    from epsilond.questions import calibrate  # noqa: PLC0415  help needs no mathematics
    from epsilond.terminal import calibrations  # noqa: PLC0415

    with show_progress(name):
        answer = calibrate.calibrate(name, **budget, **fields)
    print_answer(answer, calibrations.calibration, as_body=as_body)


def _print_sweep(name: str, assigned: str, request_fields: RequestFields, *, dask: str | None, as_body: bool) -> None:
    """Calibrate an algorithm at several values of one field, and print the answers.

    Args:
        name: name of the algorithm.
        assigned: the text of --sweep, FIELD=VALUE,….
        request_fields: the other fields of the request.
        dask: address of the scheduler of a Dask cluster; None to compute in this process.
        as_body: whether to print JSON.
    """
    # Check the request with one of the values, so that the swept field is not reported as missing.
    swept, values = _swept_values(request_fields.problem, assigned)
    _infer_field(name, request_fields.values, swept=swept)
    request_fields.check(**{swept: values[0]})
    from epsilond.questions import sweep  # noqa: PLC0415  help needs no mathematics
    from epsilond.terminal import calibrations  # noqa: PLC0415

    # Only JSON shows formulas of papers, taken literally, with the certified ε and δ at their parameters.
    fields = request_fields.values
    with show_progress(name), cluster.executor_at(dask) as executor:
        answer = sweep.sweep(name, swept, values, executor=executor, true_figures=as_body, **fields)
    if as_body:
        print_body(answer.body)
    else:
        show(calibrations.sweep(answer))


def _swept_values(problem: type, text: str) -> tuple[str, list[object]]:
    """Return the field and the values that `--sweep FIELD=VALUE,…` names.

    A sweep is one calibration at each of several values of a field.

    Args:
        problem: request class of the calibration, which has the type of the field.
        text: the text of the option.

    Returns:
        The name of the field, and its values converted to the type of the field.

    Raises:
        InvalidInput: the text has no `=`, there is no such field, or a value has another type than the field.
    """
    from epsilond.option_values import read_options  # noqa: PLC0415  help reads no fields

    name, values = assignment(text, at="/sweep")

    def read_value(value: str) -> object:
        """Convert the text of one value to the type of the field."""
        return read_options(problem, {name: value.strip()})[name]

    return name, [read_value(value) for value in values.split(",")]


def _problem(name: str) -> type:
    """Return the request class of an algorithm's calibration.

    Args:
        name: name of the algorithm.

    Returns:
        The class, a dataclass with a field for each option.

    Raises:
        InvalidInput: there is no such algorithm.
    """
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

    present = fields if swept is None else {**fields, swept: ...}  # the value of a present field does not matter
    unknown = infer_unknown(present)
    if unknown is not None:
        fields[field] = unknown

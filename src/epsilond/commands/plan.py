"""`epsilond plan`: comparison of all algorithms on one problem."""

from __future__ import annotations

from typing import Any

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.commands import cluster
from epsilond.commands.exits import exit_codes
from epsilond.commands.output import print_answer, show_progress
from epsilond.commands.parsing import RequestCommand, option_faults
from epsilond.commands.requests import RequestFields, field_parameters, request_parameters, with_parameters
from epsilond.ledgers.commands import budget_options
from epsilond.options import listed_commands

LISTS = ("trust", "observers", "algorithms")
"""Fields with lists that may be written as words with commas between."""


def add(main: typer.Typer) -> None:
    """Add the command `epsilond plan` to the command line, with one option for each field of a plan.

    Args:
        main: the command line.
    """
    text = "Calibrate every algorithm for one problem, side by side, and rank those that can be compared."
    options = listed_commands("")["plan"].options
    parameters = field_parameters(options) + request_parameters()
    parameters.append(cluster.parameter())
    parameters.extend(budget_options.parameters())
    main.command(cls=RequestCommand)(with_parameters(plan, parameters, text))


def plan(*, context: typer.Context, request: str | None, as_body: bool, dask: str | None, **texts: object) -> None:
    """Calibrate every algorithm for one problem, and print the plan.

    Args:
        context: context of the command, with the faults of its options.
        request: JSON text or path of a JSON file with fields, or `-` for standard input; options override them.
        as_body: whether to print JSON; otherwise tables are printed.
        dask: address of the scheduler of a Dask cluster; None to compute in this process.
        **texts: texts of the other options, by the names of the fields; None if an option is absent.

    Raises:
        typer.Exit: the request is not valid, or nothing can be certified; the reason was printed.
    """
    budget = budget_options.take_budget(texts)
    faults = option_faults(context)
    if budget is not None:
        with budget.open_ledger(dask=dask) as ledger:
            fields = _read_fields(request, texts, faults).without_check()
            _print_plan(fields, as_body=as_body, given=ledger, **budget.place)
        return
    with exit_codes():
        request_fields = _read_fields(request, texts, faults)
        request_fields.check()
        with cluster.executor_at(dask) as executor:
            _print_plan(request_fields.values, as_body=as_body, executor=executor)


def _print_plan(fields: JsonObject, *, as_body: bool, **settings: Any) -> None:
    """Calibrate every algorithm, and print the plan.

    Args:
        fields: fields of the plan.
        as_body: whether to print JSON.
        **settings: further arguments of `epsilond.plan`: its executor, or its ledger.
    """
    from epsilond.questions import plan as planning  # noqa: PLC0415  help needs no mathematics
    from epsilond.terminal import plans  # noqa: PLC0415

    with show_progress("plan"):
        answer = planning.plan(**settings, **fields)
    print_answer(answer, plans.plan, as_body=as_body)


def _read_fields(request: str | None, texts: JsonObject, faults: InvalidInput) -> RequestFields:
    """Return the fields of a plan.

    Args:
        request: JSON text or path of a JSON file with fields, or `-` for standard input; None without a request.
        texts: texts of the options by the names of the fields. Those of `LISTS` may be JSON, or words with commas.
        faults: faults of the options that the parser of the command line has found.

    Returns:
        The fields, which are not yet checked as a whole.

    Raises:
        InvalidInput: the request file cannot be read.
    """
    from epsilond.calibrators.planning.problem import PlanProblem  # noqa: PLC0415  help needs no mathematics

    lists = {}
    for name in LISTS:
        text = texts[name]
        is_json = text is not None and text.startswith("[")
        if text is not None and not is_json:
            lists[name] = text.split(",")
    other_texts = {name: text for name, text in texts.items() if name not in lists}
    request_fields = RequestFields.from_options(PlanProblem, request, other_texts, faults)
    request_fields.values |= lists
    return request_fields

"""`epsilond plan`: every algorithm for one problem, side by side."""

from __future__ import annotations

from typing import Any

import typer

from epsilond import options
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.commands import cluster, given_ledger
from epsilond.commands.exits import exit_codes
from epsilond.commands.output import print_answer, waiting
from epsilond.commands.requests import fields_of, request_parameters, with_parameters
from epsilond.questions import plan as planning
from epsilond.terminal import plans as shown

LISTS = ("trust", "observers", "algorithms")
"""Fields that may be written with commas."""


def add(main: typer.Typer) -> None:
    """Add the command, with one option for each field of a plan."""
    text = "Calibrate every algorithm for one problem, side by side, and rank those that can be compared."
    made = [*options.parameters(PlanProblem), *request_parameters(), cluster.parameter(), *given_ledger.parameters()]
    main.command()(with_parameters(plan, made, text))


def plan(*, request: str | None, as_body: bool, dask: str | None, **given: Any) -> None:
    """Plan, and print it."""
    budget = given_ledger.taken(given)
    if budget is not None:
        with budget.found(dask=dask) as ledger:
            fields = fields_of(request) | _fields(given)
            with waiting("plan"):
                answer = planning.plan(given=ledger, **budget.place, **fields)
            print_answer(answer, shown.plan, as_body=as_body)
        return
    with exit_codes():
        fields = fields_of(request) | _fields(given)
        with waiting("plan"), cluster.executor_at(dask) as executor:
            answer = planning.plan(executor=executor, **fields)
        print_answer(answer, shown.plan, as_body=as_body)


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    lists = {
        name: text.split(",")
        for name, text in given.items()
        if name in LISTS and text is not None and not text.startswith("[")
    }
    rest = {name: text for name, text in given.items() if name not in lists}
    return options.read_options(PlanProblem, rest) | lists

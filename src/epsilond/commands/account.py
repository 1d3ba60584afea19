"""`epsilond account`: what a run guarantees, and whether it keeps what was claimed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from epsilond.calibrators import accounts as accounting
from epsilond.commands.exits import exit_codes
from epsilond.commands.output import AsJson, print_answer, waiting
from epsilond.commands.requests import fields_of, structure_of
from epsilond.reading import read
from epsilond.terminal import accounts as shown

QUERIES = ("epsilon", "delta", "log10_delta")
CLAIM = "claim_"

Spec = Annotated[
    str | None,
    typer.Argument(metavar="[SPEC]", help="what was run: a JSON object, a file that holds one, or - to read it"),
]
Request = Annotated[
    str | None,
    typer.Option("--request", metavar="FILE", help="a whole JSON request, - to read it; options override it"),
]
Relation = Annotated[
    str | None,
    typer.Option(metavar="WORD", help="what a neighbour is: replace-one, add-or-remove-one, zero-out-one · no default"),
]
Unit = Annotated[str | None, typer.Option(metavar="WORD", help="whose data: record (default) or client")]
Observer = Annotated[str | None, typer.Option(metavar="WORD", help="who looks · default server")]
Epsilons = Annotated[
    list[float] | None, typer.Option("--epsilon", metavar="NUMBER", help="give δ at this ε; repeat for several")
]
Deltas = Annotated[
    list[float] | None, typer.Option("--delta", metavar="NUMBER", help="give ε at this δ; repeat for several")
]
Log10Deltas = Annotated[
    list[float] | None, typer.Option("--log10-delta", metavar="NUMBER", help="the same by log10 δ; repeat for several")
]
ClaimEpsilon = Annotated[float | None, typer.Option(metavar="NUMBER", help="check a claim: its ε")]
ClaimDelta = Annotated[float | None, typer.Option(metavar="NUMBER", help="check a claim: its δ")]
ClaimLog10Delta = Annotated[float | None, typer.Option(metavar="NUMBER", help="check a claim: its log10 δ")]


def add(main: typer.Typer) -> None:
    """Add the command."""
    main.command()(account)


def account(
    spec: Spec = None,
    request: Request = None,
    relation: Relation = None,
    unit: Unit = None,
    observer: Observer = None,
    epsilon: Epsilons = None,
    delta: Deltas = None,
    log10_delta: Log10Deltas = None,
    claim_epsilon: ClaimEpsilon = None,
    claim_delta: ClaimDelta = None,
    claim_log10_delta: ClaimLog10Delta = None,
    as_body: AsJson = False,
) -> None:
    """Say what a run guarantees at an ε or δ, and whether a claim about it holds."""
    with exit_codes(_option):
        query = {"epsilon": epsilon, "delta": delta, "log10_delta": log10_delta}
        claim = {"epsilon": claim_epsilon, "delta": claim_delta, "log10_delta": claim_log10_delta}
        setting = {"relation": relation, "unit": unit, "observer": observer}
        fields = request_of(spec, request, setting, query, claim)
        with waiting("account"):
            answer = accounting.answer(read(accounting.AccountProblem, fields))
        print_answer(answer, shown.account, as_body=as_body)


def request_of(
    spec: str | None,
    request: str | None,
    setting: dict[str, Any],
    query: dict[str, list[float] | None],
    claim: dict[str, float | None],
) -> dict[str, Any]:
    """The body that the options stand for: those that are given go before the request's own.

    Raises:
        InvalidInput: the spec or the request cannot be read.
    """
    fields = fields_of(request)
    if spec is not None:
        fields["spec"] = structure_of(spec, at="/spec")
    fields |= {name: value for name, value in setting.items() if value is not None}
    asked = {
        name if len(values) == 1 else f"{name}s": values[0] if len(values) == 1 else values
        for name, values in query.items()
        if values
    }
    claimed = {name: value for name, value in claim.items() if value is not None}
    if asked:
        fields["query"] = asked
    if claimed:
        fields["claim"] = claimed
    return fields


def _option(pointer: str) -> str:
    """Where a fault stands in terms of the options: /query/deltas/3 is of --delta."""
    first, _, rest = pointer.removeprefix("/").partition("/")
    name, _, place = rest.partition("/")
    if first == "claim" and name:
        return f"/{CLAIM}{name}"
    if first == "query":
        single = name.removesuffix("s")
        return f"/{single}/{place}".rstrip("/") if single in QUERIES else "/epsilon, --delta or --log10-delta"
    return pointer

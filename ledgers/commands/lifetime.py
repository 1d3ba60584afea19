"""`epsilond ledger open|list|show|what-if`, and the group of all commands on ledgers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast, get_type_hints

import typer

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.commands.exits import exit_codes
from epsilond.commands.output import AsJson, print_body, show
from epsilond.commands.parsing import REQUIRED, RequestCommand, option_faults
from epsilond.commands.requests import structure_of
from epsilond.ledgers.commands.shared import (
    HERE,
    At,
    By,
    Count,
    Eta,
    Key,
    KeyFile,
    Name,
    Slot,
    SlotDelta,
    Spec,
    assignments,
    books_at,
    group,
    mechanism,
    option_of,
    print_ledger,
    split_assignment,
)

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation
    from epsilond.ledgers.client.books import Inputs
    from epsilond.ledgers.mathematics.state import SlotKind


def add(main: typer.Typer) -> None:
    """Add the command group `ledger`, with all its commands, to the program."""
    # The import of a module adds its commands to the group, which is why the names are not used.
    from epsilond.ledgers.commands import (  # noqa: PLC0415  their commands are listed after those of this file
        audit,  # noqa: F401
        drill,  # noqa: F401
        keys,  # noqa: F401
        moves,  # noqa: F401
        pending,  # noqa: F401
        witness,  # noqa: F401
    )

    main.add_typer(group, name="ledger")


@group.command("open", cls=RequestCommand)
def open_ledger(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="name of the ledger for people")],
    dataset: Annotated[str, typer.Option(metavar="TEXT", help="the data that the budget is of")],
    epsilon: Annotated[float, typer.Option(metavar="NUMBER", help="ε of all that is ever released, in nats")],
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="record|client|client-day|…",
            help="protected unit; of a day, week or month, such as client-day, if it has a window",
            rich_help_panel=REQUIRED,
        ),
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option(metavar="WORD", help="add-or-remove-one, replace-one or zero-out-one", rich_help_panel=REQUIRED),
    ] = None,
    observer: Annotated[
        str | None,
        typer.Option(metavar="WORD", help="the adversary, such as released-models or server", rich_help_panel=REQUIRED),
    ] = None,
    delta: Annotated[float | None, typer.Option(metavar="NUMBER", help="δ of all that is ever released")] = None,
    log10_delta: Annotated[float | None, typer.Option(metavar="NUMBER", help="instead of --delta")] = None,
    plan: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=SPEC", help="mechanism to be run whatever the outputs are; once for each"),
    ] = None,
    slot: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND[=JSON]", help="gdp, zcdp, rdp or pure: budget for other runs; no JSON: the largest"),
    ] = None,
    block: Annotated[str | None, typer.Option(metavar="TEXT", help="part of the data; absent: all of it")] = None,
    sealed: Annotated[bool, typer.Option("--sealed", help="who is in the data is fixed from now on")] = False,
    inputs: Annotated[
        str,
        typer.Option(
            metavar="WORD", help="functions-of-releases or independent-of-outputs: inputs on which specs depend"
        ),
    ] = "functions-of-releases",
    approval: Annotated[
        bool, typer.Option("--approval", help="a second person approves amendments, voids and reconciliations")
    ] = False,
    by: By = None,
    key: Key = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """Open a ledger, certified to stay within ε and δ. You declare that nothing was released of the data before."""
    with exit_codes(option_of):
        _demand_options(context, unit=unit, relation=relation, observer=observer)
    from epsilond.accountants.quantities.units import unit_named  # noqa: PLC0415  help needs no mathematics

    with books_at(at, key_file) as books:
        ledger = books.open(
            name=name,
            dataset=dataset,
            block=block,
            unit=cast("ProtectedUnit", unit_named(unit or "")),
            relation=cast("Relation", relation),
            observer=cast("Observer", observer),
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            plan={item: structure_of(spec, at="/plan") for item, spec in assignments(plan, "/plan")},
            slots=dict(map(_read_slot, slot or ())),
            sealed=sealed,
            inputs=cast("Inputs", inputs),
            approval=approval,
            by=by,
            key=key,
        )
        print_ledger(ledger, as_body=as_body)


@group.command("list")
def list_ledgers(at: At = HERE, key_file: KeyFile = None, as_body: AsJson = False) -> None:
    """List the ledgers."""
    with books_at(at, key_file) as books:
        from epsilond.ledgers.commands import tables  # noqa: PLC0415  few commands use it

        answers = [ledger.told for ledger in books.ledgers()]
        print_body({"ledgers": answers}) if as_body else show(tables.ledgers(answers))


@group.command("show")
def show_ledger(ledger: Name, at: At = HERE, key_file: KeyFile = None, as_body: AsJson = False) -> None:
    """Show what a ledger promises, what is left of it, and what the promise rests on."""
    with books_at(at, key_file) as books:
        print_ledger(books.ledger(ledger), as_body=as_body)


@group.command("what-if")
def ask_what_if(
    ledger: Name,
    name: Annotated[str | None, typer.Argument(metavar="ITEM", help="item of the plan")] = None,
    spec: Spec = None,
    slot: Slot = None,
    count: Count = None,
    eta: Eta = None,
    delta: SlotDelta = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """Show the charge of runs of an item of the plan, or of a mechanism in a slot, and whether they fit.

    Nothing changes. A slot is a part of the budget for runs that are not planned.
    """
    with books_at(at, key_file) as books:
        from epsilond.ledgers.commands import tables  # noqa: PLC0415  few commands use it

        answer = books.ledger(ledger).what_if(
            name, spec=mechanism(spec), slot=cast("SlotKind | None", slot), count=count, eta=eta, delta=delta
        )
        print_body(answer) if as_body else show(tables.what_if(answer))


def _demand_options(context: typer.Context, **setting: str | None) -> None:
    """Report missing options of the setting together with the faults of other options.

    Without other faults nothing is done here, because the request class then reports the missing fields.

    Args:
        context: context of the command, with its options.
        setting: values of the options for unit, relation and observer, by their names; None if one is missing.

    Raises:
        InvalidInput: another option has a fault.
    """
    faults = option_faults(context).faults
    if not faults:
        return
    from epsilond.ledgers.requests import OpenLedger  # noqa: PLC0415  few commands use it
    from epsilond.reading import allowed_values  # noqa: PLC0415

    hints = get_type_hints(OpenLedger, include_extras=True)
    missing = [name for name, value in setting.items() if value is None]
    missing_faults = [Fault(f"/{name}", "is required", allowed_values(hints[name])) for name in missing]
    raise InvalidInput(*faults, *missing_faults)


def _read_slot(text: str) -> tuple[str, object]:
    """Return the kind and the capacity of a slot from its option: KIND, KIND=largest or KIND=JSON."""
    if "=" not in text:
        return text.strip(), "largest"
    kind, capacity = split_assignment(text, "/slot")
    if capacity == "largest":
        return kind, capacity
    return kind, structure_of(capacity, at="/slot")

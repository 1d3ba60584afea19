"""`epsilond ledger`: a budget that is held over time, in a file or on a service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from epsilond.commands.exits import BAD_INPUT, NOT_CERTIFIED, exit_codes
from epsilond.commands.output import AsJson, print_body
from epsilond.commands.requests import assignment, structure_of
from epsilond.commands.service import Service, unanswered
from epsilond.terminal.parts import show

if TYPE_CHECKING:
    from epsilond.ledgers.client.ledgers import Books, Ledger

At = Annotated[
    str, typer.Option("--at", metavar="FILE|URL", envvar="EPSILOND_LEDGER", help="where the ledgers are kept")
]
KeyFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", envvar="EPSILOND_KEY_FILE", help="holds the key, where the service asks for one"),
]
Name = Annotated[str, typer.Argument(metavar="LEDGER", help="its name or id")]
Key = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="idempotency key: the same request again is answered again, and debits nothing"),
]
Spec = Annotated[str | None, typer.Option(metavar="JSON|FILE|-", help="the mechanism")]
Slot = Annotated[str | None, typer.Option(metavar="gdp|zcdp|rdp|pure", help="the slot that is charged")]
Count = Annotated[int | None, typer.Option(metavar="COUNT", min=1, help="runs; absent: all that the job has")]
Eta = Annotated[str | None, typer.Option(metavar="AMOUNT", help="what a charge that is no exact sum may add to δ")]
SlotDelta = Annotated[str | None, typer.Option("--delta", metavar="AMOUNT", help="δ of a run in a zcdp or pure slot")]
HERE = "epsilond-ledger.db"
POINTERS = {
    "/target": "",
    "/declared": "",
    "/slots": "/slot",
    "/place": "/at",
}
"""Where an option has another name than the field, the field's beginning."""

group = typer.Typer(no_args_is_help=True, help="Hold a privacy budget over time: open, reserve, commit, verify.")


def add(main: typer.Typer) -> None:
    """Add the group, with all its commands."""
    from epsilond.commands import (  # noqa: PLC0415  they add themselves, and use this
        ledger_audit,  # noqa: F401
        ledger_keys,  # noqa: F401
        ledger_moves,  # noqa: F401
    )

    main.add_typer(group, name="ledger")


@contextmanager
def books_at(place: str, key_file: Path | None) -> Iterator[Books]:
    """The ledgers of a place, closed at the end; what is refused becomes a message and an exit code."""
    from epsilond.ledgers.client.errors import ReceiptUsed, Refused, Unanswered  # noqa: PLC0415  few commands use it
    from epsilond.ledgers.log.errors import KeysUnusable  # noqa: PLC0415

    with exit_codes(_named):
        key = Service.at(place, key_file).key if "://" in place else None
        try:
            from epsilond.ledgering import ledger  # noqa: PLC0415

            with ledger(place, key=key) as books:
                yield books
        except ReceiptUsed as error:
            typer.echo(f"refused (receipt-used): {error}", err=True)
            raise typer.Exit(NOT_CERTIFIED) from None
        except (Refused, KeysUnusable) as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(BAD_INPUT) from None
        except Unanswered as error:
            unanswered(str(error))


@group.command("open")
def opened(
    name: Annotated[str, typer.Argument(metavar="NAME", help="how people call it")],
    dataset: Annotated[str, typer.Option(metavar="TEXT", help="the data that the budget is of")],
    unit: Annotated[str, typer.Option(metavar="record|client", help="what is protected")],
    relation: Annotated[str, typer.Option(metavar="WORD", help="add-or-remove-one or replace-one")],
    observer: Annotated[str, typer.Option(metavar="WORD", help="server, local, … : against whom")],
    epsilon: Annotated[float, typer.Option(metavar="NUMBER", help="ε of all that is ever released, in nats")],
    delta: Annotated[float | None, typer.Option(metavar="NUMBER", help="δ of all that is ever released")] = None,
    log10_delta: Annotated[float | None, typer.Option(metavar="NUMBER", help="instead of --delta")] = None,
    plan: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=SPEC", help="a mechanism to be run whatever comes out; once for each"),
    ] = None,
    slot: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND[=JSON]", help="gdp, zcdp, rdp or pure, the largest that fits or its parts"),
    ] = None,
    block: Annotated[str | None, typer.Option(metavar="TEXT", help="the part of the data; absent: all of it")] = None,
    sealed: Annotated[bool, typer.Option("--sealed", help="who is in the data is fixed from now on")] = False,
    inputs: Annotated[
        str, typer.Option(metavar="WORD", help="functions-of-releases or independent-of-outputs: what specs depend on")
    ] = "functions-of-releases",
    key: Key = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """Open a ledger, certified to stay within ε and δ. You declare that nothing was released of the data before."""
    with books_at(at, key_file) as books:
        made = books.open(
            name=name,
            dataset=dataset,
            block=block,
            unit=cast("Any", unit),
            relation=cast("Any", relation),
            observer=cast("Any", observer),
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            plan={
                item: structure_of(spec, at="/plan") for item, spec in (assigned(each, "/plan") for each in plan or ())
            },
            slots=dict(_slot(each) for each in slot or ()),
            sealed=sealed,
            inputs=cast("Any", inputs),
            key=key,
        )
        print_ledger(made, as_body=as_body)


@group.command("list")
def listed(at: At = HERE, key_file: KeyFile = None, as_body: AsJson = False) -> None:
    """List the ledgers."""
    with books_at(at, key_file) as books:
        from epsilond.terminal import ledgers as tables  # noqa: PLC0415  few commands use it

        found = [each.told for each in books.ledgers()]
        print_body({"ledgers": found}) if as_body else show(tables.ledgers(found))


@group.command("show")
def shown(ledger: Name, at: At = HERE, key_file: KeyFile = None, as_body: AsJson = False) -> None:
    """Show what a ledger promises, what is left of it, and what the promise rests on."""
    with books_at(at, key_file) as books:
        print_ledger(books.ledger(ledger), as_body=as_body)


@group.command("what-if")
def asked(
    ledger: Name,
    name: Annotated[str | None, typer.Argument(metavar="[ITEM]", help="of the plan")] = None,
    spec: Spec = None,
    slot: Slot = None,
    count: Count = None,
    eta: Eta = None,
    delta: SlotDelta = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """Say what a job would cost and whether it fits; changes nothing."""
    with books_at(at, key_file) as books:
        from epsilond.terminal import ledgers as tables  # noqa: PLC0415  as above

        answer = books.ledger(ledger).what_if(
            name, spec=mechanism(spec), slot=cast("Any", slot), count=count, eta=eta, delta=delta
        )
        print_body(answer) if as_body else show(tables.what_if(answer))


def print_ledger(ledger: Ledger, *, as_body: bool) -> None:
    """A ledger as it is now."""
    from epsilond.terminal import ledgers as tables  # noqa: PLC0415  as above

    told = ledger.show()
    print_body(told) if as_body else show(tables.ledger(told))


def mechanism(spec: str | None) -> dict[str, Any] | None:
    """A mechanism from its JSON, a file, or standard input."""
    return None if spec is None else structure_of(spec, at="/spec")


def assigned(text: str, at: str) -> tuple[str, str]:
    """NAME=VALUE, the name as it was typed."""
    _, value = assignment(text, at=at)
    return text.partition("=")[0].strip(), value


def _slot(text: str) -> tuple[str, Any]:
    if "=" not in text:
        return text.strip(), "largest"
    kind, parts = assigned(text, "/slot")
    return kind, parts if parts == "largest" else structure_of(parts, at="/slot")


def _named(pointer: str) -> str:
    for field, option in POINTERS.items():
        if pointer.startswith(f"{field}/") or pointer == field:
            return (option + pointer.removeprefix(field)) or pointer
    return pointer

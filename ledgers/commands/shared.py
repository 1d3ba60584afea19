"""Options of the commands of `epsilond ledger`, and the opening of the books."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epsilond.accountants.json_types import JsonRecord
from epsilond.commands.exits import BAD_INPUT, NOT_CERTIFIED, exit_codes
from epsilond.commands.output import print_body, show
from epsilond.commands.parsing import CommandLine
from epsilond.commands.requests import SPEC_HELP, assignment, structure_of
from epsilond.commands.service import Service, exit_unanswered

if TYPE_CHECKING:
    from epsilond.ledgers.client.books import Books
    from epsilond.ledgers.client.ledgers import Ledger

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
    typer.Option(
        metavar="TEXT", help="idempotency key: repeating the request with it returns the same answer and debits nothing"
    ),
]
By = Annotated[
    str | None,
    typer.Option("--as", metavar="NAME", help="who you are, in a file of ledgers; on a service the key says it"),
]
Spec = Annotated[str | None, typer.Option(metavar="JSON|FILE|-", help=SPEC_HELP)]
Slot = Annotated[str | None, typer.Option(metavar="gdp|zcdp|rdp|pure", help="kind of the slot that pays for the runs")]
Count = Annotated[int | None, typer.Option(metavar="COUNT", min=1, help="runs; absent: all that the job has")]
Eta = Annotated[
    str | None, typer.Option(metavar="AMOUNT", help="largest addition to δ by a charge that is not an exact sum")
]
SlotDelta = Annotated[str | None, typer.Option("--delta", metavar="AMOUNT", help="δ of a run in a zcdp or pure slot")]
HERE = "epsilond-ledger.db"
POINTERS = {
    "/target": "",
    "/declared": "",
    "/slots": "/slot",
    "/place": "/at",
    "/by": "/as",
}
"""Pointers to fields of a request, with the pointers to their options if these have other names."""

group = CommandLine(no_args_is_help=True, help="Hold a privacy budget over time: open, reserve, commit, verify.")


@contextmanager
def books_at(place: str, key_file: Path | None) -> Iterator[Books]:
    """Open the ledgers of a file or a service, as a context manager for a command.

    Errors in the block are printed, and end the program with an exit code. Warnings of the ledgers are printed after
    the block.

    Args:
        place: path of the file, or URL of the service.
        key_file: file with the API key of the service; None takes it from the environment.

    Yields:
        The ledgers, which are closed after the block.

    Raises:
        typer.Exit: an error was printed.
    """
    from epsilond.ledgers.client.errors import ReceiptUsed, Refused, Unanswered  # noqa: PLC0415  few commands use it
    from epsilond.ledgers.log.errors import KeysUnusable  # noqa: PLC0415

    with exit_codes(option_of):
        key = Service.at(place, key_file).key if "://" in place else None
        try:
            from epsilond.ledgers.client.opening import ledger  # noqa: PLC0415

            with ledger(place, key=key) as books, _print_warnings(books):
                yield books
        except ReceiptUsed as error:
            typer.echo(f"refused (receipt-used): {error}", err=True)
            raise typer.Exit(NOT_CERTIFIED) from None
        except (Refused, KeysUnusable) as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(BAD_INPUT) from None
        except Unanswered as error:
            exit_unanswered(str(error))


@contextmanager
def _print_warnings(books: Books) -> Iterator[None]:
    """Print the warnings of ledgers at the end of a block, even after an error, as a context manager.

    Args:
        books: the ledgers. Their warnings are those of all answers in the block.

    Yields:
        Nothing. The warnings are printed after the block.
    """
    try:
        yield
    finally:
        for warning in books.warnings.values():
            typer.echo(f"warning: {warning}", err=True)


def print_ledger(ledger: Ledger, *, as_body: bool) -> None:
    """Print a ledger as it is now.

    Args:
        ledger: the ledger in a file or on a service.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.
    """
    from epsilond.ledgers.commands import tables  # noqa: PLC0415  few commands use it

    answer = ledger.show()
    print_body(answer) if as_body else show(tables.ledger(answer))


def print_pending(move: Mapping[str, object], *, as_body: bool) -> None:
    """Print a change of a ledger that waits for a second person, or has ended.

    Args:
        move: JSON object of the change.
        as_body: whether to print JSON as the service answers it; otherwise a table is printed.
    """
    from epsilond.ledgers.commands import tables  # noqa: PLC0415  few commands use it

    print_body(move) if as_body else show(tables.pending_move(move))


def mechanism(spec: str | None) -> JsonRecord | None:
    """Read the specification of a mechanism as a JSON object, from the text of the option --spec.

    Args:
        spec: JSON text, path of a JSON file, or `-` for standard input. None gives None.
    """
    return None if spec is None else structure_of(spec, at="/spec")


def split_assignment(text: str, at: str) -> tuple[str, str]:
    """Split the text NAME=VALUE of an option into name and value. The name keeps its spelling.

    Args:
        text: the text of the option.
        at: JSON Pointer of the option, for errors.

    Returns:
        The name, and the value.

    Raises:
        InvalidInput: the text has no name or no value.
    """
    _, value = assignment(text, at=at)
    name, _, _ = text.partition("=")
    return name.strip(), value


def assignments(texts: Iterable[str] | None, at: str) -> list[tuple[str, str]]:
    """Split each text NAME=VALUE into name and value; return an empty list for None.

    Args:
        texts: the texts of a repeatable option; None if it was not given.
        at: JSON Pointer of the option, for errors.

    Returns:
        Pairs of a name and a value, in the order of the texts.
    """
    return [split_assignment(text, at) for text in texts or ()]


def option_of(pointer: str) -> str:
    """Convert the JSON Pointer of an error to a field into a pointer to the option of the command line.

    Args:
        pointer: JSON Pointer to the field of a request, such as `/declared/0`.

    Returns:
        The pointer, with the beginning that is listed in `POINTERS` replaced. Other pointers are unchanged, because
        their options have the names of the fields.
    """
    for field, option in POINTERS.items():
        is_field_or_part = pointer == field or pointer.startswith(f"{field}/")
        if is_field_or_part:
            new_pointer = option + pointer.removeprefix(field)
            return new_pointer or pointer
    return pointer

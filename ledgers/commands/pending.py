"""`epsilond ledger pending|approve|reject`: moves that wait for a second person."""

from __future__ import annotations

from typing import Annotated

import typer

from epsilond.commands.output import AsJson, print_body, show
from epsilond.ledgers.commands.shared import HERE, At, By, KeyFile, Name, books_at, group, print_pending

Move = Annotated[str, typer.Argument(metavar="MOVE", help="its id, which `pending` lists")]


@group.command()
def pending(ledger: Name, at: At = HERE, key_file: KeyFile = None, as_body: AsJson = False) -> None:
    """List the moves of a ledger that wait for a second person.

    \f

    Args:
        ledger: name or id of the ledger.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected, or the file or service cannot be used. The reason was printed.
    """
    with books_at(at, key_file) as books:
        from epsilond.ledgers.commands import tables  # noqa: PLC0415  few commands use it

        moves = books.ledger(ledger).pending()
        print_body({"moves": moves}) if as_body else show(tables.pending(moves))


@group.command()
def approve(
    ledger: Name, move: Move, by: By = None, at: At = HERE, key_file: KeyFile = None, as_body: AsJson = False
) -> None:
    """Approve a change of a ledger that another person requested. It is checked against the present ledger and made.

    On a service it takes a key with the role approver. In a file everybody who can write it can approve: names are
    declared, and the log shows who was named.

    \f

    Args:
        ledger: name or id of the ledger.
        move: id of the pending move.
        by: name of the person who acts, for a file of ledgers; a service takes it from the API key.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected, or the file or service cannot be used. The reason was printed.
    """
    with books_at(at, key_file) as books:
        print_pending(books.ledger(ledger).approve(move, by=by), as_body=as_body)


@group.command()
def reject(
    ledger: Name, move: Move, by: By = None, at: At = HERE, key_file: KeyFile = None, as_body: AsJson = False
) -> None:
    """Reject a move that waits, or withdraw your own. Nothing else changes.

    \f

    Args:
        ledger: name or id of the ledger.
        move: id of the pending move.
        by: name of the person who acts, for a file of ledgers; a service takes it from the API key.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected, or the file or service cannot be used. The reason was printed.
    """
    with books_at(at, key_file) as books:
        print_pending(books.ledger(ledger).reject(move, by=by), as_body=as_body)

"""`epsilond ledger reserve|commit|cancel|seal|close`: changes of a ledger."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.commands.output import AsJson, print_body, show
from epsilond.ledgers.commands.shared import (
    HERE,
    At,
    Count,
    Eta,
    Key,
    KeyFile,
    Name,
    Slot,
    SlotDelta,
    Spec,
    books_at,
    group,
    mechanism,
    print_ledger,
)

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.state import SlotKind

Reservation = Annotated[str, typer.Argument(metavar="RESERVATION", help="its id, which `reserve` printed")]


@group.command()
def reserve(
    ledger: Name,
    name: Annotated[str | None, typer.Argument(metavar="ITEM", help="item of the plan")] = None,
    spec: Spec = None,
    slot: Slot = None,
    count: Count = None,
    eta: Eta = None,
    delta: SlotDelta = None,
    expires_in: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="time until the reservation expires; absent: a day")
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="LEDGER", help="ledger of another block that the runs read; once for each"),
    ] = None,
    key: Key = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """Reserve runs of an item of the plan, or of a mechanism in a slot: a budget for runs that are not planned.

    Nothing may be released before they are committed.

    \f

    Args:
        ledger: name or id of the ledger.
        name: item of the plan; a label if a slot is charged.
        spec: mechanism as JSON text, path of a JSON file, or `-` for standard input; needed if a slot is charged.
        slot: kind of the slot that is charged: gdp, zcdp, rdp or pure. None charges the item of the plan.
        count: number of runs, at least 1; None for all runs of the item or of the mechanism.
        eta: largest increase of δ that is allowed if a mechanism that is not Gaussian is charged to a Gaussian slot.
        delta: δ of each run in a zcdp or pure slot.
        expires_in: seconds until the reservation expires, more than 0; None for a day.
        also: names or ids of the ledgers of other blocks that the runs read. All ledgers are charged, or none.
        key: idempotency key. A repeated request with the same key changes nothing and gets the same answer. None
            makes a new key.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected or the place of the ledgers cannot be used; the reason was printed.
    """
    with books_at(at, key_file) as books:
        names = [ledger, *(also or ())]
        charged_ledgers = [books.ledger(name_or_id) for name_or_id in names]
        reservation = books.reserve(
            charged_ledgers,
            name,
            spec=mechanism(spec),
            slot=cast("SlotKind | None", slot),
            count=count,
            eta=eta,
            delta=delta,
            expires_in=expires_in,
            key=key,
        )
        _print_reservation(reservation.show(), as_body=as_body)


@group.command()
def commit(
    reservation: Reservation,
    count: Annotated[int | None, typer.Option(metavar="COUNT", min=1, help="runs; absent: all that are left")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="write the receipt there, or the bundle of several")
    ] = None,
    key: Key = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """Commit reserved runs. Their budget is spent for ever, and each may now be run once and its output released.

    The receipt is noted as used before it is printed. A second process that asks for the same receipt, with the same
    idempotency key, is refused.

    \f

    Args:
        reservation: id of the reservation.
        count: number of runs, at least 1; None for all that are left.
        out: file of the receipt, or of the bundle if several ledgers are charged.
        key: idempotency key. A repeated request with the same key changes nothing and gets the same answer. None
            makes a new key.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected, the receipt is used already, or the file cannot be written; the reason
            was printed.
    """
    with books_at(at, key_file) as books:
        from epsilond.ledgers.commands import tables  # noqa: PLC0415
        from epsilond.ledgers.log.bundles import Bundle  # noqa: PLC0415  few commands use it

        # A commit is final, so the folder is checked before it.
        if out is not None and not out.parent.is_dir():
            raise InvalidInput.at("/out", "is in a folder that is not there: nothing was committed")
        run = books.run(reservation)
        receipt = run.commit(count, key=key)
        has_several_ledgers = len(run.receipts) > 1
        evidence = Bundle(receipts=run.receipts) if has_several_ledgers else receipt
        if out is not None:
            _write(out, evidence.to_bytes())
        for committed_receipt in run.receipts:
            print_body(committed_receipt.record) if as_body else show(tables.receipt(committed_receipt.record))


@group.command()
def cancel(reservation: Reservation, at: At = HERE, key_file: KeyFile = None, as_body: AsJson = False) -> None:
    """Give back what was not committed: as credit once a part was. What was committed never returns.

    \f

    Args:
        reservation: id of the reservation.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected or the place of the ledgers cannot be used; the reason was printed.
    """
    with books_at(at, key_file) as books:
        _print_reservation(books.run(reservation).cancel(), as_body=as_body)


@group.command()
def seal(ledger: Name, key: Key = None, at: At = HERE, key_file: KeyFile = None, as_body: AsJson = False) -> None:
    """Declare that who is in the data is fixed from now on. Only then may anything read them.

    \f

    Args:
        ledger: name or id of the ledger.
        key: idempotency key. A repeated request with the same key changes nothing and gets the same answer. None
            makes a new key.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected or the place of the ledgers cannot be used; the reason was printed.
    """
    with books_at(at, key_file) as books:
        opened_ledger = books.ledger(ledger)
        opened_ledger.seal(key=key)
        print_ledger(opened_ledger, as_body=as_body)


@group.command()
def close(ledger: Name, key: Key = None, at: At = HERE, key_file: KeyFile = None, as_body: AsJson = False) -> None:
    """Close a ledger for ever. What is held may still be committed; its block gets no other ledger.

    \f

    Args:
        ledger: name or id of the ledger.
        key: idempotency key. A repeated request with the same key changes nothing and gets the same answer. None
            makes a new key.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected or the place of the ledgers cannot be used; the reason was printed.
    """
    with books_at(at, key_file) as books:
        opened_ledger = books.ledger(ledger)
        opened_ledger.close(key=key)
        print_ledger(opened_ledger, as_body=as_body)


def _print_reservation(answer: Mapping[str, object], *, as_body: bool) -> None:
    """Print a reservation of runs as JSON or as a table.

    Args:
        answer: JSON object of the reservation, as the service returns it.
        as_body: whether to print JSON.
    """
    from epsilond.ledgers.commands import tables  # noqa: PLC0415  few commands use it

    print_body(answer) if as_body else show(tables.reservation(answer))


def _write(path: Path, text: bytes) -> None:
    """Write the receipts of committed runs to a file, and flush it to the disk.

    Args:
        path: the file, which is replaced if it exists.
        text: a receipt or a bundle of receipts, as JSON.

    Raises:
        InvalidInput: the file cannot be written. The message says that the runs are committed nevertheless.
    """
    try:
        with path.open("wb") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:
        raise InvalidInput.at("/out", f"cannot be written, though the runs are committed: {error.strerror}") from None

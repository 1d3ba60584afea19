"""`epsilond ledger contradict|amend|void|reconcile`: corrections of a ledger or of its log."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.commands.output import AsJson, print_body
from epsilond.commands.requests import structure_of
from epsilond.ledgers.commands.moves import Reservation
from epsilond.ledgers.commands.shared import (
    HERE,
    At,
    By,
    Key,
    KeyFile,
    Name,
    assignments,
    books_at,
    group,
    print_ledger,
    print_pending,
)

if TYPE_CHECKING:
    from epsilond.ledgers.client.ledgers import Ledger


@group.command()
def contradict(
    ledger: Name,
    observation: Annotated[
        list[str],
        typer.Option(metavar="JSON|FILE|-", help="premise, message, remedy and count of an observation; once for each"),
    ],
    reservation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RESERVATION", help="reservation that paid for the run; once for each; absent: all with commits"
        ),
    ] = None,
    key: Key = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """Block all further commits, because a run was observed to differ from the mechanism that was paid for.

    The ledger then has no ε.

    \f

    Args:
        ledger: name or id of the ledger.
        observation: premise, message, remedy and count of each observation: JSON text, path of a JSON file, or `-`.
        reservation: ids of the reservations that paid for the run; None for all with commits.
        key: idempotency key. A repeated request with the same key changes nothing and gets the same answer. None
            makes a new key.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected, or the file or service cannot be used. The reason was printed.
    """
    with books_at(at, key_file) as books:
        from epsilond.accountants.errors import Observation  # noqa: PLC0415  few commands use it
        from epsilond.ledgers.correction_requests import ObservationAsked  # noqa: PLC0415
        from epsilond.reading import read  # noqa: PLC0415

        records = [read(ObservationAsked, structure_of(text, at="/observation")) for text in observation]
        observations = [Observation(**vars(record)) for record in records]
        contradicted_ledger = books.ledger(ledger)
        contradicted_ledger.contradict(observations, reservation, key=key)
        print_ledger(contradicted_ledger, as_body=as_body)


@group.command()
def amend(
    ledger: Name,
    add: Annotated[list[str] | None, typer.Option(metavar="NAME=SPEC", help="item with a new name")] = None,
    lower: Annotated[
        list[str] | None, typer.Option(metavar="NAME=COUNT", help="new, smaller number of runs of an item")
    ] = None,
    declare: Annotated[
        str | None, typer.Option(metavar="independent-of-outputs", help="your declaration, once anything was committed")
    ] = None,
    approval: Annotated[
        bool | None, typer.Option("--approval/--no-approval", help="whether a second person approves from then on")
    ] = None,
    by: By = None,
    key: Key = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """Amend the plan: add items, or lower the number of runs of an item.

    Once anything was committed, you declare that neither the amendment nor its time depends on an output. In a ledger
    with approval the amendment waits for a second person: see `pending`.

    \f

    Args:
        ledger: name or id of the ledger.
        add: NAME=SPEC for each new item.
        lower: NAME=COUNT for each item that gets a smaller number of runs. The number includes the committed and
            reserved runs.
        declare: `independent-of-outputs`; required once a run was committed.
        approval: whether a second person approves from then on; None leaves it as it is.
        by: name of the person who acts, for a file of ledgers; a service takes it from the API key.
        key: idempotency key. A repeated request with the same key changes nothing and gets the same answer. None
            makes a new key.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected, or the file or service cannot be used. The reason was printed.
    """
    with books_at(at, key_file) as books:
        opened_ledger = books.ledger(ledger)
        # Each option is a text NAME=VALUE.
        new_items = {name: structure_of(spec, at="/add") for name, spec in assignments(add, "/add")}
        lowered_counts = {name: _parse_runs(count) for name, count in assignments(lower, "/lower")}
        waiting = opened_ledger.amend(
            add=new_items,
            lower=lowered_counts,
            declared=cast("Literal['independent-of-outputs'] | None", declare),
            approval=approval,
            by=by,
            key=key,
        )
        _print_made_or_waiting(opened_ledger, waiting, as_body=as_body)


def _parse_runs(count: str) -> int:
    """Parse the number of runs in an option NAME=COUNT.

    Args:
        count: text after the equals sign.

    Returns:
        The number. It may be negative, because its range is checked later.

    Raises:
        InvalidInput: the text is not an integer.
    """
    try:
        return int(count)
    except ValueError:
        raise InvalidInput.at("/lower", "must be NAME=COUNT") from None


@group.command()
def void(
    ledger: Name,
    reservation: Reservation,
    count: Annotated[int, typer.Option(metavar="COUNT", min=1, help="committed runs that are taken back")],
    declare: Annotated[str, typer.Option(metavar="no-output-observed", help="your declaration, word for word")],
    by: By = None,
    key: Key = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """Take committed runs back, as you declare that nobody saw any output of them. The ledger says so for ever.

    \f

    Args:
        ledger: name or id of the ledger.
        reservation: id of the reservation that paid for the runs.
        count: number of committed runs that are taken back, at least 1.
        declare: `no-output-observed`, the required declaration.
        by: name of the person who acts, for a file of ledgers; a service takes it from the API key.
        key: idempotency key. A repeated request with the same key changes nothing and gets the same answer. None
            makes a new key.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected, or the file or service cannot be used. The reason was printed.
    """
    with books_at(at, key_file) as books:
        opened_ledger = books.ledger(ledger)
        declared = cast("Literal['no-output-observed']", declare)
        waiting = opened_ledger.void(reservation, count, declared=declared, by=by, key=key)
        _print_made_or_waiting(opened_ledger, waiting, as_body=as_body)


@group.command()
def reconcile(
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="OLD", help="a checkpoint, receipt or bundle that was kept elsewhere")
    ] = None,
    declare: Annotated[
        str | None,
        typer.Option(metavar="missing-entries-are-accounted-for", help="this word, to accept a log that lacks entries"),
    ] = None,
    by: By = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """Compare a restored log with a checkpoint that was kept elsewhere. Ledgers may change again if they agree.

    A log that lacks entries is refused until you declare that these are accounted for: their runs committed anew, or
    their ledgers closed. On a service only that declaration changes anything, and it takes the scope admin.

    \f

    Args:
        checkpoint: file of a checkpoint, receipt or bundle that was kept elsewhere. None takes the newest checkpoint
            that the file of ledgers or the service knows.
        declare: `missing-entries-are-accounted-for`, to accept a log that lacks entries.
        by: name of the person who acts, for a file of ledgers; a service takes it from the API key.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected, or the file or service cannot be used. The reason was printed.
    """
    with books_at(at, key_file) as books:
        from epsilond.ledgers.client.evidence import newest  # noqa: PLC0415  few commands use it

        note = None if checkpoint is None else newest(checkpoint)
        declared = cast("Literal['missing-entries-are-accounted-for'] | None", declare)
        answer = books.reconcile(note, declared=declared, by=by)
        print_body(answer) if as_body else _print_reconciliation(answer)


def _print_reconciliation(answer: Mapping[str, object]) -> None:
    """Print the outcome of a comparison of the log with a checkpoint that was kept elsewhere.

    A checkpoint is a signed head of the log: its size and Merkle root.

    Args:
        answer: without `accepted` if the log continues the checkpoint. Otherwise `accepted` says why it does not, and
            `waiting`, if present, is the number of ledgers that wait for a second person.
    """
    if "accepted" not in answer:
        typer.echo("The log continues the kept log.")
        return
    typer.echo(f"Accepted as it is, though: {answer['accepted']}")
    if "waiting" in answer:
        typer.echo(f"Ledgers that wait for a second person: {answer['waiting']}.")


def _print_made_or_waiting(ledger: Ledger, waiting: Mapping[str, object] | None, *, as_body: bool) -> None:
    """Print a ledger that was changed, or the change that waits for a second person.

    Args:
        ledger: the ledger after the request.
        waiting: JSON object of the change that waits; None if the ledger was changed at once.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.
    """
    if waiting is None:
        print_ledger(ledger, as_body=as_body)
    else:
        print_pending(waiting, as_body=as_body)

"""Ledgers that cover the same people: the rules that keep them from moves, and warnings about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection

from epsilond.accountants.errors import AwaitsApproval, BlockHasLedger, InvalidInput
from epsilond.accountants.quantities import require_unit
from epsilond.calibrators.answer import Caution
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.requests import JobAsked
from epsilond.ledgers.store import ledgers, owners, pending
from epsilond.ledgers.store.records import LedgerRow


def collisions(colliding: Mapping[str, Sequence[tuple[str, bool]]]) -> tuple[Caution, ...]:
    """Return a warning for each ledger that covers the same people as other ledgers.

    Args:
        colliding: for the id of each such ledger, the other ledgers: pairs of an id, and whether that ledger is open.

    Returns:
        One warning for each ledger, in the order of `colliding`.
    """
    return tuple(_collision_warning(identifier, others) for identifier, others in colliding.items())


def _collision_warning(identifier: str, colliding: Sequence[tuple[str, bool]]) -> Caution:
    """Return the warning that other ledgers cover the same people as a ledger, which certifies only its own runs.

    Args:
        identifier: id of the ledger.
        colliding: pairs of another ledger's id and whether that ledger is open.

    Returns:
        A warning with the code `ledger-collides`.
    """
    ids = ", ".join(name for name, _ in colliding)
    message = f"The people of {identifier} have other ledgers: {ids}. Its guarantee does not cover their releases."
    # An open ledger could spend a further budget on the same people, so changes are blocked.
    if any(is_open for _, is_open in colliding):
        message += " Reservations, commits and amendments are refused until all except one are closed."
    return Caution(code="ledger-collides", message=message)


def near_names(names: Sequence[str]) -> tuple[Caution, ...]:
    """Return a warning if the data set or block of a new ledger has almost the same name as others.

    A typing error in a name would give the same people a second budget.

    Args:
        names: the other names, which differ from the new one only in spaces, hyphens, underscores and dots.

    Returns:
        One warning, or none if there are no such names.
    """
    if not names:
        return ()
    quoted = ", ".join(f"\u201c{name}\u201d" for name in names)
    message = f"There is almost the same name: {quoted}. If that is the same data, its people now have two budgets."
    return (Caution(code="almost-equal-name", message=message),)


def require_movable(connection: Connection, rows: Sequence[LedgerRow]) -> None:
    """Check that neither a pending reconciliation nor another ledger of the same people blocks these ledgers.

    A reconciliation is the acceptance of a log that may lack entries.

    Args:
        connection: database connection.
        rows: rows of the ledgers.

    Raises:
        AwaitsApproval: a reconciliation waits for a second person.
        BlockHasLedger: another ledger of the same people is open, or one of these is closed and is not the only one.
    """
    require_reconciled(connection, rows)
    require_sole(connection, rows)


def require_reconciled(connection: Connection, rows: Iterable[LedgerRow]) -> None:
    """Check that no ledger is blocked because an approver must still accept that the log lacks entries.

    A log that lost commits shows more remaining budget than there is.

    Args:
        connection: database connection.
        rows: rows of the ledgers.

    Raises:
        AwaitsApproval: an operator accepted a log that lacks entries, and an approver has not confirmed it yet.
    """
    with_approval = [row.id for row in rows if row.approval_from is not None]
    if not with_approval:
        return
    waiting = pending.awaiting_reconciliation(connection, with_approval)
    if waiting:
        message = "An operator accepted a log that lacks entries. An approver must approve that for this ledger:"
        raise AwaitsApproval(f"{message} see its pending moves.", None, {"ledger": min(waiting)})


def require_sole(connection: Connection, rows: Iterable[LedgerRow]) -> None:
    """Check that no other open ledger of the same organisation covers the people of one of these ledgers.

    A ledger covers the people in a data set, or in a block, a part of it. Two open ledgers could each spend a full
    privacy budget on the same people.

    Args:
        connection: database connection.
        rows: rows of the ledgers.

    Raises:
        BlockHasLedger: another such ledger is open; or one of the given ledgers is closed, and there is another one.
    """
    for row in rows:
        overlapping = owners.colliding(connection, row)
        all_others = [identifier for identifier, _ in overlapping]
        open_others = [identifier for identifier, is_open in overlapping if is_open]
        if all_others and row.status == "closed":
            message = "the data set has another ledger since it belongs to an organisation, and this one is closed"
            raise BlockHasLedger(message, None, {"ledger": all_others[0]})
        if open_others:
            message = "the data set has another open ledger since it belongs to an organisation: close one of them"
            raise BlockHasLedger(message, None, {"ledger": open_others[0]})


def require_setting(state: LedgerState, job: JobAsked) -> None:
    """Check that requested runs are meant for the ledger's protected unit and neighbouring relation.

    Args:
        state: the ledger.
        job: the request, which may leave out the unit and the relation.

    Raises:
        InvalidInput: the request names another unit or relation.
    """
    own_unit = state.setting.protected_unit
    own_relation = state.setting.relation
    if job.unit is not None and require_unit(job.unit) != own_unit:
        message = f"is {require_unit(job.unit)}, and the ledger's is {own_unit}: account for the mechanism there"
        raise InvalidInput.at("/unit", message, allowed=str(own_unit))
    if job.relation is not None and job.relation != own_relation:
        message = "is not the ledger's: account for the mechanism there"
        raise InvalidInput.at("/relation", message, allowed=own_relation)


def require_no_overlap(connection: Connection, row: LedgerRow) -> None:
    """Check that no other ledger covers the same people as a ledger that is being opened.

    A ledger covers a data set or a block, a part of it. The database itself rejects a second ledger of one block.

    Args:
        connection: connection of the transaction. It must have reserved the numbers of its log entries, so that no
            other process adds a ledger at the same time.
        row: rows of the new ledger.

    Raises:
        BlockHasLedger: one of the data set's ledgers covers a block and another the whole data set, or another
            organisation may have a ledger of the data set.
    """
    overlapping = ledgers.overlapping(connection, row)
    if overlapping is not None:
        message = "the dataset has ledgers of blocks and would have one of the whole: both lose unseen"
        raise BlockHasLedger(message, None, {"ledger": overlapping})
    if owners.is_barred(connection, row):
        message = "another organisation has a ledger of the data set, and one of the two names or named none"
        raise BlockHasLedger(message, None, {})

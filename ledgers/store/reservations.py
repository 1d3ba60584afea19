"""Reservations as rows: runs that are held, in which ledgers, and until when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, Connection, Select, bindparam, exists, insert, or_, select, tuple_, update

from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.store.records import HoldingRow, ReservationRow
from epsilond.ledgers.store.tables import HOLDINGS, LEDGERS, RESERVATIONS
from epsilond.ledgers.store.transactions import change_rows

_OWN = ("id", "tenant", "state", "created", "expires")
_HELD = tuple(HoldingRow.__dataclass_fields__)
_CHANGING = ("item", "charge", "count", "committed")
_OWN_CHANGE = update(RESERVATIONS).where(
    RESERVATIONS.c.id == bindparam("_id"), RESERVATIONS.c.state == bindparam("_state")
)
_HOLDING_CHANGE = update(HOLDINGS).where(
    HOLDINGS.c.reservation == bindparam("_id"),
    HOLDINGS.c.ledger == bindparam("_ledger"),
    HOLDINGS.c["count"] == bindparam("_count"),
    HOLDINGS.c.committed == bindparam("_committed"),
)


def add(connection: Connection, reservation: ReservationRow) -> None:
    """Store a new reservation, and the runs that it holds in each ledger.

    Args:
        connection: connection of a transaction that writes.
        reservation: the reservation, with at least one ledger that pays for its runs.

    Raises:
        IntegrityError: the id is in use, or a ledger does not exist. The transaction must then be rolled back.
    """
    own_values = {name: getattr(reservation, name) for name in _OWN}
    holdings = [{"reservation": reservation.id, **vars(holding)} for holding in reservation.holdings]
    connection.execute(insert(RESERVATIONS).values(own_values))
    connection.execute(insert(HOLDINGS), holdings)


def get(connection: Connection, identifier: str, *, tenant: str | None = None) -> ReservationRow | None:
    """Load the reservation with an id. It may still change until its ledgers are locked.

    Args:
        connection: connection to read on.
        identifier: id of the reservation.
        tenant: required owner of all its ledgers; None means any.

    Returns:
        The reservation; None if there is none, or if one of its ledgers has another owner.
    """
    query = select(RESERVATIONS.c.id).where(RESERVATIONS.c.id == identifier)
    if tenant is not None:
        query = query.where(_is_owned(tenant))
    loaded = _load(connection, query)
    if not loaded:
        return None
    (reservation,) = loaded
    return reservation


def of_ledgers(connection: Connection, ledgers: Collection[str], including: Collection[str]) -> list[ReservationRow]:
    """Load the reservations with uncommitted runs in some ledgers, and some further reservations.

    Finished reservations are left out, so that the cost does not grow with the age of a ledger.

    Args:
        connection: connection to read on.
        ledgers: ids of the ledgers.
        including: ids of reservations that are returned in any case, even if they are finished.

    Returns:
        The reservations, the oldest first.
    """
    unfinished = HOLDINGS.c.ledger.in_(ledgers) & (HOLDINGS.c.committed < HOLDINGS.c.count)
    has_unfinished = RESERVATIONS.c.id.in_(select(HOLDINGS.c.reservation).where(unfinished))
    is_live = has_unfinished & RESERVATIONS.c.state.in_(("reserved", "committed"))
    return _load(connection, select(RESERVATIONS.c.id).where(or_(is_live, RESERVATIONS.c.id.in_(including))))


def ledgers_of(connection: Connection, owned: Collection[tuple[str, str]]) -> set[str]:
    """Return the ids of the ledgers in which some reservations hold runs. A reservation's ledgers never change.

    Args:
        connection: connection to read on.
        owned: pairs of an organisation and the id of a reservation. A reservation of another organisation is left out.

    Returns:
        The ids of the ledgers, each once.
    """
    query = select(HOLDINGS.c.ledger).join(LEDGERS)
    query = query.where(tuple_(LEDGERS.c.organisation, HOLDINGS.c.reservation).in_(list(owned)))
    return set(connection.execute(query).scalars())


def of_ledger(connection: Connection, ledger: str) -> list[ReservationRow]:
    """Load all reservations that a ledger ever had, in the order in which they were made.

    Args:
        connection: connection to read on.
        ledger: id of the ledger.
    """
    in_ledger = select(HOLDINGS.c.reservation).where(HOLDINGS.c.ledger == ledger)
    return _load(connection, select(RESERVATIONS.c.id).where(RESERVATIONS.c.id.in_(in_ledger)))


def due(connection: Connection, now: float, *, limit: int, without: Collection[str] = ()) -> list[ReservationRow]:
    """Load the reservations with uncommitted runs that have passed their time of expiry.

    Their runs stay reserved until a transaction ends the reservation. Reservations of ledgers without an organisation
    are left out. The service that assigns the organisation ends them.

    Args:
        connection: connection to read on.
        now: present time, in seconds since 1970.
        limit: largest number of reservations; those that expired first are selected.
        without: ids of ledgers. Their reservations are left out.

    Returns:
        The reservations, the oldest first.
    """
    unassigned = select(HOLDINGS.c.reservation).join(LEDGERS).where(LEDGERS.c.organisation.is_(None))
    unfinished = select(HOLDINGS.c.reservation).where(HOLDINGS.c.committed < HOLDINGS.c.count)
    has_expired = RESERVATIONS.c.state.in_(("reserved", "committed")) & (RESERVATIONS.c.expires <= now)
    can_be_ended = RESERVATIONS.c.id.in_(unfinished) & RESERVATIONS.c.id.not_in(unassigned)
    query = select(RESERVATIONS.c.id).where(has_expired, can_be_ended)
    if without:
        excluded = select(HOLDINGS.c.reservation).where(HOLDINGS.c.ledger.in_(without))
        query = query.where(RESERVATIONS.c.id.not_in(excluded))
    return _load(connection, query.order_by(RESERVATIONS.c.expires).limit(limit))


def write(connection: Connection, changes: Sequence[tuple[ReservationRow, ReservationRow]]) -> None:
    """Write the changes of reservations. Their ledgers must be locked.

    Args:
        connection: connection of the transaction of the change.
        changes: each reservation before and after the change. A row is written only if it still has its old values.

    Raises:
        Again: a reservation was changed meanwhile, for example cancelled.
        ValueError: a reservation has other ledgers than before.
        IntegrityError: the reservation has ended, or more runs would be committed than are reserved.
    """
    own_changes = []
    holding_changes = []
    for before, after in changes:
        if before.ledgers != after.ledgers:
            raise ValueError("a reservation's ledgers are those it was made with")
        own_changes.append({"_id": before.id, "_state": before.state, "state": after.state, "expires": after.expires})
        for old_holding, holding in zip(before.holdings, after.holdings, strict=True):
            if holding != old_holding:
                holding_changes.append(_holding_change(before.id, old_holding, holding))
    change_rows(connection, _OWN_CHANGE, own_changes, "reservation")
    change_rows(connection, _HOLDING_CHANGE, holding_changes, "reservation")


def _holding_change(reservation: str, old_holding: HoldingRow, holding: HoldingRow) -> JsonRecord:
    """Return the parameters of the update `_HOLDING_CHANGE` of a reservation's runs in one ledger.

    Names with a leading underscore are for the earlier values, which the row must still have.

    Args:
        reservation: id of the reservation.
        old_holding: the runs in the ledger before the change.
        holding: the runs after the change.

    Returns:
        The parameters by their names.
    """
    old_values = {
        "_id": reservation,
        "_ledger": old_holding.ledger,
        "_count": old_holding.count,
        "_committed": old_holding.committed,
    }
    return old_values | {name: getattr(holding, name) for name in _CHANGING}


def _is_owned(tenant: str) -> ColumnElement[bool]:
    """Return the SQL condition that all ledgers of a reservation belong to an organisation.

    Args:
        tenant: name of the organisation.
    """
    foreign = or_(LEDGERS.c.organisation != tenant, LEDGERS.c.organisation.is_(None))
    return ~exists().where(HOLDINGS.c.reservation == RESERVATIONS.c.id, HOLDINGS.c.ledger == LEDGERS.c.id, foreign)


def _load(connection: Connection, ids_query: Select[tuple[str]]) -> list[ReservationRow]:
    """Load the reservations with the ids that a query selects.

    Two queries are made: one for the reservations, and one for their runs in ledgers.

    Args:
        connection: connection to read on.
        ids_query: query that selects ids of reservations.

    Returns:
        The reservations, the oldest first, each with its runs in every ledger.
    """
    columns = [RESERVATIONS.c[name] for name in _OWN]
    query = select(*columns).where(RESERVATIONS.c.id.in_(ids_query))
    rows = connection.execute(query.order_by(RESERVATIONS.c.created, RESERVATIONS.c.id)).mappings().all()

    holdings = defaultdict[str, list[HoldingRow]](list)
    holding_query = select(HOLDINGS).where(HOLDINGS.c.reservation.in_([row["id"] for row in rows]))
    for row in connection.execute(holding_query.order_by(HOLDINGS.c.ledger)).mappings():
        members = {name: row[name] for name in _HELD}
        holdings[row["reservation"]].append(HoldingRow(**members))
    return [ReservationRow(**row, holdings=tuple(holdings[row["id"]])) for row in rows]

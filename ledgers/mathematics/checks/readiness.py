"""Checks before a reservation or a commit: the ledger accepts it, and the reservation holds enough runs."""

from __future__ import annotations

from epsilond.accountants.errors import InvalidInput, LedgerClosed, NotSealed, ReservationEnded, RunDiffers
from epsilond.accountants.quantity import LARGEST_COUNT
from epsilond.ledgers.mathematics.state import LedgerState, Reservation


def check_commit_count(reservation: Reservation, count: int | None) -> int:
    """Return the number of runs to commit, after checking that the reservation still holds so many.

    Args:
        reservation: the reservation, with its number of runs and of those that are committed already.
        count: requested number of runs. None commits all reserved runs that are not committed yet.

    Returns:
        The number of runs, at least 1.

    Raises:
        InvalidInput: the count is below 1, or exceeds the number of uncommitted runs of the reservation.
    """
    uncommitted = reservation.count - reservation.committed
    run_count = uncommitted if count is None else count
    if not 1 <= run_count <= uncommitted:
        allowed = f"1 to {uncommitted}" if uncommitted else "none: there are no more"
        raise InvalidInput.at("/count", "is not a number of runs that the reservation still holds", allowed=allowed)
    return run_count


def find_reservation(state: LedgerState, identifier: str) -> Reservation:
    """Return the reservation of a ledger with a given id, after checking that it has not ended.

    Args:
        state: the ledger with its reservations.
        identifier: id of the reservation.

    Returns:
        The reservation, in the state "reserved" or "committed".

    Raises:
        ReservationEnded: the reservation does not exist, was cancelled, or has expired.
    """
    reservation = state.reservations.get(identifier)
    if reservation is None or reservation.state in ("cancelled", "expired"):
        raise ReservationEnded("There is no such reservation any more: it was cancelled, has expired, or never was.")
    return reservation


def require_consistent(state: LedgerState) -> None:
    """Check that no run was observed to differ from the mechanism that the ledger paid for.

    After such an observation the ledger has no guarantee, so nothing more may be reserved or committed.

    Args:
        state: the ledger.

    Raises:
        RunDiffers: a run was observed to differ. The error has all observations.
    """
    if state.status == "contradicted":
        message = "Observations contradict a run that was paid from this ledger, so there is no ε and no further run:"
        raise RunDiffers(message, state.observations)


def require_open(state: LedgerState) -> None:
    """Check that a ledger accepts reservations at present.

    Args:
        state: the ledger.

    Raises:
        RunDiffers: a run was observed to differ from the mechanism that the ledger paid for.
        LedgerClosed: the ledger was closed.
        NotSealed: the ledger is not sealed, so records may still be added to its block of data.
    """
    require_consistent(state)
    if state.status == "closed":
        raise LedgerClosed("The ledger was closed: nothing more is reserved.")
    if not state.sealed:
        raise NotSealed("The membership of the block is not fixed: seal the ledger before anything reads the block.")


def is_count(value: object) -> bool:
    """Return whether a value, for example of a log entry, is a valid number of runs.

    Args:
        value: value of any type.

    Returns:
        True for an integer from 1 to `LARGEST_COUNT` that is no truth value.
    """
    return isinstance(value, int) and is_integer(value) and 1 <= value <= LARGEST_COUNT


def is_integer(value: object) -> bool:
    """Return whether a value is an integer and no truth value.

    Python counts True and False as integers, but a log entry must not have them in place of a number.

    Args:
        value: value of any type.
    """
    return isinstance(value, int) and not isinstance(value, bool)

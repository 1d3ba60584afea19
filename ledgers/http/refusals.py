"""Errors of a book as problems of the service. Errors of the mathematics are problems already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from epsilond.app.http.problems import Problem
from epsilond.app.settings import PREFIX
from epsilond.calibrators.answer import Caution
from epsilond.ledgers.book.errors import Contended, HeadUnavailable, KeyReused, NotFound, NotReconciled, RoleMissing
from epsilond.ledgers.log.errors import KeysUnusable
from epsilond.storage.faults import StoreFault

SOON = {"Retry-After": "10"}
"""Header of an answer after which the client may try again in 10 s, when a short outage may be over."""
CONTENDED = {"Retry-After": "1"}
"""Header of an answer after which the client may try again in 1 s, because only other requests were in the way."""
AFTER_RECONCILIATION = {"Retry-After": "600"}
"""Header of an answer after which an operator must act, which takes minutes; in seconds."""
_SEND_AGAIN = "Send it again with the same Idempotency-Key."
NOTHING = "There is no ledger, reservation, entry or pending move of this id."

IN_MEMORY = Caution(
    code="ledgers-in-memory",
    message="The ledgers of this service are in memory: they and their spent budgets are lost when it stops.",
)
"""Warning in every answer about a ledger of a service that keeps ledgers in memory."""


@contextmanager
def as_problems() -> Iterator[None]:
    """Translate errors of the ledgers' store, log and keys that the block raises to HTTP problems.

    Other errors pass unchanged. The service has handlers for those of the mathematics, such as LedgerExhausted.

    Yields:
        Nothing.

    Raises:
        Problem: of the kind not-found, idempotency-key-reused, forbidden or ledger-not-reconciled, according to the
            error. Of the kind unavailable, with a time after which to try again, if other requests changed the ledgers
            at each try, or if the store, the signing keys or the copy of the log's head cannot be used.
    """
    try:
        yield
    except NotFound:
        raise Problem("not-found", NOTHING) from None
    except KeyReused:
        raise Problem("idempotency-key-reused", "This Idempotency-Key came with another request before.") from None
    except RoleMissing as error:
        raise Problem("forbidden", f"This needs the role {error} in the organisation.") from None
    except NotReconciled:
        raise reconciliation_problem() from None
    # The remaining errors are temporary: the same request may succeed later.
    except Contended:
        detail = f"Others moved the ledger each time; nothing was written. {_SEND_AGAIN}"
        raise Problem("unavailable", detail, headers=CONTENDED) from None
    except HeadUnavailable as error:
        detail = f"{error} Nothing was written. {_SEND_AGAIN}"
        raise Problem("unavailable", detail, headers=SOON) from None
    except StoreFault:
        detail = f"The store of ledgers cannot be used at present. {_SEND_AGAIN}"
        raise Problem("unavailable", detail, headers=SOON) from None
    except KeysUnusable:
        raise Problem("unavailable", "The keys that sign the log cannot be used at present.", headers=SOON) from None


def unavailable_problem(reason: str) -> Problem:
    """Return the HTTP problem of a service that has no ledgers at present. The client may try again in 10 s.

    Args:
        reason: why it has none, as a sentence.

    Returns:
        The problem, with the header Retry-After.
    """
    return Problem("unavailable", reason, headers=SOON)


def reconciliation_problem() -> Problem:
    """Return the HTTP problem of a log that may have lost entries, so that an operator must act.

    Such a log does not continue a head (size and Merkle root) that was signed before.

    Returns:
        The problem of the kind `ledger-not-reconciled`, with a time after which to try again.
    """
    detail = (
        "The log of ledgers does not continue a head that was signed before: the store was restored, or lost"
        " its newest transactions. Nothing is moved until an operator has reconciled them."
    )
    return Problem("ledger-not-reconciled", detail, headers=AFTER_RECONCILIATION)


def not_durable_problem(cause: str) -> Problem:
    """Return the HTTP problem of a service without ledgers, because its store in memory would lose them at its end.

    Args:
        cause: why the store is in memory, as sentences.

    Returns:
        The problem of the kind `ledgers-not-durable`. It says which setting allows ledgers in memory.
    """
    detail = (
        f"This service has no ledgers, because it would lose them when it stops. {cause} {PREFIX}LEDGERS_IN_MEMORY=yes"
        " lets it keep ledgers in memory all the same."
    )
    return Problem("ledgers-not-durable", detail, headers=AFTER_RECONCILIATION)

"""Errors of a book that are not the mathematics' own."""

from __future__ import annotations


class BookError(Exception):
    """Base class of the errors of a book."""


class NotFound(BookError):
    """There is no such ledger, reservation or entry, or it is another tenant's. The message is the id."""


class KeyReused(BookError):
    """The idempotency key came with another request before. The message is the key."""


class RoleMissing(BookError):
    """The caller lacks the role that the move needs in the ledger's organisation. The message is the role."""


class NotReconciled(BookError):
    """The log may lack entries of which receipts were given out. Changes are rejected until it is reconciled.

    Attributes:
        ledger: id of the only ledger that this concerns; None if it concerns the whole log.
    """

    def __init__(self, reason: str, ledger: str | None = None) -> None:
        """Make the error from its reason.

        Args:
            reason: why the log or a ledger cannot be trusted, as a sentence. It is the message.
            ledger: id of the only ledger that this concerns; None if it concerns the whole log.
        """
        super().__init__(reason)
        self.ledger = ledger


class HeadUnavailable(BookError):
    """The file with the log's head cannot be read at present; nothing was written. The text is a sentence."""


class Contended(BookError):
    """Other processes moved the ledger during each attempt; nothing was written."""

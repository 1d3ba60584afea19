"""What a book refuses that is not the mathematics' own."""

from __future__ import annotations


class BookError(Exception):
    """Base of what a book refuses."""


class NotFound(BookError):
    """There is no such ledger, reservation or entry, or it is another tenant's; its text is the id."""


class KeyReused(BookError):
    """The idempotency key came with another request before; its text is the key."""


class RoleMissing(BookError):
    """The caller lacks the role that the move needs in the ledger's organisation; its text is the role."""


class NotReconciled(BookError):
    """The log is not known to hold all that receipts were given for: it refuses moves until it is reconciled.

    Attributes:
        ledger: id of the only ledger that this concerns; None if it concerns the whole log.
    """

    def __init__(self, reason: str, ledger: str | None = None) -> None:
        """Say why, as a sentence."""
        super().__init__(reason)
        self.ledger = ledger


class HeadUnavailable(BookError):
    """The head that is kept elsewhere cannot be read at present; nothing was written. The text is a sentence."""


class Contended(BookError):
    """Others moved the ledger each time that this was tried; nothing was written."""

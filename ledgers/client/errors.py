"""What a client of ledgers refuses or meets that is not the mathematics' own."""

from __future__ import annotations

from epsilond.accountants.errors import EpsilondError


class ReceiptUsed(EpsilondError):
    """A run was begun with this receipt before: it is good for one. What is run again needs a commit of its own."""


class LogForked(EpsilondError):
    """The service's log does not continue the newest head that this client has seen: entries were lost or changed."""


class Unanswered(EpsilondError):
    """The service did not answer, or cannot now: whether it did what was asked, the same key asked again will tell."""


class Refused(EpsilondError):
    """The service refuses, and not for the sake of a budget: no such ledger, no right to it, or a fault of its own."""

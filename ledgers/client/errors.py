"""Errors of a client of ledgers that are not the mathematics' own."""

from __future__ import annotations

from epsilond.accountants.errors import EpsilondError


class ReceiptUsed(EpsilondError):
    """A run was begun with this receipt before. A receipt is valid for one run; another run needs its own commit."""


class LogForked(EpsilondError):
    """The service's log does not continue the newest head that this client has seen: entries were lost or changed."""


class Unanswered(EpsilondError):
    """The service did not answer. The same request with the same key shows whether it was carried out."""


class Refused(EpsilondError):
    """The service refuses for a reason other than a budget: no such ledger, no permission, or a fault of its own."""

"""Ledgers that were opened without an organisation: they get the organisation of their opener, once there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import structlog

from epsilond.app.callers.caller import Caller
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.store.names import NAMELESS
from epsilond.ledgers.store.owners import Collision

KEPT_CALLERS = 10_000
"""Largest number of remembered tokens without a ledger that lacks an organisation; 2 MB at most."""


class Adoption:
    """Assignment of the ledgers of one book to organisations."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._callers: set[tuple[str, str]] = set()
        self._log = structlog.get_logger()

    def assign(self, organisations: Mapping[str, str]) -> None:
        """Give ledgers without a named organisation to that of their opener's key, and report those that collide.

        Args:
            organisations: organisation of each name that has a key; others are of the nameless one.
        """
        self._report(self._book.assign_organisations(lambda name: organisations.get(name, NAMELESS)))

    def adopt(self, caller: Caller) -> None:
        """Assign the ledgers that a caller opened without an organisation to the caller's present organisation.

        Nothing happens for a caller without a token or organisation, or if this was done before in this process.
        """
        holder = caller.name, caller.organisation
        if caller.organisation == NAMELESS or not caller.has_token or holder in self._callers:
            return
        if self._book.has_free(caller.name):
            organisation_of = {caller.name: caller.organisation}.get
            self._report(self._book.assign_organisations(organisation_of))
        if len(self._callers) >= KEPT_CALLERS:
            self._callers.clear()
        self._callers.add(holder)

    def _report(self, collisions: Sequence[Collision]) -> None:
        """Write an error to the service's log for each group of ledgers that cover the same people."""
        for collision in collisions:
            event = "several ledgers cover the same people"
            if collision.open > 1:
                event += "; they refuse moves until all except one are closed"
            self._log.error(
                event, organisation=collision.organisation, dataset=collision.dataset, ledgers=collision.ledgers
            )

"""Ledgers that were opened without an organisation: they get the organisation of their opener, once there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import structlog

from epsilond.app.callers.caller import Caller
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.store.names import NAMELESS
from epsilond.ledgers.store.owners import Collision

KEPT_CALLERS = 10_000
"""Largest number of remembered callers, whose ledgers all have an organisation. They take at most 2 MB."""


class Adoption:
    """Assignment of ledgers without a named organisation to the organisations of the callers who opened them.

    Two ledgers of one organisation that cover the same people must not both be spent. An assignment may give them the
    same organisation, so it reports such collisions.
    """

    def __init__(self, book: Book) -> None:
        """Prepare the assignment of ledgers. Nothing is assigned yet.

        Args:
            book: the ledgers in one database.
        """
        self._book = book
        self._finished_callers: set[tuple[str, str]] = set()
        self._log = structlog.get_logger()

    def assign(self, organisations: Mapping[str, str]) -> None:
        """Assign each ledger without a named organisation to the organisation of the API key that opened it.

        All ledgers of one organisation that cover the same people are then reported in the service's log.

        Args:
            organisations: organisation of each API key, by the key's name. Ledgers that another name opened get the
                nameless organisation, `NAMELESS`.

        Raises:
            Again: other processes changed ledgers during each of several attempts. Nothing was assigned.
        """

        def organisation_of(name: str) -> str:
            """Return the organisation of the key with a name; the nameless one if there is no such key."""
            return organisations.get(name, NAMELESS)

        self._log_collisions(self._book.assign_organisations(organisation_of))

    def adopt(self, caller: Caller) -> None:
        """Assign the ledgers that a caller opened without an organisation to the caller's present organisation.

        Nothing happens for a caller without a token or organisation, or if this process has examined the caller before.
        After an assignment, all ledgers of one organisation that cover the same people are reported in the service's
        log.

        Args:
            caller: the caller of a request.

        Raises:
            Again: other processes changed ledgers during each of several attempts. Nothing was assigned.
        """
        caller_key = caller.name, caller.organisation
        has_organisation = caller.has_token and caller.organisation != NAMELESS
        if not has_organisation or caller_key in self._finished_callers:
            return
        if self._book.has_free(caller.name):
            organisation_of = {caller.name: caller.organisation}.get
            self._log_collisions(self._book.assign_organisations(organisation_of))
        # Bound the memory. A forgotten caller is only examined again.
        if len(self._finished_callers) >= KEPT_CALLERS:
            self._finished_callers.clear()
        self._finished_callers.add(caller_key)

    def _log_collisions(self, collisions: Sequence[Collision]) -> None:
        """Write an error to the service's log for each group of ledgers that cover the same people.

        Args:
            collisions: the groups, with the number of open ledgers in each.
        """
        for collision in collisions:
            event = "several ledgers cover the same people"
            if collision.open > 1:
                event += "; they refuse moves until all except one are closed"
            self._log.error(
                event, organisation=collision.organisation, dataset=collision.dataset, ledgers=collision.ledgers
            )

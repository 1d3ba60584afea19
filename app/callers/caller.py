"""Caller: who asks, what they may ask, and what they have asked already."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from limits import RateLimitItemPerMinute
from starlette.requests import Request

from epsilond.app.callers.addresses import network_of
from epsilond.app.callers.budgets import Account, Budgets, label_of
from epsilond.app.callers.limits import NONE, Limits
from epsilond.app.callers.scopes import ANYBODYS, ScopeName
from epsilond.app.http.problems import Problem

CALLER = "epsilond.caller"
AGAIN = "epsilond.caller_again"
RETRY_SOON = {"Retry-After": "5"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Caller:
    """Whoever asks."""

    name: str
    """The owner of their jobs: a key's name, or token:… ; "" of everybody where no credentials are asked for."""
    identity: str
    """Whose queue and budget: key:NAME, token:…, or address:… without credentials (a network of IPv6)."""
    shown: str
    """What the log calls them: their name, else their address."""
    scopes: frozenset[ScopeName]
    limits: Limits
    budgets: Budgets = field(repr=False)

    @classmethod
    def of_key(cls, name: str, scopes: frozenset[ScopeName], limits: Limits, budgets: Budgets) -> Caller:
        """Whoever has a key of this name."""
        return cls(name=name, identity=f"key:{name}", shown=name, scopes=scopes, limits=limits, budgets=budgets)

    @classmethod
    def of_token(cls, name: str, scopes: frozenset[ScopeName], budgets: Budgets) -> Caller:
        """Whoever a token names; `name` begins with token, which no name of a key can with what follows."""
        return cls(name=name, identity=name, shown=name, scopes=scopes, limits=NONE, budgets=budgets)

    @classmethod
    def at(cls, address: str, budgets: Budgets) -> Caller:
        """Whoever asks from an address, where no credentials are asked for."""
        identity = f"address:{network_of(address)}"
        return cls(name="", identity=identity, shown=address, scopes=ANYBODYS, limits=NONE, budgets=budgets)

    @property
    def label(self) -> str:
        """What metrics call them."""
        return label_of(self.identity)

    @cached_property
    def account(self) -> Account:
        """What they have used."""
        return self.budgets.known(self.identity, self.limits.cpu_seconds_per_minute)

    async def request(self) -> None:
        """One request more.

        Raises:
            Problem: they have asked too often within a minute.
        """
        most = self.limits.requests_per_minute
        if most is None:
            return
        per_minute, rates = RateLimitItemPerMinute(most), self.budgets.rates
        if await rates.hit(per_minute, self.identity):
            return
        left = (await rates.get_window_stats(per_minute, self.identity)).reset_time - time.time()
        seconds = str(min(max(math.ceil(left), 1), 60))
        raise Problem("rate-limited", "This key has asked too often.", headers={"Retry-After": seconds})

    def require_scope(self, *any_of: ScopeName) -> None:
        """Refuse what none of their scopes allows.

        Raises:
            Problem: naming the scopes of which one is missing.
        """
        if self.scopes.isdisjoint(any_of):
            raise Problem("forbidden", f"This needs the scope {' or '.join(sorted(any_of))}.")

    def require_cpu(self) -> None:
        """Refuse whoever has used up their CPU time.

        Raises:
            Problem: with the seconds until they have some again.
        """
        self.account.advance(self.budgets.clock())
        self.account.require_allowance()

    @contextmanager
    def computation(self) -> Iterator[None]:
        """Within this, one computation of theirs runs or waits.

        Raises:
            Problem: too many do, or they have used up their CPU time.
        """
        self.require_cpu()
        most = self.limits.concurrent_computations
        if most is not None and self.account.computing >= most:
            raise Problem("rate-limited", "Too many computations of this key are under way.", headers=RETRY_SOON)
        self.account.computing += 1
        try:
            yield
        finally:
            self.account.computing -= 1

    def require_job(self, live: int) -> None:
        """One job more, beside so many of theirs that have not ended.

        Raises:
            Problem: that would be too many, or they have used up their CPU time.
        """
        most = self.limits.jobs or self.budgets.settings.caller_jobs
        if live >= most:
            raise Problem("rate-limited", "Too many jobs of this caller have not ended.", headers=RETRY_SOON)
        self.require_cpu()


def caller_of(request: Request) -> Caller:
    """Whoever asks this."""
    caller: Caller = request.scope[CALLER]
    return caller


async def caller_again(request: Request) -> Caller:
    """Whoever asks this, as their credentials are taken now: what goes on for long asks again whether it may.

    Raises:
        Problem: they are not taken any more, do not open this path any more, or it cannot be found out.
    """
    again: Callable[[], Awaitable[Caller]] | None = request.scope.get(AGAIN)
    return caller_of(request) if again is None else await again()

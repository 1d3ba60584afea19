"""Budgets: the CPU time that each caller has used lately, and what they may still use.

Two figures for each: what was used, halved every minute, by which the pool chooses who is next; and what is owed, which
falls at a constant rate. Whoever owes ten minutes' worth is refused until it has fallen. What is in the cache costs
nothing, and an answer is charged when it is there, so that one question may go beyond the limit.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from limits.aio.storage import MemoryStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from epsilond.app.http.problems import Problem
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings

HALF_LIFE_SECONDS = 60.0
BURST_MINUTES = 10.0
MOST_IDENTITIES = 10_000
"""How many callers are remembered; beyond that, whoever was seen least recently and computes nothing is forgotten."""


@dataclass(eq=False, slots=True)
class Account:
    """What is known of one caller's use. Times are seconds of `Budgets.clock`."""

    at: float
    per_minute: float
    """CPU seconds a minute that are given to them; 0: no limit."""
    owed: float = 0.0
    """CPU seconds used that have not been given to them since."""
    used: float = 0.0
    """CPU seconds used, each halved every minute since."""
    computing: int = 0
    """Questions of theirs that run or wait."""

    def advance(self, now: float) -> None:
        """Let time pass."""
        passed = max(0.0, now - self.at)
        self.at += passed
        self.used *= 0.5 ** (passed / HALF_LIFE_SECONDS)
        self.owed = max(0.0, self.owed - passed * self.per_minute / 60.0)

    def charge(self, cpu_seconds: float) -> None:
        """So much was used now."""
        self.used += cpu_seconds
        if self.per_minute:
            self.owed += cpu_seconds

    def require_allowance(self) -> None:
        """Refuse whoever has used up their CPU time.

        Raises:
            Problem: with the seconds until they have some again.
        """
        over = self.owed - BURST_MINUTES * self.per_minute
        if self.per_minute and over >= 0.0:
            seconds = max(1, math.ceil(60.0 * over / self.per_minute))
            detail = "The computations of this caller have used up their CPU time for now."
            raise Problem("rate-limited", detail, headers={"Retry-After": str(seconds)})


@dataclass(eq=False)
class Budgets:
    """The accounts of all callers, by their identities. All of it belongs to the event loop's thread."""

    settings: Settings
    metrics: Metrics
    clock: Callable[[], float] = time.monotonic
    rates: SlidingWindowCounterRateLimiter = field(
        default_factory=lambda: SlidingWindowCounterRateLimiter(MemoryStorage())
    )
    """How often the names with a limit on requests have asked; bounded, as they all stand in the file of keys."""
    _accounts: OrderedDict[str, Account] = field(default_factory=OrderedDict)

    def account(self, identity: str, per_minute: float | None = None) -> Account:
        """The account of a caller as of now; `per_minute` is their own limit, if they have one."""
        account, now = self._accounts.get(identity), self.clock()
        if account is None:
            account = self._accounts[identity] = Account(now, self._rate(per_minute))
            self._forget_one_too_many()
        elif per_minute is not None:
            account.per_minute = per_minute
        self._accounts.move_to_end(identity)
        account.advance(now)
        return account

    def known(self, identity: str, per_minute: float | None) -> Account:
        """As `account`, for one whose limits are known: without a limit of their own, everybody's is theirs."""
        return self.account(identity, self._rate(per_minute))

    def charge(self, identity: str, cpu_seconds: float) -> None:
        """A computation of theirs has used so many seconds of CPU."""
        account = self.account(identity)
        account.charge(cpu_seconds)
        self.metrics.caller_cpu_seconds.labels(label_of(identity)).inc(cpu_seconds)

    def used(self, identity: str) -> float:
        """CPU seconds that they have used, each halved every minute since: the order of a fair queue. 0 if unknown."""
        account = self._accounts.get(identity)
        if account is None:
            return 0.0
        account.advance(self.clock())
        return account.used

    def __len__(self) -> int:
        return len(self._accounts)

    def _rate(self, per_minute: float | None) -> float:
        return self.settings.cpu_seconds_of_each_caller if per_minute is None else per_minute

    def _forget_one_too_many(self) -> None:
        if len(self._accounts) <= MOST_IDENTITIES:
            return
        idle = next((identity for identity, account in self._accounts.items() if not account.computing), None)
        if idle is not None:
            del self._accounts[idle]


def label_of(identity: str) -> str:
    """The metrics' label of a caller: the name of a key, or one word for all tokens and one for all addresses."""
    kind, _, name = identity.partition(":")
    return name if kind == "key" else "token" if kind.startswith("token") else "anonymous"

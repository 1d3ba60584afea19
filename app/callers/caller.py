"""Whoever asks: their address or name, what they may ask, and what they have used.

Two figures of CPU time for each caller: what was used, halved every minute, by which the pool chooses who is next; and
what is owed, which falls at a constant rate. Whoever owes ten minutes' worth is refused until it has fallen. What is in
the cache costs nothing, and an answer is charged when it is there, so that one question may go beyond the limit.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from starlette.requests import Request
from starlette.types import Scope

from epsilond.app.callers.limits import NONE, CallerLimits
from epsilond.app.callers.scopes import ANYBODYS, ANYBODYS_ROLES, RoleName, ScopeName
from epsilond.app.http.problems import Problem
from epsilond.app.http.record import ServicePart
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings

UNKNOWN = "unknown"
"""A socket without addresses, or a proxy that names no address."""
NETWORK = 64
"""Bits of an IPv6 address that name a subscriber; whoever has one such network has all the addresses in it."""
REMEMBERED = 1024
"""Addresses of which it is known how they are written."""


def address_of(scope: Scope) -> str:
    """The address of the client, as the server or a proxy that it believes has told it."""
    client = scope.get("client")
    return _written(client[0]) if client else UNKNOWN


@lru_cache(REMEMBERED)
def _written(host: str) -> str:
    """An address as it is written here, whatever spelling it came in."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return UNKNOWN


@lru_cache(REMEMBERED)
def network_of(address: str) -> str:
    """The address if it is one of IPv4, else its network of 64 bits: all that one subscriber can choose from."""
    if address == UNKNOWN:
        return address
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), NETWORK), strict=False))


HALF_LIFE_SECONDS = 60.0
BURST_MINUTES = 10.0
MOST_IDENTITIES = 10_000
"""How many callers are remembered; beyond that, whoever was seen least recently and computes nothing is forgotten."""


@dataclass(eq=False, slots=True)
class CallerUsage:
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
    _accounts: OrderedDict[str, CallerUsage] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self._usual_rate = self.settings.cpu_seconds_of_each_caller

    def account(self, identity: str, per_minute: float | None = None) -> CallerUsage:
        """The account of a caller as of now; `per_minute` is their own limit, if they have one."""
        account, now = self._accounts.get(identity), self.clock()
        if account is None:
            account = self._accounts[identity] = CallerUsage(now, self._rate(per_minute))
            self._forget_one_too_many()
        elif per_minute is not None:
            account.per_minute = per_minute
        self._accounts.move_to_end(identity)
        account.advance(now)
        return account

    def known(self, identity: str, per_minute: float | None) -> CallerUsage:
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
        return self._usual_rate if per_minute is None else per_minute

    def _forget_one_too_many(self) -> None:
        if len(self._accounts) <= MOST_IDENTITIES:
            return
        idle = next((identity for identity, account in self._accounts.items() if not account.computing), None)
        if idle is not None:
            del self._accounts[idle]


BUDGETS: ServicePart[Budgets] = ServicePart("budgets")


def label_of(identity: str) -> str:
    """The metrics' label of a caller: the name of a key, or one word for all tokens and one for all addresses."""
    kind, _, name = identity.partition(":")
    return name if kind == "key" else "token" if kind.startswith("token") else "anonymous"


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
    limits: CallerLimits
    budgets: Budgets = field(repr=False)
    organisation: str = ""
    """Whose data sets and ledgers they may use; empty: those of all callers that name none."""
    roles: frozenset[RoleName] = frozenset()
    """What they may do with these."""

    @classmethod
    def of_key(
        cls,
        name: str,
        scopes: frozenset[ScopeName],
        limits: CallerLimits,
        budgets: Budgets,
        *,
        organisation: str = "",
        roles: frozenset[RoleName] = frozenset(),
    ) -> Caller:
        """Return whoever has a key of this name."""
        return cls(
            name=name,
            identity=f"key:{name}",
            shown=name,
            scopes=scopes,
            limits=limits,
            budgets=budgets,
            organisation=organisation,
            roles=roles,
        )

    @classmethod
    def of_token(
        cls,
        name: str,
        scopes: frozenset[ScopeName],
        budgets: Budgets,
        *,
        organisation: str = "",
        roles: frozenset[RoleName] = frozenset(),
    ) -> Caller:
        """Return whoever a token names; `name` begins with token, which no name of a key can with what follows."""
        return cls(
            name=name,
            identity=name,
            shown=name,
            scopes=scopes,
            limits=NONE,
            budgets=budgets,
            organisation=organisation,
            roles=roles,
        )

    @classmethod
    def at(cls, address: str, budgets: Budgets) -> Caller:
        """Whoever asks from an address, where no credentials are asked for."""
        identity = f"address:{network_of(address)}"
        return cls(
            name="",
            identity=identity,
            shown=address,
            scopes=ANYBODYS,
            limits=NONE,
            budgets=budgets,
            roles=ANYBODYS_ROLES,
        )

    @property
    def label(self) -> str:
        """What metrics call them."""
        return label_of(self.identity)

    @cached_property
    def account(self) -> CallerUsage:
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

    def require_role(self, *any_of: RoleName) -> None:
        """Reject a caller who has none of these roles in their organisation.

        Raises:
            Problem: names the roles of which one is missing.
        """
        if self.roles.isdisjoint(any_of):
            raise Problem("forbidden", f"This needs the role {' or '.join(sorted(any_of))} in the organisation.")

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

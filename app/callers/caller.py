"""Callers: their addresses or names, their rights, and their use of CPU time.

Each caller has two amounts of CPU time. The used time is halved every minute, and the pool chooses the next caller by
it. The owed time falls at a constant rate. A caller who owes ten minutes' worth is rejected until it has fallen.
Answers from the cache cost nothing. An answer is charged when it is complete, so that one question may exceed the
limit.
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

from epsilond.app.callers.limits import NO_OWN_LIMITS, CallerLimits
from epsilond.app.callers.scopes import OPEN_ROLES, OPEN_SCOPES, RoleName, ScopeName
from epsilond.app.callers.usage import CallerUsage
from epsilond.app.http.problems import Problem
from epsilond.app.http.record import ServicePart
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings

UNKNOWN = "unknown"
"""Text for the address of a client whose address the server or its proxy does not know."""
NETWORK = 64
"""Bits of an IPv6 address that identify a subscriber; a subscriber has all the addresses of this network."""
REMEMBERED = 1024
"""Number of addresses whose canonical spelling is cached."""


def address_of(scope: Scope) -> str:
    """Return the address of the client of a request, as the server or a trusted proxy reports it.

    Args:
        scope: ASGI description of the request.

    Returns:
        The address in its canonical spelling, or `UNKNOWN` without a valid one.
    """
    client = scope.get("client")
    if not client:
        return UNKNOWN
    host, *_ = client
    return _canonical_address(host)


@lru_cache(REMEMBERED)
def _canonical_address(host: str) -> str:
    """Return the canonical spelling of an address, or `UNKNOWN` if it is not an address."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return UNKNOWN


@lru_cache(REMEMBERED)
def network_of(address: str) -> str:
    """Return an IPv4 address itself, or the 64-bit network of an IPv6 address, which one subscriber usually has.

    Clients of one network count as one caller, so that a subscriber cannot avoid limits by changing the address.

    Args:
        address: IPv4 or IPv6 address of a client, or `UNKNOWN`, which is returned unchanged.

    Returns:
        The address or the network as text. An IPv4 address that is embedded in an IPv6 address is returned as IPv4.

    Raises:
        ValueError: the text is neither an address nor `UNKNOWN`.
    """
    if address == UNKNOWN:
        return address
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    if parsed.ipv4_mapped is not None:  # an IPv4 address in the form of an IPv6 address
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), NETWORK), strict=False))


MOST_IDENTITIES = 10_000
"""Largest number of remembered callers; the least recently seen of those without computations is forgotten first."""


@dataclass(eq=False)
class Budgets:
    """Accounts of the CPU time of all callers, by identity. Only the thread of the event loop uses them.

    Attributes:
        settings: settings of the service, with the usual limits.
        metrics: metrics of the service.
        clock: monotonic clock [s].
        rates: request rates of the callers with a limit on requests. Only names in the file of keys have such a limit,
            so their number is bounded.
    """

    settings: Settings
    metrics: Metrics
    clock: Callable[[], float] = time.monotonic
    rates: SlidingWindowCounterRateLimiter = field(
        default_factory=lambda: SlidingWindowCounterRateLimiter(MemoryStorage())
    )
    _accounts: OrderedDict[str, CallerUsage] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self._usual_rate = self.settings.cpu_seconds_of_each_caller

    def account(self, identity: str, per_minute: float | None = None) -> CallerUsage:
        """Return a caller's account, the record of its use of CPU time, updated to the present time.

        A caller without an account gets a new one. The least recently used account without computations is then deleted
        if there are more than `MOST_IDENTITIES`.

        Args:
            identity: identity of the caller.
            per_minute: limit of the caller's CPU time [s/min]. None keeps the limit of an existing account, and gives a
                new account the usual limit.

        Returns:
            The account; later calls with this identity return the same object.
        """
        account = self._accounts.get(identity)
        now = self.clock()
        if account is None:
            account = self._accounts[identity] = CallerUsage(now, self._rate(per_minute))
            self._forget_idle_caller()
        elif per_minute is not None:
            account.per_minute = per_minute
        # The dictionary is ordered by last use, the most recent use at its end.
        self._accounts.move_to_end(identity)
        account.advance(now)
        return account

    def usual_account(self, identity: str, per_minute: float | None) -> CallerUsage:
        """Return the account of a caller, updated to the present time, and set its limit of CPU time.

        Args:
            identity: identity of the caller.
            per_minute: the new limit [s/min]; None for the usual limit of the service.
        """
        return self.account(identity, self._rate(per_minute))

    def charge(self, identity: str, cpu_seconds: float) -> None:
        """Charge a caller for a computation, and add its CPU time to the metrics of the caller.

        Args:
            identity: identity of the caller.
            cpu_seconds: CPU time of the computation [s].
        """
        account = self.account(identity)
        account.charge(cpu_seconds)
        self.metrics.caller_cpu_seconds.labels(label_of(identity)).inc(cpu_seconds)

    def cpu_seconds_used(self, identity: str) -> float:
        """Return the recently used CPU time of a caller, by which a fair queue orders the callers.

        Args:
            identity: identity of the caller.

        Returns:
            The CPU seconds, halved every minute; 0 for an unknown caller.
        """
        account = self._accounts.get(identity)
        if account is None:
            return 0.0
        account.advance(self.clock())
        return account.used

    def __len__(self) -> int:
        return len(self._accounts)

    def _rate(self, per_minute: float | None) -> float:
        """Return a caller's own limit of CPU time [s/min], or the usual limit if the caller has none."""
        return self._usual_rate if per_minute is None else per_minute

    def _forget_idle_caller(self) -> None:
        """Delete the account of the least recently seen idle caller, if there are more than `MOST_IDENTITIES` accounts.

        Idle callers have no running or waiting computation. If no caller is idle, all accounts are kept.
        """
        if len(self._accounts) <= MOST_IDENTITIES:
            return
        for identity, account in self._accounts.items():
            if not account.computing:
                del self._accounts[identity]
                return


BUDGETS: ServicePart[Budgets] = ServicePart("budgets")


def label_of(identity: str) -> str:
    """Return the label of a caller in metrics: a key's name, `token` for tokens, or `anonymous` for addresses.

    Args:
        identity: identity of the caller, as in `Caller.identity`.

    Returns:
        The label. Tokens, and likewise addresses, share one label, so that clients cannot create new labels.
    """
    kind, _, name = identity.partition(":")
    if kind == "key":
        return name
    if kind.startswith("token"):
        return "token"
    return "anonymous"


CALLER = "epsilond.caller"
AGAIN = "epsilond.caller_again"
RETRY_SOON = {"Retry-After": "5"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Caller:
    """Caller of a request, with its rights and limits.

    Attributes:
        name: owner of the caller's jobs: a key's name, or token:…; empty for all callers if no credentials are
            required.
        identity: identifier of the caller's queue and budget: key:NAME, token:…, or address:… without credentials. The
            address is a network for IPv6.
        shown: name of the caller in the log: the name, or the address.
        scopes: permissions of the caller, each for one kind of requests.
        limits: limits on the caller's use of the service.
        budgets: accounts of the CPU time of all callers.
        organisation: organisation of the data sets and ledgers that the caller may use; empty for those that belong to
            no organisation.
        roles: rights of the caller on these data sets and ledgers.
    """

    name: str
    identity: str
    shown: str
    scopes: frozenset[ScopeName]
    limits: CallerLimits
    budgets: Budgets = field(repr=False)
    organisation: str = ""
    roles: frozenset[RoleName] = frozenset()

    @classmethod
    def at(cls, address: str, budgets: Budgets) -> Caller:
        """Return the caller at a network address, for a service that requires no credentials.

        Such a caller has the service's general limits only, and all permissions (scopes) except `admin`.

        Args:
            address: the client's IP address; addresses of one network are one caller.
            budgets: the service's accounts of the CPU time that callers may use.

        Returns:
            The caller; its identity is "address:" followed by its network.
        """
        identity = f"address:{network_of(address)}"
        return cls(
            name="",
            identity=identity,
            shown=address,
            scopes=OPEN_SCOPES,
            limits=NO_OWN_LIMITS,
            budgets=budgets,
            roles=OPEN_ROLES,
        )

    @property
    def label(self) -> str:
        """Label of the caller in metrics: a key's name, `token`, or `anonymous`."""
        return label_of(self.identity)

    @property
    def has_token(self) -> bool:
        """True if the caller is identified by a token of an identity provider, not by a key or an address."""
        has_key = self.identity.startswith("key:")  # the label of a key is its name, which may be "token"
        return self.label == "token" and not has_key

    @cached_property
    def account(self) -> CallerUsage:
        """Record of the caller's use of CPU time."""
        return self.budgets.usual_account(self.identity, self.limits.cpu_seconds_per_minute)

    async def count_request(self) -> None:
        """Count a request of the caller, and reject it if the caller has sent too many within a minute.

        Raises:
            Problem: the caller has a limit on requests per minute and has exceeded it.
        """
        most = self.limits.requests_per_minute
        if most is None:
            return
        limit = RateLimitItemPerMinute(most)
        rates = self.budgets.rates
        if await rates.hit(limit, self.identity):
            return
        # The caller may try again when the limit is reset, at most a minute later.
        window = await rates.get_window_stats(limit, self.identity)
        seconds_left = math.ceil(window.reset_time - time.time())
        seconds = str(min(max(seconds_left, 1), 60))
        raise Problem("rate-limited", "This key has sent too many requests.", headers={"Retry-After": seconds})

    def require_scope(self, *any_of: ScopeName) -> None:
        """Reject a caller who has none of these scopes.

        Args:
            *any_of: scopes (permissions for kinds of requests), of which one is enough.

        Raises:
            Problem: the caller has none of them. The problem names the scopes, of which one is required.
        """
        if self.scopes.isdisjoint(any_of):
            raise Problem("forbidden", f"This needs the scope {' or '.join(sorted(any_of))}.")

    def require_role(self, *any_of: RoleName) -> None:
        """Reject a caller who has none of these roles in the organisation.

        Args:
            *any_of: roles (rights on the organisation's ledgers), of which one is enough.

        Raises:
            Problem: the caller has none of them. The problem names the roles, of which one is required.
        """
        if self.roles.isdisjoint(any_of):
            raise Problem("forbidden", f"This needs the role {' or '.join(sorted(any_of))} in the organisation.")

    def require_cpu(self) -> None:
        """Reject a caller who has used up the allowed CPU time.

        Raises:
            Problem: the CPU time is used up. The problem states the seconds until some CPU time is allowed again.
        """
        self.account.advance(self.budgets.clock())
        self.account.require_allowance()

    @contextmanager
    def computation(self) -> Iterator[None]:
        """Count one more running or waiting computation of the caller, until this context manager is left.

        Raises:
            Problem: too many computations run or wait, or the caller has used up the allowed CPU time.
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
        """Reject a further job of a caller who has too many jobs, or has used up the allowed CPU time.

        Args:
            live: number of jobs of this caller that wait or run, at least 0.

        Raises:
            Problem: the caller has too many jobs, or has used up the allowed CPU time.
        """
        most = self.limits.jobs or self.budgets.settings.caller_jobs
        if live >= most:
            raise Problem("rate-limited", "Too many jobs of this caller have not ended.", headers=RETRY_SOON)
        self.require_cpu()


def caller_of(request: Request) -> Caller:
    """Return the caller of a request, which the middleware has stored in the request."""
    caller: Caller = request.scope[CALLER]
    return caller


async def caller_again(request: Request) -> Caller:
    """Check the credentials of a request once more, and return its caller with the present rights.

    Long requests repeat this check, because keys may be revoked and tokens expire.

    Args:
        request: the HTTP request, for example one that follows a job for a long time.

    Returns:
        The caller; if the request has no credentials, the caller of the first check.

    Raises:
        Problem: the credentials are no longer accepted, no longer permit this path, or cannot be checked.
    """
    check_again: Callable[[], Awaitable[Caller]] | None = request.scope.get(AGAIN)
    if check_again is None:
        return caller_of(request)
    return await check_again()

"""Health: whether a load balancer should send requests to this service, and the reasons against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from epsilond.app.http.record import ServicePart

Check = Callable[[], str | None]
"""Function that returns None if all is well, or the reason in one sentence; the event loop calls it, so it is fast."""
STOPPING = "The service is stopping."


@dataclass(eq=False)
class Health:
    """Checks of the parts of the service, by which a load balancer decides whether to send requests.

    A check is a function that returns the reason why its part does not work, as a sentence, or None if it works. Once
    the service is `stopping`, only that is reported.

    Attributes:
        stopping: whether the service is about to end.
    """

    stopping: bool = False
    _checks: dict[str, Check] = field(default_factory=dict)

    def register(self, name: str, check: Check) -> None:
        """Register the check of a part of the service; it replaces an earlier check of the same name.

        Args:
            name: name of the part.
            check: function that returns the reason why the part does not work, or None if it works.
        """
        self._checks[name] = check

    def stop(self) -> None:
        """Mark the service as stopping: it should get no more requests, finishes its present ones, and ends."""
        self.stopping = True

    def reasons(self) -> tuple[str, ...]:
        """Return the reasons why this service should get no requests now: its stop, or the reasons of its parts."""
        if self.stopping:
            return (STOPPING,)
        results = (check() for check in self._checks.values())
        return tuple(reason for reason in results if reason is not None)


HEALTH: ServicePart[Health] = ServicePart("health")

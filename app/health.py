"""Health: whether a load balancer should send requests here, and if not, why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from epsilond.app.http.record import ServicePart

Check = Callable[[], str | None]
"""None while all is well, else the reason in one sentence. It returns at once: it is called in the event loop."""
STOPPING = "The service is stopping."


@dataclass(eq=False)
class Health:
    """The checks of the parts of a service."""

    stopping: bool = False
    _checks: dict[str, Check] = field(default_factory=dict)

    def register(self, name: str, check: Check) -> None:
        """A part's check; a later one of the same name takes its place."""
        self._checks[name] = check

    def stop(self) -> None:
        """From now on this service should get no requests: it answers what is under way, and ends."""
        self.stopping = True

    def reasons(self) -> tuple[str, ...]:
        """Why this service should get no requests now: it is stopping, or what its parts say in their order."""
        if self.stopping:
            return (STOPPING,)
        found = (check() for check in self._checks.values())
        return tuple(reason for reason in found if reason is not None)


HEALTH: ServicePart[Health] = ServicePart("health")

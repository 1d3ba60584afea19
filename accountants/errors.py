"""Errors, as data on which a caller can act.

`EpsilondError` is the base class of all errors. `InvalidInput` is a field, or a pair of fields, that no run can have
(HTTP 422). `NoCertificate` is a well-formed question that no proof answers (HTTP 409). It is `Infeasible` if the target
cannot be met, and `ConditionViolated` if a condition of every applicable proof fails. It is `BeyondBudget` if the work
exceeds the fixed budget, and `RunDiffers` if an observation contradicts the record of a run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from epsilond.accountants.attempts import Attempt, ConditionResult

ALLOWED_WANTED = (
    "is required",
    "is not one of the allowed values",
    "is out of range",
    "must be a number",
    "must be a whole number",
)
"""Beginnings of the fault messages after which the allowed values are shown."""


class EpsilondError(Exception):
    """Base class of every error that this library raises on purpose."""


@dataclass(frozen=True)
class Fault:
    """A fault of a field in a request.

    Attributes:
        pointer: JSON pointer to the field, such as /rounds.
        message: description of the fault, which continues a sentence that begins with the field.
        allowed: description of the allowed values, such as a list of choices or a range; None if there is none.
    """

    pointer: str
    message: str
    allowed: str | None = None

    def __str__(self) -> str:
        """Return the field and the message; the allowed values follow messages that begin as in `ALLOWED_WANTED`."""
        if self.allowed and self.message.startswith(ALLOWED_WANTED):
            return f"{self.pointer}: {self.message} ({self.allowed})"
        return f"{self.pointer}: {self.message}"


class InvalidInput(EpsilondError, ValueError):
    """Error of a request with a field, or a combination of fields, that no run can have.

    It is a `ValueError`, because validators that collect value errors then keep its `faults`.

    Attributes:
        faults: the faults of the fields, at least one.
    """

    def __init__(self, *faults: Fault) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults

    def __reduce__(self) -> tuple[type[InvalidInput], tuple[Fault, ...]]:
        """Return the class and the faults for pickle, which would otherwise pass only the message."""
        return type(self), self.faults

    @classmethod
    def at(cls, pointer: str, message: str, *, allowed: str | None = None) -> InvalidInput:
        """Return the error of a single fault; the caller raises it.

        Args:
            pointer: JSON pointer to the field, such as /rounds.
            message: description of the fault, which continues a sentence that begins with the field.
            allowed: description of the allowed values; None if there is none.
        """
        return cls(Fault(pointer, message, allowed))


class ContradictoryBounds(RuntimeError):
    """Error of this library: a lower bound exceeds the upper bound on the same number by more than rounding.

    It is not an `EpsilondError`, because no request can be the cause.

    Attributes:
        name: name of the bounded number.
        lower: the lower bound.
        upper: the upper bound, which is smaller.
    """

    def __init__(self, name: str, lower: float, upper: float) -> None:
        super().__init__(f"the lower bound {lower!r} on {name} exceeds the upper bound {upper!r}: please report this")
        self.name, self.lower, self.upper = name, lower, upper

    def __reduce__(self) -> tuple[type[ContradictoryBounds], tuple[str, float, float]]:
        """Return the class and its arguments for pickle, which would otherwise pass only the message."""
        return type(self), (self.name, self.lower, self.upper)


@dataclass
class NoCertificate(EpsilondError):
    """Error of a well-formed request for which nothing can be certified.

    Attributes:
        slug: name of the kind of error in HTTP responses.
        message: description of the failure.
        condition: the condition that fails, with the values of both sides; None if no single condition is the cause.
        nearest: values of fields, by name, with which the request would succeed; empty if none is known.
        considered: theorems that were tried, each with the reason why it does not apply.
    """

    slug: ClassVar[str] = "infeasible"
    message: str
    condition: ConditionResult | None = None
    nearest: Mapping[str, float | str] = field(default_factory=dict)
    considered: tuple[Attempt, ...] = ()

    def __str__(self) -> str:
        """Return the message, followed by one line for each theorem that was tried with the reason why it failed."""
        attempts = [f"{attempt.theorem}: {attempt.reason}" for attempt in self.considered]
        return "\n  tried ".join([self.message, *attempts])

    def __reduce__(self) -> tuple[type[NoCertificate], tuple[object, ...]]:
        """Return the class and all fields for pickle, which would otherwise pass only the message."""
        return type(self), (self.message, self.condition, self.nearest, self.considered)


class Infeasible(NoCertificate):
    """The target cannot be met by any value of the parameter that is solved for."""

    slug = "infeasible"


class ConditionViolated(NoCertificate):
    """Error that every theorem for the request has a condition that fails."""

    slug = "condition-violated"


class BeyondBudget(NoCertificate):
    """Error that the work for a request, counted before it starts, exceeds the fixed budget."""

    slug = "beyond-budget"


# Refusals of a ledger ------------------------------------------------------------------------------------------------
class LedgerExhausted(NoCertificate):
    """Error of a request that exceeds the remaining budget of a ledger.

    `nearest` has the largest count and the smallest noise that fit.
    """

    slug = "ledger-exhausted"


class NotInPlan(NoCertificate):
    """Error that a mechanism is neither in the ledger's plan nor proved to be dominated by a planned mechanism."""

    slug = "not-in-plan"


class NotSealed(NoCertificate):
    """Error of a request to a ledger with a block of records without fixed members yet, so that no run may read it."""

    slug = "not-sealed"


class LedgerClosed(NoCertificate):
    """Error of a request to a closed ledger, which accepts no reservations."""

    slug = "ledger-closed"


class ReservationEnded(NoCertificate):
    """Error of a release on a reservation that was cancelled, has expired or is fully committed."""

    slug = "reservation-expired"


# Runs ---------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Observation:
    """Observation in a training run that contradicts an assumption of the run's privacy record.

    Attributes:
        premise: id of the assumption that fails.
        message: description of the observation.
        remedy: change to make in the program, or in the description of the run.
        count: number of times that it was observed; 0 if the number is not disclosed.
    """

    premise: str
    message: str
    remedy: str
    count: int = 1

    def __str__(self) -> str:
        """Return the observation with its count and its remedy, as one line. A count of 0 is not shown."""
        times = f" ({self.count} times)"
        if self.count == 0:
            times = ""
        elif self.count == 1:
            times = " (once)"
        return f"{self.premise}: {self.message}{times}. {self.remedy}"


class RunDiffers(NoCertificate):
    """Error that a training run differs from its privacy record, so that the ε of the record is invalid.

    Args:
        message: introduction of the observations.
        observations: the observed differences.
    """

    slug = "run-differs"

    def __init__(self, message: str, observations: tuple[Observation, ...] = ()) -> None:
        super().__init__(message)
        self.observations = observations

    def __str__(self) -> str:
        """Return the message, followed by one line for each observation."""
        return "\n  ".join([self.message, *map(str, self.observations)])

    def __reduce__(self) -> tuple[type[RunDiffers], tuple[object, ...]]:
        """Return the class and its arguments for pickle, which would otherwise pass only the message."""
        return type(self), (self.message, self.observations)

    @classmethod
    def of(cls, observations: tuple[Observation, ...]) -> RunDiffers:
        """Return the error that lists the given observations."""
        return cls("The run differs from its record, so there is no ε:", observations)


class BlockHasLedger(NoCertificate):
    """Error of a request to open a second ledger for a block of records, which could double the privacy loss."""

    slug = "block-already-has-ledger"


class SamePerson(NoCertificate):
    """A move that a second person must approve, and the person who requested it tries to."""

    slug = "same-person"


class MoveEnded(NoCertificate):
    """Error that a pending change of a ledger was already approved, rejected or withdrawn, or has expired."""

    slug = "move-ended"


class AwaitsApproval(NoCertificate):
    """Error that a request must wait until a second person decides about pending changes of a ledger."""

    slug = "awaits-approval"

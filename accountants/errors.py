"""What can go wrong, as data a caller can act on.

`EpsilondError` is the base of all. `InvalidInput` is a field, or a pair of fields, that no run can have (HTTP 422).
`NoCertificate` is a well-formed question that no proof answers (HTTP 409). It is `Infeasible` if the target cannot be
met, and `ConditionViolated` if a condition of every applicable proof fails. It is `BeyondBudget` if the work exceeds
the fixed budget, and `RunDiffers` if an observation contradicts the record of a run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from epsilond.accountants.attempts import Attempt, ConditionResult

CHOICES_WANTED = ("is required", "is not one of the allowed values")
"""How the messages begin whose reader needs the choices."""


class EpsilondError(Exception):
    """Base of every error this library raises on purpose."""


@dataclass(frozen=True)
class Fault:
    """One fault of one field: a JSON pointer to it, what is wrong, and what is allowed."""

    pointer: str
    message: str
    allowed: str | None = None

    def __str__(self) -> str:
        """Say which field is wrong and why, with the choices of a word that is missing or unknown."""
        choices = f" ({self.allowed})" if self.allowed and self.message.startswith(CHOICES_WANTED) else ""
        return f"{self.pointer}: {self.message}{choices}"


class InvalidInput(EpsilondError, ValueError):
    """A field, or a combination of fields, that no run can have.

    It is a `ValueError`, so that validators which collect value errors keep its `faults`.
    """

    def __init__(self, *faults: Fault) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults

    def __reduce__(self) -> tuple[type[InvalidInput], tuple[Fault, ...]]:
        # Exceptions pickle by `args`, here the message; these cross a process boundary whole.
        return type(self), self.faults

    @classmethod
    def at(cls, pointer: str, message: str, *, allowed: str | None = None) -> InvalidInput:
        """Shorthand for a single fault."""
        return cls(Fault(pointer, message, allowed))


@dataclass
class NoCertificate(EpsilondError):
    """Nothing can be certified. `condition` names what fails, with both sides; `nearest` what would pass.

    `considered` are the theorems that were tried, each with why it does not apply.
    """

    slug: ClassVar[str] = "infeasible"
    message: str
    condition: ConditionResult | None = None
    nearest: Mapping[str, float | str] = field(default_factory=dict)
    considered: tuple[Attempt, ...] = ()

    def __str__(self) -> str:
        return "\n  tried ".join([self.message, *(f"{tried.theorem}: {tried.reason}" for tried in self.considered)])

    def __reduce__(self) -> tuple[type[NoCertificate], tuple[object, ...]]:
        # Exceptions pickle by `args`; these cross a process boundary whole.
        return type(self), (self.message, self.condition, self.nearest, self.considered)


class Infeasible(NoCertificate):
    """The target cannot be met by any value of the parameter that is solved for."""

    slug = "infeasible"


class ConditionViolated(NoCertificate):
    """A condition of every proof that applies fails."""

    slug = "condition-violated"


class BeyondBudget(NoCertificate):
    """The work, counted in cells or nodes before it starts, exceeds the fixed budget."""

    slug = "beyond-budget"


# Refusals of a ledger ------------------------------------------------------------------------------------------------
class LedgerExhausted(NoCertificate):
    """What is left of the ledger does not suffice; `nearest` is the largest count and the smallest noise that do."""

    slug = "ledger-exhausted"


class NotInPlan(NoCertificate):
    """The ledger's plan has no such mechanism, and none that is proved to lose as much or more."""

    slug = "not-in-plan"


class NotSealed(NoCertificate):
    """The membership of the ledger's block is not fixed yet, so nothing may read it."""

    slug = "not-sealed"


class LedgerClosed(NoCertificate):
    """The ledger was closed: nothing more is reserved."""

    slug = "ledger-closed"


class ReservationEnded(NoCertificate):
    """The reservation was cancelled or has expired, or all of it was committed: nothing more may be released on it."""

    slug = "reservation-expired"


# Runs ---------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Observation:
    """An observation that contradicts the record of a run.

    Attributes:
        premise: id of the premise that does not hold.
        message: what was observed.
        remedy: what to change in the program, or what to declare.
        count: how often it was observed; 0 if the number is not disclosed.
    """

    premise: str
    message: str
    remedy: str
    count: int = 1

    def __str__(self) -> str:
        """Return the observation with its count and its remedy, as one line."""
        times = {0: "", 1: " (once)"}.get(self.count, f" ({self.count} times)")
        return f"{self.premise}: {self.message}{times}. {self.remedy}"


class RunDiffers(NoCertificate):
    """The run is not the one that its record describes, so the record's ε is not that of the run."""

    slug = "run-differs"

    def __init__(self, message: str, observations: tuple[Observation, ...] = ()) -> None:
        super().__init__(message)
        self.observations = observations

    def __str__(self) -> str:
        return "\n  ".join([self.message, *map(str, self.observations)])

    def __reduce__(self) -> tuple[type[RunDiffers], tuple[object, ...]]:
        # Exceptions pickle by `args`; these cross a process boundary whole.
        return type(self), (self.message, self.observations)

    @classmethod
    def of(cls, observations: tuple[Observation, ...]) -> RunDiffers:
        """Return the error for these observations."""
        return cls("The run differs from its record, so there is no ε:", observations)


class BlockHasLedger(NoCertificate):
    """The block has a ledger already, perhaps a closed one: a second would double the loss unseen."""

    slug = "block-already-has-ledger"

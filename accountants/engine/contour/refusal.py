"""Why the contour engine declines to answer. The caller then composes on the lattice."""

from __future__ import annotations

from enum import Enum

from epsilond.accountants.errors import EpsilondError


class Reason(Enum):
    """What stood in the way of a certificate."""

    BEYOND_BUDGET = "work beyond the node budget"
    NO_DECAY = "integrand does not decay"
    NO_TILT = "no usable tilt"
    NOT_POSITIVE = "certificate not positive"
    TOO_WIDE = "certificate wider than asked"
    CLOSED_FORM = "delta is known in closed form"
    INCONSISTENT = "evaluations disagree"


class Refused(EpsilondError):
    """No certificate from this engine; nothing is said about the mechanism.

    Attributes:
        reason: one of a fixed set, for the caller to act on.
        detail: the numbers, for a person.
    """

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason.value}: {detail}" if detail else reason.value)
        self.reason = reason
        self.detail = detail

    def __reduce__(self) -> tuple[type[Refused], tuple[Reason, str]]:
        return type(self), (self.reason, self.detail)

"""Reasons for which the contour engine has no certificate. The caller then composes on the lattice."""

from __future__ import annotations

from enum import Enum

from epsilond.accountants.errors import EpsilondError


class RefusalReason(Enum):
    """Reason why numerical inversion of the transform has no certified bounds on δ, with a text for the error."""

    BEYOND_BUDGET = "more nodes than an answer may take"
    NO_DECAY = "integrand does not decay"
    NO_TILT = "no usable tilt"
    NOT_POSITIVE = "certificate not positive"
    TOO_WIDE = "certificate wider than requested"
    INCONSISTENT = "evaluations disagree"


class ContourRefused(EpsilondError):
    """The error raised when numerical inversion of the transform of the total loss gives no certified bounds on δ.

    Another method, such as the lattice of losses, may still have some.

    Attributes:
        reason: the kind of obstacle, by which the caller may choose another method.
        detail: the numbers that exceed a limit, for the error message; may be empty.
    """

    def __init__(self, reason: RefusalReason, detail: str = "") -> None:
        super().__init__(f"{reason.value}: {detail}" if detail else reason.value)
        self.reason, self.detail = reason, detail

    def __reduce__(self) -> tuple[type[ContourRefused], tuple[RefusalReason, str]]:
        return type(self), (self.reason, self.detail)

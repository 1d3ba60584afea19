"""The fields of a risk that replaces a target (ε, δ)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Protocol, get_args

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantity import Checks, Quantity, request
from epsilond.accountants.target import RiskKind, RiskTarget

_INSTEAD = "as the target in place of epsilon"
TARGET_ADVANTAGE = Quantity(
    gt=0, lt=1, description=f"largest advantage of an attacker, true minus false positive rate, {_INSTEAD}"
)
TARGET_TRUE_POSITIVES = Quantity(
    gt=0, lt=1, description=f"largest true positive rate of an attacker at false_positive_rate, {_INSTEAD}"
)
TARGET_FALSE_POSITIVES = Quantity(
    symbol="α", gt=0, lt=1, description="false positive rate at which true_positive_rate limits an attacker"
)
TARGET_MU = Quantity(
    symbol="μ",
    gt=0,
    le=1e4,
    description=f"parameter of Gaussian differential privacy, {_INSTEAD}; √(2ρ) of zCDP's ρ, never the latter",
)
TARGET_RHO = Quantity(
    symbol="ρ", gt=0, le=1e7, unit="nat", description=f"parameter of zero-concentrated differential privacy, {_INSTEAD}"
)
RISKS: tuple[RiskKind, ...] = get_args(RiskKind)
"""Names of the fields that are a target each."""


class _GivesRisk(Protocol):
    """A request with the fields of a risk."""

    @property
    def true_positive_rate(self) -> float | None: ...

    @property
    def false_positive_rate(self) -> float | None: ...


def check_risk(record: _GivesRisk) -> None:
    """Reject several risks, and a true positive rate without a smaller false positive rate.

    Args:
        record: the request.

    Raises:
        InvalidInput: the fields contradict each other.
    """
    kinds = [kind for kind in RISKS if getattr(record, kind) is not None]
    if len(kinds) > 1:
        raise InvalidInput(*(Fault(f"/{name}", f"is one target, and {kinds[0]} is another") for name in kinds[1:]))
    rate, limit = record.false_positive_rate, record.true_positive_rate
    if (rate is None) != (limit is None):
        missing = "false_positive_rate" if rate is None else "true_positive_rate"
        raise InvalidInput.at(f"/{missing}", "is needed: true_positive_rate and false_positive_rate are one target")
    if rate is not None and limit is not None and limit <= rate:
        raise InvalidInput.at("/true_positive_rate", "is attained by a coin", allowed=f"> {rate:g} and < 1")


@request
class RiskTargetFields:
    """A risk as the target, as at most one of advantage, true_positive_rate, gaussian_dp_mu and rho."""

    advantage: Annotated[float | None, TARGET_ADVANTAGE] = None
    true_positive_rate: Annotated[float | None, TARGET_TRUE_POSITIVES] = None
    false_positive_rate: Annotated[float | None, TARGET_FALSE_POSITIVES] = None
    gaussian_dp_mu: Annotated[float | None, TARGET_MU] = None
    rho: Annotated[float | None, TARGET_RHO] = None

    checks: ClassVar[Checks] = (check_risk,)

    @property
    def risk(self) -> RiskTarget | None:
        """The risk that is the target; None if the request gives none."""
        for kind in RISKS:
            bound = getattr(self, kind)
            if bound is not None:
                return RiskTarget(kind, bound, self.false_positive_rate or 0.0)
        return None

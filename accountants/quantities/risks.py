"""The fields of a risk that replaces a target (ε, δ)."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, ClassVar, Protocol, get_args

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities.privacy import ANY_EPSILON, DELTA, LOG10_DELTA
from epsilond.accountants.quantity import Checks, Quantity
from epsilond.accountants.records import request
from epsilond.accountants.target import RiskKind, RiskTarget, Target

_INSTEAD = "in place of epsilon"
TARGET_ADVANTAGE = Quantity(
    gt=0, lt=1, description=f"{_INSTEAD}: largest true minus false positive rate of an attacker"
)
TARGET_TRUE_POSITIVES = Quantity(
    gt=0,
    lt=1,
    description=f"{_INSTEAD}: largest true positive rate of an attacker at false_positive_rate",
)
LEAST_FALSE_POSITIVES = 1e-300
"""Least false positive rate of a request. Near the smallest double, rates have few digits and no relative bounds."""
TARGET_FALSE_POSITIVES = Quantity(
    symbol="α",
    ge=LEAST_FALSE_POSITIVES,
    lt=1,
    description="false positive rate at which true_positive_rate is bounded",
)
TARGET_MU = Quantity(
    symbol="μ",
    gt=0,
    le=1e4,
    description=f"{_INSTEAD}: parameter μ of Gaussian differential privacy; not the ρ of zCDP, for which μ = √(2ρ)",
)
TARGET_RHO = Quantity(
    symbol="ρ",
    gt=0,
    le=1e7,
    unit="nat",
    description=f"{_INSTEAD}: parameter ρ of zero-concentrated differential privacy",
)
RISKS: tuple[RiskKind, ...] = get_args(RiskKind)
"""Names of the fields that are a target each."""
RISK_FIELDS = (*RISKS, "false_positive_rate")
"""Names of all fields of a risk."""


class _GivesRisk(Protocol):
    """A request with the fields of a risk."""

    @property
    def true_positive_rate(self) -> float | None: ...

    @property
    def false_positive_rate(self) -> float | None: ...


def check_risk(record: _GivesRisk) -> None:
    """Reject several risks, and a true positive rate that is not above a false positive rate.

    A risk is a limit on a measure of privacy loss, as a target in place of (ε, δ). A true positive rate is a target
    only together with a false positive rate.

    Args:
        record: a request with the fields of a risk.

    Raises:
        InvalidInput: there are several risks, only one of the two rates, or a true positive rate that is at most the
            false positive rate.
    """
    kinds = [kind for kind in RISKS if getattr(record, kind) is not None]
    if len(kinds) > 1:
        first_kind, *further_kinds = kinds
        raise InvalidInput(
            *(Fault(f"/{kind}", f"is one target, and {first_kind} is another") for kind in further_kinds)
        )

    rate, limit = record.false_positive_rate, record.true_positive_rate
    if (rate is None) != (limit is None):
        missing = "false_positive_rate" if rate is None else "true_positive_rate"
        raise InvalidInput.at(f"/{missing}", "is needed: true_positive_rate and false_positive_rate are one target")
    # Guessing without the output has equal rates.
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


def check_target(record: TargetFields) -> None:
    """Require exactly one of epsilon and a risk, and a single δ where epsilon is given.

    A risk is a limit on a measure of privacy loss, as a target in place of (ε, δ).

    Args:
        record: a request with a target.

    Raises:
        InvalidInput: no target is given, or several; or δ is absent or given twice.
    """
    risk = record.risk
    if record.epsilon is not None and risk is not None:
        raise InvalidInput.at("/epsilon", f"is one target, and {risk.kind} is another")
    if record.epsilon is None and risk is None:
        # Some request classes have no fields for some risks.
        field_names = {field.name for field in fields(record)}
        names = [name for name in RISKS if name in field_names]
        instead = f", or one of {', '.join(names)} in its place" if names else ""
        raise InvalidInput.at("/epsilon", f"is required{instead}")
    _ = record.target  # checks δ


@request
class TargetFields(RiskTargetFields):
    """The target of a calibration: ε at a δ, or a risk in place of ε.

    Give `epsilon` with exactly one of `delta` and `log10_delta`; `epsilon` may be 0. With a risk, δ is where ε is read
    off the certified curve, 1e-5 by default.
    """

    epsilon: Annotated[float | None, ANY_EPSILON] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None

    checks: ClassVar[Checks] = (check_target,)

    @property
    def target(self) -> Target:
        """The requested (ε, δ), or the requested risk."""
        risk = self.risk
        if risk is not None:
            return Target.of_risk(risk, self.delta, self.log10_delta)
        return Target.of(self.epsilon or 0.0, self.delta, self.log10_delta)


@request
class PointTargets:
    """The mark of a request without the risks of the whole curve, as its algorithm decides δ at single values of ε.

    It comes first among the base classes, and replaces the fields of such risks by constants.
    """

    gaussian_dp_mu: ClassVar[None] = None
    rho: ClassVar[None] = None


def require_positive(record: TargetFields) -> None:
    """Reject ε = 0 in a request with an answer that is computed by a division by ε.

    Args:
        record: the request.

    Raises:
        InvalidInput: ε is 0.
    """
    if record.epsilon == 0.0:
        raise InvalidInput.at("/epsilon", "is out of range for bounds on the risk, which divide by ε", allowed="> 0")


@request
class PairTarget(PointTargets):
    """The mark of a request for bounds that are stated for (ε, δ) with ε > 0. It replaces the fields of all risks."""

    advantage: ClassVar[None] = None
    true_positive_rate: ClassVar[None] = None
    false_positive_rate: ClassVar[None] = None

    checks: ClassVar[Checks] = (require_positive,)

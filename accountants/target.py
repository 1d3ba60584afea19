"""The requested δ, exactly, and the requested (ε, δ).

A logarithm of δ has fewer digits than δ: many neighbouring doubles share one logarithm. If a guarantee states its δ
exactly, as an (ε, δ) guarantee at its own δ does, the two numbers are therefore compared without logarithms.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Literal, Protocol, TypeAlias

from epsilond.accountants.errors import InvalidInput

_FLOOR_CONTEXT = Context(prec=50, Emin=-(10**9), Emax=10**9, rounding=ROUND_FLOOR)
"""Decimal arithmetic with 50 digits, rounded down."""
_BELOW_ONE = 1 - Fraction(1, 10**45)
"""Factor that makes a power, which is correct to a unit of its fiftieth digit, a lower bound."""
_LEAST_LOG = -10_000.0
"""log10 δ or log δ below which a power is not computed, and 0 is the lower bound on δ."""


class LogDelta(float):
    """Natural logarithm of a δ that also stores δ, or log10 δ, as it was given.

    The logarithm is accurate to about a unit in the last place. But many neighbouring doubles δ have the same double as
    logarithm, so exact comparisons use `lower_bound`. Arithmetic and equality are those of a plain float.
    """

    _delta: float | None = None
    _log10_delta: float | None = None

    @cached_property
    def lower_bound(self) -> Fraction:
        """The δ itself if it was given as a double. Otherwise a lower bound on it, with a relative error below 1e-40.

        The bound is 0 if log10 δ is -10 000 or less, or if neither δ nor log10 δ was given.
        """
        if self._delta is not None:
            return Fraction(*self._delta.as_integer_ratio())
        if self._log10_delta is not None and self._log10_delta > _LEAST_LOG:
            power = _FLOOR_CONTEXT.power(Decimal(10), Decimal(self._log10_delta))
            return Fraction(power) * _BELOW_ONE
        return Fraction(0)

    @classmethod
    def of_delta(cls, delta: float) -> LogDelta:
        """Return the natural logarithm of a δ that is a double.

        Args:
            delta: δ in (0, 1).

        Returns:
            The logarithm, which also stores δ itself.
        """
        log_delta = cls(math.log(delta))
        log_delta._delta = delta
        return log_delta

    @classmethod
    def of_log10(cls, log10_delta: float) -> LogDelta:
        """Return the natural logarithm of a δ that is given as a base-10 logarithm.

        Args:
            log10_delta: log10 δ, below 0.

        Returns:
            The natural logarithm, which also stores log10 δ.
        """
        log_delta = cls(log10_delta * math.log(10.0))
        log_delta._log10_delta = log10_delta
        return log_delta


def asks_for(log_delta: float, delta: Fraction) -> bool:
    """Return whether the requested δ is certainly at least a given rational number.

    The comparison is exact if the requested δ was given as a double. Otherwise it uses a lower bound on that δ within a
    relative 1e-40, or 0 if log δ (or the given log10 δ) is -10 000 or less.

    Args:
        log_delta: natural logarithm of the requested δ, a `LogDelta` or any float.
        delta: the number to compare with, at least 0.

    Returns:
        True if the requested δ is at least the number; False if it is smaller, or too close to decide.
    """
    if isinstance(log_delta, LogDelta):
        return delta <= log_delta.lower_bound
    if log_delta >= 0.0:
        return True
    if not log_delta > _LEAST_LOG:
        return False
    power = _FLOOR_CONTEXT.exp(Decimal(log_delta))
    return delta <= Fraction(power) * _BELOW_ONE


class _GivesDelta(Protocol):
    """Request with two fields for δ, of which one is given."""

    @property
    def delta(self) -> float | None: ...

    @property
    def log10_delta(self) -> float | None: ...


def check_delta(record: _GivesDelta) -> None:
    """Reject a request that gives both delta and log10_delta, or neither.

    Raises:
        InvalidInput: both or neither are given.
    """
    natural_log_delta(record.delta, record.log10_delta)


def natural_log_delta(delta: float | None, log10_delta: float | None) -> float:
    """Return ln δ from a request that gives exactly one of δ and log10 δ.

    Args:
        delta: δ in (0, 1), or None.
        log10_delta: log10 δ < 0, or None.

    Returns:
        The natural logarithm, which also stores the given number.

    Raises:
        InvalidInput: both or neither are given.
    """
    if (delta is None) == (log10_delta is None):
        raise InvalidInput.at("/delta", "give exactly one of delta and log10_delta")
    return LogDelta.of_delta(delta) if delta is not None else LogDelta.of_log10(log10_delta or 0.0)


_log_delta = functools.lru_cache(maxsize=64)(natural_log_delta)
"""`natural_log_delta` with a cache, because thousands of runs are compared under one target."""


ASSUMED_DELTA = 1e-5
"""δ at which ε is given if a risk is the target and no δ is requested."""
_HALVINGS = 60
"""Number of bisections for the ε of a Gaussian pair. They divide the width of the bracket by 2^60, about 1e18."""

RiskKind: TypeAlias = Literal["advantage", "true_positive_rate", "gaussian_dp_mu", "rho"]
"""Figure of a privacy curve that a target limits."""


@dataclass(frozen=True)
class RiskTarget:
    """Limit on one measure of privacy loss, as a target in place of (ε, δ).

    Attributes:
        kind: the measure. It is an attacker's advantage, an attacker's true positive rate at a false positive rate, the
            μ of Gaussian, or the ρ of zero-concentrated differential privacy.
        bound: largest allowed value of the measure.
        false_positive_rate: false positive rate of `true_positive_rate`, in (0, 1); 0 for the other kinds.
    """

    kind: RiskKind
    bound: float
    false_positive_rate: float = 0.0

    @property
    def members(self) -> dict[str, float]:
        """The risk as fields of a request or an answer, by name."""
        members: dict[str, float] = {self.kind: self.bound}
        if self.kind == "true_positive_rate":
            members["false_positive_rate"] = self.false_positive_rate
        return members

    @property
    def gaussian_mu(self) -> float:
        """The μ at which N(μ, 1) against N(0, 1) has exactly this risk, up to rounding.

        This pair has the advantage 2 Φ(μ/2) − 1, the true positive rate Φ(Φ⁻¹(α) + μ) at the false positive rate α, and
        ρ = μ²/2.
        """
        from scipy.special import erfinv, ndtri  # noqa: PLC0415  the help of commands imports this module, and no SciPy

        if self.kind == "advantage":
            # 2 Φ⁻¹((1 + a)/2) = 2 √2 erf⁻¹(a) for the advantage a. The sum 1 + a would lose digits of a small a.
            return 2.0 * math.sqrt(2.0) * float(erfinv(self.bound))
        if self.kind == "true_positive_rate":
            return float(ndtri(self.bound) - ndtri(self.false_positive_rate))
        if self.kind == "rho":
            return math.sqrt(2.0 * self.bound)
        return self.bound

    def gaussian_epsilon(self, log_delta: float) -> float:
        """Estimate the ε at a given δ of the Gaussian mechanism that has exactly this risk.

        Its δ(ε) decreases, so ε is computed by bisection.

        Args:
            log_delta: natural logarithm of the δ.

        Returns:
            ε in nats, at least 0.
        """
        from epsilond.accountants.numerics.special import log_theta  # noqa: PLC0415  as above

        mu = self.gaussian_mu
        log_delta_at_zero = log_theta(0.0, mu)
        if log_delta_at_zero <= log_delta:
            return 0.0

        # The privacy loss is N(μ²/2, μ²). It exceeds μ (μ + √(−2 log δ)) with a probability below δ, which bounds ε.
        tail_quantile = math.sqrt(max(-2.0 * log_delta, 0.0))
        low, high = 0.0, mu * (mu + tail_quantile)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if log_theta(middle, mu) > log_delta:
                low = middle
            else:
                high = middle
        return high


@dataclass(frozen=True)
class Target:
    """Target of a calibration: an (ε, δ), or a limit on a risk.

    Attributes:
        epsilon: requested ε, in nats. If a risk is the target: ε of the Gaussian pair N(μ, 1) against N(0, 1) with
            exactly this risk.
        log_delta: natural logarithm of the requested δ, at which ε is stated.
        given_delta: δ as it was given; None if it was given as a logarithm.
        risk: the limit in place of (ε, δ); None if (ε, δ) is the target.
    """

    epsilon: float
    log_delta: float
    given_delta: float | None = None
    risk: RiskTarget | None = None

    @classmethod
    def of(cls, epsilon: float, delta: float | None, log10_delta: float | None) -> Target:
        """Return the target of a request that gives exactly one of delta and log10_delta.

        Args:
            epsilon: ε, in nats.
            delta: δ in (0, 1); None if `log10_delta` is given.
            log10_delta: base-10 logarithm of δ; None if `delta` is given.

        Raises:
            InvalidInput: both or neither of `delta` and `log10_delta` are given.
        """
        return cls(epsilon, _log_delta(delta, log10_delta), delta)

    @classmethod
    def of_risk(cls, risk: RiskTarget, delta: float | None, log10_delta: float | None) -> Target:
        """Return the target of a request that limits a risk.

        Its ε at δ is that of the pair N(μ, 1) against N(0, 1) with exactly this risk, from which searches start.

        Args:
            risk: the limit on a measure of privacy loss.
            delta: δ at which the answer states ε, in (0, 1). It is `ASSUMED_DELTA` if both δ and log10 δ are None.
            log10_delta: base-10 logarithm of this δ; None if `delta` is given.

        Returns:
            The target, with the risk, ε in nats, and the natural logarithm of δ.

        Raises:
            InvalidInput: both `delta` and `log10_delta` are given.
        """
        if delta is None and log10_delta is None:
            delta = ASSUMED_DELTA
        return _target_of_risk(risk, delta, log10_delta)

    @property
    def log10_delta(self) -> float:
        """Base-10 logarithm of δ, from δ itself if it was given."""
        if self.given_delta:
            return math.log10(self.given_delta)
        return self.log_delta / math.log(10.0)

    @property
    def delta(self) -> float | None:
        """δ as a double; None if it is below every normal double."""
        if self.given_delta is not None:
            return self.given_delta
        least_log = -708.0  # the exponential of a number below −708.4 is not a normal double
        return math.exp(self.log_delta) if self.log_delta > least_log else None


@functools.lru_cache(maxsize=64)
def _target_of_risk(risk: RiskTarget, delta: float | None, log10_delta: float | None) -> Target:
    """Return the target with a risk, and with the ε at δ of the Gaussian pair that has exactly this risk.

    Results are stored, because many runs are compared under one target.

    Args:
        risk: the limit on a measure of privacy loss.
        delta: δ at which ε is stated, in (0, 1); None if `log10_delta` is given.
        log10_delta: base-10 logarithm of this δ; None if `delta` is given.

    Returns:
        The target, with the risk, ε in nats, and the natural logarithm of δ.

    Raises:
        InvalidInput: both or neither of `delta` and `log10_delta` are given.
    """
    log_delta = _log_delta(delta, log10_delta)
    return Target(risk.gaussian_epsilon(log_delta), log_delta, delta, risk)

"""The requested δ, exactly, and the requested (ε, δ).

A logarithm of δ has fewer digits than δ has: many neighbouring doubles share one. Where a guarantee states its δ
exactly, such as an (ε, δ) guarantee asked at its own δ, the two numbers are therefore compared themselves.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from epsilond.accountants.errors import InvalidInput

_DIGITS = Context(prec=50, Emin=-(10**9), Emax=10**9, rounding=ROUND_FLOOR)
_SHORT_OF = 1 - Fraction(1, 10**45)
"""Powers to fifty digits are within a unit of the last one."""
_DEEPEST = -10_000.0


class LogDelta(float):
    """The natural logarithm of a δ, to a unit in the last place, and a rational number that is at most that δ.

    It is a float like any other: arithmetic gives plain floats. Two of them are equal if their logarithms are.
    """

    _delta: float | None = None
    _log10_delta: float | None = None

    @cached_property
    def least(self) -> Fraction:
        """The δ itself where it was given as a double, else a number below it by less than 1e-40 of it.

        Zero where nothing is known.
        """
        if self._delta is not None:
            return Fraction(*self._delta.as_integer_ratio())
        if self._log10_delta is not None and self._log10_delta > _DEEPEST:
            return Fraction(_DIGITS.power(Decimal(10), Decimal(self._log10_delta))) * _SHORT_OF
        return Fraction(0)

    @classmethod
    def of_delta(cls, delta: float) -> LogDelta:
        """Of a δ given as a double, 0 < δ < 1."""
        made = cls(math.log(delta))
        made._delta = delta
        return made

    @classmethod
    def of_log10(cls, log10_delta: float) -> LogDelta:
        """Of a δ given as log10 δ < 0."""
        made = cls(log10_delta * math.log(10.0))
        made._log10_delta = log10_delta
        return made


def asks_for(log_delta: float, delta: Fraction) -> bool:
    """Whether the δ that is asked for is at least the rational number `delta`; false if they are closer than 1e-40.

    A plain float stands for its exponential. What is asked as a double is compared exactly.
    """
    if isinstance(log_delta, LogDelta):
        return delta <= log_delta.least
    if not _DEEPEST < log_delta < 0.0:
        return log_delta >= 0.0
    return delta <= Fraction(_DIGITS.exp(Decimal(log_delta))) * _SHORT_OF


class _GivesDelta(Protocol):
    """A request that gives δ by one of two fields."""

    @property
    def delta(self) -> float | None: ...

    @property
    def log10_delta(self) -> float | None: ...


def check_delta(record: _GivesDelta) -> None:
    """Reject a request that gives both of delta and log10_delta, or neither.

    Raises:
        InvalidInput: both or neither are given.
    """
    natural_log_delta(record.delta, record.log10_delta)


def natural_log_delta(delta: float | None, log10_delta: float | None) -> float:
    """ln δ from a request that gives exactly one of delta and log10_delta, with what was given.

    Raises:
        InvalidInput: both or neither are given.
    """
    if (delta is None) == (log10_delta is None):
        raise InvalidInput.at("/delta", "give exactly one of delta and log10_delta")
    return LogDelta.of_delta(delta) if delta is not None else LogDelta.of_log10(log10_delta or 0.0)


_log_delta = functools.lru_cache(maxsize=64)(natural_log_delta)
"""Natural logarithm of a requested δ; thousands of runs are compared under one target."""


@dataclass(frozen=True)
class Target:
    """The requested (ε, δ). δ is kept as a natural logarithm, and as it was given where it was."""

    epsilon: float
    log_delta: float
    given_delta: float | None = None

    @classmethod
    def of(cls, epsilon: float, delta: float | None, log10_delta: float | None) -> Target:
        """Return the target of a request that gives exactly one of delta and log10_delta.

        Raises:
            InvalidInput: both or neither are given.
        """
        return cls(epsilon, _log_delta(delta, log10_delta), delta)

    @property
    def log10_delta(self) -> float:
        """log10 δ."""
        return math.log10(self.given_delta) if self.given_delta else self.log_delta / math.log(10.0)

    @property
    def delta(self) -> float | None:
        """δ as a double, None where it is below every normal one."""
        if self.given_delta is not None:
            return self.given_delta
        return math.exp(self.log_delta) if self.log_delta > -708.0 else None

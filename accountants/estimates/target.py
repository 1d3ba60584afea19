"""The (ε, δ) that a noise should meet."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from epsilond.accountants.log_delta import natural_log_delta

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

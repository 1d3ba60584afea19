"""What is known of the Rényi divergences of a pair: by a formula, by ρ of zero-concentrated privacy, or by a table."""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF


class RenyiFormula(Protocol):
    """Bounds on the Rényi divergences of a pair at every order, which hold in both directions."""

    @property
    def rho(self) -> float:
        """A ρ with D_a ≤ ρ a at every order a > 1; math.inf if none is known."""

    def divergence(self, order: float) -> Interval:
        """Return bounds on D_a: an upper one in both directions, a lower one for the first against the second.

        Args:
            order: order a > 1.
        """


WholeFormulas: TypeAlias = tuple[tuple[RenyiFormula, int], ...]
"""Formulas of the parts of a product, each with its number of runs."""


@dataclass(frozen=True)
class Concentrated:
    """ρ-zCDP given an event that has probability S under both distributions, and an infinite loss outside the event.

    Attributes:
        rho: ρ ≥ 0.
        log_survival: log S.
        log_escape: upper bound on log(1 − S).
        whole: formulas for the divergences without the event, each with its number of runs; empty if none are known.
    """

    rho: float
    log_survival: float = 0.0
    log_escape: float = -math.inf
    whole: WholeFormulas = ()

    @property
    def whole_is_known(self) -> bool:
        """True if the divergences of all outcomes have bounds, with those outside the event."""
        return self.log_escape == -math.inf or bool(self.whole)


@dataclass(frozen=True)
class WholeRenyi:
    """Divergences of all outcomes of a concentrated pair, with those outside its event.

    Attributes:
        part: the concentrated pair.
    """

    part: Concentrated

    @property
    def rho(self) -> float:
        """A ρ with D_a ≤ ρ a at every order a > 1; math.inf if none is known."""
        if self.part.log_escape == -math.inf:
            return self.part.rho
        terms = [times * formula.rho for formula, times in self.part.whole]
        return math.fsum(terms) * (1.0 + 4 * UNIT_ROUNDOFF) if terms else math.inf

    def divergence(self, order: float) -> Interval:
        """Return an upper bound on D_a, and 0.

        Args:
            order: order a > 1.
        """
        if self.part.log_escape == -math.inf:
            return Interval(0.0, self.part.rho * order * (1.0 + 4 * UNIT_ROUNDOFF))
        terms = [times * formula.divergence(order).upper for formula, times in self.part.whole]
        return Interval(0.0, math.fsum(terms) * (1.0 + 4 * UNIT_ROUNDOFF) if terms else math.inf)


@dataclass(frozen=True)
class RenyiBounds:
    """Upper bounds on the Rényi divergences of both directions of a pair, at finitely many orders.

    Attributes:
        orders: increasing orders, each above 1.
        divergences: bound at each order, in nats, at least 0.
    """

    orders: tuple[float, ...]
    divergences: tuple[float, ...]

    @cached_property
    def _least_from(self) -> tuple[float, ...]:
        """The least bound at each order and all larger ones."""
        return tuple(itertools.accumulate(reversed(self.divergences), min))[::-1]

    def at(self, order: float) -> float:
        """Return a bound at any order: the least of this order and larger ones, because divergences increase."""
        index = bisect.bisect_left(self.orders, order)
        return self._least_from[index] if index < len(self.orders) else math.inf

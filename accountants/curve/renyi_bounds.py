"""Facts about the Rényi divergences of a pair: a formula, ρ of zero-concentrated privacy, or a table of orders."""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

_ROUNDED = 1.0 + 8 * UNIT_ROUNDOFF
"""Factor above the rounding of a sum, and of a product of three factors."""


class RenyiFormula(Protocol):
    """Interface of bounds on the Rényi divergences of a pair (P, Q) of output distributions, at every order.

    P and Q are the outputs on two neighbouring data sets. Rényi divergences add up over the steps of a composition, and
    bound its δ. Upper bounds hold for D(P‖Q) and for D(Q‖P).
    """

    @property
    def rho(self) -> float:
        """A number ρ such that the Rényi divergence of every order a > 1 is at most ρ a; math.inf if none is known."""

    def divergence(self, order: float) -> Interval:
        """Return bounds on the Rényi divergence D_a of order a, in nats.

        Args:
            order: order a > 1.

        Returns:
            An upper bound on D_a(P‖Q) and D_a(Q‖P), and a lower bound on D_a(P‖Q).
        """


WholeFormulas: TypeAlias = tuple[tuple[RenyiFormula, int], ...]
"""Formulas for the divergences of the parts of a product, each with its number of runs."""


@dataclass(frozen=True)
class Concentrated:
    """Zero-concentrated privacy of a pair of distributions, given an event.

    Given the event, the Rényi divergence D_a is at most ρ a at every order a > 1. The event has the probability S under
    both distributions. Outcomes outside it have an infinite privacy loss.

    Attributes:
        rho: ρ ≥ 0.
        log_survival: log S, natural logarithm.
        log_escape: upper bound on log(1 − S); −∞ if the event is certain.
        summands: formulas for the divergences of all outcomes, not given the event, each with its number of runs; empty
            if none are known.
    """

    rho: float
    log_survival: float = 0.0
    log_escape: float = -math.inf
    summands: WholeFormulas = ()

    @property
    def formula(self) -> RenyiFormula | None:
        """Bounds on the divergences of all outcomes, not given the event; None if none are known."""
        if self.log_escape == -math.inf:
            return ConcentratedRenyi(self.rho)
        return SumRenyi(self.summands) if self.summands else None


@dataclass(frozen=True)
class SumRenyi:
    """The Rényi divergences of a composition, as sums over its parts.

    Attributes:
        parts: formulas for the divergences of the parts, each with its number of runs.
    """

    parts: WholeFormulas

    @property
    def rho(self) -> float:
        """A number ρ such that the Rényi divergence of every order a > 1 is at most ρ a; math.inf if none is known."""
        return math.fsum(times * formula.rho for formula, times in self.parts) * _ROUNDED

    def divergence(self, order: float) -> Interval:
        """Return bounds on the Rényi divergence of order a of a composition, by the sums of the parts' bounds.

        Args:
            order: order a > 1.

        Returns:
            Lower and upper bounds in nats, rounded outward.
        """
        bounds = [(formula.divergence(order), times) for formula, times in self.parts]
        lower = math.fsum(times * bound.lower for bound, times in bounds)
        upper = math.fsum(times * bound.upper for bound, times in bounds)
        return Interval(lower / _ROUNDED, upper * _ROUNDED)


@dataclass(frozen=True)
class ConcentratedRenyi:
    """Upper bounds ρ a on the Rényi divergences of every order a, from ρ-zero-concentrated privacy.

    Attributes:
        rho: ρ ≥ 0.
    """

    rho: float

    def divergence(self, order: float) -> Interval:
        """Return bounds on the Rényi divergence of order a: 0 and ρ a, rounded up.

        Args:
            order: order a > 1.

        Returns:
            Lower and upper bound, in nats.
        """
        return Interval(0.0, self.rho * order * _ROUNDED)


@dataclass(frozen=True)
class RenyiBounds:
    """A table of upper bounds on the Rényi divergences of two distributions, in both directions and at some orders.

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
        """Return the least bound of the table at an order or above it, because divergences increase; else math.inf."""
        index = bisect.bisect_left(self.orders, order)
        return self._least_from[index] if index < len(self.orders) else math.inf

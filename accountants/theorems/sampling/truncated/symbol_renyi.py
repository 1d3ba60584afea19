"""Rényi divergences of pairs that show a public symbol, where the pair of each symbol has a formula.

With the symbol i, of probabilities w_i and v_i, the pair is (P_i, Q_i). Then e^{(a − 1) D_a} is the sum of
w_i^a v_i^{1 − a} e^{(a − 1) D_a(P_i‖Q_i)}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import BeyondBudget
from epsilond.accountants.numerics.renyi_divergence import shifted_gaussian_renyi
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF


class ShownSymbol(NamedTuple):
    """A public symbol, with the contribution that may be in the batch.

    Attributes:
        log_p: log-probability of the symbol under the first distribution.
        log_q: log-probability under the second distribution.
        rate: probability that the contribution is in the batch; 0 for two equal distributions.
        shift: its norm, in standard deviations of the noise.
    """

    log_p: float
    log_q: float
    rate: float
    shift: float


@dataclass(frozen=True)
class SymbolRenyi:
    """Divergences of a pair that shows a symbol.

    Attributes:
        symbols: the symbols.
        is_replaced: whether the contribution is replaced by its opposite, instead of added.
        distance: a distance of the means at which the Gaussian pair dominates the mechanism, in standard deviations.
        margin: bound on the error of each log-probability.
    """

    symbols: tuple[ShownSymbol, ...]
    is_replaced: bool
    distance: float
    margin: float

    @property
    def rho(self) -> float:
        """d²/2, of the dominating Gaussian pair."""
        return 0.5 * self.distance * self.distance * (1.0 + 8 * UNIT_ROUNDOFF)

    def divergence(self, order: float) -> Interval:
        """Return an upper bound on D_a in both directions, and 0.

        Args:
            order: order a > 1.
        """
        most = order * self.rho * (1.0 + 8 * UNIT_ROUNDOFF)
        shown = [symbol for symbol in self.symbols if max(symbol.log_p, symbol.log_q) > -math.inf]
        divergences = [self._divergence_of(symbol, order) for symbol in shown]
        logs = [(symbol.log_p, symbol.log_q) for symbol in shown]
        totals = [self._total(pairs, divergences, order) for pairs in (logs, [(q, p) for p, q in logs])]
        return Interval(0.0, min(max(totals), most))

    def _total(self, logs: list[tuple[float, float]], divergences: list[float], order: float) -> float:
        """Return D_a of one direction from the divergences of the symbols, rounded up.

        Args:
            logs: log-probabilities of the symbols under the first and under the second distribution.
            divergences: divergences of the pairs of the symbols.
            order: order a.
        """
        terms = [
            (order * first, -(order - 1.0) * second, (order - 1.0) * divergence)
            for (first, second), divergence in zip(logs, divergences, strict=True)
        ]
        size = max(sum(map(abs, term)) for term in terms)
        log_moment = float(np.logaddexp.reduce([math.fsum(term) for term in terms]))
        slack = 2.0 * order * self.margin + 64 * UNIT_ROUNDOFF * (1.0 + size)
        return (max(log_moment, 0.0) + slack) / (order - 1.0)

    def _divergence_of(self, symbol: ShownSymbol, order: float) -> float:
        """Return an upper bound on D_a of the pair of a symbol, in both directions.

        Args:
            symbol: the symbol.
            order: order a.
        """
        if symbol.rate == 0.0 or symbol.shift == 0.0:
            return 0.0
        distance = 2.0 * symbol.shift if self.is_replaced else symbol.shift
        public = 0.5 * order * distance * distance * (1.0 + 8 * UNIT_ROUNDOFF)
        try:
            removed = shifted_gaussian_renyi(order=order, rate=symbol.rate, shift=symbol.shift).upper
        except BeyondBudget:
            return public
        # If it is replaced, the second distribution is at least 1 − q times the noise without a contribution.
        absent = -math.log1p(-symbol.rate) if symbol.rate < 1.0 else math.inf
        return min(removed + absent * (1.0 + 8 * UNIT_ROUNDOFF) if self.is_replaced else removed, public)

"""Rényi divergences of pairs that show a public symbol, where the pair of each symbol has a formula.

The symbol i has the probabilities w_i and v_i under the two distributions, and shows the pair (P_i, Q_i). Then
e^{(a − 1) D_a} is the sum of w_i^a v_i^{1 − a} e^{(a − 1) D_a(P_i‖Q_i)} over the symbols.
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
    """A public outcome (symbol) of a sampled Gaussian mechanism, and the two distributions of its output given it.

    Given the symbol, the first distribution is a noisy sum that includes a record's contribution with some probability.
    In the second one the contribution is missing, or has the opposite sign.

    Attributes:
        log_p: log-probability of the symbol under the first distribution.
        log_q: log-probability of the symbol under the second distribution.
        rate: probability that the contribution is in the batch; 0 for two equal distributions.
        shift: norm of the contribution, in standard deviations of the noise.
    """

    log_p: float
    log_q: float
    rate: float
    shift: float


@dataclass(frozen=True)
class SymbolRenyi:
    """Upper bounds on the Rényi divergences of a sampled Gaussian mechanism that publishes a random symbol.

    Attributes:
        symbols: the symbols, with the contribution of the record given each.
        is_replaced: whether the contribution is replaced by its opposite, instead of added.
        distance: distance of the means of two Gaussians that dominate the mechanism without any sampling, in standard
            deviations.
        margin: bound on the error of each log-probability, in nats.
    """

    symbols: tuple[ShownSymbol, ...]
    is_replaced: bool
    distance: float
    margin: float

    @property
    def rho(self) -> float:
        """Parameter d²/2 of zCDP of the dominating Gaussian pair with the distance d of its means, rounded up."""
        return 0.5 * self.distance * self.distance * (1.0 + 8 * UNIT_ROUNDOFF)

    def divergence(self, order: float) -> Interval:
        """Return bounds on the Rényi divergence of a given order, valid in both directions.

        Args:
            order: order a > 1 of the divergence.

        Returns:
            The bounds, in nats. The lower one is 0. The upper one is at most the divergence a d²/2 of two Gaussians at
            the distance d (`distance`).
        """
        most = order * self.rho * (1.0 + 8 * UNIT_ROUNDOFF)
        # Symbols of probability 0 under both distributions have no effect.
        shown = [symbol for symbol in self.symbols if max(symbol.log_p, symbol.log_q) > -math.inf]
        divergences = [self._divergence_of(symbol, order) for symbol in shown]
        forward_logs = [(symbol.log_p, symbol.log_q) for symbol in shown]
        backward_logs = [(symbol.log_q, symbol.log_p) for symbol in shown]
        forward = self._total(forward_logs, divergences, order)
        backward = self._total(backward_logs, divergences, order)
        return Interval(0.0, min(max(forward, backward), most))

    def _total(self, logs: list[tuple[float, float]], divergences: list[float], order: float) -> float:
        """Combine the Rényi divergences given each public symbol into an upper bound on that of the mechanism.

        A symbol of the probabilities p and q, given which the divergence is D, adds a term to the moment:

            e^{(a − 1) D_total} = Σ p^a q^{1 − a} e^{(a − 1) D}.

        Args:
            logs: for each symbol log p and log q, its log-probabilities under the first and the second distribution.
            divergences: for each symbol an upper bound on D, the divergence of order a given the symbol.
            order: order a > 1.

        Returns:
            The upper bound on D_total, in nats.
        """
        log_terms = [
            (order * log_p, -(order - 1.0) * log_q, (order - 1.0) * divergence)
            for (log_p, log_q), divergence in zip(logs, divergences, strict=True)
        ]  # the logarithms of the three factors of each term
        log_moment = float(np.logaddexp.reduce([math.fsum(parts) for parts in log_terms]))
        magnitude = max(sum(map(abs, parts)) for parts in log_terms)
        # The errors of the log probabilities count with the factors a and a − 1. The rest is for rounding.
        slack = 2.0 * order * self.margin + 64 * UNIT_ROUNDOFF * (1.0 + magnitude)
        return (max(log_moment, 0.0) + slack) / (order - 1.0)

    def _divergence_of(self, symbol: ShownSymbol, order: float) -> float:
        """Return an upper bound on the Rényi divergence of the two distributions given a symbol, in both directions.

        Args:
            symbol: a public random outcome, such as whether the batch is full, with the record's contribution given it.
            order: order a > 1 of the divergence.

        Returns:
            The smaller of two bounds, in nats: with and without amplification by the random inclusion of the record.
        """
        if symbol.rate == 0.0 or symbol.shift == 0.0:
            return 0.0
        # Without amplification: the divergence of two Gaussians, rounded up.
        distance = 2.0 * symbol.shift if self.is_replaced else symbol.shift
        public = 0.5 * order * distance * distance * (1.0 + 8 * UNIT_ROUNDOFF)

        # With amplification: the divergence from the noise without any contribution.
        try:
            removed = shifted_gaussian_renyi(order=order, rate=symbol.rate, shift=symbol.shift).upper
        except BeyondBudget:
            return public
        if not self.is_replaced:
            return min(removed, public)

        # The second distribution is at least 1 − q times that noise, so the divergence grows by at most −log(1 − q).
        log_inverse_absence = math.inf
        if symbol.rate < 1.0:
            log_inverse_absence = -math.log1p(-symbol.rate)
        return min(removed + log_inverse_absence * (1.0 + 8 * UNIT_ROUNDOFF), public)

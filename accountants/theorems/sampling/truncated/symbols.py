"""Profiles of pairs that show a public symbol. Its probability may differ between both distributions.

The symbol i has the probabilities w_i and v_i under the two distributions, and shows the pair (P_i, Q_i). The
hockey-stick divergence E_α is then Σ w_i E_γ(P_i‖Q_i) at γ = α v_i/w_i.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.mixed_sums import log_sums
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_difference
from epsilond.accountants.profiles.attained_tails import attained_or_own_tails

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


@dataclass(frozen=True)
class Symbol:
    """A public outcome (symbol) of a mechanism, and the two distributions of its other output given the symbol.

    Attributes:
        log_p: natural log of the symbol's probability under the first distribution.
        log_q: natural log of its probability under the second distribution.
        pair: the two distributions of the other output, given the symbol; None if they are equal.
        is_shared: whether both probabilities are exactly equal. Equal doubles do not show this, as both have errors.
    """

    log_p: float
    log_q: float
    pair: Pair | None
    is_shared: bool


@dataclass(frozen=True)
class SymbolProfile(Profile):
    """The privacy profile of a mechanism that publishes a random symbol i and an output that depends on it.

    Symbol i has the probability w_i on the first data set and v_i on the second one. Given it, the output has the
    distribution P_i or Q_i. With α = e^ε the profile is Σ w_i E_γ(P_i‖Q_i), where γ = α v_i/w_i and E_γ is the
    hockey-stick divergence. It has an allowance for errors of the probabilities. Let H' be the profile for computed
    probabilities, each within a factor e^η of the true one. The true first distribution is at most e^η times the
    computed one, and the true second one is at least e^−η times. So the true profile is at most e^η H'(α e^−2η). A
    symbol with one number as both probabilities needs the first factor only.

    Attributes:
        log_p: log w_i.
        log_q: log v_i.
        profiles: profiles of (P_i, Q_i); None for two equal distributions.
        are_shared: whether w_i and v_i are one number.
        margin: η.
    """

    log_p: tuple[float, ...]
    log_q: tuple[float, ...]
    profiles: tuple[Profile | None, ...]
    are_shared: tuple[bool, ...]
    margin: float
    log_infinite_mass: float = -math.inf

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of each log tail, per unit of 1 + |log tail|."""
        accuracies = [profile.tail_accuracy for profile in self.profiles if profile is not None]
        return 2.0 * max(accuracies, default=0.0) + 64 * UNIT_ROUNDOFF

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε) of a mechanism that publishes a random symbol together with its output.

        A symbol is a public outcome, such as whether a batch is full. Its log-probability has an error of at most η.

        Args:
            epsilon: array of values of ε ≥ 0, in nats.

        Returns:
            Arrays of lower and upper bounds on the natural logarithm of δ.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        slack = self.margin + 64 * UNIT_ROUNDOFF  # η, and the rounding errors of the sum
        # The sign shifts ε by ∓2η for the errors of both probabilities: down for upper bounds, up for lower ones.
        upper = self._sum(points, -1.0, lambda profile, epsilons: profile.log_delta(epsilons).upper) + slack
        lower = self._sum(points, 1.0, lambda profile, epsilons: profile.log_delta(epsilons).lower) - slack
        return Enclosure(lower, np.minimum(upper, 0.0))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Compute the log tails of the privacy loss, for upper bounds on δ.

        A symbol is a public random outcome, such as whether the batch is full. The log-probabilities of the symbols
        have errors of at most η. Let H'(e^ε) be the δ(ε) for the computed ones. The tails are those of the profile
        e^η H'(e^(ε − 2η)), which is at least the true δ.

        Args:
            epsilon: array of values of ε ≥ 0, in nats.

        Returns:
            The logarithms of P(loss > ε) under both distributions.
        """
        return self._sum_tails(epsilon, -1.0, lambda profile, epsilons: profile.log_tails(epsilons))

    def attained_log_tails(self, epsilon: FloatArray) -> Tails:
        """Compute the log tails of the privacy loss, for lower bounds on δ.

        A symbol is a public random outcome, such as whether the batch is full. The log-probabilities of the symbols
        have errors of at most η. Let H'(e^ε) be the δ(ε) for the computed ones. The tails are those of the profile
        e^−η H'(e^(ε + 2η)), which is at most the true δ. If the profile given a symbol has tails for lower bounds,
        these are used, otherwise its ordinary tails.

        Args:
            epsilon: array of values of ε ≥ 0, in nats.

        Returns:
            The logarithms of P(loss > ε) under both distributions.
        """
        return self._sum_tails(epsilon, 1.0, attained_or_own_tails)

    def _sum_tails(self, epsilon: FloatArray, side: float, tails_of: Callable[[Profile, FloatArray], Tails]) -> Tails:
        """Return log P(loss > ε) and log Q(loss > ε) of the mechanism, summed over its public symbols.

        A symbol is a public random outcome, such as whether the batch is full. It shifts the privacy loss by the log
        ratio of its probabilities.

        Args:
            epsilon: array of values of ε ≥ 0, in nats.
            side: −1 for tails of a larger pair, for upper bounds on δ; 1 for those of a smaller one.
            tails_of: function that returns the log tails of a profile at several ε.

        Returns:
            The log tails under both distributions, arrays of the shape of `epsilon`.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        p_terms, q_terms = [], []  # log tails of each symbol under both distributions
        for index, profile in enumerate(self.profiles):
            symbol_epsilon = points.ravel() - self._offset(index, side)
            # Given this symbol the outputs are equally distributed, so the whole loss is the log ratio of the symbol.
            if profile is None:
                log_p = log_q = np.where(symbol_epsilon < 0.0, 0.0, -np.inf)
            else:
                log_p, log_q = tails_of(profile, symbol_epsilon)
            p_terms.append(log_p + self.log_p[index])
            q_terms.append(log_q + self.log_q[index])

        log_p = log_sums(np.stack(p_terms)) - side * self.margin
        log_q = log_sums(np.stack(q_terms)) + side * self.margin
        return Tails(np.minimum(log_p, 0.0).reshape(points.shape), log_q.reshape(points.shape))

    def _offset(self, index: int, side: float) -> float:
        """Return a bound on log w_i − log v_i, the privacy loss of the public symbol i itself.

        w_i and v_i are the probabilities of the symbol under the first and the second distribution. Both computed
        logarithms have an error of at most η = `margin`, so the bound is moved by 2η.

        Args:
            index: index i of the symbol.
            side: −1 for an upper bound, 1 for a lower bound.

        Returns:
            The bound, in nats; exactly 0 if both probabilities are one number.
        """
        if self.are_shared[index]:
            return 0.0
        return self.log_p[index] - self.log_q[index] - side * 2.0 * self.margin

    def _sum(
        self, points: FloatArray, side: float, log_delta_of: Callable[[Profile, FloatArray], FloatArray]
    ) -> FloatArray:
        """Sum δ(ε) over the public symbols for the computed probabilities, without an allowance for their factor w_i.

        A symbol is a public outcome, such as whether a batch is full.

        Args:
            points: array of ε ≥ 0, in nats.
            side: −1 for an upper bound, 1 for a lower bound.
            log_delta_of: function that returns the upper or the lower bounds of a profile on log δ at several ε.

        Returns:
            log δ(ε) at each ε, an array of the shape of `points`.
        """
        terms = []
        for index, profile in enumerate(self.profiles):
            symbol_epsilon = points.ravel() - self._offset(index, side)
            if profile is None:  # two equal distributions, with δ(ε) = (1 − e^ε)₊
                log_delta = log_difference(np.zeros_like(symbol_epsilon), np.minimum(symbol_epsilon, 0.0))
            else:
                log_delta = log_delta_of(profile, symbol_epsilon)
            terms.append(log_delta + self.log_p[index])
        return log_sums(np.stack(terms)).reshape(points.shape)


def symbol_pair(symbols: Sequence[Symbol], margin: float) -> Pair:
    """Return the joint distributions of a public random symbol and the output, on two neighbouring data sets.

    A symbol is a public outcome, such as whether a batch is full. The output depends on it.

    Args:
        symbols: the symbols, each with the two output distributions given it; symbols of probability 0 are left out.
        margin: bound on the error of each log-probability, in nats.

    Returns:
        The pair, with a privacy profile for each direction. It is one object if the pair is symmetric.
    """
    shown = [symbol for symbol in symbols if max(symbol.log_p, symbol.log_q) > -math.inf]
    log_p = tuple(symbol.log_p for symbol in shown)
    log_q = tuple(symbol.log_q for symbol in shown)
    are_shared = tuple(symbol.is_shared for symbol in shown)
    pairs = [symbol.pair for symbol in shown]
    forward_profiles = tuple(None if pair is None else pair.forward for pair in pairs)
    forward = SymbolProfile(log_p, log_q, forward_profiles, are_shared, margin)
    is_symmetric = all(are_shared) and all(pair is None or pair.symmetric for pair in pairs)
    if is_symmetric:
        return Pair(forward, forward)
    backward_profiles = tuple(None if pair is None else pair.backward for pair in pairs)
    backward = SymbolProfile(log_q, log_p, backward_profiles, are_shared, margin)
    return Pair(forward, backward)

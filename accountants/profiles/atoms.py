"""The profile of a law of losses with finitely many atoms.

With losses l₁ < … < l_n of first-law masses p_i, the second law gives them q_i = p_i e^{−l_i}, and between two losses

    δ(ε) = δ(l_i) + (1 − e^{ε − l_i}) e^{l_i} Σ_{j ≥ i} q_j,   l_{i−1} ≤ ε ≤ l_i,

so δ at the losses follows from the last one down by sums of positive terms, and is known everywhere without any
cancellation, whatever the number of atoms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve import Enclosure, Tails
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_difference, log_one_minus_exp

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True)
class AtomicProfile:
    """Losses `losses`, increasing, of first-law masses e^`log_masses`, and an infinite loss.

    What is missing to one lies at losses of no interest (ε ≥ 0 asks for the positive ones only). The law is that of
    these very losses; `mass_accuracy` bounds the error of each log mass per unit of 1 + |log mass|.

    Guarantees: `log_delta` encloses; exactly −inf from the largest loss on, if no loss is infinite. One pass over the
    atoms, then O(log n) a point.
    """

    losses: tuple[float, ...]
    log_masses: tuple[float, ...]
    log_infinite_mass: float = -np.inf
    mass_accuracy: float = 4 * UNIT_ROUNDOFF

    @property
    def tail_accuracy(self) -> float:
        """Sums of n positive terms, each rounded a few times."""
        return self.mass_accuracy + 4 * UNIT_ROUNDOFF * (len(self.losses) + 8)

    @cached_property
    def _places(self) -> FloatArray:
        return np.asarray(self.losses, dtype=np.float64)

    @cached_property
    def _tails(self) -> tuple[FloatArray, FloatArray]:
        """log Σ_{j ≥ i} p_j (with the infinite loss) and log Σ_{j ≥ i} q_j, at i = 0, …, n."""
        log_p = np.asarray(self.log_masses, dtype=np.float64)
        first = np.append(log_p, self.log_infinite_mass)
        second = np.append(log_p - self._places, -np.inf)
        return np.logaddexp.accumulate(first[::-1])[::-1], np.logaddexp.accumulate(second[::-1])[::-1]

    @cached_property
    def _log_delta_at_losses(self) -> FloatArray:
        """log δ at every loss, then beyond the last."""
        _, log_q = self._tails
        steps = self._places[1:] + log_one_minus_exp(self._places[:-1] - self._places[1:]) + log_q[1:-1]
        terms = np.concatenate(([self.log_infinite_mass, self.log_infinite_mass], steps[::-1]))
        terms[1] = -np.inf
        return np.asarray(np.append(np.logaddexp.accumulate(terms)[1:][::-1], self.log_infinite_mass))

    def _next(self, epsilon: FloatArray) -> IntArray:
        """Index of the first loss above ε; n if there is none."""
        return np.asarray(np.searchsorted(self._places, epsilon, side="right"), dtype=np.int64)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Masses of the losses strictly above ε."""
        place = self._next(np.asarray(epsilon, dtype=np.float64))
        log_p, log_q = self._tails
        return Tails(np.minimum(log_p[place], 0.0), np.minimum(log_q[place], 0.0))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclosure of log δ, by the sum over atoms above."""
        at = np.asarray(epsilon, dtype=np.float64)
        place = self._next(at)
        beyond = np.append(self._places, np.inf)[place]
        _, log_q = self._tails
        with np.errstate(invalid="ignore"):
            step = np.where(np.isinf(beyond), -np.inf, beyond + log_one_minus_exp(at - beyond) + log_q[place])
        return Enclosure.around(np.asarray(np.logaddexp(self._log_delta_at_losses[place], step)), self.tail_accuracy)

    def estimated_epsilon(self, log_delta: float) -> float:
        """About where log δ is as asked, −∞ below every loss, math.inf where the infinite loss is more likely.

        Between two losses δ is linear in e^ε, so that no search is needed; but roundings are not charged.
        """
        values = self._log_delta_at_losses
        if values[-1] > log_delta:
            return math.inf
        place = int(np.searchsorted(-values, -log_delta, side="left"))
        if place >= self._places.size:
            return float(self._places[-1]) if self._places.size else -math.inf
        excess = log_difference(np.asarray([log_delta]), values[place : place + 1])
        share = math.exp(min(float(excess[0]) - float(self._places[place] + self._tails[1][place]), 0.0))
        return float(self._places[place]) + math.log1p(-share) if share < 1.0 else -math.inf

"""The profile of a distribution of losses with finitely many atoms.

With losses l₁ < … < l_n of masses p_i under the first distribution, the second gives q_i = p_i e^{−l_i}. Between two
losses

    δ(ε) = δ(l_i) + (1 − e^{ε − l_i}) e^{l_i} Σ_{j ≥ i} q_j,   l_{i−1} ≤ ε ≤ l_i,

so δ at the losses follows from the last loss down by sums of positive terms. It is computed without
cancellation for any number of atoms.
"""

from __future__ import annotations

import bisect
import math
import operator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Interval, Tails
from epsilond.accountants.curve.near_tests import NearTest
from epsilond.accountants.curve.profile import EpsilonEstimate, Profile, RootSearch
from epsilond.accountants.numerics.special import (
    LEAST_LOG,
    UNIT_ROUNDOFF,
    log1m_exp_at,
    log_one_minus_exp,
    log_sum,
)
from epsilond.accountants.trade_off import LOSS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.numerics.special import FloatArray

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True)
class AtomicProfile(Profile):
    """Increasing `losses` with masses e^`log_masses` under the first distribution, and an infinite loss.

    The masses may sum to less than one. The rest is at losses that are not positive, which do not affect δ for ε ≥ 0.
    The distribution has exactly these losses. `mass_accuracy` bounds the error of each log mass per unit of
    1 + |log mass|.

    Guarantees: `log_delta` encloses. It is exactly −inf from the largest loss on, if no loss is infinite. The work is
    one pass over the atoms, and then O(log n) for each point.
    """

    root_search: ClassVar[RootSearch] = "solve"

    losses: tuple[float, ...]
    log_masses: tuple[float, ...]
    log_infinite_mass: float = -np.inf
    mass_accuracy: float = 4 * UNIT_ROUNDOFF

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of sums of n positive terms, each rounded a few times, per unit of 1 + |log tail|."""
        return self.mass_accuracy + 4 * UNIT_ROUNDOFF * (len(self.losses) + 8)

    @cached_property
    def _places(self) -> FloatArray:
        return np.asarray(self.losses, dtype=np.float64)

    @cached_property
    def _tails(self) -> tuple[FloatArray, FloatArray]:
        """log Σ_{j ≥ i} p_j (with the infinite loss) and log Σ_{j ≥ i} q_j, at i = 0, …, n."""
        log_p = np.asarray((*self.log_masses, self.log_infinite_mass), dtype=np.float64)
        log_q = np.full(log_p.size, -np.inf)
        np.subtract(log_p[:-1], self._places, out=log_q[:-1])
        return np.logaddexp.accumulate(log_p[::-1])[::-1], np.logaddexp.accumulate(log_q[::-1])[::-1]

    @cached_property
    def _log_delta_at_losses(self) -> FloatArray:
        """log δ at every loss, and then beyond the last."""
        _, log_q = self._tails
        steps = self._places[1:] + log_one_minus_exp(self._places[:-1] - self._places[1:]) + log_q[1:-1]
        if not log_q[:-1].size:
            return np.full(1, self.log_infinite_mass)
        terms = np.full(log_q.size, self.log_infinite_mass)
        terms[1:-1] = steps[::-1]
        values = np.full(log_q.size, self.log_infinite_mass)
        values[:-1] = np.logaddexp.accumulate(terms[:-1])[::-1]
        return values

    def _next(self, epsilon: FloatArray) -> IntArray:
        """Return the index of the first loss above ε; n if no loss is."""
        return np.asarray(np.searchsorted(self._places, epsilon, side="right"), dtype=np.int64)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log masses of the losses strictly above ε."""
        place = self._next(np.asarray(epsilon, dtype=np.float64))
        log_p, log_q = self._tails
        return Tails(np.minimum(log_p[place], 0.0), np.minimum(log_q[place], 0.0))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ by the sum over atoms above."""
        at = np.asarray(epsilon, dtype=np.float64)
        place = self._next(at)
        beyond = np.append(self._places, np.inf)[place]
        _, log_q = self._tails
        with np.errstate(invalid="ignore"):
            step = np.where(np.isinf(beyond), -np.inf, beyond + log_one_minus_exp(at - beyond) + log_q[place])
        return Enclosure.around(np.asarray(np.logaddexp(self._log_delta_at_losses[place], step)), self.tail_accuracy)

    @cached_property
    def _lists(self) -> tuple[list[float], list[float]]:
        """log δ at the losses and log Σ_{j ≥ i} q_j, for one ε at a time."""
        return self._log_delta_at_losses.tolist(), self._tails[1].tolist()

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ at one ε, without arrays."""
        place = bisect.bisect_right(self.losses, epsilon)
        at_losses, log_q = self._lists
        value = at_losses[place]
        if place < len(self.losses):
            beyond = self.losses[place]
            value = log_sum(value, beyond + log1m_exp_at(min(epsilon - beyond, 0.0)) + log_q[place])
        slack = self.tail_accuracy * (1.0 + abs(value)) if value > -math.inf else 0.0
        return Interval(value - slack if value > LEAST_LOG else -math.inf, min(value + slack, 0.0))

    def solve(self, log_delta: float) -> EpsilonEstimate:
        """Return the ε at which log δ is `log_delta`, in closed form between two neighbouring losses."""
        epsilon = self.estimated_epsilon(log_delta)
        return EpsilonEstimate(epsilon, PAD * (1.0 + abs(epsilon)))

    def log_delta_bounds_in_search(self, epsilons: Sequence[float], *, lower: bool) -> list[Interval]:
        """Return bounds on log δ, without arrays."""
        del lower
        return [self.log_delta_bounds(epsilon) for epsilon in epsilons]

    def log_second_above(self, epsilon: float) -> float:
        """Return the log tail of the second distribution at one ε, without arrays."""
        return min(self._lists[1][bisect.bisect_right(self.losses, epsilon)], 0.0)

    def near_tests(self, sizes: Sequence[float]) -> list[NearTest | None]:
        """Return for each size the test at the atom where the best test ends; None if its loss is not positive."""
        return [self.test_of(size, self.log_delta_bounds, self.tail_accuracy) for size in sizes]

    def test_of(self, size: float, bounds: Callable[[float], Interval], width: float) -> NearTest | None:
        """Return the test at the atom at which the best test of a size ends; None if its loss is not above 0.

        Under Q, losses above the atom have probability at most `size`, and losses at or above it have more. γ α + E_γ
        is linear between atoms, so it is least at this atom.

        Args:
            size: false positive rate α, in (0, 1).
            bounds: bounds on log δ of the requested distribution, to which this one may be an approximation.
            width: relative width of these bounds.
        """
        place = bisect.bisect_left(self._lists[1], -math.log(size), key=operator.neg) - 1
        if place < 0:
            return None
        here = self.losses[place]
        gaps = [abs(here - self.losses[at]) for at in (place - 1, place + 1) if 0 <= at < len(self.losses)]
        step = max(_OF_THE_GAP * min([*gaps, here]), _LEAST_STEP)
        return NearTest(here, bounds, width, LOSS / (step * step), bent=True) if here >= 2.0 * step else None

    def estimated_epsilon(self, log_delta: float) -> float:
        """Estimate the ε at log δ; −∞ below every loss, math.inf if the infinite loss is more likely than δ.

        Between two losses δ is linear in e^ε, so that no search is needed. Roundings are not charged.
        """
        values, log_q = self._lists
        if values[-1] > log_delta:
            return math.inf
        place = bisect.bisect_left(values, -log_delta, key=operator.neg)
        if place >= len(self.losses):
            return self.losses[-1] if self.losses else -math.inf
        if values[place] >= log_delta:
            return self.losses[place]
        excess = log_delta + log1m_exp_at(values[place] - log_delta)
        share = math.exp(min(excess - self.losses[place] - log_q[place], 0.0))
        return self.losses[place] + math.log1p(-share) if share < 1.0 else -math.inf


_OF_THE_GAP, _LEAST_STEP = 1e-4, 1e-7
"""Steps from an atom at which a test is evaluated, relative to the gap and absolute.

The test is evaluated at half a step and at one and a half steps to either side. The places are near the atom, because
the accuracy of δ there is proportional to δ. They are also short of the next atom, unless atoms are too close together
to be separated.
"""
PAD = 1e-14
"""First step to either side of a solved ε, relative to 1 + ε."""

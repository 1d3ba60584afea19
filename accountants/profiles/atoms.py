"""The profile of a distribution of losses with finitely many atoms.

With losses l₁ < … < l_n of masses p_i under the first distribution, the second gives q_i = p_i e^{−l_i}. Between two
losses:

    δ(ε) = δ(l_i) + (1 − e^{ε − l_i}) e^{l_i} Σ_{j ≥ i} q_j,   l_{i−1} ≤ ε ≤ l_i,

so δ at the losses follows from the last loss down by sums of positive terms. It is computed without cancellation for
any number of atoms.
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
    """The privacy profile of a privacy loss with finitely many values, the atoms, and possibly an infinite value.

    A loss l with probability p under the first distribution P has probability p e^{−l} under the second distribution Q.
    The probabilities may sum to less than one. The rest is at losses that are not positive, which do not affect δ for
    ε ≥ 0.

    Guarantees: `log_delta` encloses. It is exactly −∞ from the largest loss on, if no loss is infinite. The work is
    one pass over the n atoms, and then O(log n) for each ε.

    Attributes:
        losses: increasing losses l_i in nats, exact.
        log_masses: log p_i, natural logarithms of the probabilities under P.
        log_infinite_mass: log of the probability of an infinite loss under P.
        mass_accuracy: bound on the error of each log probability, per unit of 1 + |log probability|.
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
    def _loss_array(self) -> FloatArray:
        return np.asarray(self.losses, dtype=np.float64)

    @cached_property
    def _tails(self) -> tuple[FloatArray, FloatArray]:
        """Log probabilities that the privacy loss is at least l_i, under P and under Q, for each of its values l_i.

        The last entry of each array is for the infinite loss only. It has probability 0 under Q.
        """
        log_p = np.asarray((*self.log_masses, self.log_infinite_mass), dtype=np.float64)
        log_q = np.full(log_p.size, -np.inf)
        np.subtract(log_p[:-1], self._loss_array, out=log_q[:-1])

        # Sums from the largest loss down.
        tails_of_p = np.logaddexp.accumulate(log_p[::-1])[::-1]
        tails_of_q = np.logaddexp.accumulate(log_q[::-1])[::-1]
        return tails_of_p, tails_of_q

    @cached_property
    def _log_delta_at_losses(self) -> FloatArray:
        """The values of log δ at ε = l_i for every possible privacy loss l_i, and then beyond the last one.

        Beyond the last loss, δ is the probability of the infinite loss. From there down:

            δ(l_i) = δ(l_{i+1}) + (e^{l_{i+1}} − e^{l_i}) Σ_{j > i} q_j.

        Here q_j is the probability of l_j under Q.
        """
        _, log_q = self._tails
        losses = self._loss_array
        if not losses.size:
            return np.full(1, self.log_infinite_mass)
        log_rises = losses[1:] + log_one_minus_exp(losses[:-1] - losses[1:])
        log_steps = log_rises + log_q[1:-1]

        # From the last loss down: the infinite loss, then one step for each smaller loss.
        log_terms = np.append(self.log_infinite_mass, log_steps[::-1])
        log_deltas = np.logaddexp.accumulate(log_terms)[::-1]
        return np.append(log_deltas, self.log_infinite_mass)

    @cached_property
    def _loss_errors(self) -> tuple[FloatArray, FloatArray]:
        """Bounds on the errors of δ that rounded exponents e^{l_i} cause, for the values l_i of the privacy loss.

        The loss l_i has the probabilities p_i and q_i = p_i e^{−l_i}. The first array bounds the relative error of
        e^{l_i} Σ_{j ≥ i} q_j. The second one is the log of a bound on the error of δ(l_i), which is a sum of terms
        (e^{l_{k+1}} − e^{l_k}) Σ_{j > k} q_j over k ≥ i. Both end with an entry for ε beyond the last loss.
        """
        losses, sizes = self._loss_array, np.abs(self._loss_array)
        _, log_q_with_end = self._tails
        log_q = log_q_with_end[:-1]
        if not losses.size:
            return np.zeros(1), np.full(1, -np.inf)

        with np.errstate(divide="ignore", invalid="ignore"):
            # The mean of |l_j| over the losses l_j ≥ l_i, with weights q_j.
            log_weighted_sizes = np.asarray(self.log_masses) - losses + np.log(sizes)
            log_totals = np.logaddexp.accumulate(log_weighted_sizes[::-1])[::-1]
            mean_sizes = np.exp(np.where(np.isneginf(log_q), 0.0, log_totals - log_q))
            # A rounding of l changes e^{±l} by a few units of roundoff times |l|.
            relative_errors = 8 * UNIT_ROUNDOFF * (sizes + np.maximum(mean_sizes, 0.0))

            # The error of each step between two losses, summed from the last loss down.
            log_steps = losses[1:] + log_one_minus_exp(losses[:-1] - losses[1:]) + log_q[1:]
            log_errors_of_steps = (log_steps + np.log(relative_errors[1:]))[::-1]
        log_errors = np.logaddexp.accumulate(np.append(-np.inf, log_errors_of_steps))[::-1]
        return np.append(relative_errors, 0.0), np.append(log_errors, -np.inf)

    def _first_index_above(self, epsilon: FloatArray) -> IntArray:
        """Return the index of the first loss above ε; n if no loss is."""
        return np.asarray(np.searchsorted(self._loss_array, epsilon, side="right"), dtype=np.int64)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities of a privacy loss above ε under both distributions.

        Args:
            epsilon: array of ε, in nats.

        Returns:
            log P(L > ε) and log Q(L > ε) for the privacy loss L, one entry for each ε.
        """
        index = self._first_index_above(np.asarray(epsilon, dtype=np.float64))
        log_p, log_q = self._tails
        return Tails(np.minimum(log_p[index], 0.0), np.minimum(log_q[index], 0.0))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε), which is a linear function of e^ε between two neighbouring values of the privacy loss.

            δ(ε) = δ(l) + (e^l − e^ε) Σ_{l_j ≥ l} q_j

        for the first loss l above ε, where q_j is the probability of the loss l_j under Q. Neither term is negative, so
        the sum has the accuracy of the tails.

        Args:
            epsilon: array of ε, in nats.

        Returns:
            Lower and upper bounds, one for each ε.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        index = self._first_index_above(points)
        next_loss = np.append(self._loss_array, np.inf)[index]
        _, log_q = self._tails
        with np.errstate(invalid="ignore"):
            log_step = next_loss + log_one_minus_exp(points - next_loss) + log_q[index]
        # Beyond the last loss only the infinite loss remains.
        log_step = np.where(np.isinf(next_loss), -np.inf, log_step)
        log_delta = np.logaddexp(self._log_delta_at_losses[index], log_step)

        # Widen by the errors of the tails, and by the errors of the rounded exponents.
        lower, upper = Enclosure.around(np.asarray(log_delta), self.tail_accuracy)
        relative_errors, log_errors = self._loss_errors
        with np.errstate(divide="ignore", invalid="ignore"):
            log_error = np.logaddexp(log_errors[index], log_step + np.log(relative_errors[index]))
            error = np.where(np.isneginf(log_delta), 0.0, np.exp(log_error - log_delta))
        return Enclosure(lower - error, np.minimum(upper + error, 0.0))

    @cached_property
    def _lists(self) -> tuple[list[float], list[float]]:
        """log δ at the losses and log Σ_{j ≥ i} q_j, for one ε at a time."""
        return self._log_delta_at_losses.tolist(), self._tails[1].tolist()

    @cached_property
    def _error_lists(self) -> tuple[list[float], list[float]]:
        """`_loss_errors`, for one ε at a time."""
        relative, log_errors = self._loss_errors
        return relative.tolist(), log_errors.tolist()

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ at one ε, without arrays, which is quicker.

        Let l be the smallest possible privacy loss above ε, and q_j the probability of the loss l_j under Q. Then:

            δ(ε) = δ(l) + (e^l − e^ε) Σ_{l_j ≥ l} q_j.

        δ(l) is tabulated for every loss l.

        Args:
            epsilon: ε, in nats.

        Returns:
            Lower and upper bounds, widened by the errors of the probabilities and of the rounded exponents.
        """
        index = bisect.bisect_right(self.losses, epsilon)
        log_delta_at_losses, log_q = self._lists

        # Without a loss above ε, δ is the probability of the infinite loss.
        value, error = log_delta_at_losses[index], 0.0
        if index < len(self.losses):
            relative_errors, log_errors = self._error_lists
            next_loss = self.losses[index]
            log_step = next_loss + log1m_exp_at(min(epsilon - next_loss, 0.0)) + log_q[index]
            value = log_sum(value, log_step)
            if value > -math.inf:
                # Relative to δ(ε), the errors of both terms from rounded exponents.
                error_at_loss = math.exp(log_errors[index] - value)
                error_of_step = relative_errors[index] * math.exp(log_step - value)
                error = error_at_loss + error_of_step
        if value == -math.inf:
            return Interval(value, value)

        # Widen by the errors of the tails, and by those of the rounded exponents.
        slack = self.tail_accuracy * (1.0 + abs(value)) + error
        lower = value - slack if value > LEAST_LOG else -math.inf
        return Interval(lower, min(value + slack, 0.0))

    def solve(self, log_delta: float) -> EpsilonEstimate:
        """Return the ε at which log δ is `log_delta`, in closed form between two neighbouring losses."""
        epsilon = self.estimated_epsilon(log_delta)
        return EpsilonEstimate(epsilon, PAD * (1.0 + abs(epsilon)))

    def log_delta_bounds_in_search(self, epsilons: Sequence[float], *, lower: bool) -> list[Interval]:
        """Return bounds on log δ at several ε, one after another; always both bounds, for every value of `lower`."""
        del lower
        return [self.log_delta_bounds(epsilon) for epsilon in epsilons]

    def log_second_above(self, epsilon: float) -> float:
        """Return log Q(L > ε) at one ε, for the privacy loss L and the second distribution Q."""
        _, log_q = self._lists
        index = bisect.bisect_right(self.losses, epsilon)
        return min(log_q[index], 0.0)

    def near_tests(self, sizes: Sequence[float]) -> list[NearTest | None]:
        """Return a nearly most powerful test for each false positive rate; None where `test_of` has none."""
        return [self.test_of(size, self.log_delta_bounds, self.tail_accuracy) for size in sizes]

    def test_of(self, size: float, bounds: Callable[[float], Interval], width: float) -> NearTest | None:
        """Return the test that is near the most powerful one with a false positive rate α.

        It rejects if the privacy loss L exceeds l, the value of L with Q(L > l) ≤ α < Q(L ≥ l). The true positive rate
        of the most powerful test is:

            min over ε of e^ε α + δ(ε).

        This is linear in e^ε between two values of L. It falls below ε = l and rises above, so it is least at l.

        Args:
            size: false positive rate α, in (0, 1).
            bounds: function from an ε to bounds on log δ. It may belong to another distribution, to which this one is
                an approximation.
            width: relative width of these bounds.

        Returns:
            The test; None if l is not positive, or too close to 0.
        """
        # The last value with Q(L ≥ l) > α; the tails decrease, hence the negated key.
        _, log_q = self._lists
        index = bisect.bisect_left(log_q, -math.log(size), key=operator.neg) - 1
        if index < 0:
            return None
        loss = self.losses[index]

        # δ is evaluated at up to 1.5 steps from the loss: short of its neighbours, and at positive ε.
        neighbours = self.losses[max(index - 1, 0) : index] + self.losses[index + 1 : index + 2]
        distances = [abs(loss - neighbour) for neighbour in neighbours]
        step = max(_GAP_SHARE * min([*distances, loss]), _LEAST_STEP)
        if loss < 2.0 * step:
            return None
        steepness = LOSS / (step * step)
        return NearTest(loss, bounds, width, steepness, bent=True)

    def estimated_epsilon(self, log_delta: float) -> float:
        """Return the ε at which δ has a given logarithm, without bounds on the rounding errors.

        Between two losses δ is linear in e^ε, so no search is needed:

            e^ε = e^l (1 − (δ − δ(l))/(e^l Σ_{l_j ≥ l} q_j))

        for the first loss l with δ(l) ≤ δ, where q_j is the probability of the loss l_j under Q.

        Args:
            log_delta: log δ, natural logarithm.

        Returns:
            ε in nats; −∞ if δ(ε) is smaller at every ε, and math.inf if the infinite loss has a larger probability.
        """
        log_delta_at_losses, log_q = self._lists
        if log_delta_at_losses[-1] > log_delta:
            return math.inf

        # The first loss at which δ is at most the target; the values decrease, hence the negated key.
        index = bisect.bisect_left(log_delta_at_losses, -log_delta, key=operator.neg)
        if index >= len(self.losses):
            return self.losses[-1] if self.losses else -math.inf
        loss, log_delta_at_loss = self.losses[index], log_delta_at_losses[index]
        if log_delta_at_loss >= log_delta:
            return loss

        # Solve the linear equation between this loss and the one before it.
        log_excess = log_delta + log1m_exp_at(log_delta_at_loss - log_delta)  # log(δ − δ(l))
        decrease = math.exp(min(log_excess - loss - log_q[index], 0.0))  # 1 − e^{ε − l}
        if decrease >= 1.0:
            return -math.inf
        return loss + math.log1p(-decrease)


_GAP_SHARE = 1e-4
"""Step from an atom at which a test is evaluated, relative to the distance of the next atom.

The test is evaluated at half a step and at one and a half steps to either side. These points are near the atom, because
the accuracy of δ there is proportional to δ. They are also closer than the next atom, unless atoms are too close
together to be separated.
"""
_LEAST_STEP = 1e-7
"""Smallest such step, in nats."""
PAD = 1e-14
"""First step to either side of a solved ε, relative to 1 + ε."""

"""The bound on the released model of projected SGD by composing all steps that use a record."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.factor_sums import CHUNK
from epsilond.accountants.numerics.mixed_sums import log_sum
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.numerics.thetas.many_shifts import theta_of_many
from epsilond.accountants.profiles.bound import Bound
from epsilond.accountants.theorems.hidden_states.record_places import places
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import LEAST_SQUARE, OUTWARD

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun


class RecordGroups(NamedTuple):
    """Groups of records that have the same privacy in a run of projected SGD.

    Attributes:
        mu: parameter μ of Gaussian differential privacy of all steps that use a record of the group, one for each
            group, rounded up.
        log_share: log probability that a record is in the group, one for each group.
    """

    mu: FloatArray
    log_share: FloatArray


@dataclass(frozen=True)
class ComposedSteps(Bound):
    """Bound on δ by composition of all steps that use a record, averaged over the batches that the record may be in.

    Attributes:
        run: a run of projected SGD with batches that are fixed in advance.
    """

    run: ProjectedRun

    @cached_property
    def groups(self) -> RecordGroups:
        """Groups of records that have the same privacy.

        In a run shorter than one pass, their probabilities do not sum to 1, because some records are never used.
        """
        if self.run.noise_schedule.constant is None:
            return self._groups_by_batch()
        return self._groups_by_uses()

    def _groups_by_uses(self) -> RecordGroups:
        """Return the groups of records for equal noise in all steps: one group for each number of uses.

        The Gaussian-DP parameter μ of a record that k steps use is √k times that of one use.
        """
        run = self.run
        # With several passes, only the last possible release is considered. It is the worst, because a later release
        # can only have more uses.
        last_release = run
        if run.steps > run.period:
            last_release = replace(run, first_stop=run.steps)
        kinds, log_probability = places(last_release)
        mu = [math.sqrt(kind.uses) * run.largest_sensitivity * OUTWARD for kind in kinds]  # rounded up
        # Number of choices of batches and releases with each number of uses.
        counts = [float(kind.before(np.asarray([kind.last + 1.0]))[0]) for kind in kinds]
        return RecordGroups(np.asarray(mu), np.log(counts) + log_probability)

    def _groups_by_batch(self) -> RecordGroups:
        """Group the records by their batches, for noise that changes from step to step, with the μ of each group.

        A batch is used in one step of each pass over the data. The μ of Gaussian differential privacy of its records is
        the root of the sum of the squared sensitivities of these steps, in units of their noise.
        """
        run = self.run
        passes = -(-run.steps // run.period)  # division rounded up
        shifts, _ = run.shifts(1, run.steps)
        squares = shifts**2
        # Row i has the squares of pass i. Zeros complete the last pass.
        if passes > 1:
            padded = np.append(squares, np.zeros(passes * run.period - run.steps))
            squares = padded.reshape(passes, run.period).sum(axis=0)
        # A sum of k squares has an error of k units of roundoff at most. The factor `OUTWARD` covers the errors of the
        # squares, 16 units, and of the root.
        squares = np.maximum(np.sort(squares), LEAST_SQUARE) * (1.0 + passes * UNIT_ROUNDOFF)
        log_share = math.log(run.participants) - math.log(run.clients)
        return RecordGroups(np.sqrt(squares) * OUTWARD, np.full(squares.shape, log_share))

    @property
    def worst_mu(self) -> float:
        """Largest μ of a group."""
        return float(self.groups.mu.max())

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose the logarithm of the mean of δ(ε) over the batches that a record may be in.

        δ(ε) of a record is that of N(μ, 1) against N(0, 1), with the μ of its group.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            Numerical bounds on the natural logarithm.
        """
        mu, log_shares = self.groups
        # `CHUNK` groups are evaluated at once, which limits the memory.
        chunks = [theta_of_many(epsilon, mu[first : first + CHUNK]) for first in range(0, mu.size, CHUNK)]
        value = np.concatenate([theta for theta, _ in chunks]) + log_shares
        error = np.concatenate([theta_error for _, theta_error in chunks]) + 1e-14  # and the rounding of the shares
        lower, upper = log_sum(value - error), log_sum(value + error)
        return Interval(lower, min(upper, 0.0))

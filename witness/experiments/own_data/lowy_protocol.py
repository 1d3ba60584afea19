"""Settings that the experiments of Lowy and Razaviyayn share (Section 5 and Appendix H), with choices where it is open.

Every arm has R = 35 rounds, δ = n⁻² for the n training records of a silo, and K = n√ε/(2√R) gradients of a silo in a
round. The noise of a mini-batch report has variance σ² = 8L² R ln(1/δ)/(nε)², where L is a Lipschitz constant. The
appendix does not print the noise of local SGD. Here each local step adds noise, by the same formula with RK steps in
place of R, as in the authors' program. Without noise K is that of the largest ε.

Certified noise, which the paper does not have, is the smallest with a certified ε equal to the claimed one.

The step size and the clipping norm of each trial are those of least training loss, which costs privacy that is not
counted.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from epsilond.accountants.account import account
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.rule import Effort
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.target import Target
from epsilond.accountants.theorems.papers.lowy_razaviyayn.experiments import (
    experimental_batch_size,
    experimental_noise_std,
)
from epsilond.calibrators.answer import Ends
from epsilond.calibrators.search import smallest_noise
from epsilond.simulators.problems.problem import Floats
from epsilond.simulators.silos.sgd import Slope
from epsilond.simulators.silos.silos import SiloRecords
from epsilond.simulators.silos.tuning import Search, TunedModel, choose
from epsilond.witness.trials.work import TrialWork

ROUNDS: Final = 35
"""R. For MNIST it stands in the authors' program only."""
TUNING_RUNS: Final = 3
"""Runs of each point of the grid."""
TEST_SHARE: Final = 0.2
LOCAL_STEP_NUMBERS: Final = 8
"""Numbers of a local step, except for the features of its record and its noise: index, target, slope and limits."""
Algorithm = Literal["mini-batch", "local"]
Noise = Literal["printed", "certified", "none"]


@dataclass(frozen=True, kw_only=True)
class ArmSettings:
    """Settings of a training in the experiments of Lowy and Razaviyayn: one algorithm with one noise at one ε.

    The clients are called silos. Each has n training records. A run has `ROUNDS` rounds, and its δ is n⁻².

    Attributes:
        algorithm: `mini-batch` for reports on batches, or `local` for several local steps in a round.
        noise: `printed` for the paper's formula, `certified` for the least certified noise, or `none`.
        epsilon: ε that the noise is for. It also determines the number of gradients in a round, even without noise.
        participants: number of silos in a round.
    """

    algorithm: Algorithm
    noise: Noise
    epsilon: float
    participants: int

    def gradients(self, records: int) -> int:
        """Return the number of gradients that a client computes in a round.

        Args:
            records: number n of training records of the client.

        Returns:
            ⌈n√ε/(2√R)⌉ for R rounds, limited to the range from 1 to n.
        """
        batch = experimental_batch_size(samples_per_client=records, rounds=ROUNDS, epsilon=self.epsilon)
        at_least_one = max(1, math.ceil(batch))
        return min(records, at_least_one)

    def draws(self, gradients: int) -> tuple[int, int]:
        """Return how many records enter a noisy vector of a client, and how many such vectors a run has.

        In mini-batch SGD a noisy vector is the report of a round, the mean of its gradients. In local SGD it is a local
        step on one record.

        Args:
            gradients: number of gradients that the client computes in a round.

        Returns:
            The number of records of one vector, and the number of vectors if the client reports in all rounds.
        """
        if self.algorithm == "mini-batch":
            return gradients, ROUNDS
        return 1, ROUNDS * gradients

    def estimate_work(self, records: int, dimension: int, points: int) -> TrialWork:
        """Estimate the number of operations of one trial, which trains at every point of a grid.

        The simulation of a mini-batch report computes the gradients of all records of a client. A local step gathers
        one record, and draws noise if there is any.

        Args:
            records: number n of training records of a client.
            dimension: number of features of a record.
            points: number of grid points, that is, of combinations of the tuned parameters.

        Returns:
            The numbers of operations of each kind, from which the time follows.
        """
        reports = TUNING_RUNS * points * ROUNDS * self.participants
        if self.algorithm == "mini-batch":
            return TrialWork(multiply_adds=2.0 * reports * records * dimension, numbers=2.0 * reports * records)

        # A local step gathers the features of its record, and draws as many numbers for the noise.
        vectors_of_step = 1 if self.noise == "none" else 2
        numbers_of_step = LOCAL_STEP_NUMBERS + dimension * vectors_of_step
        all_numbers = reports * self.gradients(records) * numbers_of_step
        return TrialWork(numbers=float(all_numbers))

    def noise_std(self, records: int, lipschitz: float, lipschitz_ratio: float, *, gradients: int) -> float:
        """Return the standard deviation of the noise in a noisy vector, which is a mean of gradients of one client.

        Certified noise is the least that is proved to meet the target. Printed noise follows the formula of the paper.

        Args:
            records: number n of training records of the client.
            lipschitz: the constant L of the printed noise.
            lipschitz_ratio: L divided by the largest norm of a record's gradient.
            gradients: number of gradients that the client computes in a round.

        Returns:
            The standard deviation of each coordinate, in the unit of a gradient; 0 without noise.
        """
        batch, times = self.draws(gradients)
        if self.noise == "certified":
            multiplier = certified_multiplier(batch, records, times, self.epsilon)
            largest_gradient = lipschitz / lipschitz_ratio
            # The multiplier is for the sum of the gradients in units of the largest one. A vector is their mean.
            return multiplier * largest_gradient / batch
        if self.noise == "none":
            return 0.0
        return experimental_noise_std(
            lipschitz=lipschitz,
            samples_per_client=records,
            rounds=times,
            epsilon=self.epsilon,
            log_delta=log_delta(records),
        )

    def choose(
        self,
        silos: SiloRecords,
        *,
        value: Callable[[Floats, Floats], Floats],
        slope: Slope,
        lipschitz: float | None,
        lipschitz_ratio: float,
        step_sizes: Sequence[float],
        clipping_norms: Sequence[float],
        seed: int,
    ) -> TunedModel:
        """Train with every step size and clipping norm of a grid, and return the model with the least training loss.

        Silos are clients with many records. Each adds noise to the mean of its clipped gradients.

        Args:
            silos: records of the trial, split into training and test records.
            value: loss of predictions and targets.
            slope: derivative of the loss with respect to the predictions.
            lipschitz: the constant L of the printed noise; None if it is the clipping norm.
            lipschitz_ratio: L divided by the largest norm of a record's gradient.
            step_sizes: grid of step sizes.
            clipping_norms: grid of clipping norms.
            seed: seed of the trial.

        Returns:
            The model with the chosen step size and clipping norm.
        """
        # All silos compute as many gradients as the smallest one.
        gradients = self.gradients(min(silos.sizes))

        def noise_stds(clipping_norm: float) -> Floats:
            """Return the standard deviation of each silo's noise for a clipping norm, one entry for each silo."""
            constant = clipping_norm if lipschitz is None else lipschitz
            return np.array(
                [self.noise_std(size, constant, lipschitz_ratio, gradients=gradients) for size in silos.sizes]
            )

        search = Search(
            algorithm=self.algorithm,
            rounds=ROUNDS,
            participants=self.participants,
            gradients=gradients,
            step_sizes=step_sizes,
            clipping_norms=clipping_norms,
            repetitions=TUNING_RUNS,
        )
        # The split of the records has another generator of the same seed.
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
        return choose(silos, value=value, slope=slope, search=search, noise_stds=noise_stds, generator=generator)

    def certify(self, records: int, lipschitz_ratio: float, *, smallest_client: int | None = None) -> Ends | None:
        """Return certified bounds on the ε of the noise at δ = n⁻², if one record of a client is replaced.

        The client draws its batches with replacement. The server sees all noisy vectors of the client.

        Args:
            records: number n of training records of the client.
            lipschitz_ratio: constant L of the noise divided by the largest norm of a record's gradient.
            smallest_client: training records of the smallest client, which determine the number of gradients; None if
                all clients have n.

        Returns:
            A lower and an upper bound on ε; None without noise.
        """
        if self.noise == "none":
            return None
        gradients = self.gradients(records if smallest_client is None else smallest_client)
        batch, times = self.draws(gradients)
        # Noise of the sum over a batch, divided by the largest norm 1/lipschitz_ratio of a gradient, both for L = 1.
        multiplier = self.noise_std(records, 1.0, lipschitz_ratio, gradients=gradients) * lipschitz_ratio * batch
        curve = _guarantee(multiplier, batch, records, times, "default").curve
        bounds = Ends.of(curve.epsilon(log_delta(records)))
        if curve.log_delta(self.epsilon).upper <= log_delta(records):
            # The bound on δ proves the ε of the arm, even if the search for ε ends slightly above it.
            return Ends(bounds.lower, min(bounds.upper, self.epsilon))
        return bounds


def log_delta(records: int) -> float:
    """Return log δ for the δ = n⁻² of the experiments.

    Args:
        records: number n of training records of a client, at least 1.

    Returns:
        The natural logarithm of δ, at most 0.
    """
    return -2.0 * math.log(records)


@functools.lru_cache(maxsize=256)
def certified_multiplier(batch: int, records: int, times: int, epsilon: float) -> float:
    """Search for the smallest noise multiplier that is certified for ε at δ = n⁻², if one record is replaced.

    The multiplier is the standard deviation of the noise of a sum of gradients, divided by the largest norm of a
    gradient.

    Args:
        batch: number of records of a noisy vector, drawn with replacement.
        records: number n of training records of the client.
        times: number of noisy vectors.
        epsilon: target ε.

    Returns:
        A multiplier that is certified to meet the target, and is the smallest up to the tolerance of the search.
    """
    target = Target.of(epsilon, None, log_delta(records) / math.log(10.0))

    def family(multiplier: float, effort: Effort) -> Guarantee:
        """Return the privacy guarantee of the run at a noise multiplier."""
        return _guarantee(multiplier, batch, records, times, effort)

    return smallest_noise(family, target, guess=1.0).noise


def _guarantee(multiplier: float, batch: int, records: int, times: int, effort: Effort) -> Guarantee:
    """Return the privacy guarantee of a client's run towards the server, if one record of the client is replaced.

    The client draws each batch with replacement, and adds Gaussian noise to its sum of gradients.

    Args:
        multiplier: standard deviation of the noise of a sum of gradients, divided by the largest norm of a gradient.
        batch: number of records of a noisy vector.
        records: number n of training records of the client.
        times: number of noisy vectors.
        effort: work that the composition may take.

    Returns:
        The guarantee, with certified bounds on δ as a function of ε.
    """
    noisy_vector = Subsampled(
        sampling="with-replacement",
        batch_size=batch,
        population=records,
        mechanism=Gaussian(noise_multiplier=multiplier),
    )
    whole_run = Repeated(times=times, mechanism=noisy_vector)
    answer = account(whole_run, relation="replace-one", unit="record", observer="server", effort=effort)
    return answer.guarantee

"""Attacks on a unit that is in a secret random set of batches, with Gaussian noise on every batch sum.

All other contributions are known, so each output is noise around 0, or around a shift if the unit is in the batch. The
likelihood ratio of outputs y₁, …, y_t is the mean of Π e^{a y_i − a²/2} over all sets of k batches, with a the shift.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.audits.worlds import Floats, Integers


@dataclass(frozen=True)
class AllocatedSum:
    """Attack on a contribution that is added to k of t noisy sums.

    The k sums are chosen uniformly at random, and the attacker does not see the choice. The noise is standard normal.

    Attributes:
        shifts: shift of a sum by the contribution, for each data set ("world"), in standard deviations of the noise.
        steps: number of sums t.
        times_chosen: number k of sums with the contribution.
    """

    shifts: tuple[float, ...]
    steps: int
    times_chosen: int = 1

    @property
    def worlds(self) -> int:
        """Number of neighbouring data sets ("worlds") that the attack distinguishes."""
        return len(self.shifts)

    @property
    def work(self) -> float:
        """Cost of drawing all sums, and of their likelihood ratio for each data set."""
        return float(self.steps * (1 + len(self.shifts) * self.times_chosen))

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Draw outputs, and return the log likelihood ratio of each data set ("world") against no contribution.

        Given the set of k sums, the ratio is a product of one ratio for each sum. It is averaged over all sets of k
        sums.

        Args:
            generator: source of randomness.
            world: index of the data set of each run, on which its outputs are drawn, (runs,).

        Returns:
            Logarithms of the likelihood ratios, (worlds, runs).
        """
        shift_of_run = np.asarray(self.shifts)[world]
        remaining_choices = np.full(world.size, self.times_chosen)
        # Row j of a world has the log of the elementary symmetric polynomial of degree j of all ratios so far.
        polynomials = np.full((self.worlds, self.times_chosen + 1, world.size), -math.inf)
        polynomials[:, 0] = 0.0
        for step in range(self.steps):
            # A sum is chosen with probability (remaining choices)/(remaining sums), which gives a uniform set.
            remaining_sums = self.steps - step
            is_chosen = generator.random(world.size) * remaining_sums < remaining_choices
            remaining_choices = remaining_choices - is_chosen
            output = generator.standard_normal(world.size) + np.where(is_chosen, shift_of_run, 0.0)
            for index, shift in enumerate(self.shifts):
                # The log likelihood ratio of one sum with the contribution against without it.
                terms = polynomials[index, :-1] + shift * output - 0.5 * shift * shift
                polynomials[index, 1:] = np.logaddexp(polynomials[index, 1:], terms)

        # The mean over all sets is the polynomial of degree k, divided by the number of sets of k among t sums.
        log_sets = math.lgamma(self.steps + 1)
        log_sets -= math.lgamma(self.times_chosen + 1) + math.lgamma(self.steps - self.times_chosen + 1)
        return np.asarray(polynomials[:, -1] - log_sets)

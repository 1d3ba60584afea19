"""The draw of whether the changed record, the victim, is in a batch: by one random number, or with the whole batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epsilond.accountants.specs import Subsampled
from epsilond.simulators.algorithms.batches import poisson_batches, without_replacement_batches

Bools = npt.NDArray[np.bool_]
MASK_ENTRIES = 500_000
"""Largest number of entries in the masks of the batches that are drawn at one time."""


@dataclass(frozen=True)
class SampledParticipation:
    """Draw that decides whether the changed record (the victim) is in a batch.

    With a `population`, whole batches are drawn by the program that a training runs. Without it, a single random number
    decides whether the victim is in a batch.

    Attributes:
        rate: probability that the victim is in a batch.
        batch_size: number of records in a batch; None for Poisson batches.
        population: number of records; None for a single random number.
        largest_batch: largest size of a Poisson batch. Of more drawn records a uniform subset of this size is kept.
            None if there is no limit.
        drawn_rate: probability that a record is drawn, before a batch is cut to its largest size; None without a limit.
    """

    rate: float
    batch_size: int | None = None
    population: int | None = None
    largest_batch: int | None = None
    drawn_rate: float | None = None

    @property
    def work(self) -> float:
        """Cost of one draw, in units of Gaussian noise on one number: of a coin, or of every record."""
        if self.population is None:
            return 0.5
        return 0.4 * self.population

    def draw(self, generator: np.random.Generator, count: int) -> Bools:
        """Draw for each of some batches whether the victim, the changed record, is in it.

        With a population, whole batches are drawn, and the victim is record 0. Without one, each draw is a coin.

        Args:
            generator: source of randomness.
            count: number of batches, at least 0.

        Returns:
            A mask, (count,); true where the victim is in the batch.
        """
        if self.population is None:
            return generator.random(count) < self.rate
        if count == 0:
            return np.zeros(0, dtype=np.bool_)
        # To bound the memory, a chunk has at most `MASK_ENTRIES` entries, or one batch if that has more.
        rows = max(1, MASK_ENTRIES // self.population)
        chunks = []
        for start in range(0, count, rows):
            batches = self._batches(generator, min(rows, count - start))
            chunks.append(batches[:, 0])  # the victim is record 0
        return np.concatenate(chunks)

    def _batches(self, generator: np.random.Generator, rows: int) -> Bools:
        """Draw whole batches with the functions that a training uses.

        Args:
            generator: source of randomness.
            rows: number of batches, at least 0.

        Returns:
            Membership masks, (rows, population); true where the record is in the batch.
        """
        assert self.population is not None
        # Poisson batches above the largest size are cut to a uniform subset of that size.
        if self.largest_batch is not None:
            drawn = poisson_batches(generator, (rows, self.population), self.drawn_rate or self.rate)
            return truncate_batches(generator, drawn, self.largest_batch)
        if self.batch_size is None:
            return poisson_batches(generator, (rows, self.population), self.rate)
        return without_replacement_batches(generator, rows, self.population, self.batch_size)


def truncate_batches(generator: np.random.Generator, drawn: Bools, largest_batch: int) -> Bools:
    """Return batches of at most a largest size, by keeping a uniform random subset of each larger batch.

    Args:
        generator: source of random numbers.
        drawn: whether each record was drawn, one row for each batch.
        largest_batch: largest number of records in a batch.

    Returns:
        Whether each record is in the batch, in the shape of `drawn`.
    """
    order = np.where(drawn, generator.random(drawn.shape), 2.0)  # records that were not drawn are last
    ranks = np.argsort(np.argsort(order, axis=1), axis=1)
    return drawn & (ranks < largest_batch)


def truncated_participation(spec: Subsampled, *, implemented: bool) -> SampledParticipation:
    """Return the participation of a record in a Poisson batch with a largest size.

    Each of n records is drawn with probability q, and at most B are kept. The changed record is called the victim. It
    is kept with probability q P(Bin(n − 1, q) < B) + (B/n) P(Bin(n, q) > B), with binomial variables Bin. Either it is
    drawn with fewer than B other records, or it is in the uniform subset of a larger batch.

    Args:
        spec: the draw, with `rate`, `population` and `largest_batch`.
        implemented: whether whole batches are drawn by the program that a training runs.

    Returns:
        The draw, with this probability.
    """
    from scipy.stats import binom  # noqa: PLC0415  the import takes a second, and only this draw needs it

    rate = spec.inclusion_probability
    population = spec.population or 1
    largest = spec.largest_batch or 1
    # The two cases of the formula: fewer than B other records, and a truncated batch.
    untruncated = float(binom.cdf(largest - 1, population - 1, rate))
    truncated = float(binom.sf(largest, population, rate))
    kept_share = min(largest / population, 1.0)
    in_batch = rate * untruncated + kept_share * truncated
    if not implemented:
        return SampledParticipation(in_batch)
    return SampledParticipation(in_batch, population=population, largest_batch=largest, drawn_rate=rate)

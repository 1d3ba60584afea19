"""Batches of records, and the interface of clients that return gradients of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from epsilond.accountants.quantities import Sampling
from epsilond.mechanisms.randomness import WORD, RandomSource
from epsilond.training.arrays import Bools, Floats, Indices


@dataclass(frozen=True)
class Batch:
    """Batches of records of M clients, as indices; each batch has up to K records.

    Attributes:
        clients: indices of the clients, (M,).
        places: indices of the batch's records among the records of their client, (M, K).
        counted: False for entries of `places` that only fill up a shorter batch, and True for the others, (M, K). None
            if all batches have K records.
    """

    clients: Indices
    places: Indices
    counted: Bools | None = None

    @classmethod
    def of(cls, clients: Indices, places: Sequence[Indices]) -> Batch:
        """Build a batch from the indices of the records of each client.

        Args:
            clients: indices of M clients, (M,).
            places: for each client, the indices of the batch's records among its own records. Their numbers may differ.

        Returns:
            The batch. If the numbers of records differ, shorter rows are filled up with zeros, which a mask excludes.
        """
        sizes = np.asarray([len(records) for records in places], dtype=np.int64)
        largest = int(sizes.max(initial=0))
        if len(places) and np.all(sizes == largest):
            return cls(clients, np.stack(places))

        padded = np.zeros((len(places), largest), dtype=np.int64)
        for row, records in zip(padded, places, strict=True):
            row[: len(records)] = records
        is_record = np.arange(largest) < sizes[:, None]
        return cls(clients, padded, is_record)

    def own(self, row: int) -> Indices:
        """Return the indices of one client's records, without padding.

        Args:
            row: position of the client in the batch, from 0.

        Returns:
            The indices among the client's records, in the order of the batch.
        """
        places: Indices = self.places[row]
        if self.counted is None:
            return places
        records: Indices = places[self.counted[row]]
        return records

    @property
    def sizes(self) -> Indices:
        """Number of records in the batch of each client, without padding, (M,)."""
        if self.counted is None:
            return np.full(len(self.clients), self.places.shape[1], dtype=np.int64)
        return np.asarray(np.sum(self.counted, axis=1), dtype=np.int64)


@dataclass(frozen=True)
class GradientStatistics:
    """Statistics of gradients before clipping: functions of the data that no guarantee covers.

    Attributes:
        largest_norm: largest ℓ2 norm of a gradient with finite entries.
        clipped: number of gradients longer than the bound, beyond rounding.
        not_finite: number of gradients with NaN or infinite entries; they count as zeros.
    """

    largest_norm: float = 0.0
    clipped: int = 0
    not_finite: int = 0

    def merge(self, other: GradientStatistics) -> GradientStatistics:
        """Return the statistics of both sets of gradients together: the larger norm, and the sums of the counts."""
        return GradientStatistics(
            largest_norm=max(self.largest_norm, other.largest_norm),
            clipped=self.clipped + other.clipped,
            not_finite=self.not_finite + other.not_finite,
        )


class Gradients(Protocol):
    """Interface of N clients to training loops, which need sums of clipped gradients with d coordinates.

    The clients may have tables of data or gradient functions of the caller.
    """

    @property
    def sizes(self) -> Indices:
        """(N,): number of records of each client."""

    @property
    def dimension(self) -> int:
        """Dimension d of a gradient."""

    @property
    def means_only(self) -> bool:
        """True if some client returns only means, so that the gradients of its records cannot be clipped here."""

    def sums(self, models: Floats, batch: Batch, bounds: Floats) -> tuple[Floats, GradientStatistics]:
        """Return the sum of the clipped gradients of each client in a batch.

        A gradient with NaN or infinite entries counts as zeros.

        Args:
            models: one model (d,) for all clients, or one per client (M, d), for d coordinates.
            batch: records of M clients.
            bounds: clipping norm of each client, (M,).

        Returns:
            The sums, (M, d), and statistics of the gradients before clipping.
        """


def integers(source: RandomSource, count: int, size: int) -> Indices:
    """Draw independent integers from 0, …, count − 1, with exactly equal probabilities.

    The integers are remainders of random words, numbers of `WORD` random bits. Words from the largest multiple of
    `count` on are drawn again, because otherwise small remainders would be more probable.

    Args:
        source: source of random words.
        count: number of values of an integer, at least 1.
        size: number of integers.

    Returns:
        The integers, shape (size,).
    """
    possible_words = 1 << WORD
    largest_accepted = np.uint64(possible_words - possible_words % count - 1)
    words = source.words((size,))
    is_rejected = words > largest_accepted
    while is_rejected.any():
        words = np.where(is_rejected, source.words((size,)), words)
        is_rejected = words > largest_accepted
    remainders = np.asarray(words % np.uint64(count))
    return remainders.astype(np.int64)


def draw(source: RandomSource, sampling: Sampling, clients: Indices, sizes: Indices, batch_sizes: Indices) -> Batch:
    """Draw a batch of records for each of M clients, independently of earlier batches.

    Args:
        source: source of randomness.
        sampling: distribution of a batch. `full`: all records of the client. `poisson`: each record independently with
            the same probability. `with-replacement`: independent uniform records. Otherwise: a uniform subset.
        clients: indices of the clients, (M,).
        sizes: number of records of each client, (M,).
        batch_sizes: number of records of each batch, (M,), and for `poisson` the expected number. Not used for `full`.

    Returns:
        The batches of all M clients. A Poisson batch may be empty.
    """
    counts = list(zip(sizes.tolist(), batch_sizes.tolist(), strict=True))
    if sampling == "full":
        all_records = [np.arange(size) for size, _ in counts]
        return Batch.of(clients, all_records)
    if sampling == "poisson":
        included = [source.flips(batch_size / size, (size,)) for size, batch_size in counts]
        return Batch.of(clients, [np.flatnonzero(is_included) for is_included in included])
    if sampling == "with-replacement":
        return Batch.of(clients, [integers(source, size, batch_size) for size, batch_size in counts])

    # Uniform subsets of fixed size. If all clients have the same sizes, one call for all of them is faster.
    are_clients_equal = len(set(counts)) == 1
    if are_clients_equal:
        size, batch_size = counts[0]
        return Batch(clients, source.subsets((len(counts),), size, batch_size))
    return Batch.of(clients, [source.subsets((), size, batch_size) for size, batch_size in counts])

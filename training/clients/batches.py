"""Which records of which clients a round reads."""

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
    """Records of M clients: places (M, K) among each client's own, and whether each counts (None: all do)."""

    clients: Indices
    places: Indices
    counted: Bools | None = None

    @classmethod
    def of(cls, clients: Indices, places: Sequence[Indices]) -> Batch:
        """Of batches that need not be equally large."""
        sizes = np.asarray([len(one) for one in places], dtype=np.int64)
        most = int(sizes.max(initial=0))
        if len(places) and np.all(sizes == most):
            return cls(clients, np.stack(places))
        filled = np.zeros((len(places), most), dtype=np.int64)
        for row, one in zip(filled, places, strict=True):
            row[: len(one)] = one
        return cls(clients, filled, np.arange(most) < sizes[:, None])

    def own(self, row: int) -> Indices:
        """The places of one client that count."""
        places: Indices = self.places[row]
        return places if self.counted is None else places[self.counted[row]]

    @property
    def sizes(self) -> Indices:
        """(M,): how many records count."""
        if self.counted is None:
            return np.full(len(self.clients), self.places.shape[1], dtype=np.int64)
        return np.asarray(np.sum(self.counted, axis=1), dtype=np.int64)


@dataclass(frozen=True)
class Met:
    """What gradients were like before they were clipped: functions of the data that no guarantee covers."""

    largest_norm: float = 0.0
    clipped: int = 0
    """Gradients that were longer than the bound, by more than rounding."""
    not_finite: int = 0
    """Gradients that were no numbers, and count as zeros."""

    def and_of(self, other: Met) -> Met:
        """Both together."""
        largest = max(self.largest_norm, other.largest_norm)
        return Met(largest, self.clipped + other.clipped, self.not_finite + other.not_finite)


class Gradients(Protocol):
    """N clients' gradients of d coordinates."""

    @property
    def sizes(self) -> Indices:
        """(N,): how many records each client has."""

    @property
    def dimension(self) -> int:
        """d."""

    @property
    def means_only(self) -> bool:
        """Whether some client returns means alone, so that its records' gradients cannot be clipped by us."""

    def sums(self, models: Floats, batch: Batch, bounds: Floats) -> tuple[Floats, Met]:
        """Σ of the gradients, each scaled down to norm `bounds` (M,), of every client at models (d,) or (M, d): (M, d).

        A gradient that is no number counts as zeros.
        """


def integers(source: RandomSource, count: int, size: int) -> Indices:
    """Independent and uniform on 0, …, count − 1: exactly, by rejection."""
    limit = np.uint64((1 << WORD) - (1 << WORD) % count - 1)
    drawn = source.words((size,))
    while (beyond := drawn > limit).any():
        drawn = np.where(beyond, source.words((size,)), drawn)
    return np.asarray(drawn % np.uint64(count)).astype(np.int64)


def draw(source: RandomSource, sampling: Sampling, clients: Indices, sizes: Indices, batch_sizes: Indices) -> Batch:
    """Batches of these clients, afresh: `sizes` and `batch_sizes` (M,) are their records and those to be read."""
    rows = list(zip(sizes.tolist(), batch_sizes.tolist(), strict=True))
    if sampling == "full":
        return Batch.of(clients, [np.arange(n) for n, _ in rows])
    if sampling == "poisson":
        return Batch.of(clients, [np.flatnonzero(source.flips(k / n, (n,))) for n, k in rows])
    if sampling == "with-replacement":
        return Batch.of(clients, [integers(source, n, k) for n, k in rows])
    if len(set(rows)) == 1:
        ((n, k),) = set(rows)
        return Batch(clients, source.subsets((len(rows),), n, k))
    return Batch.of(clients, [source.subsets((), n, k) for n, k in rows])

"""Integers with discrete Gaussian noise that is taken back: what `cancelled` does, without floating point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.arrays import Array
from epsilond.mechanisms.calibrated.grid_gaussian import GridRelease
from epsilond.mechanisms.calibrated.release import Release
from epsilond.mechanisms.randomness import Integers, RandomSource, secure
from epsilond.mechanisms.two_sided import discrete_gaussian


@dataclass(frozen=True, kw_only=True)
class GridCancelledRelease(Release):
    """Releases N = 1, 2, …: Σ of snapped contributions + ξ_N − ξ_{N−1}, ξ_N discrete Gaussian of σ²N, or of σ².

    A record that is in the n-th release alone is ρ-zero-concentrated private, ρ = Σ Δ²/(2σ_N²) over N = n, …, K, in
    steps: σ_N² is σ²N if noise grows, else σ²; Δ is `grid.norm_in_steps`, twice that where a record is replaced. Proof:
    the sum of the first N releases is the contributions so far plus ξ_N, and ξ_1, …, ξ_K are independent; the record
    moves each of these sums from the n-th on by one and the same integer vector, later reports being made of what was
    released and of other records. Each is Δ²/(2σ_N²)-concentrated as `GridRelease` says, and ρ adds up.
    """

    grid: GridRelease
    """How contributions become integers; σ is its `noise_in_steps`."""
    grows: bool
    """Whether the variance of ξ_N is σ²N; else it is σ²."""
    most_releases: int

    def start(self) -> GridCancelling:
        """The state of one client, or of the server, before its first release."""
        return GridCancelling(self)


@dataclass
class GridCancelling:
    """One client or server that releases, and remembers its last noise. What it holds has to stay secret."""

    mechanism: GridCancelledRelease
    releases: int = 0
    held: Integers | None = field(default=None, repr=False)

    def release(self, total: Integers, source: RandomSource | None = None) -> Integers:
        """A sum of encoded contributions with ξ_N − ξ_{N−1}, which is what may be seen, and N goes up by one.

        Raises:
            InvalidInput: the answer's bound on N is reached, or the total is not of `dimension` integers.
        """
        grid = self.mechanism.grid
        if self.releases == self.mechanism.most_releases:
            raise InvalidInput.at("/releases", "are all made", allowed=f"{self.mechanism.most_releases}")
        if total.dtype != np.int64 or total.shape != (grid.dimension,):
            raise InvalidInput.at("/total", "is not a sum of encoded contributions", allowed=f"{grid.dimension} int64")
        (std,) = grid.noise_in_steps
        if self.mechanism.grows and self.releases:
            # Two roundings up: of the root, and of the product.
            root = math.nextafter(math.sqrt(self.releases + 1), math.inf)
            std = math.nextafter(std * root, math.inf)
        made = discrete_gaussian(std, total.shape, source or secure())
        released = total + made if self.held is None else total + made - self.held
        self.held, self.releases = made, self.releases + 1
        return released

    def __call__(self, contributions: Array | Sequence[Array], source: RandomSource | None = None) -> Array:
        """Encoded, added up, released and decoded: contributions (n, …) to (…), kind and type as they came.

        Raises:
            InvalidInput: as `release`, or as the grid's own `encode`.
        """
        total, like = self.mechanism.grid.sum(contributions, source)
        return like(self.mechanism.grid.decode(self.release(total, source)))

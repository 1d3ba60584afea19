"""Releases of which the noise is cancelled by later ones, on integers, with discrete Gaussian noise."""

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
    """Releases of sums of rounded contributions, with discrete Gaussian noise that a later release cancels.

    Release N = 1, 2, …, K is the sum of the rounded contributions plus ξ_N − ξ_{N−1}. Here ξ_N is discrete Gaussian
    noise, and ξ_0 = 0. The parameter of ξ_N is σ_N, in steps, with σ_N² = σ²N if the noise grows and σ² otherwise.

    Attributes:
        grid: rounding of contributions to integers; σ is its `noise_in_steps`.
        grows: True if the variance parameter of ξ_N is σ²N, false if it is σ².
        most_releases: largest number K of releases that the guarantee covers.

    Guarantees:
        A record that is only in the n-th release has ρ-zero-concentrated differential privacy (ρ-zCDP). Here ρ is the
        sum of Δ²/(2σ_N²) over N = n, …, K. Δ is `grid.norm_in_steps`, or twice that if neighbours replace a record.
        Proof: the sum of the first N releases is the sum of the contributions so far plus ξ_N, and ξ_1, …, ξ_K are
        independent. One record changes the sums from the n-th on by the same integer vector. This holds because later
        reports depend only on earlier releases and on other records. Each sum is Δ²/(2σ_N²)-zCDP as in `GridRelease`,
        and ρ adds up.
    """

    grid: GridRelease
    grows: bool
    most_releases: int

    def start(self) -> GridCancelling:
        """Return the state of one client, or of the server, before its first release."""
        return GridCancelling(self)


@dataclass
class GridCancelling:
    """State of the client or server that adds cancelling noise on the grid.

    Release N adds fresh discrete Gaussian noise ξ_N and subtracts the noise ξ_{N−1} of the previous release.

    Attributes:
        mechanism: parameters of the releases.
        releases: number of releases so far.
        last_noise: noise of the last release, None before the first. It must stay secret.
    """

    mechanism: GridCancelledRelease
    releases: int = 0
    last_noise: Integers | None = field(default=None, repr=False)

    def release(self, total: Integers, source: RandomSource | None = None) -> Integers:
        """Add the noise of the next release to a sum of encoded contributions, and count the release.

        The noise of release N is ξ_N − ξ_{N−1}: new discrete Gaussian noise minus the noise of the last release.

        Args:
            total: the sum, a vector of `dimension` integers.
            source: source of the random bits; the operating system if None.

        Returns:
            The noisy sum, which may be published.

        Raises:
            InvalidInput: all releases that the guarantee covers are made, or the total is not a vector of `dimension`
                integers.
        """
        grid = self.mechanism.grid
        if self.releases == self.mechanism.most_releases:
            raise InvalidInput.at("/releases", "are all made", allowed=f"{self.mechanism.most_releases}")
        if total.dtype != np.int64 or total.shape != (grid.dimension,):
            raise InvalidInput.at("/total", "is not a sum of encoded contributions", allowed=f"{grid.dimension} int64")

        # Integers add exactly, so that the earlier noise cancels without rounding error.
        fresh_noise = discrete_gaussian(self._noise_in_steps(), total.shape, source or secure())
        noisy_total = total + fresh_noise
        if self.last_noise is not None:
            noisy_total = noisy_total - self.last_noise
        self.last_noise = fresh_noise
        self.releases += 1
        return noisy_total

    def _noise_in_steps(self) -> float:
        """Return the parameter σ_N of the discrete Gaussian noise of the next release, rounded up.

        If the noise grows, σ_N is √N times the parameter of the first release.

        Returns:
            The parameter σ_N, in grid steps.
        """
        (std,) = self.mechanism.grid.noise_in_steps
        if not self.mechanism.grows or self.releases == 0:
            return std
        number = self.releases + 1
        # The root and the product are each rounded to the nearest double, so the next larger ones are upper bounds.
        upper_root = math.nextafter(math.sqrt(number), math.inf)
        return math.nextafter(std * upper_root, math.inf)

    def __call__(self, contributions: Array | Sequence[Array], source: RandomSource | None = None) -> Array:
        """Encode contributions, release their sum, and decode it.

        Args:
            contributions: an array (n, …), or the layers of a model as a list of such arrays.
            source: source of the random bits; the operating system if None.

        Returns:
            The release: an array (…) or a list of arrays, of the caller's types and library.

        Raises:
            InvalidInput: all releases that the guarantee covers are made, or the contributions are not arrays of this
                dimension, or are too many or too large for one release.
        """
        grid = self.mechanism.grid
        total, restore = grid.sum(contributions, source)
        noisy_total = self.release(total, source)
        return restore(grid.decode(noisy_total))

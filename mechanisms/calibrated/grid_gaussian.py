"""Contributions that are rounded to integers, and discrete Gaussian noise on their sum, which is added exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.arrays import Array, flatten
from epsilond.mechanisms.calibrated.answer import round_up
from epsilond.mechanisms.calibrated.release import Release, demand_batch
from epsilond.mechanisms.clipping import clip
from epsilond.mechanisms.grid import Rounding, norm_in_steps, snap
from epsilond.mechanisms.randomness import Floats, Integers, RandomSource, secure
from epsilond.mechanisms.two_sided import LEAST_NOISE_STD, MOST_NOISE_STD, discrete_gaussian

MOST_SUM = 1 << 62
"""Largest size of a sum, in steps; the sum with its noise then fits in 63 bits."""


@dataclass(frozen=True, kw_only=True)
class GridRelease(Release):
    """Sum of contributions, each clipped and rounded to a grid, plus discrete Gaussian noise; integers, added exactly.

    Attributes:
        contribution_bound: largest ℓ2 norm of a contribution before rounding; longer ones are clipped to it.
        weight: factor of the sum in the release.
        step: distance of grid points, in the unit of a contribution.
        rounding: rounding of contributions to the grid.
        dimension: number of coordinates of a contribution.
        norm_in_steps: upper bound on the ℓ2 norm of one rounded contribution, in steps.
        noise_in_steps: σ of the discrete Gaussian, in steps: one entry for all releases, or one for each step of the
            run.
        most_contributions: largest number of contributions in one release; None for no limit.

    Guarantees:
        Each release has ρ-zero-concentrated differential privacy with ρ = Δ²/(2σ²), in steps. Δ is `norm_in_steps` if
        neighbours add, remove or zero out one contribution, and twice that if they replace one. σ is `noise_in_steps`.
        Proof: the norm of a rounded contribution is at most `norm_in_steps`, and integers add exactly. Theorem 4 of
        Canonne, Kamath and Steinke 2020 is about the distribution that `discrete_gaussian` draws. Amplification by
        subsampling needs theorems about discrete noise; those about continuous Gaussian noise do not apply.
    """

    contribution_bound: float
    weight: float
    step: float
    rounding: Rounding
    dimension: int
    norm_in_steps: float
    noise_in_steps: tuple[float, ...]
    most_contributions: int | None = None

    @classmethod
    def from_noise_ratios(
        cls,
        ratios: Sequence[Fraction],
        *,
        contribution_bound: float,
        step: float,
        rounding: Rounding,
        dimension: int,
        **fields: Any,
    ) -> GridRelease:
        """Build a release with at least the given ratios of noise to norm.

        Args:
            ratios: σ over the norm of a rounded contribution: one for all releases, or one for each step of the run.
            contribution_bound: ℓ2 norm bound of a contribution before rounding.
            step: distance of grid points, in the unit of a contribution.
            rounding: rounding of contributions to the grid.
            dimension: number of coordinates of a contribution.
            **fields: the other fields of the release, without `guarantee`, which is None.

        Returns:
            The release, with its norm and its noise in steps of the grid, both rounded up.

        Raises:
            InvalidInput: the noise is outside the range of the sampler, or the rounding is unknown.
        """
        # A rounded contribution may be longer than the bound. The noise is in proportion to its norm.
        norm = norm_in_steps(contribution_bound, step, rounding, dimension)
        stds = tuple(round_up(ratio * norm) for ratio in ratios)
        if not LEAST_NOISE_STD <= min(stds) <= max(stds) <= MOST_NOISE_STD:
            raise InvalidInput.at("/step", "makes noise of too few or too many steps", allowed="2^-20 to 2^40 steps")
        return cls(
            guarantee=None,
            contribution_bound=contribution_bound,
            step=step,
            rounding=rounding,
            dimension=dimension,
            norm_in_steps=round_up(norm),
            noise_in_steps=stds,
            **fields,
        )

    def encode(self, contributions: Array | Sequence[Array], source: RandomSource | None = None) -> Integers:
        """Clip contributions and round them to the grid.

        Args:
            contributions: an array (n, …), or the layers of a model as a list of such arrays.
            source: source of the random bits of stochastic rounding; the operating system if None.

        Returns:
            Integers (n, d) with d = `dimension`, each row of ℓ2 norm at most `norm_in_steps`.

        Raises:
            InvalidInput: the contributions are not arrays, or have another dimension.
        """
        rows, _ = flatten(contributions, records=True, pointer="/contributions")
        return self._encode_rows(rows, source)

    def _encode_rows(self, rows: Floats, source: RandomSource | None) -> Integers:
        """Clip the contributions, one in each row, and round them to the grid.

        Args:
            rows: contributions, (n, d).
            source: source of the random bits of stochastic rounding; the operating system if None.

        Returns:
            Integers (n, d), in steps.

        Raises:
            InvalidInput: the contributions do not have `dimension` coordinates.
        """
        if rows.shape[1] != self.dimension:
            raise InvalidInput.at("/contributions", "has another dimension", allowed=f"(n, …) of {self.dimension} each")
        clipped = clip(rows, self.contribution_bound, records=True).values
        return snap(clipped, self.step, self.rounding, source or secure())

    def release(self, total: Integers, *, step: int | None = None, source: RandomSource | None = None) -> Integers:
        """Add noise to a sum of encoded contributions.

        Args:
            total: the sum, 64-bit integers of size at most 2^62.
            step: number of the step of the run, from 1. Required if σ differs by step.
            source: source of the random bits; the operating system if None.

        Returns:
            The noisy sum, which may be published.

        Raises:
            InvalidInput: the total is not an array of such integers, or there is no such step.
        """
        is_integer = total.dtype == np.int64
        # The absolute value of −2^63 has no 64-bit integer, so both ends are compared.
        if not is_integer or (total.size and max(int(total.max()), -int(total.min())) > MOST_SUM):
            raise InvalidInput.at("/total", "is not a sum of integers", allowed="int64, up to 2^62")
        noise = discrete_gaussian(self.noise_in_steps_at(step), total.shape, source or secure())
        return total + noise

    def noise_in_steps_at(self, step: int | None = None) -> float:
        """Return σ of the discrete Gaussian noise at a step of the run, in steps of the grid.

        A step of the grid is the distance of two neighbouring grid points.

        Args:
            step: number of the step of the run, from 1. Required if σ differs by step, otherwise unused.

        Returns:
            The parameter σ of the noise on integers, above 0.

        Raises:
            InvalidInput: σ differs by step, and the step is missing or outside the run.
        """
        if len(self.noise_in_steps) == 1:
            return self.noise_in_steps[0]
        if step is None or not 1 <= step <= len(self.noise_in_steps):
            raise InvalidInput.at("/step", "noise differs by step", allowed=f"1 to {len(self.noise_in_steps)}")
        return self.noise_in_steps[step - 1]

    def decode(self, released: Integers) -> Floats:
        """Convert released integers to the unit of the release, by weight · step."""
        return np.asarray(released * (self.weight * self.step))

    def __call__(
        self, contributions: Array | Sequence[Array], *, step: int | None = None, source: RandomSource | None = None
    ) -> Array:
        """Encode contributions, release their sum, and decode it.

        Args:
            contributions: an array (n, …), or the layers of a model as a list of such arrays.
            step: number of the step of the run, from 1. Required if σ differs by step.
            source: source of the random bits; the operating system if None.

        Returns:
            The release: an array (…) or a list of arrays, of the caller's types and library.

        Raises:
            InvalidInput: the contributions are not arrays of this dimension, or too many for one release. Also if there
                is no such step, or the sum may not fit in 63 bits.
        """
        total, restore = self.sum(contributions, source)
        noisy_total = self.release(total, step=step, source=source)
        return restore(self.decode(noisy_total))

    def sum(
        self, contributions: Array | Sequence[Array], source: RandomSource | None = None
    ) -> tuple[Integers, Callable[[Floats], Array]]:
        """Encode contributions and add them up, without noise; the sum is not private.

        Args:
            contributions: an array (n, …), or the layers of a model as a list of such arrays.
            source: source of the random bits of stochastic rounding; the operating system if None.

        Returns:
            The sum, a vector of integers. Also a function that converts a decoded sum to the shapes, types and library
            of one contribution.

        Raises:
            InvalidInput: the contributions are not arrays of this dimension, or too many for one release. Also if their
                sum may not fit in 63 bits.
        """
        rows, restore = flatten(contributions, records=True, pointer="/contributions")
        demand_batch(len(rows), self.most_contributions)
        integers = self._encode_rows(rows, source)
        # Check an upper bound on every coordinate of the sum, which could overflow itself.
        largest_sum = len(integers) * float(np.abs(integers).max(initial=0))
        if largest_sum > MOST_SUM:
            raise InvalidInput.at("/contributions", "have a sum of too many steps", allowed="a larger step")
        return integers.sum(axis=0), restore

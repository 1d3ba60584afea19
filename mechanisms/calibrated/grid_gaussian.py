"""Contributions as integers, with discrete Gaussian noise on their sum: no floating point touches what is released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.arrays import Array, flattened
from epsilond.mechanisms.calibrated.answer import rounded_up
from epsilond.mechanisms.calibrated.release import Release, demand_batch
from epsilond.mechanisms.clipping import clip
from epsilond.mechanisms.grid import Rounding, norm_in_steps, snapped
from epsilond.mechanisms.randomness import Floats, Integers, RandomSource, secure
from epsilond.mechanisms.two_sided import LEAST_NOISE_STD, MOST_NOISE_STD, discrete_gaussian

MOST_SUM = 1 << 62


@dataclass(frozen=True, kw_only=True)
class GridRelease(Release):
    """Σ of contributions, each clipped and snapped to a grid, plus discrete Gaussian noise: integers, added exactly.

    Each release is ρ-zero-concentrated private with ρ = Δ²/(2σ²), in steps: Δ is `norm_in_steps` where neighbours add,
    remove or zero one contribution, twice that where they replace one; σ is `noise_in_steps`. Proof: a contribution is
    certainly no longer than `norm_in_steps`, integers add exactly, and Canonne, Kamath and Steinke 2020, Theorem 4, is
    about the law that `discrete_gaussian` draws. Sampling amplifies it as its own theorems say, not as the Gaussian's.
    """

    contribution_bound: float
    weight: float
    step: float
    """Distance of grid points, in the unit of a contribution."""
    rounding: Rounding
    dimension: int
    norm_in_steps: float
    """Upper bound on the ℓ2 norm of one snapped contribution."""
    noise_in_steps: tuple[float, ...]
    """σ of the discrete Gaussian: one for all releases, or one for each step of the run."""
    most_contributions: int | None = None
    """That one release may hold, as of the `GaussianRelease` that it was made of."""

    @classmethod
    def of(cls, *, ratios: Fraction | Sequence[Fraction], **fields: Any) -> GridRelease:
        """With noise of at least these ratios of σ to the norm of a snapped contribution.

        Raises:
            InvalidInput: the noise is out of the sampler's range.
        """
        norm = norm_in_steps(fields["contribution_bound"], fields["step"], fields["rounding"], fields["dimension"])
        stds = tuple(rounded_up(ratio * norm) for ratio in ([ratios] if isinstance(ratios, Fraction) else ratios))
        if not LEAST_NOISE_STD <= min(stds) <= max(stds) <= MOST_NOISE_STD:
            raise InvalidInput.at("/step", "makes noise of too few or too many steps", allowed="2^-20 to 2^40 steps")
        return cls(**fields, norm_in_steps=rounded_up(norm), noise_in_steps=stds)

    def encode(self, contributions: Array | Sequence[Array], source: RandomSource | None = None) -> Integers:
        """Contributions (n, …) as integers (n, d), d `dimension`, each certainly within `norm_in_steps`.

        Layers of a model may be given as a list of such arrays.

        Raises:
            InvalidInput: they are no arrays, or of another dimension.
        """
        return self._encoded(flattened(contributions, records=True, pointer="/contributions")[0], source)

    def _encoded(self, given: Floats, source: RandomSource | None) -> Integers:
        if given.shape[1] != self.dimension:
            raise InvalidInput.at("/contributions", "has another dimension", allowed=f"(n, …) of {self.dimension} each")
        clipped = clip(given, self.contribution_bound, records=True).values
        return snapped(clipped, self.step, self.rounding, source or secure())

    def release(self, total: Integers, *, step: int | None = None, source: RandomSource | None = None) -> Integers:
        """A sum of encoded contributions with its noise, which is what may be seen.

        Raises:
            InvalidInput: the total is not of integers, or there is no such step.
        """
        if total.dtype != np.int64 or (total.size and int(np.abs(total).max()) > MOST_SUM):
            raise InvalidInput.at("/total", "is not a sum of integers", allowed="int64, up to 2^62")
        return total + discrete_gaussian(self.noise_in_steps_at(step), total.shape, source or secure())

    def noise_in_steps_at(self, step: int | None = None) -> float:
        """σ of a step of the run, counted from 1.

        Raises:
            InvalidInput: steps differ and none is given, or there is no such step.
        """
        if len(self.noise_in_steps) == 1:
            return self.noise_in_steps[0]
        if step is None or not 1 <= step <= len(self.noise_in_steps):
            raise InvalidInput.at("/step", "noise differs by step", allowed=f"1 to {len(self.noise_in_steps)}")
        return self.noise_in_steps[step - 1]

    def decode(self, released: Integers) -> Floats:
        """In the unit of the release: weight · step of each integer."""
        return np.asarray(released * (self.weight * self.step))

    def __call__(
        self, contributions: Array | Sequence[Array], *, step: int | None = None, source: RandomSource | None = None
    ) -> Array:
        """Encoded, added up, released and decoded: contributions (n, …) to (…), kind and type as they came.

        Raises:
            InvalidInput: as `encode` and `release`, or the sum may not fit into 63 bits.
        """
        total, like = self.sum(contributions, source)
        return like(self.decode(self.release(total, step=step, source=source)))

    def sum(
        self, contributions: Array | Sequence[Array], source: RandomSource | None = None
    ) -> tuple[Integers, Callable[[Floats], Array]]:
        """The sum (d,) of encoded contributions, not yet private, and what makes a decoded one of their kind.

        Raises:
            InvalidInput: as `encode`, or the sum may not fit into 63 bits.
        """
        given, like = flattened(contributions, records=True, pointer="/contributions")
        demand_batch(len(given), self.most_contributions)
        integers = self._encoded(given, source)
        if len(integers) * float(np.abs(integers).max(initial=0)) > MOST_SUM:
            raise InvalidInput.at("/contributions", "have a sum of too many steps", allowed="a larger step")
        return integers.sum(axis=0), like

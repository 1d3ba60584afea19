"""Noise that is taken back: each release carries fresh noise less what the one before carried (Reshef and Levy).

Whoever adds it keeps a state: how often it has released, and the noise of the last time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.arrays import Array, flattened
from epsilond.mechanisms.calibrated.answer import Answer, rounded_down
from epsilond.mechanisms.calibrated.gaussian import AddedBy
from epsilond.mechanisms.calibrated.grid_cancelled import GridCancelledRelease
from epsilond.mechanisms.calibrated.grid_gaussian import GridRelease
from epsilond.mechanisms.calibrated.release import CANCELLATION, CANCELLED_NO_CURVE, REAL_NUMBERS, SUMS, Release
from epsilond.mechanisms.clipping import Clipped, clip
from epsilond.mechanisms.continuous import gaussian
from epsilond.mechanisms.grid import Rounding, demand_step
from epsilond.mechanisms.randomness import Floats, RandomSource

RULES = {"base_std * sqrt(participations)": True, "base_std": False}
"""Whether noise grows with the number of releases."""


@dataclass(frozen=True, kw_only=True)
class CancelledRelease(Release):
    """Releases N = 1, 2, …: weight · Σ clipped contributions + ξ_N − ξ_{N−1}, ξ_N ~ N(0, base_std² N) by a client.

    A trusted server's ξ_N has variance base_std² whatever N; ξ_0 = 0. A client's contribution is its whole report s.
    """

    added_by: AddedBy
    contribution_bound: float
    weight: float
    base_std: float
    grows: bool
    """Whether the variance of ξ_N is base_std² N; else it is base_std²."""
    most_releases: int

    def clip(self, contributions: Array | Sequence[Array]) -> Clipped:
        """Each of the contributions along the first axis, as it enters the sum."""
        return clip(contributions, self.contribution_bound, records=True)

    def on_grid(self, step: float, *, dimension: int, rounding: Rounding = "towards-zero") -> GridCancelledRelease:
        """The same clipping and the same ratio of noise to norm, but integers with discrete Gaussian noise.

        `step` is the distance of grid points in the unit of a contribution, a power of two. The answer's guarantee is
        not carried over: see `left_open` of what is given back.

        Raises:
            InvalidInput: the step is no power of two, or leaves noise of too few or too many steps.
        """
        demand_step(step)
        carried = {
            "algorithm": self.algorithm,
            "guarantee": None,
            "declared_conditions": self.declared_conditions,
            "left_open": (CANCELLED_NO_CURVE,),
        }
        grid = GridRelease.of(
            **carried,
            contribution_bound=self.contribution_bound,
            weight=self.weight,
            step=step,
            rounding=rounding,
            dimension=dimension,
            ratios=Fraction(self.base_std) / (Fraction(self.weight) * Fraction(self.contribution_bound)),
        )
        return GridCancelledRelease(**carried, grid=grid, grows=self.grows, most_releases=self.most_releases)

    def start(self) -> Cancelling:
        """The state of one client, or of the server, before its first release."""
        return Cancelling(self)


@dataclass
class Cancelling:
    """One client or server that releases, and remembers its last noise. What it holds has to stay secret."""

    mechanism: CancelledRelease
    releases: int = 0
    held: Floats | None = field(default=None, repr=False)

    def noise(self, shape: tuple[int, ...], source: RandomSource | None = None) -> Floats:
        """ξ_N − ξ_{N−1}, and N goes up by one. Also of a round in which nothing is there to be added.

        Raises:
            InvalidInput: the answer's bound on N is reached, or the shape is not that of the last time.
        """
        if self.releases == self.mechanism.most_releases:
            raise InvalidInput.at("/releases", "are all made", allowed=f"{self.mechanism.most_releases}")
        if self.held is not None and self.held.shape != shape:
            raise InvalidInput.at("/contributions", "have another shape than before", allowed=f"{self.held.shape}")
        growth = math.sqrt(self.releases + 1) if self.mechanism.grows else 1.0
        made = gaussian(self.mechanism.base_std * growth, shape, source)
        added = made if self.held is None else made - self.held
        self.held, self.releases = made, self.releases + 1
        return added

    def __call__(self, contributions: Array | Sequence[Array], source: RandomSource | None = None) -> Array:
        """What is released of contributions (n, …), of shape (…), kind and type as they came; or layers, as a list.

        Raises:
            InvalidInput: as `noise`, or the contributions are no array.
        """
        given, like = flattened(contributions, records=True, pointer="/contributions")
        total = self.mechanism.weight * np.sum(self.mechanism.clip(given).values, axis=0)
        return like(total + self.noise(total.shape, source))


def cancelled(answer: Answer) -> CancelledRelease:
    """Of a client's report clipped to S, or of the server's sum of them."""
    place = answer.place
    at = f"{place}/schedule"
    base, multiplier = (Fraction(answer.number(f"{place}/{name}")) for name in ("noise_std", "noise_multiplier"))
    answer.demand(f"{at}/base_std", base)
    bound = answer.number(f"{place}/clipping_norm")
    rule, added_by = answer.text(f"{at}/rule"), answer.text(f"{at}/added_by")
    if rule not in RULES:
        raise InvalidInput.at(f"{at}/rule", "is not known", allowed=", ".join(RULES))
    if added_by not in {"client", "server"}:
        raise InvalidInput.at(f"{at}/added_by", "is not known", allowed="client, server")
    answer.demand(f"{answer.guarantee_place}/sensitivity", answer.sensitivity_factor * base / multiplier)
    weight = 1.0
    if added_by == "client":
        answer.demand(f"{place}/clipping_norm", base / multiplier)
    else:
        weight = rounded_down(base / multiplier / Fraction(bound))
    return CancelledRelease(
        **answer.common(),
        left_open=(REAL_NUMBERS, SUMS, CANCELLATION),
        added_by=cast("AddedBy", added_by),
        contribution_bound=min(bound, rounded_down(base / multiplier / Fraction(weight))),
        weight=weight,
        base_std=float(base),
        grows=RULES[rule],
        most_releases=answer.integer(f"{at}/most_participations"),
    )

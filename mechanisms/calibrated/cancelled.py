"""Noise cancellation: each release adds fresh noise and subtracts the noise of the previous release (Reshef and Levy).

The client or server that adds the noise keeps a state: its number of releases, and the noise of the last release.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.arrays import Array, flatten
from epsilond.mechanisms.calibrated.answer import Answer, round_down
from epsilond.mechanisms.calibrated.gaussian import AddedBy
from epsilond.mechanisms.calibrated.grid_cancelled import GridCancelledRelease
from epsilond.mechanisms.calibrated.grid_gaussian import GridRelease
from epsilond.mechanisms.calibrated.release import CANCELLATION, CANCELLED_NO_CURVE, REAL_NUMBERS, SUMS, Release
from epsilond.mechanisms.clipping import Clipped, clip
from epsilond.mechanisms.continuous import gaussian
from epsilond.mechanisms.grid import Rounding, demand_step
from epsilond.mechanisms.randomness import Floats, RandomSource

RULES = {"base_std * sqrt(participations)": True, "base_std": False}
"""Noise rules of an answer's schedule; true if the noise grows with the number of releases."""


@dataclass(frozen=True, kw_only=True)
class CancelledRelease(Release):
    """Releases of weighted sums of clipped contributions, with noise that a later release cancels.

    A client or a trusted server adds the noise. Release N = 1, 2, … is weight · (sum of the clipped contributions) +
    ξ_N − ξ_{N−1}, where ξ_N is the fresh Gaussian noise of release N, and ξ_0 = 0. If a client adds the noise, its only
    contribution is its own report.

    Attributes:
        added_by: `client` or `server`.
        contribution_bound: largest ℓ2 norm of a contribution; longer ones are clipped to it.
        weight: factor of the sum.
        base_std: standard deviation of ξ_1, in the unit of the release.
        grows: True if the variance of ξ_N is base_std² N, false if it is base_std².
        most_releases: largest N that the guarantee covers.
    """

    added_by: AddedBy
    contribution_bound: float
    weight: float
    base_std: float
    grows: bool
    most_releases: int

    def clip(self, contributions: Array | Sequence[Array]) -> Clipped:
        """Clip each contribution along the first axis as in the sum."""
        return clip(contributions, self.contribution_bound, records=True)

    def on_grid(self, step: float, *, dimension: int, rounding: Rounding = "towards-zero") -> GridCancelledRelease:
        """Return the same releases on a grid of integers, with discrete Gaussian noise.

        The clipping is the same, and so is the ratio of the noise to the norm bound. The calibrated guarantee (ε, δ) is
        for continuous noise, so the result has none. Its `left_open` states the guarantee that is proved instead.

        Args:
            step: distance of grid points in the unit of a contribution, a power of two.
            dimension: number of coordinates of a contribution.
            rounding: rounding of contributions to the grid.

        Returns:
            The release on the grid.

        Raises:
            InvalidInput: the step is not a power of two, the rounding is unknown, or the noise is below 2^-20 or above
                2^40 steps.
        """
        demand_step(step)
        # The ratio of the noise to the norm of one contribution in the sum is kept, as an exact fraction.
        norm_in_sum = Fraction(self.weight) * Fraction(self.contribution_bound)
        ratio = Fraction(self.base_std) / norm_in_sum
        grid = GridRelease.from_noise_ratios(
            [ratio],
            algorithm=self.algorithm,
            declared_conditions=self.declared_conditions,
            left_open=(CANCELLED_NO_CURVE,),
            contribution_bound=self.contribution_bound,
            weight=self.weight,
            step=step,
            rounding=rounding,
            dimension=dimension,
        )
        return GridCancelledRelease(
            algorithm=self.algorithm,
            guarantee=None,
            declared_conditions=self.declared_conditions,
            left_open=(CANCELLED_NO_CURVE,),
            grid=grid,
            grows=self.grows,
            most_releases=self.most_releases,
        )

    def start(self) -> Cancelling:
        """Return the state of one client, or of the server, before its first release."""
        return Cancelling(self)


@dataclass
class Cancelling:
    """State of the client or server that adds noise which its next release cancels.

    Release N adds fresh Gaussian noise ξ_N and subtracts the noise ξ_{N−1} of the previous release.

    Attributes:
        mechanism: parameters of the releases.
        releases: number of releases so far.
        last_noise: noise of the last release, None before the first. It must stay secret.
    """

    mechanism: CancelledRelease
    releases: int = 0
    last_noise: Floats | None = field(default=None, repr=False)

    def noise(self, shape: tuple[int, ...], source: RandomSource | None = None) -> Floats:
        """Draw the noise ξ_N − ξ_{N−1} of the next release, and count the release.

        A round without contributions draws its noise too.

        Args:
            shape: shape of the noise, the same in all releases.
            source: source of the random bits; the operating system if None.

        Returns:
            The noise to add.

        Raises:
            InvalidInput: all releases that the guarantee covers are made, or the shape differs from that of the last
                release.
        """
        mechanism = self.mechanism
        if self.releases == mechanism.most_releases:
            raise InvalidInput.at("/releases", "are all made", allowed=f"{mechanism.most_releases}")
        previous_noise = self.last_noise
        if previous_noise is not None and previous_noise.shape != shape:
            raise InvalidInput.at("/contributions", "have another shape than before", allowed=f"{previous_noise.shape}")

        growth = math.sqrt(self.releases + 1) if mechanism.grows else 1.0
        fresh_noise = gaussian(mechanism.base_std * growth, shape, source)
        self.last_noise = fresh_noise
        self.releases += 1

        # The first release has no earlier noise to cancel.
        if previous_noise is None:
            return fresh_noise
        return fresh_noise - previous_noise

    def __call__(self, contributions: Array | Sequence[Array], source: RandomSource | None = None) -> Array:
        """Release the weighted sum of clipped contributions with noise, and count one release.

        Args:
            contributions: an array (n, …), or the layers of a model as a list of such arrays.
            source: source of the random bits; the operating system if None.

        Returns:
            The release: an array (…) or a list of arrays, of the caller's types and library.

        Raises:
            InvalidInput: all releases that the guarantee covers are made, or the contributions are not arrays of the
                same shape as before.
        """
        rows, restore = flatten(contributions, records=True, pointer="/contributions")
        clipped = self.mechanism.clip(rows).values
        total = self.mechanism.weight * np.sum(clipped, axis=0)
        return restore(total + self.noise(total.shape, source))


def cancelled_release(answer: Answer) -> CancelledRelease:
    """Build the mechanism of noise cancellation from the answer of its calibrator.

    Args:
        answer: the answer. Its schedule states the noise rule and whether a client or the server adds the noise.

    Returns:
        The mechanism. Its weight and its contribution bound are rounded down, so that no contribution to a release has
        a larger norm than the noise is calibrated for.

    Raises:
        InvalidInput: the noise rule or the party that adds the noise is unknown, or the answer contradicts itself.
    """
    parameters = answer.parameters
    guarantee = answer.guarantee
    schedule = f"{parameters}/schedule"

    # The largest norm of a contribution in the sum is the quotient of the noise and its multiplier.
    base_std = Fraction(answer.number(f"{parameters}/noise_std"))
    multiplier = Fraction(answer.number(f"{parameters}/noise_multiplier"))
    norm_in_sum = base_std / multiplier
    answer.demand(f"{schedule}/base_std", base_std)
    clipping_norm = answer.number(f"{parameters}/clipping_norm")
    rule, added_by = _noise_rule(answer, schedule)
    answer.demand(f"{guarantee}/sensitivity", answer.sensitivity_factor * norm_in_sum)

    # A client sends its own report with weight 1. A server may scale the sum by a weight.
    if added_by == "client":
        answer.demand(f"{parameters}/clipping_norm", norm_in_sum)
        weight = 1.0
    else:
        weight = round_down(norm_in_sum / Fraction(clipping_norm))

    # Rounded down, so that weight times bound is at most the norm that the noise protects.
    largest_bound = round_down(norm_in_sum / Fraction(weight))
    return CancelledRelease(
        **answer.release_fields(),
        left_open=(REAL_NUMBERS, SUMS, CANCELLATION),
        added_by=added_by,
        contribution_bound=min(clipping_norm, largest_bound),
        weight=weight,
        base_std=float(base_std),
        grows=RULES[rule],
        most_releases=answer.integer(f"{schedule}/most_participations"),
    )


def _noise_rule(answer: Answer, schedule: str) -> tuple[str, AddedBy]:
    """Return the noise rule of a schedule, and the party that adds the noise.

    The rule says whether the noise grows with the number of releases.

    Args:
        answer: the answer of the calibrator.
        schedule: JSON pointer to the noise schedule in the answer.

    Returns:
        The rule, a key of `RULES`, and the party, "client" or "server".

    Raises:
        InvalidInput: the rule or the party is missing or unknown.
    """
    rule = answer.text(f"{schedule}/rule")
    added_by = answer.text(f"{schedule}/added_by")
    if rule not in RULES:
        raise InvalidInput.at(f"{schedule}/rule", "is not known", allowed=", ".join(RULES))
    if added_by not in {"client", "server"}:
        raise InvalidInput.at(f"{schedule}/added_by", "is not known", allowed="client, server")
    return rule, cast("AddedBy", added_by)

"""Releases with Gaussian noise: weight · Σ clipped contributions + N(0, σ²), by a client or by the server."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.arrays import Array, flattened
from epsilond.mechanisms.calibrated.answer import Answer, rounded_down, rounded_up
from epsilond.mechanisms.calibrated.grid_gaussian import GridRelease
from epsilond.mechanisms.calibrated.release import COUNTED, NO_CURVE, REAL_NUMBERS, SUMS, Release, demand_batch
from epsilond.mechanisms.clipping import Clipped, clip
from epsilond.mechanisms.continuous import gaussian
from epsilond.mechanisms.grid import Rounding, demand_step
from epsilond.mechanisms.randomness import Floats, RandomSource

AddedBy = Literal["client", "server"]


@dataclass(frozen=True, kw_only=True)
class GaussianRelease(Release):
    """Σ of contributions, each scaled down to ℓ2 norm at most `contribution_bound`, times `weight`, plus noise.

    Who adds the noise gives the contributions: a client those of one batch of its records, the server those of the
    clients of a round. `weight` is fixed by the answer: it never depends on how many contributions there are.
    """

    added_by: AddedBy
    contribution_bound: float
    weight: float
    noise_std: float
    """σ per coordinate of the release; where steps differ, the least."""
    most_contributions: int | None = None
    """That one release may hold; None where batches are of a random size, or the caller says what is summed."""
    step_noise_stds: tuple[float, ...] | None = None
    """σ of step 1, 2, …, where the answer has a schedule that is not constant."""

    def clip(self, contributions: Array | Sequence[Array]) -> Clipped:
        """Each of the contributions along the first axis, as it enters the sum."""
        return clip(contributions, self.contribution_bound, records=True)

    def noise_std_at(self, step: int | None = None) -> float:
        """σ of a step, counted from 1.

        Raises:
            InvalidInput: steps differ and none is given, or there is no such step.
        """
        if self.step_noise_stds is None:
            return self.noise_std
        if step is None or not 1 <= step <= len(self.step_noise_stds):
            raise InvalidInput.at("/step", "noise differs by step", allowed=f"1 to {len(self.step_noise_stds)}")
        return self.step_noise_stds[step - 1]

    def noise(self, shape: tuple[int, ...], *, step: int | None = None, source: RandomSource | None = None) -> Floats:
        """N(0, σ²) alone, of the operating system's generator unless a source is given."""
        return gaussian(self.noise_std_at(step), shape, source)

    def __call__(
        self, contributions: Array | Sequence[Array], *, step: int | None = None, source: RandomSource | None = None
    ) -> Array:
        """What is released of contributions (n, …), n ≥ 0: of shape (…), kind and type as they came.

        Layers of a model may be given as a list of such arrays, and come back as a list; they have one norm together.

        `step` counts from 1 and is needed where noise differs by step. `source` is for tests and simulations: without
        one, noise is the operating system's.

        Raises:
            InvalidInput: contributions are no array, or more than the batch that the guarantee is for, or there is no
                such step.
        """
        given, like = flattened(contributions, records=True, pointer="/contributions")
        demand_batch(len(given), self.most_contributions)
        total = self.weight * np.sum(self.clip(given).values, axis=0)
        return like(total + self.noise(total.shape, step=step, source=source))

    def on_grid(self, step: float, *, dimension: int, rounding: Rounding = "towards-zero") -> GridRelease:
        """The same clipping and the same ratio of noise to norm, but integers with discrete Gaussian noise.

        `step` is the distance of grid points in the unit of a contribution, a power of two. The answer's guarantee is
        not carried over: see `left_open` of what is given back.

        Raises:
            InvalidInput: the step is no power of two, or so large that it leaves no noise.
        """
        demand_step(step)
        unit = Fraction(self.weight) * Fraction(self.contribution_bound)
        ratios = [Fraction(std) / unit for std in self.step_noise_stds or (self.noise_std,)]
        return GridRelease.of(
            algorithm=self.algorithm,
            guarantee=None,
            declared_conditions=self.declared_conditions,
            left_open=(NO_CURVE,),
            contribution_bound=self.contribution_bound,
            weight=self.weight,
            step=step,
            rounding=rounding,
            dimension=dimension,
            most_contributions=self.most_contributions,
            ratios=ratios if self.step_noise_stds else ratios[0],
        )


def by_client(answer: Answer) -> GaussianRelease:
    """A client's mean of `batch_size` gradients; its whole mean is one contribution where clients are protected."""
    place = answer.place
    bound = _norm_in_sum(answer, place)
    unit = answer.text(f"{answer.guarantee_place}/unit")
    batch = answer.integer(f"{place}/batch_size") if unit == "record" else 1
    norm = rounded_down(bound * batch)
    fixed = answer.text(f"{answer.guarantee_place}/sampling") != "poisson"
    most = batch if unit == "client" or fixed else None
    return _release(
        answer, place, added_by="client", contribution_bound=norm, weight=1.0 / batch, most_contributions=most
    )


def by_server(answer: Answer) -> GaussianRelease:
    """The server's weighted sum of clients' messages, each clipped to the answer's `clipping_norm`."""
    place = answer.place
    clipping_norm = answer.number(f"{place}/clipping_norm")
    weight = rounded_down(_norm_in_sum(answer, place) / Fraction(clipping_norm))
    return _release(answer, place, added_by="server", contribution_bound=clipping_norm, weight=weight)


def averaged(answer: Answer) -> GaussianRelease:
    """The server's sum of clients' updates over a number M that is fixed, each clipped to the answer's `clipping_norm`.

    The division by M is a weight of 1/M.
    """
    place = answer.place
    if answer.get(f"{place}/adaptive_clipping") is not None:
        message = "moves the clipping norm from round to round, which one release cannot: epsilond.train runs it"
        raise InvalidInput.at(f"{place}/adaptive_clipping", message, allowed="absent")
    if answer.clipping_norm is not None:
        raise InvalidInput.at("/clipping_norm", "follows from the answer", allowed="none")
    clip, multiplier = (Fraction(answer.number(f"{place}/{name}")) for name in ("clipping_norm", "noise_multiplier"))
    participants = answer.integer(f"{place}/participants")
    answer.demand(f"{answer.guarantee_place}/sensitivity", answer.sensitivity_factor * clip)
    answer.demand(f"{place}/noise_std_of_sum", multiplier * clip)
    answer.demand(f"{place}/noise_std_of_mean", multiplier * clip / participants)
    weight = rounded_down(Fraction(1, participants))
    least = rounded_up(multiplier * clip * Fraction(weight))
    return GaussianRelease(
        **answer.common(),
        left_open=(REAL_NUMBERS, SUMS, COUNTED),
        added_by="server",
        contribution_bound=float(clip),
        weight=weight,
        noise_std=max(answer.number(f"{place}/noise_std_of_mean"), least),
        most_contributions=None if answer.text(f"{answer.guarantee_place}/sampling") == "poisson" else participants,
    )


def projected(answer: Answer) -> GaussianRelease:
    """A client's own gradient, with the noise of its step; the server takes their mean and projects."""
    place = answer.place
    bound = rounded_down(_norm_in_sum(answer, place))
    stds = _listed(answer, place)
    if stds:
        answer.demand(f"{place}/noise_std", min(stds))
    return _release(
        answer, place, added_by="client", contribution_bound=bound, weight=1.0, stds=stds, most_contributions=1
    )


def of_gaussian(answer: Answer) -> GaussianRelease:
    """The server's sum of contributions, clipped to what the caller says."""
    if answer.clipping_norm is None:
        raise InvalidInput.at("/clipping_norm", "is needed: the answer's noise is in units of it")
    if not 0.0 < answer.clipping_norm < math.inf:
        raise InvalidInput.at("/clipping_norm", "is out of range", allowed="> 0, finite")
    std = rounded_up(Fraction(answer.number("/parameters/noise_multiplier")) * Fraction(answer.clipping_norm))
    return GaussianRelease(
        **answer.common(),
        left_open=(REAL_NUMBERS, SUMS, COUNTED),
        added_by="server",
        contribution_bound=answer.clipping_norm,
        weight=1.0,
        noise_std=std,
    )


def _norm_in_sum(answer: Answer, place: str) -> Fraction:
    """Norm bound of what one contribution adds to the sum that gets the noise, as the answer implies it."""
    if answer.clipping_norm is not None and answer.get(f"{place}/clipping_norm") is None:
        raise InvalidInput.at("/clipping_norm", "follows from the answer", allowed="none")
    std, multiplier = (Fraction(answer.number(f"{place}/{name}")) for name in ("noise_std", "noise_multiplier"))
    bound = std / multiplier
    answer.demand(f"{answer.guarantee_place}/sensitivity", answer.sensitivity_factor * bound)
    return bound


def _release(
    answer: Answer,
    place: str,
    *,
    added_by: AddedBy,
    contribution_bound: float,
    weight: float,
    stds: tuple[float, ...] | None = None,
    most_contributions: int | None = None,
) -> GaussianRelease:
    """With noise that covers the bound and the weight as the doubles that they are."""
    multiplier = Fraction(answer.number(f"{place}/noise_multiplier"))
    least = rounded_up(multiplier * Fraction(contribution_bound) * Fraction(weight))
    return GaussianRelease(
        **answer.common(),
        left_open=(REAL_NUMBERS, SUMS, COUNTED),
        added_by=added_by,
        contribution_bound=contribution_bound,
        weight=weight,
        noise_std=max(answer.number(f"{place}/noise_std"), least),
        step_noise_stds=stds,
        most_contributions=most_contributions,
    )


def _listed(answer: Answer, place: str) -> tuple[float, ...] | None:
    """The noise of each step; None if it is the same in all."""
    at = f"{place}/noise_schedule"
    kind = answer.text(f"{at}/kind")
    rounds = answer.integer(f"{place}/rounds")
    if kind == "constant":
        answer.demand(f"{at}/value", answer.number(f"{place}/noise_std"))
        return None
    if kind == "inverse-time":
        scale = answer.number(f"{at}/scale")
        return tuple(scale / step for step in range(1, rounds + 1))
    if kind == "explicit":
        values: Sequence[float] = answer.get(f"{at}/values") or ()
        if len(values) != rounds:
            raise InvalidInput.at(f"{at}/values", "must have one entry for each step", allowed=f"{rounds} entries")
        return tuple(answer.number(f"{at}/values/{number}") for number in range(rounds))
    raise InvalidInput.at(f"{at}/kind", "is not known", allowed="constant, inverse-time, explicit")

"""Releases with Gaussian noise: weight · Σ clipped contributions + N(0, σ²), by a client or by the server."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.arrays import Array, flatten
from epsilond.mechanisms.calibrated.answer import Answer, round_down, round_up
from epsilond.mechanisms.calibrated.grid_gaussian import GridRelease
from epsilond.mechanisms.calibrated.release import COUNTED, NO_CURVE, REAL_NUMBERS, SUMS, Release, demand_batch
from epsilond.mechanisms.clipping import Clipped, clip
from epsilond.mechanisms.continuous import gaussian
from epsilond.mechanisms.grid import Rounding, demand_step
from epsilond.mechanisms.randomness import Floats, RandomSource

AddedBy = Literal["client", "server"]


@dataclass(frozen=True, kw_only=True)
class GaussianRelease(Release):
    """Weighted sum of contributions, each clipped to ℓ2 norm `contribution_bound`, plus Gaussian noise.

    A client that adds the noise sums the contributions of one batch of its records. A server that adds it sums the
    contributions of the clients of a round. The answer fixes `weight`; it never depends on the number of contributions.

    Attributes:
        added_by: party that adds the noise, `client` or `server`.
        contribution_bound: largest ℓ2 norm of a contribution; longer ones are clipped to it.
        weight: factor of the sum.
        noise_std: σ per coordinate of the release; the smallest if σ differs by step.
        most_contributions: largest number of contributions in one release; None if batches have a random size or are
            the caller's choice.
        step_noise_stds: σ of step 1, 2, …; None if σ is the same in all steps.
    """

    added_by: AddedBy
    contribution_bound: float
    weight: float
    noise_std: float
    most_contributions: int | None = None
    step_noise_stds: tuple[float, ...] | None = None

    def clip(self, contributions: Array | Sequence[Array]) -> Clipped:
        """Clip each contribution along the first axis as in the sum."""
        return clip(contributions, self.contribution_bound, records=True)

    def noise_std_at(self, step: int | None = None) -> float:
        """Return the standard deviation σ of the Gaussian noise at a step of the run.

        Args:
            step: number of the step, from 1. Required if σ differs by step, otherwise unused.

        Returns:
            The standard deviation per coordinate, above 0.

        Raises:
            InvalidInput: σ differs by step, and the step is missing or outside the run.
        """
        if self.step_noise_stds is None:
            return self.noise_std
        if step is None or not 1 <= step <= len(self.step_noise_stds):
            raise InvalidInput.at("/step", "noise differs by step", allowed=f"1 to {len(self.step_noise_stds)}")
        return self.step_noise_stds[step - 1]

    def noise(self, shape: tuple[int, ...], *, step: int | None = None, source: RandomSource | None = None) -> Floats:
        """Draw the Gaussian noise of one release, with mean 0 and standard deviation σ.

        Args:
            shape: shape of the release.
            step: number of the step, from 1. Required if σ differs by step.
            source: source of the random bits; the operating system if None.

        Returns:
            Independent normal numbers of the given shape, in floating point.

        Raises:
            InvalidInput: σ differs by step, and the step is missing or does not exist.
        """
        return gaussian(self.noise_std_at(step), shape, source)

    def __call__(
        self, contributions: Array | Sequence[Array], *, step: int | None = None, source: RandomSource | None = None
    ) -> Array:
        """Release the weighted sum of clipped contributions with noise.

        Args:
            contributions: an array (n, …) with n ≥ 0, or the layers of a model as a list of such arrays. The layers
                have one norm together.
            step: number of the step, from 1. Required if σ differs by step.
            source: source of the random bits, for tests and simulations; the operating system if None.

        Returns:
            The release: an array (…) or a list of arrays, of the caller's types and library.

        Raises:
            InvalidInput: the contributions are not arrays, or are more than the batch of the guarantee, or there is no
                such step.
        """
        rows, restore = flatten(contributions, records=True, pointer="/contributions")
        demand_batch(len(rows), self.most_contributions)
        clipped = self.clip(rows).values
        total = self.weight * np.sum(clipped, axis=0)
        noise = self.noise(total.shape, step=step, source=source)
        return restore(total + noise)

    def on_grid(self, step: float, *, dimension: int, rounding: Rounding = "towards-zero") -> GridRelease:
        """Return the same release on a grid of integers, with discrete Gaussian noise of the same ratio to the norm.

        The answer's guarantee is not carried over; `left_open` of the result says which guarantee holds instead.

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
        noise_stds = self.step_noise_stds or (self.noise_std,)
        ratios = [Fraction(std) / norm_in_sum for std in noise_stds]
        return GridRelease.from_noise_ratios(
            ratios,
            algorithm=self.algorithm,
            declared_conditions=self.declared_conditions,
            left_open=(NO_CURVE,),
            contribution_bound=self.contribution_bound,
            weight=self.weight,
            step=step,
            rounding=rounding,
            dimension=dimension,
            most_contributions=self.most_contributions,
        )


def client_mean(answer: Answer) -> GaussianRelease:
    """Build the Gaussian mechanism by which a client releases the mean of `batch_size` gradients.

    The client clips contributions, sums them with a weight and adds the noise. If the guarantee protects records, each
    gradient is a contribution of weight 1/`batch_size`. If it protects clients, the client's whole mean is the only
    contribution, of weight 1. The clipping norm is the largest norm in the weighted sum, divided by the weight and
    rounded down.

    Args:
        answer: the answer of a calibrator, which has found the noise for a target (ε, δ).

    Returns:
        The release (a mechanism with its guarantee) that the client runs.

    Raises:
        InvalidInput: the answer lacks a parameter, or its sensitivity contradicts its noise.
    """
    parameters, guarantee = answer.parameters, answer.guarantee
    norm_in_sum = _norm_in_sum(answer)

    # If whole clients are protected, the contribution is the whole message, not one gradient.
    protects_clients = answer.text(f"{guarantee}/unit") != "record"
    batch_size = 1 if protects_clients else answer.integer(f"{parameters}/batch_size")
    has_fixed_size = answer.text(f"{guarantee}/sampling") != "poisson"
    is_limited = protects_clients or has_fixed_size
    return _gaussian_release(
        answer,
        added_by="client",
        # The mean divides by the batch size, so a single gradient may be that much longer.
        contribution_bound=round_down(norm_in_sum * batch_size),
        weight=1.0 / batch_size,
        most_contributions=batch_size if is_limited else None,
    )


def server_sum(answer: Answer) -> GaussianRelease:
    """Build the release of the server's weighted sum of messages, each clipped to the answer's `clipping_norm`.

    The weight is the largest norm of a message in the sum over the clipping norm, rounded down.

    Args:
        answer: the answer of a calibrator, which has found the noise for a target (ε, δ).

    Returns:
        The release (a mechanism with its guarantee) that the server runs.

    Raises:
        InvalidInput: the answer lacks a parameter, or its sensitivity contradicts its noise.
    """
    clipping_norm = answer.number(f"{answer.parameters}/clipping_norm")
    weight = round_down(_norm_in_sum(answer) / Fraction(clipping_norm))
    return _gaussian_release(answer, added_by="server", contribution_bound=clipping_norm, weight=weight)


def fixed_mean(answer: Answer) -> GaussianRelease:
    """Build the release of the server's sum of clipped updates, divided by the fixed number `participants`.

    The release is a function that clips, sums and adds noise. The division is a weight of 1/`participants`, rounded
    down.

    Args:
        answer: the answer of a calibrator, which has found the noise for a target (ε, δ).

    Returns:
        The release (a mechanism with its guarantee) that the server runs.

    Raises:
        InvalidInput: the answer has an adaptive clipping norm, lacks a parameter, or its figures contradict each other.
    """
    parameters, guarantee = answer.parameters, answer.guarantee
    if answer.get(f"{parameters}/adaptive_clipping") is not None:
        message = "moves the clipping norm from round to round, which one release cannot: epsilond.train runs it"
        raise InvalidInput.at(f"{parameters}/adaptive_clipping", message, allowed="absent")
    clipping_norm = Fraction(answer.number(f"{parameters}/clipping_norm"))
    multiplier = Fraction(answer.number(f"{parameters}/noise_multiplier"))
    noise_std_of_sum = multiplier * clipping_norm
    participants = answer.integer(f"{parameters}/participants")

    # Reject an answer whose figures contradict each other.
    answer.demand(f"{guarantee}/sensitivity", answer.sensitivity_factor * clipping_norm)
    answer.demand(f"{parameters}/noise_std_of_sum", noise_std_of_sum)
    answer.demand(f"{parameters}/noise_std_of_mean", noise_std_of_sum / participants)

    # The weight is rounded down and the noise up, so that the noise is enough for the weighted sum.
    weight = round_down(Fraction(1, participants))
    least_std = round_up(noise_std_of_sum * Fraction(weight))
    noise_std = max(answer.number(f"{parameters}/noise_std_of_mean"), least_std)
    has_random_size = answer.text(f"{guarantee}/sampling") == "poisson"
    return GaussianRelease(
        **answer.release_fields(),
        left_open=(REAL_NUMBERS, SUMS, COUNTED),
        added_by="server",
        contribution_bound=float(clipping_norm),
        weight=weight,
        noise_std=noise_std,
        most_contributions=None if has_random_size else participants,
    )


def client_step(answer: Answer) -> GaussianRelease:
    """Build the Gaussian mechanism by which a client releases its own gradient in projected SGD.

    The noise may differ from step to step. The server takes the mean of the releases and projects.

    Args:
        answer: the answer of a calibrator. Its `noise_std` is the smallest over all steps.

    Returns:
        The release (a mechanism with its guarantee) that the client runs.

    Raises:
        InvalidInput: the answer lacks a parameter, or its figures contradict one another.
    """
    contribution_bound = round_down(_norm_in_sum(answer))
    step_noise_stds = _step_noise_stds(answer)
    # The answer states the least noise of all steps as its noise.
    if step_noise_stds:
        answer.demand(f"{answer.parameters}/noise_std", min(step_noise_stds))
    return _gaussian_release(
        answer,
        added_by="client",
        contribution_bound=contribution_bound,
        weight=1.0,
        step_noise_stds=step_noise_stds,
        most_contributions=1,
    )


def plain_sum(answer: Answer) -> GaussianRelease:
    """Build the release of the server's sum of contributions, each clipped to the caller's `clipping_norm`.

    The release is a function that clips, sums and adds noise. The noise has the standard deviation `noise_multiplier`
    times `clipping_norm`, rounded up.

    Args:
        answer: the answer of a calibrator, with the caller's `clipping_norm`.

    Returns:
        The release (a mechanism with its guarantee) that the server runs.

    Raises:
        InvalidInput: the clipping norm is missing, or not positive and finite; or the noise multiplier is missing.
    """
    # The caller chooses the clipping norm: the answer gives the noise in units of it.
    if answer.clipping_norm is None:
        raise InvalidInput.at("/clipping_norm", "is needed: the answer's noise is in units of it")
    if not 0.0 < answer.clipping_norm < math.inf:
        raise InvalidInput.at("/clipping_norm", "is out of range", allowed="> 0, finite")
    # The product is exact and then rounded up, so that the noise is never too small.
    multiplier = Fraction(answer.number("/parameters/noise_multiplier"))
    return GaussianRelease(
        **answer.release_fields(),
        left_open=(REAL_NUMBERS, SUMS, COUNTED),
        added_by="server",
        contribution_bound=answer.clipping_norm,
        weight=1.0,
        noise_std=round_up(multiplier * Fraction(answer.clipping_norm)),
    )


def _norm_in_sum(answer: Answer) -> Fraction:
    """Return the largest norm that one clipped and weighted contribution has in the sum before noise.

    The noise multiplier is `noise_std` over this norm, so the norm is `noise_std`/`noise_multiplier`.

    Args:
        answer: the answer of a calibrator, which has found the noise for a target (ε, δ).

    Returns:
        The norm as an exact fraction.

    Raises:
        InvalidInput: the answer states a sensitivity that contradicts this norm.
    """
    parameters = answer.parameters
    noise_std = Fraction(answer.number(f"{parameters}/noise_std"))
    multiplier = Fraction(answer.number(f"{parameters}/noise_multiplier"))
    norm_in_sum = noise_std / multiplier
    answer.demand(f"{answer.guarantee}/sensitivity", answer.sensitivity_factor * norm_in_sum)
    return norm_in_sum


def _gaussian_release(
    answer: Answer,
    *,
    added_by: AddedBy,
    contribution_bound: float,
    weight: float,
    step_noise_stds: tuple[float, ...] | None = None,
    most_contributions: int | None = None,
) -> GaussianRelease:
    """Build a release with the noise of an answer, and at least the noise multiplier times the largest weighted norm.

    Args:
        answer: the answer of a calibrator, which has found the noise for a target (ε, δ).
        added_by: the party that adds the noise.
        contribution_bound: largest norm of a contribution.
        weight: factor of the sum.
        step_noise_stds: noise of each step, used unchanged; None if all steps have the same.
        most_contributions: largest number of contributions of a release; None for no limit.

    Returns:
        The release, a mechanism with its guarantee.
    """
    parameters = answer.parameters
    multiplier = Fraction(answer.number(f"{parameters}/noise_multiplier"))
    least_std = round_up(multiplier * Fraction(contribution_bound) * Fraction(weight))
    noise_std = max(answer.number(f"{parameters}/noise_std"), least_std)
    return GaussianRelease(
        **answer.release_fields(),
        left_open=(REAL_NUMBERS, SUMS, COUNTED),
        added_by=added_by,
        contribution_bound=contribution_bound,
        weight=weight,
        noise_std=noise_std,
        step_noise_stds=step_noise_stds,
        most_contributions=most_contributions,
    )


def _step_noise_stds(answer: Answer) -> tuple[float, ...] | None:
    """Return the standard deviation of the noise of each step; None if all steps have the same.

    A schedule is constant, explicit (one value per step), or inverse-time: scale/t at step t.

    Args:
        answer: the answer of a calibrator, with the number of rounds and the noise schedule.

    Returns:
        One standard deviation per step, in the order of the steps; None for a constant schedule.

    Raises:
        InvalidInput: the kind of the schedule is unknown, or its values do not fit the rounds or `noise_std`.
    """
    parameters = answer.parameters
    schedule = f"{parameters}/noise_schedule"
    kind = answer.text(f"{schedule}/kind")
    rounds = answer.integer(f"{parameters}/rounds")
    if kind == "constant":
        answer.demand(f"{schedule}/value", answer.number(f"{parameters}/noise_std"))
        return None
    if kind == "inverse-time":
        scale = answer.number(f"{schedule}/scale")
        return tuple(scale / step for step in range(1, rounds + 1))
    if kind == "explicit":
        values: Sequence[float] = answer.get(f"{schedule}/values") or ()
        if len(values) != rounds:
            raise InvalidInput.at(
                f"{schedule}/values", "must have one entry for each step", allowed=f"{rounds} entries"
            )
        return tuple(answer.number(f"{schedule}/values/{index}") for index in range(rounds))
    raise InvalidInput.at(f"{schedule}/kind", "is not known", allowed="constant, inverse-time, explicit")

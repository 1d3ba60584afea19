"""Clients' updates as numpy arrays: reading, clipping and summing. Flower is not imported."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epsilond.accountants.errors import InvalidInput
from epsilond.integrations.probe import Arrays
from epsilond.mechanisms import clip


class Update(NamedTuple):
    """A client's update, its change of the model, after clipping.

    Attributes:
        arrays: the clipped update, by the names of the arrays.
        changed: whether the update is nonzero.
        longer: whether its norm was above the clipping norm before clipping.
    """

    arrays: dict[str, NDArray[np.float64]]
    changed: bool
    longer: bool


@dataclass(frozen=True, kw_only=True)
class AdaptiveClipping:
    """A clipping norm that follows a quantile of the updates' norms (Andrew et al., 2021).

    After each round the norm is multiplied by exp(-learning_rate · (share - target_quantile)), where `share` estimates
    the share of updates that are not clipped. Each of these has the bit 1, and other updates have the bit 0. The share
    comes from the sum of (bit - 1/2) over the updates of the round, with Gaussian noise of standard deviation
    `count_noise_std`. One client changes that sum by 1/2, and the sum of updates by the clipping norm, so both noisy
    sums together are one Gaussian mechanism.

    Attributes:
        target_quantile: share of updates that the clipping norm should not shorten, in [0, 1].
        learning_rate: step size of the logarithm of the norm, above 0.
        count_noise_std: standard deviation of the noise of the sum of (bit - 1/2), above 0.
    """

    target_quantile: float = 0.5
    learning_rate: float = 0.2
    count_noise_std: float

    def __post_init__(self) -> None:
        """Check the ranges of the settings.

        Raises:
            InvalidInput: the first setting that is out of range.
        """
        if not 0.0 <= self.target_quantile <= 1.0:
            raise InvalidInput.at("/target_quantile", "is out of range", allowed="≥ 0 and ≤ 1")
        for name in ("learning_rate", "count_noise_std"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise InvalidInput.at(f"/{name}", "must be positive and finite")

    def noise_of_updates(self, noise_multiplier: float) -> float:
        """Return the noise multiplier that the sum of updates needs if a round as a whole has a given one.

        A round also releases the noisy count, which has sensitivity 1/2 and noise of standard deviation s. If the sum
        has the noise multiplier z_u, both together have the multiplier z with z⁻² = z_u⁻² + (2 s)⁻². This equation is
        solved for z_u.

        Args:
            noise_multiplier: noise multiplier z of a round.

        Returns:
            z_u, which is larger than z.

        Raises:
            InvalidInput: no z_u > 0 solves the equation, because the noise of the count is too small.
        """
        inverse_square = noise_multiplier**-2 - (2.0 * self.count_noise_std) ** -2  # z_u⁻²
        if inverse_square <= 0.0:
            allowed = f"> {noise_multiplier / 2.0:g}"
            raise InvalidInput.at("/count_noise_std", "leaves nothing for the updates", allowed=allowed)
        return 1.0 / math.sqrt(inverse_square)

    def next_norm(self, norm: float, centred: float, participants: int) -> float:
        """Return the clipping norm of the next round: norm · exp(−learning_rate · (share − target_quantile)).

        Args:
            norm: clipping norm of this round.
            centred: noisy sum of (bit − 1/2) over the updates of this round, where the bit of an unclipped update is 1.
            participants: number of clients that the sum is divided by.

        Returns:
            The next clipping norm, which falls if more updates than the target share were not clipped.
        """
        share = 0.5 + centred / participants  # noisy share of updates that were not clipped
        return norm * math.exp(-self.learning_rate * (share - self.target_quantile))


def update_of(reply: Arrays, current: Arrays) -> dict[str, NDArray[np.float64]] | None:
    """Return a client's change of the model in double precision, or None if its reply is invalid.

    A reply is invalid if its arrays differ from the model's in name or shape, or if a change is infinite or NaN.

    Args:
        reply: the model that the client returned, arrays by name.
        current: the model from which it trained.

    Returns:
        The change of each array, by name; None if the reply is invalid.
    """
    reply_shapes = {name: array.shape for name, array in reply.items()}
    model_shapes = {name: array.shape for name, array in current.items()}
    if reply_shapes != model_shapes:
        return None
    change = {}
    # Overflow and NaN give no warnings, because the check below rejects such a reply.
    with np.errstate(invalid="ignore", over="ignore"):
        for name in current:
            change[name] = np.asarray(reply[name], np.float64) - np.asarray(current[name], np.float64)
    is_finite = all(np.isfinite(array).all() for array in change.values())
    if not is_finite:
        return None
    return change


def clip_update(update: Arrays, clipping_norm: float) -> Update:
    """Clip an update so that all its arrays together have at most a given ℓ2 norm, in exact arithmetic.

    Args:
        update: arrays of the update by name.
        clipping_norm: largest norm of the clipped update.

    Returns:
        The clipped arrays. `changed` is False for an update of zeros, and `longer` is True if the update was shortened.
    """
    result = clip(list(update.values()), clipping_norm)
    norm = float(result.norms[0])
    return Update(
        arrays=dict(zip(update, result.values, strict=True)),
        changed=norm > 0.0,
        longer=bool(result.exceeded[0]),
    )


def total(updates: Iterable[Mapping[str, NDArray[np.float64]]], like: Arrays) -> dict[str, NDArray[np.float64]]:
    """Return the sum of updates, array by array.

    Args:
        updates: arrays of each update by name.
        like: arrays with the names and shapes of the sum.

    Returns:
        The sums in double precision, by name; zeros if there are no updates.
    """
    sums = {name: np.zeros(array.shape) for name, array in like.items()}
    for update in updates:
        for name, array in update.items():
            sums[name] += array
    return sums

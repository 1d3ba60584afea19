"""Updates of models as numpy arrays: read, clipped and summed. No Flower is imported."""

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
    """What a client sent, as it enters the sum."""

    arrays: dict[str, NDArray[np.float64]]
    changed: bool
    """Whether it was anything but zero."""
    longer: bool
    """Whether it was longer than the clipping norm."""


@dataclass(frozen=True, kw_only=True)
class AdaptiveClipping:
    """A clipping norm that follows a quantile of the updates' norms (Andrew et al., 2021).

    After each round the norm is multiplied by exp(-learning_rate · (share - target_quantile)), where `share` estimates
    how many updates are not clipped: from the sum of (bit - 1/2) over the updates that came, with Gaussian noise of
    standard deviation `count_noise_std`. That sum moves by 1/2 with one client, where the updates move by the clipping
    norm, so that noise of both together is one Gaussian mechanism.
    """

    target_quantile: float = 0.5
    learning_rate: float = 0.2
    count_noise_std: float

    def __post_init__(self) -> None:
        """Refuse what no run can have."""
        if not 0.0 <= self.target_quantile <= 1.0:
            raise InvalidInput.at("/target_quantile", "is out of range", allowed="≥ 0 and ≤ 1")
        for name in ("learning_rate", "count_noise_std"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise InvalidInput.at(f"/{name}", "must be positive and finite")

    def noise_of_updates(self, noise_multiplier: float) -> float:
        """The noise multiplier of the updates so that with the count a round has `noise_multiplier`.

        Raises:
            InvalidInput: the count alone loses more.
        """
        left = noise_multiplier**-2 - (2.0 * self.count_noise_std) ** -2
        if left <= 0.0:
            allowed = f"> {noise_multiplier / 2.0:g}"
            raise InvalidInput.at("/count_noise_std", "leaves nothing for the updates", allowed=allowed)
        return 1.0 / math.sqrt(left)

    def next_norm(self, norm: float, centred: float, participants: int) -> float:
        """The clipping norm of the next round, from the noisy sum of (bit - 1/2)."""
        share = 0.5 + centred / participants
        return norm * math.exp(-self.learning_rate * (share - self.target_quantile))


def update_of(reply: Arrays, current: Arrays) -> dict[str, NDArray[np.float64]] | None:
    """What a client changed, in double precision; None if it is of another shape or not finite."""
    if reply.keys() != current.keys() or any(reply[name].shape != current[name].shape for name in current):
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        found = {name: np.asarray(reply[name], np.float64) - np.asarray(current[name], np.float64) for name in current}
    return found if all(np.isfinite(part).all() for part in found.values()) else None


def clipped(update: Arrays, clipping_norm: float) -> Update:
    """The update with the ℓ2 norm of all its arrays together at most `clipping_norm`, in exact arithmetic."""
    found = clip(list(update.values()), clipping_norm)
    norm = float(found.norms[0])
    return Update(dict(zip(update, found.values, strict=True)), norm > 0.0, bool(found.exceeded[0]))


def total(updates: Iterable[Mapping[str, NDArray[np.float64]]], like: Arrays) -> dict[str, NDArray[np.float64]]:
    """Their sum; zeros of the shapes of `like` if there are none."""
    zeros = {name: np.zeros(part.shape) for name, part in like.items()}
    for update in updates:
        for name, part in update.items():
            zeros[name] += part
    return zeros

"""The mechanism of a DP-FedAvg round: clipped updates, their sum, noise, and a fixed divisor. No Flower is imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epsilond.integrations.flower import updates
from epsilond.integrations.flower.updates import AdaptiveClipping
from epsilond.integrations.probe import Arrays, Probe
from epsilond.mechanisms.continuous import gaussian
from epsilond.mechanisms.randomness import RandomSource


@dataclass(frozen=True, kw_only=True)
class NoisyRound:
    """The released model of one round of DP-FedAvg, and a sample of its noise for tests.

    Attributes:
        model: the current model plus the noisy mean, in the types of the current model.
        clipping_norm: clipping norm of the next round.
        sample: noise divided by its recorded standard deviation, at the coordinates of the probe and of the count.
        groups: index in `sample` at which the coordinates of each array begin.
    """

    model: dict[str, NDArray[np.number]]
    clipping_norm: float
    sample: NDArray[np.float64]
    groups: NDArray[np.intp]


def release_round(
    valid_updates: Sequence[Arrays],
    current: Arrays,
    *,
    noise: float,
    clipping_norm: float,
    participants: int,
    adaptive: AdaptiveClipping | None,
    source: RandomSource,
    probe: Probe,
) -> NoisyRound:
    """Clip and add updates, add Gaussian noise to the sum, divide it, and add the result to the model.

    With adaptive clipping, a noisy count of the clipped updates also determines the clipping norm of the next round.

    Args:
        valid_updates: updates of the model's shape with finite entries, one per client.
        current: the model from which the clients trained.
        noise: standard deviation of the noise of the sum, divided by the clipping norm.
        clipping_norm: bound on the ℓ2 norm of one update.
        participants: fixed number by which the noisy sum is divided; it does not depend on the number of updates.
        adaptive: adaptation of the clipping norm to a quantile of the norms; None if it is fixed.
        source: source of random bits.
        probe: sample of coordinates at which the noise is recorded, for tests.

    Returns:
        The new model, the next clipping norm, and the noise at the sampled coordinates in standard deviations.
    """
    clipped = [updates.clip_update(update, clipping_norm) for update in valid_updates]
    clipped_sum = updates.total((update.arrays for update in clipped), current)
    # The sum has sensitivity `clipping_norm`, because one client adds at most one clipped update.
    noise_std = noise * clipping_norm
    noisy_sum = {name: array + gaussian(noise_std, array.shape, source) for name, array in clipped_sum.items()}
    # The difference of the two sums is the noise, which the tests compare with a normal distribution.
    sample = (probe.take(noisy_sum) - probe.take(clipped_sum)) / noise_std
    model = _add_mean(current, noisy_sum, participants)
    if adaptive is None:
        return NoisyRound(model=model, clipping_norm=clipping_norm, sample=sample, groups=probe.groups)

    # The count of unclipped updates gets its own noise, which becomes one more coordinate of the sample.
    count = _centred_count(clipped)
    noisy_count = count + float(gaussian(adaptive.count_noise_std, (), source))
    standardised_count_noise = (noisy_count - count) / adaptive.count_noise_std
    return NoisyRound(
        model=model,
        clipping_norm=adaptive.next_norm(clipping_norm, noisy_count, participants),
        sample=np.append(sample, standardised_count_noise),
        groups=np.append(probe.groups, len(sample)),
    )


def _centred_count(clipped: Sequence[updates.Update]) -> float:
    """Return the sum of (bit − 1/2) over the updates, where the bit is 1 if clipping did not shorten the update.

    The sum counts the updates within the clipping norm. The term 1/2 centres the bit, so that one client changes the
    sum by at most 1/2. An update of zeros counts as no update, and adds nothing.

    Args:
        clipped: the updates after clipping.

    Returns:
        The sum, between −n/2 and n/2 for n updates.
    """
    centred_count = 0.0
    for update in clipped:
        if not update.changed:
            continue
        if update.longer:
            centred_count -= 0.5
        else:
            centred_count += 0.5
    return centred_count


def _add_mean(current: Arrays, noisy_sum: Arrays, participants: int) -> dict[str, NDArray[np.number]]:
    """Add the noisy sum, divided by the number of participants, to the model.

    Args:
        current: arrays of the model by name.
        noisy_sum: arrays of the same names and shapes.
        participants: divisor of the sum, at least 1.

    Returns:
        The arrays of the new model by name, in the types of the current model. The given arrays are not changed.
    """
    model = {}
    for name, array in noisy_sum.items():
        new_values = np.asarray(current[name], np.float64) + array / participants
        model[name] = new_values.astype(current[name].dtype)
    return model

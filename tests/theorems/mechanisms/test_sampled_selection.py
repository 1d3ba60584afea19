"""Lower bounds of choices on Poisson batches, against neighbours that are written out with all their scores."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import pytest

from epsilond.accountants.specs import Exponential, PermuteAndFlip, Repeated, Subsampled
from tests.theorems.mechanisms.test_selection import curve, delta, exponential_law, permute_and_flip_law


def neighbours(choice: str, epsilon: float) -> list[tuple[list[Any], list[Any]]]:
    """Scores of two candidates with and without one record, whose choices attain the lower bounds of a part."""
    if choice == "permute_and_flip":
        return [([1, 0], [0, 1]), ([1, 1], [2, 0])]
    pairs = []
    for share in (mp.mpf(1) / 2, mp.mpf(1) / 4, mp.mpf(1) / 16):
        chosen = mp.expm1(-share * epsilon) / mp.expm1(-epsilon)
        gap = 2 * mp.log((1 - chosen) / chosen) / epsilon
        if choice == "monotonic":  # the weights are then e^{ε score}
            pairs.append(([gap / 2, 0], [gap / 2, -1]))
        else:
            pairs.append(([gap, 0], [gap + 1, -1]))
    return pairs


@pytest.mark.parametrize("times", [1, 2, 4])
@pytest.mark.parametrize("choice", ["exponential", "monotonic", "permute_and_flip"])
@pytest.mark.parametrize(("epsilon", "rate"), [(0.3, 0.5), (2.5, 0.01), (6.0, 0.2)])
def test_neighbours_attain_lower_bounds_of_sampled_choices(
    choice: str, epsilon: float, rate: float, times: int
) -> None:
    """The other records change no score, so a batch without the record has the scores of the smaller data set."""
    is_monotonic = choice == "monotonic"
    permuted = choice == "permute_and_flip"
    spec: Any = PermuteAndFlip(epsilon=epsilon) if permuted else Exponential(epsilon=epsilon, monotonic=is_monotonic)
    batches = curve(Repeated(times=times, mechanism=Subsampled(sampling="poisson", rate=rate, mechanism=spec)))
    law = permute_and_flip_law if permuted else exponential_law
    counts: list[list[Any]] = []
    for scores in neighbours(choice, epsilon):
        rises = [a - b for a, b in zip(*scores, strict=True)]
        assert max(map(abs, rises)) <= 1 + 1e-12
        assert not is_monotonic or min(rises) >= 0
        drawn, absent = (law([(1 + is_monotonic) * score for score in each], epsilon)[0] for each in scores)
        counts.append(
            [
                [mp.binomial(times, k) * p**k * (1 - p) ** (times - k) for k in range(times + 1)]
                for p in (rate * drawn + (1 - rate) * absent, absent)
            ]
        )
    for part in (0.0, 0.1, 0.5, 0.9):
        at = part * times * math.log1p(rate * math.expm1(epsilon))
        truth = max(max(delta(p, q, at), delta(q, p, at)) for p, q in counts)
        lower = mp.exp(batches.log_delta(at).lower)
        assert truth * (1 - 1e-6) - 1e-14 <= lower <= truth * (1 + 1e-9) + 1e-15

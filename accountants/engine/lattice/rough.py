"""About the whole curve of a composition, from one untilted lattice of its outlines: where to look, and nothing else.

A saddle point is a poor estimate where few large losses rule δ. As long as δ is well above a double's rounding, one
short transform of each outline tells more. Nothing here is certified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.fft import irfft, rfft

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.lattice.outline import Outline
    from epsilond.accountants.numerics.special import FloatArray

_MOST_ROUNDS = 10**4
_RARE = 1e-13
"""Chance of a loss, in all rounds, that is left out."""
_DEVIATIONS, _TO_A_DEVIATION = 10.0, 6.0
_POINTS, _MOST_POINTS, _MOST_IN_ALL = 2**12, 2**16, 2**21
_LARGEST, _FLOOR = 500.0, 64.0
"""The largest loss; and how many roundings of each round what is known of δ must be above."""
_CLIFF = 2.0
"""A fall from one point to the next within which no place is known: there a loss ends."""


@dataclass(frozen=True)
class RoughCurve:
    """About log δ and log Q(S > ε) at increasing ε from 0, as far as they are above the roundings."""

    epsilon: FloatArray
    log_delta: FloatArray
    log_size: FloatArray

    def at(self, epsilon: float) -> float | None:
        """About log δ; None beyond what is known."""
        return float(np.interp(epsilon, self.epsilon, self.log_delta)) if epsilon <= self.epsilon[-1] else None

    def place_of(self, log_delta: float) -> tuple[float, float] | None:
        """About where log δ is as asked, and |d log δ/dε| there; None beyond what is known and at a cliff."""
        return self._place(self.log_delta, log_delta, self.log_delta)

    def test_of(self, log_size: float) -> tuple[float, float] | None:
        """About where log Q(S > ε) is as asked, and |d log δ/dε| there."""
        return self._place(self.log_size, log_size, self.log_delta)

    def _place(self, values: FloatArray, wanted: float, steep: FloatArray) -> tuple[float, float] | None:
        if not values[-1] < wanted < values[0]:
            return None
        after = int(np.searchsorted(-values, -wanted))
        fall = float(values[after - 1] - values[after])
        if fall > _CLIFF:
            return None
        share = (values[after - 1] - wanted) / fall
        step = float(self.epsilon[after] - self.epsilon[after - 1])
        found = float(self.epsilon[after - 1]) + step * float(share)
        return found, max(float(steep[after - 1] - steep[after]) / step, 1e-9)


def rough_curve(
    outlines: Sequence[Outline], counts: FloatArray, bulk: tuple[float, float], log_atom: float
) -> RoughCurve | None:
    """The curve of so many of each; None of many rounds, or of losses of too many scales.

    Args:
        outlines: of each law.
        counts: how often each is run.
        bulk: mean and variance of the total without rare losses.
        log_atom: log of the chance of an infinite loss.
    """
    mean, variance = bulk
    total = float(counts.sum())
    if not (variance > 0.0 and total <= _MOST_ROUNDS):
        return None
    laws = [item.points for item in outlines]
    least, most = _extent(laws, counts)
    deviation = math.sqrt(variance)
    low = min(mean - _DEVIATIONS * deviation, 0.0) + least
    high = max(mean + _DEVIATIONS * deviation, 0.0) + 2.0 * most
    period = high - low
    size = max(_POINTS, 2 ** math.ceil(math.log2(_TO_A_DEVIATION * period / deviation)))
    if size > _MOST_POINTS or size * len(laws) > _MOST_IN_ALL or high > _LARGEST:
        return None
    unit = period / size
    log_transform = np.zeros(size // 2 + 1, dtype=np.complex128)
    for (location, log_mass), count in zip(laws, counts.tolist(), strict=True):
        inside = (location >= least) & (location <= most)
        place = location[inside] / unit
        below = np.floor(place)
        share, mass = place - below, np.exp(log_mass[inside])
        index = below.astype(np.int64)
        laid = np.bincount(index % size, mass * (1.0 - share), size)
        laid = laid + np.bincount((index + 1) % size, mass * share, size)
        with np.errstate(divide="ignore"):
            log_transform += count * np.log(rfft(laid))
    masses = np.asarray(irfft(np.exp(log_transform), size))
    start = -math.floor(low / unit)
    ordered = np.roll(masses, start)
    losses = unit * (np.arange(size) - start)
    return _curve(losses[start:], ordered[start:], log_atom, _FLOOR * UNIT_ROUNDOFF * (total + 8.0))


def _extent(laws: Sequence[tuple[FloatArray, FloatArray]], counts: FloatArray) -> tuple[float, float]:
    """The least and the largest loss that are not too rare."""
    location = np.concatenate([each for each, _ in laws])
    mass = np.concatenate([count * np.exp(each) for (_, each), count in zip(laws, counts.tolist(), strict=True)])
    order = np.argsort(location)
    below = np.cumsum(mass[order])
    above = np.cumsum(mass[order][::-1])
    first = min(int(np.searchsorted(below, _RARE)), location.size - 1)
    last = min(int(np.searchsorted(above, _RARE)), location.size - 1)
    return min(float(location[order[first]]), 0.0), max(float(location[order[::-1][last]]), 0.0)


def _curve(losses: FloatArray, masses: FloatArray, log_atom: float, floor: float) -> RoughCurve | None:
    """δ at each loss, which is Σ m (1 − e^{ε − s}) over those above, as far as it is above the floor."""
    weighted = masses * np.exp(-losses)
    above = np.cumsum(masses[::-1])[::-1] - masses
    beyond = np.cumsum(weighted[::-1])[::-1] - weighted
    delta = above - np.exp(losses) * beyond + math.exp(log_atom)
    known = (delta > floor) & (beyond > 0.0)
    end = int(np.argmin(known)) if not known.all() else known.size
    if end < 8:
        return None
    log_delta, log_size = (np.minimum.accumulate(np.log(each[:end])) for each in (delta, beyond))
    falls = np.concatenate(([True], np.diff(log_delta) < 0.0))
    return RoughCurve(losses[:end][falls], log_delta[falls], log_size[falls])

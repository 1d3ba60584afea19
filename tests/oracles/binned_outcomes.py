"""Outcomes of two distributions in bins of their loss: a lower bound on every profile, close to it for narrow bins.

To merge outcomes is post-processing. So the divergence of merged outcomes is at most that of the distributions, in every
product. A product merges outcomes with the same sum of bins. With bins of the width h a profile loses O(h²). No code of
the engine is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.signal import fftconvolve
from scipy.special import ndtr

from epsilond.accountants.numerics.special import FloatArray

Tail = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Outcomes:
    """Masses p and q of both distributions in bins: bin i has losses around (first + i) · width.

    `only_p` is the mass of outcomes that the second distribution does not have.
    """

    p: FloatArray
    q: FloatArray
    first: int
    width: float
    only_p: float = 0.0

    def product(self, other: Outcomes) -> Outcomes:
        """Return the outcomes of two independent mechanisms."""
        assert self.width == other.width
        p, q = (np.maximum(fftconvolve(a, b), 0.0) for a, b in ((self.p, other.p), (self.q, other.q)))
        only_p = 1.0 - (1.0 - self.only_p) * (1.0 - other.only_p)
        return Outcomes(p, q, self.first + other.first, self.width, only_p)

    def power(self, times: int) -> Outcomes:
        """Return the outcomes of several runs."""
        half = self if times == 1 else self.power(times // 2)
        if times == 1:
            return half
        return half.product(half).product(self) if times % 2 else half.product(half)

    def reverse(self) -> Outcomes:
        """Return the outcomes with both distributions exchanged, without an infinite loss."""
        return Outcomes(self.q[::-1], self.p[::-1], -(self.first + self.p.size - 1), self.width)

    def sample(self, rate: float) -> Outcomes:
        """Return the outcomes of a run with the record with a probability, against one without it."""
        p = rate * self.p + (1.0 - rate) * self.q
        return binned(p, self.q, self.width, rate * self.only_p)

    def delta(self, epsilon: float) -> float:
        """Return the divergence of the merged outcomes at e^ε."""
        return self.only_p + float(np.maximum(self.p - math.exp(epsilon) * self.q, 0.0).sum())


def binned(p: FloatArray, q: FloatArray, width: float, only_p: float = 0.0) -> Outcomes:
    """Return outcomes with given masses, merged by the bins of their losses."""
    kept = (p > 0.0) & (q > 0.0)
    index = np.rint(np.log(p[kept] / q[kept]) / width).astype(np.int64)
    first = int(index.min())
    sums = [np.bincount(index - first, masses[kept], int(index.max()) - first + 1) for masses in (p, q)]
    return Outcomes(sums[0], sums[1], first, width, only_p + float(p[~kept].sum()))


def from_tails(above: tuple[Tail, Tail], below: tuple[Tail, Tail], reach: float, width: float) -> Outcomes:
    """Return the outcomes of a pair with given tails of its loss: P, Q(L > ε) and P, Q(L < −ε) at ε ≥ 0."""
    edges = width * (np.arange(round(reach / width) + 1.0) + 0.5)
    masses = []
    for upper, lower in zip(above, below, strict=True):
        right, left = upper(edges), lower(edges)
        middle = 1.0 - right[0] - left[0]
        masses.append(np.concatenate((-np.diff(left)[::-1], [middle], -np.diff(right))))
    p, q = (np.maximum(each, 0.0) for each in masses)
    return Outcomes(p, q, -(edges.size - 1), width)


def gaussian(mu: float, width: float) -> Outcomes:
    """Return the outcomes of N(μ, 1) against N(0, 1)."""

    def tail(mean: float) -> Tail:
        return lambda epsilon: ndtr((mean - epsilon) / mu)

    half = 0.5 * mu * mu
    return from_tails((tail(half), tail(-half)), (tail(-half), tail(half)), mu * 9.0 + half, width)


def laplace(shift: float, width: float) -> Outcomes:
    """Return the outcomes of Laplace noise of scale 1 around two places."""
    places = np.linspace(0.0, shift, round(4.0 * shift / width) + 1)
    inner = 0.5 * np.exp(-places[:-1]) * -np.expm1(-np.diff(places))
    ends = np.asarray([0.5, 0.5 * math.exp(-shift)])
    p, q = np.concatenate((ends, inner)), np.concatenate((ends[::-1], inner[::-1]))
    return binned(p, q, width)


def concentrated(rho: float, width: float) -> Outcomes:
    """Return the outcomes of the pair with the conversion of ρ-zCDP as its profile, and its chord near ε = 0.

    The conversion is the least of e^{(a − 1)(a ρ − ε)} (1 − 1/a)^a/(a − 1) over the orders a = b + 1. Its slopes give
    the tails e^{−ρ b²} and e^{−ρ (b + 1)²}, with ε = (2b + 1) ρ − log(1 + 1/b).
    """
    b = np.exp(np.linspace(-14.0, 14.0, 400_001))
    places = (2.0 * b + 1.0) * rho - np.log1p(1.0 / b)
    tails = np.exp(-rho * b**2), np.exp(-rho * (b + 1.0) ** 2)
    start = int(np.argmax((tails[0] + tails[1] <= 1.0) & (places > 0.0)))
    at_end = float(tails[0][start] - math.exp(places[start]) * tails[1][start])
    along = (1.0 - at_end) / (1.0 + math.exp(places[start]))

    def tail(values: FloatArray, along_chord: float) -> Tail:
        return lambda at: np.where(at < places[start], along_chord, np.interp(at, places, values))

    first, second = tail(tails[0], 1.0 - along), tail(tails[1], along)
    return from_tails((first, second), (second, first), float(places[np.argmax(tails[0] < 1e-17)]), width)

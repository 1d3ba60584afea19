"""What (ε, δ) means to an attacker who tells two neighbours apart: advantage, and true positives at few false ones.

For a pair (P, Q) the best test with false positive rate α has true positive rate inf_{γ ≥ 0} (γ α + E_γ(P‖Q)). Any γ
gives an upper bound; a grid of γ with the monotonicity of E between its points gives a lower one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from epsilond.accountants.curve import Enclosure, Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve import Curve, Pair
    from epsilond.accountants.numerics.special import FloatArray

FALSE_POSITIVE_RATES = (1e-2, 1e-3, 1e-5)
POINTS, FEW_POINTS = 25, 9
"""ε at which δ is read; fewer make the rates' ends wider."""
_ROUNDING = 1e-12
"""Relative rounding of Φ(Φ⁻¹(α) + μ): a few units for the function, and |x| + 1 for each unit in its argument."""


@dataclass(frozen=True)
class TruePositives:
    """The true positive rate of the best attack at a false positive rate."""

    false_positive_rate: float
    true_positive_rate: Interval


@dataclass(frozen=True)
class Meaning:
    """Largest difference between true and false positive rates, and the former where the latter is small."""

    advantage: Interval
    true_positives: tuple[TruePositives, ...]


def meaning(curve: Curve, *, points: int = POINTS) -> Meaning:
    """Enclosures over all neighbours: the upper ends by the bound, the lower by the witnesses."""
    advantage = curve.log_delta(0.0)
    grid = _grid(curve, points)
    read = {id(pair): _read(pair, grid) for pair in (curve.upper, *curve.witnesses)}
    bound, witnesses = read[id(curve.upper)], [read[id(pair)] for pair in curve.witnesses]
    return Meaning(
        advantage=Interval(math.exp(advantage.lower), min(math.exp(advantage.upper), 1.0)),
        true_positives=tuple(
            TruePositives(
                rate, _gaussian_ends(curve, rate, _lower_rate(witnesses, rate, grid), _upper_rate(bound, rate, grid))
            )
            for rate in FALSE_POSITIVE_RATES
        ),
    )


def _gaussian_ends(curve: Curve, rate: float, lower: float, upper: float) -> Interval:
    """Both ends; Φ(Φ⁻¹(α) + μ) where a pair is N(μ, 1) against N(0, 1), whose best test is a threshold."""

    def exact(pair: Pair) -> float | None:
        return None if pair.gaussian_dp_mu is None else float(ndtr(ndtri(rate) + pair.gaussian_dp_mu))

    most = exact(curve.upper)
    least = max((found for found in map(exact, curve.witnesses) if found is not None), default=0.0)
    upper = upper if most is None else min(upper, most * (1.0 + _ROUNDING))
    return Interval(min(max(lower, least * (1.0 - _ROUNDING)), upper), upper)


class _Orders(NamedTuple):
    """δ of both orders of a pair on the grid, as enclosures of its logarithm."""

    forward: Enclosure
    backward: Enclosure


def _read(pair: Pair, grid: FloatArray) -> _Orders:
    forward = pair.forward.log_delta(grid)
    return _Orders(forward, forward if pair.symmetric else pair.backward.log_delta(grid))


def _grid(curve: Curve, points: int) -> FloatArray:
    """ε from 0 to where δ is below the smallest false positive rate, denser near 0."""
    reach = min(max(curve.bound_epsilon(math.log(1e-7)).upper, 1e-9), 700.0)
    return np.asarray(reach * np.linspace(0.0, 1.0, points) ** 1.5)


def _upper_rate(bound: _Orders, rate: float, grid: FloatArray) -> float:
    """min over ε of e^ε α + δ(ε), rounded up."""
    upper = np.maximum(bound.forward.upper, bound.backward.upper)
    return min(1.0, float(np.min(np.exp(grid) * rate + np.exp(upper))) * (1 + 1e-12))


def _lower_rate(witnesses: Sequence[_Orders], rate: float, grid: FloatArray) -> float:
    """The best witness's rate, in either order; at least α, which guessing attains."""
    rates = [_pair_rate(one.forward.lower, one.backward.lower, rate, grid) for one in witnesses]
    rates += [_pair_rate(one.backward.lower, one.forward.lower, rate, grid) for one in witnesses]
    return max([rate, *rates])


def _pair_rate(forward: FloatArray, backward: FloatArray, rate: float, grid: FloatArray) -> float:
    """Lower bound of inf_γ (γ α + E_γ(P‖Q)) on three ranges of γ, E falling in γ on each.

    γ ≥ 1 between grid points; γ beyond the grid, where γ α alone counts; and γ = e^{−ε} ≤ 1, where
    γ α + E_γ(P‖Q) = γ α + 1 − γ + γ E_{1/γ}(Q‖P) is bounded with the other order.
    """
    above, below = np.exp(forward), np.exp(backward)
    between = np.exp(grid[:-1]) * rate + above[1:]
    beyond = math.exp(float(grid[-1])) * rate
    turned = 1.0 - np.exp(-grid[:-1]) * (1.0 - rate) + np.exp(-grid[1:]) * below[1:]
    last = 1.0 - math.exp(-float(grid[-1])) * (1.0 - rate)
    return float(min(between.min(), beyond, turned.min(), last)) * (1 - 1e-12)

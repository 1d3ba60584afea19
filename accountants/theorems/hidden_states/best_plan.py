"""The least cost of hiding the distance of two runs in the noise of listed steps, in decimal arithmetic of 60 digits.

The noise of the steps hides the distance of two runs on neighbouring data. C_k is the product of the Lipschitz
constants after step k. In units of the last model, step k adds the distance D_k = C_k s_k and noise of variance
w_k = (C_k ν_k)². A plan hides a part b_k ≥ 0 of the distance in step k, at the cost b_k²/w_k. It never hides more than
has been added so far. At the end it has hidden everything.

In the best plan b_k/w_k is constant on blocks of steps. With the sums D of D_k and W of w_k over a block, that slope
is D/W. The slopes increase from block to block (a greatest convex minorant). The blocks are built from the left: two
neighbours are merged if the slope of the first is at least that of the second.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

DECIMAL = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Arithmetic of 60 digits, half to even; the exponents hold every product of 10⁸ doubles."""
PLAN_OUTWARD = Decimal(1) + Decimal("1e-40")
"""Factor that covers every rounding of `least_mu` for up to 10⁸ steps; see the proof there."""


class Block(NamedTuple):
    """Consecutive steps of a noisy descent, with the distance that they add between two runs on neighbouring data.

    The noise of the steps hides the distance D: each step hides D/W times its noise variance.

    Attributes:
        distance: sum D of the distances that the steps add between the two runs, as they arrive at the last model.
        noise_variance: sum W of the noise variances of the steps, as they arrive at the last model.
    """

    distance: Decimal
    noise_variance: Decimal


def least_mu(
    contractions: Sequence[float] | FloatArray,
    shifts: Sequence[float] | FloatArray,
    noises: Sequence[float] | FloatArray,
    *,
    initial_distance: float = 0.0,
) -> float:
    """Compute the Gaussian-DP parameter μ of the last model of a noisy descent by shifted interpolation.

    Only the last model is released. Two runs on neighbouring data differ by a distance, which the noise of the steps
    hides. Let C_k be the product of the Lipschitz constants after step k. The step adds D_k = C_k shift_k to the
    distance at the end, and its noise has the variance w_k = (C_k noise_k)² there. A plan hides a part b_k ≥ 0 of the
    distance in step k, which adds b_k²/w_k to μ².

    The best plan divides the steps into blocks of consecutive steps. With the sums D and W of D_k and w_k over a block,
    it has b_k = (D/W) w_k there. The slopes D/W increase from block to block, and:

        μ² = Σ D²/W    over all blocks.

    Args:
        contractions: Lipschitz constant of each step's map, in order; finite and not negative.
        shifts: largest difference of each step's maps on neighbouring data; finite and not negative.
        noises: standard deviation per coordinate of each step's noise; finite and positive, in the unit of the shifts.
        initial_distance: distance of the two starts, 0 for a common start.

    Returns:
        The least μ, rounded up to one of the next two doubles. It is 0 only if no distance reaches the last model, and
        `math.inf` if there is a distance but no step, or if μ exceeds the largest double.
    """
    # Proof of the rounding, with u = 10⁻⁵⁹. Each D_k, each w_k and each sum over a block adds up products of numbers
    # that are not negative. Nothing cancels: for T steps the relative error is below 5Tu. Two blocks of slopes λ₁ and
    # λ₂ are therefore merged only if the true slopes obey λ₂ ≤ (1 + η) λ₁, where η = 30Tu.
    #
    # Claim: after m merges every tail of a block has at most (1 + η)^m times the slope λ of the block. First, let the
    # tail start in the second part of a merged block. Its slope is at most (1 + η)^(m−1) λ₂ by induction, and λ₂ ≤ (1 +
    # η) λ because λ is at least the smaller of λ₁ and λ₂. Second, let it start in the first part, where its noise
    # variance is r. Its distance is at most (1 + η)^m λ₁ r + λ₂ W₂, and the claim compares that with (1 + η)^m λ (r +
    # W₂). Both are linear in r, and the claim holds for r = 0 and for r = W₁.
    #
    # Let κ = (1 + η)^T − 1 < 1.1 T η. Consider the plan that hides min((1 + κ) λ w_k, remaining distance) in step k.
    # After a block its remainder is the maximum of 0 and (distance of a tail) − (1 + κ) λ (variance of the tail): it is
    # 0. The plan costs at most (1 + κ)² Σ D²/W over the blocks. Hence the least μ is at most (1 + κ) √(Σ D²/W). With
    # the errors of D, W, the sum and the root it is at most (1 + 1.1 T η + 20Tu) times the computed root. For T ≤ 10⁸
    # this factor is below 1 + 10⁻⁴⁰. The conversion to a double rounds up.
    contraction_list = _to_list(contractions)
    if not contraction_list:
        return math.inf if initial_distance > 0 else 0.0

    # Each step begins a block, which is merged with those before it until the slopes increase.
    blocks: list[Block] = []
    for step in _weighted_steps(contraction_list, _to_list(shifts), _to_list(noises), initial_distance):
        block = step
        while blocks and _slope_is_at_least(blocks[-1], block):
            block = _merge_blocks(blocks.pop(), block)
        blocks.append(block)

    squared_mu = Decimal(0)
    for block in blocks:
        square = DECIMAL.multiply(block.distance, block.distance)
        squared_mu = DECIMAL.add(squared_mu, DECIMAL.divide(square, block.noise_variance))
    return _round_up(DECIMAL.multiply(DECIMAL.sqrt(squared_mu), PLAN_OUTWARD))  # by the proof above


def _to_list(values: Sequence[float] | FloatArray) -> list[float]:
    """Return a sequence or an array of numbers as a list of Python floats."""
    numbers: list[float] = np.asarray(values, dtype=np.float64).tolist()
    return numbers


def _weighted_steps(
    contractions: list[float], shifts: list[float], noises: list[float], initial_distance: float
) -> Iterator[Block]:
    """Yield for each step k the distance that it adds between the models of two runs, and its noise variance.

    The runs are noisy descents on neighbouring data. A step applies a map, such as a gradient step, and adds noise. The
    distance and the noise are contracted by the Lipschitz constants of all later maps. A map with Lipschitz constant 0
    removes all distance before it, so the steps before the last such map are left out.

    Args:
        contractions: Lipschitz constant of each step's map.
        shifts: largest difference of each step's maps on neighbouring data.
        noises: standard deviation of each step's noise.
        initial_distance: distance of the two starts.

    Yields:
        One block for each remaining step, in the order of the steps.
    """
    resetting_steps = [step for step, contraction in enumerate(contractions) if contraction == 0.0]
    first = max(resetting_steps, default=0)
    influences = _influences(contractions[first:])
    # The first step also adds the distance of the starts, after all maps. It is 0 after a map of constant 0.
    earlier = DECIMAL.multiply(influences[0], DECIMAL.create_decimal_from_float(float(initial_distance)))
    for step in range(first, len(contractions)):
        influence = influences[step - first + 1]
        distance = DECIMAL.multiply(influence, DECIMAL.create_decimal_from_float(shifts[step]))
        deviation = DECIMAL.multiply(influence, DECIMAL.create_decimal_from_float(noises[step]))
        yield Block(DECIMAL.add(earlier, distance), DECIMAL.multiply(deviation, deviation))
        earlier = Decimal(0)


def _influences(contractions: list[float]) -> list[Decimal]:
    """Return the products of the last T, T − 1, …, 0 of T contraction factors.

    The entry with index k is the factor by which the steps after the first k multiply a distance of two runs.

    Args:
        contractions: Lipschitz constants of the T steps, in their order.

    Returns:
        T + 1 products as decimal numbers. The last one is 1, the empty product.
    """
    products = [Decimal(1)]
    for contraction in reversed(contractions):
        products.append(DECIMAL.multiply(products[-1], DECIMAL.create_decimal_from_float(contraction)))
    return products[::-1]


def _slope_is_at_least(first: Block, second: Block) -> bool:
    """Return whether the slope D/W of the first block is at least the slope of the second."""
    cross_first = DECIMAL.multiply(first.distance, second.noise_variance)
    cross_second = DECIMAL.multiply(second.distance, first.noise_variance)
    return cross_first >= cross_second


def _merge_blocks(first: Block, second: Block) -> Block:
    """Return the block that has the steps of two consecutive blocks."""
    distance = DECIMAL.add(first.distance, second.distance)
    noise_variance = DECIMAL.add(first.noise_variance, second.noise_variance)
    return Block(distance, noise_variance)


def _round_up(value: Decimal) -> float:
    """Return the least double that is not below `value`; `math.inf` if `value` exceeds the largest double."""
    nearest = float(value)
    is_above = nearest == math.inf or Decimal(nearest) >= value
    if is_above:
        return nearest
    return math.nextafter(nearest, math.inf)

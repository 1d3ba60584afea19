"""The least cost of giving a run's distance away over listed steps, in decimal arithmetic of 60 digits.

C_k is the product of the Lipschitz constants after step k. In units of the last model, step k brings in the distance
D_k = C_k s_k and has the room w_k = (C_k ν_k)². A plan gives b_k ≥ 0 away in step k, at the cost b_k²/w_k. It never
gives away more than has come in. At the end it has given away everything.

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
    """Neighbouring steps, in each of which the plan hides distance in proportion D/W to the variance of the noise.

    Attributes:
        distance: sum D of the distances that the steps bring in, in units of the last model.
        room: sum W of the noise variances of the steps, in the same unit.
    """

    distance: Decimal
    room: Decimal


def least_mu(
    contractions: Sequence[float] | FloatArray,
    shifts: Sequence[float] | FloatArray,
    noises: Sequence[float] | FloatArray,
    *,
    initial_distance: float = 0.0,
) -> float:
    """Compute the Gaussian-DP parameter μ of the last model of listed steps by shifted interpolation, rounded up.

    Two runs on neighbouring data differ by a distance, which the noise of the steps hides. With C_k the product of the
    Lipschitz constants after step k, the step adds D_k = C_k shift_k to the distance at the end. The room w_k = (C_k
    noise_k)² is the variance of its noise there. A plan hides b_k ≥ 0 in step k at the cost b_k²/w_k of μ². The steps
    form blocks of consecutive ones. A block with the sums D of D_k and W of w_k has the slope λ = D/W. In the best plan
    b_k = λ w_k, so that μ² = Σ D²/W over the blocks. The slopes of the blocks increase.

    Proof of the rounding. Let u = 10⁻⁵⁹. Each D_k, each w_k and each sum over a block adds up products of numbers that
    are not negative. Nothing cancels: for T steps the relative error is below 5Tu. Two blocks of slopes λ₁ and λ₂ are
    therefore merged only if the true slopes obey λ₂ ≤ (1 + η) λ₁, where η = 30Tu.

    Claim: after m merges every tail of a block has at most (1 + η)^m times the slope λ of the block. First, let the
    tail start in the second part of a merged block. Its slope is at most (1 + η)^(m−1) λ₂ by induction, and
    λ₂ ≤ (1 + η) λ because λ is at least the smaller of λ₁ and λ₂. Second, let it start in the first part, of which it
    takes the room r. Its distance is at most (1 + η)^m λ₁ r + λ₂ W₂, and the claim compares that with
    (1 + η)^m λ (r + W₂). Both are linear in r, and the claim holds for r = 0 and for r = W₁.

    Let κ = (1 + η)^T − 1 < 1.1 T η. Consider the plan that gives away min((1 + κ) λ w_k, remaining distance) in step k.
    After a block its remainder is the maximum of 0 and (distance of a tail) − (1 + κ) λ (room of the tail): it is 0.
    The plan costs at most (1 + κ)² Σ D²/W over the blocks. Hence the least μ is at most (1 + κ) √(Σ D²/W). With the
    errors of D, W, the sum and the root it is at most (1 + 1.1 T η + 20Tu) times the computed root. For T ≤ 10⁸ this
    factor is below 1 + 10⁻⁴⁰. The conversion to a double rounds up.

    Args:
        contractions: Lipschitz constant of each step's map, in order; finite and not negative.
        shifts: largest difference of each step's maps on neighbouring data; finite and not negative.
        noises: standard deviation per coordinate of each step's noise; finite and positive, in the unit of the shifts.
        initial_distance: distance of the two starts, 0 for a common start.

    Returns:
        The upper bound on μ, above the least by at most one double. It is 0 only if no distance reaches the last model,
        and `math.inf` if there is a distance and no step, or if μ is above the doubles.
    """
    steps = _to_list(contractions), _to_list(shifts), _to_list(noises)
    if not steps[0]:
        return math.inf if initial_distance > 0 else 0.0
    blocks: list[Block] = []
    for step in _weighted_steps(*steps, initial_distance):
        block = step
        while blocks and _slope_is_at_least(blocks[-1], block):
            block = _merge_blocks(blocks.pop(), block)
        blocks.append(block)
    total = Decimal(0)
    for block in blocks:
        square = DECIMAL.multiply(block.distance, block.distance)
        total = DECIMAL.add(total, DECIMAL.divide(square, block.room))
    return _round_up(DECIMAL.multiply(DECIMAL.sqrt(total), PLAN_OUTWARD))


def _to_list(values: Sequence[float] | FloatArray) -> list[float]:
    """Return the values as a list of floats."""
    numbers: list[float] = np.asarray(values, dtype=np.float64).tolist()
    return numbers


def _weighted_steps(
    contractions: list[float], shifts: list[float], noises: list[float], initial_distance: float
) -> Iterator[Block]:
    """Yield for each step its contributions to the last model: D_k of its shift, and w_k of its noise variance.

    A map of Lipschitz constant 0 removes all distance before it. The steps before the last such map are left out.

    Args:
        contractions: Lipschitz constant of each step's map.
        shifts: largest difference of each step's maps on neighbouring data.
        noises: standard deviation of each step's noise.
        initial_distance: distance of the two starts.
    """
    first = max((k for k, contraction in enumerate(contractions) if contraction == 0.0), default=0)
    influences = _influences(contractions[first:])
    # The distance of the starts, after all maps; no distance is left after a map of constant 0.
    start = DECIMAL.multiply(influences[0], DECIMAL.create_decimal_from_float(float(initial_distance)))
    for k in range(first, len(contractions)):
        shift, noise = map(DECIMAL.create_decimal_from_float, (shifts[k], noises[k]))
        influence = influences[k - first + 1]
        distance = DECIMAL.multiply(influence, shift)
        deviation = DECIMAL.multiply(influence, noise)
        yield Block(DECIMAL.add(start, distance), DECIMAL.multiply(deviation, deviation))
        start = Decimal(0)


def _influences(contractions: list[float]) -> list[Decimal]:
    """Return the products of the last T, T − 1, …, 0 of T contraction factors."""
    products = [Decimal(1)]
    for contraction in reversed(contractions):
        products.append(DECIMAL.multiply(products[-1], DECIMAL.create_decimal_from_float(contraction)))
    return products[::-1]


def _slope_is_at_least(first: Block, second: Block) -> bool:
    """Return whether the slope D/W of the first block is at least that of the second."""
    return DECIMAL.multiply(first.distance, second.room) >= DECIMAL.multiply(second.distance, first.room)


def _merge_blocks(first: Block, second: Block) -> Block:
    """Return the block of the steps of both."""
    return Block(DECIMAL.add(first.distance, second.distance), DECIMAL.add(first.room, second.room))


def _round_up(value: Decimal) -> float:
    """Return the least double that is not below `value`; `math.inf` above the largest."""
    nearest = float(value)
    return nearest if nearest == math.inf or Decimal(nearest) >= value else math.nextafter(nearest, math.inf)

"""Adaptive clipping: each round releases noisy sums of clipped updates and of bits (Andrew et al. 2021).

A participant sends its update, clipped to norm C, and a bit b, which is 1 if the norm was at most C. The server
releases the noisy sums of the updates and of b − ½. Divided by their noise, the two sums are one vector with noise
N(0, 1) per coordinate. One participant adds (update/(z_Δ C), (b − ½)/σ_b), with squared norm at most:

    1/z_Δ² + 1/(4 σ_b²) = 1/z².

So the round is one Gaussian mechanism of noise multiplier z for add-or-remove-one and zero-out-one. Two contributions
have at most twice this distance, which is attained by −u with bit 0 and u with bit 1 for ‖u‖ = C. So z holds for
replace-one as well, where the sensitivity is two contributions.

The shift by ½ makes the bound on a bit ½ instead of 1. The share of bits equal to 1 must therefore be estimated as
½ + (noisy sum of b − ½)/M, where the expected number M of participants is fixed in advance. An estimate from a noisy
sum of b, or with the actual number of participants, is not covered.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.outward import root_up
from epsilond.accountants.quantities import NoiseMultiplier
from epsilond.accountants.quantities.algorithms import COUNT_STD
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem


def _inverse_square(value: float) -> Fraction:
    """Return 1/value², exactly."""
    return 1 / Fraction(value) ** 2


def update_noise_multiplier(*, noise_multiplier: float, count_std: float) -> float:
    """Compute the noise multiplier z_Δ of the clipped updates in a round of adaptive clipping.

    Each participant sends its clipped update, and a bit that is 1 if the update was not clipped. The server adds noise
    to the sums of both. With the noise multiplier z of the whole round, and the noise σ_b on the bits:

        z_Δ = (z⁻² − (2σ_b)⁻²)^(−1/2).

    Args:
        noise_multiplier: noise multiplier z of the whole round.
        count_std: standard deviation σ_b of the noise on the sum of the bits.

    Returns:
        The noise multiplier z_Δ, rounded up; at least z.

    Raises:
        InvalidInput: 2σ_b ≤ z, so that the noise on the bits is too small for z.
    """
    remaining = _inverse_square(noise_multiplier) - _inverse_square(2.0 * count_std)  # 1/z_Δ²
    if remaining <= 0:
        raise InvalidInput.at("/count_std", "leaves nothing for the updates", allowed=f"> {noise_multiplier / 2.0:g}")
    return root_up(1 / remaining)


@formula(given="The noise multiplier that a round is to have as a whole, and the noise on the sum of its clipped bits.")
def noise_split(*, noise_multiplier: NoiseMultiplier, count_std: Annotated[float, COUNT_STD]) -> Outputs:
    """Compute the noise multiplier z_Δ on the updates, and its ratio to the noise multiplier z of the whole round.

    A round of adaptive clipping releases two noisy sums: of the clipped updates, and of one bit per update, which is 1
    if the update was not clipped. The updates need slightly more noise, because the bits use some of the privacy.

    Args:
        noise_multiplier: noise multiplier z of the whole round. If no bits are sent, the updates have it too.
        count_std: standard deviation σ_b of the noise on the sum of the bits.

    Returns:
        `update_noise_multiplier` z_Δ, and `ratio` z_Δ/z, at least 1.
    """
    update = update_noise_multiplier(noise_multiplier=noise_multiplier, count_std=count_std)
    return {"update_noise_multiplier": update, "ratio": update / noise_multiplier}


SHIFTED_BITS = Condition(
    "shifted-bits",
    (
        "A participant's bit b is 1 if its update was not clipped, and 0 otherwise. The share of updates that were not "
        "clipped is estimated as ½ + (noisy sum of b − ½)/M. The expected number M of participants is fixed "
        "beforehand. The clipping norm of a round depends on earlier releases only"
    ),
)
NOISE_SPLIT = Theorem(
    id="andrew-2021.1",
    title="Adaptive clipping: the noise of a round is split between updates and clipped bits",
    statement=(
        "A round of adaptive clipping has noise σ_b on Σ(b − ½) and the noise multiplier z_Δ on the updates. "
        "With z_Δ = (z⁻² − (2σ_b)⁻²)^(−1/2) the round is one Gaussian mechanism of noise multiplier z"
    ),
    source=Source("andrew2021adaptive", "Theorem 1"),
    status=Status.PROVED,
    conditions=(SHIFTED_BITS,),
    formula=noise_split,
    examples=({"noise_multiplier": 1.0, "count_std": 5.0},),
)
THEOREMS: tuple[Theorem, ...] = (NOISE_SPLIT,)

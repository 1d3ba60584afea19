"""Two Gaussians of one round: clipped updates, and beside them how many were clipped (Andrew et al. 2021).

A participant sends its update, clipped to norm C, and the bit b of whether its norm was at most C. The server releases
the noisy sums of the updates and of the bits shifted to b − ½. Divided by their noise the two sums are one vector with
noise N(0, 1) per coordinate, to which one participant adds (update/(z_Δ C), (b − ½)/σ_b), of squared norm at most

    1/z_Δ² + 1/(4 σ_b²) = 1/z².

So the round is one Gaussian mechanism of noise multiplier z, whoever may be added, removed or zeroed. Two contributions
are at most twice that norm apart, and that far apart they may be: −u with the bit 0 and u with the bit 1 for ‖u‖ = C.
So z holds for replace-one as well, where the sensitivity is two contributions.

The shift by ½ makes the bound on a bit ½ rather than 1. Where everybody may be present or not it changes what is
released, so the share of bits has to be read as ½ + (noisy sum of b − ½)/M, with M the expected number of participants,
fixed beforehand. Read as a noisy sum of b itself, or over the number that took part, it has not been accounted for.
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
    return 1 / Fraction(value) ** 2


def update_noise_multiplier(*, noise_multiplier: float, count_std: float) -> float:
    """z_Δ = (z⁻² − (2σ_b)⁻²)^(−1/2), rounded up: the noise on the updates that leaves z for both.

    Raises:
        InvalidInput: the noise on the count alone is no larger than the whole noise may be: 2σ_b ≤ z.
    """
    left = _inverse_square(noise_multiplier) - _inverse_square(2.0 * count_std)
    if not left > 0:
        raise InvalidInput.at("/count_std", "leaves nothing for the updates", allowed=f"> {noise_multiplier / 2.0:g}")
    return root_up(1 / left)


@formula(given="The noise multiplier that a round is to have as a whole, and the noise on the sum of its clipped bits.")
def noise_split(*, noise_multiplier: NoiseMultiplier, count_std: Annotated[float, COUNT_STD]) -> Outputs:
    """The noise multiplier on the updates, and by how much it exceeds what they would need alone."""
    found = update_noise_multiplier(noise_multiplier=noise_multiplier, count_std=count_std)
    return {"update_noise_multiplier": found, "ratio": found / noise_multiplier}


SHIFTED_BITS = Condition(
    "shifted-bits",
    "the share of updates that were not clipped is read as ½ + (noisy sum of b − ½)/M over the participants, with the "
    "expected number M fixed beforehand, and the clipping norm of a round depends on earlier releases only",
)
NOISE_SPLIT = Theorem(
    id="andrew-2021.1",
    title="Adaptive clipping: the noise of a round is split between updates and clipped bits",
    statement=(
        "A round of adaptive clipping with noise σ_b on Σ(b − ½) and noise multiplier z_Δ = (z⁻² − (2σ_b)⁻²)^(−1/2) on "
        "the updates is one Gaussian mechanism of noise multiplier z"
    ),
    source=Source("andrew2021adaptive", "Theorem 1"),
    status=Status.PROVED,
    conditions=(SHIFTED_BITS,),
    formula=noise_split,
    examples=({"noise_multiplier": 1.0, "count_std": 5.0},),
)
THEOREMS: tuple[Theorem, ...] = (NOISE_SPLIT,)

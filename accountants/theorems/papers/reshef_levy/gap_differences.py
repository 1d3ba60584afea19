"""Alternative 1 of Reshef and Levy: a client reports its weighted difference since it last reported.

With τ the client's last round (0 for none), s = t∇f(x_t; z) − τ∇f(x_τ; z) adds up to t∇f(x_t) in each client's own sum,
whatever happened in between. It is longer than a difference of two rounds in a row: each x_{r+1} is within 2D/(r + 2)
of x_r, hence

    ‖s‖ ≤ (t − τ)G + τL min{D, 2D Σ_{r=τ}^{t−1} 1/(r + 2)} ≤ (t − τ)(G + 2LD),

and so must be the noise that hides a record in it. What it does to the statistical term: reshef.appendix-g.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import FormulaRequest, formula
from epsilond.accountants.numerics.power_sums import harmonic
from epsilond.accountants.quantities import SQUARES, Diameter, Lipschitz, Quantity, Rounds
from epsilond.accountants.quantity import LARGEST_COUNT
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.papers.reshef_levy.conversions import GaussianDpMu
from epsilond.accountants.theorems.papers.reshef_levy.weighted_differences import SmoothnessOrLinear, clipping_norm

LAST_ROUND = Quantity(
    symbol="τ", ge=0, le=LARGEST_COUNT, description="the round in which the client reported before, 0 if it has not"
)
_SUMMED = 10**5


def inverse_sum(first: int, last: int) -> float:
    """1/first + … + 1/last, rounded up beyond so many terms; 0 where there are none."""
    if last - first < _SUMMED:
        return math.fsum(1.0 / k for k in range(first, last + 1))
    if first < _SUMMED:
        return harmonic(last) - harmonic(first - 1)
    return math.log1p((last - first + 1.0) / (first - 1.0))


def _check_gap(inputs: FormulaRequest) -> None:
    if inputs.last_round >= inputs.round:
        raise InvalidInput.at("/last_round", "must come before round", allowed=f"≤ {inputs.round - 1}")


@formula(given="A client that reports in round t, and in round τ < t before.", checks=(_check_gap,))
def differences(
    *,
    lipschitz: Lipschitz,
    smoothness: SmoothnessOrLinear,
    diameter: Diameter,
    round: Rounds,  # noqa: A002  the field's name
    last_round: Annotated[int, LAST_ROUND] = 0,
    gaussian_dp_mu: Annotated[GaussianDpMu, SQUARES] = 1.0,
) -> Outputs:
    """The norm of s as (t − τ)S and sharper, how far x has moved, and the σ at which one report has this ρ."""
    gap = round - last_round
    moved = diameter * min(1.0, 2.0 * inverse_sum(last_round + 2, round + 1)) if last_round else 0.0
    norm = gap * lipschitz + last_round * smoothness * moved
    printed = gap * clipping_norm(lipschitz=lipschitz, smoothness=smoothness, diameter=diameter)
    return {
        "clipping_norm": printed,
        "sharper_clipping_norm": norm,
        "movement": moved,
        "noise_std": 2.0 * norm / gaussian_dp_mu,
    }


ALTERNATIVE_1 = Theorem(
    id="reshef.alternative-1",
    title="Differences since the last report: how long they are",
    statement=(
        "s = t∇f(x_t; z) − τ∇f(x_τ; z), τ the client's last round, has norm at most (t − τ)S, S = G + 2LD; sharper, "
        "(t − τ)G + τL min{D, 2D Σ_{r=τ}^{t−1} 1/(r + 2)}. Noise of σ = 2‖s‖/ρ makes the report ρ-Gaussian private"
    ),
    source=Source("reshef2025", "Alternative 1, and Appendix G"),
    status=Status.PROVED,
    conditions=(
        Condition("honest-server", "x_t and x_τ are those of Algorithm 1; else the client clips s to the norm"),
        Condition("kept-model", "the client keeps x_τ from its last report, and uses no record twice"),
    ),
    formula=differences,
    examples=(
        {"lipschitz": 1.0, "smoothness": 0.25, "diameter": 2.0, "round": 20, "last_round": 15, "gaussian_dp_mu": 4.0},
        {"lipschitz": 1.0, "smoothness": 0.25, "diameter": 2.0, "round": 4},
    ),
)

THEOREMS: tuple[Theorem, ...] = (ALTERNATIVE_1,)

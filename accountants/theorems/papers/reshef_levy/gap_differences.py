"""Alternative 1 of Reshef and Levy: a client reports its weighted gradient difference since its last report.

Let τ be the client's last round, 0 if there is none. The messages s = t∇f(x_t; z) − τ∇f(x_τ; z) of a client add up to
t∇f(x_t), independently of the rounds between. The norm of s is larger than for consecutive rounds. Each x_{r+1} is
within 2D/(r + 2) of x_r, hence

    ‖s‖ ≤ (t − τ)G + τL min{D, 2D Σ_{r=τ}^{t−1} 1/(r + 2)} ≤ (t − τ)(G + 2LD).

The noise is proportional to this norm. The effect on the statistical term is in reshef.appendix-g.
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
"""Number of terms from which a sum is bounded by a closed form."""


def inverse_sum(first: int, last: int) -> float:
    """Compute 1/first + … + 1/last, or an upper bound if there are 10^5 terms or more; 0 if there are none."""
    if last - first < _SUMMED:
        return math.fsum(1.0 / k for k in range(first, last + 1))
    if first < _SUMMED:
        return harmonic(last) - harmonic(first - 1)
    return math.log1p((last - first + 1.0) / (first - 1.0))


def _check_gap(inputs: FormulaRequest) -> None:
    """Check that τ < t."""
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
    """Compute two bounds on the norm of a client's message s, the movement of the model, and the noise of one report.

    Args:
        lipschitz: G, bound on the norm of a record's gradient.
        smoothness: L, Lipschitz constant of the gradient; 0 for linear losses.
        diameter: diameter D of the domain.
        round: index t of the round.
        last_round: τ < t, 0 if the client has not reported before.
        gaussian_dp_mu: ρ of Gaussian differential privacy of one report.

    Returns:
        `clipping_norm` is the bound (t − τ)(G + 2LD). `movement` bounds |x_t − x_τ|. `noise_std` is 2‖s‖/ρ with the
        sharper bound on ‖s‖.
    """
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
        "Let s = t∇f(x_t; z) − τ∇f(x_τ; z) with τ the client's last round. Its norm is at most (t − τ)S with S "
        "= G + 2LD. A sharper bound is (t − τ)G + τL min{D, 2D Σ_{r=τ}^{t−1} 1/(r + 2)}. Noise of σ = 2‖s‖/ρ "
        "makes the report ρ-Gaussian private"
    ),
    source=Source("reshef2025", "Alternative 1, and Appendix G"),
    status=Status.PROVED,
    conditions=(
        Condition("honest-server", "x_t and x_τ are those of Algorithm 1; otherwise the client clips s to the norm"),
        Condition("kept-model", "the client keeps x_τ from its last report, and uses no record twice"),
    ),
    formula=differences,
    examples=(
        {"lipschitz": 1.0, "smoothness": 0.25, "diameter": 2.0, "round": 20, "last_round": 15, "gaussian_dp_mu": 4.0},
        {"lipschitz": 1.0, "smoothness": 0.25, "diameter": 2.0, "round": 4},
    ),
)

THEOREMS: tuple[Theorem, ...] = (ALTERNATIVE_1,)

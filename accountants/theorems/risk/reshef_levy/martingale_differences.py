"""Lemma A.2 of Reshef and Levy: the mean square of a sum of martingale differences.

Let E[Z_τ | the past] = 0. The inner product of Z_{t+1} with Z_1 + … + Z_t has mean 0, as its mean given the past is 0.
Expanding the square therefore leaves the mean squares: E‖Z_1 + … + Z_t‖² = Σ E‖Z_τ‖². The estimation error of Algorithm
1, (15) of the paper, is such a sum, and Lemma 4.3 follows.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import Quantity
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.risk.reshef_levy.anytime_steps import check_list

ROOT_MEAN_SQUARES = Quantity(
    symbol="√E‖Z_τ‖²",
    description="root mean squares of the differences Z_1, …, Z_t in their order, each from 0 to 1e100",
)


@formula(
    given="The root mean squares of t martingale differences.",
    checks=(lambda inputs: check_list("root_mean_squares", inputs.root_mean_squares, 0.0),),
)
def sum_of_differences(*, root_mean_squares: Annotated[tuple[float, ...], ROOT_MEAN_SQUARES]) -> Outputs:
    """Compute the mean square of a sum of martingale differences Z_1, …, Z_t: E‖Z_1 + … + Z_t‖² = Σ E‖Z_τ‖².

    Each Z_τ has mean 0 given the earlier ones, so the differences are uncorrelated (Lemma A.2 of Reshef and Levy).

    Args:
        root_mean_squares: √E‖Z_τ‖² of the differences, in their order.

    Returns:
        `mean_square`: the mean square of the sum.
        `root_mean_square`: its root.
        `largest_mean_square`: (Σ √E‖Z_τ‖²)², the largest mean square of a sum of any Z_τ with these root mean squares.
    """
    mean_square = math.fsum(value * value for value in root_mean_squares)
    total = math.fsum(root_mean_squares)
    return {
        "mean_square": mean_square,
        "root_mean_square": math.sqrt(mean_square),
        "largest_mean_square": total * total,
    }


LEMMA_A_2 = Theorem(
    id="reshef.lemma-a.2",
    title="Martingale differences add up in mean square",
    statement=(
        "Let E[Z_τ | Z_1, …, Z_{τ−1}] = 0 for every τ. Then E‖Z_1 + … + Z_t‖² = Σ_{τ≤t} E‖Z_τ‖². Without that premise, "
        "the mean square may reach (Σ √E‖Z_τ‖²)²"
    ),
    source=Source("reshef2025", "Lemma A.2, and its use for equation (15)"),
    status=Status.PROVED,
    conditions=(
        Condition("martingale", "the mean of each difference, given all earlier ones, is 0"),
        Condition("finite-variance", "every difference has a finite mean square"),
    ),
    formula=sum_of_differences,
    examples=({"root_mean_squares": (1.0, 0.5, 0.25, 2.0)},),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_A_2,)

"""Alternative 1 of Reshef and Levy: a client reports its weighted gradient difference since its last report.

Let τ be the client's last round, 0 if there is none. The messages s = t∇f(x_t; z) − τ∇f(x_τ; z) of a client add up to
t∇f(x_t), independently of the rounds between. The norm of s is larger than for consecutive rounds. The model x_t is the
mean of x_τ, with the weight α_{1:τ}/α_{1:t} = τ(τ + 1)/(t(t + 1)), and of the later iterates. Appendix G concludes:

    |x_t − x_τ| ≤ D(1 − τ(τ + 1)/(t(t + 1))) = D(t − τ)(t + τ + 1)/(t(t + 1)),
    ‖s‖ ≤ (t − τ)G + τL|x_t − x_τ| ≤ (t − τ)(G + 2LD).

Iterates that jump from one end of the domain to the other attain the first bound.

The noise is proportional to this norm. The effect on the statistical term is in reshef.appendix-g.
"""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import FormulaRequest, formula
from epsilond.accountants.quantities import SQUARES, Diameter, Lipschitz, Quantity, Rounds
from epsilond.accountants.quantity import LARGEST_COUNT
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.papers.reshef_levy.conversions import GaussianDpMu
from epsilond.accountants.theorems.papers.reshef_levy.weighted_differences import SmoothnessOrLinear, clipping_norm

LAST_ROUND = Quantity(
    symbol="τ", ge=0, le=LARGEST_COUNT, description="the round in which the client reported before, 0 if it has not"
)


def _check_gap(inputs: FormulaRequest) -> None:
    """Check that the round of the client's last report precedes the present round.

    Args:
        inputs: the request, with `last_round` τ and `round` t.

    Raises:
        InvalidInput: τ ≥ t.
    """
    if inputs.last_round >= inputs.round:
        raise InvalidInput.at("/last_round", "must come before round", allowed=f"≤ {inputs.round - 1}")


@formula(
    given="The round t in which a client reports, and the round τ of its report before; τ = 0 if there is none.",
    checks=(_check_gap,),
)
def differences(
    *,
    lipschitz: Lipschitz,
    smoothness: SmoothnessOrLinear,
    diameter: Diameter,
    round: Rounds,  # noqa: A002  the field's name
    last_round: Annotated[int, LAST_ROUND] = 0,
    gaussian_dp_mu: Annotated[GaussianDpMu, SQUARES] = 1.0,
) -> Outputs:
    """Compute bounds on the norm of a client's message, and its noise, if the client reports only in some rounds.

    The message is s = t∇f(x_t) − τ∇f(x_τ), where t is the round of this report and τ that of the client's last one.

    Args:
        lipschitz: G, bound on the norm of a record's gradient.
        smoothness: L, Lipschitz constant of the gradient; 0 for linear losses.
        diameter: diameter D of the domain.
        round: index t of the round.
        last_round: τ < t, 0 if the client has not reported before.
        gaussian_dp_mu: Gaussian DP parameter ρ of one report.

    Returns:
        `clipping_norm`: the bound (t − τ)(G + 2LD) on ‖s‖.
        `movement`: D(t − τ)(t + τ + 1)/(t(t + 1)), a bound on |x_t − x_τ|; 0 without an earlier report.
        `sharper_clipping_norm`: the smaller bound (t − τ)G + τL · `movement` on ‖s‖.
        `noise_std`: 2/ρ times the sharper bound on ‖s‖.
    """
    # Without an earlier report, the message is t∇f(x_t), and no movement counts.
    gap = round - last_round
    movement = 0.0
    if last_round > 0:
        movement = diameter * (gap / round) * ((round + last_round + 1.0) / (round + 1.0))
    norm_after_gap_of_one = clipping_norm(lipschitz=lipschitz, smoothness=smoothness, diameter=diameter)
    sharper_norm = gap * lipschitz + last_round * smoothness * movement
    return {
        "clipping_norm": gap * norm_after_gap_of_one,
        "sharper_clipping_norm": sharper_norm,
        "movement": movement,
        "noise_std": 2.0 * sharper_norm / gaussian_dp_mu,
    }


ALTERNATIVE_1 = Theorem(
    id="reshef.alternative-1",
    title="Differences since the last report: how long they are",
    statement=(
        "Let the message be s = t∇f(x_t; z) − τ∇f(x_τ; z), where τ is the client's last round. Its norm is at most (t "
        "− τ)S with S = G + 2LD. A sharper bound is (t − τ)(G + τLD(t + τ + 1)/(t(t + 1))). Noise of σ = 2‖s‖/ρ makes "
        "the report ρ-Gaussian differentially private"
    ),
    source=Source("reshef2025", "Alternative 1, and Appendix G"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "honest-server",
            (
                "The server sends the models x_t and x_τ of Algorithm 1. If it may send others, the client clips its "
                "message s to the stated norm"
            ),
        ),
        Condition("kept-model", "the client keeps the model x_τ of its last report, and uses no record twice"),
    ),
    formula=differences,
    examples=(
        {"lipschitz": 1.0, "smoothness": 0.25, "diameter": 2.0, "round": 20, "last_round": 15, "gaussian_dp_mu": 4.0},
        {"lipschitz": 1.0, "smoothness": 0.25, "diameter": 2.0, "round": 4},
    ),
)

THEOREMS: tuple[Theorem, ...] = (ALTERNATIVE_1,)

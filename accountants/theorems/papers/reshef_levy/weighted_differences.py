"""Bounds on the norm and the deviation of the clients' weighted gradient differences, Section 4 of Reshef and Levy.

In round t, a client with the record z sends the message:

    s_t = t∇f(x_t; z) − (t − 1)∇f(x_{t−1}; z).

G bounds the norm of a record's gradient, and L its Lipschitz constant.
"""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.formula import in_doubles
from epsilond.accountants.quantities import ROUNDS, SQUARES, Diameter, Lipschitz, Quantity, request
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.reshef_levy.errata import MALICIOUS

SMOOTHNESS_OR_LINEAR = Quantity(
    symbol="L",
    ge=0,
    scale=SQUARES,
    unit="loss/length²",
    description="smoothness constant: Lipschitz constant of the gradient of the loss; 0 for linear losses",
)
GRADIENT_STD = Quantity(
    symbol="σ",
    ge=0,
    scale=SQUARES,
    unit="loss/length",
    description="root mean square distance of a record's gradient from the expected gradient of its client, at "
    "the model where it is largest. Absent: the value of lipschitz",
)
CLIENT_SPREAD = Quantity(
    symbol="ξ",
    ge=0,
    scale=SQUARES,
    unit="loss/length",
    description="root mean square over clients of the distance of a client's expected gradient from the mean "
    "over all clients. Absent: the value of lipschitz",
)
SMOOTHNESS_STD = Quantity(
    symbol="σ_L",
    ge=0,
    scale=SQUARES,
    unit="loss/length²",
    description="Lipschitz constant, as a function of the model, of a record's gradient minus the expected "
    "gradient of its client. Absent: the value of smoothness",
)
SMOOTHNESS_HETEROGENEITY = Quantity(
    symbol="ξ_L",
    ge=0,
    scale=SQUARES,
    unit="loss/length²",
    description="Lipschitz constant, as a function of the model, of a client's expected gradient minus the "
    "mean over all clients. Absent: the value of smoothness",
)
SmoothnessOrLinear = Annotated[float, SMOOTHNESS_OR_LINEAR]


def value_or_bound(value: float | None, bound: float) -> float:
    """Return a deviation of the request, or its largest possible value if the request has none.

    Args:
        value: the deviation, or None.
        bound: largest possible value of the deviation.
    """
    if value is None:
        return bound
    return value


def clipping_norm(*, lipschitz: float, smoothness: float, diameter: float) -> float:
    """Compute a bound S = G + 2LD on the norm of a client's message in every round, if the server is honest.

    A message is the weighted difference t∇f(x_t) − (t − 1)∇f(x_{t−1}) of two gradients.

    Args:
        lipschitz: bound G on the norm of a record's gradient.
        smoothness: Lipschitz constant L of the gradient.
        diameter: diameter D of the domain.

    Returns:
        S, in the unit of G.
    """
    return lipschitz + 2.0 * smoothness * diameter


def round_clipping_norm(*, lipschitz: float, smoothness: float, diameter: float, round_: int) -> float:
    """Compute a bound on the norm of a client's message in round t of the algorithm of Reshef and Levy.

    If the server is honest, the bound is:

        S_t = G + 2LD (t − 1)/(t + 1).

    Args:
        lipschitz: bound G on the norm of a record's gradient.
        smoothness: Lipschitz constant L of the gradient.
        diameter: diameter D of the domain.
        round_: index t of the round, from 1.

    Returns:
        S_t, in the unit of G.
    """
    return lipschitz + 2.0 * smoothness * diameter * ((round_ - 1) / (round_ + 1))


@request
class LossConstants:
    """Constants of the losses: Lipschitz constant G, smoothness L, diameter D of the domain, and deviations.

    Absent deviations have their largest possible values: G for gradients and L for their Lipschitz constants.
    """

    lipschitz: Lipschitz
    smoothness: SmoothnessOrLinear
    diameter: Diameter
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    heterogeneity: Annotated[float | None, CLIENT_SPREAD] = None
    smoothness_std: Annotated[float | None, SMOOTHNESS_STD] = None
    smoothness_heterogeneity: Annotated[float | None, SMOOTHNESS_HETEROGENEITY] = None

    @property
    def clipping_norm(self) -> float:
        """Bound S on the norm of a client's message in every round."""
        return clipping_norm(lipschitz=self.lipschitz, smoothness=self.smoothness, diameter=self.diameter)

    @property
    def total_gradient_std(self) -> float:
        """Bound σ̃ = σ + 2σ_L D on the standard deviation of a message s_t within a client."""
        gradient_std = value_or_bound(self.gradient_std, self.lipschitz)
        smoothness_std = value_or_bound(self.smoothness_std, self.smoothness)
        return gradient_std + 2.0 * smoothness_std * self.diameter

    @property
    def total_heterogeneity(self) -> float:
        """Bound ξ̃ = ξ + 2ξ_L D on the standard deviation of the expected message s_t over clients."""
        heterogeneity = value_or_bound(self.heterogeneity, self.lipschitz)
        smoothness_heterogeneity = value_or_bound(self.smoothness_heterogeneity, self.smoothness)
        return heterogeneity + 2.0 * smoothness_heterogeneity * self.diameter


@request
class ConstantsInputs(LossConstants):
    """Constants of the losses, and the round t of S_t."""

    round: Annotated[int, ROUNDS] = 1


@in_doubles
def constants(inputs: ConstantsInputs) -> Outputs:
    """Compute bounds on the norm, the standard deviations and the sensitivity of a client's message s_t in round t.

    The message is that of the algorithm of Reshef and Levy, a weighted difference of two gradients.

    Args:
        inputs: constants of the loss, the diameter of the domain, and the index t of the round.

    Returns:
        `clipping_norm` and `round_clipping_norm`: bounds S and S_t on the norm in every round, and in round t.
        `total_gradient_std`: bound σ̃ on the standard deviation within a client.
        `total_heterogeneity`: bound ξ̃ on the standard deviation of the expected message over clients.
        `convex_sensitivity`: bound G + S_t on the change of s_t by one record, for a convex loss.
    """
    round_norm = round_clipping_norm(
        lipschitz=inputs.lipschitz, smoothness=inputs.smoothness, diameter=inputs.diameter, round_=inputs.round
    )
    return {
        "clipping_norm": inputs.clipping_norm,
        "total_gradient_std": inputs.total_gradient_std,
        "total_heterogeneity": inputs.total_heterogeneity,
        "round_clipping_norm": round_norm,
        "convex_sensitivity": inputs.lipschitz + round_norm,
    }


def _compare_deviations(inputs: LossConstants) -> Sides:
    """Compare the deviations of a loss with their largest possible values.

    The deviations σ and ξ of gradients are at most G, and the deviations σ_L and ξ_L of their Lipschitz constants at
    most L. Of the four, the one is compared that comes nearest to its largest value, or exceeds it most.

    Args:
        inputs: constants of the loss; absent deviations have their largest values.
    """
    requested = [
        (inputs.gradient_std, inputs.lipschitz),
        (inputs.heterogeneity, inputs.lipschitz),
        (inputs.smoothness_std, inputs.smoothness),
        (inputs.smoothness_heterogeneity, inputs.smoothness),
    ]
    deviations_and_bounds = [(value_or_bound(value, bound), bound) for value, bound in requested]

    def excess(deviation_and_bound: tuple[float, float]) -> float:
        """Return how far a deviation exceeds its largest possible value; negative if it does not."""
        deviation, bound = deviation_and_bound
        return deviation - bound

    deviation, bound = max(deviations_and_bounds, key=excess)
    return Sides.at_most(deviation, bound)


SPREADS = Condition(
    "spreads",
    (
        "The deviations of gradients are at most their bound (σ ≤ G and ξ ≤ G). Those of Lipschitz constants are at "
        "most L (σ_L ≤ L and ξ_L ≤ L). The pair that comes closest to failing is shown"
    ),
    _compare_deviations,
)
CONSTANTS = Theorem(
    id="reshef.section-4",
    title="Bounds on weighted gradient differences",
    statement=(
        "Let x_{t+1} be at distance at most 2D/(t + 2) from x_t. Then |s_t| ≤ S = G + 2LD. Its standard deviation is "
        "at most σ̃ = σ + 2σ_L D within a client and ξ̃ = ξ + 2ξ_L D over clients. A sharper bound is |s_t| ≤ S_t = G "
        "+ 2LD(t − 1)/(t + 1). One record of a convex loss moves s_t by at most G + S_t"
    ),
    source=Source("reshef2025", "Section 4, and equations (4) to (7)"),
    status=Status.PROVED,
    conditions=(SPREADS, Condition("honest-server", "the server sends the models x_t and x_{t−1} of Algorithm 1")),
    errata=(MALICIOUS,),
    inputs=ConstantsInputs,
    formula=constants,
    examples=({"lipschitz": 1.0, "smoothness": 0.25, "diameter": 2.0, "round": 10},),
)
THEOREMS: tuple[Theorem, ...] = (CONSTANTS,)

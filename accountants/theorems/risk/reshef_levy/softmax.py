"""Constants of softmax regression, with which Reshef and Levy set up their experiments."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import SQUARES, Diameter, Quantity
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.papers.reshef_levy.weighted_differences import clipping_norm

FEATURE_NORM = Quantity(
    symbol="‖x‖",
    gt=0,
    scale=SQUARES,
    description="bound on the ℓ2 norm of one record's features, the constant one included",
)


@formula(given="Softmax regression on features of at most this norm, over a domain of this diameter.")
def constants(*, feature_norm: Annotated[float, FEATURE_NORM], diameter: Diameter) -> Outputs:
    """Return the constants of softmax regression.

    Its loss is the cross entropy of softmax(Wx), as a function of the matrix W with its Frobenius norm.

    Args:
        feature_norm: bound ‖x‖ on the norm of a record's features.
        diameter: diameter D of the domain of W.

    Returns:
        `lipschitz`: Lipschitz constant G = √2 ‖x‖.
        `smoothness`: L = ‖x‖²/2.
        `clipping_norm`: bound S = G + 2LD on the norm of a message.
    """
    lipschitz = math.sqrt(2.0) * feature_norm
    smoothness = 0.5 * feature_norm * feature_norm
    norm = clipping_norm(lipschitz=lipschitz, smoothness=smoothness, diameter=diameter)
    return {"lipschitz": lipschitz, "smoothness": smoothness, "clipping_norm": norm}


SOFTMAX = Theorem(
    id="reshef.experiments",
    title="The constants of softmax regression",
    statement=(
        "The cross entropy of a softmax of Wx is convex in W, √2 ‖x‖-Lipschitz and ‖x‖²/2-smooth on the whole space. "
        "With 785 features in [0, 1], G = √1570, L = 785/2, and S = 118.1 at D = 0.1"
    ),
    source=Source("reshef2025", "the experiments on MNIST"),
    status=Status.PROVED,
    conditions=(Condition("features-bounded", "the features of every record have a norm of at most ‖x‖"),),
    formula=constants,
    examples=({"feature_norm": 28.017851452243800, "diameter": 0.1},),
)

THEOREMS: tuple[Theorem, ...] = (SOFTMAX,)

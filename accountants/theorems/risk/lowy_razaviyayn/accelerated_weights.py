"""One round of Algorithm 2 of Lowy and Razaviyayn: its α and η, and the weights with which its sequences are mixed."""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import SQUARES, Quantity, StrongConvexity
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_stages import weights

ROUND_NUMBER = Quantity(symbol="r", ge=1, le=10**12, description="number of the round within its stage, from 1")
PROX_WEIGHT = Quantity(symbol="v", unit="loss/length²", gt=0, scale=SQUARES, description="prox weight of the stage")


@formula(given="A round of a stage of Algorithm 2, and the stage's prox weight.")
def round_weights(
    *,
    round_number: Annotated[int, ROUND_NUMBER],
    prox_weight: Annotated[float, PROX_WEIGHT],
    strong_convexity: StrongConvexity = 0.0,
) -> Outputs:
    """α, η, and w^md = `aggregate` w^ag + `iterate` w, w ← Π[`middle` w^md + `kept` w − `step_size` g].

    Then w^ag ← α w + (1 − α) w^ag. `aggregate` + `iterate` = `middle` + `kept` = 1.
    """
    found = weights(round_number=round_number, prox_weight=prox_weight, strong_convexity=strong_convexity)
    return {
        "alpha": found.share,
        "eta": 4.0 * prox_weight / (round_number * (round_number + 1.0)),
        "aggregate_weight": found.aggregate,
        "iterate_weight": found.iterate,
        "middle_weight": found.middle,
        "kept_weight": found.kept,
        "step_size": found.step,
    }


WEIGHTS = Theorem(
    id="lowy.algorithm-2.weights",
    title="The mixing weights of accelerated mini-batch SGD",
    statement=(
        "α_r = 2/(r + 1), η_r = 4v/(r(r + 1)); w^md = [(1 − α)(μ + η)w^ag + α((1 − α)μ + η)w]/(η + (1 − α²)μ), and "
        "w_r, the least of α(⟨g, w⟩ + μ|w^md − w|²/2) + ((1 − α)μ + η)|w_{r−1} − w|²/2 over the domain, is "
        "Π[(αμ w^md + ((1 − α)μ + η)w_{r−1} − αg)/(μ + η)]: weights of points add to 1, so that gradients are taken "
        "in the domain"
    ),
    source=Source("lowy2023", "Algorithm 2"),
    status=Status.PROVED,
    conditions=(Condition("closed-convex-domain", "the domain is closed and convex, and holds the start"),),
    formula=round_weights,
    examples=(
        {"round_number": 1, "prox_weight": 2.0},
        {"round_number": 7, "prox_weight": 2.0, "strong_convexity": 0.1},
    ),
)

THEOREMS: tuple[Theorem, ...] = (WEIGHTS,)

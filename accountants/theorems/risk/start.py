"""What is known of the start before any training: how far its loss is above the least, and how steep the loss is there.

A bound on a trained model that is no smaller than these says nothing, as handing out the start gives as much. With
R = ‖w₀ − w*‖ at most and r the distance itself,

    F(w₀) − F(w*) ≤ L r − μ r²/2       F is L-Lipschitz and μ-strongly convex: F(w*) ≥ F(w₀) + ⟨g, w* − w₀⟩ + μ r²/2,
    F(w₀) − F(w*) ≤ G* r + β r²/2      F is β-smooth with ‖∇F(w*)‖ ≤ G*, 0 where w* is inside the domain,
    ‖∇F(w₀)‖      ≤ G* + β r           the same, and at most L.

The first grows in r up to L/μ. All figures are exact in rational numbers and rounded up once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, ClassVar

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import (
    ANY_SCALE,
    LIPSCHITZ,
    SMOOTHNESS,
    InitialDistance,
    Quantity,
    StrongConvexity,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem

MINIMISER_GRADIENT_NORM = Quantity(
    symbol="G*",
    unit="loss/length",
    ge=0,
    description="bound on the norm of the gradient at the minimiser; 0 where it is inside the domain, absent: unknown",
)


def rounded_up(exact: Fraction) -> float:
    """The least double at or above a rational number; infinite beyond the doubles."""
    try:
        near = float(exact)
    except OverflowError:
        return math.inf
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def excess_risk_bounds(
    *,
    distance: float,
    lipschitz: float | Fraction | None = None,
    strong_convexity: float = 0.0,
    smoothness: float | None = None,
    minimiser_gradient_norm: float | None = None,
) -> dict[str, float]:
    """The bounds on the excess risk of the start that the constants given allow, by what each rests on.

    `by_lipschitz`: L R; `by_strong_convexity`: the largest L r − μ r²/2 with r ≤ R, for μ > 0; `by_smoothness`:
    G* R + β R²/2. Each is rounded up.
    """
    far, found = Fraction(distance), {}
    if lipschitz is not None:
        steep, curved = Fraction(lipschitz), Fraction(strong_convexity)
        found["by_lipschitz"] = rounded_up(steep * far)
        if curved > 0:
            at = min(far, steep / curved)
            found["by_strong_convexity"] = rounded_up(steep * at - curved * at * at / 2)
    if smoothness is not None and minimiser_gradient_norm is not None:
        found["by_smoothness"] = rounded_up(
            Fraction(minimiser_gradient_norm) * far + Fraction(smoothness) * far * far / 2
        )
    return found


def gradient_norm_bounds(
    *,
    distance: float,
    lipschitz: float | None = None,
    smoothness: float | None = None,
    minimiser_gradient_norm: float | None = None,
) -> dict[str, float]:
    """The bounds on the norm of the gradient at the start: `by_lipschitz` L, `by_smoothness` G* + β R, rounded up."""
    found: dict[str, float] = {}
    if lipschitz is not None:
        found["by_lipschitz"] = lipschitz
    if smoothness is not None and minimiser_gradient_norm is not None:
        found["by_smoothness"] = rounded_up(
            Fraction(minimiser_gradient_norm) + Fraction(smoothness) * Fraction(distance)
        )
    return found


@request
class StartInputs:
    """What is known of the loss, and how far the start is from a minimiser. `lipschitz`, or both of the others."""

    scale: ClassVar = ANY_SCALE

    initial_distance: InitialDistance
    lipschitz: Annotated[float | None, LIPSCHITZ] = None
    strong_convexity: StrongConvexity = 0.0
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    minimiser_gradient_norm: Annotated[float | None, MINIMISER_GRADIENT_NORM] = None

    def check(self) -> None:
        """Something to bound with."""
        if self.lipschitz is None and (self.smoothness is None or self.minimiser_gradient_norm is None):
            raise InvalidInput.at("/lipschitz", "is needed, or smoothness with minimiser_gradient_norm")


def _outputs(found: Mapping[str, float], name: str) -> Outputs:
    return {**found, name: min(found.values())}


def excess_risk_of_the_start(inputs: StartInputs) -> Outputs:
    """Every bound that the inputs allow, and the least of them."""
    found = excess_risk_bounds(
        distance=inputs.initial_distance,
        lipschitz=inputs.lipschitz,
        strong_convexity=inputs.strong_convexity,
        smoothness=inputs.smoothness,
        minimiser_gradient_norm=inputs.minimiser_gradient_norm,
    )
    return _outputs(found, "excess_risk")


def gradient_norm_of_the_start(inputs: StartInputs) -> Outputs:
    """Every bound that the inputs allow, and the least of them."""
    found = gradient_norm_bounds(
        distance=inputs.initial_distance,
        lipschitz=inputs.lipschitz,
        smoothness=inputs.smoothness,
        minimiser_gradient_norm=inputs.minimiser_gradient_norm,
    )
    return _outputs(found, "gradient_norm")


LOSS_AS_SAID = Condition(
    "loss-as-said",
    "between the start and a minimiser the mean loss has the Lipschitz constant, strong convexity and smoothness given",
)
_SOURCE = Source("epsilond", "accountants/theorems/risk/start.py")
EXCESS_RISK_OF_THE_START = Theorem(
    id="epsilond.excess-risk-of-the-start",
    title="The excess risk of a model that was never trained",
    statement=(
        "F(w₀) − F(w*) ≤ L‖w₀ − w*‖, ≤ max over r ≤ ‖w₀ − w*‖ of L r − μ r²/2, and ≤ G*‖w₀ − w*‖ + β‖w₀ − w*‖²/2 with "
        "G* ≥ ‖∇F(w*)‖"
    ),
    source=_SOURCE,
    status=Status.PROVED,
    conditions=(LOSS_AS_SAID,),
    inputs=StartInputs,
    formula=excess_risk_of_the_start,
    examples=(
        {"initial_distance": 2.0, "lipschitz": 1.0},
        {
            "initial_distance": 2.0,
            "lipschitz": 1.0,
            "strong_convexity": 0.4,
            "smoothness": 0.5,
            "minimiser_gradient_norm": 0.0,
        },
    ),
)
GRADIENT_NORM_OF_THE_START = Theorem(
    id="epsilond.gradient-norm-of-the-start",
    title="The norm of the gradient at a model that was never trained",
    statement="‖∇F(w₀)‖ ≤ L, and ≤ G* + β‖w₀ − w*‖ with G* ≥ ‖∇F(w*)‖",
    source=_SOURCE,
    status=Status.PROVED,
    conditions=(LOSS_AS_SAID,),
    inputs=StartInputs,
    formula=gradient_norm_of_the_start,
    examples=({"initial_distance": 3.0, "smoothness": 2.0, "minimiser_gradient_norm": 0.0},),
)
THEOREMS: tuple[Theorem, ...] = (EXCESS_RISK_OF_THE_START, GRADIENT_NORM_OF_THE_START)

"""Bounds on the excess risk and the gradient norm of the initial model w₀, "the start", before any training.

A bound on a trained model that is no smaller than these is vacuous: the initial model satisfies it too. With R an upper
bound on the distance r = ‖w₀ − w*‖ of the start w₀ from a minimiser w*:

    F(w₀) − F(w*) ≤ L r − μ r²/2       F is L-Lipschitz and μ-strongly convex: F(w*) ≥ F(w₀) + ⟨g, w* − w₀⟩ + μ r²/2,
    F(w₀) − F(w*) ≤ G* r + β r²/2      F is β-smooth with ‖∇F(w*)‖ ≤ G*, 0 where w* is inside the domain,
    ‖∇F(w₀)‖      ≤ G* + β r           the same, and at most L.

The first bound grows in r up to L/μ. All figures are exact in rational numbers and rounded up once.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, ClassVar

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.outward import round_up
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


def excess_risk_bounds(
    *,
    distance: float,
    lipschitz: float | Fraction | None = None,
    strong_convexity: float = 0.0,
    smoothness: float | None = None,
    minimiser_gradient_norm: float | None = None,
) -> dict[str, float]:
    """Return upper bounds on the excess risk of the initial model, one for each set of known constants.

    The excess risk is the loss of the model minus the least loss F(w*).

    Args:
        distance: upper bound R on the distance of the initial model from a minimiser w*.
        lipschitz: Lipschitz constant L of the loss; None if unknown.
        strong_convexity: modulus μ ≥ 0 of strong convexity.
        smoothness: Lipschitz constant β of the gradient; None if unknown.
        minimiser_gradient_norm: bound G* on the norm of the gradient at the minimiser; None if unknown.

    Returns:
        The bounds by name. Those with an unknown constant are left out, so the dictionary may be empty.
        `by_lipschitz`: L R.
        `by_strong_convexity`: the largest L r − μ r²/2 over distances r ≤ R, if L is known and μ > 0.
        `by_smoothness`: G* R + β R²/2.

    Guarantees:
        Each bound is computed in rational numbers and rounded up, so it is never too low.
    """
    radius = Fraction(distance)
    bounds: dict[str, float] = {}
    if lipschitz is not None:
        slope, convexity = Fraction(lipschitz), Fraction(strong_convexity)
        bounds["by_lipschitz"] = round_up(slope * radius)
        if convexity > 0:
            # The bound L r − μ r²/2 grows in r up to L/μ.
            worst_distance = min(radius, slope / convexity)
            bounds["by_strong_convexity"] = round_up(slope * worst_distance - convexity * worst_distance**2 / 2)
    if smoothness is not None and minimiser_gradient_norm is not None:
        slope_at_minimiser, curvature = Fraction(minimiser_gradient_norm), Fraction(smoothness)
        bounds["by_smoothness"] = round_up(slope_at_minimiser * radius + curvature * radius**2 / 2)
    return bounds


def gradient_norm_bounds(
    *,
    distance: float,
    lipschitz: float | None = None,
    smoothness: float | None = None,
    minimiser_gradient_norm: float | None = None,
) -> dict[str, float]:
    """Return upper bounds on the norm of the gradient at the initial model, one for each set of known constants.

    Args:
        distance: upper bound R on the distance of the initial model from a minimiser.
        lipschitz: Lipschitz constant L of the loss; None if unknown.
        smoothness: Lipschitz constant β of the gradient; None if unknown.
        minimiser_gradient_norm: bound G* on the norm of the gradient at the minimiser; None if unknown.

    Returns:
        The bounds by name: `by_lipschitz` is L, and `by_smoothness` is G* + β R, rounded up. Those with an unknown
        constant are left out, so the dictionary may be empty.
    """
    bounds: dict[str, float] = {}
    if lipschitz is not None:
        bounds["by_lipschitz"] = lipschitz
    if smoothness is not None and minimiser_gradient_norm is not None:
        exact_bound = Fraction(minimiser_gradient_norm) + Fraction(smoothness) * Fraction(distance)
        bounds["by_smoothness"] = round_up(exact_bound)
    return bounds


@request
class StartInputs:
    """Inputs of bounds at the initial model: its distance from a minimiser, and constants of the loss.

    Either `lipschitz` is required, or both `smoothness` and `minimiser_gradient_norm`. An absent constant is None.
    """

    scale: ClassVar = ANY_SCALE

    initial_distance: InitialDistance
    lipschitz: Annotated[float | None, LIPSCHITZ] = None
    strong_convexity: StrongConvexity = 0.0
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    minimiser_gradient_norm: Annotated[float | None, MINIMISER_GRADIENT_NORM] = None

    def check(self) -> None:
        """Reject constants that give no bound.

        Raises:
            InvalidInput: if `lipschitz` is absent, and `smoothness` or `minimiser_gradient_norm` is absent too.
        """
        lacks_smooth_bound = self.smoothness is None or self.minimiser_gradient_norm is None
        if self.lipschitz is None and lacks_smooth_bound:
            raise InvalidInput.at("/lipschitz", "is needed, or smoothness with minimiser_gradient_norm")


def _outputs(bounds: Mapping[str, float], name: str) -> Outputs:
    """Return the bounds as named outputs, and the least of them under a further name.

    Args:
        bounds: upper bounds of one quantity, at least one.
        name: name of the least bound.
    """
    return {**bounds, name: min(bounds.values())}


def excess_risk_of_the_start(inputs: StartInputs) -> Outputs:
    """Bound the excess risk of the initial model, before any training.

    An upper bound for a trained model says something only if it is smaller.

    Args:
        inputs: the distance of the initial model from a minimiser, and the known constants of the loss.

    Returns:
        The bounds of `excess_risk_bounds` by name, in units of the loss, and their minimum as `excess_risk`.
    """
    bounds = excess_risk_bounds(
        distance=inputs.initial_distance,
        lipschitz=inputs.lipschitz,
        strong_convexity=inputs.strong_convexity,
        smoothness=inputs.smoothness,
        minimiser_gradient_norm=inputs.minimiser_gradient_norm,
    )
    return _outputs(bounds, "excess_risk")


def gradient_norm_of_the_start(inputs: StartInputs) -> Outputs:
    """Bound the norm of the gradient at the initial model, before any training.

    Args:
        inputs: the distance of the initial model from a minimiser, and the known constants of the loss.

    Returns:
        The bounds of `gradient_norm_bounds` by name, and their minimum as `gradient_norm`.
    """
    bounds = gradient_norm_bounds(
        distance=inputs.initial_distance,
        lipschitz=inputs.lipschitz,
        smoothness=inputs.smoothness,
        minimiser_gradient_norm=inputs.minimiser_gradient_norm,
    )
    return _outputs(bounds, "gradient_norm")


LOSS_AS_SAID = Condition(
    "loss-as-said",
    "between the start and a minimiser the mean loss has the Lipschitz constant, strong convexity and smoothness given",
)
_SOURCE = Source("epsilond", "accountants/theorems/risk/start.py")
EXCESS_RISK_OF_THE_START = Theorem(
    id="epsilond.excess-risk-of-the-start",
    title="The excess risk of a model that was never trained",
    statement=(
        "The excess F(w₀) − F(w*) has three upper bounds. The first is L‖w₀ − w*‖. The second is the maximum "
        "over r ≤ ‖w₀ − w*‖ of L r − μ r²/2. The third is G*‖w₀ − w*‖ + β‖w₀ − w*‖²/2 with G* ≥ ‖∇F(w*)‖"
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

"""Appendix B of Lowy and Razaviyayn: clients whose losses weigh differently, as equal ones with scaled losses.

F = Σ p_i F_i over the N clients is the plain mean of F~_i = p_i N F_i. Everything that scales with the loss scales by
p_i N: gradients and so the Lipschitz constant, the sensitivity and the noise, smoothness, strong convexity, deviations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

from accountants.errors import InvalidInput
from accountants.quantities import Quantity, request
from accountants.theorem import Condition, Erratum, Outputs, Sides, Source, Status, Theorem
from accountants.theorems.lowy_arithmetic import in_doubles

_TESTS = "tests/theorems/test_lowy_weights.py"
_LIST = "of each client"


def loss_scales(weights: Sequence[tuple[float, int]]) -> tuple[float, ...]:
    """p_i N of each group of clients, from (relative weight, clients) pairs; all 1 where the weights are equal."""
    clients = sum(count for _, count in weights)
    whole = math.fsum(weight * count for weight, count in weights)
    return tuple(weight * clients / whole for weight, _ in weights)


@request
class WeightInputs:
    """Weights that sum to 1, and each client's constants, one entry a client."""

    weights: Annotated[tuple[float, ...], Quantity(symbol="p_i", description=f"weight {_LIST}, summing to 1")]
    lipschitz: Annotated[tuple[float, ...], Quantity(symbol="L_i", description=f"Lipschitz constant {_LIST}")]
    smoothness: Annotated[tuple[float, ...], Quantity(symbol="β_i", description=f"smoothness {_LIST}")]
    strong_convexity: Annotated[tuple[float, ...], Quantity(symbol="μ_i", description=f"strong convexity {_LIST}")]

    def check(self) -> None:
        """As many constants as weights, none negative or infinite, and a sum of 1."""
        for name in ("weights", "lipschitz", "smoothness", "strong_convexity"):
            values = getattr(self, name)
            if len(values) != len(self.weights) or not values:
                raise InvalidInput.at(f"/{name}", "needs one entry for each client")
            for place, value in enumerate(values):
                if isinstance(value, bool) or not 0.0 <= value < math.inf:
                    raise InvalidInput.at(f"/{name}/{place}", "is out of range", allowed="≥ 0")
        if abs(math.fsum(self.weights) - 1.0) > 1e-9:
            raise InvalidInput.at("/weights", "does not sum to 1")


@in_doubles
def reweighted(inputs: WeightInputs) -> Outputs:
    """Every client's constants times p_i N, and the ones that stand for all: largest L~, least μ~, largest β~."""
    scales = [weight * len(inputs.weights) for weight in inputs.weights]

    def scaled(values: Sequence[float]) -> list[float]:
        return [scale * value for scale, value in zip(scales, values, strict=True)]

    lipschitz, smoothness = scaled(inputs.lipschitz), scaled(inputs.smoothness)
    strong_convexity = scaled(inputs.strong_convexity)
    return {
        "lipschitz": max(lipschitz),
        "smoothness": max(smoothness),
        "strong_convexity": min(strong_convexity),
        "client_lipschitz": lipschitz,
        "client_smoothness": smoothness,
        "client_strong_convexity": strong_convexity,
    }


NOISE_FROM_SCALED = Erratum(
    "E-30",
    printed="L~_i, μ~_i, β~_i are listed; the noise is not said to follow them",
    truth=(
        "σ_i and the sensitivity must use L~_i = p_i N L_i: with L_i a client of weight above 1/N is protected less "
        "than it was promised. Gradient deviations scale too, and p_i = 0 leaves no strong convexity"
    ),
    test=f"{_TESTS}::test_noise_from_the_unscaled_constant_breaks_the_promise",
)

APPENDIX_B = Theorem(
    id="lowy.appendix-b",
    title="Unequal weights as scaled losses",
    statement="Σ p_i F_i = (1/N) Σ F~_i with F~_i = p_i N F_i, whose constants are p_i N L_i, p_i N β_i, p_i N μ_i",
    source=Source("lowy2023", "Appendix B"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "positive-weights",
            "every p_i > 0, if strong convexity is used (right side 0; −1 if it is not)",
            lambda inputs: _above(min(inputs.weights), 0.0 if max(inputs.strong_convexity) > 0.0 else -1.0),
        ),
    ),
    errata=(NOISE_FROM_SCALED,),
    inputs=WeightInputs,
    formula=reweighted,
    examples=(
        {
            "weights": (0.5, 0.3, 0.2),
            "lipschitz": (1.0, 1.0, 2.0),
            "smoothness": (1.0, 2.0, 3.0),
            "strong_convexity": (0.1, 0.1, 0.2),
        },
    ),
)


def _above(left: float, right: float) -> Sides:
    return Sides(left > right, left, right)


THEOREMS: tuple[Theorem, ...] = (APPENDIX_B,)

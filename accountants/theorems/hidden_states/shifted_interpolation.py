"""Shifted interpolation: hidden states of noisy gradient descent, exactly Gaussian (Bok, Su and Altschuler 2024).

Setting. X_k = Π(φ_k(X_{k−1}) + Z_k) and X'_k = Π(φ'_k(X'_{k−1}) + Z'_k), Z_k ~ N(0, ν_k²I), Π a projection onto a
convex set or nothing, φ_k with Lipschitz constant c_k, sup |φ_k − φ'_k| ≤ s_k, X_0 = X'_0 (or |X_0 − X'_0| ≤ z₀
whatever the laws). φ_k and φ'_k are fixed in advance.

Theorem. For a_k ≥ 0 with z_k = c_k z_{k−1} + s_k − a_k ≥ 0 and z_T = 0, (X_T, X'_T) is μ-Gaussian differentially
private in both orders, μ² = Σ (a_k/ν_k)².

Proof. Run Y with X's noise: Y_0 = X'_0, Y_k = Π(φ'_k(Y_{k−1}) + λ_k(φ_k(X_{k−1}) − φ'_k(Y_{k−1})) + Z_k) with
λ_k = a_k/(c_k z_{k−1} + s_k). Projections do not expand, and |φ_k(X) − φ'_k(Y)| ≤ c_k |X − Y| + s_k, so that
|X_k − Y_k| ≤ z_k by induction, and Y_T = X_T. Given Y_{k−1} = y the step adds to φ'_k(y) a shift of norm at most a_k,
random but independent of Z_k, and Gaussian noise: against X' at the same y, E_γ is jointly convex and at most that of
N(a_k/ν_k, 1) and N(0, 1), in either order, and Π only lowers it. Adaptive composition of the T steps gives the
Gaussian mechanism of μ² = Σ (a_k/ν_k)². ∎

The best plan is in `shifted_interpolation_plan`. With X_0 replaced by a later state of a bounded domain the plan may
start there at z = D and forget what came before. For one step size, noise and c on all steps and the record in every
step the plan of Bok, Su and Altschuler comes out, and for quadratics it is attained.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import KERNEL_NOISE_STD, Distance, Quantity, request
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.hidden_states.shifted_interpolation_plan import least_mu

CONTRACTIONS = Quantity(symbol="c_k", description="Lipschitz constant of each step's map, in order")
SHIFTS = Quantity(symbol="s_k", unit="length", description="most that each step's maps on neighbouring data differ")
NOISES = Quantity(symbol="ν_k", unit="length", description="noise per coordinate that each step adds to the model")
ENTRY = Quantity(ge=0, description="a value of one step")
MOST_STEPS = 10**5


@request
class ListedSteps:
    """The steps of a run, in order. `initial_distance`: of the two starts, 0 for a common one."""

    contractions: Annotated[tuple[Annotated[float, ENTRY], ...], CONTRACTIONS]
    shifts: Annotated[tuple[Annotated[float, ENTRY], ...], SHIFTS]
    noises: Annotated[tuple[Annotated[float, KERNEL_NOISE_STD], ...], NOISES]
    initial_distance: Distance = 0.0

    def check(self) -> None:
        """Lists of one length, 1 to 100,000, of finite numbers; noises positive."""
        for name in ("contractions", "shifts", "noises"):
            values = getattr(self, name)
            if not 1 <= len(values) <= MOST_STEPS or len(values) != len(self.noises):
                raise InvalidInput.at(f"/{name}", "must be as long as the others", allowed=f"1 to {MOST_STEPS} entries")
            least = math.ulp(0.0) if name == "noises" else 0.0
            if not all(least <= value < math.inf for value in values):
                raise InvalidInput.at(f"/{name}", "has an entry out of range", allowed="finite, not negative")


def listed_steps(inputs: ListedSteps) -> Outputs:
    """μ of the best plan."""
    mu = least_mu(inputs.contractions, inputs.shifts, inputs.noises, initial_distance=inputs.initial_distance)
    return {"gaussian_dp_mu": mu}


GRADIENTS = Condition("gradient-distance", "gradients of one record and its replacement differ by at most Δ everywhere")
MAPS = Condition("lipschitz-maps", "every step's map without noise has the Lipschitz constant given; none is clipped")
FIXED_ORDER = Condition("fixed-order", "which step uses which records is fixed in advance")
HIDDEN = Condition("hidden-states", "no model but the released one is seen")

INTERPOLATION = Theorem(
    id="epsilond.shifted-interpolation",
    title="Two noisy runs that drift apart, for any steps",
    statement=(
        "z_k = c_k z_{k−1} + s_k − a_k ≥ 0, z_T = 0: the last model is μ-Gaussian differentially private with μ² = "
        "Σ (a_k/ν_k)²; the best a is the slope of a greatest convex minorant"
    ),
    source=Source("bok2024shifted", "the shifted interpolated process, for steps that differ; proof in this file"),
    status=Status.PROVED,
    conditions=(MAPS, FIXED_ORDER, HIDDEN),
    inputs=ListedSteps,
    formula=listed_steps,
    examples=({"contractions": (0.9, 0.9, 0.9), "shifts": (0.1, 0.0, 0.0), "noises": (1.0, 1.0, 1.0)},),
)

THEOREMS: tuple[Theorem, ...] = (INTERPOLATION,)

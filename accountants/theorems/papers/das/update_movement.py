"""Lemmas 5 and 6 of Das et al.: bounds on the movement of a client's update, by (106), and of its unit vector.

Let every record's gradient have at most ρ times the norm of the mean gradient ∇f̄. Deleting or replacing one of n
records then moves a client's gradient by at most (2ρ/n)‖∇f̄‖. The distance d_τ of two runs after τ steps satisfies
d_{τ+1} ≤ (1 + ηL)d_τ + (2ρη/n)‖∇f̄(w_τ)‖, where ‖∇f̄(w_τ)‖ ≤ ‖∇f̄(w)‖ + L‖w_τ − w‖ and Lemma 4 bounds ‖w_τ − w‖. Let
x = ηL, and let C(E, k) be the binomial coefficients. Then:

    d_E ≤ (2ρη/n) (‖∇f̄(w)‖ Σ_{k≥0} C(E, k+1) x^k + ‖∇f(w)‖ Σ_{k≥1} k C(E, k+1) x^k).
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import SQUARES, Quantity, SamplesPerClient, Smoothness, StepSize
from epsilond.accountants.quantities.algorithms import GrowthRatio, LocalSteps
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Sides, Source, Status, Theorem

_TESTS = "tests/theorems/papers/das/test_update_movement.py"
CLIENT_GRADIENT_NORM = Quantity(
    symbol="‖∇f_i(w)‖",
    unit="loss/length",
    ge=0,
    scale=SQUARES,
    description="norm of the client's gradient at the start",
)
MEAN_GRADIENT_NORM = Quantity(
    symbol="‖∇f̄(w)‖",
    unit="loss/length",
    ge=0,
    scale=SQUARES,
    description="norm of the gradient expected over the population; absent: twice that of the client",
)
RELATIVE_DISTANCE = Quantity(
    symbol="a", ge=0, le=1e100, description="distance of two vectors, over the first one's norm"
)
_SERIES = 60
"""Number of terms of both sums for Ex ≤ 1; the next term is then below 1/60! of the first."""


def step_sums(ratio: float, steps: int) -> tuple[float, float]:
    """Compute two sums that bound how far one record moves a client's update in E gradient steps.

    With the binomial coefficients C(E, k) they are:

        Σ_{k≥0} C(E, k+1) x^k = ((1 + x)^E − 1)/x,
        Σ_{k≥1} k C(E, k+1) x^k = E(1 + x)^{E−1} − ((1 + x)^E − 1)/x.

    For Ex ≤ 1 these differences would lose digits. The terms are then added up.

    Args:
        ratio: x = ηL ≥ 0, step size times smoothness.
        steps: number E of gradient steps.

    Returns:
        Both sums, in this order.
    """
    if ratio * steps > 1.0:
        power = math.exp((steps - 1) * math.log1p(ratio))
        first_sum = (power * (1.0 + ratio) - 1.0) / ratio
        return first_sum, steps * power - first_sum

    term = float(steps)  # C(E, k+1) x^k for k = 0
    terms, weighted_terms = [], []
    for k in range(min(_SERIES, steps)):
        terms.append(term)
        weighted_terms.append(k * term)
        term *= ratio * (steps - k - 1) / (k + 2)
    return math.fsum(terms), math.fsum(weighted_terms)


@formula(given="E gradient steps of a client of n records, of which one is deleted or replaced.")
def movement(
    *,
    client_gradient_norm: Annotated[float, CLIENT_GRADIENT_NORM],
    mean_gradient_norm: Annotated[float | None, MEAN_GRADIENT_NORM] = None,
    growth_ratio: Annotated[GrowthRatio, SQUARES],
    samples_per_client: SamplesPerClient,
    local_steps: LocalSteps,
    step_size: StepSize,
    smoothness: Smoothness,
) -> Outputs:
    """Compute two bounds on the distance by which replacing or deleting one record moves a client's update.

    Bound (106) of Das et al., and a sharper one that is valid at any step size η, are:

        (5e^(1/4) ηEρ/n) ‖∇f_i(w)‖    and    (2ηρ/n) (‖∇f̄(w)‖ A + ‖∇f_i(w)‖ B).

    The first needs ηLE ≤ 1/4 and ‖∇f̄(w)‖ ≤ 2‖∇f_i(w)‖. A and B are sums over the E local steps, which `step_sums`
    computes from ηL.

    Args:
        client_gradient_norm: norm ‖∇f_i(w)‖ of the client's gradient at the model of the round.
        mean_gradient_norm: norm ‖∇f̄(w)‖ of the mean gradient there; 2‖∇f_i(w)‖ if None.
        growth_ratio: ρ, the largest norm of a record's gradient over the norm of the mean gradient.
        samples_per_client: records n of the client.
        local_steps: number E of gradient steps in a round.
        step_size: step size η of a client.
        smoothness: Lipschitz constant L of the gradient.

    Returns:
        `movement`: the first bound, in the unit of the model.
        `sharper_movement`: the second bound, in the same unit.
    """
    if mean_gradient_norm is None:
        mean_gradient_norm = 2.0 * client_gradient_norm
    scale = growth_ratio / samples_per_client * step_size  # ηρ/n
    mean_factor, client_factor = step_sums(step_size * smoothness, local_steps)  # A and B
    weighted_norms = mean_gradient_norm * mean_factor + client_gradient_norm * client_factor
    return {
        "movement": 5.0 * math.exp(0.25) * scale * local_steps * client_gradient_norm,
        "sharper_movement": 2.0 * scale * weighted_norms,
    }


def _compare_gradient_norms(*, client_gradient_norm: float, mean_gradient_norm: float | None) -> Sides:
    """Compare the norm of the mean gradient with twice the norm of the client's gradient."""
    largest_mean = 2.0 * client_gradient_norm
    mean = largest_mean if mean_gradient_norm is None else mean_gradient_norm
    return Sides.at_most(mean, largest_mean)


LEMMA_5 = Theorem(
    id="das.lemma-5",
    title="How far one record moves a client",
    statement=(
        "Lemma 5 bounds the movement of the unit update by 15e^(1/4)ρ/n (das.3). Its proof shows by (106) that one of "
        "n records moves a client's model after E steps by at most 5e^(1/4) (ηEρ/n) ‖∇f_i(w_k)‖. Here η is the step "
        "size, ρ the growth ratio and ∇f_i(w_k) the client's gradient at the model of the round. It asks for ηLE ≤ "
        "1/4, with the smoothness L, and ‖∇f̄(w_k)‖ ≤ 2‖∇f_i(w_k)‖ for the population gradient. Theorem 3 needs this "
        "constant. The sum of the recursion in the proof is sharper and holds at any η."
    ),
    source=Source("das2021", "Lemma 5, by (106) of its proof"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "short-steps",
            "the step size η, the smoothness L and the number E of local steps have ηLE ≤ 1/4",
            lambda inputs: Sides.at_most(inputs.step_size * inputs.smoothness * inputs.local_steps, 0.25),
        ),
        Condition(
            "client-is-typical",
            "‖∇f̄(w)‖ ≤ 2‖∇f_i(w)‖ for the population's and the client's gradient, which "
            "fails at a fixed w with probability at most 4(ρ² − 1)/n",
            _compare_gradient_norms,
        ),
        Condition(
            "growth",
            "every record's gradient has at most ρ times the norm of the population gradient, "
            "at every model of the round",
        ),
    ),
    errata=(
        Erratum(
            "D-12",
            grade=Grade.REFINEMENT,
            place="Appendix E, proof of Lemma 5, before (91)",
            printed="The proof of the lemma compares a data set with the same set without one of its samples.",
            truth=(
                "The lemma also holds if one sample is replaced, which Definition 1 admits too. Either "
                "change moves the gradient of n records by (2ρ/n)‖∇f̄‖ at most. Here ρ is the growth "
                "ratio and ∇f̄ the population gradient."
            ),
            charitable="The lemma holds for the data sets that its proof compares, and Definition 1 admits them.",
            test=f"{_TESTS}::test_deleting_and_replacing_move_a_mean_alike",
        ),
    ),
    formula=movement,
    examples=(
        {
            "client_gradient_norm": 1.0,
            "mean_gradient_norm": 1.5,
            "growth_ratio": 2.0,
            "samples_per_client": 1000,
            "local_steps": 10,
            "step_size": 0.0125,
            "smoothness": 2.0,
        },
    ),
)


@formula(given="Two vectors at distance at most a times the norm of the first.")
def unit_distance(*, relative_distance: Annotated[float, RELATIVE_DISTANCE]) -> Outputs:
    """Compute two bounds on the distance of two vectors after both are divided by their norms.

    Before, their distance is at most a times the norm of the first vector.

    Args:
        relative_distance: the number a ≥ 0.

    Returns:
        `unit_distance`: 2a, by Lemma 6 of Das et al.
        `sharper_unit_distance`: √(2 − 2√(1 − a²)), or 2 if a > 1. Some vectors attain it, and at a = 1 approach it.
    """
    if relative_distance > 1.0:
        attained = 2.0
    else:
        # √(2 − 2√(1 − a²)), in a form that does not cancel for small a.
        cosine = math.sqrt((1.0 - relative_distance) * (1.0 + relative_distance))
        attained = relative_distance * math.sqrt(2.0 / (1.0 + cosine))
    return {"unit_distance": 2.0 * relative_distance, "sharper_unit_distance": attained}


LEMMA_6 = Theorem(
    id="das.lemma-6",
    title="Distance of two vectors after normalisation",
    statement=(
        "If ‖v₁ − v₂‖ ≤ a‖v₁‖, the unit vectors along v₁ and v₂ are at distance at most 2a. For a ≤ 1 a "
        "sharper bound is √(2 − 2√(1 − a²)), which is at most √2 a. For a > 1 it is 2."
    ),
    source=Source("das2021", "Lemma 6"),
    status=Status.PROVED,
    conditions=(Condition("no-zero-vector", "neither of the two vectors is zero, as a zero update has no direction"),),
    errata=(
        Erratum(
            "D-12",
            grade=Grade.MISPRINT,
            place="Lemma 6, and (110) in Appendix E, where it is applied",
            printed=(
                "Lemma 6 bounds the distance of two unit vectors for a factor a < 1, with ‖v₁ − v₂‖ ≤ "
                "a‖v₁‖. The proof of Lemma 5 applies it with a ≤ 1."
            ),
            truth="The difference is harmless, because two unit vectors are at distance 2 at most.",
            charitable="If Lemma 6 is read with a ≤ 1, it holds, and so does its application.",
            test=f"{_TESTS}::test_the_distance_of_unit_vectors_by_search",
        ),
    ),
    formula=unit_distance,
    examples=({"relative_distance": 0.25}, {"relative_distance": 1.5}),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_5, LEMMA_6)

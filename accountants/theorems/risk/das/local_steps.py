"""Lemmas 2 and 4 of Das et al., (34) and (48): alignment and length of the path of a client's gradient steps.

From w_0 = w a client takes E steps w_{τ+1} = w_τ − ηg_τ, where g_τ = ∇f(w_τ). u = Σ g_τ is its update divided by η. As
w − w_τ = η Σ_{j<τ} g_j:

    ⟨u, w − w*⟩ = Σ ⟨g_τ, w_τ − w*⟩ + (η/2)(‖u‖² − Σ‖g_τ‖²).

Quasar-convexity and smoothness give ⟨g_τ, w_τ − w*⟩ ≥ ζ(f(w_τ) − f*) ≥ (ζ/(2L))‖g_τ‖². Moreover, Σ‖g_τ‖² ≥ ‖u‖²/E.

Lemma 2 is ‖w_E − w*‖² = ‖w − w*‖² − 2η⟨u, w − w*⟩ + η²‖u‖² ≤ ‖w − w*‖² − η(ζ/L − η)Σ‖g_τ‖².
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import ANY_SCALE, SQUARES, AtMost, Quantity, Smoothness, StepSize
from epsilond.accountants.quantities.algorithms import LocalSteps, QuasarConvexity
from epsilond.accountants.quantity import LARGEST_COUNT
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem

UPDATE_NORM = Quantity(
    symbol="‖u‖", unit="loss/length", ge=0, scale=SQUARES, description="norm of the sum of a client's gradients"
)
GRADIENT_NORM = Quantity(
    symbol="‖∇f(w)‖",
    unit="loss/length",
    ge=0,
    scale=SQUARES,
    description="norm of a client's gradient at the model of the round",
)
SQUARED_GRADIENTS = Quantity(
    symbol="Σ‖∇f(w_τ)‖²",
    unit="loss²/length²",
    ge=0,
    scale=ANY_SCALE,
    description="sum of the squared norms of a client's gradients at the models of its steps",
)
START_DISTANCE = Quantity(
    symbol="‖w−w*‖",
    unit="length",
    ge=0,
    scale=ANY_SCALE,
    description="distance of the model of the round from the client's minimiser",
)
STEPS_TAKEN = Quantity(symbol="τ", ge=0, le=LARGEST_COUNT, description="gradient steps taken so far in the round")


@formula(given="E gradient steps of one client, and the norm of the sum u of its gradients.")
def alignment(
    *,
    update_norm: Annotated[float, UPDATE_NORM],
    local_steps: LocalSteps,
    step_size: StepSize,
    smoothness: Smoothness,
    quasar_convexity: QuasarConvexity,
) -> Outputs:
    """Return lower bounds on ⟨u, w − w*⟩, where u is the sum of a client's gradients in a round.

    The round starts at the model w, and w* is the client's minimiser. A positive value means that a short step along −u
    comes closer to the minimiser.

    Args:
        update_norm: norm ‖u‖ of the sum of the client's gradients.
        local_steps: steps E of a client in a round.
        step_size: step size η.
        smoothness: smoothness L of the client's loss.
        quasar_convexity: quasar-convexity ζ of the client's loss, in (0, 1].

    Returns:
        `inner_product`: ζ‖u‖²/(4LE), for η ≤ ζ/(2L). It is equation (34) of Das et al. without its term η‖u‖²/2.
        `sharper_inner_product`: ((ζ/L − η)/(2E) + η/2)‖u‖², for η ≤ ζ/L. For η ≤ ζ/(2L) it is at least the bound of
        equation (34).
    """
    squared_norm = update_norm * update_norm
    largest_step = quasar_convexity / smoothness  # ζ/L
    printed_factor = 0.25 * largest_step / local_steps
    sharper_factor = 0.5 * ((largest_step - step_size) / local_steps + step_size)
    return {
        "inner_product": printed_factor * squared_norm,
        "sharper_inner_product": sharper_factor * squared_norm,
    }


def _quasar_step(*, step_size: float, smoothness: float, quasar_convexity: float, most: float) -> Sides:
    """Check that the step size η is at most a given multiple of ζ/L.

    Args:
        step_size: step size η > 0 of a client.
        smoothness: smoothness L > 0 of the loss.
        quasar_convexity: quasar-convexity ζ of the loss, in (0, 1], a weaker form of convexity.
        most: largest allowed multiple of ζ/L.

    Returns:
        The two sides of the condition, η and `most` · ζ/L, and whether it holds.
    """
    return Sides.at_most(step_size, most * quasar_convexity / smoothness)


QUASAR_CONVEX = Condition("quasar-convex", "the client's loss is L-smooth on the whole space and ζ-quasar-convex")
FULL_GRADIENTS = Condition("full-gradients", "the client descends on its full gradient, with one step size")
LEMMA_2 = Theorem(
    id="das.lemma-2",
    title="A client's update points to its optimum",
    statement=(
        "Let S be the sum of a client's E gradients in a round that starts at the model w_k, and w*_i the "
        "client's minimiser. Then ⟨S, w_k − w*_i⟩ ≥ (ζ/(4LE)) ‖S‖² where the step size η is at most ζ/(2L). "
        "It follows from Lemma 2, and (34) adds (η/2) ‖S‖² to the right side. The proof of Theorem 2 needs this "
        "bound. Where η ≤ ζ/L, a sharper lower bound is ((ζ/L − η)/(2E) + "
        "η/2) ‖S‖². The client's loss is L-smooth and ζ-quasar-convex."
    ),
    source=Source("das2021", "Appendix C, (34), by Lemma 2"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "short-steps",
            "the step size η is at most ζ/(2L), with the smoothness L and the quasar-convexity ζ",
            lambda inputs: _quasar_step(
                step_size=inputs.step_size,
                smoothness=inputs.smoothness,
                quasar_convexity=inputs.quasar_convexity,
                most=0.5,
            ),
        ),
        Condition(
            "short-steps-of-the-sharper",
            "the step size η is at most ζ/L for the sharper bound, with the smoothness L and the quasar-convexity ζ",
            lambda inputs: _quasar_step(
                step_size=inputs.step_size,
                smoothness=inputs.smoothness,
                quasar_convexity=inputs.quasar_convexity,
                most=1.0,
            ),
        ),
        QUASAR_CONVEX,
        FULL_GRADIENTS,
    ),
    formula=alignment,
    examples=(
        {"update_norm": 3.0, "local_steps": 10, "step_size": 0.015625, "smoothness": 2.0, "quasar_convexity": 0.5},
    ),
)


@formula(given="A client's distance from its minimiser, and the squared gradients of its steps in a round.")
def approach(
    *,
    client_distance: Annotated[float, START_DISTANCE],
    squared_gradients: Annotated[float, SQUARED_GRADIENTS],
    step_size: StepSize,
    smoothness: Smoothness,
    quasar_convexity: QuasarConvexity,
) -> Outputs:
    """Return upper bounds on the squared distance of a client's model from its minimiser w* after its local steps.

    The first bound is Lemma 2 of Das et al. A gradient step that is short enough comes closer to the minimiser, by an
    amount that grows with the gradient.

    Args:
        client_distance: distance ‖w − w*‖ of the model of the round from the client's minimiser.
        squared_gradients: sum Σ‖∇f(w_τ)‖² over the models of the client's steps.
        step_size: step size η.
        smoothness: smoothness L of the client's loss.
        quasar_convexity: quasar-convexity ζ of the client's loss, in (0, 1].

    Returns:
        `squared_distance`: ‖w − w*‖² − (ηζ/(2L))Σ‖∇f‖², for η ≤ ζ/(2L).
        `sharper_squared_distance`: ‖w − w*‖² − η(ζ/L − η)Σ‖∇f‖², for η ≤ ζ/L.
        A negative bound is raised to 0. It means that these gradients are impossible.
    """
    squared_distance = client_distance * client_distance
    largest_step = quasar_convexity / smoothness  # ζ/L
    decrease = 0.5 * largest_step * step_size * squared_gradients
    sharper_decrease = step_size * (largest_step - step_size) * squared_gradients
    return {
        "squared_distance": max(squared_distance - decrease, 0.0),
        "sharper_squared_distance": max(squared_distance - sharper_decrease, 0.0),
    }


LEMMA_2_DISTANCE = Theorem(
    id="das.lemma-2-distance",
    title="A client's steps approach its optimum",
    statement=(
        "E steps of size η ≤ ζ/(2L) from the model w_k bring a client to w_{k,E} with ‖w_{k,E} − w*_i‖² ≤ ‖w_k − "
        "w*_i‖² − (ηζ/(2L)) Σ_τ ‖∇f_i(w_{k,τ})‖². Where η ≤ ζ/L, the sharper factor η(ζ/L − η) may stand for ηζ/(2L). "
        "The client's loss is L-smooth and ζ-quasar-convex with the minimiser w*_i."
    ),
    source=Source("das2021", "Lemma 2"),
    status=Status.PROVED,
    conditions=LEMMA_2.conditions,
    formula=approach,
    examples=(
        {
            "client_distance": 3.0,
            "squared_gradients": 40.0,
            "step_size": 0.0625,
            "smoothness": 2.0,
            "quasar_convexity": 0.5,
        },
    ),
)


def mean_power(ratio: float, steps: int) -> float:
    """Return ((1 + x)^τ − 1)/(τx), the mean of the powers (1 + x)^j for 0 ≤ j < τ.

    The norm of a gradient grows by at most the factor 1 + x in each step. So the path of τ gradient steps is at most
    this factor longer than τ steps of the first one's length.

    Args:
        ratio: number x ≥ 0, the step size times the smoothness.
        steps: number τ of steps.

    Returns:
        The mean, at least 1; 1 for x = 0, and if there are no steps.
    """
    if steps * ratio <= 0.0:
        return 1.0
    log_last_power = steps * math.log1p(ratio)
    return math.expm1(log_last_power) / (steps * ratio)


@formula(
    given="τ of E gradient steps of one client, from a model where its gradient has this norm.",
    checks=(AtMost("steps_taken", "local_steps", "cannot exceed local_steps"),),
)
def distance(
    *,
    gradient_norm: Annotated[float, GRADIENT_NORM],
    steps_taken: Annotated[int, STEPS_TAKEN],
    local_steps: LocalSteps,  # noqa: ARG001  the condition and the check read it
    step_size: StepSize,
    smoothness: Smoothness,
) -> Outputs:
    """Return upper bounds on the distance of a client's model after τ steps from the model of the round.

    The first bound is Lemma 4 of Das et al. The second one follows because the norm of the gradient grows by at most
    the factor 1 + ηL in each step.

    Args:
        gradient_norm: norm ‖∇f(w)‖ at the model of the round.
        steps_taken: number τ of steps, at most `local_steps`.
        local_steps: steps E of a client in a round.
        step_size: step size η.
        smoothness: smoothness L of the client's loss.

    Returns:
        `distance`: 2ητ‖∇f(w)‖, for ηLE ≤ 1/2.
        `sharper_distance`: ((1 + ηL)^τ − 1)/L ‖∇f(w)‖, which is valid for any η, and attained by some losses.
    """
    length = step_size * steps_taken * gradient_norm
    path_factor = mean_power(step_size * smoothness, steps_taken)
    return {"distance": 2.0 * length, "sharper_distance": length * path_factor}


LEMMA_4 = Theorem(
    id="das.lemma-4",
    title="A client does not go far in a round",
    statement=(
        "After τ of E steps of size η, a client's model is at distance ‖w_k − w_{k,τ}‖ ≤ 2ητ ‖∇f_i(w_k)‖ from "
        "the model w_k of the round. The lemma asks for ηLE ≤ 1/2, with the smoothness L. A sharper bound at "
        "any η is ((1 + ηL)^τ − 1)/L ‖∇f_i(w_k)‖, attained by f(w) = gw − Lw²/2."
    ),
    source=Source("das2021", "Lemma 4"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "short-steps",
            "the step size η, the smoothness L and the number E of local steps have ηLE ≤ 1/2",
            lambda inputs: Sides.at_most(inputs.step_size * inputs.smoothness * inputs.local_steps, 0.5),
        ),
        Condition("smooth", "the client's loss is L-smooth"),
        FULL_GRADIENTS,
    ),
    formula=distance,
    examples=({"gradient_norm": 1.0, "steps_taken": 7, "local_steps": 10, "step_size": 0.03125, "smoothness": 1.0},),
)


@formula(
    given="τ of E gradient steps of one client, from a model where its gradient has this norm.",
    checks=(AtMost("steps_taken", "local_steps", "cannot exceed local_steps"),),
)
def later_gradient(
    *,
    gradient_norm: Annotated[float, GRADIENT_NORM],
    steps_taken: Annotated[int, STEPS_TAKEN],
    local_steps: LocalSteps,  # noqa: ARG001  the condition and the check read it
    step_size: StepSize,
    smoothness: Smoothness,
) -> Outputs:
    """Return lower bounds on the norm of a client's gradient after τ steps of a round.

    The first bound is equation (48) of Das et al. Both follow because the gradient differs from the first one by at
    most L times the distance that the model has moved.

    Args:
        gradient_norm: norm ‖∇f(w)‖ at the model of the round.
        steps_taken: number τ of steps, at most `local_steps`.
        local_steps: steps E of a client in a round.
        step_size: step size η.
        smoothness: smoothness L of the client's loss.

    Returns:
        `later_gradient_norm`: ‖∇f(w)‖/2, for ηLE ≤ 1/4.
        `sharper_later_gradient_norm`: (2 − (1 + ηL)^τ)‖∇f(w)‖, or 0 if that is negative; it is valid for any η.
    """
    product = step_size * smoothness  # ηL
    sharper_factor = 1.0 - steps_taken * product * mean_power(product, steps_taken)  # 2 − (1 + ηL)^τ
    return {
        "later_gradient_norm": 0.5 * gradient_norm,
        "sharper_later_gradient_norm": max(sharper_factor, 0.0) * gradient_norm,
    }


EQUATION_48 = Theorem(
    id="das.equation-48",
    title="A client's gradient does not vanish in a round",
    statement=(
        "After τ of E steps of size η a client's gradient has ‖∇f_i(w_{k,τ})‖ ≥ ‖∇f_i(w_k)‖/2, where w_k is the model "
        "of the round. The proof asks for ηLE ≤ 1/4, with the smoothness L. A sharper bound at any η is (2 − (1 + "
        "ηL)^τ) ‖∇f_i(w_k)‖, attained at τ = 1 by f(w) = Lw²/2."
    ),
    source=Source("das2021", "Appendix C, (48)"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "short-steps",
            "the step size η, the smoothness L and the number E of local steps have ηLE ≤ 1/4",
            lambda inputs: Sides.at_most(inputs.step_size * inputs.smoothness * inputs.local_steps, 0.25),
        ),
        Condition("smooth", "the client's loss is L-smooth"),
        FULL_GRADIENTS,
    ),
    formula=later_gradient,
    examples=({"gradient_norm": 1.0, "steps_taken": 7, "local_steps": 10, "step_size": 0.015625, "smoothness": 1.0},),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_2, LEMMA_2_DISTANCE, LEMMA_4, EQUATION_48)

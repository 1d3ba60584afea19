"""Lemmas 2 and 4 of Das et al.: alignment and length of the path of a client's gradient steps.

From w_0 = w a client takes E steps w_{τ+1} = w_τ − ηg_τ, where g_τ = ∇f(w_τ). u = Σ g_τ is its update divided by η. As
w − w_τ = η Σ_{j<τ} g_j,

    ⟨u, w − w*⟩ = Σ ⟨g_τ, w_τ − w*⟩ + (η/2)(‖u‖² − Σ‖g_τ‖²).

Quasar-convexity and smoothness give ⟨g_τ, w_τ − w*⟩ ≥ ζ(f(w_τ) − f*) ≥ (ζ/(2L))‖g_τ‖². Moreover, Σ‖g_τ‖² ≥ ‖u‖²/E.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import SQUARES, AtMost, Quantity, Smoothness, StepSize
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
    """Return lower bounds on ⟨u, w − w*⟩, the inner product of a client's update with the direction from its optimum.

    Args:
        update_norm: norm ‖u‖ of the sum of the client's gradients.
        local_steps: steps E of a client in a round.
        step_size: step size η.
        smoothness: smoothness L of the client's loss.
        quasar_convexity: quasar-convexity ζ of the client's loss, in (0, 1].

    Returns:
        `inner_product`, ζ‖u‖²/(4LE), for η ≤ ζ/(2L). `sharper_inner_product`, ((ζ/L − η)/(2E) + η/2)‖u‖², for η ≤ ζ/L.
        The second is never smaller where both hold.
    """
    squared, reach = update_norm * update_norm, quasar_convexity / smoothness
    return {
        "inner_product": 0.25 * reach / local_steps * squared,
        "sharper_inner_product": 0.5 * ((reach - step_size) / local_steps + step_size) * squared,
    }


def _quasar_step(*, step_size: float, smoothness: float, quasar_convexity: float, most: float) -> Sides:
    """Check that η is at most `most` times ζ/L."""
    return Sides.at_most(step_size, most * quasar_convexity / smoothness)


QUASAR_CONVEX = Condition("quasar-convex", "the client's loss is L-smooth on the whole space and ζ-quasar-convex")
FULL_GRADIENTS = Condition("full-gradients", "the client descends on its full gradient, with one step size")
LEMMA_2 = Theorem(
    id="das.lemma-2",
    title="A client's update points to its optimum",
    statement=(
        "⟨Σ_τ ∇f_i(w_{k,τ}), w_k − w*_i⟩ ≥ (ζ/(4LE)) ‖Σ_τ ∇f_i(w_{k,τ})‖² where η ≤ ζ/(2L). The proof of "
        "Theorem 2 needs this bound. A sharper lower bound is ((ζ/L − η)/(2E) + η/2) ‖Σ_τ ∇f_i(w_{k,τ})‖² "
        "where η ≤ ζ/L"
    ),
    source=Source("das2021", "Lemma 2"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "short-steps",
            "η ≤ ζ/(2L)",
            lambda inputs: _quasar_step(
                step_size=inputs.step_size,
                smoothness=inputs.smoothness,
                quasar_convexity=inputs.quasar_convexity,
                most=0.5,
            ),
        ),
        Condition(
            "short-steps-of-the-sharper",
            "η ≤ ζ/L, for the sharper one",
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


def growth(ratio: float, steps: int) -> float:
    """Return ((1 + x)^τ − 1)/(τx) at x = `ratio` ≥ 0 and τ = `steps`; its limit 1 at x = 0."""
    exponent = steps * math.log1p(ratio)
    return math.expm1(exponent) / (steps * ratio) if steps * ratio > 0.0 else 1.0


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

    Args:
        gradient_norm: norm ‖∇f(w)‖ at the model of the round.
        steps_taken: number τ of steps, at most `local_steps`.
        local_steps: steps E of a client in a round.
        step_size: step size η.
        smoothness: smoothness L of the client's loss.

    Returns:
        `distance`, 2ητ‖∇f(w)‖, for ηLE ≤ 1/2. `sharper_distance`, ((1 + ηL)^τ − 1)/L ‖∇f(w)‖, which holds at any η and
        is attained.
    """
    length = step_size * steps_taken * gradient_norm
    return {"distance": 2.0 * length, "sharper_distance": length * growth(step_size * smoothness, steps_taken)}


LEMMA_4 = Theorem(
    id="das.lemma-4",
    title="A client does not go far in a round",
    statement=(
        "‖w_k − w_{k,τ}‖ ≤ 2ητ ‖∇f_i(w_k)‖ where ηLE ≤ 1/2. A sharper bound at any η is ((1 + ηL)^τ − 1)/L "
        "‖∇f_i(w_k)‖, attained by f(w) = gw − Lw²/2"
    ),
    source=Source("das2021", "Lemma 4"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "short-steps",
            "ηLE ≤ 1/2",
            lambda inputs: Sides.at_most(inputs.step_size * inputs.smoothness * inputs.local_steps, 0.5),
        ),
        Condition("smooth", "the client's loss is L-smooth"),
        FULL_GRADIENTS,
    ),
    formula=distance,
    examples=({"gradient_norm": 1.0, "steps_taken": 7, "local_steps": 10, "step_size": 0.03125, "smoothness": 1.0},),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_2, LEMMA_4)

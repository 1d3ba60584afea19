"""Minimum of a smooth convex function on a ball around 0, with a certificate.

For a convex F with least value F* on the ball of radius r, and any w in the ball, F(w) − F* is at most the gap:

    max over u in the ball of ⟨∇F(w), w − u⟩ = ⟨∇F(w), w⟩ + r‖∇F(w)‖.

This gap certifies the result of any search; the search only has to make it small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.problems.problem import Floats
from epsilond.training.steps.ball import on_ball

RELATIVE_GAP = 1e-12
"""Gap at which the search stops, relative to the scale of the function."""
GAP_INTERVAL = 10
"""Iterations between two evaluations of the gap."""
ROUNDING = 2.0**-44
"""Relative rounding error of the values, added to the gap; it covers hundreds of roundings."""


@dataclass(frozen=True)
class Minimum:
    """Approximate minimum of a function on a ball.

    Attributes:
        model: a point of the ball at which the function is almost least.
        value: value of the function there.
        gap: upper bound on the difference between `value` and the least value.
    """

    model: Floats
    value: float
    gap: float

    @property
    def lower_bound(self) -> float:
        """Proved lower bound on the least value."""
        return self.value - self.gap


def least_on_ball(
    value: Callable[[Floats], float],
    gradient: Callable[[Floats], Floats],
    *,
    dimension: int,
    radius: float,
    smoothness: float,
    scale: float,
    iterations: int,
) -> Minimum:
    """Minimise a smooth convex function on a ball around 0, with a proved bound on the error.

    Nesterov's method with restarts begins at 0. The gap bounds the difference from the least value. It is computed once
    in `GAP_INTERVAL` iterations, because it requires a further gradient. The search stops at a gap of `RELATIVE_GAP`
    times `scale`, or after `iterations`. The model with the least computed gap is returned.

    Args:
        value: function to minimise.
        gradient: its gradient.
        dimension: dimension d.
        radius: radius of the ball.
        smoothness: Lipschitz constant of the gradient; 0 for a linear function.
        scale: bound on the absolute values that the function averages, and on the largest norm of the gradient times
            the radius. Rounding errors are relative to this number.
        iterations: largest number of iterations, at least 1.

    Returns:
        A model in the ball, its value, and the gap. The gap includes `ROUNDING` times `scale` for the rounding error of
        the values.
    """
    model = extrapolated = np.zeros(dimension)
    momentum = 1.0  # t_k of Nesterov's method: t_{k+1} = (1 + √(1 + 4 t_k²))/2
    best_model = model
    best_gap = np.inf
    for iteration in range(iterations):
        next_model = _take_step(extrapolated, gradient(extrapolated), radius, smoothness)
        goes_uphill = float(np.dot(extrapolated - next_model, next_model - model)) > 0.0
        if goes_uphill:
            # Restart from the last model, without momentum.
            extrapolated = model
            momentum = 1.0
        else:
            next_momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
            extrapolation = (momentum - 1.0) / next_momentum
            extrapolated = next_model + extrapolation * (next_model - model)
            model = next_model
            momentum = next_momentum

        is_last = iteration == iterations - 1
        if iteration % GAP_INTERVAL == 0 or is_last:
            gap = _gap(model, gradient(model), radius)
            if gap < best_gap:
                best_model = model
                best_gap = gap
            if gap <= RELATIVE_GAP * scale:
                break

    certified_gap = max(best_gap, 0.0) + ROUNDING * scale
    return Minimum(best_model, value(best_model), certified_gap)


def _take_step(model: Floats, gradient: Floats, radius: float, smoothness: float) -> Floats:
    """Return a model after a gradient step of size 1/smoothness, projected onto a ball around 0.

    A function of smoothness 0 is linear. Then the result is its minimiser on the ball, or `model` if it is constant.

    Args:
        model: the model before the step, (d,), for d coordinates.
        gradient: gradient of the function there, (d,).
        radius: radius of the ball.
        smoothness: Lipschitz constant of the gradient, at least 0.

    Returns:
        The projected model, (d).
    """
    if smoothness > 0.0:
        return on_ball(model - gradient / smoothness, radius)
    norm = float(np.linalg.norm(gradient))
    if norm > 0.0:
        return -radius * gradient / norm
    return model


def _gap(model: Floats, gradient: Floats, radius: float) -> float:
    """Return an upper bound on the difference between a convex function at w and its least value on a ball.

    For a function F and the ball of radius r around 0, the bound is ⟨∇F(w), w⟩ + r‖∇F(w)‖. It is valid because a convex
    function is nowhere below its tangent plane at w.

    Args:
        model: the model w in the ball, (d,), for d coordinates.
        gradient: gradient ∇F(w), (d,).
        radius: radius r of the ball.

    Returns:
        The bound, at least 0 up to rounding.
    """
    return float(np.dot(gradient, model)) + radius * float(np.linalg.norm(gradient))

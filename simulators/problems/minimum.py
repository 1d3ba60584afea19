"""Minimum of a smooth convex function on a ball around 0, with a certificate.

For a convex F and any w in the ball of radius r, F(w) − F* is at most the gap

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
EVERY = 10
"""Iterations between two evaluations of the gap."""
ROUNDING = 2.0**-44
"""Relative rounding error of the values, added to the gap; it covers hundreds of roundings."""


@dataclass(frozen=True)
class Minimum:
    """A model in the ball with a value that exceeds the least value by at most `gap`."""

    model: Floats
    value: float
    gap: float

    @property
    def lower_bound(self) -> float:
        """Certified lower bound on the least value."""
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
    """Minimise a smooth convex function on a ball around 0 by Nesterov's method with restarts, from 0.

    The gap bounds the difference to the least value. It is computed once in `EVERY` iterations, because it needs a
    further gradient. The search stops at a gap of `RELATIVE_GAP` times `scale`, or after `iterations`. The returned gap
    includes `ROUNDING` times `scale` for the rounding error of the values.

    Args:
        value: function to minimise.
        gradient: its gradient.
        dimension: dimension d.
        radius: radius of the ball.
        smoothness: Lipschitz constant of the gradient; 0 for a linear function.
        scale: size of the numbers that are added up, which their rounding error is relative to. It bounds the values
            that are averaged, and the largest norm of the gradient times the radius.
        iterations: largest number of iterations.

    Guarantees:
        The value exceeds the least value on the ball by at most `gap`.
    """
    model = extrapolated = np.zeros(dimension)
    momentum = 1.0  # t_k of Nesterov's method: t_{k+1} = (1 + √(1 + 4 t_k²))/2
    best, best_gap = model, np.inf
    for iteration in range(iterations):
        next_model = _toward(extrapolated, gradient(extrapolated), radius, smoothness)
        goes_uphill = float(np.dot(extrapolated - next_model, next_model - model)) > 0.0
        if goes_uphill:
            extrapolated, momentum = model, 1.0  # restart
        else:
            next_momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
            extrapolated = next_model + (momentum - 1.0) / next_momentum * (next_model - model)
            model, momentum = next_model, next_momentum
        if iteration % EVERY == 0 or iteration == iterations - 1:
            gap = _gap(model, gradient(model), radius)
            if gap < best_gap:
                best, best_gap = model, gap
            if gap <= RELATIVE_GAP * scale:
                break
    return Minimum(best, value(best), max(best_gap, 0.0) + ROUNDING * scale)


def _toward(model: Floats, slope: Floats, radius: float, smoothness: float) -> Floats:
    """Return the next model: a projected gradient step, or the minimiser of a linear function."""
    if smoothness == 0.0:
        norm = float(np.linalg.norm(slope))
        return -radius * slope / norm if norm > 0.0 else model
    return on_ball(model - slope / smoothness, radius)


def _gap(model: Floats, slope: Floats, radius: float) -> float:
    """Return ⟨∇F(w), w⟩ + r‖∇F(w)‖, a bound on F(w) − F*."""
    return float(np.dot(slope, model)) + radius * float(np.linalg.norm(slope))

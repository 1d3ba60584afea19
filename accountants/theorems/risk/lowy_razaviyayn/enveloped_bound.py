"""The explicit excess-risk bound of `explicit_bound.py` on the Moreau envelope, and the best envelope.

The derivation is in `unequal_clients.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from epsilond.accountants.numerics.minimum import golden_section
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import envelope_strong_convexity
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import (
    ExcessRisk,
    ExcessRiskProblem,
    balanced_step_size,
    excess_risk,
)


def on_envelope(problem: ExcessRiskProblem, envelope_smoothness: float) -> ExcessRiskProblem:
    """The problem that runs on the envelope: b-smooth, and less strongly convex."""
    kept = envelope_strong_convexity(strong_convexity=problem.strong_convexity, envelope_smoothness=envelope_smoothness)
    return replace(problem, smoothness=envelope_smoothness, strong_convexity=kept, steepest=None)


def enveloped_excess_risk(
    problem: ExcessRiskProblem, *, envelope_smoothness: float, noise_std: float, rounds: int, step_size: float
) -> ExcessRisk:
    """The bound on E F(ŵ) − F* of a run on the envelope, for losses that need not be smooth, in loss units.

    Guarantees: the excess risk of the loss itself is at most `total`, if proximal points are exact.
    """
    enveloped = on_envelope(problem, envelope_smoothness)
    risk = excess_risk(enveloped, noise_std=noise_std, rounds=rounds, step_size=step_size)
    return ExcessRisk({**risk.terms, "smoothing": problem.squared_lipschitz / (2.0 * envelope_smoothness)})


@dataclass(frozen=True, kw_only=True)
class EnvelopeChoice:
    """An envelope and a step size on it."""

    envelope_smoothness: float
    step_size: float


def best_envelope(problem: ExcessRiskProblem, *, noise_std: float, rounds: int, quick: bool = False) -> EnvelopeChoice:
    """An envelope and a step size that make the bound small; for μ = 0 the least over both, to about 1e-4.

    The share x = ηb is the closed form above, and η is searched along it; if μ > 0, where b also sets the envelope's
    own strong convexity, x is searched too. `quick` takes closed forms only. Any choice is valid.
    """
    gradient = math.sqrt(problem.squared_lipschitz)
    spread = math.sqrt(problem.variance(noise_std).total)
    closed = min(gradient / (gradient + spread), 1.0 - 1e-6)
    start = balanced_step_size(problem, variance=(gradient + spread) ** 2, rounds=rounds)

    def total(log_step: float, share: float) -> float:
        step = math.exp(log_step)
        return enveloped_excess_risk(
            problem, envelope_smoothness=share / step, noise_std=noise_std, rounds=rounds, step_size=step
        ).total

    def best_step(share: float) -> float:
        middle = math.log(start)
        return _least(lambda log_step: total(log_step, share), middle - 4.0, middle + 4.0)

    def chosen(share: float, step: float) -> EnvelopeChoice:
        return EnvelopeChoice(envelope_smoothness=share / step, step_size=step)

    if quick:
        return chosen(closed, start)
    candidates = [(closed, math.log(start)), (closed, best_step(closed))]
    if problem.strong_convexity > 0.0:
        middle = math.log(closed / (1.0 - closed))
        share = _share(_least(lambda x: total(best_step(_share(x)), _share(x)), middle - 6.0, middle + 3.0))
        candidates.append((share, best_step(share)))
    share, log_step = min(candidates, key=lambda pair: total(pair[1], pair[0]))
    return chosen(share, math.exp(log_step))


def _least(cost: Callable[[float], float], low: float, high: float) -> float:
    """Where `cost` is least, to about 1e-5 of the interval."""
    return golden_section(cost, low, high, width=0.0, most=24)


def _share(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))

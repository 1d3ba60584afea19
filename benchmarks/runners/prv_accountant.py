"""prv-accountant: FFT with bounds, ε within its default of 0.1 and δ within δ/1000, as its documentation advises."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from prv_accountant import LaplaceMechanism, PoissonSubsampledGaussianMechanism, PRVAccountant, PureDPMechanism
from prv_accountant.dpsgd import find_noise_multiplier

from benchmarks.runners.serving import Answer, Question, Run, pure_epsilon, serve

EPSILON_ERROR = 0.1
"""The default of its DP-SGD accountant."""
DELTA_ERROR = 1e-9
"""Likewise; where δ is given, the error is a thousandth of it."""


def _loss(part: Run) -> Any:
    """Return the privacy random variables; a randomised response is given by its pure ε."""
    noise = part.noise or 0.0
    if part.mechanism == "randomised response":
        return PureDPMechanism(pure_epsilon(part))
    if part.mechanism == "laplace":
        return LaplaceMechanism(mu=1.0 / noise)
    return PoissonSubsampledGaussianMechanism(sampling_probability=part.rate, noise_multiplier=noise)


def answer(question: Question) -> Answer:
    """Return the upper bound of (lower, estimate, upper)."""
    if question.wanted == "noise_multiplier":
        (part,) = question.parts
        return Answer(find_noise_multiplier(part.rate, part.times, question.epsilon, question.delta))
    times = [part.times for part in question.parts]
    accountant = PRVAccountant(
        prvs=[_loss(part) for part in question.parts],
        eps_error=EPSILON_ERROR,
        delta_error=question.delta / 1000 if question.wanted == "epsilon" else DELTA_ERROR,
        max_self_compositions=times,
    )
    if question.wanted == "epsilon":
        lower, _, upper = accountant.compute_epsilon(question.delta, times)
    else:
        lower, _, upper = accountant.compute_delta(question.epsilon, times)
    return Answer(upper, lower, upper)


if __name__ == "__main__":
    serve(answer, version("prv-accountant"))

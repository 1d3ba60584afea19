"""This project through its public calls. The value is the certified upper bound, the interval both bounds.

The process is started with EPSILOND_KERNEL=off for the Python reference, and without it for the kernel.
"""

from __future__ import annotations

import os

import epsilond
from benchmarks.measuring import NotOffered
from benchmarks.runners.serving import Answer, Question, Run, pure_epsilon, serve
from epsilond import Composed, Gaussian, Laplace, RandomizedResponse, Repeated, Spec, Subsampled
from epsilond.accountants import ENGINE_VERSION

SLACKS = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Relative distances below the answered noise, of which one must miss the target."""
WARM_UP = Question("epsilon", [Run(0.01, 1.0, 1000)], None, 1e-5)
"""Question that imports all modules of an answer, and loads the kernel."""


def answer(question: Question) -> Answer:
    """Answer a question by our accountant.

    Args:
        question: the composition of mechanisms, and the requested quantity.

    Returns:
        Certified bounds on ε, on δ or on the smallest noise multiplier. The value is the upper bound.
    """
    if question.wanted == "noise_multiplier":
        return _noise(question)
    curve = epsilond.account(spec_of(question.parts), **_setting(question)).guarantee.curve
    if question.wanted == "epsilon":
        lower, upper = curve.epsilon(delta=question.delta)
    else:
        lower, upper = curve.delta(epsilon=question.epsilon)
    return Answer(upper, lower, upper)


def lacks_kernel(_: Question) -> Answer:
    """Answer nothing."""
    raise NotOffered("the kernel is not built here")


def _setting(question: Question) -> dict[str, str]:
    return {"relation": question.relation, "unit": "record", "observer": "server"}


def spec_of(parts: list[Run]) -> Spec:
    """Return the composition of the runs."""
    mechanisms = tuple(_part_spec(part, part.noise or 0.0) for part in parts)
    return mechanisms[0] if len(mechanisms) == 1 else Composed(mechanisms=mechanisms)


def _part_spec(part: Run, noise: float) -> Spec:
    """Return the specification of one part of a question, that is, of repeated runs on Poisson samples.

    Args:
        part: the mechanism with its rate and its number of runs.
        noise: noise multiplier of a Gaussian, or scale multiplier of Laplace noise. A randomised response uses its own.

    Returns:
        The specification, without sampling for rate 1.
    """
    release: Spec
    if part.mechanism == "randomised response":
        release = RandomizedResponse(epsilon=pure_epsilon(part), categories=part.categories)
    elif part.mechanism == "laplace":
        release = Laplace(scale_multiplier=noise)
    else:
        release = Gaussian(noise_multiplier=noise)
    sampled = release if part.rate == 1.0 else Subsampled(sampling="poisson", rate=part.rate, mechanism=release)
    return sampled if part.times == 1 else Repeated(times=part.times, mechanism=sampled)


def _noise(question: Question) -> Answer:
    """Calibrate the noise multiplier of a subsampled Gaussian mechanism to a target (ε, δ).

    The lower bound is the largest noise below the answer, by a relative distance in `SLACKS`, that is certified to miss
    the target.

    Args:
        question: the mechanism without its noise, and the target.

    Returns:
        The calibrated noise as the value, and a function that computes both bounds later, outside the measured time.
    """
    (part,) = question.parts
    target = {"epsilon": question.epsilon, "delta": question.delta, "rate": part.rate, "rounds": part.times}
    fields = {"solve_for": "noise_multiplier", "sampling": "poisson", **target, **_setting(question)}
    noise: float = epsilond.calibrate("gaussian", **fields).parameters.noise_multiplier

    def interval() -> tuple[float, float]:
        """Return the largest noise of `SLACKS` that is certified to miss the target, and the answer."""
        for slack in SLACKS:
            curve = epsilond.account(_part_spec(part, noise * (1.0 - slack)), **_setting(question)).guarantee.curve
            if curve.delta(epsilon=question.epsilon).lower > question.delta:
                return noise * (1.0 - slack), noise
        # No noise was certified to miss the target: the lower bound is trivial.
        return 0.0, noise

    return Answer(noise, interval=interval)


def import_everything() -> None:
    """Import all modules of an answer, so that no figure contains an import."""
    for name in epsilond.__all__:
        getattr(epsilond, name)
    answer(WARM_UP)
    answer(WARM_UP._replace(wanted="noise_multiplier", parts=[Run(0.01, None, 1000)], epsilon=1.0))


if __name__ == "__main__":
    import_everything()
    wanted = "+python" if os.environ.get("EPSILOND_KERNEL") == "off" else "+kernel"
    serve(answer if ENGINE_VERSION.endswith(wanted) else lacks_kernel, ENGINE_VERSION)

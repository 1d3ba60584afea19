"""This project, through its public calls. The value is the certified upper end, the interval both ends.

The calls are imported by name, and so before the fork that measures: the package imports a name when it is first used.
Each of the two accountants says whether the compiled kernel is asked, in the fork that it answers in.
"""

from __future__ import annotations

import os

import epsilond
from benchmarks.rows import OURS, WITH_KERNEL
from benchmarks.runners.loop import Answer, NotOffered, Question, Run, pure_epsilon, serve
from epsilond import Composed, Gaussian, Laplace, RandomizedResponse, Repeated, Spec, Subsampled, account, calibrate
from epsilond.accountants.engine import kernel
from epsilond.accountants.quantities import Relation

SLACKS = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)


def without_kernel(question: Question) -> Answer:
    """What everybody gets who installs the library alone."""
    _choose("off")
    return certified(question)


def with_kernel(question: Question) -> Answer:
    """The same where the compiled kernel is installed: `pip install ./kernel`."""
    _choose("on")
    if kernel.loaded() is None:
        raise NotOffered("the kernel is not installed here")
    return certified(question)


def _choose(wanted: str) -> None:
    if os.environ.get("EPSILOND_KERNEL") != wanted:
        os.environ["EPSILOND_KERNEL"] = wanted
        kernel.forget()


def certified(question: Question) -> Answer:
    """The enclosure of ε, of δ or of the smallest noise multiplier."""
    if question.asked == "noise_multiplier":
        return _noise(question)
    curve = account(
        _spec(question.parts), relation=_relation(question), unit="record", observer="server"
    ).guarantee.curve
    if question.asked == "epsilon":
        lower, upper = curve.epsilon(delta=question.delta)
    else:
        lower, upper = curve.delta(epsilon=question.epsilon)
    return Answer(upper, lower, upper)


def _spec(parts: list[Run]) -> Spec:
    mechanisms = tuple(_repeated(part, part.noise or 0.0) for part in parts)
    return mechanisms[0] if len(mechanisms) == 1 else Composed(mechanisms=mechanisms)


def _repeated(part: Run, noise: float) -> Spec:
    release: Spec
    if part.mechanism == "randomised response":
        release = RandomizedResponse(epsilon=pure_epsilon(part), categories=part.categories)
    elif part.mechanism == "laplace":
        release = Laplace(scale_multiplier=noise)
    else:
        release = Gaussian(noise_multiplier=noise)
    sampled = release if part.rate == 1.0 else Subsampled(sampling="poisson", rate=part.rate, mechanism=release)
    return sampled if part.times == 1 else Repeated(times=part.times, mechanism=sampled)


def _relation(question: Question) -> Relation:
    return "replace-one" if question.relation == "replace-one" else "add-or-remove-one"


def _noise(question: Question) -> Answer:
    """The lower end is certified afterwards: the greatest noise, a little below the answer, that misses the target."""
    (part,) = question.parts
    answer = calibrate(
        "gaussian",
        solve_for="noise_multiplier",
        relation=_relation(question),
        sampling="poisson",
        rate=part.rate,
        rounds=part.times,
        epsilon=question.epsilon,
        delta=question.delta,
        unit="record",
        observer="server",
    )
    noise: float = answer.parameters.noise_multiplier

    def interval() -> tuple[float, float]:
        for slack in SLACKS:
            spec = _repeated(part, noise * (1.0 - slack))
            curve = account(spec, relation=_relation(question), unit="record", observer="server").guarantee.curve
            if curve.delta(epsilon=question.epsilon).lower > question.delta:
                return noise * (1.0 - slack), noise
        return 0.0, noise

    return Answer(noise, afterwards=interval)


if __name__ == "__main__":
    kernel.loaded()  # imported before the fork, as all else
    serve({OURS: without_kernel, WITH_KERNEL: with_kernel}, epsilond.__version__)

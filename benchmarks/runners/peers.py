"""Answers of dp-accounting, prv-accountant and Opacus: python -m benchmarks.runners.peers NAME, in its environment.

Each function imports its package before the forks, and returns the function that answers.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from functools import partial
from importlib.metadata import version
from typing import Any

from benchmarks.measuring import NotOffered
from benchmarks.runners.serving import Accountant, Answer, Question, Run, pure_epsilon, serve

EPSILON_ERROR, DELTA_ERROR = 0.1, 1e-9
"""The defaults of prv-accountant's DP-SGD accountant; where δ is given, the error of δ is a thousandth of it."""


def dp_accounting() -> Accountant:
    """Return the accountant of dp-accounting, which uses privacy loss distributions on its default grid of 1e-4.

    Returns:
        A function from a question to the library's answer, without bounds.
    """
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant

    def event_of(part: Run, noise: float | None) -> dp.DpEvent:
        """Return the event of a part; `noise` is used if the part has none."""
        noise = noise if part.noise is None else part.noise
        if part.mechanism == "randomised response":
            release = dp.RandomizedResponseDpEvent(noise, num_buckets=part.categories)
        else:
            release = {"gaussian": dp.GaussianDpEvent, "laplace": dp.LaplaceDpEvent}[part.mechanism](noise)
        sampled = release if part.rate == 1.0 else dp.PoissonSampledDpEvent(part.rate, release)
        return sampled if part.times == 1 else dp.SelfComposedDpEvent(sampled, part.times)

    def event(parts: list[Run], noise: float | None = None) -> dp.DpEvent:
        """Return the event of all parts."""
        runs = [event_of(part, noise) for part in parts]
        return runs[0] if len(runs) == 1 else dp.ComposedDpEvent(runs)

    def answer(question: Question) -> Answer:
        """Answer a question by dp-accounting: ε, δ, or the calibrated noise multiplier.

        Args:
            question: the composition of mechanisms, and the requested quantity.

        Returns:
            The value, without bounds.
        """
        replaced = question.relation == "replace-one"
        relation = dp.NeighboringRelation.REPLACE_ONE if replaced else dp.NeighboringRelation.ADD_OR_REMOVE_ONE
        fresh = partial(PLDAccountant, neighboring_relation=relation)
        if question.wanted == "noise_multiplier":
            make = partial(event, question.parts)
            return Answer(dp.calibrate_dp_mechanism(fresh, make, question.epsilon, question.delta))
        accountant = fresh().compose(event(question.parts))
        if question.wanted == "epsilon":
            return Answer(accountant.get_epsilon(question.delta))
        return Answer(accountant.get_delta(question.epsilon))

    return answer


def prv_accountant() -> Accountant:
    """Return the accountant of prv_accountant, which composes by Fourier transforms and has bounds on its error.

    ε is within its default of 0.1, and δ within δ/1000, as its documentation advises.

    Returns:
        A function from a question to the library's answer, with both bounds.
    """
    import prv_accountant as prv
    from prv_accountant.dpsgd import find_noise_multiplier

    def loss(part: Run) -> Any:
        """Return the privacy loss random variable of one run of a part."""
        if part.mechanism == "randomised response":  # the worst mechanism of its pure ε
            return prv.PureDPMechanism(pure_epsilon(part))
        if part.mechanism == "laplace":
            return prv.LaplaceMechanism(mu=1.0 / (part.noise or 0.0))
        return prv.PoissonSubsampledGaussianMechanism(sampling_probability=part.rate, noise_multiplier=part.noise)

    def answer(question: Question) -> Answer:
        """Answer a question by prv_accountant: bounds on ε or δ, or the calibrated noise multiplier.

        Args:
            question: the composition of mechanisms, and the requested quantity.

        Returns:
            The upper bound as the value, with both bounds; only the value for noise.
        """
        if question.wanted == "noise_multiplier":
            (part,) = question.parts
            return Answer(find_noise_multiplier(part.rate, part.times, question.epsilon, question.delta))
        times, losses = [part.times for part in question.parts], [loss(part) for part in question.parts]
        errors = {"eps_error": EPSILON_ERROR, "delta_error": question.delta / 1000 if question.delta else DELTA_ERROR}
        accountant = prv.PRVAccountant(prvs=losses, max_self_compositions=times, **errors)
        if question.wanted == "epsilon":
            lower, _, upper = accountant.compute_epsilon(question.delta, times)
        else:
            lower, _, upper = accountant.compute_delta(question.epsilon, times)
        return Answer(upper, lower, upper)

    return answer


def opacus() -> Accountant:
    """Return the accountant of Opacus that uses privacy random variables, with its default errors.

    ε is within 0.01 and δ within δ/1000. Torch is not installed: stand-ins replace the package's `__init__` and the
    optimizer class, which the accountants need for an annotation.

    Returns:
        A function from a question to the library's answer. It raises `NotOffered` for questions that Opacus cannot
        answer.
    """
    specification = importlib.util.find_spec("opacus")
    assert specification is not None
    package, optimizers = types.ModuleType("opacus"), types.ModuleType("opacus.optimizers")
    package.__path__ = list(specification.submodule_search_locations or ())
    optimizers.DPOptimizer = object  # type: ignore[attr-defined]
    sys.modules.update({"opacus": package, "opacus.optimizers": optimizers})
    from opacus.accountants import create_accountant
    from opacus.accountants.utils import get_noise_multiplier

    def answer(question: Question) -> Answer:
        """Answer a question by Opacus: ε, or the calibrated noise multiplier.

        Args:
            question: the composition of mechanisms, and the requested quantity.

        Returns:
            The value, without bounds.

        Raises:
            NotOffered: the question is about another mechanism, or asks for δ.
        """
        if any(part.mechanism != "gaussian" for part in question.parts):
            raise NotOffered("subsampled Gaussians only")
        if question.wanted == "delta":
            raise NotOffered("answers ε(δ) only")
        if question.wanted == "noise_multiplier":
            (part,) = question.parts
            target = {"target_epsilon": question.epsilon, "target_delta": question.delta}
            return Answer(get_noise_multiplier(**target, sample_rate=part.rate, steps=part.times, accountant="prv"))
        accountant = create_accountant("prv")
        accountant.history = [(part.noise, part.rate, part.times) for part in question.parts]
        return Answer(accountant.get_epsilon(question.delta))

    return answer


if __name__ == "__main__":
    serve(
        {accountant.__name__: accountant for accountant in (dp_accounting, prv_accountant, opacus)}[sys.argv[1]](),
        version(sys.argv[1]),
    )

"""dp-accounting: privacy loss distributions at the default grid of 1e-4, and Rényi accounting at its default orders."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import dp_accounting as dp
from dp_accounting import pld, rdp

from benchmarks.runners.loop import Answer, Question, Run, serve

RELATIONS = {
    "add-or-remove-one": dp.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace-one": dp.NeighboringRelation.REPLACE_ONE,
}


def event(parts: list[Run], noise: float | None = None) -> dp.DpEvent:
    """What was run, as dp-accounting's events."""
    runs = [_event(part, noise if part.noise is None else part.noise) for part in parts]
    return runs[0] if len(runs) == 1 else dp.ComposedDpEvent(runs)


def _event(part: Run, noise: float | None) -> dp.DpEvent:
    if part.mechanism == "randomised response":
        release = dp.RandomizedResponseDpEvent(noise, num_buckets=part.categories)
    else:
        release = {"gaussian": dp.GaussianDpEvent, "laplace": dp.LaplaceDpEvent}[part.mechanism](noise)
    sampled = release if part.rate == 1.0 else dp.PoissonSampledDpEvent(part.rate, release)
    return sampled if part.times == 1 else dp.SelfComposedDpEvent(sampled, part.times)


def with_accountant(kind: Callable[..., Any]) -> Callable[[Question], Answer]:
    """The three questions, put to one kind of accountant; calibration with its own search and tolerance of 1e-6."""

    def answer(question: Question) -> Answer:
        fresh = partial(kind, neighboring_relation=RELATIONS[question.relation])
        if question.asked == "noise_multiplier":
            made = lambda noise: event(question.parts, noise)  # noqa: E731
            return Answer(dp.calibrate_dp_mechanism(fresh, made, question.epsilon, question.delta))
        accountant = fresh().compose(event(question.parts))
        if question.asked == "epsilon":
            return Answer(accountant.get_epsilon(question.delta))
        return Answer(accountant.get_delta(question.epsilon))

    return answer


if __name__ == "__main__":
    accountants = {
        "dp-accounting PLD": with_accountant(pld.PLDAccountant),
        "dp-accounting RDP": with_accountant(rdp.RdpAccountant),
    }
    serve(accountants, version("dp-accounting"))

"""dp-accounting: privacy loss distributions on the default grid of 1e-4."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version

import dp_accounting as dp
from dp_accounting.pld import PLDAccountant

from benchmarks.runners.serving import Answer, Question, Run, serve

RELATIONS = {
    "add-or-remove-one": dp.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace-one": dp.NeighboringRelation.REPLACE_ONE,
}
RELEASES = {"gaussian": dp.GaussianDpEvent, "laplace": dp.LaplaceDpEvent}


def event(parts: list[Run], noise: float | None = None) -> dp.DpEvent:
    """Return the runs as an event of dp-accounting."""
    runs = [_event(part, noise if part.noise is None else part.noise) for part in parts]
    return runs[0] if len(runs) == 1 else dp.ComposedDpEvent(runs)


def _event(part: Run, noise: float | None) -> dp.DpEvent:
    if part.mechanism == "randomised response":
        release = dp.RandomizedResponseDpEvent(noise, num_buckets=part.categories)
    else:
        release = RELEASES[part.mechanism](noise)
    sampled = release if part.rate == 1.0 else dp.PoissonSampledDpEvent(part.rate, release)
    return sampled if part.times == 1 else dp.SelfComposedDpEvent(sampled, part.times)


def answer(question: Question) -> Answer:
    """Return ε, δ, or the noise multiplier by the library's own search and tolerance of 1e-6."""
    fresh = partial(PLDAccountant, neighboring_relation=RELATIONS[question.relation])
    if question.wanted == "noise_multiplier":
        make = partial(event, question.parts)
        return Answer(dp.calibrate_dp_mechanism(fresh, make, question.epsilon, question.delta))
    accountant = fresh().compose(event(question.parts))
    if question.wanted == "epsilon":
        return Answer(accountant.get_epsilon(question.delta))
    return Answer(accountant.get_delta(question.epsilon))


if __name__ == "__main__":
    serve(answer, version("dp-accounting"))

"""Histories and events of other libraries, read as specs. Their objects are stood in for by ones of the same names."""

import doctest
import math
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import epsilond
from epsilond import (
    Approximate,
    Composed,
    DiscreteLaplace,
    Gaussian,
    InvalidInput,
    Laplace,
    RandomizedResponse,
    Repeated,
    Subsampled,
)
from epsilond.integrations import dp_accounting, opacus
from epsilond.integrations.dp_accounting.events import READERS
from epsilond.integrations.dp_accounting.placed import NotPrivate
from epsilond.integrations.opacus import history as opacus_history
from epsilond.integrations.opacus import noise as opacus_noise
from epsilond.integrations.opacus.pitfalls import LargeDelta


class DpEvent:
    def __init__(self, **attributes):
        vars(self).update(attributes)


def event(name, **attributes):
    return type(name, (DpEvent,), {})(**attributes)


GAUSSIAN = event("GaussianDpEvent", noise_multiplier=2.0)
NOTHING = event("NoOpDpEvent")


def poisson(rate, inner):
    return event("PoissonSampledDpEvent", sampling_probability=rate, event=inner)


def repeated(times, inner):
    return event("SelfComposedDpEvent", event=inner, count=times)


def composed(*events):
    return event("ComposedDpEvent", events=list(events))


def batch(rate, noise):
    return Subsampled(sampling="poisson", rate=rate, mechanism=Gaussian(noise_multiplier=noise))


def pointer_of(call, *arguments, **named):
    with pytest.raises(InvalidInput) as refused:
        call(*arguments, **named)
    return refused.value.faults[0].pointer


def test_a_history_is_poisson_batches_with_gaussian_noise():
    assert epsilond.spec_from_opacus_history([(1.0, 0.01, 1000)]) == Repeated(times=1000, mechanism=batch(0.01, 1.0))
    assert epsilond.spec_from_opacus_history([(1.0, 1.0, 1)]) == Gaussian(noise_multiplier=1.0)


def test_equal_entries_of_a_history_are_counted_together_wherever_they_stand():
    history = [(1.0, 0.01, 10), (2.0, 0.01, 5), (1.0, 0.01, 3), (3.0, 0.01, 0)]
    expected = Composed(
        mechanisms=(Repeated(times=13, mechanism=batch(0.01, 1.0)), Repeated(times=5, mechanism=batch(0.01, 2.0)))
    )
    assert epsilond.spec_from_opacus_history(history) == expected
    assert epsilond.spec_from_opacus_history({"history": history, "mechanism": "rdp"}) == expected


def test_a_history_may_hold_the_scalars_of_numpy():
    history = [(np.float32(1.0), np.float64(0.01), np.int64(7))]
    assert epsilond.spec_from_opacus_history(history) == Repeated(times=7, mechanism=batch(0.01, 1.0))


@pytest.mark.parametrize(
    ("history", "pointer"),
    [
        ([], ""),
        ([(1.0, 0.01, 0)], ""),
        ({"mechanism": "rdp"}, "/history"),
        ([(1.0, 0.01, 1), (1.0, 0.01)], "/1"),
        ([7], "/0"),
        ([(0.0, 0.01, 1)], "/0/0"),
        ({"history": [(1.0, 1.5, 1)]}, "/history/0/1"),
        ([(1.0, 0.01, 1.5)], "/0/2"),
        ([(1.0, 0.01, -1)], "/0/2"),
        ([(True, 0.01, 1)], "/0/0"),
        ([("1.0", 0.01, 1)], "/0/0"),
    ],
)
def test_what_is_no_history_is_refused_where_it_stands(history, pointer):
    assert pointer_of(epsilond.spec_from_opacus_history, history) == pointer


@pytest.mark.parametrize("module", [opacus_history, opacus_noise])
def test_the_examples_of_the_docstrings(module):
    found = doctest.DocTestFinder(exclude_empty=True).find(module)
    assert any(example.examples for example in found)
    for example in found:
        assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("words", [{}, {"steps": 10, "epochs": 1}, {"epochs": 0}, {"epochs": 1, "sample_rate": 0.0}])
def test_noise_for_no_steps_is_refused(words):
    with pytest.raises(InvalidInput):
        opacus_noise.get_noise_multiplier(**{"target_epsilon": 1.0, "target_delta": 1e-5, "sample_rate": 0.1} | words)


@pytest.mark.parametrize(("delta", "warned"), [(0.1, True), (1e-3, True), (9.99e-4, False), (1e-5, False)])
def test_a_delta_that_one_published_record_meets_is_warned_of(delta, warned):
    asked = {"target_epsilon": 1.0, "target_delta": delta, "sample_rate": 0.1, "steps": 2}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert opacus_noise.get_noise_multiplier(**asked) > 0.0
    assert [issubclass(each.category, LargeDelta) for each in caught] == [True] * warned
    if warned:
        assert f"one of {round(1 / delta)} records" in str(caught[0].message)


def test_epochs_are_as_many_steps_as_begin_in_them():
    for epochs, rate, steps in ((3, 1 / 49, 147), (1.5, 1 / 49, 74), (1, 1.0, 1), (7, 0.1, 70), (0.5, 0.3, 2)):
        assert opacus_noise._count_steps(epochs, rate) == steps


def test_a_host_is_imported_where_a_name_needs_it():
    assert "opacus" not in sys.modules
    if find_spec("opacus") is not None:
        pytest.skip("Opacus is installed here")
    with pytest.raises(ModuleNotFoundError, match="opacus"):
        _ = opacus.EpsilondAccountant
    name = "Accountant"
    with pytest.raises(AttributeError, match=name):
        getattr(dp_accounting, name)


def test_every_event_that_is_read_is_in_the_documents():
    text = Path(__file__).parents[2].joinpath("docs/integrations.md").read_text(encoding="utf-8")
    assert all(name in text for name in READERS)


def test_a_tree_is_as_many_gaussians_as_it_has_levels_and_a_record_is_in_one_tree():
    for counts, levels in ((1, 1), (4, 3), (1023, 10), ([3, 1000, 7], 10)):
        tree = event("SingleEpochTreeAggregationDpEvent", noise_multiplier=4.0, step_counts=counts)
        found = epsilond.spec_from_dp_event(tree, relation="zero-out-one")
        assert found in (
            Gaussian(noise_multiplier=4.0),
            Repeated(times=levels, mechanism=Gaussian(noise_multiplier=4.0)),
        )
        assert getattr(found, "times", 1) == levels
        assert (
            pointer_of(epsilond.spec_from_dp_event, poisson(0.1, repeated(2, tree)), relation="zero-out-one")
            == "/event"
        )
        assert pointer_of(epsilond.spec_from_dp_event, tree) == ""


def test_events_that_are_special_cases_of_others():
    truncated = event(
        "TruncatedSubsampledGaussianDpEvent",
        dataset_size=50,
        sampling_probability=0.1,
        truncated_batch_size=50,
        noise_multiplier=2.0,
    )
    assert epsilond.spec_from_dp_event(truncated) == batch(0.1, 2.0)
    words = {"standard_deviation": 3.0, "sensitivities": [0.0, 1.5], "sampling_probs": [0.75, 0.25]}
    found = epsilond.spec_from_dp_event(event("MixtureOfGaussiansDpEvent", **words))
    assert (found.rate, found.mechanism.noise_multiplier) == (0.25, pytest.approx(2.0, rel=1e-15))
    assert found.mechanism.noise_multiplier <= 2.0
    for wrong in ({"sensitivities": [1.0]}, {"sampling_probs": [0.5, 0.25]}, {"sensitivities": [0.0, -1.0]}):
        with pytest.raises(InvalidInput):
            epsilond.spec_from_dp_event(event("MixtureOfGaussiansDpEvent", **(words | wrong)))
    said = event("EpsilonDeltaDpEvent", epsilon=0.5, delta=1e-6)
    assert epsilond.spec_from_dp_event(said) == Approximate(epsilon=0.5, delta=1e-6)


@pytest.mark.parametrize(
    "given",
    [
        event("NonPrivateDpEvent"),
        event("GaussianDpEvent", noise_multiplier=0.0),
        poisson(0.5, repeated(3, event("LaplaceDpEvent", noise_multiplier=0.0))),
        event("EpsilonDeltaDpEvent", epsilon=math.inf, delta=0.0),
    ],
)
def test_what_has_no_noise_is_told_apart_from_what_no_spec_says(given):
    with pytest.raises(NotPrivate):
        epsilond.spec_from_dp_event(given)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (GAUSSIAN, Gaussian(noise_multiplier=2.0)),
        (event("LaplaceDpEvent", noise_multiplier=3.0), Laplace(scale_multiplier=3.0)),
        (poisson(0.1, GAUSSIAN), batch(0.1, 2.0)),
        (poisson(1.0, GAUSSIAN), Gaussian(noise_multiplier=2.0)),
        (repeated(5, poisson(0.1, GAUSSIAN)), Repeated(times=5, mechanism=batch(0.1, 2.0))),
        (repeated(5, repeated(4, GAUSSIAN)), Repeated(times=20, mechanism=Gaussian(noise_multiplier=2.0))),
        (composed(GAUSSIAN, NOTHING, GAUSSIAN), Repeated(times=2, mechanism=Gaussian(noise_multiplier=2.0))),
        (composed(GAUSSIAN, poisson(0.0, GAUSSIAN), repeated(0, GAUSSIAN)), Gaussian(noise_multiplier=2.0)),
        (
            composed(repeated(3, composed(GAUSSIAN, poisson(0.1, GAUSSIAN))), GAUSSIAN),
            Composed(
                mechanisms=(
                    Repeated(times=4, mechanism=Gaussian(noise_multiplier=2.0)),
                    Repeated(times=3, mechanism=batch(0.1, 2.0)),
                )
            ),
        ),
        (
            poisson(0.1, repeated(3, GAUSSIAN)),
            Subsampled(
                sampling="poisson", rate=0.1, mechanism=Repeated(times=3, mechanism=Gaussian(noise_multiplier=2.0))
            ),
        ),
        (
            event("SampledWithoutReplacementDpEvent", source_dataset_size=100, sample_size=10, event=GAUSSIAN),
            Subsampled(
                sampling="without-replacement", batch_size=10, population=100, mechanism=Gaussian(noise_multiplier=2.0)
            ),
        ),
        (
            event("SampledWithReplacementDpEvent", source_dataset_size=100, sample_size=10, event=GAUSSIAN),
            Subsampled(
                sampling="with-replacement", batch_size=10, population=100, mechanism=Gaussian(noise_multiplier=2.0)
            ),
        ),
    ],
)
def test_an_event_is_what_it_says(given, expected):
    assert epsilond.spec_from_dp_event(given) == expected


@pytest.mark.parametrize(("relation", "distance"), [("add-or-remove-one", 3), ("zero-out-one", 3), ("replace-one", 6)])
def test_the_sensitivity_of_discrete_laplace_bounds_a_value_there_and_a_distance_here(relation, distance):
    given = event("DiscreteLaplaceDpEvent", noise_parameter=0.5, sensitivity=3)
    found = epsilond.spec_from_dp_event(given, relation=relation)
    assert found == DiscreteLaplace(decay_rate=0.5, sensitivity=distance)


@pytest.mark.parametrize(("p", "categories"), [(0.5, 4), (0.9, 2), (1e-6, 10)])
def test_randomised_response_has_the_probabilities_of_its_noise(p, categories):
    given = event("RandomizedResponseDpEvent", noise_parameter=p, num_buckets=categories)
    found = epsilond.spec_from_dp_event(given, relation="replace-one")
    assert isinstance(found, RandomizedResponse)
    own = math.exp(found.epsilon) / (math.exp(found.epsilon) + categories - 1)
    assert own == pytest.approx(1.0 - p + p / categories, rel=1e-12)


def test_a_named_tuple_is_read_as_its_event():
    names = [("module_name", str), ("class_name", str)]
    inner = NamedTuple("Inner", [*names, ("noise_multiplier", float)])("m", "GaussianDpEvent", 2.0)
    outer = NamedTuple("Outer", [*names, ("sampling_probability", float), ("event", object)])
    assert epsilond.spec_from_dp_event(outer(b"m", b"PoissonSampledDpEvent", 0.1, inner)) == batch(0.1, 2.0)  # type: ignore[call-arg]


def test_a_long_ledger_of_equal_steps_is_one_power():
    ledger = composed(*[poisson(0.1, GAUSSIAN) for _ in range(20_000)])
    assert epsilond.spec_from_dp_event(ledger) == Repeated(times=20_000, mechanism=batch(0.1, 2.0))


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        (NOTHING, ""),
        (composed(), ""),
        (event("RandomizedResponseDpEvent", noise_parameter=1.0, num_buckets=4), ""),
        (event("NonPrivateDpEvent"), ""),
        (event("RandomizedResponseDpEvent", noise_parameter=0.0, num_buckets=4), ""),
        (composed(GAUSSIAN, event("ZCDpEvent", rho=-1.0, xi=0.0)), "/events/1/rho"),
        (composed(GAUSSIAN, repeated(2, event("UnsupportedDpEvent"))), "/events/1/event"),
        (SimpleNamespace(noise_multiplier=1.0), ""),
        (event("GaussianDpEvent"), "/noise_multiplier"),
        (event("GaussianDpEvent", noise_multiplier=0.0), "/noise_multiplier"),
        (event("LaplaceDpEvent", noise_multiplier=-1.0), "/noise_multiplier"),
        (event("DiscreteLaplaceDpEvent", noise_parameter=-1.0, sensitivity=1), "/noise_parameter"),
        (event("DiscreteLaplaceDpEvent", noise_parameter=1.0, sensitivity=1.5), "/sensitivity"),
        (event("RandomizedResponseDpEvent", noise_parameter=1.5, num_buckets=4), "/noise_parameter"),
        (repeated(2, poisson(1.5, GAUSSIAN)), "/event/sampling_probability"),
        (repeated(-1, GAUSSIAN), "/count"),
        (
            event("SampledWithoutReplacementDpEvent", source_dataset_size=5, sample_size=10, event=GAUSSIAN),
            "/sample_size",
        ),
    ],
)
def test_what_no_spec_says_is_refused_where_it_stands(given, pointer):
    assert pointer_of(epsilond.spec_from_dp_event, given) == pointer


def test_the_relation_is_the_same_question_as_asked_of_the_closed_form():
    """One Gaussian release at sensitivity Δ: δ(ε) = Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ), Δ = C or 2C."""
    phi = lambda x: 0.5 * math.erfc(-x / math.sqrt(2.0))  # noqa: E731
    for relation, distance in (("add-or-remove-one", 1.0), ("replace-one", 2.0)):
        spec = epsilond.spec_from_dp_event(GAUSSIAN, relation=relation)
        lower, upper = epsilond.account(
            spec, relation=relation, unit="record", observer="server"
        ).guarantee.curve.delta(epsilon=1.0)
        mu = distance / 2.0
        exact = phi(mu / 2.0 - 1.0 / mu) - math.e * phi(-mu / 2.0 - 1.0 / mu)
        assert lower * (1 - 1e-9) <= exact <= upper * (1 + 1e-9)

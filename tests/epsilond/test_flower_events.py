"""What of the Flower and pfl integrations needs neither: events, updates, adaptive clipping, shares of weights."""

import doctest
import math
from types import SimpleNamespace

import numpy as np
import pytest

import epsilond
from epsilond import Gaussian, InvalidInput, Laplace, Repeated, Subsampled
from epsilond.integrations.flower import events, spec_from_flower_state, updates, weighted_noise_multiplier
from epsilond.integrations.flower.events import spec_of_event
from epsilond.integrations.pfl import runs, spec_from_pfl

POISSON = Subsampled(sampling="poisson", rate=0.1, mechanism=Gaussian(noise_multiplier=2.0))
FIXED = Subsampled(
    sampling="without-replacement", batch_size=10, population=100, mechanism=Gaussian(noise_multiplier=2.0)
)


@pytest.mark.parametrize("module", [events, runs])
def test_the_examples_of_the_docstrings(module):
    found = [each for each in doctest.DocTestFinder(exclude_empty=True).find(module) if each.examples]
    assert found
    for example in found:
        assert doctest.DocTestRunner().run(example).failed == 0


def event(noise=2.0, sample=10, population=100):
    return {"noise_multiplier": noise, "sample_size": sample, "population_size": population}


def state(*events, sampling="poisson"):
    return {"config": {"sampling_method": sampling}, "compositions": [{"event": e, "count": n} for e, n in events]}


@pytest.mark.parametrize(
    ("sampling", "sample", "spec"),
    [
        ("poisson", 10, POISSON),
        ("poisson", 100, Gaussian(noise_multiplier=2.0)),
        ("without-replacement", 10, FIXED),
        ("without-replacement", 100, Gaussian(noise_multiplier=2.0)),
        ("no-amplification", 10, Gaussian(noise_multiplier=2.0)),
    ],
)
def test_an_event_is_a_spec_by_its_sampling(sampling, sample, spec):
    told = SimpleNamespace(**event(sample=sample))
    assert spec_of_event(told, sampling) == spec
    assert spec_of_event(told, SimpleNamespace(value=sampling)) == spec


def test_equal_events_of_a_state_are_one_power():
    run = spec_from_flower_state(state((event(), 3), (event(4.0), 1), (event(), 2)))
    louder = Subsampled(sampling="poisson", rate=0.1, mechanism=Gaussian(noise_multiplier=4.0))
    assert run == epsilond.Composed(mechanisms=(Repeated(times=5, mechanism=POISSON), louder))


@pytest.mark.parametrize(
    ("told", "pointer"),
    [
        (state(), "/compositions"),
        ({}, ""),
        (state((event(), 1), sampling="shuffled"), "/sampling_method"),
        (state((event(noise=-1.0), 1)), "/compositions/0/event/noise_multiplier"),
        (state((event(sample=101), 1)), "/compositions/0/event/sample_size"),
        (state((event(sample=0), 1)), "/compositions/0/event/sample_size"),
        (state((event(), 1), (event(), 1.5)), "/compositions/1/count"),
    ],
)
def test_what_is_no_state_is_refused_where_it_fails(told, pointer):
    with pytest.raises(InvalidInput) as refused:
        spec_from_flower_state(told)
    assert [fault.pointer for fault in refused.value.faults] == [pointer]


def test_pfls_words_are_specs():
    told = {"noise_parameter": 2.0, "sampling_probability": 0.1}
    assert spec_from_pfl(mechanism="Gaussian", num_compositions=7, **told) == Repeated(times=7, mechanism=POISSON)
    full = {"noise_parameter": 2.0, "sampling_probability": 1.0, "num_compositions": 1}
    assert spec_from_pfl(mechanism="laplace", **full) == Laplace(scale_multiplier=2.0)
    with pytest.raises(InvalidInput) as refused:
        spec_from_pfl(mechanism="gaussian", num_compositions=0, **told)
    assert refused.value.faults[0].pointer == "/num_compositions"


@pytest.mark.parametrize("weights", [[], [1.0, 0.0], [1.0, math.inf], [math.nan]])
def test_weights_are_positive(weights):
    with pytest.raises(InvalidInput):
        weighted_noise_multiplier(1.0, weights)


def test_an_update_is_clipped_over_all_its_arrays_together():
    update = {"a": np.array([3.0]), "b": np.array([[0.0, 4.0]])}
    found = updates.clip_update(update, 1.0)
    assert (found.changed, found.longer) == (True, True)
    assert found.arrays["a"] == pytest.approx(np.array([0.6]), rel=1e-12)
    assert math.hypot(found.arrays["a"][0], found.arrays["b"][0, 1]) <= 1.0
    assert updates.clip_update(update, 5.1).longer is False
    zero = updates.clip_update({"a": np.zeros(2)}, 1.0)
    assert (zero.changed, zero.longer) == (False, False)


def test_updates_of_other_shapes_and_no_numbers_are_none():
    current = {"a": np.zeros(2, dtype=np.float32)}
    assert updates.update_of({"a": np.array([1.0, 2.0])}, current)["a"].dtype == np.float64
    for reply in ({"b": np.zeros(2)}, {"a": np.zeros(3)}, {"a": np.array([0.0, math.nan])}, {}):
        assert updates.update_of(reply, current) is None
    assert updates.update_of({"a": np.array([math.inf, 0.0])}, {"a": np.array([math.inf, 0.0])}) is None


def test_the_sum_of_nothing_has_the_models_shapes():
    found = updates.total([], {"a": np.ones((2, 3), dtype=np.float32), "b": np.ones(())})
    assert {name: part.shape for name, part in found.items()} == {"a": (2, 3), "b": ()}
    assert all((part == 0.0).all() for part in found.values())


@pytest.mark.parametrize(
    "fields",
    [{"target_quantile": 1.5}, {"learning_rate": 0.0}, {"count_noise_std": 0.0}, {"count_noise_std": math.nan}],
)
def test_no_such_adaptive_clipping(fields):
    with pytest.raises(InvalidInput):
        updates.AdaptiveClipping(**{"count_noise_std": 5.0} | fields)


def test_the_norm_grows_where_too_many_are_clipped():
    adaptive = updates.AdaptiveClipping(count_noise_std=5.0, learning_rate=0.2, target_quantile=0.5)
    assert adaptive.next_norm(1.0, -5.0, 10) == pytest.approx(math.exp(0.1))  # all of ten are longer than the norm
    assert adaptive.next_norm(1.0, 5.0, 10) == pytest.approx(math.exp(-0.1))
    assert adaptive.next_norm(1.0, 0.0, 10) == 1.0

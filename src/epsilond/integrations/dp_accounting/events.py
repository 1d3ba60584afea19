"""A DpEvent, as a Spec. Events are known by their class's name and attributes; nothing is imported."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Relation, Sampling
from epsilond.accountants.specs import (
    Approximate,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Spec,
    Subsampled,
)
from epsilond.integrations.counted import run_of
from epsilond.integrations.numbers import built, count, number

if TYPE_CHECKING:
    from dp_accounting import DpEvent

Parts: TypeAlias = list[tuple[Spec, int]]
"""What is run, each with how often; empty where nothing is released."""


class NotPrivate(InvalidInput):
    """The event is none of a private mechanism: without noise, or a NonPrivateDpEvent. No ε is finite."""


def spec_from_dp_event(event: DpEvent, *, relation: Relation = "add-or-remove-one") -> Spec:
    """What a `DpEvent` of dp-accounting describes, as a Spec.

    Both divide the noise by the bound on the norm of one record's value, so a noise multiplier is the same number here,
    and only the relation says how far neighbours are apart. `relation` is the one the Spec is then asked about; it is
    theirs by default. Their ADD_OR_REMOVE_ONE is `add-or-remove-one`, REPLACE_ONE `replace-one`, REPLACE_SPECIAL
    `zero-out-one`. It matters for a discrete Laplace event, whose sensitivity bounds one value, and ours the distance
    of neighbours: twice that for `replace-one`. Randomised response and batches of fixed size have guarantees for
    `replace-one` and `zero-out-one` alone; `account` says so of another relation. A zeroed record's randomised response
    is a uniform one for dp-accounting, any one here, so that ours is the larger ε. So it is of a Poisson batch of
    discrete Laplace events for `zero-out-one`, and of any batch of randomised responses: they may show who is in it.

    Args:
        event: a GaussianDpEvent, LaplaceDpEvent, DiscreteLaplaceDpEvent, RandomizedResponseDpEvent or
            EpsilonDeltaDpEvent; PoissonSampledDpEvent, SampledWithoutReplacementDpEvent or
            SampledWithReplacementDpEvent of one; SelfComposedDpEvent, ComposedDpEvent and NoOpDpEvent;
            SingleEpochTreeAggregationDpEvent for `zero-out-one`, a TruncatedSubsampledGaussianDpEvent that truncates
            nothing, a MixtureOfGaussiansDpEvent of 0 and one other shift. Or what their `to_named_tuple()` makes.
        relation: what the guarantee will be asked for.

    Raises:
        InvalidInput: an event that no Spec says, one that is not private, one that releases nothing at all, or numbers
            that no run can have. The pointer leads to it: `/events/1/event`.
    """
    run = run_of(parts_of(event, relation=relation))
    if run is None:
        raise InvalidInput.at("", "releases nothing: ε = 0 and δ = 0 hold without an account")
    return run


def parts_of(event: DpEvent, *, relation: Relation) -> Parts:
    """What a `DpEvent` describes, each part with how often it is run; empty where it releases nothing.

    Raises:
        NotPrivate: some part of it releases something without noise.
        InvalidInput: as `spec_from_dp_event`.
    """
    return _parts(event, "", relation)


def name_of(event: DpEvent) -> str:
    """The name of its class, also where it is a named tuple."""
    name = getattr(event, "class_name", type(event).__name__)
    return name.decode() if isinstance(name, bytes) else str(name)


def _parts(event: DpEvent, at: str, relation: Relation) -> Parts:
    name = name_of(event)
    if name not in READERS:
        raise InvalidInput.at(at, f"is a {name}, for which epsilond cannot account yet", allowed=", ".join(READERS))
    return READERS[name](event, at, relation)


def _not_private(_: DpEvent, at: str, __: Relation) -> Parts:
    raise NotPrivate.at(at, "is not private: no ε is finite")


def _field(event: DpEvent, name: str, at: str) -> Any:
    if not hasattr(event, name):
        raise InvalidInput.at(f"{at}/{name}", "is required")
    return getattr(event, name)


def _number(event: DpEvent, name: str, at: str) -> float:
    return number(_field(event, name, at), f"{at}/{name}")


def _count(event: DpEvent, name: str, at: str) -> int:
    return count(_field(event, name, at), f"{at}/{name}")


def _no_op(_: DpEvent, __: str, ___: Relation) -> Parts:
    return []


def _noise(event: DpEvent, name: str, at: str) -> float:
    """A parameter that is 0 where there is no noise."""
    found = _number(event, name, at)
    if found == 0.0:
        raise NotPrivate.at(f"{at}/{name}", "is 0, so that nothing is private: no ε is finite", allowed="> 0")
    return found


def _gaussian(event: DpEvent, at: str, _: Relation) -> Parts:
    return [(built(Gaussian, at, {}, noise_multiplier=_noise(event, "noise_multiplier", at)), 1)]


def _laplace(event: DpEvent, at: str, _: Relation) -> Parts:
    names = {"scale_multiplier": "noise_multiplier"}
    return [(built(Laplace, at, names, scale_multiplier=_noise(event, "noise_multiplier", at)), 1)]


def _discrete_laplace(event: DpEvent, at: str, relation: Relation) -> Parts:
    bound = _count(event, "sensitivity", at)
    if bound == 0:
        return []
    decay_rate = _noise(event, "noise_parameter", at)
    distance = 2 * bound if relation == "replace-one" else bound
    names = {"decay_rate": "noise_parameter"}
    return [(built(DiscreteLaplace, at, names, decay_rate=decay_rate, sensitivity=distance), 1)]


def _randomized_response(event: DpEvent, at: str, _: Relation) -> Parts:
    """The own category with probability 1 − p + p/k, any other with p/k: e^ε = 1 + k(1 − p)/p."""
    p, categories = _number(event, "noise_parameter", at), _count(event, "num_buckets", at)
    if not 0.0 <= p <= 1.0:
        raise InvalidInput.at(f"{at}/noise_parameter", "is out of range", allowed="≥ 0 and ≤ 1")
    if p == 1.0 or categories == 1:
        return []
    if p == 0.0:
        raise NotPrivate.at(at, "is not private: no ε is finite")
    epsilon = math.log1p(categories * (1.0 - p) / p)
    names = {"epsilon": "noise_parameter", "categories": "num_buckets"}
    return [(built(RandomizedResponse, at, names, epsilon=epsilon, categories=categories), 1)]


def _epsilon_delta(event: DpEvent, at: str, _: Relation) -> Parts:
    epsilon, delta = _number(event, "epsilon", at), _number(event, "delta", at)
    if epsilon == delta == 0.0:
        return []
    if math.isinf(epsilon) or delta == 1.0:
        raise NotPrivate.at(at, "is not private: no ε is finite")
    return [(built(Approximate, at, {}, epsilon=epsilon, delta=delta), 1)]


def _tree(event: DpEvent, at: str, relation: Relation) -> Parts:
    """A record is in as many nodes as the tallest tree has levels, and each is a sum with Gaussian noise of its own."""
    if relation != "zero-out-one":
        raise InvalidInput.at(at, "is known for the relation zero-out-one alone (REPLACE_SPECIAL)")
    counts = _field(event, "step_counts", at)
    counts = list(counts) if hasattr(counts, "__iter__") else [counts]
    steps = max((count(each, f"{at}/step_counts") for each in counts), default=0)
    if steps == 0:
        return []
    gaussian = built(Gaussian, at, {}, noise_multiplier=_noise(event, "noise_multiplier", at))
    return [(gaussian, steps.bit_length())]  # ⌈log2(steps + 1)⌉


def _truncated(event: DpEvent, at: str, _: Relation) -> Parts:
    """A batch that no draw can exceed is a Poisson batch; a smaller one no spec says."""
    population, largest = _count(event, "dataset_size", at), _count(event, "truncated_batch_size", at)
    rate = _number(event, "sampling_probability", at)
    if 0 in (population, largest, rate):
        return []
    if largest < population:
        message = "truncates Poisson batches, for which epsilond cannot account yet"
        raise InvalidInput.at(f"{at}/truncated_batch_size", message, allowed=f"≥ {population}")
    return _batches(rate, built(Gaussian, at, {}, noise_multiplier=_noise(event, "noise_multiplier", at)), at)


def _mixture(event: DpEvent, at: str, relation: Relation) -> Parts:
    """Shifts 0 and c with probabilities 1 − q and q are a Poisson batch of rate q with noise σ/c."""
    if relation == "replace-one":
        raise InvalidInput.at(at, "says nothing of the relation replace-one")
    shifts = [number(each, f"{at}/sensitivities") for each in _field(event, "sensitivities", at)]
    weights = [number(each, f"{at}/sampling_probs") for each in _field(event, "sampling_probs", at)]
    moved = [(shift, weight) for shift, weight in zip(shifts, weights, strict=False) if shift and weight]
    if len(shifts) != len(weights) or not math.isclose(math.fsum(weights), 1.0, rel_tol=0.0, abs_tol=1e-9):
        raise InvalidInput.at(f"{at}/sampling_probs", "are no probabilities, one for each shift")
    if not moved:
        return []
    if len(moved) > 1 or moved[0][0] < 0.0:
        raise InvalidInput.at(f"{at}/sensitivities", "are a mixture that no spec says", allowed="0 and one above 0")
    (shift, rate), names = moved[0], {"noise_multiplier": "standard_deviation"}
    noise = math.nextafter(_noise(event, "standard_deviation", at) / shift, 0.0)
    return _batches(min(rate, 1.0), built(Gaussian, at, names, noise_multiplier=noise), at)


def _poisson(event: DpEvent, at: str, relation: Relation) -> Parts:
    rate = _number(event, "sampling_probability", at)
    inner = None if rate == 0.0 else _inner(event, at, relation)
    return [] if inner is None else _batches(rate, inner, at)


def _batches(rate: float, inner: Spec, at: str) -> Parts:
    names = {"rate": "sampling_probability"}
    batch = built(Subsampled, at, names, sampling="poisson", rate=rate, mechanism=inner)
    return [(inner if rate == 1.0 else batch, 1)]


def _fixed_size(event: DpEvent, at: str, relation: Relation, sampling: Sampling) -> Parts:
    sizes = {
        "batch_size": _count(event, "sample_size", at),
        "population": _count(event, "source_dataset_size", at),
    }
    inner = None if sizes["batch_size"] == 0 else _inner(event, at, relation)
    if inner is None:
        return []
    names = {"batch_size": "sample_size", "population": "source_dataset_size"}
    return [(built(Subsampled, at, names, sampling=sampling, mechanism=inner, **sizes), 1)]


def _self_composed(event: DpEvent, at: str, relation: Relation) -> Parts:
    times = _count(event, "count", at)
    if times == 0:
        return []
    return [(part, times * each) for part, each in _parts(_field(event, "event", at), f"{at}/event", relation)]


def _composed(event: DpEvent, at: str, relation: Relation) -> Parts:
    events = enumerate(_field(event, "events", at))
    return [part for place, each in events for part in _parts(each, f"{at}/events/{place}", relation)]


def _inner(event: DpEvent, at: str, relation: Relation) -> Spec | None:
    """What is run on a batch, as one Spec."""
    inner, at = _field(event, "event", at), f"{at}/event"
    if _has_tree(inner):
        raise InvalidInput.at(at, "has trees whose leaves a batch moves, for which epsilond cannot account yet")
    return run_of(_parts(inner, at, relation))


def _has_tree(event: DpEvent) -> bool:
    inside = [getattr(event, "event", None), *getattr(event, "events", ())]
    return name_of(event) == TREE or any(_has_tree(each) for each in inside if each is not None)


TREE = "SingleEpochTreeAggregationDpEvent"
READERS: Mapping[str, Callable[[DpEvent, str, Relation], Parts]] = {
    "NoOpDpEvent": _no_op,
    "NonPrivateDpEvent": _not_private,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "RandomizedResponseDpEvent": _randomized_response,
    "EpsilonDeltaDpEvent": _epsilon_delta,
    TREE: _tree,
    "TruncatedSubsampledGaussianDpEvent": _truncated,
    "MixtureOfGaussiansDpEvent": _mixture,
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": partial(_fixed_size, sampling="without-replacement"),
    "SampledWithReplacementDpEvent": partial(_fixed_size, sampling="with-replacement"),
    "SelfComposedDpEvent": _self_composed,
    "ComposedDpEvent": _composed,
}

"""dp-accounting: a DpEvent, as a Spec. Events are known by their class's name and attributes; nothing is imported."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Relation, Sampling
from epsilond.accountants.specs import (
    DiscreteLaplace,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Spec,
    Subsampled,
)
from epsilond.interop.counted import run_of
from epsilond.interop.numbers import built, count, number

Parts: TypeAlias = list[tuple[Spec, int]]
"""What is run, each with how often; empty where nothing is released."""


def spec_from_dp_event(event: Any, *, relation: Relation = "add-or-remove-one") -> Spec:
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
        event: a GaussianDpEvent, LaplaceDpEvent, DiscreteLaplaceDpEvent or RandomizedResponseDpEvent;
            PoissonSampledDpEvent, SampledWithoutReplacementDpEvent or SampledWithReplacementDpEvent of one;
            SelfComposedDpEvent, ComposedDpEvent and NoOpDpEvent. Or what their `to_named_tuple()` makes.
        relation: what the guarantee will be asked for.

    Raises:
        InvalidInput: an event that no Spec says, one that is not private, one that releases nothing at all, or numbers
            that no run can have. The pointer leads to it: `/events/1/event`.
    """
    run = run_of(_parts(event, "", relation))
    if run is None:
        raise InvalidInput.at("", "releases nothing: ε = 0 and δ = 0 hold without an account")
    return run


def _parts(event: Any, at: str, relation: Relation) -> Parts:
    name = getattr(event, "class_name", type(event).__name__)
    name = name.decode() if isinstance(name, bytes) else str(name)
    if name == "NonPrivateDpEvent":
        raise InvalidInput.at(at, "is not private: no ε is finite")
    if name not in READERS:
        raise InvalidInput.at(at, f"is a {name}, which no spec says", allowed=", ".join(READERS))
    return READERS[name](event, at, relation)


def _field(event: Any, name: str, at: str) -> Any:
    if not hasattr(event, name):
        raise InvalidInput.at(f"{at}/{name}", "is required")
    return getattr(event, name)


def _number(event: Any, name: str, at: str) -> float:
    return number(_field(event, name, at), f"{at}/{name}")


def _count(event: Any, name: str, at: str) -> int:
    return count(_field(event, name, at), f"{at}/{name}")


def _no_op(_: Any, __: str, ___: Relation) -> Parts:
    return []


def _gaussian(event: Any, at: str, _: Relation) -> Parts:
    return [(built(Gaussian, at, {}, noise_multiplier=_number(event, "noise_multiplier", at)), 1)]


def _laplace(event: Any, at: str, _: Relation) -> Parts:
    names = {"scale_multiplier": "noise_multiplier"}
    return [(built(Laplace, at, names, scale_multiplier=_number(event, "noise_multiplier", at)), 1)]


def _discrete_laplace(event: Any, at: str, relation: Relation) -> Parts:
    decay_rate, bound = _number(event, "noise_parameter", at), _count(event, "sensitivity", at)
    distance = 2 * bound if relation == "replace-one" else bound
    names = {"decay_rate": "noise_parameter"}
    return [(built(DiscreteLaplace, at, names, decay_rate=decay_rate, sensitivity=distance), 1)]


def _randomized_response(event: Any, at: str, _: Relation) -> Parts:
    """The own category with probability 1 − p + p/k, any other with p/k: e^ε = 1 + k(1 − p)/p."""
    p, categories = _number(event, "noise_parameter", at), _count(event, "num_buckets", at)
    if not 0.0 <= p <= 1.0:
        raise InvalidInput.at(f"{at}/noise_parameter", "is out of range", allowed="≥ 0 and ≤ 1")
    if p == 1.0 or categories == 1:
        return []
    if p == 0.0:
        raise InvalidInput.at(at, "is not private: no ε is finite")
    epsilon = math.log1p(categories * (1.0 - p) / p)
    names = {"epsilon": "noise_parameter", "categories": "num_buckets"}
    return [(built(RandomizedResponse, at, names, epsilon=epsilon, categories=categories), 1)]


def _poisson(event: Any, at: str, relation: Relation) -> Parts:
    rate, inner = _number(event, "sampling_probability", at), _inner(event, at, relation)
    if rate == 0.0 or inner is None:
        return []
    names = {"rate": "sampling_probability"}
    batch = built(Subsampled, at, names, sampling="poisson", rate=rate, mechanism=inner)
    return [(inner if rate == 1.0 else batch, 1)]


def _fixed_size(event: Any, at: str, relation: Relation, sampling: Sampling) -> Parts:
    sizes = {
        "batch_size": _count(event, "sample_size", at),
        "population": _count(event, "source_dataset_size", at),
    }
    inner = _inner(event, at, relation)
    if sizes["batch_size"] == 0 or inner is None:
        return []
    names = {"batch_size": "sample_size", "population": "source_dataset_size"}
    return [(built(Subsampled, at, names, sampling=sampling, mechanism=inner, **sizes), 1)]


def _self_composed(event: Any, at: str, relation: Relation) -> Parts:
    times = _count(event, "count", at)
    return [(part, times * each) for part, each in _parts(_field(event, "event", at), f"{at}/event", relation)]


def _composed(event: Any, at: str, relation: Relation) -> Parts:
    events = enumerate(_field(event, "events", at))
    return [part for place, each in events for part in _parts(each, f"{at}/events/{place}", relation)]


def _inner(event: Any, at: str, relation: Relation) -> Spec | None:
    """What is run on a batch, as one Spec."""
    return run_of(_parts(_field(event, "event", at), f"{at}/event", relation))


READERS: Mapping[str, Callable[[Any, str, Relation], Parts]] = {
    "NoOpDpEvent": _no_op,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "RandomizedResponseDpEvent": _randomized_response,
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": partial(_fixed_size, sampling="without-replacement"),
    "SampledWithReplacementDpEvent": partial(_fixed_size, sampling="with-replacement"),
    "SelfComposedDpEvent": _self_composed,
    "ComposedDpEvent": _composed,
}

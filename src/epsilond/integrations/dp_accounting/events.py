"""Events of dp-accounting as specs, read by the names of their classes and attributes. Nothing is imported."""

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
from epsilond.integrations.numbers import build, count, number

if TYPE_CHECKING:
    from dp_accounting import DpEvent

Parts: TypeAlias = list[tuple[Spec, int]]
"""Mechanisms with their numbers of runs; empty if nothing is released."""


class NotPrivate(InvalidInput):
    """The event is not private: it has no noise, or is a NonPrivateDpEvent. No ε is finite."""


def spec_from_dp_event(event: DpEvent, *, relation: Relation = "add-or-remove-one") -> Spec:
    """Return the Spec that a `DpEvent` of dp-accounting describes.

    Both libraries divide the noise by the bound on the norm of one record's value, so a noise multiplier is the same
    number here. Only the relation gives the sensitivity. ADD_OR_REMOVE_ONE is `add-or-remove-one`, REPLACE_ONE is
    `replace-one`, and REPLACE_SPECIAL is `zero-out-one`.

    The Spec depends on the relation in one case. The sensitivity of a discrete Laplace event bounds one value, and here
    it bounds the difference between neighbours, which is twice that for `replace-one`.

    Randomised response and batches of fixed size have guarantees only for `replace-one` and `zero-out-one`; `account`
    rejects other relations. The ε here is larger than that of dp-accounting in two cases. For dp-accounting the
    randomised response of a zeroed record is uniform, and here it is arbitrary. A Poisson batch of discrete Laplace
    events for `zero-out-one`, and any batch of randomised responses, may show its members.

    Args:
        event: a GaussianDpEvent, LaplaceDpEvent, DiscreteLaplaceDpEvent, RandomizedResponseDpEvent or
            EpsilonDeltaDpEvent; PoissonSampledDpEvent, SampledWithoutReplacementDpEvent or
            SampledWithReplacementDpEvent of one of them; SelfComposedDpEvent, ComposedDpEvent and NoOpDpEvent;
            SingleEpochTreeAggregationDpEvent for `zero-out-one`, a TruncatedSubsampledGaussianDpEvent that truncates
            nothing, a MixtureOfGaussiansDpEvent of 0 and one other shift. Or the result of its `to_named_tuple()`.
        relation: neighbouring relation of the guarantee that the Spec is used for.

    Raises:
        InvalidInput: no Spec describes the event, it is not private, it releases nothing, or it has numbers that no
            run can have. The pointer leads to the event: `/events/1/event`.
    """
    run = run_of(parts_of(event, relation=relation))
    if run is None:
        raise InvalidInput.at("", "releases nothing: ε = 0 and δ = 0 hold without an account")
    return run


def parts_of(event: DpEvent, *, relation: Relation) -> Parts:
    """Return the mechanisms of a `DpEvent` with their numbers of runs; empty if it releases nothing.

    Args:
        event: the event.
        relation: neighbouring relation of the account.

    Raises:
        NotPrivate: a part of the event releases something without noise.
        InvalidInput: no spec describes the event, or it has numbers that are out of range.
    """
    return _parts(event, "", relation)


def name_of(event: DpEvent) -> str:
    """Return the name of an event's class, also for the result of `to_named_tuple()`."""
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
    """Return a parameter of the noise, which is 0 if there is no noise."""
    parameter = _number(event, name, at)
    if parameter == 0.0:
        raise NotPrivate.at(f"{at}/{name}", "is 0, so that nothing is private: no ε is finite", allowed="> 0")
    return parameter


def _gaussian(event: DpEvent, at: str, _: Relation) -> Parts:
    return [(build(Gaussian, at, {}, noise_multiplier=_noise(event, "noise_multiplier", at)), 1)]


def _laplace(event: DpEvent, at: str, _: Relation) -> Parts:
    names = {"scale_multiplier": "noise_multiplier"}
    return [(build(Laplace, at, names, scale_multiplier=_noise(event, "noise_multiplier", at)), 1)]


def _discrete_laplace(event: DpEvent, at: str, relation: Relation) -> Parts:
    """Read a discrete Laplace mechanism.

    The event states a bound on one value. The sensitivity is this bound, or twice the bound for replace-one.
    """
    bound = _count(event, "sensitivity", at)
    if bound == 0:
        return []
    decay_rate = _noise(event, "noise_parameter", at)
    sensitivity = 2 * bound if relation == "replace-one" else bound
    names = {"decay_rate": "noise_parameter"}
    return [(build(DiscreteLaplace, at, names, decay_rate=decay_rate, sensitivity=sensitivity), 1)]


def _randomized_response(event: DpEvent, at: str, _: Relation) -> Parts:
    """Read randomised response over k categories.

    A client reports its own category with probability 1 − p + p/k, and each of the others with p/k. The ratio of these
    two probabilities is e^ε = 1 + k (1 − p)/p.
    """
    p = _number(event, "noise_parameter", at)
    categories = _count(event, "num_buckets", at)
    if not 0.0 <= p <= 1.0:
        raise InvalidInput.at(f"{at}/noise_parameter", "is out of range", allowed="≥ 0 and ≤ 1")
    if p == 1.0 or categories == 1:
        return []
    if p == 0.0:
        raise NotPrivate.at(at, "is not private: no ε is finite")
    epsilon = math.log1p(categories * (1.0 - p) / p)
    names = {"epsilon": "noise_parameter", "categories": "num_buckets"}
    return [(build(RandomizedResponse, at, names, epsilon=epsilon, categories=categories), 1)]


def _epsilon_delta(event: DpEvent, at: str, _: Relation) -> Parts:
    epsilon = _number(event, "epsilon", at)
    delta = _number(event, "delta", at)
    if epsilon == delta == 0.0:
        return []
    if math.isinf(epsilon) or delta == 1.0:
        raise NotPrivate.at(at, "is not private: no ε is finite")
    return [(build(Approximate, at, {}, epsilon=epsilon, delta=delta), 1)]


def _tree(event: DpEvent, at: str, relation: Relation) -> Parts:
    """Read a tree aggregation, for zero-out-one only.

    Gaussian noise is added to each node of some binary trees over the steps. A record contributes to one node on each
    level of one tree. With s steps in the largest tree, this is a composition of ⌈log2(s + 1)⌉ Gaussian mechanisms.
    """
    if relation != "zero-out-one":
        raise InvalidInput.at(at, "is known for the relation zero-out-one alone (REPLACE_SPECIAL)")
    counts = _field(event, "step_counts", at)
    counts = list(counts) if hasattr(counts, "__iter__") else [counts]
    steps = max((count(leaves, f"{at}/step_counts") for leaves in counts), default=0)
    if steps == 0:
        return []
    gaussian = build(Gaussian, at, {}, noise_multiplier=_noise(event, "noise_multiplier", at))
    return [(gaussian, steps.bit_length())]  # ⌈log2(steps + 1)⌉


def _truncated_poisson(event: DpEvent, at: str, _: Relation) -> Parts:
    """Read a truncated Poisson batch, if the limit is at least the population and so truncates nothing."""
    population = _count(event, "dataset_size", at)
    largest = _count(event, "truncated_batch_size", at)
    rate = _number(event, "sampling_probability", at)
    if 0 in (population, largest, rate):
        return []
    if largest < population:
        message = "truncates Poisson batches, for which epsilond cannot account yet"
        raise InvalidInput.at(f"{at}/truncated_batch_size", message, allowed=f"≥ {population}")
    return _batches(rate, build(Gaussian, at, {}, noise_multiplier=_noise(event, "noise_multiplier", at)), at)


def _mixture(event: DpEvent, at: str, relation: Relation) -> Parts:
    """Read a mechanism that adds Gaussian noise of standard deviation σ, where one record shifts the mean at random.

    The shift is c with probability q and 0 otherwise. This is the Gaussian mechanism with noise multiplier σ/c on a
    Poisson batch of rate q. The quotient is rounded down, so that the noise is never overestimated.

    Args:
        event: a `MixtureOfGaussiansDpEvent`.
        at: JSON pointer of the event, for errors.
        relation: neighbouring relation.

    Returns:
        The mechanism; no part if the shift is always 0.

    Raises:
        InvalidInput: the relation is replace-one, the weights are no probabilities, or the shifts that occur are not 0
            and one positive number.
    """
    if relation == "replace-one":
        raise InvalidInput.at(at, "says nothing of the relation replace-one")
    shifts = [number(shift, f"{at}/sensitivities") for shift in _field(event, "sensitivities", at)]
    weights = [number(weight, f"{at}/sampling_probs") for weight in _field(event, "sampling_probs", at)]
    moved = [(shift, weight) for shift, weight in zip(shifts, weights, strict=False) if shift and weight]
    if len(shifts) != len(weights) or not math.isclose(math.fsum(weights), 1.0, rel_tol=0.0, abs_tol=1e-9):
        raise InvalidInput.at(f"{at}/sampling_probs", "are no probabilities, one for each shift")
    if not moved:
        return []
    if len(moved) > 1 or moved[0][0] < 0.0:
        raise InvalidInput.at(f"{at}/sensitivities", "are a mixture that no spec says", allowed="0 and one above 0")
    shift, rate = moved[0]
    names = {"noise_multiplier": "standard_deviation"}
    noise = math.nextafter(_noise(event, "standard_deviation", at) / shift, 0.0)
    return _batches(min(rate, 1.0), build(Gaussian, at, names, noise_multiplier=noise), at)


def _poisson(event: DpEvent, at: str, relation: Relation) -> Parts:
    rate = _number(event, "sampling_probability", at)
    inner = None if rate == 0.0 else _inner(event, at, relation)
    return [] if inner is None else _batches(rate, inner, at)


def _batches(rate: float, inner: Spec, at: str) -> Parts:
    names = {"rate": "sampling_probability"}
    batch = build(Subsampled, at, names, sampling="poisson", rate=rate, mechanism=inner)
    return [(inner if rate == 1.0 else batch, 1)]


def _fixed_size(event: DpEvent, at: str, relation: Relation, sampling: Sampling) -> Parts:
    """Read a mechanism on a batch of fixed size, drawn with or without replacement; an empty batch releases nothing."""
    sizes = {
        "batch_size": _count(event, "sample_size", at),
        "population": _count(event, "source_dataset_size", at),
    }
    inner = None if sizes["batch_size"] == 0 else _inner(event, at, relation)
    if inner is None:
        return []
    names = {"batch_size": "sample_size", "population": "source_dataset_size"}
    return [(build(Subsampled, at, names, sampling=sampling, mechanism=inner, **sizes), 1)]


def _self_composition(event: DpEvent, at: str, relation: Relation) -> Parts:
    times = _count(event, "count", at)
    if times == 0:
        return []
    parts = _parts(_field(event, "event", at), f"{at}/event", relation)
    return [(part, times * runs) for part, runs in parts]


def _composition(event: DpEvent, at: str, relation: Relation) -> Parts:
    parts: Parts = []
    for place, inner in enumerate(_field(event, "events", at)):
        parts += _parts(inner, f"{at}/events/{place}", relation)
    return parts


def _inner(event: DpEvent, at: str, relation: Relation) -> Spec | None:
    """Return the mechanism that is run on a batch, as one Spec; None if it releases nothing."""
    inner, at = _field(event, "event", at), f"{at}/event"
    if _has_tree(inner):
        raise InvalidInput.at(at, "has trees whose leaves a batch moves, for which epsilond cannot account yet")
    return run_of(_parts(inner, at, relation))


def _has_tree(event: DpEvent) -> bool:
    inside = [getattr(event, "event", None), *getattr(event, "events", ())]
    return name_of(event) == TREE or any(_has_tree(inner) for inner in inside if inner is not None)


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
    "TruncatedSubsampledGaussianDpEvent": _truncated_poisson,
    "MixtureOfGaussiansDpEvent": _mixture,
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": partial(_fixed_size, sampling="without-replacement"),
    "SampledWithReplacementDpEvent": partial(_fixed_size, sampling="with-replacement"),
    "SelfComposedDpEvent": _self_composition,
    "ComposedDpEvent": _composition,
}

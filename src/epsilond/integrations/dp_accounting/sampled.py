"""Events of dp-accounting on random batches, and with random contributions, as specs."""

from __future__ import annotations

import math

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Sampling
from epsilond.accountants.specs import Gaussian, Spec, Subsampled
from epsilond.integrations.dp_accounting.placed import Parts, PlacedEvent, name_of
from epsilond.integrations.numbers import number

WEIGHT_TOLERANCE = 1e-9
"""Absolute tolerance of the sum of the probabilities of a mixture."""
TREE = "SingleEpochTreeAggregationDpEvent"
"""Name of the class of tree aggregations, which have no account on a batch."""


def read_poisson(placed: PlacedEvent) -> Parts:
    """Convert a mechanism on a Poisson-sampled batch to a spec.

    Args:
        placed: the event, with the number `sampling_probability` and the inner event of the batch.

    Returns:
        The mechanisms, each with its number of runs. Empty if the sampling rate is 0, because nothing is released then.

    Raises:
        InvalidInput: the rate is out of range, or no spec describes the inner mechanism on a batch.
    """
    rate = placed.number("sampling_probability", least=0.0, most=1.0)
    if rate == 0.0:
        return []
    inner = _mechanism_on_batch(placed)
    return [] if inner is None else _poisson_batches(placed, rate, inner)


def read_fixed_size(placed: PlacedEvent, sampling: Sampling) -> Parts:
    """Convert an event of dp-accounting, a mechanism on a random batch of fixed size, to a spec.

    Args:
        placed: the event, with the sizes of the batch and of the data set.
        sampling: whether the batch is drawn with or without replacement.

    Returns:
        The spec and the number 1 of its runs; empty if the batch is empty, so that nothing is released.

    Raises:
        InvalidInput: a size is out of range, or no spec describes the inner mechanism on a batch.
    """
    batch_size, population = placed.count("sample_size"), placed.count("source_dataset_size")
    inner = None if batch_size == 0 else _mechanism_on_batch(placed)
    if inner is None:
        return []
    names = {"batch_size": "sample_size", "population": "source_dataset_size"}
    batch: Spec = placed.build(
        Subsampled, names, sampling=sampling, mechanism=inner, batch_size=batch_size, population=population
    )
    return [(batch, 1)]


def read_truncated_poisson(placed: PlacedEvent) -> Parts:
    """Convert a truncated Poisson event of dp-accounting to a spec, that is, a description of its mechanism.

    Such an event is Gaussian noise on a Poisson batch of limited size. A limit of the population or more truncates
    nothing.

    Args:
        placed: the event, with its place in the composed event that contains it.

    Returns:
        The spec and the number 1 of its runs; empty if no record is ever in the batch.
    """
    population = placed.count("dataset_size")
    largest = placed.count("truncated_batch_size")
    rate = placed.number("sampling_probability", least=0.0, most=1.0)
    is_empty = population == 0 or largest == 0 or rate == 0.0
    if is_empty:
        return []
    gaussian = placed.build(Gaussian, {}, noise_multiplier=placed.noise("noise_multiplier"))
    if largest >= population:
        return _poisson_batches(placed, rate, gaussian)

    # Errors in a field of the spec point to the field of the event that it comes from.
    names = {"rate": "sampling_probability", "largest_batch": "truncated_batch_size", "population": "dataset_size"}
    fields = {"rate": rate, "largest_batch": largest, "population": population}
    return [(placed.build_kind("subsampled", names, sampling="poisson", mechanism=gaussian, **fields), 1)]


def read_mixture(placed: PlacedEvent) -> Parts:
    """Convert a mixture-of-Gaussians event to a spec (description): Gaussian noise, where a record shifts the mean.

    Let the noise have standard deviation σ, and let the shift be c with probability q and 0 otherwise. This is the
    Gaussian mechanism with noise multiplier σ/c on a Poisson batch of rate q. The quotient is rounded down, so that the
    noise is never overestimated.

    Args:
        placed: the event, with its place in the composed event that contains it.

    Returns:
        The spec and the number 1 of its runs; empty if no shift above 0 has a positive probability.

    Raises:
        NotCovered: the relation is replace-one, of which the event states nothing.
        InvalidInput: the weights are not probabilities, or a shift is negative.
    """
    if placed.relation == "replace-one":
        message = "neighboring_relation must be `ADD_OR_REMOVE_ONE` or `REPLACE_SPECIAL`: the event has one direction"
        raise placed.not_covered(message)
    shifts, weights = _read_shifts(placed)
    nonzero = [(shift, weight) for shift, weight in zip(shifts, weights, strict=True) if shift > 0.0 and weight > 0.0]
    if not nonzero:
        return []

    # Several shifts are a mixture of their own. One shift is a Poisson batch.
    deviation = placed.noise("standard_deviation")
    names = {"noise_multiplier": "standard_deviation", "probabilities": "sampling_probs"}
    if len(nonzero) > 1:
        fields = {"noise_multiplier": deviation, "sensitivities": shifts, "probabilities": weights}
        return [(placed.build_kind("gaussian_mixture", names, **fields), 1)]
    shift, rate = nonzero[0]
    gaussian = placed.build(Gaussian, names, noise_multiplier=math.nextafter(deviation / shift, 0.0))
    return _poisson_batches(placed, min(rate, 1.0), gaussian)


def _read_shifts(placed: PlacedEvent) -> tuple[list[float], list[float]]:
    """Read the shifts of the mean by one record, and their probabilities, from a mixture-of-Gaussians event.

    Args:
        placed: the event, with its place in the composed event that contains it.

    Returns:
        The shifts, each at least 0, and their probabilities, in the same order.

    Raises:
        InvalidInput: the weights are not probabilities, or a shift is negative.
    """
    shifts = [number(shift, f"{placed.at}/sensitivities") for shift in placed.field("sensitivities")]
    weights = [number(weight, f"{placed.at}/sampling_probs") for weight in placed.field("sampling_probs")]
    # Probabilities that were computed in floating point may sum to slightly more or less than 1.
    sum_to_one = math.isclose(math.fsum(weights), 1.0, rel_tol=0.0, abs_tol=WEIGHT_TOLERANCE)
    if len(shifts) != len(weights) or not sum_to_one or min(weights) < 0.0:
        message = "Sampling probs must be probabilities with the sum 1, one for each shift"
        raise InvalidInput.at(f"{placed.at}/sampling_probs", message)
    negative = next((shift for shift in shifts if not shift >= 0.0), None)
    if negative is not None:
        raise placed.out_of_range("sensitivities", negative, least=0.0)
    return shifts, weights


def _poisson_batches(placed: PlacedEvent, rate: float, inner: Spec) -> Parts:
    """Return the spec (description) of a mechanism on a Poisson batch, with the number 1 of its runs.

    The batch is built for a rate of 1 too, because this checks the mechanism.

    Args:
        placed: the event, for errors.
        rate: probability of each record to be in the batch.
        inner: the mechanism.

    Returns:
        A list with one pair: the spec, and 1. At a rate of 1 it is the spec of the mechanism itself.
    """
    names = {"rate": "sampling_probability"}
    batch: Spec = placed.build(Subsampled, names, sampling="poisson", rate=rate, mechanism=inner)
    return [(inner if rate == 1.0 else batch, 1)]


def _mechanism_on_batch(placed: PlacedEvent) -> Spec | None:
    """Return the mechanism that is run on a batch, as one spec (description); None if it releases nothing.

    A tree aggregation releases partial sums of the records in their order.

    Args:
        placed: the sampled event; its inner event is run on each batch.

    Returns:
        The mechanism. None if the inner event releases nothing.

    Raises:
        NotCovered: it sums by trees. Sampling shifts the leaves, so that a record may be in several trees.
    """
    inner = placed.inner()
    if _has_tree(inner):
        raise inner.not_covered("has trees whose leaves a batch moves, for which no theorem gives an account")
    return placed.inner_mechanism()


def _has_tree(placed: PlacedEvent) -> bool:
    """Return whether an event is a tree aggregation, or contains one at any depth.

    Args:
        placed: the event.

    Returns:
        True if so. Sampling would shift the leaves of the tree, for which no theorem gives an account.
    """
    event = placed.event
    if name_of(event) == TREE:
        return True
    inner_events = [getattr(event, "event", None), *getattr(event, "events", ())]
    return any(_has_tree(placed.inside(inner, "")) for inner in inner_events if inner is not None)

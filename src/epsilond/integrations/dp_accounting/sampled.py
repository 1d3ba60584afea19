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
    """Convert an event on a Poisson-sampled batch to a spec, the library's description of a mechanism.

    Args:
        placed: the event, with the number `sampling_probability` and the inner event of the batch.

    Returns:
        The spec, run once. Empty if the sampling rate is 0 or the inner event releases nothing.

    Raises:
        InvalidInput: the rate is out of range, or no spec describes the inner mechanism on a batch.
    """
    rate = placed.number("sampling_probability", least=0.0, most=1.0)
    if rate == 0.0:
        return []
    inner = _mechanism_on_batch(placed)
    return [] if inner is None else _poisson_batches(placed, rate, inner)


def read_fixed_size(placed: PlacedEvent, sampling: Sampling) -> Parts:
    """Convert an event on a random batch of fixed size to a spec, the library's description of a mechanism.

    Args:
        placed: the event, with the sizes of the batch and of the data set.
        sampling: whether the batch is drawn with or without replacement.

    Returns:
        The spec, run once. Empty if the batch is empty or the inner event releases nothing.

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
    """Convert Gaussian noise on a Poisson batch of limited size to a spec, the library's description of a mechanism.

    A batch that is drawn larger than the limit is cut to a random subset. A limit that is not below the population has
    no effect.

    Args:
        placed: the event, with the population, the limit, the sampling rate and the noise multiplier.

    Returns:
        The spec, run once. Empty if no record is ever in the batch.

    Raises:
        NotPrivate: the noise multiplier is 0.
        InvalidInput: a number is out of range.
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

    names = {"rate": "sampling_probability", "largest_batch": "truncated_batch_size", "population": "dataset_size"}
    fields = {"rate": rate, "largest_batch": largest, "population": population}
    return [(placed.build_kind("subsampled", names, sampling="poisson", mechanism=gaussian, **fields), 1)]


def read_mixture(placed: PlacedEvent) -> Parts:
    """Convert Gaussian noise with a random shift of its mean by a record to a spec, a description of a mechanism.

    If the shift is c with probability q and 0 otherwise, this is the Gaussian mechanism with noise multiplier σ/c on a
    Poisson batch of rate q, for the standard deviation σ. Several positive shifts are a spec of their own.

    Args:
        placed: the event, with the shifts, their probabilities and the standard deviation.

    Returns:
        The spec, run once. Empty if no shift above 0 has a positive probability.

    Raises:
        NotCovered: the relation is replace-one, of which the event states nothing.
        NotPrivate: the standard deviation is 0.
        InvalidInput: the weights are not probabilities, or a shift is negative.
    """
    if placed.relation == "replace-one":
        message = "neighboring_relation must be `ADD_OR_REMOVE_ONE` or `REPLACE_SPECIAL`: the event has one direction"
        raise placed.not_covered(message)
    shifts, weights = _read_shifts(placed)
    nonzero = [(shift, weight) for shift, weight in zip(shifts, weights, strict=True) if shift > 0.0 and weight > 0.0]
    if not nonzero:
        return []

    deviation = placed.noise("standard_deviation")
    names = {"noise_multiplier": "standard_deviation", "probabilities": "sampling_probs"}
    if len(nonzero) > 1:
        fields = {"noise_multiplier": deviation, "sensitivities": shifts, "probabilities": weights}
        return [(placed.build_kind("gaussian_mixture", names, **fields), 1)]
    shift, rate = nonzero[0]
    noise_multiplier = math.nextafter(deviation / shift, 0.0)  # rounded down, so that noise is never overestimated
    gaussian = placed.build(Gaussian, names, noise_multiplier=noise_multiplier)
    return _poisson_batches(placed, min(rate, 1.0), gaussian)


def _read_shifts(placed: PlacedEvent) -> tuple[list[float], list[float]]:
    """Read the shifts of the mean by one record, and their probabilities, from a mixture-of-Gaussians event.

    Args:
        placed: the event, with the lists `sensitivities` and `sampling_probs`.

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
    """Build the spec of a mechanism on a Poisson batch.

    Args:
        placed: the event, to which errors point.
        rate: probability of each record to be in the batch, in (0, 1].
        inner: spec of the mechanism that is run on the batch.

    Returns:
        The spec, run once. For the rate 1 it is `inner` itself.
    """
    names = {"rate": "sampling_probability"}
    # The spec is also built for the rate 1, because this checks whether the mechanism can be run on a batch.
    batch: Spec = placed.build(Subsampled, names, sampling="poisson", rate=rate, mechanism=inner)
    return [(inner if rate == 1.0 else batch, 1)]


def _mechanism_on_batch(placed: PlacedEvent) -> Spec | None:
    """Return the spec of the mechanism that is run on a batch; None if it releases nothing.

    Args:
        placed: the sampled event; its inner event is run on each batch.

    Raises:
        NotCovered: the inner event is a tree aggregation. A random batch moves its leaves, so that a record may be in
            several trees.
    """
    inner = placed.inner()
    if _has_tree(inner):
        raise inner.not_covered("has trees whose leaves a batch moves, for which no theorem gives an account")
    return placed.inner_mechanism()


def _has_tree(placed: PlacedEvent) -> bool:
    """Return whether an event is a tree aggregation, or contains one at any depth."""
    event = placed.event
    if name_of(event) == TREE:
        return True
    inner_events = [getattr(event, "event", None), *getattr(event, "events", ())]
    return any(_has_tree(placed.inside(inner, "")) for inner in inner_events if inner is not None)

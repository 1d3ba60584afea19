"""Events of dp-accounting as specs, read by the names of their classes and attributes. Nothing is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Spec
from epsilond.integrations.counted import run_of
from epsilond.integrations.dp_accounting import guaranteed, noise, sampled
from epsilond.integrations.dp_accounting.placed import NotPrivate, Parts, PlacedEvent

if TYPE_CHECKING:
    from dp_accounting import DpEvent


def spec_from_dp_event(event: DpEvent, *, relation: Relation = "add-or-remove-one") -> Spec:
    """Convert a `DpEvent` of dp-accounting to a Spec, our description of mechanisms for privacy accounting.

    Both libraries divide the noise by the bound on the norm of one record's value, so a noise multiplier is the same
    number here. The sensitivity follows from the relation. ADD_OR_REMOVE_ONE of dp-accounting is `add-or-remove-one`,
    REPLACE_ONE is `replace-one`, and REPLACE_SPECIAL is `zero-out-one`.

    Only a discrete Laplace event has a Spec that depends on the relation. Its `sensitivity` bounds the value of one
    record. In the Spec, the sensitivity bounds the difference between neighbours: twice that value for `replace-one`.

    Randomised response and batches of fixed size have guarantees only for `replace-one` and `zero-out-one`; `account`
    rejects other relations. The ε here is larger than the ε of dp-accounting in two cases:

    - For dp-accounting the randomised response of a zeroed record is uniform, and here it is arbitrary.
    - Here the adversary may learn which records are in a batch of randomised responses. For `zero-out-one`, this is
      also assumed for Poisson batches of discrete Laplace events.

    Args:
        event: an event of dp-accounting, or the result of its `to_named_tuple()`. `READERS` lists the classes. A
            SingleEpochTreeAggregationDpEvent is read for `zero-out-one` only, and a MixtureOfGaussiansDpEvent for every
            relation except `replace-one`.
        relation: neighbouring relation of the guarantee that the Spec is used for.

    Returns:
        The Spec of all mechanisms of the event.

    Raises:
        NotCovered: no Spec describes the event.
        NotPrivate: the event releases something without noise.
        InvalidInput: the event releases nothing, or a number is out of range. The message states the allowed range. The
            pointer leads to the event: `/events/1/event`.
    """
    run = run_of(parts_of(event, relation=relation))
    if run is None:
        raise InvalidInput.at("", "releases nothing: ε = 0 and δ = 0 hold without an account")
    return run


def parts_of(event: DpEvent, *, relation: Relation) -> Parts:
    """Convert a `DpEvent` of dp-accounting to the mechanisms that it consists of, with their numbers of runs.

    Args:
        event: an event of dp-accounting, or the result of its `to_named_tuple()`.
        relation: neighbouring relation of the account.

    Returns:
        Pairs of a mechanism and its number of runs; none if the event releases nothing.

    Raises:
        NotPrivate: a part of the event releases something without noise.
        NotCovered: a part of the event is not a mechanism with a theorem.
        InvalidInput: the event has numbers that are out of range.
    """
    return read_placed(PlacedEvent(event=event, at="", relation=relation, read=read_placed))


def read_placed(placed: PlacedEvent) -> Parts:
    """Convert an event of dp-accounting to the mechanisms that it consists of, by the reader for its class.

    Each reader is a function for one class of events. Readers of composed events call this function for their parts.

    Args:
        placed: the event, with its place in the whole event for error messages.

    Returns:
        The mechanisms, each with its number of runs.

    Raises:
        NotCovered: there is no reader for the class, or it finds no theorem for the event.
        NotPrivate: the event releases something without noise.
        InvalidInput: the event has numbers that are out of range.
    """
    if placed.name not in READERS:
        message = f"is a {placed.name}, which describes no mechanism that epsilond has a theorem for"
        raise placed.not_covered(message, allowed=", ".join(READERS))
    return READERS[placed.name](placed)


def _read_no_op(_: PlacedEvent) -> Parts:
    """Return no mechanisms for a `NoOpDpEvent`, because it releases nothing."""
    return []


def _reject_non_private(placed: PlacedEvent) -> Parts:
    """Reject a `NonPrivateDpEvent`, which releases something without noise.

    The function always raises. It has the signature of all readers of events.

    Args:
        placed: the event, with its place in the composed event that contains it.

    Raises:
        NotPrivate: always.
    """
    raise NotPrivate.at(placed.at, "is not private: no ε is finite")


def _read_self_composition(placed: PlacedEvent) -> Parts:
    """Convert a `SelfComposedDpEvent`, several runs of one event, to mechanisms with their numbers of runs.

    Args:
        placed: the event, with the inner event in `event` and the number of runs in `count`.

    Returns:
        The mechanisms of the inner event, with their numbers of runs multiplied. Empty if the event is run 0 times.
    """
    times = placed.count("count")
    if times == 0:
        return []
    return [(part, times * runs) for part, runs in read_placed(placed.inner())]


def _read_composition(placed: PlacedEvent) -> Parts:
    """Convert a `ComposedDpEvent`, events that are run one after the other, to mechanisms with their numbers of runs.

    Args:
        placed: the event, with the list of inner events in `events`.

    Returns:
        The mechanisms of all inner events, in their order.
    """
    parts: Parts = []
    for index, inner in enumerate(placed.field("events")):
        parts += read_placed(placed.inside(inner, f"events/{index}"))
    return parts


READERS: Mapping[str, Callable[[PlacedEvent], Parts]] = {
    "NoOpDpEvent": _read_no_op,
    "NonPrivateDpEvent": _reject_non_private,
    "GaussianDpEvent": noise.read_gaussian,
    "LaplaceDpEvent": noise.read_laplace,
    "DiscreteLaplaceDpEvent": noise.read_discrete_laplace,
    "DiscreteGaussianDpEvent": noise.read_discrete_gaussian,
    "RandomizedResponseDpEvent": noise.read_randomized_response,
    "SingleEpochTreeAggregationDpEvent": noise.read_tree,
    "EpsilonDeltaDpEvent": guaranteed.read_epsilon_delta,
    "ZCDpEvent": guaranteed.read_zcdp,
    "ExponentialMechanismDpEvent": guaranteed.read_exponential,
    "PermuteAndFlipDpEvent": guaranteed.read_permute_and_flip,
    "RepeatAndSelectDpEvent": guaranteed.read_selection,
    "MixtureOfGaussiansDpEvent": sampled.read_mixture,
    "TruncatedSubsampledGaussianDpEvent": sampled.read_truncated_poisson,
    "PoissonSampledDpEvent": sampled.read_poisson,
    "SampledWithoutReplacementDpEvent": partial(sampled.read_fixed_size, sampling="without-replacement"),
    "SampledWithReplacementDpEvent": partial(sampled.read_fixed_size, sampling="with-replacement"),
    "SelfComposedDpEvent": _read_self_composition,
    "ComposedDpEvent": _read_composition,
}
"""The reader of each class of event, by its name."""

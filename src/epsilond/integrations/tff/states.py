"""Rounds of TensorFlow Federated as specs, read from the state of an aggregator."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Spec, Subsampled
from epsilond.integrations.counted import run_of
from epsilond.integrations.dp_accounting.events import parts_of

if TYPE_CHECKING:
    from tensorflow_federated.learning.templates import LearningAlgorithmState
    from tensorflow_federated.python.aggregators.differential_privacy import DPAggregatorState

_MAX_DEPTH = 8
"""Number of nested states to search for the state of an aggregator; the limit ends the search in a cyclic state."""
_INNER_STATES = ("aggregator", "record_aggregation_state", "inner_agg_process", "inner_state")
"""Attributes of states that contain the state of an inner process."""


class Sampling(TypedDict, total=False):
    """Sampling of the clients of a round: a rate, or two sizes, as arguments of `spec_from_tff_state`.

    Attributes:
        rate: probability in (0, 1] that a client is in the round, independently of the others.
        batch_size: number of clients in a round, drawn without replacement.
        population: number of clients that they are drawn from, at least `batch_size`.
    """

    rate: float | None
    batch_size: int | None
    population: int | None


def spec_from_tff_state(
    state: LearningAlgorithmState | DPAggregatorState,
    *,
    relation: Relation = "add-or-remove-one",
    rate: float | None = None,
    batch_size: int | None = None,
    population: int | None = None,
    planned: bool = False,
) -> Spec:
    """Return the Spec (mechanism, for privacy accounting) of the round of training that returned a state.

    The protected unit is a client. The noise multiplier is the standard deviation of the noise, divided by the bound on
    the norm of one client's update. All clients must have equal weight: in a mean weighted by numbers of examples, the
    sensitivity of a client differs from that in the event. The state does not contain how the clients were sampled, so
    the caller states it. By default, no amplification by subsampling is used.

    Args:
        state: a `DPAggregatorState`, or a state that has one as `aggregator`.
        relation: neighbouring relation of the account.
        rate: probability in (0, 1] that a client is in the round, independently of the others.
        batch_size: number of clients in the round, drawn without replacement.
        population: number of clients that they are drawn from.
        planned: whether to accept a state of `initialize`, with an event that describes the planned rounds.

    Returns:
        The Spec of one round, with the sampling that the caller stated.

    Raises:
        InvalidInput: the state has no event, the round released nothing, or no spec describes the event. Without
            `planned`, the state of `initialize` is rejected, because its event is a placeholder.
    """
    aggregator = find_aggregator(state)
    if is_initial(state) and not planned:
        raise InvalidInput.at("/is_init_state", "is true: the event of a state of initialize() is a placeholder")
    mechanism = run_of(parts_of(aggregator.dp_event, relation=relation))
    if mechanism is None:
        raise InvalidInput.at("/dp_event", "releases nothing: ε = 0 and δ = 0 hold without an account")
    # `Subsampled` rejects a rate together with a size, and one size without the other.
    has_fixed_size = batch_size is not None or population is not None
    if has_fixed_size:
        return Subsampled(
            sampling="without-replacement", mechanism=mechanism, rate=rate, batch_size=batch_size, population=population
        )
    if rate is None or rate == 1.0:
        return mechanism
    return Subsampled(sampling="poisson", rate=rate, mechanism=mechanism)


def is_initial(state: LearningAlgorithmState | DPAggregatorState) -> bool:
    """Return whether a state comes from `initialize`, before the first round.

    Args:
        state: state of the learning process, or of its aggregator.

    Returns:
        True for a state of `initialize`; False for a state that a round returned.

    Raises:
        InvalidInput: the state contains no state of a private aggregator.
    """
    return bool(find_aggregator(state).is_init_state)


def find_aggregator(state: LearningAlgorithmState | DPAggregatorState) -> DPAggregatorState:
    """Return the state of the private aggregator inside a state of a learning process.

    Args:
        state: state of a learning process, or of one of its inner processes.

    Returns:
        The state that has the attributes `dp_event`, the privacy event, and `is_init_state`.

    Raises:
        InvalidInput: there is no such state among the first eight levels.
    """
    # States are nested: the state of a process has that of its inner process as an attribute.
    for _depth in range(_MAX_DEPTH):
        if hasattr(state, "dp_event") and hasattr(state, "is_init_state"):
            return state
        inner_states = [getattr(state, name) for name in _INNER_STATES if hasattr(state, name)]
        if not inner_states:
            break
        state = inner_states[0]
    raise InvalidInput.at("/dp_event", "is required: this is no state of a DifferentiallyPrivateFactory")

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

_DEEPEST = 8
"""Largest depth at which the state of an aggregator is searched inside the state of a process."""
_AROUND = ("aggregator", "record_aggregation_state", "inner_agg_process", "inner_state")
"""Attributes of states that contain the state of an inner process."""


class Sampling(TypedDict, total=False):
    """Sampling of the clients of a round, as arguments of `spec_from_tff_state`.

    Attributes:
        rate: probability that a client is in the round, independently of the others.
        batch_size: number of clients that are drawn without replacement.
        population: number of clients that they are drawn from.
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
    """Return the Spec (description for privacy accounting) of the round of training that returned a state.

    The protected unit is a client. The noise multiplier is the standard deviation of the noise over the bound on the
    norm of one client's update. This is for clients of equal weight: in a mean weighted by numbers of examples, one
    client has another sensitivity than the event states. The aggregator does not know how the clients of a round were
    chosen, so the caller states it; without a statement no amplification is claimed.

    Args:
        state: a `DPAggregatorState`, or a state that has one as `aggregator`.
        relation: neighbouring relation of the account.
        rate: sampling rate q: probability that a client is in the round, independently of the others.
        batch_size: number of clients that are drawn without replacement.
        population: number of clients that they are drawn from.
        planned: whether the state may come from `initialize`, with the event of the planned rounds.

    Returns:
        The Spec of one round, with the sampling that the caller stated.

    Raises:
        InvalidInput: the state has no event, the round released nothing, or no spec describes the event. Without
            `planned`, the state of `initialize` is rejected, because its event is a placeholder.
    """
    aggregator = find_aggregator(state)
    if is_initial(state) and not planned:
        raise InvalidInput.at("/is_init_state", "is true: the event of a state of initialize() is a placeholder")
    run = run_of(parts_of(aggregator.dp_event, relation=relation))
    if run is None:
        raise InvalidInput.at("/dp_event", "releases nothing: ε = 0 and δ = 0 hold without an account")
    # The class rejects a rate together with a size, or only one of the two sizes.
    has_fixed_size = batch_size is not None or population is not None
    if has_fixed_size:
        return Subsampled(
            sampling="without-replacement", mechanism=run, rate=rate, batch_size=batch_size, population=population
        )
    takes_all = rate is None or rate == 1.0
    if takes_all:
        return run
    return Subsampled(sampling="poisson", rate=rate, mechanism=run)


def is_initial(state: LearningAlgorithmState | DPAggregatorState) -> bool:
    """Return whether a state comes from `initialize`, before the first round.

    Args:
        state: state of the learning process, or of its aggregator.

    Returns:
        True if no round has returned this state.

    Raises:
        InvalidInput: the state has no privacy event.
    """
    return bool(find_aggregator(state).is_init_state)


def find_aggregator(state: LearningAlgorithmState | DPAggregatorState) -> DPAggregatorState:
    """Return the state of the private aggregator inside a state of a learning process.

    The aggregator's state has the privacy event.

    Args:
        state: a state of a learning process, or the state of its aggregator.

    Returns:
        The state of the aggregator.

    Raises:
        InvalidInput: the state contains no such state.
    """
    # States are nested: each level has the next one as an attribute.
    for _level in range(_DEEPEST):
        if hasattr(state, "dp_event") and hasattr(state, "is_init_state"):
            return state
        inner_states = [getattr(state, name) for name in _AROUND if hasattr(state, name)]
        if not inner_states:
            break
        state = inner_states[0]
    raise InvalidInput.at("/dp_event", "is required: this is no state of a DifferentiallyPrivateFactory")

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
"""Largest number of states around that of an aggregator, as `state.aggregator` of a learning process."""
_AROUND = ("aggregator", "record_aggregation_state", "inner_agg_process", "inner_state")


class Sampling(TypedDict, total=False):
    """How the clients of a round were chosen, as arguments of `spec_from_tff_state`."""

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
    """Return the Spec of the round that made a state.

    The protected unit is a client. The noise multiplier is over the bound on a client's norm. A mean of examples, where
    clients have weights, has another sensitivity than the event has. The aggregator does not know how the clients of a
    round were chosen, so the caller states it; without a statement no amplification is claimed.

    Args:
        state: a `DPAggregatorState`, or a state that has one as `aggregator`.
        relation: neighbouring relation of the account.
        rate: probability of each client, independently of the others.
        batch_size: number of clients that are drawn without replacement.
        population: number of clients that they are drawn from.
        planned: whether the state may be that of `initialize`, with the event of the planned rounds.

    Raises:
        InvalidInput: there is no event in it, it is the state of `initialize`, whose event is a placeholder, the round
            released nothing, or no spec describes the event.
    """
    aggregator = find_aggregator(state)
    if is_initial(state) and not planned:
        raise InvalidInput.at("/is_init_state", "is true: the event of a state of initialize() is a placeholder")
    run = run_of(parts_of(aggregator.dp_event, relation=relation))
    if run is None:
        raise InvalidInput.at("/dp_event", "releases nothing: ε = 0 and δ = 0 hold without an account")
    if rate is not None and batch_size is None and population is None:
        return run if rate == 1.0 else Subsampled(sampling="poisson", rate=rate, mechanism=run)
    if batch_size is None and population is None:
        return run
    return Subsampled(
        sampling="without-replacement", mechanism=run, rate=rate, batch_size=batch_size, population=population
    )


def is_initial(state: LearningAlgorithmState | DPAggregatorState) -> bool:
    """Return whether a state is that of `initialize`, before the first round.

    Raises:
        InvalidInput: there is no event in it.
    """
    return bool(find_aggregator(state).is_init_state)


def find_aggregator(state: LearningAlgorithmState | DPAggregatorState) -> DPAggregatorState:
    """Return the state of the private aggregator, which has the privacy event, from inside a state of a process.

    Raises:
        InvalidInput: the state contains no such state.
    """
    for _ in range(_DEEPEST):
        if hasattr(state, "dp_event") and hasattr(state, "is_init_state"):
            return state
        inside = [getattr(state, name) for name in _AROUND if hasattr(state, name)]
        if not inside:
            break
        state = inside[0]
    raise InvalidInput.at("/dp_event", "is required: this is no state of a DifferentiallyPrivateFactory")

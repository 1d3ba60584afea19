"""TensorFlow Federated: what an aggregator's rounds were, from the events in its state, and rounds that are paid for.

    spec_from_tff_state(state, …)          what a round was, as a spec; TensorFlow need not be installed
    paid_round(budget, spec, run_round, …) commit a round in a ledger, run it, and compare its event

Events are those of dp-accounting, as `DifferentiallyPrivateFactory` keeps them. Its tree aggregations leave an
UnsupportedDpEvent, which is refused by that name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Spec, Subsampled
from epsilond.integrations.counted import run_of
from epsilond.integrations.dp_accounting.events import parts_of

if TYPE_CHECKING:
    from epsilond.integrations.budget import LedgerBudget

_DEEPEST = 8
"""How many states an aggregator's stands in, as in a learning process: `state.aggregator`."""
_AROUND = ("aggregator", "record_aggregation_state", "inner_agg_process", "inner_state")


def spec_from_tff_state(
    state: Any,
    *,
    relation: Relation = "add-or-remove-one",
    rate: float | None = None,
    batch_size: int | None = None,
    population: int | None = None,
    planned: bool = False,
) -> Spec:
    """What the round was that made this state: a `DPAggregatorState`, or one that has it as `aggregator`.

    The aggregator sees the clients of a round and does not know how they were chosen. Say so: each independently with
    probability `rate`, or `batch_size` of `population` without replacement; absent, no amplification is claimed. What
    is protected is a client. The noise multiplier is over the bound on a client's norm; a mean of examples, where
    clients have weights, has another sensitivity than the event says. With `planned` the state may be that of
    `initialize`: its event is no round's, and says what the rounds are going to be.

    Raises:
        InvalidInput: there is no event in it, it is the state of `initialize`, whose event is a placeholder, the round
            released nothing, or the event is one that no spec says.
    """
    found = _aggregator(state)
    if bool(_plain(found.is_init_state)) and not planned:
        raise InvalidInput.at("/is_init_state", "is true: the event of a state of initialize() is a placeholder")
    run = run_of(parts_of(found.dp_event, relation=relation))
    if run is None:
        raise InvalidInput.at("/dp_event", "releases nothing: ε = 0 and δ = 0 hold without an account")
    if rate is not None and batch_size is None and population is None:
        return run if rate == 1.0 else Subsampled(sampling="poisson", rate=rate, mechanism=run)
    if batch_size is None and population is None:
        return run
    fields: dict[str, Any] = {"rate": rate, "batch_size": batch_size, "population": population}
    return Subsampled(sampling="without-replacement", mechanism=run, **fields)


def paid_round(budget: LedgerBudget, spec: Spec, run_round: Callable[[], Any], **sampling: Any) -> Any:
    """Commit a round, and only then run it: `run_round` calls `process.next`, and what it returns is returned.

    Its `state` is then compared with `spec`, what was paid for. Open the ledger with the `spec` of the state of
    `initialize`, `planned=True`: the numbers of both are single precision. `sampling` is as for `spec_from_tff_state`;
    the relation is the ledger's.

    Raises:
        LedgerExhausted: too little is left; nothing was run.
        NotInPlan: the plan's item is not for this round; nothing was run.
        InvalidInput: the round was another than the one that was paid for. Throw its result away.
    """
    budget.pay(spec)
    output = run_round()
    found = spec_from_tff_state(output.state, relation=budget.relation, **sampling)
    if found != spec:
        raise InvalidInput.at("/dp_event", f"is of another round than was paid for: {found}", allowed=str(spec))
    return output


def _aggregator(state: Any) -> Any:
    """The innermost state with an event."""
    for _ in range(_DEEPEST):
        if hasattr(state, "dp_event") and hasattr(state, "is_init_state"):
            return state
        inside = [getattr(state, name) for name in _AROUND if hasattr(state, name)]
        if not inside:
            break
        state = inside[0]
    raise InvalidInput.at("/dp_event", "is required: this is no state of a DifferentiallyPrivateFactory")


def _plain(value: Any) -> Any:
    return value.item() if callable(getattr(value, "item", None)) else value

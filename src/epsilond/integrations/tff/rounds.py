"""One round of TensorFlow Federated, committed in a ledger before it is run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar, Unpack

from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Spec
from epsilond.integrations.tff.states import Sampling, is_initial, spec_from_tff_state
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import EVENT, ROUNDS

if TYPE_CHECKING:
    from tensorflow_federated.learning.templates import LearningAlgorithmState, LearningProcessOutput

    from epsilond.integrations.budget import LedgerBudget

Output = TypeVar("Output", bound="LearningProcessOutput")

_EVENT_REMEDY: Final = "Discard the result of the round, and account for rounds by the state of this process."
_STATE_REMEDY: Final = "Call process.next with the state that the round before returned."


def paid_round(
    budget: LedgerBudget, spec: Spec, run_round: Callable[[], Output], **sampling: Unpack[Sampling]
) -> Output:
    """Pay for a round of TensorFlow Federated, then run it, and return its result.

    After the round, the privacy event in the `state` of the result is compared with `spec`. TensorFlow Federated rounds
    the noise multiplier to single precision. So read `spec` from the initial state, which has the same rounded numbers:
    `spec_from_tff_state(process.initialize(), planned=True, …)`. Use `TffRun` to also detect repeated rounds.

    Args:
        budget: pays for the round, in the relation of its ledger.
        spec: mechanism of the round. If the ledger has a plan, this mechanism must be its next item.
        run_round: runs the round by `process.next`.
        **sampling: the sampling of the clients, as for `spec_from_tff_state`.

    Returns:
        The result of `run_round`; its attribute `state` is the next state of the process.

    Raises:
        LedgerExhausted: the ledger has too little left for the round, which was not run.
        NotInPlan: the ledger's plan has another mechanism next, and the round was not run.
        RunDiffers: the event of the new state differs from `spec`, and the budget was informed. If an earlier run of
            the ledger differed from its record, the round was not run.
        InvalidInput: the new state has no privacy event, or one that no spec describes.
    """
    budget.pay(spec)
    output = run_round()
    evidence = Evidence((EVENT, ROUNDS), outside=(), budget=budget)
    compare_round(evidence, output.state, spec, relation=budget.relation, **sampling)
    evidence.require_consistent()
    return output


def compare_round(
    evidence: Evidence,
    state: LearningAlgorithmState,
    spec: Spec,
    *,
    relation: Relation,
    **sampling: Unpack[Sampling],
) -> bool:
    """Return whether the privacy event in the state after a round is that of the recorded mechanism.

    Args:
        evidence: record of the run's observations, to which a contradiction is added.
        state: the state that the round returned.
        spec: the recorded mechanism of the round.
        relation: neighbouring relation of the account.
        **sampling: the sampling of the clients, as for `spec_from_tff_state`.

    Returns:
        True if it is. False if it is not, or if the state comes from `initialize`; `evidence` then has a contradiction.

    Raises:
        InvalidInput: the state has no event, or one that no spec describes.
    """
    if is_initial(state):
        evidence.contradict(ROUNDS, "a round returned a state of initialize()", remedy=_STATE_REMEDY)
        return False
    # The aggregator writes the event of a round into the state that the round returns.
    actual = spec_from_tff_state(state, relation=relation, **sampling)
    if actual == spec:
        return True
    evidence.contradict(EVENT, f"the event of a round is {actual}, and the record says {spec}", remedy=_EVENT_REMEDY)
    return False

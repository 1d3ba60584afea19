"""TensorFlow Federated: rounds of an aggregator as specs, from the events in its state, and rounds that are paid for.

spec_from_tff_state(state, …)          the Spec of a round; TensorFlow need not be installed.
TffRun(state, …)                       takes the rounds of a process, and states ε with its status.
paid_round(budget, spec, run_round, …) commits one round in a ledger, runs it, and compares its event.

Events are those of dp-accounting, as `DifferentiallyPrivateFactory` keeps them. Its tree aggregations leave an
UnsupportedDpEvent, which is rejected by that name.
"""

from epsilond.integrations.tff.rounds import paid_round
from epsilond.integrations.tff.run import TffRun
from epsilond.integrations.tff.states import spec_from_tff_state

__all__ = ["TffRun", "paid_round", "spec_from_tff_state"]

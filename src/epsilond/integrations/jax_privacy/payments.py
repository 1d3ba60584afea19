"""Payment for the iterations of a plan of jax_privacy from the budget of a ledger."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from epsilond.accountants.errors import LedgerExhausted
from epsilond.integrations.jax_privacy.plans import read_plan

if TYPE_CHECKING:
    from jax_privacy.experimental.execution_plan import DPExecutionPlan

    from epsilond.integrations.budget import LedgerBudget
    from epsilond.integrations.jax_privacy.observed_plan import ObservedPlan


def paid_steps(
    plan: DPExecutionPlan | ObservedPlan, budget: LedgerBudget, *, bands: int | None = None
) -> Iterator[int]:
    """Yield the numbers of a plan's iterations, from 0 on, and pay for each iteration before its number is yielded.

    The iterator ends when too little budget is left; `budget.refused` is then the reason. Take a number before drawing
    the batch:

        for step, batch in zip(paid_steps(plan, budget), batches):

    The loop may be left at any time. If an observation contradicts an observed plan, the budget is informed, and an
    error ends the iteration.

    Args:
        plan: a `DPExecutionPlan`, or the result of `observe` for one.
        budget: pays for the iterations, under the neighbouring relation of its ledger.
        bands: number of bands of the strategy matrix, for a noise transformation that is not jax_privacy's.

    Yields:
        The number of the next iteration, which is paid for.

    Raises:
        InvalidInput: the plan cannot be read, or no spec describes it; see `spec_from_execution_plan`.
        RunDiffers: the parts of the plan contradict each other, or this run or another run of the ledger was observed
            to differ from its recorded steps.
        NotInPlan: the item of the ledger's plan is for another mechanism.
        ConditionViolated: the ledger has no rule for the cost of this mechanism.
    """
    reading = read_plan(plan, relation=budget.relation, bands=bands)
    if reading.observations:
        budget.contradict(reading.observations)
    reading.require_consistent()
    account = getattr(plan, "account", None)
    for step in range(reading.steps.iterations):
        if account is not None:
            account.require_consistent(budget)
        starts_release = step % reading.steps.steps_each == 0  # several iterations may be paid for as one release
        if starts_release:
            try:
                budget.pay(reading.steps.mechanism)
            except LedgerExhausted:
                return
        yield step

"""Iterations of a plan, each committed in a ledger before it is taken."""

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
    """Give the numbers of a plan's iterations, from 0 on, each committed before it is given.

    The numbers end when the budget is spent; `budget.refused` has the reason. Take a number before drawing the batch:
    `for step, batch in zip(paid_steps(plan, budget), batches)`. Whatever number came last, the iterations so far are
    paid for, so the loop may be left at any time. Of an observed plan, an observation that contradicts the run is
    passed to the budget, and no further iteration is given.

    Args:
        plan: a `DPExecutionPlan`, or the result of `observe` for one.
        budget: pays in the relation of its ledger.
        bands: as for `spec_from_execution_plan`.

    Raises:
        InvalidInput: as `spec_from_execution_plan`.
        RunDiffers: as `spec_from_execution_plan`, or an observation contradicts the run.
        NotInPlan, ConditionViolated: the ledger does not take this mechanism at all.
    """
    reading = read_plan(plan, relation=budget.relation, bands=bands)
    if reading.observations:
        budget.contradict(reading.observations)
    reading.require_consistent()
    account = getattr(plan, "account", None)
    for step in range(reading.steps.iterations):
        if account is not None:
            account.require_consistent(budget)
        if step % reading.steps.steps_each == 0:
            try:
                budget.pay(reading.steps.mechanism)
            except LedgerExhausted:
                return
        yield step

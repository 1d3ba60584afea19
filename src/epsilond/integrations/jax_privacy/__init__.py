"""jax_privacy: its execution plans as specs, their runs observed, and their steps paid for in a ledger.

spec_from_execution_plan(plan, …)   the Spec of a plan with parts that agree with its event.
spec_from_sampler(sampler, …)       the Spec of all iterations of a sampler, for which no plan has an event.
observe(plan, …)                    the plan with observed functions, and the account of the run.
paid_steps(plan, budget)            the numbers of the iterations, each committed before it is given.

Its accounting goes through events of dp-accounting: give `EpsilondAccountant` to its configurations, and
`spec_from_dp_event` any of its events. Importing this package imports neither jax nor jax_privacy.
"""

from typing import TYPE_CHECKING

from epsilond.integrations.lazily import importer

if TYPE_CHECKING:
    from epsilond.integrations.jax_privacy.observed_plan import ObservedPlan, observe
    from epsilond.integrations.jax_privacy.payments import paid_steps
    from epsilond.integrations.jax_privacy.plans import (
        PlannedSteps,
        spec_from_execution_plan,
        steps_from_execution_plan,
    )
    from epsilond.integrations.jax_privacy.run_account import RunAccount
    from epsilond.integrations.jax_privacy.sampler_specs import spec_from_sampler

__all__ = [
    "ObservedPlan",
    "PlannedSteps",
    "RunAccount",
    "observe",
    "paid_steps",
    "spec_from_execution_plan",
    "spec_from_sampler",
    "steps_from_execution_plan",
]

if not TYPE_CHECKING:
    __getattr__ = importer(
        __name__,
        {
            "ObservedPlan": "observed_plan",
            "PlannedSteps": "plans",
            "RunAccount": "run_account",
            "observe": "observed_plan",
            "paid_steps": "payments",
            "spec_from_execution_plan": "plans",
            "spec_from_sampler": "sampler_specs",
            "steps_from_execution_plan": "plans",
        },
    )

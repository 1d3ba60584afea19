"""A plan of jax_privacy with functions that record their calls, and the account of the run that uses them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.guarantee import require_setting
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation, require_unit
from epsilond.integrations.jax_privacy.batches import ObservedBatches
from epsilond.integrations.jax_privacy.functions import ObservedGradient, observe_clipped_grad, observe_noise
from epsilond.integrations.jax_privacy.journal import Journal
from epsilond.integrations.jax_privacy.optimizers import observe_optimizer
from epsilond.integrations.jax_privacy.plans import read_plan
from epsilond.integrations.jax_privacy.run_account import PREMISES, RunAccount
from epsilond.integrations.jax_privacy.steps import ObservedSteps
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import OUTSIDE_RECORDS
from epsilond.runs.premises import PREMISES as ALL_PREMISES

if TYPE_CHECKING:
    import optax
    from dp_accounting import DpEvent
    from jax_privacy.experimental.execution_plan import DPExecutionPlan

    from epsilond.integrations.budget import LedgerBudget

OUTSIDE = (
    *OUTSIDE_RECORDS,
    "The seeds of noise and batches are secret, and no other run used them.",
    "The program computed the parameters from noisy sums only, not from the batch, its size, its sum or its losses.",
    (
        "Nothing changed the parameters after the last step that was observed, except from released models and public"
        " data."
    ),
)
"""Conditions that are stated next to every ε of a plan, because no observation of its functions can show them."""


@dataclass(frozen=True, kw_only=True)
class ObservedPlan:
    """A `DPExecutionPlan` of jax_privacy with parts that record their calls, so that the run can be checked.

    Attributes:
        clipped_grad: the plan's function of this name, which makes gradient functions that record their calls.
        batch_selection_strategy: the plan's sampler, which checks each batch.
        noise_addition_transform: the plan's noise transformation, which records each call.
        dp_event: privacy event of the plan.
        optimizer: the optimizer that was given to `observe`, which records each call; None without one.
        account: account of the run, which states ε and how far the observations support it.
        plan: the plan without records.
    """

    clipped_grad: Callable[..., ObservedGradient]
    batch_selection_strategy: ObservedBatches
    noise_addition_transform: optax.GradientTransformation
    dp_event: DpEvent
    optimizer: optax.GradientTransformation | None
    account: RunAccount
    plan: DPExecutionPlan


@require_setting
def observe(
    plan: DPExecutionPlan,
    *,
    relation: Relation,
    unit: ProtectedUnit,
    observer: Observer,
    bands: int | None = None,
    jit: bool = False,
    optimizer: optax.GradientTransformation | None = None,
    budget: LedgerBudget | None = None,
) -> ObservedPlan:
    """Return a plan with functions that record their calls, with an account that states the ε of the run.

    Use the functions of the result in place of the plan's own. Outside of `jax.jit` they record values without waiting
    for the device. Inside of `jax.jit` they need an ordered callback at each execution, which costs about a
    millisecond. `jit=True` avoids the callback: each function is compiled by itself, and the program calls it outside
    of `jax.jit`.

    An optimizer such as Adam changes the parameters by other vectors than multiples of the noisy sum. Pass such an
    optimizer as `optimizer`, and use `.optimizer` of the result in its place. The changes of the parameters are then
    compared with its updates. Plain gradient descent needs no `optimizer`.

    Args:
        plan: a `DPExecutionPlan`.
        relation: neighbouring relation of the account.
        unit: the protected unit.
        observer: the adversary, `released-models` for central training.
        bands: number of bands of the strategy matrix, for a noise transformation that is not jax_privacy's.
        jit: whether to compile the gradient function, the noise update and the update of the optimizer.
        optimizer: optax's gradient transformation that computes the changes of the parameters, without the noise.
        budget: budget of a ledger, which is informed of the first contradiction; None without a ledger.

    Returns:
        The observed plan. Its `account` gives the ε of the run.

    Raises:
        InvalidInput: the plan cannot be read, or no spec describes it; see `spec_from_execution_plan`.
        RunDiffers: the parts of the plan contradict each other.
    """
    reading = read_plan(plan, relation=relation, bands=bands)
    evidence = Evidence(PREMISES, outside=OUTSIDE, budget=budget)
    # The parts of the plan may contradict each other before the run starts.
    for observation in reading.observations:
        evidence.contradict(ALL_PREMISES[observation.premise], observation.message, remedy=observation.remedy)
    evidence.require_consistent()
    journal = Journal()
    batches = ObservedBatches(plan.batch_selection_strategy, reading.draws, reading.steps.mechanism, evidence)
    account = RunAccount(
        reading,
        ObservedSteps(reading, batches, evidence),
        journal,
        batches,
        evidence,
        setting={"relation": relation, "unit": require_unit(unit), "observer": observer},
    )
    batches.before_draw = account.advance
    observed_optimizer = None
    if optimizer is not None:
        observed_optimizer = observe_optimizer(optimizer, journal, compiled=jit)
    return ObservedPlan(
        clipped_grad=observe_clipped_grad(plan.clipped_grad, journal, compiled=jit),
        batch_selection_strategy=batches,
        noise_addition_transform=observe_noise(plan.noise_addition_transform, journal, compiled=jit),
        dp_event=plan.dp_event,
        optimizer=observed_optimizer,
        account=account,
        plan=plan,
    )

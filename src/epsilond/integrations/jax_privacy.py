"""jax_privacy: its execution plans as specs, and their steps paid for in a ledger.

Its accounting goes through events of dp-accounting: give `EpsilondAccountant` to its configurations, and
`spec_from_dp_event` any of its events. Plans also have a sampler, which is compared with the event here; nothing of
jax_privacy is imported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epsilond.accountants.errors import InvalidInput, LedgerExhausted
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, Repeated, Spec, Subsampled
from epsilond.integrations.dp_accounting.events import parts_of

if TYPE_CHECKING:
    from epsilond.integrations.budget import LedgerBudget


@dataclass(frozen=True, kw_only=True)
class PlannedSteps:
    """What a plan runs: `times` times `mechanism`, each time for `steps_each` iterations of the loop.

    With a strategy of b bands the noise of b iterations belongs together, and a record takes part in one of them.
    """

    mechanism: Spec
    times: int
    steps_each: int
    iterations: int

    @property
    def spec(self) -> Spec:
        """All of it."""
        return self.mechanism if self.times == 1 else Repeated(times=self.times, mechanism=self.mechanism)


def spec_from_execution_plan(plan: Any, *, relation: Relation = "zero-out-one") -> Spec:
    """What a `DPExecutionPlan` runs, as a spec to be asked about in this relation, their default if absent.

    The event is that of the plan, and its sampler must be the one that the event speaks of: `CyclicPoissonSampling`
    without truncation or `FixedBatchSampling`, of records, or of users in a `UserSelectionStrategy`; then read *user*
    for record. Where a plan was made for REPLACE_ONE its noise is already that of twice the norm, and ours is charged
    for twice the norm again: the guarantee holds, with twice the noise that it needs.

    Raises:
        InvalidInput: the sampler or the event is one that no spec says, by its name; they contradict each other; or
            the groups of the sampler do not go with the relation.
    """
    return steps_from_execution_plan(plan, relation=relation).spec


def steps_from_execution_plan(plan: Any, *, relation: Relation = "zero-out-one") -> PlannedSteps:
    """What a `DPExecutionPlan` runs, with how many iterations of its loop belong to each release.

    Raises:
        InvalidInput: as `spec_from_execution_plan`.
    """
    for name in ("dp_event", "batch_selection_strategy"):
        if not hasattr(plan, name):
            raise InvalidInput.at(f"/{name}", "is required: this is no DPExecutionPlan")
    parts = parts_of(plan.dp_event, relation=relation)
    if len(parts) != 1:
        raise InvalidInput.at("/dp_event", "is not one mechanism, run over and over")
    (mechanism, times), at = parts[0], "/batch_selection_strategy"
    sampler = plan.batch_selection_strategy
    if type(sampler).__name__ == "UserSelectionStrategy":
        sampler, at = sampler.base_strategy, f"{at}/base_strategy"
    name = type(sampler).__name__
    if name not in SAMPLERS:
        raise InvalidInput.at(at, f"is a {name}, which no spec says", allowed=", ".join(SAMPLERS))
    each = SAMPLERS[name](sampler, at, mechanism, relation)
    iterations = int(sampler.iterations)
    if times < math.ceil(iterations / each):
        message = f"takes {iterations} iterations, and the event counts {times} times {each}"
        raise InvalidInput.at(f"{at}/iterations", message, allowed=f"≤ {times * each}")
    return PlannedSteps(mechanism=mechanism, times=times, steps_each=each, iterations=iterations)


def paid_steps(plan: Any, budget: LedgerBudget) -> Iterator[int]:
    """The numbers of a plan's iterations, from 0 on, each committed before it is given; it ends where the budget does.

    Ask it for a number before drawing the batch: `for step, batch in zip(paid_steps(plan, budget), batches)`. Whatever
    number came last, what was given is paid for, so that the loop may be left at any time. `budget.refused` says why it
    ended early.

    Raises:
        InvalidInput: as `spec_from_execution_plan`, in the relation of the ledger.
        NotInPlan, ConditionViolated: the ledger does not take this mechanism at all.
    """
    planned = steps_from_execution_plan(plan, relation=budget.relation)
    for step in range(planned.iterations):
        if step % planned.steps_each == 0:
            try:
                budget.pay(planned.mechanism)
            except LedgerExhausted:
                return
        yield step


def _cyclic_poisson(sampler: Any, at: str, mechanism: Spec, relation: Relation) -> int:
    """Records in as many groups as bands, each group in turn, and a Poisson batch of it."""
    if sampler.truncated_batch_size is not None:
        raise InvalidInput.at(f"{at}/truncated_batch_size", "truncates Poisson batches, which no spec says")
    cycle = int(sampler.cycle_length)
    independent = getattr(sampler.partition_type, "name", "") == "INDEPENDENT"
    if cycle > 1 and relation == "add-or-remove-one" and not independent:
        message = "cuts groups of equal size: one record more or less moves others to another group"
        raise InvalidInput.at(f"{at}/partition_type", message, allowed="INDEPENDENT")
    rate = float(sampler.sampling_prob)
    said = 1.0 if isinstance(mechanism, Gaussian) else None
    if isinstance(mechanism, Subsampled) and mechanism.sampling == "poisson":
        said = mechanism.rate
    if said is None or rate > said:
        raise InvalidInput.at(f"{at}/sampling_prob", f"is {rate:g}, and the event says {said}")
    return cycle


def _fixed_batch(sampler: Any, at: str, mechanism: Spec, _: Relation) -> int:
    """A uniform batch of a fixed size, afresh in each iteration."""
    sampling = "with-replacement" if sampler.replace else "without-replacement"
    said = mechanism.sampling if isinstance(mechanism, Subsampled) else None
    if said != sampling or not isinstance(mechanism, Subsampled) or mechanism.batch_size != int(sampler.batch_size):
        raise InvalidInput.at(at, f"draws {sampler.batch_size} records {sampling}, and the event says otherwise")
    return 1


SAMPLERS: Mapping[str, Callable[[Any, str, Spec, Relation], int]] = {
    "CyclicPoissonSampling": _cyclic_poisson,
    "FixedBatchSampling": _fixed_batch,
}
"""Samplers that are compared with the event; each gives how many iterations belong to one release."""

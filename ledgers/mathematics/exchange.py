"""Exchange of planned mechanisms: a mechanism may be run in place of another only if dominance is proved.

A credit for g may be spent on h if the profile of h is at most that of g at every ε, in both directions
(docs/ledger.md, "Plans, credits and exchange"). For Poisson-sampled Gaussian and Laplace mechanisms of one relation, a
rate that is not larger and noise that is not smaller suffice. A smaller rate is a mixture with a run that reads
nothing, and more noise is post-processing. If the sampling is the same, of any kind, more noise suffices. Every other
mechanism is exchanged for itself only.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from epsilond.accountants.errors import InvalidInput, NotInPlan
from epsilond.accountants.specs import Spec, Subsampled
from epsilond.accountants.specs.primitives import NoisySum, Primitive
from epsilond.ledgers.mathematics.charges.stepped import steps_of
from epsilond.ledgers.mathematics.state import LedgerState, PlanItem


def choose_item(state: LedgerState, spec: Spec | None, name: str | None) -> PlanItem:
    """Return the item of a ledger's plan that pays for some equal runs.

    An item is a mechanism with a number of runs, which the ledger has accounted for in advance.

    Args:
        state: the ledger.
        spec: mechanism of the runs, which may be composed of equal steps. None takes the mechanism of the named item.
        name: name of the item. None selects an item with exactly the mechanism of a step, if possible with free runs.

    Returns:
        The item, which may have no free runs.

    Raises:
        InvalidInput: neither a name nor a spec is given.
        NotInPlan: the plan has no such item, or a run of the spec is not proved to lose as little privacy as one of
            the named item.
    """
    if name is not None:
        return _named_item(state, name, spec)
    if spec is None:
        raise InvalidInput.at("/item", "name an item of the plan, a slot, or a mechanism of the plan")
    step, _ = steps_of(spec)
    items_of_step = [item for item in state.plan if item.spec == step]
    if not items_of_step:
        kinds = " or ".join(slot.kind for slot in state.slots)
        hint = f"; name the slot {kinds} to charge it there" if kinds else ""
        raise NotInPlan(f"The plan has no such mechanism{hint}. To run it for one of the plan's, name that item.")
    # Prefer an item with free runs. Otherwise the caller reports that the first one has none.
    first_item, *_ = items_of_step
    return next((item for item in items_of_step if item.free), first_item)


def _named_item(state: LedgerState, name: str, spec: Spec | None) -> PlanItem:
    """Return the item of a ledger's plan with a name, after checking that it may pay for runs of a mechanism.

    An item is a mechanism with a number of planned runs. A run that provably loses no more privacy may replace one.

    Args:
        state: the ledger.
        name: name of the item.
        spec: mechanism of the runs; None is the item's own mechanism.

    Returns:
        The item, which may have no free runs.

    Raises:
        NotInPlan: the plan has no such item, or there is no such proof.
    """
    item = state.item(name)
    if item is None:
        names = ", ".join(planned.name for planned in state.plan) or "none"
        raise NotInPlan(f"The plan has no item of this name. It has: {names}.")
    if spec is None:
        return item
    # A mechanism of equal steps is compared by one step, because the runs of an item are counted in steps.
    step, _ = steps_of(spec)
    if dominance_reason(step, item.spec) is None:
        raise NotInPlan(
            f"The mechanism is not proved to lose as little as the plan's item {name}: it needs the same sampling "
            "and kind of noise, no larger rate and no smaller noise."
        )
    return item


def dominance_reason(run_spec: Spec, planned_spec: Spec) -> str | None:
    """Return why a run of one mechanism may replace a planned run of another; None if no reason is known.

    The run must be proved to lose no more privacy than the planned run. Three reasons are known: the mechanisms are
    equal; the run has the same sampling and at least the same noise; or both sample by Poisson sampling, and the run
    has at most the rate and at least the noise. They hold under every neighbouring relation.

    Args:
        run_spec: mechanism that is to be run.
        planned_spec: mechanism that the ledger's plan has accounted for.

    Returns:
        The reason as a clause that begins with "it", or None.
    """
    if run_spec == planned_spec:
        return "it is the same mechanism"
    # Mechanisms of different levels (records or clients) protect different units: their losses cannot be compared.
    if getattr(run_spec, "level", None) != getattr(planned_spec, "level", None):
        return None
    if _has_more_noise_on_same_sample(run_spec, planned_spec):
        return "it has the same draw, and the same noise or more"
    run = _sampled_sum(run_spec)
    planned = _sampled_sum(planned_spec)
    if run is None or planned is None:
        return None
    if run.rate <= planned.rate and _has_enough_noise(run.noise, planned.noise):
        return "it has the same noise or more, and the same sampling rate or less"
    return None


def _has_more_noise_on_same_sample(run_spec: Spec, planned_spec: Spec) -> bool:
    """Return whether two subsampled mechanisms sample in the same way, and the first adds at least as much noise.

    Args:
        run_spec: mechanism of the run.
        planned_spec: mechanism of the plan's item.

    Returns:
        True if both add the same kind of noise to a sum over the same sample. The run then loses no more privacy.
        False proves nothing.
    """
    if not (isinstance(run_spec, Subsampled) and isinstance(planned_spec, Subsampled)):
        return False
    has_same_sampling = replace(run_spec, mechanism=planned_spec.mechanism) == planned_spec
    return has_same_sampling and _has_enough_noise(run_spec.mechanism.primitive, planned_spec.mechanism.primitive)


def _has_enough_noise(primitive: Primitive | None, planned: Primitive | None) -> bool:
    """Return whether two mechanisms add the same kind of noise to a sum, the first at least as much.

    Args:
        primitive: basic mechanism of the run; None if it has none, because it is composed of others.
        planned: basic mechanism of the planned item, likewise.

    Returns:
        True if the run adds noise of the same distribution with at least the planned multiplier. The multiplier is the
        scale of the noise over the bound on the norm of one contribution.
    """
    return (
        isinstance(primitive, NoisySum)
        and isinstance(planned, NoisySum)
        and primitive.distribution == planned.distribution
        and primitive.multiplier >= planned.multiplier
    )


class _SampledSum(NamedTuple):
    """A mechanism that adds noise to a sum over a Poisson sample of the records.

    Attributes:
        rate: probability of each record to be in the sample, independently of the others. It is 1 without sampling.
        noise: the noisy sum of the sampled records.
    """

    rate: float
    noise: NoisySum


def _sampled_sum(spec: Spec) -> _SampledSum | None:
    """Read a mechanism as a noisy sum over a Poisson sample of the records.

    Sampling with a limited batch size, or with several records of a client, is excluded, because the comparison of
    rates does not cover it.

    Args:
        spec: spec of a mechanism.

    Returns:
        The noisy sum with its sampling rate, which is 1 without sampling. None for any other mechanism.
    """
    rate, mechanism = 1.0, spec
    if isinstance(spec, Subsampled):
        has_further_parameters = spec.largest_batch is not None or spec.records_of_one_client is not None
        if spec.sampling != "poisson" or spec.rate is None or has_further_parameters:
            return None
        rate, mechanism = float(spec.rate), spec.mechanism
    if not isinstance(mechanism.primitive, NoisySum) or not math.isfinite(rate):
        return None
    return _SampledSum(rate, mechanism.primitive)

"""Samplers of jax_privacy, compared with the event of their plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from epsilond.accountants.errors import InvalidInput, Observation
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, Spec, Subsampled
from epsilond.runs.premises import EVENT

if TYPE_CHECKING:
    from jax_privacy.batch_selection import BatchSelectionStrategy, CyclicPoissonSampling, FixedBatchSampling

USERS: Final = "UserSelectionStrategy"
_REMEDY: Final = "Make the plan by its configuration, and give it this sampler's numbers."


@dataclass(frozen=True, kw_only=True)
class SamplerDraws:
    """Description of how the sampler of an execution plan draws batches.

    Attributes:
        sampler: the sampler of records, or of users if `users` is true.
        users: whether batches consist of users and not of records.
        cycle: number of iterations after which a record may take part again.
        iterations: number of batches.
        observations: contradictions between the sampler and the `dp_event` of the plan.
    """

    sampler: BatchSelectionStrategy
    users: bool
    cycle: int
    iterations: int
    observations: tuple[Observation, ...]


def read_sampler(
    strategy: BatchSelectionStrategy, mechanism: Spec, relation: Relation, *, truncation: int | None = None
) -> SamplerDraws:
    """Read how a plan's sampler draws batches, and compare this with the plan's privacy event.

    Args:
        strategy: the plan's batch selection strategy.
        mechanism: one release of the plan's event.
        relation: neighbouring relation of the account.
        truncation: largest number of records in a batch, by the event; None if the event truncates nothing.

    Returns:
        The sampler, its number of iterations, the number of iterations after which a record may take part again, and
        the contradictions with the event.

    Raises:
        InvalidInput: no spec describes this sampler, or its groups do not go with the relation.
    """
    # A `UserSelectionStrategy` contains the sampler that draws the users.
    users = type(strategy).__name__ == USERS
    if users:
        sampler, at = strategy.base_strategy, "/batch_selection_strategy/base_strategy"
    else:
        sampler, at = strategy, "/batch_selection_strategy"
    name = type(sampler).__name__
    if name not in SAMPLERS:
        reason = NO_EVENT.get(name, "is not a sampler of jax_privacy that epsilond has a theorem for")
        raise InvalidInput.at(at, f"is a {name}: {reason}", allowed=", ".join(SAMPLERS))
    cycle, contradictions = SAMPLERS[name](sampler, at, mechanism, relation)
    limit = getattr(sampler, "truncated_batch_size", None)
    if limit != truncation:
        contradictions.append(f"the sampler takes at most {limit} records of a batch, and the event says {truncation}")
    return SamplerDraws(
        sampler=sampler,
        users=users,
        cycle=cycle,
        iterations=int(sampler.iterations),
        observations=tuple(Observation(EVENT.id, message, remedy=_REMEDY) for message in contradictions),
    )


Comparison = tuple[int, list[str]]
"""Number of iterations of a cycle, and how the sampler contradicts the event."""


def _cyclic_poisson(sampler: CyclicPoissonSampling, at: str, mechanism: Spec, relation: Relation) -> Comparison:
    """Compare a cyclic Poisson sampler with the mechanism of the plan's event.

    The sampler divides the records into as many groups as a cycle has iterations. Each iteration draws a Poisson sample
    of one group.

    Args:
        sampler: jax_privacy's sampler.
        at: JSON pointer of the sampler, for errors.
        mechanism: mechanism of the event.
        relation: neighbouring relation of the account.

    Returns:
        The number of iterations of a cycle, and the contradictions.

    Raises:
        InvalidInput: the groups have equal sizes although records may be added.
    """
    cycle = int(sampler.cycle_length)
    if cycle > 1 and relation == "add-or-remove-one" and not is_independent(sampler):
        message = "cuts groups of equal size: one record more or less moves others to another group"
        raise InvalidInput.at(f"{at}/partition_type", message, allowed="INDEPENDENT")

    rate = float(sampler.sampling_prob)
    recorded_rate = None  # if the event has another kind of sampling
    if isinstance(mechanism, Gaussian):
        recorded_rate = 1.0
    elif isinstance(mechanism, Subsampled) and mechanism.sampling == "poisson":
        recorded_rate = mechanism.rate
    # A higher rate in the event overestimates the privacy loss, which is valid.
    if recorded_rate is not None and rate <= recorded_rate:
        return cycle, []
    return cycle, [f"the sampler draws each record with probability {rate:g}, and the event says {recorded_rate}"]


def _fixed_batch(sampler: FixedBatchSampling, _: str, mechanism: Spec, __: Relation) -> Comparison:
    """Compare a sampler that draws a new uniform batch of a fixed size in each iteration with the plan's event.

    Args:
        sampler: jax_privacy's sampler.
        mechanism: mechanism of the event.

    Returns:
        The number 1 of iterations of a cycle, and the contradictions.
    """
    sampling = "with-replacement" if sampler.replace else "without-replacement"
    size = int(sampler.batch_size)
    if isinstance(mechanism, Subsampled) and mechanism.sampling == sampling and mechanism.batch_size == size:
        return 1, []
    return 1, [f"the sampler draws {size} records {sampling}, and the event says otherwise"]


def is_independent(sampler: CyclicPoissonSampling) -> bool:
    """Return whether each record joins a group of a cycle independently of the other records.

    Args:
        sampler: a cyclic Poisson sampler, which divides the records into groups.
    """
    return getattr(sampler.partition_type, "name", "") == "INDEPENDENT"


SAMPLERS: Final[Mapping[str, Callable[[BatchSelectionStrategy, str, Spec, Relation], Comparison]]] = {
    "CyclicPoissonSampling": _cyclic_poisson,
    "FixedBatchSampling": _fixed_batch,
}
"""Samplers that are compared with the event, by the names of their classes."""

_NO_EVENT = "dp-accounting has no event for it, so its plan states another mechanism. spec_from_sampler() reads it"
NO_EVENT: Final[Mapping[str, str]] = {
    "BallsInBinsSampling": _NO_EVENT,
    "RandomAllocationSampling": _NO_EVENT,
    "BMinSepSampling": _NO_EVENT,
    "MultiOwnerMinSepSampling": _NO_EVENT,
}
"""Why a plan with the sampler has no account, by the name of the sampler's class."""

"""Runs of jax_privacy's samplers as specs: Gaussian noise of one multiplier, independent in each iteration."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, Repeated, Spec
from epsilond.integrations.dp_accounting.placed import NotCovered
from epsilond.integrations.jax_privacy.samplers import USERS, is_independent
from epsilond.integrations.numbers import count
from epsilond.reading import read_value

if TYPE_CHECKING:
    from jax_privacy.batch_selection import BatchSelectionStrategy


@dataclass(frozen=True, kw_only=True)
class SampledRun:
    """A run with batches that a sampler of jax_privacy draws, from which its spec (description) is made.

    Attributes:
        sampler: the sampler of records, or of users.
        gaussian: the Gaussian mechanism of one iteration.
        units: number of records or users from which batches are drawn; None if it is not public.
        relation: neighbouring relation of the account.
    """

    sampler: Any
    gaussian: Gaussian
    units: int | None
    relation: Relation

    def size(self) -> int:
        """Return the number of records or users.

        Raises:
            InvalidInput: the number is not stated.
        """
        if self.units is None:
            raise InvalidInput.at("/num_examples", "is required: the batches of this sampler depend on it")
        return self.units

    def repeat(self, mechanism: Spec, times: int) -> Spec:
        """Return several runs of a mechanism as one spec (description).

        Args:
            mechanism: mechanism of one run.
            times: number of runs.

        Returns:
            The mechanism itself for one run, otherwise its repetition.

        Raises:
            InvalidInput: there are no runs.
        """
        if times == 0:
            raise InvalidInput.at("/iterations", "is 0, so that nothing is released", allowed="≥ 1")
        return mechanism if times == 1 else Repeated(times=times, mechanism=mechanism)


def spec_from_sampler(
    strategy: BatchSelectionStrategy,
    *,
    noise_multiplier: float,
    num_examples: int | None = None,
    relation: Relation = "zero-out-one",
) -> Spec:
    """Return the spec (description for privacy accounting) of a run that draws batches with a sampler.

    Each iteration adds independent Gaussian noise to the clipped gradients of its batch. Inside a
    `UserSelectionStrategy` the batches consist of users, and the data of each user is clipped as a whole. There
    `num_examples` is the number of users, and the protected unit is the client.

    The samplers are:

    - `CyclicPoissonSampling` takes a Poisson batch, truncated or not, of one group in each iteration.
    - `FixedBatchSampling` takes a batch of fixed size.
    - `BallsInBinsSampling` allocates each record to one step of a cycle, and keeps the step in all cycles.
    - `RandomAllocationSampling` allocates each record to k of all iterations.
    - `BMinSepSampling` has no proved amplification. The spec consists of ⌈iterations/min_sep⌉ Gaussian mechanisms,
      because a record can be in so many batches.

    Args:
        strategy: the sampler.
        noise_multiplier: standard deviation of the noise over the norm bound of one record, or of one user.
        num_examples: number of records or users, if it is public. Batches of fixed size and truncated batches need it.
        relation: neighbouring relation of the account.

    Returns:
        The spec, the description of the whole run for privacy accounting.

    Raises:
        NotCovered: no theorem covers the sampler. The message names the missing theorem.
        InvalidInput: a number is missing or out of range.
    """
    # A `UserSelectionStrategy` contains the sampler that draws the users.
    draws_users = type(strategy).__name__ == USERS
    sampler = strategy.base_strategy if draws_users else strategy
    units = None if num_examples is None else count(num_examples, "/num_examples")
    run = SampledRun(
        sampler=sampler,
        gaussian=Gaussian(noise_multiplier=noise_multiplier),
        units=units,
        relation=relation,
    )

    name = type(sampler).__name__
    if name not in SAMPLER_SPECS:
        message = f"is a {name}: {MISSING_THEOREMS.get(name, 'no theorem covers it')}"
        raise NotCovered(Fault("/strategy", message, ", ".join(SAMPLER_SPECS)))
    return SAMPLER_SPECS[name](run)


def _build(kind: str, **fields: object) -> Spec:
    """Make a spec, the description of a mechanism, by the name of its kind.

    Args:
        kind: the field `kind` of the spec, such as "subsampled".
        **fields: values of the fields of the spec.

    Returns:
        The spec with these fields.

    Raises:
        InvalidInput: a field is unknown or out of range.
    """
    spec: Spec = read_value(Spec, {"kind": kind, **fields}, at="")
    return spec


def _cyclic_poisson(run: SampledRun) -> Spec:
    """Return the spec (description for privacy accounting) of a run with cyclic Poisson sampling.

    A record is in at most one batch of each cycle.

    Args:
        run: the sampler, and the mechanism that is run on its batches.

    Returns:
        The spec of a Poisson batch, repeated for the number of cycles, rounded up.

    Raises:
        InvalidInput: groups of equal size go with no relation in which records are added or removed.
    """
    sampler = run.sampler
    cycle = int(sampler.cycle_length)
    if cycle > 1 and run.relation == "add-or-remove-one" and not is_independent(sampler):
        message = "cuts groups of equal size: one record more or less moves others to another group"
        raise InvalidInput.at("/strategy/partition_type", message, allowed="INDEPENDENT")
    largest = sampler.truncated_batch_size
    # A group is the part of the records from which the batches of one iteration of a cycle are drawn.
    group = None if largest is None else run.size() // cycle
    fields: dict[str, object] = {"rate": float(sampler.sampling_prob)}
    if group is not None and int(largest) < group:
        if is_independent(sampler) and cycle > 1:
            message = "truncates batches of groups of random size, for which no theorem gives an account"
            raise NotCovered(Fault("/strategy/partition_type", message, "EQUAL_SPLIT"))
        fields |= {"largest_batch": int(largest), "population": group}
    step = _build("subsampled", sampling="poisson", mechanism=run.gaussian, **fields)
    return run.repeat(step, math.ceil(int(sampler.iterations) / cycle))


def _fixed_batch(run: SampledRun) -> Spec:
    """Return the spec (description) of a run with batches of a fixed size, each drawn uniformly from all records.

    Args:
        run: sampler and mechanism of the run.

    Returns:
        The spec of one batch, repeated for each iteration.
    """
    sampler = run.sampler
    sampling = "with-replacement" if sampler.replace else "without-replacement"
    sizes = {"batch_size": int(sampler.batch_size), "population": run.size()}
    step = _build("subsampled", sampling=sampling, mechanism=run.gaussian, **sizes)
    return run.repeat(step, int(sampler.iterations))


def _balls_in_bins(run: SampledRun) -> Spec:
    """Return the spec (description for privacy accounting) of a run with balls-in-bins sampling.

    Each record takes part in one random step of a cycle, the same step in all cycles. A last cycle that is cut short
    counts as a whole. Its missing outputs could be dropped, which is post-processing.

    Args:
        run: the sampler, and the mechanism that is run on its batches.

    Returns:
        The spec of the random allocation; without amplification if a cycle has one step.
    """
    cycle, iterations = int(run.sampler.cycle_length), int(run.sampler.iterations)
    epochs = math.ceil(iterations / cycle)
    if epochs == 0 or cycle == 1:
        return run.repeat(run.gaussian, iterations)
    return _build("random_allocation", steps=cycle, times_chosen=1, kept=True, epochs=epochs, mechanism=run.gaussian)


def _random_allocation(run: SampledRun) -> Spec:
    """Return the spec (description for privacy accounting) of a run with random allocation.

    Each record takes part in k random iterations. If k is the number of iterations, nothing is random: the spec is k
    runs of the Gaussian mechanism.

    Args:
        run: sampler and mechanism of the run.

    Returns:
        The spec of the random allocation.

    Raises:
        InvalidInput: k is 0, so that nothing is released.
    """
    chosen, iterations = int(run.sampler.total_participations), int(run.sampler.iterations)
    if chosen in {0, iterations}:
        return run.repeat(run.gaussian, chosen)
    return _build(
        "random_allocation", steps=iterations, times_chosen=chosen, kept=False, epochs=1, mechanism=run.gaussian
    )


def _min_separation(run: SampledRun) -> Spec:
    """Return the spec (description) of a run in which a record takes part at most once in b iterations.

    This is b-min-sep sampling. The choice of the batches that contain the record is independent of the record's value.
    Given this choice, the run is a composition of at most ⌈iterations/b⌉ Gaussian mechanisms. The hockey-stick
    divergence is jointly convex, so δ of the run is at most the mean of δ over all choices.

    Args:
        run: the sampler, and the mechanism that is run on its batches.

    Returns:
        The spec of the composition.

    Raises:
        NotCovered: the batches are truncated, so that a record's absence can put another record into its place.
    """
    if run.sampler.truncated_batch_size is not None:
        message = "truncates b-min-sep batches, for which no theorem gives an account"
        raise NotCovered(Fault("/strategy/truncated_batch_size", message, "none"))
    return run.repeat(run.gaussian, math.ceil(int(run.sampler.iterations) / int(run.sampler.min_sep)))


SAMPLER_SPECS: Final[Mapping[str, Callable[[SampledRun], Spec]]] = {
    "CyclicPoissonSampling": _cyclic_poisson,
    "FixedBatchSampling": _fixed_batch,
    "BallsInBinsSampling": _balls_in_bins,
    "RandomAllocationSampling": _random_allocation,
    "BMinSepSampling": _min_separation,
}
"""The reader of each sampler, by the name of its class."""
MISSING_THEOREMS: Final[Mapping[str, str]] = {
    "MultiOwnerMinSepSampling": (
        "an account of records with several owners, of which each contributes a bounded number of times "
        "(multi-attribution), is missing"
    ),
}
"""The theorem that is missing for a sampler, by the name of its class."""

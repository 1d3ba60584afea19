"""Every sampler of jax_privacy as a spec, and plans with truncated batches."""

import dataclasses

import numpy as np
import pytest
from jax_privacy import batch_selection
from jax_privacy.experimental import accounting

import epsilond
from epsilond import Gaussian, InvalidInput, Repeated, RunDiffers, Subsampled
from epsilond.accountants import specs
from epsilond.integrations.dp_accounting.placed import NotCovered
from epsilond.integrations.jax_privacy import spec_from_execution_plan, spec_from_sampler
from epsilond.integrations.jax_privacy.sampler_specs import MISSING_THEOREMS, SAMPLER_SPECS
from tests.integrations.jax_privacy.jax_runs import make_plan

KINDS = {getattr(getattr(specs, name), "kind", None) for name in specs.__all__}
TRUNCATES = "largest_batch" in {field.name for field in dataclasses.fields(Subsampled)}
GAUSSIAN = Gaussian(noise_multiplier=2.0)
Cyclic = batch_selection.CyclicPoissonSampling
needs_allocation = pytest.mark.skipif("random_allocation" not in KINDS, reason="this version has no random_allocation")
needs_truncation = pytest.mark.skipif(not TRUNCATES, reason="this version has no largest_batch")
pytestmark = pytest.mark.filterwarnings("ignore:optax.global_norm is deprecated")


def read(sampler, **options):
    return spec_from_sampler(sampler, noise_multiplier=2.0, **options)


def poisson(rate, **more):
    return Subsampled(sampling="poisson", rate=rate, mechanism=GAUSSIAN, **more)


def test_every_sampler_is_read_or_its_theorem_is_named():
    kinds = {
        name
        for name in dir(batch_selection)
        if name.endswith(("Sampling", "Strategy")) and name != "BatchSelectionStrategy"
    }
    assert kinds - {"UserSelectionStrategy"} <= set(SAMPLER_SPECS) | set(MISSING_THEOREMS)


def test_a_sampler_of_several_owners_names_the_missing_theorem():
    sampler = type("MultiOwnerMinSepSampling", (), {})()
    with pytest.raises(NotCovered, match="several owners"):
        read(sampler)


def test_poisson_batches_are_one_release_a_cycle():
    assert read(Cyclic(0.1, 20)) == Repeated(times=20, mechanism=poisson(0.1))
    assert read(Cyclic(0.1, 21, cycle_length=4)) == Repeated(times=6, mechanism=poisson(0.1))
    with pytest.raises(InvalidInput, match="groups of equal size"):
        read(Cyclic(0.1, 21, cycle_length=4), relation="add-or-remove-one")
    independent = batch_selection.PartitionType.INDEPENDENT
    sampler = Cyclic(0.1, 8, cycle_length=4, partition_type=independent)
    assert read(sampler, relation="add-or-remove-one") == Repeated(times=2, mechanism=poisson(0.1))
    users = batch_selection.UserSelectionStrategy(Cyclic(0.1, 20), 3)
    assert read(users) == read(Cyclic(0.1, 20))


def test_a_limit_that_no_batch_exceeds_truncates_nothing():
    assert read(Cyclic(0.1, 20, truncated_batch_size=50), num_examples=50) == read(Cyclic(0.1, 20))
    with pytest.raises(InvalidInput, match="num_examples"):
        read(Cyclic(0.1, 20, truncated_batch_size=50))


@needs_truncation
def test_truncated_batches_are_read_with_the_size_of_their_group():
    spec = read(Cyclic(0.1, 20, truncated_batch_size=15, cycle_length=2), num_examples=101)
    assert spec == Repeated(times=10, mechanism=poisson(0.1, largest_batch=15, population=50))
    independent = batch_selection.PartitionType.INDEPENDENT
    sampler = Cyclic(0.1, 20, truncated_batch_size=15, cycle_length=2, partition_type=independent)
    with pytest.raises(NotCovered, match="random size"):
        read(sampler, num_examples=101)


@needs_truncation
def test_a_truncated_plan_agrees_with_its_event():
    event = accounting.truncated_dpsgd_event(1.5, 12, sampling_prob=0.2, num_examples=400, truncated_batch_size=120)
    sampler = Cyclic(0.2, 12, truncated_batch_size=120)
    plan = dataclasses.replace(make_plan(), dp_event=event, batch_selection_strategy=sampler)
    truncation = {"largest_batch": 120, "population": 400}
    step = Subsampled(sampling="poisson", rate=0.2, mechanism=Gaussian(noise_multiplier=1.5), **truncation)
    assert spec_from_execution_plan(plan) == Repeated(times=12, mechanism=step)


@pytest.mark.parametrize("limit", [10, 500])
def test_a_sampler_that_truncates_unlike_its_event_contradicts_it(limit):
    sampler = Cyclic(0.2, 12, truncated_batch_size=limit)
    with pytest.raises(RunDiffers, match="at most"):
        spec_from_execution_plan(dataclasses.replace(make_plan(), batch_selection_strategy=sampler))


def test_batches_of_fixed_size_need_the_number_of_records():
    Fixed = batch_selection.FixedBatchSampling
    for replace, sampling in ((False, "without-replacement"), (True, "with-replacement")):
        batch = Subsampled(sampling=sampling, batch_size=10, population=99, mechanism=GAUSSIAN)
        assert read(Fixed(10, 20, replace), num_examples=99) == Repeated(times=20, mechanism=batch)
    with pytest.raises(InvalidInput, match="num_examples"):
        read(Fixed(10, 20))


@needs_allocation
def test_bins_are_kept_over_cycles_and_allocations_are_of_all_iterations():
    bins = read(batch_selection.BallsInBinsSampling(iterations=35, cycle_length=10))
    assert (bins.steps, bins.times_chosen, bins.kept, bins.epochs) == (10, 1, True, 4)
    if hasattr(batch_selection, "RandomAllocationSampling"):  # after release 2.0.0
        allocation = read(batch_selection.RandomAllocationSampling(total_participations=3, iterations=60))
        assert (allocation.steps, allocation.times_chosen, allocation.epochs) == (60, 3, 1)


def test_trivial_allocations_are_every_iteration():
    assert read(batch_selection.BallsInBinsSampling(iterations=6, cycle_length=1)) == Repeated(
        times=6, mechanism=GAUSSIAN
    )
    with pytest.raises(InvalidInput, match="nothing is released"):
        read(batch_selection.BallsInBinsSampling(iterations=0, cycle_length=3))


def test_separated_batches_have_no_amplification():
    """The first record may be in every b-th batch, which its loss then attains: b-min-sep at a rate of one."""
    sampler = batch_selection.BMinSepSampling(1.0, 21, 4, warm_start=False)
    assert read(sampler) == Repeated(times=6, mechanism=GAUSSIAN)
    batches = [len(batch) for batch in sampler.batch_iterator(1, rng=np.random.default_rng(0))]
    assert sum(batches) == 6
    with pytest.raises(NotCovered, match="truncates"):
        read(batch_selection.BMinSepSampling(0.1, 21, 4, truncated_batch_size=3))


def test_every_spec_has_an_account():
    samplers = [Cyclic(0.1, 20), batch_selection.BMinSepSampling(0.1, 20, 4)]
    if "random_allocation" in KINDS:
        samplers.append(batch_selection.BallsInBinsSampling(iterations=20, cycle_length=10))
    for sampler in samplers:
        answer = epsilond.account(
            read(sampler), relation="zero-out-one", unit="record", observer="released-models", delta=1e-6
        )
        assert 0.0 < answer.guarantee.epsilon.upper < 50.0

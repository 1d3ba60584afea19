"""Runs of pfl that an accountant watches: what they show of a plan, and mistakes for which no ε is returned.

Several follow public threads, which each test names.
"""

import asyncio

import numpy as np
import pytest
from pfl.aggregate.simulate import SimulatedBackend
from pfl.aggregate.weighting import WeightByDatapoints, WeightByUser
from pfl.common_types import Population
from pfl.context import CentralContext
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.data.sampling import get_user_sampler
from pfl.internal.ops import numpy_ops
from pfl.internal.ops.selector import set_framework_module
from pfl.metrics import Metrics
from pfl.postprocessor.base import Postprocessor
from pfl.privacy.adaptive_clipping import AdaptiveClippingGaussianMechanism
from pfl.privacy.gaussian_mechanism import GaussianMechanism
from pfl.privacy.joint_mechanism import JointMechanism
from pfl.privacy.privacy_mechanism import CentrallyAppliedPrivacyMechanism
from pfl.stats import MappedVectorStatistics

import epsilond
from epsilond.integrations.pfl import EpsilondJointPrivacyAccountant, EpsilondPrivacyAccountant, PflPrivacyWarning

DELTA = 1e-6
BOUND = 0.5
GENERATOR, METRICS, DRAWN = "framework's generator", "users' metrics without noise", "a data set drew the cohorts"


def accountant_of(iterations=6, rate=1.0, **more):
    fields = {"mechanism": "gaussian", "noise_parameter": 2.0, "delta": DELTA}
    return EpsilondPrivacyAccountant(num_compositions=iterations, sampling_probability=rate, **fields | more)


def mechanism_of(accountant, bound=BOUND):
    return CentrallyAppliedPrivacyMechanism(GaussianMechanism.from_privacy_accountant(accountant, bound))


class Training:
    """Every user's update has norm √300 times its number of records."""

    def simulate_one_user(self, model, dataset, context):  # noqa: ARG002
        return MappedVectorStatistics({"w": np.ones(300) * len(dataset), "b": np.zeros(3)}, weight=1), Metrics()


class Poisson(FederatedDataset):
    """Users that take part independently of each other, whatever size was asked for."""

    rate = 0.3

    def get_cohort(self, cohort_size):  # noqa: ARG002
        for user in self.users:
            if np.random.random() < self.rate:  # noqa: NPY002
                yield self.make_dataset_fn(user), int(np.random.randint(2**31))  # noqa: NPY002

    def __init__(self, users):
        super().__init__(dataset_of, get_user_sampler("random", users))
        self.users, self.make_dataset_fn = users, dataset_of


def dataset_of(user):
    return Dataset(raw_data=[np.zeros(1 + int(user) % 5)], user_id=user)


class FixedWeight(Postprocessor):
    """Divides the noisy sum by the expected number of users."""

    def __init__(self, weight):
        self.weight = weight

    def postprocess_server(self, *, stats, central_context, aggregate_metrics):  # noqa: ARG002
        stats.weight = self.weight
        return stats, Metrics()


def users_of(count):
    return [str(number) for number in range(count)]


def run(accountant, postprocessors, *, data, size, iterations, users=None, first=0, observe=True):
    """Iterations of pfl's simulation, after the accountant was told of the postprocessors."""
    set_framework_module(numpy_ops)
    if observe:
        accountant.observe(postprocessors, users=users)
    backend = SimulatedBackend(data, data, postprocessors=postprocessors)
    for iteration in range(first, first + iterations):
        context = CentralContext(
            current_central_iteration=iteration,
            do_evaluation=False,
            cohort_size=size,
            population=Population.TRAIN,
            algorithm_params=None,
            model_train_params=None,
            model_eval_params=None,
            seed=int(np.random.randint(2**31)),  # noqa: NPY002
        )
        asyncio.run(backend.async_gather_results(None, Training(), central_context=context))
    return accountant


def all_users(count=10):
    return FederatedDataset(dataset_of, get_user_sampler("minimize_reuse", users_of(count)))


def assert_contradicted(accountant, premise, words):
    assert accountant.status == "contradicted"
    for read in (
        accountant.statement,
        lambda: accountant.epsilon,
        lambda: accountant.delta,
        lambda: accountant.curve,
        lambda: accountant.epsilon_as_run,
    ):
        with pytest.raises(epsilond.RunDiffers) as caught:
            read()
    observations = [each for each in caught.value.observations if each.premise == premise]
    assert any(words in each.message for each in observations), caught.value.observations
    assert all(each.remedy for each in observations)
    assert "contradicted" in repr(accountant)


def items(statement):
    return [item.partition(" Not observed: ")[2] or item for item in statement.declared]


def test_a_plan_shows_nothing_of_the_run():
    accountant = accountant_of(40)
    statement = accountant.statement()
    assert statement.status == accountant.status == "declared"
    assert len(statement.declared) == 9
    assert all(item.endswith("Observed in 0 of 40 steps.") for item in statement.declared)
    assert statement.epsilon.upper == accountant.epsilon
    assert statement.outside


def test_a_run_of_all_users_shows_cohort_updates_clipping_noise_and_number():
    accountant = accountant_of(6)
    run(accountant, [WeightByUser(), mechanism_of(accountant)], data=all_users(), size=10, iterations=6)
    statement = accountant.statement()
    assert statement.steps == 6
    names = ("fresh-cohort", "one-update-per-client", "clipping", "noise", "divisor", "rounds", "same-parts")
    assert {statement.shown[name] for name in names} == {6}
    declared = items(statement)
    assert len(declared) == 3
    assert [words in item for words, item in zip([GENERATOR, METRICS, "of 6 steps"], declared, strict=True)] == [
        True
    ] * 3
    assert statement.epsilon.upper == accountant.epsilon


def test_fewer_iterations_than_planned_keep_the_plan():
    accountant = accountant_of(100)
    run(accountant, [WeightByUser(), mechanism_of(accountant)], data=all_users(), size=10, iterations=4)
    assert accountant.statement().steps == 4
    assert accountant.status == "declared"


def test_poisson_cohorts_with_a_fixed_divisor_keep_the_plan():
    users = users_of(50)
    accountant = accountant_of(60, rate=0.3)
    postprocessors = [FixedWeight(15.0), WeightByUser(), mechanism_of(accountant)]
    run(accountant, postprocessors, data=Poisson(users), size=15, iterations=60, users=users)
    statement = accountant.statement()
    assert statement.status == "declared"
    assert [item for item in items(statement) if DRAWN in item]
    assert len(statement.declared) == 4


def test_earlier_iterations_of_another_process_are_listed():
    accountant = accountant_of(20)
    run(accountant, [WeightByUser(), mechanism_of(accountant)], data=all_users(), size=10, iterations=3, first=5)
    assert [item for item in items(accountant.statement()) if "earlier iterations" in item]


def test_a_fixed_number_of_users_is_no_poisson_cohort():
    """https://github.com/lxuechen/private-transformers/issues/7: fixed batches, accounted for as Poisson sampling."""
    accountant = accountant_of(60, rate=0.1)
    data = FederatedDataset(dataset_of, get_user_sampler("minimize_reuse", users_of(100)))
    run(accountant, [WeightByUser(), mechanism_of(accountant)], data=data, size=10, iterations=30)
    assert_contradicted(accountant, "fresh-cohort", "cohorts have 10 clients: Poisson cohorts differ in size")


def test_cohorts_that_take_turns_are_no_draws():
    accountant = accountant_of(60, rate=0.1)
    users = users_of(100)
    data = FederatedDataset(dataset_of, get_user_sampler("minimize_reuse", users))
    run(accountant, [WeightByUser(), mechanism_of(accountant)], data=data, size=10, iterations=8, users=users)
    assert_contradicted(accountant, "fresh-cohort", "take turns")


def test_no_declaration_stands_against_the_sizes_of_cohorts():
    """https://github.com/apple/pfl-research/pull/40: a simulation with fixed cohorts, for devices that decide alone.

    The ε of such a deployment is that of its plan: `epsilond.account`, not the account of this run.
    """
    accountant = accountant_of(60, rate=0.1)
    accountant.declare("fresh-cohort", "devices take part independently; the simulation only measures accuracy")
    data = FederatedDataset(dataset_of, get_user_sampler("minimize_reuse", users_of(100)))
    run(accountant, [WeightByUser(), mechanism_of(accountant)], data=data, size=10, iterations=30)
    assert_contradicted(accountant, "fresh-cohort", "differ in size")


def test_pfls_random_sampler_draws_a_user_twice():
    accountant = accountant_of(6)
    data = FederatedDataset(dataset_of, get_user_sampler("random", users_of(10)))
    run(accountant, [WeightByUser(), mechanism_of(accountant)], data=data, size=10, iterations=6)
    assert_contradicted(accountant, "one-update-per-client", "a user entered a cohort more than once")


def test_users_without_ids_are_listed():
    accountant = accountant_of(6)
    data = FederatedDataset(lambda _: Dataset(raw_data=[np.zeros(1)]), get_user_sampler("random", users_of(10)))
    run(accountant, [WeightByUser(), mechanism_of(accountant)], data=data, size=10, iterations=3)
    assert [item for item in items(accountant.statement()) if "gives no user ids" in item]


def test_weights_of_examples_after_the_mechanism():
    accountant = accountant_of(6)
    postprocessors = [mechanism_of(accountant), WeightByDatapoints()]
    accountant.observe(postprocessors)
    assert_contradicted(accountant, "one-update-per-client", "multiplies a clipped update")
    run(accountant, postprocessors, data=all_users(), size=10, iterations=1, observe=False)
    assert_contradicted(accountant, "clipping", "longer than the clipping bound")


def test_weights_of_examples_before_the_mechanism():
    accountant = accountant_of(6)
    accountant.observe([WeightByDatapoints(), mechanism_of(accountant)])
    assert_contradicted(accountant, "divisor", "gets no noise and reveals the number of examples")


class Doubling(Postprocessor):
    """Scales what the users sent, on the server."""

    def postprocess_server(self, *, stats, central_context, aggregate_metrics):  # noqa: ARG002
        return stats.apply_elementwise(lambda array: 2.0 * array), Metrics()


def test_a_sum_that_is_scaled_before_its_noise():
    accountant = accountant_of(6)
    postprocessors = [WeightByUser(), mechanism_of(accountant), Doubling()]
    run(accountant, postprocessors, data=all_users(), size=10, iterations=1)
    assert_contradicted(accountant, "one-update-per-client", "is not the sum of the users' statistics")


def test_a_divisor_that_depends_on_the_users():
    users = users_of(50)
    accountant = accountant_of(60, rate=0.3)
    data = Poisson(users)
    run(accountant, [WeightByUser(), mechanism_of(accountant)], data=data, size=15, iterations=10, users=users)
    assert_contradicted(accountant, "divisor", "depends on the users")


def test_more_iterations_than_planned():
    accountant = accountant_of(3)
    run(accountant, [WeightByUser(), mechanism_of(accountant)], data=all_users(), size=10, iterations=4)
    assert_contradicted(accountant, "rounds", "more than the planned 3 iterations ran")


def test_a_mechanism_with_less_noise_than_the_plan():
    accountant = accountant_of(6)
    mechanism = CentrallyAppliedPrivacyMechanism(GaussianMechanism(BOUND, 0.5))
    run(accountant, [WeightByUser(), mechanism], data=all_users(), size=10, iterations=1)
    assert_contradicted(
        accountant, "noise", "the mechanism adds 0.5 times its clipping bound, and the plan counts on 2"
    )


def test_noise_of_the_same_seed_in_every_iteration():
    accountant = accountant_of(6)
    mechanism = mechanism_of(accountant)
    add = mechanism.underlying_mechanism.add_noise
    mechanism.underlying_mechanism.add_noise = lambda **fields: add(**fields | {"seed": 7})
    run(accountant, [WeightByUser(), mechanism], data=all_users(), size=10, iterations=2)
    assert_contradicted(accountant, "noise", "the noise repeats the noise of an earlier step")


def test_a_mechanism_that_does_not_clip():
    accountant = accountant_of(6)
    mechanism = mechanism_of(accountant)
    mechanism.underlying_mechanism.constrain_sensitivity = lambda statistics, **_: (statistics, Metrics())
    run(accountant, [WeightByUser(), mechanism], data=all_users(), size=10, iterations=1)
    assert_contradicted(accountant, "clipping", "longer than the clipping bound")


def test_a_method_that_is_replaced_after_the_observation():
    accountant = accountant_of(6)
    postprocessors = [WeightByUser(), mechanism_of(accountant)]
    run(accountant, postprocessors, data=all_users(), size=10, iterations=1)
    postprocessors[0].postprocess_server = lambda *, stats, **_: (stats, Metrics())
    run(accountant, postprocessors, data=all_users(), size=10, iterations=1, first=1, observe=False)
    postprocessors[1].postprocess_one_user = lambda *, stats, **_: (stats, Metrics())
    run(accountant, postprocessors, data=all_users(), size=10, iterations=1, first=2, observe=False)
    assert accountant.status == "contradicted"


def test_noise_for_a_larger_cohort_is_an_item_with_the_epsilon_of_this_run():
    """https://github.com/apple/pfl-research/pull/70: noise of a larger cohort than the one that runs."""
    with pytest.warns(PflPrivacyWarning):
        accountant = accountant_of(6, noise_scale=0.25)
    run(accountant, [WeightByUser(), mechanism_of(accountant)], data=all_users(), size=10, iterations=6)
    statement = accountant.statement()
    assert statement.status == "declared"
    found = [item for item in items(statement) if "0.25 times the noise" in item]
    assert len(found) == 1
    assert f"ε ≤ {accountant.epsilon_as_run:.6g}" in found[0]
    assert statement.epsilon.upper < accountant.epsilon_as_run


def test_adaptive_clipping_is_watched_without_its_noise():
    accountant = accountant_of(6)
    mechanism = AdaptiveClippingGaussianMechanism(
        lambda bound: GaussianMechanism.from_privacy_accountant(accountant, bound), 1.0, 5.0, 0.5
    )
    run(accountant, [WeightByUser(), mechanism], data=all_users(), size=10, iterations=4)
    statement = accountant.statement()
    assert statement.shown["clipping"] == 4
    assert statement.shown["noise"] == 0
    assert statement.status == "declared"


def test_several_mechanisms_are_declared_and_counted():
    """https://github.com/apple/pfl-research/pull/111 adds the joint accountant."""
    accountant = EpsilondJointPrivacyAccountant(
        ["gaussian", "gaussian"], 3, 1.0, total_delta=DELTA, noise_parameters=[2.0, 3.0]
    )
    assert accountant.statement().epsilon.upper == accountant.total_epsilon
    assert len(accountant.statement().declared) == 9
    parts = {
        "weights": (GaussianMechanism(BOUND, 2.0), ["w"]),
        "biases": (GaussianMechanism(BOUND, 3.0), ["b"]),
    }
    postprocessors = [WeightByUser(), CentrallyAppliedPrivacyMechanism(JointMechanism(parts))]
    run(accountant, postprocessors, data=all_users(), size=10, iterations=3)
    statement = accountant.statement()
    assert (statement.status, statement.steps) == ("declared", 3)
    assert len([item for item in items(statement) if "is none whose noise and bound are observed" in item]) == 2
    run(accountant, postprocessors, data=all_users(), size=10, iterations=1, first=3, observe=False)
    for read in (accountant.statement, lambda: accountant.total_epsilon, lambda: accountant.total_delta):
        with pytest.raises(epsilond.RunDiffers, match="more than the planned 3 iterations ran"):
            read()


def test_only_a_central_mechanism_is_observed_and_once():
    accountant = accountant_of()
    with pytest.raises(epsilond.InvalidInput, match="no central privacy mechanism"):
        accountant_of().observe([WeightByUser()])
    accountant.observe([mechanism_of(accountant)])
    with pytest.raises(epsilond.InvalidInput, match="observed already"):
        accountant.observe([mechanism_of(accountant)])


def test_random_good_runs_have_no_alarm():
    for seed in range(12):
        random = np.random.default_rng(seed)
        count, iterations = int(random.integers(2, 60)), int(random.integers(1, 30))
        full = random.random() < 0.5
        rate = 1.0 if full else Poisson.rate
        accountant = accountant_of(iterations, rate=rate, noise_parameter=float(random.uniform(0.5, 5.0)))
        users = users_of(count)
        data = all_users(count) if full else Poisson(users)
        postprocessors = [FixedWeight(max(rate * count, 1.0)), WeightByUser(), mechanism_of(accountant)]
        size = count if full else max(round(rate * count), 1)
        run(accountant, postprocessors, data=data, size=size, iterations=iterations, users=users)
        assert accountant.evidence.observations == (), seed
        assert accountant.status == "declared"

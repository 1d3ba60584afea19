"""Good runs of jax_privacy: certified with the figure of their plan, or declared with the reason."""

import dataclasses
import itertools

import dp_accounting
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax_privacy import batch_selection, noise_addition
from jax_privacy.experimental import accounting
from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig
from jax_privacy.matrix_factorization import toeplitz

import epsilond
from epsilond.integrations.dp_accounting import EpsilondAccountant
from epsilond.integrations.jax_privacy import spec_from_execution_plan
from epsilond.runs.status import RunStatus
from tests.integrations.jax_privacy.jax_runs import CENTRAL, IMAGES, LABELS, RECORDS, Loop, loss, make_plan

pytestmark = pytest.mark.filterwarnings("ignore:optax.global_norm is deprecated")
DELTA = 1e-5
Relation = dp_accounting.NeighboringRelation
Cyclic, Users = batch_selection.CyclicPoissonSampling, batch_selection.UserSelectionStrategy


def changed(plan, **parts):
    return dataclasses.replace(plan, **parts)


def figure(spec, relation="zero-out-one"):
    """Return ε of a spec by the library itself."""
    return epsilond.account(spec, **CENTRAL | {"relation": relation}).guarantee.curve.epsilon(delta=DELTA)


def assert_certified(loop, *, spec=None):
    statement = loop.train().statement(delta=DELTA)
    assert statement.declared == ()
    assert statement.status is RunStatus.CERTIFIED
    assert set(statement.shown.values()) == {statement.steps}
    relation = loop.setting.get("relation", "zero-out-one")
    spec = spec_from_execution_plan(loop.plan, relation=relation) if spec is None else spec
    assert statement.epsilon == figure(spec, relation)
    assert loop.account.get_epsilon(DELTA) == statement.epsilon.upper
    # An enclosure of few rare steps is up to 1e-4 of δ wide.
    assert loop.account.get_delta(statement.epsilon.upper) == pytest.approx(DELTA, rel=1e-4)
    assert loop.account.spec == spec


@pytest.mark.parametrize(
    ("mode", "bands"),
    [
        ("own", 4),
        ("jit", 1),
        *(
            pytest.param(mode, bands, marks=pytest.mark.slow)
            for mode, bands in [("own", 1), ("jit", 4), ("step", 1), ("step", 4), ("eager", 2)]
        ),
    ],
)
def test_a_run_is_certified_in_each_way_to_compile_it(mode, bands):
    assert_certified(Loop(make_plan(bands=bands, iterations=13), mode=mode))


def dense(bands=3, size=10):
    """Return a plan whose noising matrix is dense."""
    coefficients = np.linspace(1.0, 0.4, bands)
    strategy = np.asarray(toeplitz.materialize_lower_triangular(jnp.asarray(coefficients), size), dtype=np.float64)
    noise = noise_addition.matrix_factorization_privatizer(
        jnp.asarray(np.linalg.inv(strategy), jnp.float32),
        stddev=float(1.5 * np.linalg.norm(coefficients)),
        prng_key=5,
    )
    return changed(make_plan(bands=bands, iterations=size), noise_addition_transform=noise)


PLANS = {
    "column-normalised": lambda: make_plan(bands=3, iterations=10, column_normalize=True),
    "a strategy that does not decrease": lambda: make_plan(strategy=[1.0, -0.7, 0.9], iterations=10),
    "a dense noising matrix": dense,
    "all records in each step": lambda: make_plan(rate=1.0, iterations=5),
    "normalised": lambda: make_plan(normalize_by=80.0, iterations=8),
    "not rescaled": lambda: make_plan(l2_clip_norm=0.3, rescale_to_unit_norm=False, iterations=8),
    "calibrated": lambda: make_plan(noise=None, epsilon=2.0, delta=DELTA, iterations=8),
    "one iteration": lambda: make_plan(iterations=1),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_run_of_each_kind_of_plan_is_certified(name):
    assert_certified(Loop(PLANS[name](), mode="own", padded=RECORDS))


def test_an_optimised_strategy_is_certified():
    config = BandMFExecutionPlanConfig.default(
        4, 12, strategy_optimization_steps=20, epsilon=None, delta=None, noise_multiplier=1.5, sampling_prob=0.3
    )
    assert_certified(Loop(config.plan, mode="own"))


def test_groups_that_are_drawn_independently_are_certified_for_add_or_remove():
    plan = make_plan(
        bands=3,
        iterations=12,
        rate=0.5,
        partition_type=batch_selection.PartitionType.INDEPENDENT,
        accountant=EpsilondAccountant(Relation.ADD_OR_REMOVE_ONE, unit="record", observer="released-models"),
    )
    assert_certified(Loop(plan, mode="own", setting={"relation": "add-or-remove-one"}))


def fixed(size=40, *, replace=False, population=RECORDS):
    """Return a plan of batches of a fixed size."""
    event = accounting.fixed_dpsgd_event(1.5, 10, dataset_size=population, batch_size=size, replace=replace)
    sampler = batch_selection.FixedBatchSampling(batch_size=size, iterations=10, replace=replace)
    return changed(make_plan(iterations=10), dp_event=event, batch_selection_strategy=sampler)


@pytest.mark.parametrize("replace", [False, True])
def test_batches_of_a_fixed_size_are_certified(replace):
    assert_certified(Loop(fixed(replace=replace), mode="own", padded=0, setting={"relation": "replace-one"}))


OWNERS = np.arange(RECORDS) // 4


class UserLoop(Loop):
    """Clips the gradient of two records of each user of the batch together."""

    def batches(self):
        return self.observed.batch_selection_strategy.batch_iterator(OWNERS, self.seed)

    def rows(self, batch):
        padding = np.arange(self.padded) >= len(batch)
        places = np.zeros((self.padded, 2), dtype=int)
        places[: len(batch)] = batch
        return IMAGES[places], LABELS[places], padding


def test_users_are_certified_as_the_rows_that_were_drawn():
    plan = make_plan(iterations=10)
    plan = changed(plan, batch_selection_strategy=Users(plan.batch_selection_strategy, 2))
    loop = UserLoop(plan, mode="own", padded=60, options={"keep_batch_dim": False}, setting={"unit": "client"})
    statement = loop.train().statement(delta=DELTA)
    assert (statement.status, statement.unit) == (RunStatus.CERTIFIED, "client")


@pytest.mark.parametrize(
    "options", [{"microbatch_size": 16}, {"return_grad_norms": True, "return_values": True}, {"nan_safe": False}]
)
def test_options_of_the_gradient_function_are_certified(options):
    assert_certified(Loop(make_plan(iterations=6), mode="own", options=options))


def test_the_results_of_the_gradient_function_are_those_of_the_plan():
    plan = make_plan()
    loop = Loop(plan, options={"return_grad_norms": True})
    rows = loop.rows(np.arange(20))
    plain = plan.clipped_grad(loss, batch_argnums=(1, 2), return_grad_norms=True)
    ours = loop.gradient(loop.parameters, *rows[:2], is_padding_example=rows[2])
    theirs = jax.jit(plain)(loop.parameters, *rows[:2], is_padding_example=rows[2])
    jax.tree.map(np.testing.assert_array_equal, ours, theirs)
    assert ours[1].values is None
    assert loop.observed.clipped_grad(loss).sensitivity() == plain.sensitivity()


class Accumulating(Loop):
    """Sums the gradients of physical batches before it adds noise once."""

    def train(self):
        for batch in self.batches():
            parts = batch_selection.split_and_pad_global_batch(batch, 32)
            sums = None
            for part in parts:
                gradient = self.gradient(
                    self.parameters, IMAGES[part], LABELS[part], is_padding_example=np.asarray(part) < 0
                )
                sums = gradient if sums is None else jax.tree.map(jnp.add, sums, gradient)
            noisy, self.state = self.update(sums, self.state)
            self.parameters = self.descend(self.parameters, sums, noisy)
        return self.account


def test_physical_batches_are_certified():
    assert_certified(Accumulating(make_plan(iterations=6), mode="jit"))


class WeightedPadding(Loop):
    """Fills batches up with records of weight 0, without `is_padding_example`."""

    def __post_init__(self):
        super().__post_init__()
        self.gradient = self.observed.clipped_grad(
            lambda parameters, images, labels, weights: weights[0] * loss(parameters, images, labels),
            batch_argnums=(1, 2, 3),
        )

    def sum_gradients(self, parameters, images, labels, padding):
        return self.gradient(parameters, images, labels, (~np.asarray(padding)).astype(np.float32))


def test_rows_of_weight_0_are_certified():
    assert_certified(WeightedPadding(make_plan(iterations=8), mode="own"))


class Ahead(Loop):
    """Draws all batches before the first step."""

    def batches(self):
        return list(super().batches())


def test_batches_that_are_drawn_ahead_and_an_early_stop_are_certified():
    plan = make_plan(bands=3, iterations=20)
    spec = epsilond.Repeated(times=3, mechanism=spec_from_execution_plan(plan).mechanism)
    assert_certified(Ahead(plan, mode="own", steps=8), spec=spec)


class Optimised(Loop):
    """Uses an observed optimizer of optax, chained to the noise."""

    def __post_init__(self):
        super().__post_init__()
        self.chain = optax.chain(self.observed.noise_addition_transform, self.observed.optimizer)
        self.state = self.chain.init(self.parameters)

    def add_noise(self, sums, state):
        return self.chain.update(sums, state)

    def descend(self, parameters, sums, noisy):  # noqa: ARG002
        return optax.apply_updates(parameters, noisy)


@pytest.mark.parametrize("mode", ["own", pytest.param("step", marks=pytest.mark.slow)])
def test_a_chained_optimizer_with_a_warm_up_is_certified(mode):
    setting = {"optimizer": optax.adam(optax.linear_schedule(0.0, 0.02, 4))}
    assert_certified(Optimised(make_plan(iterations=15), mode=mode, setting=setting))


def test_empty_batches_are_certified():
    loop = Loop(make_plan(rate=0.002, iterations=10), mode="own", padded=8, seed=1)
    assert 0 in [len(batch) for batch in loop.plan.batch_selection_strategy.batch_iterator(RECORDS, 1)]
    assert_certified(loop)


class SkipsEmpty(Loop):
    """Adds noise to zeros where the batch is empty."""

    def sum_gradients(self, parameters, images, labels, padding):
        if np.all(padding):
            return jax.tree.map(jnp.zeros_like, parameters)
        return super().sum_gradients(parameters, images, labels, padding)


def test_noise_on_zeros_in_place_of_an_empty_batch_is_certified():
    assert_certified(SkipsEmpty(make_plan(rate=0.002, iterations=10), mode="own", padded=8, seed=1))


@pytest.mark.parametrize("bands", [1, 3])
def test_a_resumed_run_is_certified_once_its_account_is_loaded(bands):
    plan = make_plan(bands=bands, iterations=12)
    first = Loop(plan, mode="own", steps=6)
    saved = first.train().state_dict()
    second = Loop(plan, mode="own")
    second.parameters, second.state = first.parameters, first.state
    second.account.load_state_dict(saved)
    for batch in itertools.islice(second.batches(), 6, None):
        second.parameters, second.state = second.whole(second.parameters, second.state, *second.rows(batch))
    statement = second.account.statement(delta=DELTA)
    assert (statement.status, statement.steps) == (RunStatus.CERTIFIED, 12)
    assert statement.epsilon == figure(spec_from_execution_plan(plan))
    damaged = {"noise": 3}
    with pytest.raises(epsilond.InvalidInput):
        second.account.load_state_dict(damaged)


def test_noise_of_another_library_is_tested_where_its_bands_are_given():
    def update(sums, key, params=None):
        keys = jax.random.split(key, 3)
        leaves, tree = jax.tree.flatten(sums)
        noise = [1.5 * jax.random.normal(each, leaf.shape) for each, leaf in zip(keys[1:], leaves, strict=True)]
        return jax.tree.map(jnp.add, sums, tree.unflatten(noise)), keys[0]

    own = optax.GradientTransformation(lambda _: jax.random.key(11), update)
    plan = changed(make_plan(iterations=8), noise_addition_transform=own)
    with pytest.raises(epsilond.InvalidInput, match="bands="):
        spec_from_execution_plan(plan)
    assert spec_from_execution_plan(plan, bands=1) == spec_from_execution_plan(make_plan(iterations=8))
    loop = Loop(plan, mode="own", setting={"bands": 1})
    assert loop.train().status is RunStatus.CERTIFIED


class Augmented(Loop):
    """Shifts each image at random before it is given to the gradient function."""

    def rows(self, batch):
        images, labels, padding = super().rows(batch)
        return images + np.random.default_rng(len(batch)).normal(size=(len(images), 1)).astype("f"), labels, padding


class Skipping(Loop):
    """Draws a batch that it does not use."""

    def batches(self):
        for step, batch in enumerate(super().batches()):
            if step != 3:
                yield batch


@pytest.mark.parametrize(
    ("loop", "reason"),
    [(Augmented, "not copies of the records"), (Skipping, "drawn and not used"), (Loop, "too few digits")],
)
def test_what_cannot_be_seen_is_declared_with_the_same_figure_for_each_step(loop, reason):
    made = loop(make_plan(iterations=10, dtype=jnp.bfloat16 if loop is Loop else jnp.float32), mode="own")
    account = made.train()
    statement = account.statement(delta=DELTA)
    assert statement.status is account.status is RunStatus.DECLARED
    assert any(reason in item for item in statement.declared)
    one = spec_from_execution_plan(made.plan).mechanism
    assert statement.epsilon == figure(epsilond.Repeated(times=statement.steps, mechanism=one))


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(each, marks=pytest.mark.slow) for each in range(4, 100))])
def test_a_random_good_run_gives_no_false_alarm(seed):
    random = np.random.default_rng(seed)
    bands = int(random.integers(1, 6))
    plan = make_plan(
        bands=bands,
        iterations=int(random.integers(bands, 40)),
        noise=float(random.uniform(0.5, 4.0)),
        rate=float(random.uniform(0.02, 0.9)),
        column_normalize=bool(random.integers(2)),
        noise_seed=seed,
    )
    assert_certified(
        Loop(plan, mode="own", padded=RECORDS, seed=seed, options={"microbatch_size": [None, 80][seed % 2]})
    )


def test_the_statement_says_what_no_run_shows():
    loop = Loop(make_plan(iterations=3), mode="own")
    text = str(loop.train().statement(delta=DELTA))
    assert text.startswith("certified: ε in [")
    assert "not shown by any run: The seeds of noise and batches are secret" in text

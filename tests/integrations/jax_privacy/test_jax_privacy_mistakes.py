"""Mistakes in programs that use jax_privacy: no ε, with the observation and what to change.

Links lead to the public threads in which the mistake, or the fault of a library that has the same effect, was reported.
"""

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax_privacy import batch_selection, clipping, noise_addition

import epsilond
from epsilond import RunDiffers
from epsilond.runs.status import RunStatus
from tests.integrations.jax_privacy.jax_runs import IMAGES, LABELS, RECORDS, Loop, loss, make_plan
from tests.integrations.jax_privacy.test_jax_privacy_runs import Accumulating, UserLoop, Users, changed, dense, fixed

pytestmark = pytest.mark.filterwarnings("ignore:optax.global_norm is deprecated")
DELTA = 1e-5


def assert_differs(loop, premise, text):
    """Each method that returns an ε or δ raises the same error."""
    account = loop.train()
    messages = set()
    for method in (
        partial(account.statement, delta=DELTA),
        partial(account.get_epsilon, DELTA),
        partial(account.get_delta, 1.0),
    ):
        with pytest.raises(RunDiffers, match=text) as differs:
            method()
        assert premise in [each.premise for each in differs.value.observations]
        assert all(each.count >= 1 and each.remedy for each in differs.value.observations)
        messages.add(str(differs.value))
    assert len(messages) == 1
    assert account.status is RunStatus.CONTRADICTED


class Mean(Loop):
    """https://github.com/google-deepmind/jax_privacy/issues/383: noise for a sum, added to a mean."""

    def sum_gradients(self, parameters, images, labels, padding):
        sums = super().sum_gradients(parameters, images, labels, padding)
        return jax.tree.map(lambda each: each / 80.0, sums)


class FixedBatches(Loop):
    """https://github.com/google-deepmind/jax_privacy/issues/84: consecutive batches of one size."""

    def rows(self, batch):  # noqa: ARG002
        self.epoch = (getattr(self, "epoch", -1) + 1) % (RECORDS // 80)
        return super().rows(np.arange(80) + 80 * self.epoch)


class SameKey(Loop):
    """https://github.com/jax-ml/jax/issues/192: each step uses the key of the first."""

    def one_step(self, parameters, state, *rows):
        return super().one_step(parameters, state, *rows)[0], state


class FreshInit(Loop):
    """https://github.com/jax-ml/jax/pull/3646: noise restarts from the key of the plan, here once an epoch."""

    def add_noise(self, sums, state):
        self.count = getattr(self, "count", -1) + 1
        if self.count % 5 == 4:
            state = self.observed.noise_addition_transform.init(self.parameters)
        return super().add_noise(sums, state)


class OwnKey(Loop):
    """https://github.com/jax-ml/jax/issues/2009: the state gets a key of the caller's."""

    def add_noise(self, sums, state):
        return super().add_noise(sums, (jax.random.key(5), state[1]))


class WithoutNoise(Loop):
    """The noisy sum is computed, and the parameters change by the sum without noise."""

    def descend(self, parameters, sums, noisy):
        return super().descend(parameters, noisy, sums)


class NoiseEachPart(Accumulating):
    """https://github.com/google-deepmind/jax_privacy/issues/234: an update for each physical batch."""

    def train(self):
        for batch in self.batches():
            for part in batch_selection.split_and_pad_global_batch(batch, 32):
                rows = IMAGES[part], LABELS[part], np.asarray(part) < 0
                self.parameters, self.state = self.one_step(self.parameters, self.state, *rows)
        return self.account


class NoiseSometimes(Loop):
    """Every second step changes the parameters by the sum of clipped gradients, without an update of the noise."""

    def add_noise(self, sums, state):
        self.count = getattr(self, "count", 0) + 1
        return (sums, state) if self.count % 2 == 0 else super().add_noise(sums, state)


class NeverNoise(Loop):
    """https://github.com/meta-pytorch/opacus/issues/115: clipping without noise."""

    def add_noise(self, sums, state):
        return sums, state


class OtherFunctions(Loop):
    """The loop uses the functions of the plan, not those of the observed one."""

    def __post_init__(self):
        super().__post_init__()
        self.gradient = jax.jit(self.plan.clipped_grad(loss, batch_argnums=(1, 2)))
        self.update = jax.jit(self.plan.noise_addition_transform.update)


class OtherGradient(Loop):
    """Only the noise is that of the plan."""

    def __post_init__(self):
        super().__post_init__()
        self.gradient = jax.jit(clipping.clipped_grad(loss, batch_argnums=(1, 2), l2_clip_norm=10.0))


class OtherNoise(Loop):
    """Only the gradient function is that of the plan."""

    def __post_init__(self):
        super().__post_init__()
        privatizer = noise_addition.gaussian_privatizer(stddev=0.1, prng_key=1)
        self.update, self.state = jax.jit(privatizer.update), privatizer.init(self.parameters)


class Restarted(Loop):
    """The sampler is started anew with the same seed for each epoch of five steps."""

    def batches(self):
        for _ in range(2):
            yield from itertools.islice(super().batches(), 5)


class OtherGroups(Loop):
    """The sampler is started anew for each epoch, so that records change their group."""

    def batches(self):
        for seed in range(2):
            yield from itertools.islice(self.observed.batch_selection_strategy.batch_iterator(RECORDS, seed), 6)


class TooLong(Loop):
    """https://github.com/google-deepmind/jax_privacy/pull/338: more steps than the noising matrix has rows."""

    def batches(self):
        for seed in range(2):
            yield from self.observed.batch_selection_strategy.batch_iterator(RECORDS, seed)


class RepeatedRows(Loop):
    """https://github.com/google-deepmind/jax_privacy/pull/103: batches are filled up with records, not with padding."""

    def rows(self, batch):
        images, labels, padding = super().rows(np.resize(batch, 128))
        return images, labels, padding


class TwiceSummed(Loop):
    """The gradients of a batch enter the sum twice."""

    def sum_gradients(self, *rows):
        first, second = (super(TwiceSummed, self).sum_gradients(*rows) for _ in range(2))
        return jax.tree.map(jnp.add, first, second)


class ClippedAgain(Loop):
    """The sum is clipped once more, so that one record moves it in another way."""

    def sum_gradients(self, *rows):
        sums = super().sum_gradients(*rows)
        return jax.tree.map(lambda each: each / optax.tree.norm(sums), sums)


class FirstRows(Loop):
    """The number of rows is that of the batch, and the rows are the first ones of the data."""

    def rows(self, batch):
        return super().rows(np.arange(len(batch)))


class LabelsOfAll(Loop):
    """The loss of each record sees the labels of the whole batch."""

    def __post_init__(self):
        super().__post_init__()
        self.gradient = self.observed.clipped_grad(
            lambda parameters, images, labels: loss(parameters, images, labels[:1]), batch_argnums=1
        )

    def rows(self, batch):
        self.padded = len(batch) // 16 * 16 + 16
        return super().rows(batch)


class FlatUsers(UserLoop):
    """The records of a user are clipped one by one."""

    def rows(self, batch):
        flat = np.asarray(batch).reshape(-1)
        return Loop.rows(self, flat)


class NotFinite(Loop):
    """One record has no finite gradient, and nan_safe is off."""

    def rows(self, batch):
        images, labels, padding = super().rows(batch)
        images[0] = np.inf
        return images, labels, padding


class OtherPopulation(Loop):
    """The sampler draws from half the records that the event speaks of."""

    def batches(self):
        return self.observed.batch_selection_strategy.batch_iterator(RECORDS // 2, 0)


class BiasedGenerator(np.random.Generator):
    """A generator that draws twice as many records."""

    def binomial(self, n, p):  # type: ignore[override]
        return super().binomial(n, 2.0 * p)


class Biased(Loop):
    """The sampler is given a generator of other batches."""

    def batches(self):
        return self.observed.batch_selection_strategy.batch_iterator(RECORDS, BiasedGenerator(np.random.PCG64(1)))


def users():
    plan = make_plan()
    return changed(plan, batch_selection_strategy=Users(plan.batch_selection_strategy, 2))


MISTAKES = {
    "a mean": (Mean, make_plan, {}, "clipping", "0.0125 times"),
    "fixed batches": (FixedBatches, make_plan, {}, "one-row-per-record", "rows of a step"),
    "the same key": (SameKey, make_plan, {}, "noise", "noise repeats"),
    "noise that restarts": (FreshInit, make_plan, {}, "noise", "noise repeats"),
    "a key of the caller's": (OwnKey, make_plan, {}, "same-parts", "noise state"),
    "parameters without noise": (WithoutNoise, make_plan, {}, "parameters", "without its noise"),
    "noise for each part": (NoiseEachPart, make_plan, {}, "one-row-per-record", "rows of a step"),
    "noise at times": (NoiseSometimes, make_plan, {}, "parameters", "without an update"),
    "no noise": (NeverNoise, make_plan, {}, "same-parts", "no update"),
    "other functions": (OtherFunctions, make_plan, {}, "same-parts", "functions of the observed plan"),
    "another gradient": (OtherGradient, make_plan, {}, "one-row-per-record", "clipped_grad"),
    "other noise": (OtherNoise, make_plan, {}, "same-parts", "no update"),
    "a sampler that restarts": (Restarted, make_plan, {}, "fresh-draw", "generator was reset"),
    "groups that change": (OtherGroups, partial(make_plan, bands=3, rate=0.9), {}, "fresh-draw", "fewer than 3"),
    "too many steps": (TooLong, dense, {}, "event", "more updates than the 10"),
    "repeated rows": (RepeatedRows, make_plan, {"padded": 128}, "one-row-per-record", "rows of a step"),
    "a sum of two": (TwiceSummed, make_plan, {}, "one-row-per-record", "rows of a step"),
    "a sum that is clipped": (ClippedAgain, make_plan, {}, "clipping", "not the sum"),
    "the first rows": (FirstRows, make_plan, {}, "fresh-draw", "same rows again"),
    "labels of all": (LabelsOfAll, make_plan, {}, "one-row-per-record", "batch_argnums"),
    "records of users": (FlatUsers, users, {}, "one-row-per-record", "rows of a step"),
    "a gradient that is not finite": (NotFinite, make_plan, {"options": {"nan_safe": False}}, "clipping", "nan_safe"),
    "another population": (OtherPopulation, fixed, {"setting": {"relation": "replace-one"}}, "event", "200 records"),
    "a biased generator": (Biased, make_plan, {}, "fresh-draw", "a batch has"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_has_no_epsilon(name):
    loop, make, words, premise, text = MISTAKES[name]
    mode = {"OtherFunctions": "eager"}.get(loop.__name__, "own")
    assert_differs(loop(make(), **{"mode": mode} | words), premise, text)


@pytest.mark.parametrize("mode", ["jit", "step"])
@pytest.mark.parametrize("loop", [Mean, WithoutNoise, SameKey])
def test_mistakes_inside_a_compiled_function_have_no_epsilon(loop, mode):
    made = loop(make_plan(), mode=mode)
    account = made.train()
    with pytest.raises(RunDiffers):
        account.statement(delta=DELTA)


def test_noise_of_another_library_that_is_too_small_has_no_epsilon():
    def update(sums, key, params=None):
        following, now = jax.random.split(key)
        return jax.tree.map(lambda each: each + 0.7 * jax.random.normal(now, each.shape), sums), following

    own = optax.GradientTransformation(lambda _: jax.random.key(11), update)
    plan = changed(make_plan(), noise_addition_transform=own)
    assert_differs(Loop(plan, mode="own", setting={"bands": 1}), "noise", "times the recorded")


def test_a_resumed_run_without_its_account_has_no_epsilon_unless_the_caller_vouches_for_it():
    plan = make_plan()
    first = Loop(plan, mode="own", steps=5)
    first.train()
    for vouched in (False, True):
        second = Loop(plan, mode="own", steps=5, seed=1)
        second.state = first.state
        if vouched:
            second.account.declare("same-parts", "the first five steps were never released")
            statement = second.train().statement(delta=DELTA)
            assert statement.status is RunStatus.DECLARED
            assert any("never released" in item for item in statement.declared)
        else:
            assert_differs(second, "same-parts", "loads the state of its account")
    with pytest.raises(epsilond.InvalidInput):
        second.account.declare("noise", "there was enough of it")

"""Parameters of jax_privacy that change by other rules than steps along noisy sums, with and without an optimizer."""

import itertools
import json
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

from epsilond.runs.premises import PARAMETERS
from epsilond.runs.status import RunStatus
from tests.integrations.jax_privacy.jax_runs import IMAGES, LABELS, Loop, loss, make_plan
from tests.integrations.jax_privacy.test_jax_privacy_runs import SkipsEmpty

pytestmark = pytest.mark.filterwarnings("ignore:optax.global_norm is deprecated")
DELTA = 1e-5


@dataclass
class OtherRule(Loop):
    """Changes the parameters by another rule than plain steps.

    Attributes:
        rule: function of the loop, the parameters, the sums and the noisy sums.
    """

    rule: Any = None

    def __post_init__(self):
        super().__post_init__()
        self.momentum = jax.tree.map(jnp.zeros_like, self.parameters)
        if self.observed.optimizer is not None:
            self.moments = self.observed.optimizer.init(self.parameters)

    def descend(self, parameters, sums, noisy):
        """Return the next parameters.

        Args:
            parameters: the present ones.
            sums: sums of clipped gradients.
            noisy: the same with noise.
        """
        return self.rule(self, parameters, sums, noisy)

    def optimize(self, parameters, gradient):
        """Return the next parameters by the observed optimizer."""
        step, self.moments = self.observed.optimizer.update(gradient, self.moments, parameters)
        return optax.apply_updates(parameters, step)


def _subtract(parameters, step, factor=0.02):
    return jax.tree.map(lambda value, each: value - factor * each, parameters, step)


def _mix(_, parameters, sums, noisy):
    return _subtract(parameters, jax.tree.map(lambda clean, each: 0.2 * each + 0.8 * clean, sums, noisy))


def _leave_one_array_without_noise(_, parameters, sums, noisy):
    return _subtract(parameters, noisy | {"second": sums["second"]})


def _add_a_step_without_noise(_, parameters, sums, noisy):
    parameters = _subtract(parameters, noisy)
    return _subtract(parameters, jax.grad(loss)(parameters, IMAGES, LABELS), 1e-4)


def _keep_momentum_without_noise(loop, parameters, sums, noisy):
    step = jax.tree.map(lambda each, before: each + 0.5 * before, noisy, loop.momentum)
    loop.momentum = jax.tree.map(lambda before, each: 0.9 * before + each, loop.momentum, sums)
    return _subtract(parameters, step)


def _roll_by_a_sign(_, parameters, sums, noisy):
    shift = (sums["first"][0, 0] > 0.0).astype(int)
    return jax.tree.map(lambda each: jnp.roll(each, shift), _subtract(parameters, noisy))


def _optimize(loop, parameters, sums, noisy):
    return loop.optimize(parameters, noisy)


def _optimize_sums_first(loop, parameters, sums, noisy):
    loop.optimize(parameters, sums)
    return loop.optimize(parameters, noisy)


def _change_the_state(loop, parameters, sums, noisy):
    moments = loop.moments[0]
    mean = jax.tree.map(lambda each, clean: each + 0.1 * clean, moments.mu, sums)
    loop.moments = (moments._replace(mu=mean), *loop.moments[1:])
    return loop.optimize(parameters, noisy)


def _decay_sums(loop, parameters, sums, noisy):
    step, loop.moments = loop.observed.optimizer.update(noisy, loop.moments, sums)
    return optax.apply_updates(parameters, step)


def _change_more_than_the_optimizer(loop, parameters, sums, noisy):
    return _subtract(loop.optimize(parameters, noisy), sums, 1e-3)


ADAM = {"optimizer": optax.adam(0.02)}
OTHER_RULES = {
    "mostly without noise": (_mix, {}, "not a multiple of the noisy sum; pass the optimizer"),
    "one array without noise": (_leave_one_array_without_noise, {}, "not a multiple of the noisy sum"),
    "a public step after each": (_add_a_step_without_noise, {}, "not a multiple of the noisy sum"),
    "momentum without noise": (_keep_momentum_without_noise, {}, "not a multiple of the noisy sum"),
    "an order that tells a sign": (_roll_by_a_sign, {}, "not a multiple of the noisy sum"),
    "a gradient without noise": (_optimize_sums_first, ADAM, "another value than the noisy sum"),
    "a state without noise": (_change_the_state, ADAM, "another state"),
    "weights without noise": (_decay_sums, {"optimizer": optax.adamw(0.02)}, "other parameters"),
    "more than the update": (_change_more_than_the_optimizer, ADAM, "neither the optimizer's update nor"),
}


@pytest.mark.parametrize("name", OTHER_RULES)
def test_other_rules_are_never_certified(name):
    """Declare the parameters and nothing else, with the reason."""
    rule, setting, reason = OTHER_RULES[name]
    statement = OtherRule(make_plan(), mode="own", setting=setting, rule=rule).train().statement(delta=DELTA)
    assert statement.status is RunStatus.DECLARED
    assert [item for item in statement.declared if reason in item]
    assert all(item.startswith(PARAMETERS.statement) for item in statement.declared)


@pytest.mark.parametrize("optimizer", [optax.adam(0.02), optax.adamw(0.02), optax.sgd(0.02, momentum=0.9)])
def test_an_observed_optimizer_is_certified_with_the_same_figure(optimizer):
    """Certify momentum and weight decay, with the ε of plain steps."""
    plain = Loop(make_plan(), mode="own").train().statement(delta=DELTA)
    loop = OtherRule(make_plan(), mode="own", setting={"optimizer": optimizer}, rule=_optimize)
    statement = loop.train().statement(delta=DELTA)
    assert statement.declared == ()
    assert statement.status is plain.status is RunStatus.CERTIFIED
    assert statement.epsilon == plain.epsilon
    assert any(item.startswith("Nothing changed the parameters after the last step") for item in statement.outside)


class SkipsEmptyByRule(SkipsEmpty, OtherRule):
    """Adds noise to zeros where the batch is empty, and gives it to the optimizer."""


def test_an_observed_optimizer_is_certified_where_batches_are_empty():
    """Certify the sum of several updates between two gradients."""
    plan = make_plan(rate=0.002, iterations=10)
    loop = SkipsEmptyByRule(
        plan, mode="own", padded=8, seed=1, setting={"optimizer": optax.adamw(0.02)}, rule=_optimize
    )
    statement = loop.train().statement(delta=DELTA)
    assert statement.declared == ()
    assert statement.shown[PARAMETERS.id] == 10


def test_an_optimizer_is_followed_through_a_checkpoint():
    """Certify the resumed run only if the optimizer continues from its last state."""
    for continued in (True, False):
        setting = {"optimizer": optax.adam(0.02)}
        first = OtherRule(make_plan(), mode="own", setting=setting, rule=_optimize, steps=6)
        checkpoint = json.loads(json.dumps(first.train().state_dict()))
        second = OtherRule(make_plan(), mode="own", setting=setting, rule=_optimize)
        second.parameters, second.state = first.parameters, first.state
        second.moments = first.moments if continued else second.moments
        second.account.load_state_dict(checkpoint)
        for batch in itertools.islice(second.batches(), 6, None):
            second.parameters, second.state = second.whole(second.parameters, second.state, *second.rows(batch))
        statement = second.account.statement(delta=DELTA)
        assert statement.shown[PARAMETERS.id] == statement.steps == 12
        assert statement.status is (RunStatus.CERTIFIED if continued else RunStatus.DECLARED)

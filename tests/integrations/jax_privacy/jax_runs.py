"""Small training runs of jax_privacy, with places where a mistake can be put in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig

from epsilond.integrations.jax_privacy import observe

RECORDS, FEATURES, HIDDEN, CLASSES = 400, 12, 8, 3
CENTRAL = {"relation": "zero-out-one", "unit": "record", "observer": "released-models"}
_random = np.random.default_rng(7)
IMAGES = _random.normal(size=(RECORDS, FEATURES)).astype(np.float32)
LABELS = _random.integers(0, CLASSES, RECORDS)


def make_plan(*, bands=1, iterations=12, noise=1.5, rate=0.2, strategy=None, **options):
    """Return an execution plan of so many bands."""
    config = {"epsilon": None, "delta": None, "noise_multiplier": noise, "sampling_prob": rate, "noise_seed": 3}
    strategy = np.linspace(1.0, 0.5, bands) if strategy is None else strategy
    return BandMFExecutionPlanConfig(strategy=strategy, iterations=iterations, **config | options).plan


def start(seed=0):
    """Return the parameters of the first step."""
    random = np.random.default_rng(seed)
    return {
        "first": jnp.asarray(random.normal(size=(FEATURES, HIDDEN)) / 4.0, jnp.float32),
        "second": jnp.asarray(random.normal(size=(HIDDEN, CLASSES)) / 3.0, jnp.float32),
    }


def loss(parameters, images, labels):
    """Return the cross-entropy of the records."""
    scores = jax.nn.log_softmax(jnp.tanh(images @ parameters["first"]) @ parameters["second"])
    return -jnp.sum(jnp.take_along_axis(scores, labels[:, None], axis=1)[:, 0])


@dataclass
class Loop:
    """A training loop over an observed plan; a test overrides what it does differently.

    Attributes:
        plan: the plan, not yet observed.
        mode: "eager", "jit" (both functions inside the caller's `jax.jit`), "step" (one compiled step), or "own" (both
            functions compiled by `observe(…, jit=True)`).
        steps: number of steps; all of the plan's if None.
        padded: number of rows to which each batch is filled up, marked by `is_padding_example`; 0 for none.
    """

    plan: Any
    mode: str = "jit"
    steps: int | None = None
    padded: int = 160
    options: dict[str, Any] = field(default_factory=dict)
    setting: dict[str, Any] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self):
        self.observed = observe(self.plan, jit=self.mode == "own", **CENTRAL | self.setting)
        self.account = self.observed.account
        self.gradient = self.observed.clipped_grad(loss, batch_argnums=(1, 2), **self.options)
        self.update = self.observed.noise_addition_transform.update
        if self.mode == "jit":
            self.gradient, self.update = jax.jit(self.gradient), jax.jit(self.update)
        self.whole = jax.jit(self.one_step) if self.mode == "step" else self.one_step
        self.parameters = start(self.seed)
        self.state = self.observed.noise_addition_transform.init(self.parameters)

    def batches(self):
        """Return the indices of each step."""
        return self.observed.batch_selection_strategy.batch_iterator(RECORDS, self.seed)

    def rows(self, batch):
        """Return images, labels and padding of a batch."""
        size = max(self.padded, len(batch))
        padding = np.arange(size) >= len(batch)
        places = np.zeros(size, dtype=int)
        places[: len(batch)] = batch
        return IMAGES[places], LABELS[places], padding

    def sum_gradients(self, parameters, images, labels, padding):
        """Return the sum of clipped gradients."""
        result = self.gradient(parameters, images, labels, is_padding_example=padding)
        return result[0] if isinstance(result, tuple) else result

    def add_noise(self, sums, state):
        """Return the noisy sum and the next state."""
        return self.update(sums, state)

    def descend(self, parameters, sums, noisy):  # noqa: ARG002  (mistakes use the sums)
        """Return the next parameters."""
        return jax.tree.map(lambda value, step: value - 0.02 * step, parameters, noisy)

    def one_step(self, parameters, state, images, labels, padding):
        """Return parameters and noise state after a step."""
        sums = self.sum_gradients(parameters, images, labels, padding)
        noisy, state = self.add_noise(sums, state)
        return self.descend(parameters, sums, noisy), state

    def train(self):
        """Take the steps and return the account."""
        for step, batch in enumerate(self.batches()):
            if step == self.steps:
                break
            self.parameters, self.state = self.whole(self.parameters, self.state, *self.rows(batch))
        return self.account

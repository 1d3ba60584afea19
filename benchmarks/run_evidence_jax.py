"""Measure what the evidence of a jax_privacy run costs per step.

python -m benchmarks.run_evidence_jax [STEPS]

It needs the environment of tests/integrations/requirements-jax_privacy.txt. Each model is trained with the functions of
its plan and with those of the observed plan in turn, so that both meet the same load of the machine. The figure is the
median over pairs of blocks.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig

from epsilond.integrations.jax_privacy import observe

RECORDS, RATE, ROWS, CLASSES = 4000, 0.05, 256, 10
BLOCK = 10
"""Number of steps of a block; long against the clock, short against changes of the load."""
MODELS = {
    "logistic regression": (784, ()),
    "one hidden layer": (784, (256,)),
    "three hidden layers": (784, (512, 512, 256)),
}


def make_parameters(sizes: list[int]) -> list[jax.Array]:
    """Return weights of these layers."""
    random = np.random.default_rng(0)
    return [jnp.asarray(random.normal(size=pair) / np.sqrt(pair[0]), jnp.float32) for pair in pairwise(sizes)]


def loss(parameters: list[jax.Array], images: jax.Array, labels: jax.Array) -> jax.Array:
    """Return the cross-entropy of these records.

    Args:
        parameters: weights of the layers.
        images: (records, pixels).
        labels: (records,).
    """
    values = images
    for weights in parameters[:-1]:
        values = jnp.tanh(values @ weights)
    scores = jax.nn.log_softmax(values @ parameters[-1])
    return -jnp.sum(jnp.take_along_axis(scores, labels[:, None], axis=1)[:, 0])


def make_step(
    plan: Any, gradient: Callable[..., Any], update: Callable[..., Any], sizes: list[int]
) -> Callable[[], None]:
    """Return a function that takes a step of a run of this plan.

    Args:
        plan: the plan.
        gradient: its gradient function, of the loss.
        update: update of its noise.
        sizes: widths of the layers.
    """
    random = np.random.default_rng(1)
    images = random.normal(size=(RECORDS, sizes[0])).astype(np.float32)
    labels = random.integers(0, CLASSES, RECORDS)
    batches = plan.batch_selection_strategy.batch_iterator(RECORDS, 0)
    parameters = make_parameters(sizes)
    state = plan.noise_addition_transform.init(parameters)
    descend = jax.jit(lambda values, steps: jax.tree.map(lambda value, step: value - 1e-3 * step, values, steps))

    def step() -> None:
        """Take one step."""
        nonlocal parameters, state
        batch = next(batches)
        places = np.zeros(ROWS, dtype=int)
        places[: len(batch)] = batch
        padding = np.arange(ROWS) >= len(batch)
        sums = gradient(parameters, images[places], labels[places], is_padding_example=padding)
        noisy, state = update(sums, state)
        parameters = descend(parameters, noisy)
        jax.block_until_ready(parameters)

    return step


def measure(name: str, bands: int, steps: int) -> None:
    """Print the time of a step with and without evidence, for each way to compile.

    Args:
        name: one of `MODELS`.
        bands: number of bands of the strategy matrix.
        steps: number of steps that are timed.
    """
    width, hidden = MODELS[name]
    sizes = [width, *hidden, CLASSES]
    config = BandMFExecutionPlanConfig(
        strategy=np.linspace(1.0, 0.5, bands),
        iterations=8 * steps,
        epsilon=None,
        delta=None,
        noise_multiplier=1.0,
        sampling_prob=min(RATE * bands, 1.0),
        noise_seed=0,
    )
    plan = config.plan
    own = observe(plan, relation="zero-out-one", unit="record", observer="released-models", jit=True)
    callback = observe(plan, relation="zero-out-one", unit="record", observer="released-models")
    arguments = {"batch_argnums": (1, 2)}
    runs = {
        "plain": make_step(
            plan, jax.jit(plan.clipped_grad(loss, **arguments)), jax.jit(plan.noise_addition_transform.update), sizes
        ),
        "jit=True": make_step(own, own.clipped_grad(loss, **arguments), own.noise_addition_transform.update, sizes),
        "callback": make_step(
            callback,
            jax.jit(callback.clipped_grad(loss, **arguments)),
            jax.jit(callback.noise_addition_transform.update),
            sizes,
        ),
    }
    times: dict[str, list[float]] = {kind: [] for kind in runs}
    for step in runs.values():
        for _ in range(BLOCK):
            step()
    for _ in range(steps // BLOCK):
        for kind, step in runs.items():
            begun = time.perf_counter()
            for _ in range(BLOCK):
                step()
            times[kind].append((time.perf_counter() - begun) / BLOCK)
    plain = statistics.median(times["plain"])
    costs = {
        kind: statistics.median(mine - theirs for mine, theirs in zip(times[kind], times["plain"], strict=True))
        for kind in ("jit=True", "callback")
    }
    columns = "  ".join(f"{kind} {1e3 * cost:+.2f} ms ({100 * cost / plain:+.1f} %)" for kind, cost in costs.items())
    print(f"{name}, {bands} bands: {1e3 * plain:.1f} ms a step  {columns}")
    for observed in (own, callback):
        print(f"  {observed.account.status} after {observed.account.steps} steps")


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="optax.global_norm is deprecated")
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for model in MODELS:
        for count in (1, 4):
            measure(model, count, wanted)

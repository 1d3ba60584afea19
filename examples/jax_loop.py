"""DP-SGD with jax_privacy on handwritten digits: noise by a certified accountant, steps paid for in a ledger.

python examples/jax_loop.py [FOLDER]

It needs jax_privacy and scikit-learn in addition to the library's extra `ledger`. The plan of jax_privacy is calibrated
with `EpsilondAccountant`. Each step is committed in a ledger before its batch is drawn, and the loop ends when the
ledger is spent: here it has two thirds of the steps of the plan. The functions of the plan are observed, so that the ε
of the run has a status.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import dp_accounting
import jax
import jax.numpy as jnp
import numpy as np
from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import epsilond
from epsilond.integrations.budget import LedgerBudget
from epsilond.integrations.dp_accounting import EpsilondAccountant
from epsilond.integrations.jax_privacy import observe, paid_steps

EPSILON, DELTA = 3.0, 1e-5
STEPS, RATE, CLIPPING_NORM, LEARNING_RATE = 300, 1 / 16, 1.0, 1.0
LARGEST = 192
"""Number of rows to which each batch is filled up, marked as padding, so that jax compiles one shape."""
ZERO_OUT = dp_accounting.NeighboringRelation.REPLACE_SPECIAL


def loss(parameters: dict[str, jax.Array], images: jax.Array, labels: jax.Array) -> jax.Array:
    """Return the cross-entropy of these records."""
    hidden = jnp.tanh(images @ parameters["first"])
    scores = jax.nn.log_softmax(hidden @ parameters["second"])
    return -jnp.sum(jnp.take_along_axis(scores, labels[:, None], axis=1)[:, 0])


def main(folder: Path) -> None:
    """Open a ledger, train while it pays, and print the spent ε."""
    images, labels = load_digits(return_X_y=True)
    train, held_out, train_labels, held_out_labels = train_test_split(
        images / 16.0, labels, random_state=0, test_size=360
    )
    config = BandMFExecutionPlanConfig(
        strategy=np.ones(1),
        iterations=STEPS,
        epsilon=EPSILON,
        delta=DELTA,
        sampling_prob=RATE,
        l2_clip_norm=CLIPPING_NORM,
        accountant=EpsilondAccountant(ZERO_OUT, unit="record", observer="released-models"),
        noise_seed=0,  # for the example alone
    )
    # jit=True compiles both functions by themselves, so that they are observed without a callback.
    plan = observe(config.plan, relation="zero-out-one", unit="record", observer="released-models", jit=True)
    planned = plan.account.planned
    noise = planned.mechanism.mechanism.noise_multiplier
    print(f"noise multiplier {noise:.4f} for {STEPS} steps: ε = {EPSILON:g} at δ = {DELTA:g}")

    gradient = plan.clipped_grad(loss, batch_argnums=(1, 2))
    privatize = plan.noise_addition_transform.update
    keys = jax.random.split(jax.random.key(1), 2)
    parameters = {
        "first": jax.random.normal(keys[0], (64, 32)) / 8.0,
        "second": jax.random.normal(keys[1], (32, 10)) / 6.0,
    }
    noise_state = plan.noise_addition_transform.init(parameters)
    with epsilond.ledger(folder / "ledger.db") as books:
        ledger = books.open(
            name="digits",
            dataset="digits",
            unit="record",
            relation="zero-out-one",
            observer="released-models",
            epsilon=EPSILON,
            delta=DELTA,
            plan={"train": epsilond.Repeated(times=2 * STEPS // 3, mechanism=planned.mechanism)},
            sealed=True,
        )
        with LedgerBudget(ledger, "train", chunk=50) as budget:
            batches = plan.batch_selection_strategy.batch_iterator(len(train), rng=None)
            for _, batch in zip(paid_steps(plan, budget), batches, strict=False):
                places, padding = np.zeros(LARGEST, dtype=int), np.arange(LARGEST) >= len(batch)
                places[: len(batch)] = batch
                summed = gradient(parameters, train[places], train_labels[places], is_padding_example=padding)
                noisy, noise_state = privatize(summed, noise_state)
                parameters = jax.tree.map(
                    lambda value, step: value - LEARNING_RATE * step / (RATE * len(train)), parameters, noisy
                )
        print(f"stopped after {budget.taken} steps: {budget.refused}")
        print(plan.account.statement(delta=DELTA))
        ran = dp_accounting.SelfComposedDpEvent(plan.dp_event.event, budget.taken)
        for name, accountant in (
            ("epsilond", EpsilondAccountant(ZERO_OUT, unit="record", observer="released-models")),
            ("dp-accounting PLD", dp_accounting.pld.PLDAccountant(ZERO_OUT)),
            ("dp-accounting RDP", dp_accounting.rdp.RdpAccountant(neighboring_relation=ZERO_OUT)),
        ):
            print(f"{name} ε = {accountant.compose(ran).get_epsilon(DELTA):.6f}")
        scores = jnp.tanh(held_out @ parameters["first"]) @ parameters["second"]
        print(f"accuracy on held-out images {np.mean(np.argmax(scores, axis=1) == held_out_labels):.3f}")
        for receipt in budget.receipts:
            print(f"receipt for {receipt.entry['count']} steps, written {receipt.entry['at']}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))

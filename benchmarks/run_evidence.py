"""Cost of the evidence in an Opacus run: CPU time of a step with the accountant `epsilond` and with Opacus' own.

python benchmarks/run_evidence.py [ROUNDS]

Both accountants take turns, each with a fresh engine, so that changes of the machine's speed meet both. It needs torch,
opacus and scikit-learn. The time is that of the thread, so other processes do not count.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
import warnings
from collections.abc import Callable

import torch
from opacus import PrivacyEngine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from epsilond.integrations.opacus import register

ROUNDS = 15
"""Rounds of both accountants; the median over rounds is printed."""

STEPS = 40
"""Timed steps of a round, after as many steps that are not timed."""


def mlp() -> nn.Module:
    """Return a network for digits of 8 times 8 points."""
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


def cnn() -> nn.Module:
    """Return the network of Opacus' example for images of 28 times 28 points."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, 2, padding=3),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 32),
        nn.ReLU(),
        nn.Linear(32, 10),
    )


def digits() -> TensorDataset:
    """Return the 1797 digits of scikit-learn."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return TensorDataset(torch.tensor(images / 16.0, dtype=torch.float32), torch.tensor(labels))


def images() -> TensorDataset:
    """Return random images, because the time of a step does not depend on their content."""
    return TensorDataset(torch.randn(6_000, 1, 28, 28), torch.randint(0, 10, (6_000,)))


def seconds_per_step(accountant: str, network: Callable[[], nn.Module], data: TensorDataset, batch: int) -> float:
    """Return the CPU time of one step [s]."""
    model = network()
    model, optimizer, loader = PrivacyEngine(accountant=accountant).make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.05),
        data_loader=DataLoader(data, batch_size=batch),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
    )
    taken, start = 0, 0.0
    while True:
        for inputs, labels in loader:
            if taken == STEPS:
                start = time.thread_time()
            if taken == 2 * STEPS:
                return (time.thread_time() - start) / STEPS
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(inputs), labels).backward()
            optimizer.step()
            taken += 1


def main(rounds: int) -> None:
    """Print a row for each model and batch size."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    register()
    print("model  batch  parameters  Opacus [ms]  with evidence [ms]  difference [µs]  share")
    for name, network, data, batches in (("mlp", mlp, digits(), (64, 256)), ("cnn", cnn, images(), (64, 256))):
        parameters = sum(each.numel() for each in network().parameters())
        for batch in batches:
            times: dict[str, list[float]] = {"rdp": [], "epsilond": []}
            for _ in range(rounds):
                for accountant, measured in times.items():
                    measured.append(seconds_per_step(accountant, network, data, batch))
                    gc.collect()
            plain, ours = (1e3 * statistics.median(each) for each in times.values())
            differences = [theirs - own for own, theirs in zip(times["rdp"], times["epsilond"], strict=True)]
            difference = 1e6 * statistics.median(differences)
            print(
                f"{name:5}  {batch:5}  {parameters:10}  {plain:11.3f}  {ours:18.3f}  {difference:15.0f}  "
                f"{difference / plain / 1e3:5.1%}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)

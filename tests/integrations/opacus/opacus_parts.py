"""Parts of the Opacus programs in opacus_mistakes and opacus_good_runs: records, models, loops, and the expected ε."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from opacus import PrivacyEngine
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

import epsilond
from epsilond.integrations.opacus import EpsilondPrivacyEngine

RECORDS, FEATURES, CLASSES, BATCH = 120, 6, 3, 12
RATE = BATCH / RECORDS
STEPS = RECORDS // BATCH
"""Steps of one epoch."""
NOISE = 1.0
DELTA = 1e-5

ENGINES = {
    "epsilond": lambda: EpsilondPrivacyEngine(public_size=True),
    "opacus": lambda: PrivacyEngine(accountant="epsilond"),
}
"""Both engines that a user may have; `register()` comes before the second."""

KINDS = ["epsilond", pytest.param("opacus", marks=pytest.mark.slow)]
"""Engines of the tests: each program runs with ours, and with Opacus' own under the marker `slow`."""


def draw_records(count: int = RECORDS, *, dtype: torch.dtype = torch.float32) -> TensorDataset:
    """Return random records with random labels."""
    return TensorDataset(torch.randn(count, FEATURES, dtype=dtype), torch.randint(0, CLASSES, (count,)))


def load_batches(data: Any = None, *, batch_size: int = BATCH, **options: Any) -> DataLoader[Any]:
    """Return the loader that a user gives to `make_private`."""
    return DataLoader(draw_records() if data is None else data, batch_size=batch_size, **options)


def make_classifier(hidden: int = 8) -> nn.Module:
    """Return a small network with two layers."""
    return nn.Sequential(nn.Linear(FEATURES, hidden), nn.Tanh(), nn.Linear(hidden, CLASSES))


def prepare(
    engine: PrivacyEngine,
    *,
    model: nn.Module | None = None,
    optimizer: torch.optim.Optimizer | None = None,
    batches: Any = None,
    noise: float = NOISE,
    norm: Any = 1.0,
    **options: Any,
) -> Any:
    """Call `make_private` with usual arguments where the program gives no others, and return its tuple.

    Args:
        engine: engine to call.
        model: model to train; a small classifier by default.
        optimizer: optimizer of its trainable parameters; plain SGD by default.
        batches: loader of the records; random records by default.
        noise: noise multiplier.
        norm: clipping norm, or one for each parameter tensor.
        options: further arguments of `make_private`.
    """
    model = make_classifier() if model is None else model
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(trainable, lr=0.1) if optimizer is None else optimizer,
        data_loader=load_batches() if batches is None else batches,
        noise_multiplier=noise,
        max_grad_norm=norm,
        **options,
    )


def take_step(model: nn.Module, optimizer: Any, batch: Any, *, loss: Any = cross_entropy) -> None:
    """Train on one batch, as every tutorial does.

    Args:
        model: model that `make_private` returned.
        optimizer: private optimizer.
        batch: features and labels.
        loss: function of outputs and labels.
    """
    features, labels = batch
    optimizer.zero_grad()
    loss(model(features), labels).backward()
    optimizer.step()


def train(
    model: nn.Module, optimizer: Any, batches: Iterable[Any], *, epochs: int = 2, loss: Any = cross_entropy
) -> None:
    """Train for whole epochs.

    Args:
        model: model that `make_private` returned.
        optimizer: private optimizer.
        batches: loader.
        epochs: number of passes over the loader.
        loss: function of outputs and labels.
    """
    for _ in range(epochs):
        for batch in batches:
            take_step(model, optimizer, batch, loss=loss)


def train_plainly(model: nn.Module, optimizer: Any, batches: Iterable[Any], *, epochs: int = 1) -> None:
    """Train with an optimizer that is not private; the wrapped model clears its gradients itself.

    Args:
        model: model that `make_private` returned.
        optimizer: optimizer of PyTorch.
        batches: loader.
        epochs: number of passes over the loader.
    """
    for _ in range(epochs):
        for features, labels in batches:
            model.zero_grad()
            cross_entropy(model(features), labels).backward()
            optimizer.step()
    model.zero_grad()


def start_engine_like(engine: PrivacyEngine) -> PrivacyEngine:
    """Return a new engine of the same kind, as a program has that is started again."""
    return ENGINES["epsilond" if isinstance(engine, EpsilondPrivacyEngine) else "opacus"]()


# The figure of a right program -----------------------------------------------------------------------------
@dataclass(frozen=True)
class Expected:
    """Steps that a right program takes, counted by hand and not by the accountant.

    Attributes:
        steps: number of steps by noise multiplier and sampling rate.
    """

    steps: Mapping[tuple[float, float], int]

    @classmethod
    def of(cls, steps: int, *, noise: float = NOISE, rate: float = RATE) -> Expected:
        """Return the expectation for equal steps.

        Args:
            steps: number of steps.
            noise: noise multiplier.
            rate: sampling rate.
        """
        return cls({(noise, rate): steps})

    def epsilon(self, delta: float) -> float:
        """Return the upper bound of ε that `epsilond.account` gives for these steps."""
        parts: list[epsilond.Spec] = []
        for (noise, rate), times in self.steps.items():
            gaussian = epsilond.Gaussian(noise_multiplier=noise)
            step = gaussian if rate == 1.0 else epsilond.Subsampled(sampling="poisson", rate=rate, mechanism=gaussian)
            parts.append(step if times == 1 else epsilond.Repeated(times=times, mechanism=step))
        run = parts[0] if len(parts) == 1 else epsilond.Composed(mechanisms=tuple(parts))
        setting = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
        return epsilond.account(run, **setting).guarantee.curve.epsilon(delta=delta).upper

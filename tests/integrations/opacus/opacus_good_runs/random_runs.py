"""Right runs with sizes, rates, models, options and seeds from a random generator."""

from __future__ import annotations

import io
import itertools
import random
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from opacus import PrivacyEngine
from opacus.schedulers import ExponentialGradClip, ExponentialNoise
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch import nn
from torch.utils.data import DataLoader

from tests.integrations.opacus.opacus_parts import (
    CLASSES,
    DELTA,
    FEATURES,
    Expected,
    draw_records,
    load_batches,
    make_classifier,
    start_engine_like,
    take_step,
)

MODELS = ("linear", "two layers", "without bias", "normalized", "wide", "convolution")
OPTIMIZERS = ("sgd", "momentum", "adam", "rmsprop")


def make_model(name: str) -> nn.Module:
    """Return a new model of this name."""
    match name:
        case "linear":
            return nn.Linear(FEATURES, CLASSES)
        case "without bias":
            return nn.Linear(FEATURES, CLASSES, bias=False)
        case "two layers":
            return make_classifier(hidden=16)
        case "wide":
            return make_classifier(hidden=400)
        case "normalized":
            return nn.Sequential(nn.Linear(FEATURES, 8), nn.LayerNorm(8), nn.Tanh(), nn.Linear(8, CLASSES))
    layers = (nn.Unflatten(1, (1, FEATURES)), nn.Conv1d(1, 4, 3), nn.Tanh(), nn.Flatten(), nn.Linear(16, CLASSES))
    return nn.Sequential(*layers)


def make_optimizer(name: str, model: nn.Module) -> torch.optim.Optimizer:
    """Return a new optimizer of this name."""
    match name:
        case "sgd":
            return torch.optim.SGD(model.parameters(), lr=0.1)
        case "momentum":
            return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.01)
        case "adam":
            return torch.optim.Adam(model.parameters(), lr=0.01)
    return torch.optim.RMSprop(model.parameters(), lr=0.01)


@dataclass(frozen=True, kw_only=True)
class RandomRun:
    """Options of one run.

    Attributes:
        seed: seed of PyTorch's generator.
        records: number of records.
        batch_size: batch size of the loader that is given to `make_private`.
        noise: noise multiplier at the start.
        norm: clipping norm; of each parameter tensor for per-layer clipping.
        model: one of `MODELS`.
        optimizer: one of `OPTIMIZERS`.
        clipping: `flat`, `per_layer` or `ghost`.
        reduction: `mean` or `sum`.
        part_size: largest physical batch; 0 without virtual steps.
        noise_decay: factor of the noise multiplier after each epoch.
        norm_decay: factor of the norm after each epoch; 1 where Opacus' schedulers do not apply.
        epochs: number of epochs.
        last_steps: logical batches of one more epoch that is left early.
        draws_ahead: whether each epoch is drawn into a list.
        workers: number of processes that load batches.
        resumed: whether a new engine goes on from a checkpoint after the first epoch.
        requests: whether ε is requested in between.
        double: whether the run is in float64.
    """

    seed: int
    records: int
    batch_size: int
    noise: float
    norm: float
    model: str
    optimizer: str
    clipping: str
    reduction: str
    part_size: int
    noise_decay: float
    norm_decay: float
    epochs: int
    last_steps: int
    draws_ahead: bool
    workers: int
    resumed: bool
    requests: bool
    double: bool

    @classmethod
    def draw(cls, seed: int) -> RandomRun:
        """Return the run of this seed."""
        choices = random.Random(seed)
        records = choices.choice([20, 60, 120, 257, 500, 1000])
        clipping = choices.choice(["flat", "flat", "per_layer", "ghost"])
        part_size = choices.choice([0, 0, 3, 16, 64])
        return cls(
            seed=seed,
            records=records,
            batch_size=choices.choice([1, 7, 10, records // 10, records // 4, records // 2, records]),
            noise=choices.choice([0.3, 0.8, 1.0, 2.5, 10.0]),
            norm=choices.choice([1e-3, 0.1, 1.0, 50.0]),
            model=choices.choice(MODELS),
            optimizer=choices.choice(OPTIMIZERS),
            clipping=clipping,
            reduction=choices.choice(["mean", "sum"]),
            part_size=part_size,
            noise_decay=choices.choice([1.0, 1.0, 0.9, 1.25]),
            norm_decay=choices.choice([1.0, 0.8, 1.5]) if clipping == "flat" else 1.0,
            epochs=choices.choice([1, 2, 3]),
            last_steps=choices.choice([0, 1, 3]),
            draws_ahead=part_size == 0 and choices.random() < 0.3,
            workers=choices.choice([0] * 15 + [2]),
            resumed=choices.random() < 0.25,
            requests=choices.random() < 0.3,
            double=choices.random() < 0.2,
        )

    # Parts ------------------------------------------------------------------------------------------------------------
    def _prepare(self, engine: PrivacyEngine, data: Any) -> Any:
        """Return model, optimizer, loss and loader, as `make_private` gives them."""
        model = make_model(self.model).to(torch.float64 if self.double else torch.float32)
        count = len(list(model.parameters()))
        loss = nn.CrossEntropyLoss(reduction=self.reduction)
        modes = {"per_layer": {"clipping": "per_layer"}, "ghost": {"grad_sample_mode": "ghost", "criterion": loss}}
        prepared = engine.make_private(
            module=model,
            optimizer=make_optimizer(self.optimizer, model),
            data_loader=load_batches(data, batch_size=self.batch_size, num_workers=self.workers),
            noise_multiplier=self.noise,
            max_grad_norm=[self.norm] * count if self.clipping == "per_layer" else self.norm,
            loss_reduction=self.reduction,
            **modes.get(self.clipping, {}),
        )
        model, optimizer, *criterion, batches = prepared
        return model, optimizer, criterion[0] if criterion else loss, batches

    def _divide(self, batches: DataLoader[Any], optimizer: Any) -> AbstractContextManager[Any]:
        """Return the loader of an epoch, of physical batches where the run has virtual steps."""
        if self.part_size:
            return BatchMemoryManager(data_loader=batches, max_physical_batch_size=self.part_size, optimizer=optimizer)
        return nullcontext(list(batches) if self.draws_ahead else batches)

    def _resume(self, engine: PrivacyEngine, earlier: PrivacyEngine, model: Any, optimizer: Any, data: Any) -> Any:
        """Prepare a new engine, and load the state of an earlier one, its model and its optimizer."""
        file = io.BytesIO()
        earlier.save_checkpoint(path=file, module=model, optimizer=optimizer)
        file.seek(0)
        prepared = self._prepare(engine, data)
        engine.load_checkpoint(path=file, module=prepared[0], optimizer=prepared[1])
        prepared[1].noise_multiplier, prepared[1].max_grad_norm = optimizer.noise_multiplier, optimizer.max_grad_norm
        return prepared

    def _schedule(self, optimizer: Any) -> tuple[ExponentialNoise, ExponentialGradClip]:
        """Return the schedulers of the run."""
        norms = ExponentialGradClip(optimizer, gamma=self.norm_decay)
        return ExponentialNoise(optimizer, gamma=self.noise_decay), norms

    def __call__(self, engine: PrivacyEngine) -> Expected:
        """Train, and return the steps that were taken."""
        torch.manual_seed(self.seed)
        data = draw_records(self.records, dtype=torch.float64 if self.double else torch.float32)
        length = len(load_batches(data, batch_size=self.batch_size))
        noise, steps = self.noise, Counter[tuple[float, float]]()
        current = start_engine_like(engine) if self.resumed else engine
        model, optimizer, loss, batches = self._prepare(current, data)
        schedulers = self._schedule(optimizer)
        for epoch in range(self.epochs):
            taken = 0
            with self._divide(batches, optimizer) as parts:
                for batch in parts:
                    take_step(model, optimizer, batch, loss=loss)
                    taken += not optimizer._is_last_step_skipped
            assert length - 1 <= taken <= length  # int(1 / (1 / length)) may be one less
            steps[noise, 1 / length] += taken
            if self.requests:
                assert current.get_epsilon(DELTA) > 0.0
            for scheduler in schedulers:
                scheduler.step()
            noise *= self.noise_decay
            if self.resumed and epoch == 0:
                model, optimizer, loss, batches = self._resume(engine, current, model, optimizer, data)
                current, schedulers = engine, self._schedule(optimizer)
        for batch in itertools.islice(batches, self.last_steps):
            take_step(model, optimizer, batch, loss=loss)
            steps[noise, 1 / length] += 1
        return Expected(steps)

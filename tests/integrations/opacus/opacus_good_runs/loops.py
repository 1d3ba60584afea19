"""Right programs with other loops: virtual steps, workers, unusual batches, evaluation in between."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import torch
from opacus import PrivacyEngine
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch import nn
from torch.nn.functional import cross_entropy
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import Subset, WeightedRandomSampler

from tests.integrations.opacus.opacus_parts import (
    DELTA,
    FEATURES,
    NOISE,
    RECORDS,
    STEPS,
    Expected,
    draw_records,
    load_batches,
    prepare,
    take_step,
    train,
)

TWO_EPOCHS = Expected.of(2 * STEPS)


# Virtual steps --------------------------------------------------------------------------------------------------------
def _train_in_parts(engine: PrivacyEngine, size: int, *, workers: int = 0) -> Expected:
    model, optimizer, batches = prepare(engine, batches=load_batches(batch_size=40, num_workers=workers))
    for _ in range(4):
        with BatchMemoryManager(data_loader=batches, max_physical_batch_size=size, optimizer=optimizer) as parts:
            train(model, optimizer, parts, epochs=1)
    return Expected.of(12, rate=1 / 3)


def take_virtual_steps_of_one(engine: PrivacyEngine) -> Expected:
    """Use physical batches of a single record."""
    return _train_in_parts(engine, 1)


def take_virtual_steps_of_seven(engine: PrivacyEngine) -> Expected:
    """Use physical batches of at most seven records."""
    return _train_in_parts(engine, 7)


def take_virtual_steps_larger_than_batches(engine: PrivacyEngine) -> Expected:
    """Allow larger physical batches than are ever drawn."""
    return _train_in_parts(engine, 200)


def take_virtual_steps_with_workers(engine: PrivacyEngine) -> Expected:
    """Let worker processes draw the physical batches ahead."""
    return _train_in_parts(engine, 16, workers=2)


def take_virtual_steps_with_ghost_clipping(engine: PrivacyEngine) -> Expected:
    """Combine physical batches and ghost clipping."""
    model, optimizer, criterion, batches = prepare(
        engine, batches=load_batches(batch_size=40), grad_sample_mode="ghost", criterion=nn.CrossEntropyLoss()
    )
    for _ in range(4):
        with BatchMemoryManager(data_loader=batches, max_physical_batch_size=9, optimizer=optimizer) as parts:
            train(model, optimizer, parts, epochs=1, loss=criterion)
    return Expected.of(12, rate=1 / 3)


def take_virtual_steps_with_layer_norms(engine: PrivacyEngine) -> Expected:
    """Combine physical batches and per-layer clipping."""
    model, optimizer, batches = prepare(
        engine, batches=load_batches(batch_size=40), norm=[0.5] * 4, clipping="per_layer"
    )
    with BatchMemoryManager(data_loader=batches, max_physical_batch_size=9, optimizer=optimizer) as parts:
        train(model, optimizer, parts, epochs=4)
    return Expected.of(12, rate=1 / 3)


# Draws ----------------------------------------------------------------------------------------------------------------
def draw_ahead_with_workers(engine: PrivacyEngine) -> Expected:
    """Let two workers draw ahead, and stop in the middle of an epoch."""
    model, optimizer, batches = prepare(engine, batches=load_batches(num_workers=2))
    train(model, optimizer, batches, epochs=1)
    for batch in itertools.islice(batches, 3):
        take_step(model, optimizer, batch)
    return Expected.of(STEPS + 3)


def draw_epoch_into_list(engine: PrivacyEngine) -> Expected:
    """Draw all batches of an epoch before its first step, and use each once."""
    model, optimizer, batches = prepare(engine)
    for _ in range(2):
        train(model, optimizer, list(batches), epochs=1)
    return TWO_EPOCHS


def draw_by_endless_generator(engine: PrivacyEngine) -> Expected:
    """Train by iterations on a generator that starts the loader again, which draws anew."""
    model, optimizer, batches = prepare(engine)

    def draw_for_ever() -> Iterator[Any]:
        while True:
            yield from batches

    for batch in itertools.islice(draw_for_ever(), 23):
        take_step(model, optimizer, batch)
    return Expected.of(23)


def draw_first_batch_of_new_passes(engine: PrivacyEngine) -> Expected:
    """Start a pass over the loader for each step, by the idiom `next(iter(loader))`."""
    model, optimizer, batches = prepare(engine)
    for _ in range(25):
        take_step(model, optimizer, next(iter(batches)))
    return Expected.of(25)


def draw_with_seeded_generators(engine: PrivacyEngine) -> Expected:
    """Seed the sampler and the noise once before the run, for a run that can be repeated."""
    sampler, noise = torch.Generator().manual_seed(1), torch.Generator().manual_seed(2)
    train(*prepare(engine, batches=load_batches(generator=sampler), noise_generator=noise))
    return TWO_EPOCHS


def draw_empty_batches(engine: PrivacyEngine) -> Expected:
    """Sample at a rate of 1/120, at which every third batch is empty."""
    train(*prepare(engine, batches=load_batches(batch_size=1)), epochs=1)
    return Expected.of(120, rate=1 / 120)


def draw_empty_batches_ahead(engine: PrivacyEngine) -> Expected:
    """Draw an epoch at a rate of 1/120 into a list before its first step."""
    model, optimizer, batches = prepare(engine, batches=load_batches(batch_size=1))
    train(model, optimizer, list(batches), epochs=1)
    return Expected.of(120, rate=1 / 120)


def draw_full_batches(engine: PrivacyEngine) -> Expected:
    """Take all records in each step; the record says so."""
    train(*prepare(engine, batches=load_batches(batch_size=RECORDS), noise=4.0), epochs=12)
    return Expected.of(12, noise=4.0, rate=1.0)


def draw_from_uneven_loader(engine: PrivacyEngine) -> Expected:
    """Give a loader with a batch size that does not divide the number of records."""
    train(*prepare(engine, batches=load_batches(draw_records(113), batch_size=10)))
    return Expected.of(24, rate=1 / 12)


def draw_from_subset(engine: PrivacyEngine) -> Expected:
    """Train on a part of the records, as cross-validation does."""
    train(*prepare(engine, batches=load_batches(Subset(draw_records(), range(60)), batch_size=6)))
    return TWO_EPOCHS


def draw_in_place_of_weighted_sampler(engine: PrivacyEngine) -> Expected:
    """Give a weighted sampler, which Opacus replaces; its record is that of the sampler it uses."""
    sampler = WeightedRandomSampler([1.0] * RECORDS, RECORDS)
    train(*prepare(engine, batches=load_batches(sampler=sampler)))
    return TWO_EPOCHS


def clear_gradients_late_and_to_zero(engine: PrivacyEngine) -> Expected:
    """Clear the gradients after each step instead of before, and to zero instead of None."""
    model, optimizer, batches = prepare(engine)
    for features, labels in [*batches, *batches]:
        cross_entropy(model(features), labels).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
    return TWO_EPOCHS


# Between the steps ----------------------------------------------------------------------------------------------------
def evaluate_between_epochs(engine: PrivacyEngine) -> Expected:
    """Evaluate on held-out records and on training records, with and without gradients."""
    data = draw_records()
    model, optimizer, batches = prepare(engine, batches=load_batches(data))
    held_out = load_batches(draw_records(50))
    for _ in range(2):
        train(model, optimizer, batches, epochs=1)
        model.eval()
        with torch.no_grad():
            for features, labels in itertools.chain(held_out, load_batches(data)):
                cross_entropy(model(features), labels)
        cross_entropy(model(data.tensors[0]), data.tensors[1]).item()
        model.train()
        with torch.no_grad():
            model(data.tensors[0])
    return TWO_EPOCHS


def evaluate_copies(engine: PrivacyEngine) -> Expected:
    """Copy the model for evaluation, and change the copy."""
    model, optimizer, batches = prepare(engine)
    for _ in range(2):
        train(model, optimizer, batches, epochs=1)
        copied = copy.deepcopy(model._module)
        copied.load_state_dict(model._module.state_dict())
        with torch.no_grad():
            for parameter in copied.parameters():
                parameter.add_(1.0)
    return TWO_EPOCHS


def evaluate_with_forked_generator(engine: PrivacyEngine) -> Expected:
    """Seed an evaluation inside `fork_rng`, which puts the generator's state back."""
    model, optimizer, batches = prepare(engine)
    for _ in range(2):
        train(model, optimizer, batches, epochs=1)
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(1234)
            model(torch.randn(5, FEATURES))
    return TWO_EPOCHS


def average_weights(engine: PrivacyEngine) -> Expected:
    """Keep averages of the weights in a model of their own."""
    model, optimizer, batches = prepare(engine)
    average = AveragedModel(model._module)
    moving = AveragedModel(model._module, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    for batch in [*batches, *batches]:
        take_step(model, optimizer, batch)
        average.update_parameters(model._module)
        moving.update_parameters(model._module)
    return TWO_EPOCHS


def swap_averaged_weights_in_and_out(engine: PrivacyEngine) -> Expected:
    """Put averaged weights into the model for evaluation, and the trained ones back before the next step."""
    model, optimizer, batches = prepare(engine)
    average = [parameter.detach().clone() for parameter in model.parameters()]
    for _ in range(2):
        for batch in batches:
            take_step(model, optimizer, batch)
            for mean, parameter in zip(average, model.parameters(), strict=True):
                mean.lerp_(parameter.detach(), 0.1)
        trained = copy.deepcopy(model.state_dict())
        with torch.no_grad():
            for mean, parameter in zip(average, model.parameters(), strict=True):
                parameter.copy_(mean)
            model(torch.randn(4, FEATURES))
        assert engine.get_epsilon(DELTA) > 0.0
        model.load_state_dict(trained)
    return TWO_EPOCHS


def finish_with_averaged_weights(engine: PrivacyEngine) -> Expected:
    """Put the average that PyTorch computed into the model after the last step, and request ε then."""
    model, optimizer, batches = prepare(engine)
    average = AveragedModel(model._module, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    for batch in [*batches, *batches]:
        take_step(model, optimizer, batch)
        average.update_parameters(model)
    model._module.load_state_dict(average.module.state_dict())
    return TWO_EPOCHS


def train_on_from_averaged_weights(engine: PrivacyEngine) -> Expected:
    """Go on after the first epoch from the average of its weights."""
    model, optimizer, batches = prepare(engine)
    average = AveragedModel(model)
    for batch in batches:
        take_step(model, optimizer, batch)
        average.update_parameters(model)
    model.load_state_dict(average.module.state_dict())
    train(model, optimizer, batches, epochs=1)
    return TWO_EPOCHS


def finish_with_weights_of_best_epoch(engine: PrivacyEngine) -> Expected:
    """Put the weights of the epoch that was best on held-out records back into the model after the last step."""
    model, optimizer, batches = prepare(engine)
    features, labels = draw_records(50).tensors
    scores = []
    for _ in range(2):
        train(model, optimizer, batches, epochs=1)
        with torch.no_grad():
            scores.append((cross_entropy(model(features), labels).item(), copy.deepcopy(model.state_dict())))
    model.load_state_dict(min(scores, key=lambda each: each[0])[1])
    return TWO_EPOCHS


def look_at_gradients(engine: PrivacyEngine) -> Expected:
    """Log norms of rows and of the noisy gradient."""
    model, optimizer, batches = prepare(engine)
    norms = []
    for features, labels in [*batches, *batches]:
        optimizer.zero_grad()
        cross_entropy(model(features), labels).backward()
        norms.append([each.flatten(1).norm(dim=1) for each in optimizer.grad_samples])
        optimizer.step()
        norms.append([parameter.grad.norm() for parameter in optimizer.params])
    return TWO_EPOCHS


def clip_plain_gradient_too(engine: PrivacyEngine) -> Expected:
    """Keep a line of the program before: it clips the plain gradient, which Opacus does not use."""
    model, optimizer, batches = prepare(engine)
    for features, labels in [*batches, *batches]:
        optimizer.zero_grad()
        cross_entropy(model(features), labels).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    return TWO_EPOCHS


def train_other_model_without_privacy(engine: PrivacyEngine) -> Expected:
    """Train a generator on public noise next to the private model, as GANs do."""
    model, optimizer, batches = prepare(engine)
    generator = nn.Linear(2, FEATURES)
    plain = torch.optim.Adam(generator.parameters())
    for batch in [*batches, *batches]:
        take_step(model, optimizer, batch)
        model.disable_hooks()
        plain.zero_grad()
        model(generator(torch.randn(8, 2))).square().mean().backward()
        plain.step()
        model.enable_hooks()
    return TWO_EPOCHS


def scale_loss(engine: PrivacyEngine) -> Expected:
    """Scale the loss, which clipping undoes in part, at twice the usual noise."""
    model, optimizer, batches = prepare(engine, noise=2 * NOISE)
    for features, labels in [*batches, *batches]:
        optimizer.zero_grad()
        (3.0 * cross_entropy(model(features), labels, label_smoothing=0.1)).backward()
        optimizer.step()
    return Expected.of(2 * STEPS, noise=2 * NOISE)


PROGRAMS = (
    take_virtual_steps_of_one,
    take_virtual_steps_of_seven,
    take_virtual_steps_larger_than_batches,
    take_virtual_steps_with_workers,
    take_virtual_steps_with_ghost_clipping,
    take_virtual_steps_with_layer_norms,
    draw_ahead_with_workers,
    draw_epoch_into_list,
    draw_by_endless_generator,
    draw_first_batch_of_new_passes,
    draw_with_seeded_generators,
    draw_empty_batches,
    draw_empty_batches_ahead,
    draw_full_batches,
    draw_from_uneven_loader,
    draw_from_subset,
    draw_in_place_of_weighted_sampler,
    clear_gradients_late_and_to_zero,
    evaluate_between_epochs,
    evaluate_copies,
    evaluate_with_forked_generator,
    average_weights,
    swap_averaged_weights_in_and_out,
    finish_with_averaged_weights,
    train_on_from_averaged_weights,
    finish_with_weights_of_best_epoch,
    look_at_gradients,
    clip_plain_gradient_too,
    train_other_model_without_privacy,
    scale_loss,
)

"""Mistakes with batches: steps on batches that are not fresh draws of the recorded sampling."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from opacus import PrivacyEngine
from opacus.data_loader import DPDataLoader
from torch.utils.data import DataLoader, WeightedRandomSampler

from tests.integrations.opacus.opacus_parts import (
    BATCH,
    RECORDS,
    STEPS,
    draw_records,
    load_batches,
    prepare,
    take_step,
    train,
)


# Loaders other than the one that make_private returned ----------------------------------------------------------------
def loop_over_original_loader(engine: PrivacyEngine) -> None:
    """Train on the loader that was given to `make_private` (case F1).

    Opacus' own tutorial did so: https://github.com/meta-pytorch/opacus/pull/338
    """
    original = load_batches()
    model, optimizer, _ = prepare(engine, batches=original)
    train(model, optimizer, original)


def loop_over_original_shuffled_loader(engine: PrivacyEngine) -> None:
    """Train on a shuffled loader of equal batches, as in https://github.com/meta-pytorch/opacus/issues/80."""
    original = load_batches(shuffle=True, drop_last=True)
    model, optimizer, _ = prepare(engine, batches=original)
    train(model, optimizer, original)


def switch_poisson_sampling_off(engine: PrivacyEngine) -> None:
    """Keep the shuffled loader by `poisson_sampling=False` (case F2).

    A thread in which this is done for other reasons: https://github.com/meta-pytorch/opacus/issues/444
    """
    model, optimizer, batches = prepare(engine, batches=load_batches(shuffle=True), poisson_sampling=False)
    train(model, optimizer, batches)


def keep_weighted_sampler(engine: PrivacyEngine) -> None:
    """Keep a weighted sampler by `poisson_sampling=False`: rare classes are drawn far more often than recorded.

    The wish, and the treatment of such samplers by Opacus: https://github.com/meta-pytorch/opacus/issues/813
    """
    data = draw_records()
    sampler = WeightedRandomSampler(1.0 + 20.0 * (data.tensors[1] == 0), RECORDS)
    model, optimizer, batches = prepare(engine, batches=load_batches(data, sampler=sampler), poisson_sampling=False)
    train(model, optimizer, batches)


def draw_at_larger_rate(engine: PrivacyEngine) -> None:
    """Draw Poisson batches from a second loader, at six times the recorded rate.

    Distributed runs do this when the batch size is not divided: https://github.com/meta-pytorch/opacus/pull/745
    """
    original = load_batches()
    model, optimizer, _ = prepare(engine, batches=original)
    larger = DPDataLoader.from_data_loader(load_batches(original.dataset, batch_size=6 * BATCH))
    train(model, optimizer, larger, epochs=2 * STEPS // len(larger))


# Draws that are used again --------------------------------------------------------------------------------------------
def cache_batches_in_list(engine: PrivacyEngine) -> None:
    """Draw the batches once into a list, and train on the list for several epochs."""
    model, optimizer, batches = prepare(engine)
    cached = list(batches)
    train(model, optimizer, cached, epochs=3)


def cycle_through_loader(engine: PrivacyEngine) -> None:
    """Train by iterations on `itertools.cycle`, which stores the first epoch and repeats it.

    The idiom: https://github.com/victoresque/pytorch-template/issues/50
    """
    model, optimizer, batches = prepare(engine)
    for batch in itertools.islice(itertools.cycle(batches), 3 * STEPS):
        take_step(model, optimizer, batch)


def use_each_batch_twice(engine: PrivacyEngine) -> None:
    """Take two steps on each batch."""
    model, optimizer, batches = prepare(engine)
    for batch in batches:
        take_step(model, optimizer, batch)
        take_step(model, optimizer, batch)


def copy_batch_and_use_it_again(engine: PrivacyEngine) -> None:
    """Take a second step on copies of the tensors of each batch, so that no object is used twice."""
    model, optimizer, batches = prepare(engine)
    for features, labels in batches:
        take_step(model, optimizer, (features, labels))
        take_step(model, optimizer, (features.clone(), labels.clone()))


def repeat_seed_each_epoch(engine: PrivacyEngine) -> None:
    """Set the same seed at the start of each epoch: each epoch draws the batches of the first one, with its noise.

    Frameworks that seed Opacus from outside: https://github.com/fedbiomed/fedbiomed/issues/973
    """
    model, optimizer, batches = prepare(engine)
    for _ in range(3):
        torch.manual_seed(42)
        train(model, optimizer, batches, epochs=1)


def seed_only_sampler_each_epoch(engine: PrivacyEngine) -> None:
    """Set the seed of the loader's generator at the start of each epoch; the noise is fresh."""
    generator = torch.Generator()
    model, optimizer, batches = prepare(engine, batches=load_batches(generator=generator))
    for _ in range(3):
        generator.manual_seed(42)
        train(model, optimizer, batches, epochs=1)


def start_sampler_of_same_seed_each_epoch(engine: PrivacyEngine) -> None:
    """Give the sampler a new generator for each epoch, each with the same seed, for batches of one record on average."""
    model, optimizer, batches = prepare(engine, batches=load_batches(batch_size=1))
    for _ in range(3):
        batches.batch_sampler.generator = torch.Generator().manual_seed(9)
        train(model, optimizer, batches, epochs=1)


def share_batch_between_two_models(engine: PrivacyEngine) -> None:
    """Train two models on each batch of one loader: the record has a draw for each step, and there was one for two."""
    data = draw_records()
    model, optimizer, batches = prepare(engine, batches=load_batches(data))
    second_model, second_optimizer, _ = prepare(engine, batches=load_batches(data))
    for batch in [*batches, *batches]:
        take_step(model, optimizer, batch)
        take_step(second_model, second_optimizer, batch)


# Batches of the program's own -----------------------------------------------------------------------------------------
def slice_equal_batches(engine: PrivacyEngine) -> None:
    """Slice batches of equal size out of the tensors."""
    original = load_batches()
    features, labels = original.dataset.tensors  # type: ignore[attr-defined]
    model, optimizer, _ = prepare(engine, batches=original)
    for _ in range(3):
        for start in range(0, RECORDS, BATCH):
            take_step(model, optimizer, (features[start : start + BATCH], labels[start : start + BATCH]))


def train_on_all_records(engine: PrivacyEngine) -> None:
    """Use all records in each step, while the record says one of ten (case F1)."""
    original = load_batches()
    model, optimizer, _ = prepare(engine, batches=original)
    train(model, optimizer, [original.dataset.tensors], epochs=5)  # type: ignore[attr-defined]


def train_on_all_records_in_middle(engine: PrivacyEngine) -> None:
    """Use all records in a single step out of twenty."""
    original = load_batches()
    model, optimizer, batches = prepare(engine, batches=original)
    train(model, optimizer, batches, epochs=1)
    take_step(model, optimizer, original.dataset.tensors)  # type: ignore[attr-defined]
    train(model, optimizer, batches, epochs=1)


def slice_batches_from_midway(engine: PrivacyEngine) -> None:
    """Use the returned loader for an epoch, and own batches of varying sizes afterwards (case F1)."""
    original = load_batches()
    features, labels = original.dataset.tensors  # type: ignore[attr-defined]
    model, optimizer, batches = prepare(engine, batches=original)
    train(model, optimizer, batches, epochs=1)
    order = torch.randperm(RECORDS)
    for part in order.split([10, 13, 12, 9, 14, 11, 15, 12, 8, 16]):
        take_step(model, optimizer, (features[part], labels[part]))


def shuffle_with_poisson_sizes(engine: PrivacyEngine) -> None:
    """Cut a permutation into parts with binomial sizes: sizes look like Poisson sampling, draws are not fresh."""
    original = load_batches()
    features, labels = original.dataset.tensors  # type: ignore[attr-defined]
    model, optimizer, _ = prepare(engine, batches=original)
    for _ in range(2):
        order, start = torch.randperm(RECORDS), 0
        while start < RECORDS:
            size = int(torch.binomial(torch.tensor(float(RECORDS)), torch.tensor(BATCH / RECORDS)))
            part = order[start : start + size]
            take_step(model, optimizer, (features[part], labels[part]))
            start += size


def change_rate_of_sampler(engine: PrivacyEngine) -> None:
    """Raise the sampling rate of the returned loader after `make_private`."""
    model, optimizer, batches = prepare(engine)
    batches.batch_sampler.sample_rate = 0.4
    train(model, optimizer, batches)


def replace_sampler_by_balanced_one(engine: PrivacyEngine) -> None:
    """Draw batches with as many records of each class, by a batch sampler around the private loader's data."""
    data = draw_records()
    model, optimizer, batches = prepare(engine, batches=load_batches(data))
    classes = [(data.tensors[1] == label).nonzero().flatten() for label in range(3)]

    def draw_balanced() -> Any:
        for _ in range(STEPS):
            yield torch.cat([members[torch.randperm(len(members))[:4]] for members in classes]).tolist()

    for _ in range(2):
        train(model, optimizer, DataLoader(batches.dataset, batch_sampler=list(draw_balanced())), epochs=1)


MISTAKES = {
    loop_over_original_loader: ("fresh-draw",),
    loop_over_original_shuffled_loader: ("fresh-draw",),
    switch_poisson_sampling_off: ("fresh-draw",),
    keep_weighted_sampler: ("fresh-draw",),
    draw_at_larger_rate: ("fresh-draw",),
    cache_batches_in_list: ("fresh-draw",),
    cycle_through_loader: ("fresh-draw",),
    use_each_batch_twice: ("fresh-draw",),
    copy_batch_and_use_it_again: ("fresh-draw",),
    repeat_seed_each_epoch: ("fresh-draw", "noise"),
    seed_only_sampler_each_epoch: ("fresh-draw",),
    start_sampler_of_same_seed_each_epoch: ("fresh-draw",),
    share_batch_between_two_models: ("fresh-draw",),
    slice_equal_batches: ("fresh-draw",),
    train_on_all_records: ("fresh-draw",),
    train_on_all_records_in_middle: ("fresh-draw",),
    slice_batches_from_midway: ("fresh-draw",),
    shuffle_with_poisson_sizes: ("fresh-draw",),
    change_rate_of_sampler: ("fresh-draw",),
    replace_sampler_by_balanced_one: ("fresh-draw",),
}
"""Programs, each with the premises of which the message must name one."""

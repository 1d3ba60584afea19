"""Mistakes with the rows of a batch: a drawn record without a gradient of its own, or with more than one."""

from __future__ import annotations

import torch
from opacus import PrivacyEngine
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch.nn.functional import cross_entropy

from tests.integrations.opacus.opacus_parts import load_batches, prepare, take_step, train


def keep_hardest_records(engine: PrivacyEngine) -> None:
    """Train on the records of each batch with the largest losses: whether a record counts depends on the others."""
    model, optimizer, batches = prepare(engine)
    for _ in range(2):
        for features, labels in batches:
            with torch.no_grad():
                losses = cross_entropy(model(features), labels, reduction="none")
            hardest = losses.topk(len(losses) // 2).indices
            take_step(model, optimizer, (features[hardest], labels[hardest]))


def repeat_records(engine: PrivacyEngine) -> None:
    """Repeat each record of the batch, so that each has two clipped gradients.

    A run that shows the leak: https://github.com/meta-pytorch/opacus/issues/461
    """
    model, optimizer, batches = prepare(engine)
    for _ in range(2):
        for features, labels in batches:
            take_step(model, optimizer, (features.repeat(2, 1), labels.repeat(2)))


def stack_augmented_copies(engine: PrivacyEngine) -> None:
    """Stack four noisy copies of each record without averaging their gradients before clipping.

    How it has to be done instead: https://github.com/meta-pytorch/opacus/issues/455
    """
    model, optimizer, batches = prepare(engine)
    for _ in range(2):
        for features, labels in batches:
            copies = [features + 0.1 * torch.randn_like(features) for _ in range(4)]
            take_step(model, optimizer, (torch.cat(copies), labels.repeat(4)))


def replay_earlier_records(engine: PrivacyEngine) -> None:
    """Add records of earlier batches from a replay buffer to each batch."""
    model, optimizer, batches = prepare(engine)
    buffer: list[tuple[torch.Tensor, torch.Tensor]] = []
    for _ in range(2):
        for features, labels in batches:
            replayed = buffer[-3:]
            buffer.append((features, labels))
            mixed = torch.cat([features, *(each for each, _ in replayed)])
            take_step(model, optimizer, (mixed, torch.cat([labels, *(each for _, each in replayed)])))


def replace_records_by_replayed_ones(engine: PrivacyEngine) -> None:
    """Train on the previous batch's first records instead of this batch's: sizes differ from the draw."""
    model, optimizer, batches = prepare(engine)
    previous = None
    for _ in range(2):
        for batch in batches:
            take_step(model, optimizer, batch if previous is None else previous)
            previous = batch


def drop_confident_records(engine: PrivacyEngine) -> None:
    """Drop the records that the model predicts well already."""
    model, optimizer, batches = prepare(engine)
    for _ in range(2):
        for features, labels in batches:
            with torch.no_grad():
                confidence = model(features).softmax(1).gather(1, labels[:, None])[:, 0]
            doubtful = confidence < 0.4
            take_step(model, optimizer, (features[doubtful], labels[doubtful]))


def cap_batch_size(engine: PrivacyEngine) -> None:
    """Cut each batch to a largest size for the sake of memory: the divisor and the draw no longer belong together.

    The wish for batches of bounded size: https://github.com/meta-pytorch/opacus/issues/569
    """
    model, optimizer, batches = prepare(engine)
    for _ in range(2):
        for features, labels in batches:
            take_step(model, optimizer, (features[:10], labels[:10]))


def step_on_halves(engine: PrivacyEngine) -> None:
    """Cut each batch into two halves by hand, and step on each instead of accumulating them."""
    model, optimizer, batches = prepare(engine)
    for features, labels in batches:
        half = len(features) // 2
        take_step(model, optimizer, (features[:half], labels[:half]))
        take_step(model, optimizer, (features[half:], labels[half:]))


def pad_to_equal_size(engine: PrivacyEngine) -> None:
    """Fill each batch up with its own first records, so that all batches have one size.

    A loss that needs one size: https://github.com/meta-pytorch/opacus/issues/569
    """
    model, optimizer, batches = prepare(engine)
    for _ in range(2):
        for features, labels in batches:
            if not len(features):
                continue
            place = torch.arange(24) % len(features)
            take_step(model, optimizer, (features[place], labels[place]))


def leave_parts_out_of_virtual_step(engine: PrivacyEngine) -> None:
    """Skip small physical batches inside `BatchMemoryManager`: its signals no longer belong to the steps."""
    model, optimizer, batches = prepare(engine, batches=load_batches(batch_size=30))
    for _ in range(5):
        with BatchMemoryManager(data_loader=batches, max_physical_batch_size=8, optimizer=optimizer) as parts:
            for place, batch in enumerate(parts):
                if place % 3 == 0:
                    continue
                take_step(model, optimizer, batch)


def merge_two_draws(engine: PrivacyEngine) -> None:
    """Concatenate two draws into one batch: a record may be in both, and the recorded rate is that of one."""
    model, optimizer, batches = prepare(engine)
    for _ in range(3):
        for first, second in zip(batches, batches, strict=True):
            take_step(model, optimizer, (torch.cat([first[0], second[0]]), torch.cat([first[1], second[1]])))


def pin_record(engine: PrivacyEngine) -> None:
    """Add the same record to each batch: it is in all steps, while the record says one of ten."""
    original = load_batches()
    pinned, label = original.dataset[0]
    model, optimizer, batches = prepare(engine, batches=original)
    for features, labels in [*batches, *batches]:
        take_step(model, optimizer, (torch.cat([features, pinned[None]]), torch.cat([labels, label[None]])))


def weight_records_after_clipping(engine: PrivacyEngine) -> None:
    """Count each gradient three times in the clipped sum."""
    model, optimizer, batches = prepare(engine, loss_reduction="sum")
    for _ in range(2):
        for features, labels in batches:
            optimizer.zero_grad()
            cross_entropy(model(features), labels, reduction="sum").backward()
            optimizer.clip_and_accumulate()
            for parameter in optimizer.params:
                parameter.summed_grad.mul_(3.0)
                parameter.grad_sample = torch.zeros_like(parameter.grad_sample)
            optimizer.step()


def fill_empty_batches_with_random_records(engine: PrivacyEngine) -> None:
    """Fill empty batches by `rand_on_empty`: one record more replaces a random gradient, which moves the sum twice.

    The ways to treat empty batches: https://github.com/meta-pytorch/opacus/issues/161
    """
    model, optimizer, batches = prepare(engine, batches=load_batches(batch_size=2), rand_on_empty=True)
    train(model, optimizer, batches, epochs=1)


MISTAKES = {
    keep_hardest_records: ("one-row-per-record", "fresh-draw"),
    repeat_records: ("one-row-per-record", "fresh-draw"),
    stack_augmented_copies: ("one-row-per-record", "fresh-draw"),
    replay_earlier_records: ("one-row-per-record", "fresh-draw"),
    replace_records_by_replayed_ones: ("one-row-per-record", "fresh-draw"),
    drop_confident_records: ("one-row-per-record", "fresh-draw"),
    cap_batch_size: ("one-row-per-record", "fresh-draw"),
    step_on_halves: ("one-row-per-record", "fresh-draw"),
    pad_to_equal_size: ("one-row-per-record", "fresh-draw"),
    leave_parts_out_of_virtual_step: ("one-row-per-record", "fresh-draw"),
    merge_two_draws: ("one-row-per-record", "fresh-draw"),
    pin_record: ("one-row-per-record", "fresh-draw"),
    fill_empty_batches_with_random_records: ("one-row-per-record", "fresh-draw"),
    weight_records_after_clipping: ("one-row-per-record", "clipping"),
}
"""Programs, each with the premises of which the message must name one."""

"""Mistakes with accumulation: more than one batch, or one batch more than once, in a step."""

from __future__ import annotations

import torch
from opacus import PrivacyEngine
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch.nn.functional import cross_entropy

from tests.integrations.opacus.opacus_parts import load_batches, prepare, take_step


def accumulate_two_equal_batches(engine: PrivacyEngine) -> None:
    """Call `backward` on two batches before each step; Opacus allows it without Poisson sampling.

    The error that leads people to switch it off: https://github.com/meta-pytorch/opacus/issues/320
    """
    model, optimizer, batches = prepare(engine, batches=load_batches(shuffle=True), poisson_sampling=False)
    for _ in range(4):
        drawn = list(batches)
        for first, second in zip(drawn[::2], drawn[1::2], strict=True):
            optimizer.zero_grad()
            cross_entropy(model(first[0]), first[1]).backward()
            cross_entropy(model(second[0]), second[1]).backward()
            optimizer.step()


def accumulate_two_poisson_batches(engine: PrivacyEngine) -> None:
    """Allow accumulation again and use two draws in one step, which Opacus records as one draw at twice the rate.

    How the rate of such a step was meant: https://github.com/meta-pytorch/opacus/pull/219
    """
    model, optimizer, batches = prepare(engine)
    model.allow_grad_accumulation()
    for _ in range(4):
        drawn = list(batches)
        for first, second in zip(drawn[::2], drawn[1::2], strict=True):
            optimizer.zero_grad()
            cross_entropy(model(first[0]), first[1]).backward()
            cross_entropy(model(second[0]), second[1]).backward()
            optimizer.step()


def accumulate_at_rate_of_one_batch(engine: PrivacyEngine) -> None:
    """Skip every second step by `signal_skip_step`: two draws enter a step that is recorded at the rate of one.

    A trainer that did so: https://github.com/microsoft/dp-transformers/pull/23
    """
    model, optimizer, batches = prepare(engine)
    for _ in range(4):
        for place, batch in enumerate(batches):
            optimizer.signal_skip_step(do_skip=place % 2 == 0)
            take_step(model, optimizer, batch)


def call_backward_twice_on_batch(engine: PrivacyEngine) -> None:
    """Call `backward` for two losses on the same records: each record has two clipped rows.

    The question for a Wasserstein loss: https://github.com/meta-pytorch/opacus/issues/31
    """
    model, optimizer, batches = prepare(engine)
    model.allow_grad_accumulation()
    for _ in range(2):
        for features, labels in batches:
            optimizer.zero_grad()
            cross_entropy(model(features), labels).backward()
            model(features).square().mean().backward()
            optimizer.step()


def call_backward_on_real_and_generated(engine: PrivacyEngine) -> None:
    """Call `backward` on a drawn batch and on generated records of the same number, as discriminators do.

    The example of Opacus: https://github.com/meta-pytorch/opacus/issues/418
    """
    model, optimizer, batches = prepare(engine)
    model.allow_grad_accumulation()
    for _ in range(2):
        for features, labels in batches:
            optimizer.zero_grad()
            cross_entropy(model(features), labels).backward()
            cross_entropy(model(torch.randn_like(features)), labels).backward()
            optimizer.step()


def keep_sums_as_momentum(engine: PrivacyEngine) -> None:
    """Start the clipped sum of each step from that of the step before: momentum before the noise."""
    model, optimizer, batches = prepare(engine)
    sums: list[torch.Tensor] = []
    for _ in range(2):
        for features, labels in batches:
            optimizer.zero_grad()
            cross_entropy(model(features), labels).backward()
            for parameter, earlier in zip(optimizer.params, sums, strict=bool(sums)):
                parameter.summed_grad = 0.9 * earlier
            optimizer.step()
            sums = [parameter.summed_grad.clone() for parameter in optimizer.params]


def forget_zero_grad(engine: PrivacyEngine) -> None:
    """Clear the per-sample gradients by hand and never the sums, against the error that Opacus raises.

    The error: https://github.com/microsoft/dp-transformers/issues/47; why it is raised:
    https://github.com/meta-pytorch/opacus/pull/264
    """
    model, optimizer, batches = prepare(engine)
    for _ in range(2):
        for features, labels in batches:
            for parameter in optimizer.params:
                parameter.grad_sample = None
                if parameter.summed_grad is not None:
                    del parameter.summed_grad._processed
            cross_entropy(model(features), labels).backward()
            optimizer.step()


def break_out_of_virtual_step(engine: PrivacyEngine) -> None:
    """Leave the loop of `BatchMemoryManager` in the middle of a logical batch, and start a new one each time.

    The question of the parts that are left: https://github.com/meta-pytorch/opacus/pull/16
    """
    model, optimizer, batches = prepare(engine, batches=load_batches(batch_size=40))
    for _ in range(8):
        with BatchMemoryManager(data_loader=batches, max_physical_batch_size=6, optimizer=optimizer) as parts:
            for place, batch in enumerate(parts):
                take_step(model, optimizer, batch)
                if place == 9:
                    break


MISTAKES = {
    accumulate_two_equal_batches: ("fresh-draw", "one-row-per-record"),
    accumulate_two_poisson_batches: ("fresh-draw", "one-row-per-record"),
    accumulate_at_rate_of_one_batch: ("fresh-draw", "one-row-per-record"),
    call_backward_twice_on_batch: ("one-row-per-record", "fresh-draw"),
    call_backward_on_real_and_generated: ("one-row-per-record", "fresh-draw"),
    keep_sums_as_momentum: ("one-row-per-record", "clipping"),
    forget_zero_grad: ("one-row-per-record", "clipping"),
    break_out_of_virtual_step: ("one-row-per-record", "fresh-draw"),
}
"""Programs, each with the premises of which the message must name one."""

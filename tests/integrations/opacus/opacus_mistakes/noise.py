"""Mistakes with the noise: absent, smaller than recorded, repeated, or undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import torch
from opacus import PrivacyEngine
from opacus.optimizers import optimizer as opacus_optimizer
from torch.nn.functional import cross_entropy

from tests.integrations.opacus.opacus_parts import FEATURES, make_classifier, prepare, take_step, train


def silence_noise_for_each_step(engine: PrivacyEngine) -> None:
    """Set the noise multiplier to 0 while noise is added, and restore it before the step is recorded.

    Threads that switch the noise off: https://github.com/meta-pytorch/opacus/issues/115
    """
    model, optimizer, batches = prepare(engine)
    add_noise = optimizer.add_noise

    def add_no_noise() -> None:
        recorded, optimizer.noise_multiplier = optimizer.noise_multiplier, 0.0
        add_noise()
        optimizer.noise_multiplier = recorded

    optimizer.add_noise = add_no_noise
    train(model, optimizer, batches)


def halve_noise(engine: PrivacyEngine) -> None:
    """Add noise of half the recorded standard deviation."""
    model, optimizer, batches = prepare(engine)
    add_noise = optimizer.add_noise

    def add_half() -> None:
        optimizer.noise_multiplier *= 0.5
        add_noise()
        optimizer.noise_multiplier *= 2.0

    optimizer.add_noise = add_half
    train(model, optimizer, batches)


def _copy_sums(optimizer: Any) -> Callable[[], None]:
    """Return a method `add_noise` that adds none."""

    def copy_sums() -> None:
        for parameter in optimizer.params:
            parameter.grad = parameter.summed_grad.view_as(parameter).clone()

    return copy_sums


def replace_add_noise(engine: PrivacyEngine) -> None:
    """Replace `add_noise` by a method that copies the sums."""
    model, optimizer, batches = prepare(engine)
    optimizer.add_noise = _copy_sums(optimizer)
    train(model, optimizer, batches)


def replace_add_noise_for_one_step(engine: PrivacyEngine) -> None:
    """Leave the noise of a single step out."""
    model, optimizer, batches = prepare(engine)
    for place, batch in enumerate([*batches, *batches]):
        with patch.object(optimizer, "add_noise", _copy_sums(optimizer) if place == 7 else optimizer.add_noise):
            take_step(model, optimizer, batch)


def leave_biases_without_noise(engine: PrivacyEngine) -> None:
    """Add noise to the weight matrices only.

    The wish for noise in some layers only: https://github.com/meta-pytorch/opacus/issues/615
    """
    model, optimizer, batches = prepare(engine)
    add_noise = optimizer.add_noise

    def add_to_matrices() -> None:
        add_noise()
        for parameter in optimizer.params:
            if parameter.dim() == 1:
                parameter.grad = parameter.summed_grad.clone()

    optimizer.add_noise = add_to_matrices
    train(model, optimizer, batches)


def scale_noise_to_mean(engine: PrivacyEngine) -> None:
    """Divide the noise by the batch size once more, for noise that is "on the mean gradient".

    The misunderstanding: https://github.com/meta-pytorch/opacus/issues/753
    """
    generate = opacus_optimizer._generate_noise

    def generate_small(std: float, *arguments: Any, **options: Any) -> torch.Tensor:
        return generate(std / 12.0, *arguments, **options)

    model, optimizer, batches = prepare(engine)
    with patch.object(opacus_optimizer, "_generate_noise", generate_small):
        train(model, optimizer, batches)


def reset_generator_each_step(engine: PrivacyEngine) -> None:
    """Seed the noise generator before each step: the difference of two steps is without noise.

    Why seeding must be possible and is dangerous: https://github.com/meta-pytorch/opacus/pull/46
    """
    generator = torch.Generator()
    model, optimizer, batches = prepare(engine, noise_generator=generator)
    for batch in batches:
        generator.manual_seed(7)
        take_step(model, optimizer, batch)


def reset_generator_each_epoch(engine: PrivacyEngine) -> None:
    """Seed the noise generator before each epoch."""
    generator = torch.Generator()
    model, optimizer, batches = prepare(engine, noise_generator=generator)
    for _ in range(3):
        generator.manual_seed(7)
        train(model, optimizer, batches, epochs=1)


def start_generator_of_same_seed_each_step(engine: PrivacyEngine) -> None:
    """Give the optimizer a new generator before each step, each with the same seed."""
    model, optimizer, batches = prepare(engine)
    for batch in [*batches, *batches]:
        optimizer.generator = torch.Generator().manual_seed(3)
        take_step(model, optimizer, batch)


def seed_before_each_evaluation(engine: PrivacyEngine) -> None:
    """Seed PyTorch for an evaluation that can be repeated, which resets the noise and the draws after it."""
    model, optimizer, batches = prepare(engine)
    for _ in range(3):
        train(model, optimizer, batches, epochs=1)
        torch.manual_seed(1234)
        with torch.no_grad():
            model(torch.randn(5, FEATURES))


def restore_generator_state(engine: PrivacyEngine) -> None:
    """Restore the state of PyTorch's generator around each evaluation, to a state from before the noise."""
    model, optimizer, batches = prepare(engine)
    state = torch.get_rng_state()
    for batch in list(batches):
        torch.set_rng_state(state)
        take_step(model, optimizer, batch)


def alternate_sign_of_noise(engine: PrivacyEngine) -> None:
    """Use each noise tensor twice, the second time with the opposite sign, to reduce its variance."""
    model, optimizer, batches = prepare(engine)
    generate = opacus_optimizer._generate_noise
    noises: list[torch.Tensor] = []

    def generate_in_pairs(*arguments: Any, **options: Any) -> torch.Tensor:
        count = len(list(optimizer.params))
        if len(noises) == 2 * count:
            noises.clear()
        if len(noises) < count:
            noises.append(generate(*arguments, **options))
        else:
            noises.append(-noises[len(noises) - count])
        return noises[-1]

    with patch.object(opacus_optimizer, "_generate_noise", generate_in_pairs):
        train(model, optimizer, batches)


def share_noise_between_layers(engine: PrivacyEngine) -> None:
    """Draw one noise number for each layer and step, and add it to all its coordinates."""
    model, optimizer, batches = prepare(engine)

    def generate_once(std: float, reference: torch.Tensor, **_: Any) -> torch.Tensor:
        return torch.full_like(reference, std) * torch.randn(())

    with patch.object(opacus_optimizer, "_generate_noise", generate_once):
        train(model, optimizer, batches)


def tile_noise(engine: PrivacyEngine) -> None:
    """Draw eight noise numbers for each layer and step, and repeat them over all coordinates, to save time."""
    model, optimizer, batches = prepare(engine, model=make_classifier(hidden=100))

    def generate_tiled(std: float, reference: torch.Tensor, **_: Any) -> torch.Tensor:
        block = std * torch.randn(8)
        return block.repeat(reference.numel() // 8 + 1)[: reference.numel()].view_as(reference)

    with patch.object(opacus_optimizer, "_generate_noise", generate_tiled):
        train(model, optimizer, batches)


def leave_last_rows_without_noise(engine: PrivacyEngine) -> None:
    """Add noise to the first half of each weight matrix only."""
    model, optimizer, batches = prepare(engine, model=make_classifier(hidden=400))
    add_noise = optimizer.add_noise

    def add_to_first_half() -> None:
        add_noise()
        for parameter in optimizer.params:
            half = len(parameter) // 2
            parameter.grad[half:] = parameter.summed_grad[half:]

    optimizer.add_noise = add_to_first_half
    train(model, optimizer, batches)


def add_laplace_noise(engine: PrivacyEngine) -> None:
    """Add Laplace noise of the recorded standard deviation: its ε is another one.

    The wish: https://github.com/meta-pytorch/opacus/issues/59
    """
    model, optimizer, batches = prepare(engine)

    def generate_laplace(std: float, reference: torch.Tensor, **_: Any) -> torch.Tensor:
        return torch.distributions.Laplace(0.0, std / 2**0.5).sample(reference.shape)

    with patch.object(opacus_optimizer, "_generate_noise", generate_laplace):
        train(model, optimizer, batches)


def add_random_signs(engine: PrivacyEngine) -> None:
    """Add plus or minus the recorded standard deviation to each coordinate: two values hide nothing."""
    model, optimizer, batches = prepare(engine)

    def generate_signs(std: float, reference: torch.Tensor, **_: Any) -> torch.Tensor:
        return std * (2.0 * torch.randint_like(reference, 2) - 1.0)

    with patch.object(opacus_optimizer, "_generate_noise", generate_signs):
        train(model, optimizer, batches)


def subtract_noise_again(engine: PrivacyEngine) -> None:
    """Subtract most of the noise between `pre_step` and the optimizer's step."""
    model, optimizer, batches = prepare(engine)
    for batch in [*batches, *batches]:
        optimizer.zero_grad()
        cross_entropy(model(batch[0]), batch[1]).backward()
        if optimizer.pre_step():
            for parameter in optimizer.params:
                clean = parameter.summed_grad / optimizer.expected_batch_size
                parameter.grad.copy_(0.9 * clean + 0.1 * parameter.grad)
            optimizer.original_optimizer.step()


def scale_update_by_loss(engine: PrivacyEngine) -> None:
    """Multiply the noisy gradient by the batch's own loss: the factor depends on the records without noise."""
    model, optimizer, batches = prepare(engine)
    for features, labels in [*batches, *batches]:
        optimizer.zero_grad()
        loss = cross_entropy(model(features), labels)
        loss.backward()
        if optimizer.pre_step():
            for parameter in optimizer.params:
                parameter.grad.mul_(loss.item())
            optimizer.original_optimizer.step()


MISTAKES = {
    silence_noise_for_each_step: ("noise",),
    halve_noise: ("noise",),
    replace_add_noise: ("noise",),
    replace_add_noise_for_one_step: ("noise",),
    leave_biases_without_noise: ("noise",),
    scale_noise_to_mean: ("noise",),
    reset_generator_each_step: ("noise",),
    reset_generator_each_epoch: ("noise",),
    start_generator_of_same_seed_each_step: ("noise",),
    seed_before_each_evaluation: ("noise", "fresh-draw"),
    restore_generator_state: ("noise",),
    alternate_sign_of_noise: ("noise",),
    share_noise_between_layers: ("noise",),
    tile_noise: ("noise",),
    leave_last_rows_without_noise: ("noise",),
    add_laplace_noise: ("noise",),
    add_random_signs: ("noise",),
    subtract_noise_again: ("noise", "parameters", "divisor"),
    scale_update_by_loss: ("parameters", "divisor", "noise"),
}
"""Programs, each with the premises of which the message must name one."""

"""Mistakes with the clipping norm and the divisor."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import torch
from opacus import PrivacyEngine
from opacus.schedulers import ExponentialGradClip
from torch import nn
from torch.nn.functional import cross_entropy

from tests.integrations.opacus.opacus_parts import load_batches, prepare, take_step, train


def clip_to_larger_norm_than_noise(engine: PrivacyEngine) -> None:
    """Raise `max_grad_norm` while gradients are clipped, and restore it for the noise.

    The wish to change the norm while training: https://github.com/meta-pytorch/opacus/issues/594
    """
    model, optimizer, batches = prepare(engine, norm=0.1)
    clip = optimizer.clip_and_accumulate

    def clip_loosely() -> None:
        norm, optimizer.max_grad_norm = optimizer.max_grad_norm, 10.0
        clip()
        optimizer.max_grad_norm = norm

    optimizer.clip_and_accumulate = clip_loosely
    train(model, optimizer, batches)


def sum_without_clipping(engine: PrivacyEngine) -> None:
    """Replace the clipping by a plain sum, as requested in https://github.com/meta-pytorch/opacus/issues/177."""
    model, optimizer, batches = prepare(engine, norm=0.1)

    def add_up() -> None:
        for parameter in optimizer.params:
            parameter.summed_grad = optimizer._get_flat_grad_sample(parameter).sum(0)

    optimizer.clip_and_accumulate = add_up
    train(model, optimizer, batches)


def clip_sum_instead_of_rows(engine: PrivacyEngine) -> None:
    """Clip the norm of the whole sum, as non-private training does, and not of each row."""
    model, optimizer, batches = prepare(engine, norm=0.1)

    def clip_sum() -> None:
        sums = [optimizer._get_flat_grad_sample(parameter).sum(0) for parameter in optimizer.params]
        norm = torch.stack([each.norm() for each in sums]).norm()
        for parameter, total in zip(optimizer.params, sums, strict=True):
            parameter.summed_grad = total * (12 * optimizer.max_grad_norm / (norm + 1e-6)).clamp(max=1.0)

    optimizer.clip_and_accumulate = clip_sum
    train(model, optimizer, batches)


def leave_biases_out_of_norm(engine: PrivacyEngine) -> None:
    """Compute the norms of rows from the weight matrices only, and leave the biases unclipped."""
    model, optimizer, batches = prepare(engine, norm=0.1)

    def clip_matrices() -> None:
        rows = optimizer.grad_samples
        norms = torch.stack([each.flatten(1).norm(dim=1) for each in rows if each.dim() > 2]).norm(dim=0)
        factors = (optimizer.max_grad_norm / (norms + 1e-6)).clamp(max=1.0)
        for parameter, part in zip(optimizer.params, rows, strict=True):
            parameter.summed_grad = torch.einsum("i,i...", factors, part) if part.dim() > 2 else part.sum(0)

    optimizer.clip_and_accumulate = clip_matrices
    train(model, optimizer, batches)


def add_unclipped_gradient(engine: PrivacyEngine) -> None:
    """Add the gradient of a second loss on the same records to the clipped sum."""
    model, optimizer, batches = prepare(engine, norm=0.1)
    add_noise = optimizer.add_noise

    def add_regularizer() -> None:
        for parameter in optimizer.params:
            parameter.summed_grad.add_(parameter.grad_sample.sum(0))
        add_noise()

    optimizer.add_noise = add_regularizer
    train(model, optimizer, batches)


def raise_norms_of_layers(engine: PrivacyEngine) -> None:
    """Raise the norms of per-layer clipping; the noise keeps the norm that was computed from the old ones.

    How the two belong together: https://github.com/meta-pytorch/opacus/issues/202
    """
    model, optimizer, batches = prepare(engine, norm=[0.1] * 4, clipping="per_layer")
    optimizer.max_grad_norms = [5.0] * 4
    train(model, optimizer, batches)


def clip_layers_to_norm_of_all(engine: PrivacyEngine) -> None:
    """Clip each layer to the norm that holds for all layers together, with noise for one layer."""
    model, optimizer, batches = prepare(engine, norm=[0.1] * 4, clipping="per_layer")
    optimizer.max_grad_norm = 0.1
    train(model, optimizer, batches)


def _prepare_ghost(engine: PrivacyEngine, **options: Any) -> Any:
    return prepare(engine, grad_sample_mode="ghost", criterion=nn.CrossEntropyLoss(), **options)


def use_raw_criterion_with_ghost_clipping(engine: PrivacyEngine) -> None:
    """Compute the loss with the given criterion and not with the returned one: nothing is clipped.

    Why the returned one is needed: https://github.com/meta-pytorch/opacus/pull/668
    """
    model, optimizer, _, batches = _prepare_ghost(engine)
    train(model, optimizer, batches, loss=nn.CrossEntropyLoss())


def raise_norm_of_ghost_module(engine: PrivacyEngine) -> None:
    """Raise the norm of the module, which clips, and not that of the optimizer, which adds noise.

    Two places for one norm were a defect once: https://github.com/meta-pytorch/opacus/pull/664
    """
    model, optimizer, criterion, batches = _prepare_ghost(engine, norm=0.1)
    model.max_grad_norm = 5.0
    train(model, optimizer, batches, loss=criterion)


def replace_factors_of_ghost_clipping(engine: PrivacyEngine) -> None:
    """Replace the clipping factors of the ghost module by ones."""
    model, optimizer, criterion, batches = _prepare_ghost(engine, norm=0.1)
    compute = model.get_clipping_coef
    model.get_clipping_coef = lambda: torch.ones_like(compute())
    train(model, optimizer, batches, loss=criterion)


def schedule_norm_of_ghost_clipping(engine: PrivacyEngine) -> None:
    """Let a scheduler of Opacus lower the norm: the noise shrinks, the module goes on clipping to the first norm.

    The schedulers know the optimizer only: https://github.com/meta-pytorch/opacus/issues/375
    """
    model, optimizer, criterion, batches = _prepare_ghost(engine)
    scheduler = ExponentialGradClip(optimizer, gamma=0.5)
    for _ in range(3):
        train(model, optimizer, batches, epochs=1, loss=criterion)
        scheduler.step()


def adapt_norm_to_data(engine: PrivacyEngine) -> None:
    """Let Opacus adapt the norm to the data (case F2): its count of unclipped rows is not private enough.

    The question of its ε: https://github.com/meta-pytorch/opacus/issues/539
    """
    model, optimizer, batches = prepare(
        engine,
        clipping="adaptive",
        target_unclipped_quantile=0.5,
        clipbound_learning_rate=0.2,
        max_clipbound=10.0,
        min_clipbound=0.1,
        unclipped_num_std=2.0,
    )
    train(model, optimizer, batches)


def set_norm_to_median_of_batch(engine: PrivacyEngine) -> None:
    """Set the norm before each step to the median norm of the batch's own gradients."""
    model, optimizer, batches = prepare(engine)
    clip = optimizer.clip_and_accumulate

    def clip_to_median() -> None:
        norms = [each.flatten(1).norm(dim=1) for each in optimizer.grad_samples]
        optimizer.max_grad_norm = float(torch.stack(norms).norm(dim=0).median())
        clip()

    optimizer.clip_and_accumulate = clip_to_median
    train(model, optimizer, batches)


# Divisor --------------------------------------------------------------------------------------------------------------
def divide_by_size_of_batch(engine: PrivacyEngine) -> None:
    """Set the expected batch size to the size of each batch.

    The proposal to do so: https://github.com/meta-pytorch/opacus/issues/420
    """
    model, optimizer, batches = prepare(engine)
    for batch in [*batches, *batches]:
        optimizer.expected_batch_size = max(len(batch[0]), 1)
        take_step(model, optimizer, batch)


def divide_by_size_of_first_batch(engine: PrivacyEngine) -> None:
    """Set the expected batch size, before the first step, to the size of a batch that happened to be drawn."""
    model, optimizer, batches = prepare(engine, batches=load_batches(batch_size=7))
    drawn = [*batches, *batches]
    optimizer.expected_batch_size = max(len(drawn[0][0]), 1) + 0.5
    train(model, optimizer, drawn, epochs=1)


def divide_noisy_sum_by_size_of_batch(engine: PrivacyEngine) -> None:
    """Take sums from Opacus, and divide them by the size of the batch in a hook of the original optimizer."""
    model, optimizer, batches = prepare(engine, loss_reduction="sum")
    size = [1]

    def divide(*_: Any) -> None:
        for parameter in optimizer.params:
            parameter.grad.div_(size[0])

    optimizer.original_optimizer.register_step_pre_hook(divide)
    for features, labels in [*batches, *batches]:
        size[0] = max(len(features), 1)
        take_step(model, optimizer, (features, labels), loss=nn.CrossEntropyLoss(reduction="sum"))


def replace_scaling(engine: PrivacyEngine) -> None:
    """Replace `scale_grad` by a division by the number of rows."""
    model, optimizer, batches = prepare(engine, batches=load_batches())

    def scale_by_rows() -> None:
        for parameter in optimizer.params:
            parameter.grad.div_(max(len(parameter.grad_sample), 1))

    with patch.object(optimizer, "scale_grad", scale_by_rows):
        train(model, optimizer, batches, loss=cross_entropy)


MISTAKES = {
    clip_to_larger_norm_than_noise: ("clipping",),
    sum_without_clipping: ("clipping",),
    clip_sum_instead_of_rows: ("clipping",),
    leave_biases_out_of_norm: ("clipping",),
    add_unclipped_gradient: ("clipping", "one-row-per-record", "noise"),
    raise_norms_of_layers: ("clipping",),
    clip_layers_to_norm_of_all: ("clipping",),
    use_raw_criterion_with_ghost_clipping: ("clipping", "one-row-per-record"),
    raise_norm_of_ghost_module: ("clipping",),
    replace_factors_of_ghost_clipping: ("clipping",),
    schedule_norm_of_ghost_clipping: ("clipping",),
    adapt_norm_to_data: ("clipping", "noise", "divisor"),
    set_norm_to_median_of_batch: ("clipping",),
    divide_by_size_of_batch: ("divisor",),
    divide_by_size_of_first_batch: ("divisor",),
    divide_noisy_sum_by_size_of_batch: ("divisor", "parameters", "noise"),
    replace_scaling: ("divisor",),
}
"""Programs, each with the premises of which the message must name one."""

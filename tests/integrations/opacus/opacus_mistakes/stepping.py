"""Mistakes with who steps: parameters that change otherwise than by recorded steps."""

from __future__ import annotations

import copy

import torch
from opacus import PrivacyEngine
from opacus.optimizers import DPOptimizer
from torch import nn
from torch.nn.functional import cross_entropy

from tests.integrations.opacus.opacus_parts import (
    BATCH,
    CLASSES,
    FEATURES,
    NOISE,
    load_batches,
    make_classifier,
    prepare,
    start_engine_like,
    take_step,
    train,
    train_plainly,
)


def step_original_optimizer(engine: PrivacyEngine) -> None:
    """Go on with the optimizer that was given to `make_private` (case F3): nothing is clipped, noisy or recorded.

    An example of Opacus trained without privacy: https://github.com/meta-pytorch/opacus/issues/313
    """
    model = make_classifier()
    original = torch.optim.SGD(model.parameters(), lr=0.1)
    model, _, batches = prepare(engine, model=model, optimizer=original)
    train_plainly(model, original, batches)


def step_original_optimizer_now_and_then(engine: PrivacyEngine) -> None:
    """Use the private optimizer, and the original one for every fifth batch.

    The wish to switch privacy on and off between batches: https://github.com/meta-pytorch/opacus/issues/163
    """
    model, optimizer, batches = prepare(engine)
    for place, batch in enumerate([*batches, *batches]):
        if place % 5 == 4:
            optimizer.zero_grad()
            cross_entropy(model(batch[0]), batch[1]).backward()
            optimizer.original_optimizer.step()
        else:
            take_step(model, optimizer, batch)


def warm_up_without_privacy(engine: PrivacyEngine) -> None:
    """Train the wrapped model without noise for an epoch after `make_private`, and privately afterwards."""
    original = load_batches()
    model, optimizer, batches = prepare(engine, batches=original)
    train_plainly(model, torch.optim.Adam(model.parameters(), lr=0.01), original)
    train(model, optimizer, batches)


def warm_up_by_hand(engine: PrivacyEngine) -> None:
    """Update the weights by plain gradients for an epoch after `make_private`, without any optimizer."""
    original = load_batches()
    model, optimizer, batches = prepare(engine, batches=original)
    for features, labels in original:
        model.zero_grad()
        cross_entropy(model(features), labels).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.1 * parameter.grad
    model.zero_grad()
    train(model, optimizer, batches)


def polish_by_hand(engine: PrivacyEngine) -> None:
    """Update the weights by a plain gradient after the last private step, without any optimizer."""
    original = load_batches()
    model, optimizer, batches = prepare(engine, batches=original)
    train(model, optimizer, batches)
    features, labels = original.dataset.tensors  # type: ignore[attr-defined]
    model.zero_grad()
    gradients = torch.autograd.grad(cross_entropy(model._module(features), labels), list(model.parameters()))
    with torch.no_grad():
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            parameter -= gradient


def replace_head_and_train_it(engine: PrivacyEngine) -> None:
    """Train the body privately, and a head that replaces the old one after `make_private` without privacy."""
    model = make_classifier()
    module, optimizer, batches = prepare(
        engine,
        model=model,
        optimizer=torch.optim.SGD(model[0].parameters(), lr=0.1),  # type: ignore[index]
    )
    model[2] = nn.Linear(8, CLASSES)  # type: ignore[index]
    head = torch.optim.SGD(model[2].parameters(), lr=0.1)  # type: ignore[index]
    for batch in [*batches, *batches]:
        head.zero_grad()
        take_step(module, optimizer, batch)
        head.step()


def polish_without_privacy(engine: PrivacyEngine) -> None:
    """Train without noise for an epoch after the last private step, before ε is requested."""
    original = load_batches()
    model, optimizer, batches = prepare(engine, batches=original)
    train(model, optimizer, batches)
    optimizer.zero_grad()
    train_plainly(model, torch.optim.Adam(model.parameters(), lr=0.01), original)


def use_second_optimizer(engine: PrivacyEngine) -> None:
    """Let a plain optimizer for the same parameters step in turns with the private one."""
    model, optimizer, batches = prepare(engine)
    plain = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in [*batches, *batches]:
        take_step(model, optimizer, batch)
        optimizer.zero_grad()
        cross_entropy(model(batch[0]), batch[1]).backward()
        plain.step()


def train_head_without_privacy(engine: PrivacyEngine) -> None:
    """Give the private optimizer the body only, and train the head of the same model with a plain one.

    This was advised for noise in some layers: https://github.com/meta-pytorch/opacus/issues/615
    """
    model = make_classifier()
    private = torch.optim.SGD(model[0].parameters(), lr=0.1)  # type: ignore[index]
    head = torch.optim.SGD(model[2].parameters(), lr=0.1)  # type: ignore[index]
    module, optimizer, batches = prepare(engine, model=model, optimizer=private)
    for batch in [*batches, *batches]:
        head.zero_grad()
        take_step(module, optimizer, batch)
        head.step()
        for parameter in model[2].parameters():  # type: ignore[index]
            parameter.grad_sample = None


def update_weights_by_hand(engine: PrivacyEngine) -> None:
    """Subtract the plain gradient from the weights before the private step."""
    model, optimizer, batches = prepare(engine)
    for features, labels in [*batches, *batches]:
        optimizer.zero_grad()
        cross_entropy(model(features), labels).backward()
        with torch.no_grad():
            for parameter in optimizer.params:
                parameter -= 0.05 * parameter.grad
        optimizer.step()


def update_weights_through_data(engine: PrivacyEngine) -> None:
    """Change the weights through `.data`, which leaves no trace in autograd's version counter."""
    model, optimizer, batches = prepare(engine)
    for place, (features, labels) in enumerate([*batches, *batches]):
        optimizer.zero_grad()
        cross_entropy(model(features), labels).backward()
        if place == 11:
            for parameter in optimizer.params:
                parameter.data.add_(parameter.grad, alpha=-0.05)
        optimizer.step()


def load_weights_of_plain_training(engine: PrivacyEngine) -> None:
    """Load the weights of a copy that was trained without privacy, in the middle of the run."""
    original = load_batches()
    model = make_classifier()
    plain = copy.deepcopy(model)
    module, optimizer, batches = prepare(engine, model=model, batches=original)
    train(module, optimizer, batches, epochs=1)
    train(plain, torch.optim.SGD(plain.parameters(), lr=0.1), original, epochs=3)
    model.load_state_dict(plain.state_dict())
    train(module, optimizer, batches, epochs=1)


def resume_from_polished_weights(engine: PrivacyEngine) -> None:
    """Polish the weights without privacy between two private epochs, with a saved accountant and a new engine."""
    original, first = load_batches(), start_engine_like(engine)
    model, optimizer, batches = prepare(first, batches=original)
    train(model, optimizer, batches, epochs=1)
    state, polished = first.accountant.state_dict(), copy.deepcopy(model._module.state_dict())
    again = make_classifier()
    again.load_state_dict(polished)
    train(again, torch.optim.SGD(again.parameters(), lr=0.1), original, epochs=3)
    engine.accountant.load_state_dict(state)
    module, optimizer, batches = prepare(engine, model=again, batches=original)
    train(module, optimizer, batches, epochs=1)


def undo_steps_that_raise_loss(engine: PrivacyEngine) -> None:
    """Undo a step if the loss on all records rose: the choice depends on the records without noise."""
    original = load_batches()
    features, labels = original.dataset.tensors  # type: ignore[attr-defined]
    model, optimizer, batches = prepare(engine, batches=original)
    for batch in [*batches, *batches]:
        before = copy.deepcopy(model.state_dict())
        with torch.no_grad():
            loss_before = cross_entropy(model(features), labels)
        take_step(model, optimizer, batch)
        with torch.no_grad():
            if cross_entropy(model(features), labels) > loss_before:
                model.load_state_dict(before)


def let_two_engines_train_one_model(engine: PrivacyEngine) -> None:
    """Train one model with two engines in turns, and report the ε of one of them.

    An engine for each round: https://github.com/meta-pytorch/opacus/issues/688
    """
    original, model = load_batches(), make_classifier()
    module, optimizer, batches = prepare(engine, model=model, batches=original)
    train(module, optimizer, batches, epochs=1)
    _, second, more = prepare(start_engine_like(engine), model=module, batches=original)
    train(module, second, more, epochs=1)
    train(module, optimizer, batches, epochs=1)


def wrap_optimizer_again(engine: PrivacyEngine) -> None:
    """Wrap the original optimizer by hand in a second private one with little noise, which records nothing."""
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches, epochs=1)
    again = DPOptimizer(
        optimizer.original_optimizer, noise_multiplier=0.1 * NOISE, max_grad_norm=1.0, expected_batch_size=BATCH
    )
    train(model, again, batches, epochs=1)


def reorder_weights(engine: PrivacyEngine) -> None:
    """Reverse the order of the weights between steps where a record is in the batch; their sum stays the same."""
    model, optimizer, batches = prepare(engine)
    for features, labels in [*batches, *batches]:
        take_step(model, optimizer, (features, labels))
        if (features[:, 0] > 1.0).any():
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.copy_(parameter.flip(0))


class RunningMeans(nn.Module):
    """A layer without parameters that subtracts running means of its inputs, and keeps them as a buffer."""

    means: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("means", torch.zeros(FEATURES))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Update the means in training, and subtract them."""
        if self.training and len(features):
            self.means = 0.9 * self.means + 0.1 * features.detach().mean(0)
        return features - self.means


def keep_running_means(engine: PrivacyEngine) -> None:
    """Keep means of the records in a buffer of the model, which is released with it and has no noise."""
    model = nn.Sequential(RunningMeans(), nn.Linear(FEATURES, CLASSES))
    module, optimizer, batches = prepare(engine, model=model)
    train(module, optimizer, batches)


MISTAKES = {
    step_original_optimizer: ("parameters", "same-parts"),
    step_original_optimizer_now_and_then: ("parameters",),
    warm_up_without_privacy: ("parameters",),
    warm_up_by_hand: ("parameters",),
    polish_by_hand: ("parameters",),
    replace_head_and_train_it: ("parameters", "same-parts"),
    polish_without_privacy: ("parameters",),
    use_second_optimizer: ("parameters",),
    train_head_without_privacy: ("parameters",),
    update_weights_by_hand: ("parameters",),
    update_weights_through_data: ("parameters",),
    load_weights_of_plain_training: ("parameters",),
    resume_from_polished_weights: ("parameters", "same-parts"),
    undo_steps_that_raise_loss: ("parameters",),
    let_two_engines_train_one_model: ("parameters", "same-parts"),
    wrap_optimizer_again: ("parameters", "same-parts"),
    reorder_weights: ("parameters",),
    keep_running_means: ("parameters", "one-row-per-record"),
}
"""Programs, each with the premises of which the message must name one."""

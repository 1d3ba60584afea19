"""Right programs with other models, optimizers and ways to clip."""

from __future__ import annotations

from typing import Any

import torch
from opacus import PrivacyEngine
from opacus.layers import DPLSTM, DPMultiheadAttention
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import TensorDataset

from tests.integrations.opacus.opacus_parts import (
    CLASSES,
    FEATURES,
    NOISE,
    RATE,
    RECORDS,
    STEPS,
    Expected,
    draw_records,
    load_batches,
    make_classifier,
    prepare,
    take_step,
    train,
)

TWO_EPOCHS = Expected.of(2 * STEPS)


def freeze_layer(engine: PrivacyEngine) -> Expected:
    """Train the last layer of a model, and freeze the first."""
    model = make_classifier()
    for parameter in model[0].parameters():  # type: ignore[index]
        parameter.requires_grad = False
    train(*prepare(engine, model=model))
    return TWO_EPOCHS


def freeze_weights_but_not_bias(engine: PrivacyEngine) -> Expected:
    """Freeze a weight matrix and train its bias, as in https://github.com/meta-pytorch/opacus/issues/542."""
    model = make_classifier()
    model[0].weight.requires_grad = False  # type: ignore[index]
    train(*prepare(engine, model=model))
    return TWO_EPOCHS


def give_optimizer_some_parameters(engine: PrivacyEngine) -> Expected:
    """Give the optimizer the last layer only; the gradients of the first are not used."""
    model = make_classifier()
    module, optimizer, batches = prepare(
        engine,
        model=model,
        optimizer=torch.optim.SGD(model[2].parameters(), lr=0.1),  # type: ignore[index]
    )
    for batch in [*batches, *batches]:
        take_step(module, optimizer, batch)
        module.zero_grad()
    return TWO_EPOCHS


def use_groups_of_parameters(engine: PrivacyEngine) -> Expected:
    """Give each layer a learning rate and a weight decay of its own."""
    model = make_classifier()
    groups = [
        {"params": model[0].parameters(), "lr": 0.1, "weight_decay": 0.01},  # type: ignore[index]
        {"params": model[2].parameters(), "lr": 0.01},  # type: ignore[index]
    ]
    train(*prepare(engine, model=model, optimizer=torch.optim.SGD(groups, momentum=0.9)))
    return TWO_EPOCHS


def use_adam(engine: PrivacyEngine) -> Expected:
    """Use AdamW with weight decay, which changes the weights by more than the gradient."""
    model = make_classifier()
    train(*prepare(engine, model=model, optimizer=torch.optim.AdamW(model.parameters(), weight_decay=0.1)))
    return TWO_EPOCHS


def use_momentum(engine: PrivacyEngine) -> Expected:
    """Use Nesterov momentum."""
    model = make_classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    train(*prepare(engine, model=model, optimizer=optimizer))
    return TWO_EPOCHS


def step_with_closure(engine: PrivacyEngine) -> Expected:
    """Hand a closure to `step`, as frameworks around PyTorch do."""
    model, optimizer, batches = prepare(engine)
    for features, labels in [*batches, *batches]:

        def closure(features: Any = features, labels: Any = labels) -> Any:
            optimizer.zero_grad()
            loss = cross_entropy(model(features), labels)
            loss.backward()
            return loss

        optimizer.step(closure)
    return TWO_EPOCHS


def clip_each_layer(engine: PrivacyEngine) -> Expected:
    """Clip each layer to a norm of its own."""
    train(*prepare(engine, norm=[1.0, 0.5, 0.1, 2.0], clipping="per_layer"))
    return TWO_EPOCHS


def clip_almost_nothing(engine: PrivacyEngine) -> Expected:
    """Clip to a large norm, so that rows stay as they are."""
    train(*prepare(engine, norm=100.0))
    return TWO_EPOCHS


def clip_almost_everything(engine: PrivacyEngine) -> Expected:
    """Clip to a tiny norm."""
    train(*prepare(engine, norm=1e-5))
    return TWO_EPOCHS


def clip_by_ghost_norms(engine: PrivacyEngine) -> Expected:
    """Use ghost clipping with the criterion that `make_private` returns."""
    model, optimizer, criterion, batches = prepare(
        engine, grad_sample_mode="ghost", criterion=nn.CrossEntropyLoss(), norm=0.3
    )
    train(model, optimizer, batches, loss=criterion)
    return TWO_EPOCHS


def add_up_losses(engine: PrivacyEngine) -> Expected:
    """Use sums instead of means, for the loss and for Opacus."""
    model, optimizer, batches = prepare(engine, loss_reduction="sum")
    train(model, optimizer, batches, loss=nn.CrossEntropyLoss(reduction="sum"))
    return TWO_EPOCHS


def compute_rows_by_functorch(engine: PrivacyEngine) -> Expected:
    """Compute per-sample gradients by functorch."""
    train(*prepare(engine, grad_sample_mode="functorch"))
    return TWO_EPOCHS


def compute_rows_by_expanded_weights(engine: PrivacyEngine) -> Expected:
    """Compute per-sample gradients by PyTorch's expanded weights, which want sums."""
    model, optimizer, batches = prepare(engine, grad_sample_mode="ew", loss_reduction="sum")
    train(model, optimizer, batches, loss=nn.CrossEntropyLoss(reduction="sum"))
    return TWO_EPOCHS


def compute_rows_by_hand(engine: PrivacyEngine) -> Expected:
    """Compute per-sample gradients in the program and hand them to Opacus, as its example for CIFAR-10 does."""
    model = make_classifier()
    wrapped, optimizer, batches = prepare(engine, model=model, grad_sample_mode="no_op")

    def compute_loss(parameters: Any, features: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        return cross_entropy(torch.func.functional_call(model, parameters, features[None]), label[None])

    compute_rows = torch.func.vmap(torch.func.grad(compute_loss), in_dims=(None, 0, 0))
    for features, labels in [*batches, *batches]:
        optimizer.zero_grad()
        parameters = {name: each.detach() for name, each in model.named_parameters()}
        rows = compute_rows(parameters, features, labels)
        for name, parameter in model.named_parameters():
            parameter.grad_sample = rows[name]
        optimizer.step()
    del wrapped
    return TWO_EPOCHS


def compute_by_autocast(engine: PrivacyEngine) -> Expected:
    """Compute the forward pass in mixed precision."""
    model, optimizer, batches = prepare(engine)
    for features, labels in [*batches, *batches]:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = cross_entropy(model(features), labels)
        loss.backward()
        optimizer.step()
    return TWO_EPOCHS


def attach_hooks_without_wrapper(engine: PrivacyEngine) -> Expected:
    """Keep the model unwrapped, with hooks only."""
    model = make_classifier()
    hooks, optimizer, batches = prepare(engine, model=model, wrap_model=False)
    train(model, optimizer, batches)
    hooks.cleanup()
    return TWO_EPOCHS


def call_unwrapped_model(engine: PrivacyEngine) -> Expected:
    """Call the given model instead of its wrapper; the hooks are in the model."""
    model = make_classifier()
    _, optimizer, batches = prepare(engine, model=model)
    train(model, optimizer, batches)
    return TWO_EPOCHS


def share_layer(engine: PrivacyEngine) -> Expected:
    """Use one layer twice in the forward pass; Opacus adds the rows up before clipping."""
    shared = nn.Linear(FEATURES, FEATURES)
    train(*prepare(engine, model=nn.Sequential(shared, nn.Tanh(), shared, nn.Linear(FEATURES, CLASSES))))
    return TWO_EPOCHS


def use_dropout_and_layer_norm(engine: PrivacyEngine) -> Expected:
    """Use a model with random layers and normalization of each record."""
    layers = [nn.Linear(FEATURES, 8), nn.LayerNorm(8), nn.Dropout(0.5), nn.Linear(8, CLASSES)]
    train(*prepare(engine, model=nn.Sequential(*layers)))
    return TWO_EPOCHS


def use_convolutions(engine: PrivacyEngine) -> Expected:
    """Train a small network for images."""
    data = TensorDataset(torch.randn(RECORDS, 1, 8, 8), torch.randint(0, CLASSES, (RECORDS,)))
    layers = [nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(), nn.Flatten(), nn.Linear(144, CLASSES)]
    train(*prepare(engine, model=nn.Sequential(*layers), batches=load_batches(data)))
    return TWO_EPOCHS


class Reader(nn.Module):
    """A model of sequences of words."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 5)
        self.memory = DPLSTM(5, 6, batch_first=True)
        self.head = nn.Linear(6, CLASSES)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        """Read the words and classify by the last state."""
        states, _ = self.memory(self.embedding(words))
        return self.head(states[:, -1])  # type: ignore[no-any-return]


def read_sequences(engine: PrivacyEngine) -> Expected:
    """Train an embedding and an LSTM."""
    data = TensorDataset(torch.randint(0, 20, (RECORDS, 7)), torch.randint(0, CLASSES, (RECORDS,)))
    train(*prepare(engine, model=Reader(), batches=load_batches(data)))
    return TWO_EPOCHS


class Attention(nn.Module):
    """A model with one attention layer."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = DPMultiheadAttention(6, 2, batch_first=True)
        self.head = nn.Linear(6, CLASSES)

    def forward(self, sequence: torch.Tensor) -> torch.Tensor:
        """Attend over the positions, and classify by the mean over them."""
        return self.head(self.attention(sequence, sequence, sequence)[0].mean(1))  # type: ignore[no-any-return]


def attend_to_sequences(engine: PrivacyEngine) -> Expected:
    """Train Opacus' attention layer."""
    data = TensorDataset(torch.randn(RECORDS, 4, 6), torch.randint(0, CLASSES, (RECORDS,)))
    train(*prepare(engine, model=Attention(), batches=load_batches(data)))
    return TWO_EPOCHS


def call_model_twice_on_batch(engine: PrivacyEngine) -> Expected:
    """Call the model twice on each batch, with other dropout each time; Opacus adds the rows up before clipping."""
    layers = [nn.Linear(FEATURES, 8), nn.Dropout(0.3), nn.Linear(8, CLASSES)]
    model, optimizer, batches = prepare(engine, model=nn.Sequential(*layers))
    for features, labels in [*batches, *batches]:
        optimizer.zero_grad()
        first, second = model(features), model(features)
        (cross_entropy(first, labels) + (first - second).square().mean()).backward()
        optimizer.step()
    return TWO_EPOCHS


def compute_in_double_precision(engine: PrivacyEngine) -> Expected:
    """Train in float64."""
    data = draw_records(dtype=torch.float64)
    train(*prepare(engine, model=make_classifier().to(torch.float64), batches=load_batches(data)))
    return TWO_EPOCHS


def unfreeze_layer_later(engine: PrivacyEngine) -> Expected:
    """Freeze the first layer after `make_private` for an epoch, and train all layers afterwards."""
    model = make_classifier()
    module, optimizer, batches = prepare(engine, model=model)
    for parameter in model[0].parameters():  # type: ignore[index]
        parameter.requires_grad = False
    train(module, optimizer, batches, epochs=1)
    for parameter in model[0].parameters():  # type: ignore[index]
        parameter.requires_grad = True
    train(module, optimizer, batches, epochs=1)
    return TWO_EPOCHS


def train_tiny_model(engine: PrivacyEngine) -> Expected:
    """Train a single number, which leaves little noise to look at."""
    model = nn.Linear(FEATURES, 1, bias=False)
    data = TensorDataset(torch.randn(RECORDS, FEATURES), torch.randn(RECORDS, 1))
    module, optimizer, batches = prepare(engine, model=model, batches=load_batches(data))
    train(module, optimizer, batches, loss=nn.functional.mse_loss)
    return TWO_EPOCHS


def train_wide_model(engine: PrivacyEngine) -> Expected:
    """Train a model with many more parameters than are looked at."""
    train(*prepare(engine, model=make_classifier(hidden=3000)))
    return TWO_EPOCHS


def train_two_models_on_one_engine(engine: PrivacyEngine) -> Expected:
    """Train two models on the same records in turns; one engine counts the steps of both."""
    data = draw_records()
    first = prepare(engine, batches=load_batches(data))
    second = prepare(engine, batches=load_batches(data, batch_size=24), noise=2.0)
    for _ in range(2):
        train(*first, epochs=1)
        train(*second, epochs=1)
    return Expected({(NOISE, RATE): 2 * STEPS, (2.0, 0.2): STEPS})


def interleave_steps_of_two_models(engine: PrivacyEngine) -> Expected:
    """Take a step of one model after each step of another, as for two networks that learn together."""
    data = draw_records()
    model, optimizer, batches = prepare(engine, batches=load_batches(data))
    second_model, second_optimizer, more = prepare(engine, batches=load_batches(data))
    for batch, another in zip(batches, more, strict=True):
        take_step(model, optimizer, batch)
        take_step(second_model, second_optimizer, another)
    return Expected.of(2 * STEPS)


PROGRAMS = (
    freeze_layer,
    freeze_weights_but_not_bias,
    give_optimizer_some_parameters,
    use_groups_of_parameters,
    use_adam,
    use_momentum,
    step_with_closure,
    clip_each_layer,
    clip_almost_nothing,
    clip_almost_everything,
    clip_by_ghost_norms,
    add_up_losses,
    compute_rows_by_functorch,
    compute_rows_by_expanded_weights,
    compute_rows_by_hand,
    compute_by_autocast,
    attach_hooks_without_wrapper,
    call_unwrapped_model,
    share_layer,
    use_dropout_and_layer_norm,
    use_convolutions,
    read_sequences,
    attend_to_sequences,
    call_model_twice_on_batch,
    compute_in_double_precision,
    unfreeze_layer_later,
    train_tiny_model,
    train_wide_model,
    train_two_models_on_one_engine,
    interleave_steps_of_two_models,
)

"""FedAvg and DP-NormFedAvg on labelled images: Algorithms 2 and 3 of Das et al., with stochastic local steps.

In each round the server draws clients without replacement. A client descends from the server's weights by SGD with
momentum on batches of its records. Its update is the difference of the weights before and after. The server moves by
its step size times the mean message. Momentum starts at 0 in each round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from epsilond.simulators.networks.architectures import fully_connected
from epsilond.simulators.networks.backend import choose_device, load_torch, seeded_torch
from epsilond.simulators.networks.updates import UpdateRule
from epsilond.simulators.problems.problem import Floats, Indices

if TYPE_CHECKING:
    import torch

CHUNK: Final = 10_000
"""Images of one forward pass when a model is measured; it bounds the memory."""


@dataclass(frozen=True)
class ImageVectors:
    """Images as vectors of numbers, with the class of each.

    Attributes:
        features: pixels of the images, (records, pixels).
        labels: class of each image, from 0, (records).
    """

    features: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64]


@dataclass(frozen=True)
class ImageFederation:
    """Images of clients, and test images.

    Attributes:
        training: training images of all clients.
        clients: records of each client, as indices into `training`.
        test: test images.
    """

    training: ImageVectors
    clients: Sequence[Indices]
    test: ImageVectors


@dataclass(frozen=True, kw_only=True)
class FederatedTraining:
    """Settings of a run of federated training of a fully connected network.

    Attributes:
        hidden: number of units of each hidden layer.
        participants: number of clients in a round.
        local_steps: number of steps of a client in a round.
        batch_size: number of records in a step. A client with fewer records uses all of them.
        momentum: factor of the previous local step that is added to a local step.
        weight_decay: multiple of the weights that is added to each gradient.
        local_step_sizes: step size of the clients in each round.
        server_step_sizes: step size of the server in each round, for a mean message in the unit of the weights.
        rule: scaling, rounding and noise of updates.
        measured: rounds after which the quality of the model is measured.
    """

    hidden: tuple[int, ...]
    participants: int
    local_steps: int
    batch_size: int
    momentum: float
    weight_decay: float
    local_step_sizes: Sequence[float]
    server_step_sizes: Sequence[float]
    rule: UpdateRule
    measured: Sequence[int]


@dataclass(frozen=True)
class ModelQuality:
    """Quality of the server's model after a number of rounds.

    Attributes:
        rounds: number of rounds.
        training_loss: mean cross-entropy on all training images, in nats; infinite if the computed mean is not finite.
        test_error: fraction of the test images that are classified wrongly.
    """

    rounds: int
    training_loss: float
    test_error: float


@dataclass(frozen=True)
class _Records:
    """Images and their labels in the memory of the device that trains.

    Attributes:
        features: pixels of each image, (images, pixels).
        labels: class of each image, (images).
    """

    features: torch.Tensor
    labels: torch.Tensor

    @classmethod
    def of(cls, images: ImageVectors, device: Any) -> _Records:
        """Copy images and labels to a device.

        Args:
            images: images, one vector each, with labels.
            device: torch device, for example a GPU.

        Returns:
            The copies as torch tensors.
        """
        torch = load_torch()
        features = torch.as_tensor(images.features, device=device)
        labels = torch.as_tensor(images.labels, device=device)
        return cls(features, labels)


def train_federated(
    federation: ImageFederation, training: FederatedTraining, *, classes: int, seed: int
) -> tuple[ModelQuality, ...]:
    """Train a fully connected network in rounds of a server and clients, and measure its quality.

    Participation, batches and noise have separate random streams. So runs that differ only in the noise draw the same
    clients and batches.

    Args:
        federation: the data.
        training: settings of the run.
        classes: number of classes.
        seed: seed of the initial weights, participation, batches and noise.

    Returns:
        The loss and the test error after each measured round.

    Raises:
        InvalidInput: torch is not installed, or the device is unknown or not available.
    """
    device = choose_device()
    torch = load_torch()
    streams = np.random.SeedSequence(seed, spawn_key=(1,)).spawn(3)
    clients, batches, noise = (np.random.default_rng(stream) for stream in streams)
    pixels = federation.training.features.shape[1]
    widths = (pixels, *training.hidden, classes)
    with seeded_torch(seed):
        model = fully_connected(widths).to(device)
        weights = torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()
        records = _Records.of(federation.training, device)
        test = _Records.of(federation.test, device)

        results = []
        step_sizes = zip(training.local_step_sizes, training.server_step_sizes, strict=True)
        for number, (local_step, server_step) in enumerate(step_sizes, start=1):
            participants = clients.choice(len(federation.clients), size=training.participants, replace=False)
            client_records = [federation.clients[client] for client in participants]
            # A generator, because the updates of all participants together would need much memory.
            updates = _train_clients(model, weights, records, client_records, training, local_step, batches)
            mean_message = training.rule.mean_message(updates, noise)
            weights = weights - server_step * torch.tensor(mean_message, dtype=weights.dtype, device=device)
            if number in training.measured:
                torch.nn.utils.vector_to_parameters(weights, model.parameters())
                results.append(_measure_quality(number, model, records, test))
    return tuple(results)


def _train_clients(
    model: Any,
    weights: torch.Tensor,
    records: _Records,
    clients: Sequence[Indices],
    training: FederatedTraining,
    step_size: float,
    generator: np.random.Generator,
) -> Iterator[Floats]:
    """Train each participant from the server's weights, and yield its update.

    The update is the server's weights minus the client's weights after its local steps. So it points in the direction
    of the gradients, and the server subtracts it.

    Args:
        model: the network; its weights are overwritten.
        weights: weights of the server, (d), for d coordinates.
        records: all training images.
        clients: records of each client, as indices into the training images.
        training: settings of the run.
        step_size: local step size of the round.
        generator: source of the batches.

    Yields:
        An update, (d).
    """
    torch = load_torch()
    parameters = list(model.parameters())
    for own_records in clients:
        # A new optimizer for each client, so that its momentum starts at 0.
        torch.nn.utils.vector_to_parameters(weights.clone(), parameters)
        optimizer = torch.optim.SGD(
            parameters, lr=step_size, momentum=training.momentum, weight_decay=training.weight_decay
        )
        for _ in range(training.local_steps):
            size = min(training.batch_size, len(own_records))
            drawn = generator.choice(own_records, size=size, replace=False)
            batch = torch.as_tensor(drawn, device=weights.device)
            loss = torch.nn.functional.cross_entropy(model(records.features[batch]), records.labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        final_weights = torch.nn.utils.parameters_to_vector(parameters).detach()
        yield (weights - final_weights).cpu().numpy().astype(np.float64)


def _measure_quality(rounds: int, model: Any, training: _Records, test: _Records) -> ModelQuality:
    """Measure the loss of a model on the training images, and its error on the test images.

    Args:
        rounds: number of rounds that the model was trained for, which the result includes.
        model: torch network that maps images to one output per class.
        training: training images with their labels.
        test: test images with their labels.

    Returns:
        The mean cross-entropy on the training images, ∞ if it is not finite, and the fraction of wrong classes on the
        test images.
    """
    functional = load_torch().nn.functional
    losses = []
    for outputs, labels in _predict(model, training):
        losses.append(float(functional.cross_entropy(outputs, labels, reduction="sum")))
    mean_loss = sum(losses) / len(training.labels)
    if not math.isfinite(mean_loss):
        mean_loss = math.inf

    errors = []
    for outputs, labels in _predict(model, test):
        is_wrong = outputs.argmax(dim=1) != labels
        errors.append(int(is_wrong.sum()))
    return ModelQuality(rounds=rounds, training_loss=mean_loss, test_error=sum(errors) / len(test.labels))


def _predict(model: Any, records: _Records) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield the outputs of a model for all images, in chunks that bound the memory in use.

    Args:
        model: the network. No gradients are computed.
        records: images with labels.

    Yields:
        Outputs (n, classes) and labels (n) of a chunk of n images, at most `CHUNK`.
    """
    with load_torch().no_grad():
        for start in range(0, len(records.labels), CHUNK):
            chunk = slice(start, start + CHUNK)
            yield model(records.features[chunk]), records.labels[chunk]

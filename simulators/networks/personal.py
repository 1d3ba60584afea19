"""PPSGD on a shared network with personal output layers: Bietti et al., Section 6, for many step sizes at once.

User i predicts (w + θ_i)ᵀΦ_W(x), with a shared network Φ_W, a shared output layer w and a personal one θ_i. In each
round some users are drawn without replacement, each with a batch of its images. The gradient of the shared weights
(w, W), the mean over a user's batch, is clipped as one vector. Gaussian noise is added to the mean of the clipped
gradients. The personal step is private, because it never leaves the user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from epsilond.simulators.networks.architectures import draw_output_layer, draw_representation, represent
from epsilond.simulators.networks.backend import choose_device, load_torch, seeded_torch
from epsilond.simulators.silos.personal_models import split_steps

if TYPE_CHECKING:
    import torch

OUTPUT: Final = "output_layer"
"""Name of the shared output layer among the shared weights."""
USERS_AT_ONCE: Final = 100
"""Users of one forward pass when models are measured; it bounds the memory."""


@dataclass(frozen=True)
class UserImages:
    """Images of one user, with the class of each.

    Attributes:
        images: pixels, (images, 28, 28).
        labels: class of each image, from 0, (images).
    """

    images: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64]


@dataclass(frozen=True)
class UserFederation:
    """Images of all users.

    Attributes:
        training: training images of each user.
        test: test images of each user, in the same order.
    """

    training: Sequence[UserImages]
    test: Sequence[UserImages]


@dataclass(frozen=True, kw_only=True)
class PersonalOutputs:
    """Settings of a training run in which users share a network and each user has an output layer of its own.

    The step size is not part of the settings, because several step sizes are tried.

    Attributes:
        personalization: step size of the shared weights divided by that of a personal layer; inf for no personal layer,
            0 for frozen shared weights.
        noise_multiplier: standard deviation of the noise in the sum of clipped gradients, over the clipping norm.
        clipping_norm: largest ℓ2 norm of a user's gradient of all shared weights together, after clipping.
        participants: number of users in a round.
        batch_size: number of images of a user in a round. They are drawn with replacement if the user has fewer.
        classes: number of classes.
        measured: rounds after which the accuracy is measured.
    """

    personalization: float
    noise_multiplier: float
    clipping_norm: float
    participants: int
    batch_size: int
    classes: int
    measured: Sequence[int]


Weights = dict[str, "torch.Tensor"]


def train_personal(
    users: UserFederation, training: PersonalOutputs, step_sizes: Sequence[float], seed: int
) -> npt.NDArray[np.float64]:
    """Train networks with personal output layers at several step sizes, and return their accuracies on test images.

    The loss is the mean square of the outputs minus targets, which are 0.9 for the class and −0.1 for the others. The
    runs with different step sizes have the same initial weights, users, batches and noise.

    Args:
        users: the data.
        training: settings of the runs.
        step_sizes: for each run, the larger of the step sizes of the shared and the personal weights.
        seed: seed of the initial weights, users, batches and noise.

    Returns:
        Fraction of all users' test images that are classified correctly after each measured round, as an array of shape
        (measured rounds, step sizes).

    Raises:
        InvalidInput: torch is not installed, or the device is unknown or not available.
    """
    device = choose_device()
    torch = load_torch()
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    shared_sizes, personal_sizes = split_steps(np.asarray(step_sizes, dtype=np.float32), training.personalization)
    shared_steps = torch.tensor(shared_sizes, device=device)
    personal_steps = torch.tensor(personal_sizes, device=device)
    with seeded_torch(seed):
        # All runs start at the same weights; the personal layers start at 0.
        start = {**draw_representation(), OUTPUT: draw_output_layer(training.classes)}
        runs = len(step_sizes)
        shared: Weights = {name: value.to(device).expand(runs, *value.shape).clone() for name, value in start.items()}
        personal = torch.zeros((runs, len(users.training), *start[OUTPUT].shape), device=device)

        accuracies = []
        for index in range(1, max(training.measured) + 1):
            drawn = generator.choice(len(users.training), size=training.participants, replace=False)
            images, labels = _draw_batches([users.training[user] for user in drawn], training, generator, device)
            chosen = torch.as_tensor(drawn, device=device)
            gradients, personal_gradients = _compute_gradients(shared, personal[:, chosen], images, labels)

            # A personal layer never leaves its user, so its step needs no noise.
            personal[:, chosen] -= _broadcast_steps(personal_steps, personal_gradients) * personal_gradients
            noise = _draw_noise(start, training, device)
            for name, gradient in _clip_gradients(gradients, training.clipping_norm).items():
                noisy_mean = gradient.mean(dim=1) + noise[name]
                shared[name] = shared[name] - _broadcast_steps(shared_steps, noisy_mean) * noisy_mean
            if index in training.measured:
                accuracies.append(_measure_accuracies(shared, personal, users.test, device))
    return np.asarray(accuracies)


def _broadcast_steps(steps: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Reshape the step sizes of the runs, so that they multiply values with the runs as their first axis."""
    return steps.reshape(-1, *(1,) * (values.dim() - 1))


def _draw_batches(
    users: Sequence[UserImages], training: PersonalOutputs, generator: np.random.Generator, device: object
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw a batch of images of each user, without replacement unless the user has too few images.

    Args:
        users: training images of the users of a round.
        training: settings of the run.
        generator: source of the batches.
        device: torch device of the result.

    Returns:
        Images of shape (users, batch, 1, 28, 28), and targets of shape (users, batch, classes): 0.9 for the class and
        −0.1 for the others.
    """
    torch = load_torch()
    images, targets = [], []
    for user in users:
        too_few = len(user.labels) < training.batch_size
        chosen = generator.choice(len(user.labels), size=training.batch_size, replace=too_few)
        images.append(user.images[chosen][:, None])
        indicators = np.eye(training.classes, dtype=np.float32)[user.labels[chosen]]
        targets.append(indicators - np.float32(0.1))
    return torch.tensor(np.stack(images), device=device), torch.tensor(np.stack(targets), device=device)


def _user_loss(shared: Weights, personal: torch.Tensor, images: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the mean squared error of one user's network, over the images and classes of a batch.

    The output layer of the network is the sum of a shared matrix and the user's own matrix.

    Args:
        shared: shared weights by name, with the shared output layer.
        personal: the user's own matrix, (features, classes).
        images: images of the user, (batch, 1, 28, 28).
        targets: targets of the images, (batch, classes).

    Returns:
        The error as a tensor with one number.
    """
    outputs = represent(shared, images) @ (shared[OUTPUT] + personal)
    mean_squared_error: torch.Tensor = ((outputs - targets) ** 2).mean()
    return mean_squared_error


def _compute_gradients(
    shared: Weights, personal: torch.Tensor, images: torch.Tensor, targets: torch.Tensor
) -> tuple[Weights, torch.Tensor]:
    """Compute the gradients of each user's loss in each run, with respect to the shared and the personal weights.

    Args:
        shared: shared weights by name, (runs, …).
        personal: personal output layers of the users, (runs, users, features, classes).
        images: images of the users, (users, batch, 1, 28, 28).
        targets: targets of the users, (users, batch, classes).

    Returns:
        Gradients for the shared weights by name, and for the personal layers, each of shape (runs, users, …).
    """
    func = load_torch().func

    # The inner map is over the users of a run, with the same shared weights. The outer map is over the runs, with the
    # same images.
    by_user = func.vmap(func.grad(_user_loss, argnums=(0, 1)), in_dims=(None, 0, 0, 0))
    gradients: tuple[Weights, torch.Tensor] = func.vmap(by_user, in_dims=(0, 0, None, None))(
        shared, personal, images, targets
    )
    return gradients


def _clip_gradients(gradients: Mapping[str, torch.Tensor], bound: float) -> Weights:
    """Scale each user's gradient down to a largest ℓ2 norm, of all weights together, in each run.

    Args:
        gradients: gradients by the name of the weights, (runs, users, …).
        bound: largest norm, above 0.

    Returns:
        The clipped gradients, with the same names and shapes. Gradients within the bound are unchanged.
    """
    flat = load_torch().cat([gradient.flatten(2) for gradient in gradients.values()], dim=2)
    factors = bound / flat.norm(dim=2).clamp(min=bound)  # bound/max(norm, bound), at most 1
    clipped = {}
    for name, gradient in gradients.items():
        trailing = (1,) * (gradient.dim() - 2)
        clipped[name] = gradient * factors.reshape(*factors.shape, *trailing)
    return clipped


def _draw_noise(shapes: Mapping[str, torch.Tensor], training: PersonalOutputs, device: object) -> Weights:
    """Draw Gaussian noise for the mean of the clipped gradients, which all runs share.

    Its standard deviation is the noise multiplier times the clipping norm, divided by the number of users of a round.
    It is drawn on the CPU, so that it does not depend on the device.

    Args:
        shapes: shared weights of one run by name, which have the shapes of the noise.
        training: settings of the run.
        device: torch device of the result.

    Returns:
        The noise for each of the shared weights, by name.
    """
    std = training.noise_multiplier * training.clipping_norm / training.participants
    torch = load_torch()
    return {name: (std * torch.randn(value.shape)).to(device) for name, value in shapes.items()}


def _measure_accuracies(
    shared: Weights, personal: torch.Tensor, users: Sequence[UserImages], device: object
) -> npt.NDArray[np.float64]:
    """Measure the fraction of all users' test images that are classified correctly, for each run.

    Args:
        shared: shared weights by name, (runs, …).
        personal: personal output layers of the users, (runs, users, features, classes).
        users: test images of all users.
        device: torch device of the weights.

    Returns:
        One fraction in [0, 1] for each run.
    """
    torch = load_torch()
    right = np.zeros(len(personal))
    total = 0
    features_of_run = torch.func.vmap(represent, in_dims=(0, None))
    with torch.no_grad():
        for start in range(0, len(users), USERS_AT_ONCE):
            chunk = users[start : start + USERS_AT_ONCE]
            images = torch.tensor(np.concatenate([user.images for user in chunk])[:, None], device=device)
            labels = torch.tensor(np.concatenate([user.labels for user in chunk]), device=device)
            # Index of the user of each image in the chunk.
            image_counts = [len(user.labels) for user in chunk]
            owner = np.repeat(np.arange(start, start + len(chunk)), image_counts)
            # Each image is classified by its user's output layer: the shared one plus the personal one.
            layers = shared[OUTPUT][:, None] + personal[:, torch.as_tensor(owner, device=device)]
            outputs = torch.einsum("rif,rifc->ric", features_of_run(shared, images), layers)
            is_right = outputs.argmax(dim=2) == labels
            right += is_right.sum(dim=1).cpu().numpy()
            total += len(labels)
    return right / total

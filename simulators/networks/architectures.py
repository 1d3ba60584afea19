"""Networks with ReLU units: fully connected layers, and a convolutional representation of small images."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from epsilond.simulators.networks.backend import load_torch

if TYPE_CHECKING:
    import torch

REPRESENTATION: Final = 32
"""Number of features of the convolutional representation."""
FILTERS: Final = (16, 32)
"""Filters of the two convolutional layers."""
POOLED: Final = 4
"""Rows of the output of the second pooling, and its columns, for images of 28 × 28 pixels."""


def fully_connected(widths: Sequence[int]) -> Any:
    """Build a network of fully connected layers, with ReLU units in all layers except the last.

    The initial weights are drawn from torch's default distribution, by its global generator.

    Args:
        widths: numbers of inputs, of units of each hidden layer, and of outputs, at least two numbers.

    Returns:
        The network as a torch module.
    """
    modules = load_torch().nn
    layers: list[Any] = []
    for inputs, outputs in pairwise(widths):
        layers += [modules.Linear(inputs, outputs), modules.ReLU()]
    layers_without_last_relu = layers[:-1]
    return modules.Sequential(*layers_without_last_relu)


def connected_dimension(widths: Sequence[int]) -> int:
    """Return the number of weights and biases of a fully connected network.

    Args:
        widths: numbers of inputs, of units of each hidden layer, and of outputs.
    """
    return sum((inputs + 1) * outputs for inputs, outputs in pairwise(widths))


def draw_representation() -> dict[str, torch.Tensor]:
    """Draw the initial weights of the convolutional part of a network, which computes the features of an image.

    It has two convolutional layers and a fully connected one. The weights have Xavier's normal distribution, and are
    drawn by torch's global generator. The biases are 0.

    Returns:
        The weights and biases of the three layers, by name.
    """
    torch = load_torch()
    # Shapes are (outputs, inputs, height, width), and (outputs, inputs) for the fully connected layer.
    shapes = {
        "first": (FILTERS[0], 1, 8, 8),
        "second": (FILTERS[1], FILTERS[0], 4, 4),
        "dense": (REPRESENTATION, FILTERS[1] * POOLED**2),
    }
    weights = {}
    for name, shape in shapes.items():
        weights[f"{name}_weight"] = torch.nn.init.xavier_normal_(torch.empty(shape))
        weights[f"{name}_bias"] = torch.zeros(shape[0])
    return weights


def draw_output_layer(classes: int) -> torch.Tensor:
    """Draw the initial weights of a linear output layer, which maps features to a score of each class.

    They are normal with mean 0 and a variance of one over the number of features. Torch's global generator draws them.

    Args:
        classes: number of classes.

    Returns:
        The weights, of shape (features, classes).
    """
    layer: torch.Tensor = load_torch().randn(REPRESENTATION, classes) / math.sqrt(REPRESENTATION)
    return layer


def represent(weights: Mapping[str, torch.Tensor], images: torch.Tensor) -> torch.Tensor:
    """Compute the features of images by a small convolutional network.

    Each of its three layers is followed by ReLU units. After a convolution, the maxima over 2 × 2 pixels with stride 1
    are used. The layers are:

        16 filters of 8 × 8 with stride 2 and padding 3,
        32 filters of 4 × 4 with stride 2,
        32 fully connected units.

    Args:
        weights: weights and biases of the layers, with the names of `draw_representation`.
        images: images of shape (images, 1, 28, 28).

    Returns:
        Features of shape (images, 32).
    """
    functional = load_torch().nn.functional
    first = functional.conv2d(images, weights["first_weight"], weights["first_bias"], stride=2, padding=3)
    first_pooled = functional.max_pool2d(functional.relu(first), 2, stride=1)

    second = functional.conv2d(first_pooled, weights["second_weight"], weights["second_bias"], stride=2)
    second_pooled = functional.max_pool2d(functional.relu(second), 2, stride=1)

    dense = functional.linear(second_pooled.flatten(1), weights["dense_weight"], weights["dense_bias"])
    features: torch.Tensor = functional.relu(dense)
    return features

"""Training of networks: local steps against their formula, learning, clipping, and sizes of the architectures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from epsilond.simulators.networks import architectures, federated, personal
from epsilond.simulators.networks.backend import seeded_torch
from epsilond.simulators.networks.federated import FederatedTraining, ImageFederation, ImageVectors, train_federated
from epsilond.simulators.networks.personal import PersonalOutputs, UserFederation, UserImages, train_personal
from epsilond.simulators.networks.updates import UpdateRule
from epsilond.witness.experiments.networks.das_arms import DasArm

PLAIN = UpdateRule(scaling="none")


def separable(records: int, seed: int) -> ImageVectors:
    """Return vectors of ten classes, one bright coordinate for each class."""
    generator = np.random.default_rng(seed)
    labels = np.arange(records) % 10
    features = 0.1 * generator.standard_normal((records, 20))
    features[np.arange(records), labels] += 1.0
    return ImageVectors(features.astype(np.float32), labels.astype(np.int64))


def federation() -> ImageFederation:
    """Return five clients with records of all classes."""
    return ImageFederation(separable(200, 0), np.arange(200).reshape(5, 40), separable(100, 1))


def settings(rule: UpdateRule = PLAIN, **changes: Any) -> FederatedTraining:
    """Return settings of a short run."""
    rounds = changes.pop("rounds", 30)
    fields: dict[str, Any] = {
        "hidden": (16,),
        "participants": 3,
        "local_steps": 5,
        "batch_size": 20,
        "momentum": 0.9,
        "weight_decay": 1e-4,
        "local_step_sizes": [0.1] * rounds,
        "server_step_sizes": [1.0] * rounds,
        "measured": (1, rounds),
    }
    return FederatedTraining(rule=rule, **{**fields, **changes})


@pytest.mark.parametrize(
    ("rule", "server_step"),
    [
        (PLAIN, 1.0),
        (UpdateRule(scaling="normalised"), 1.0),
        (UpdateRule(scaling="normalised", quantization_levels=2**10), 1.0),
        (UpdateRule(scaling="clipped", clipping_norm=0.5, quantization_levels=2**10), 1.5),
    ],
)
def test_every_rule_learns_classes_that_are_apart(rule: UpdateRule, server_step: float) -> None:
    first, last = train_federated(
        federation(), settings(rule, server_step_sizes=[server_step] * 30), classes=10, seed=0
    )
    assert (first.rounds, last.rounds) == (1, 30)
    assert last.test_error < 0.05 < first.test_error
    assert last.training_loss < 0.5 * first.training_loss


def test_two_local_steps_are_those_of_the_formula() -> None:
    """Velocity u = μu + (∇f + λw), and w = w − ηu, from u = 0."""
    data = federation()
    model = architectures.fully_connected((20, 6, 10)).to(torch.float64)
    weights = torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()
    records = federated._Records(
        torch.as_tensor(data.training.features, dtype=torch.float64), torch.as_tensor(data.training.labels)
    )
    training = settings(local_steps=2, batch_size=1000, weight_decay=0.3, momentum=0.5)
    (update,) = federated._train_clients(
        model, weights, records, data.clients[:1], training, 0.2, np.random.default_rng(0)
    )

    def gradient(at: torch.Tensor) -> torch.Tensor:
        torch.nn.utils.vector_to_parameters(at, model.parameters())
        loss = torch.nn.functional.cross_entropy(
            model(records.features[data.clients[0]]), records.labels[data.clients[0]]
        )
        return torch.cat([part.reshape(-1) for part in torch.autograd.grad(loss, list(model.parameters()))])

    end, velocity = weights.clone(), torch.zeros_like(weights)
    for _ in range(2):
        velocity = 0.5 * velocity + gradient(end) + 0.3 * end
        end = end - 0.2 * velocity
    assert np.linalg.norm(update) > 0.0
    assert update == pytest.approx((weights - end).numpy(), abs=1e-12)


def test_rules_for_updates_do_not_change_who_takes_part() -> None:
    drawn = []

    class Recorder(UpdateRule):
        def mean_message(self, updates: Any, generator: np.random.Generator) -> Any:
            generator.random(7)  # as noise would
            values = list(updates)
            drawn.append(values[0])
            return np.zeros_like(values[0])

    train_federated(federation(), settings(Recorder(scaling="none"), rounds=3), classes=10, seed=5)
    with_noise = len(drawn)
    train_federated(federation(), settings(Recorder(scaling="normalised"), rounds=3), classes=10, seed=5)
    assert with_noise == 3
    assert all(np.array_equal(first, second) for first, second in zip(drawn[:3], drawn[3:], strict=True))


def test_the_caller_keeps_its_random_numbers_and_threads() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    threads = torch.get_num_threads()
    with seeded_torch(1):
        torch.rand(5)
        assert torch.get_num_threads() == 1
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize(("images", "dimension"), [("cifar-10", 2_210_410), ("fashion-mnist", 328_810)])
def test_the_networks_have_the_papers_sizes(images: Any, dimension: int) -> None:
    arm = DasArm(algorithm="FedAvg", images=images, local_step=0.1)
    assert arm.dimension == dimension
    pixels, hidden = {"cifar-10": (3072, 600), "fashion-mnist": (784, 300)}[images]
    model = architectures.fully_connected((pixels, hidden, hidden, 10))
    assert sum(parameter.numel() for parameter in model.parameters()) == dimension


# Personal output layers -----------------------------------------------------------------------------------------------
def users(count: int, images: int, seed: int) -> tuple[UserImages, ...]:
    """Return users with images of ten classes, one dark column for each class."""
    generator = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        labels = np.arange(images) % 10
        pixels = 1.0 - 0.1 * generator.random((images, 28, 28))
        pixels[np.arange(images), :, 2 * labels] = 0.0
        made.append(UserImages(pixels.astype(np.float32), labels.astype(np.int64)))
    return tuple(made)


def outputs(**changes: Any) -> PersonalOutputs:
    """Return settings of a short run."""
    fields: dict[str, Any] = {
        "personalization": 1.0,
        "noise_multiplier": 0.0,
        "clipping_norm": 1.0,
        "participants": 4,
        "batch_size": 10,
        "classes": 10,
        "measured": (1, 60),
    }
    return PersonalOutputs(**{**fields, **changes})


def test_the_representation_is_of_four_layers_with_the_output() -> None:
    weights = architectures.draw_representation()
    sizes = {name: value.numel() for name, value in weights.items()}
    assert sizes["first_weight"] == 16 * 64
    assert sizes["second_weight"] == 32 * 16 * 16
    assert sizes["dense_weight"] == 32 * 512
    assert architectures.represent(weights, torch.zeros(3, 1, 28, 28)).shape == (3, 32)


def test_a_trained_representation_is_more_accurate_than_a_random_one_and_noise_costs_accuracy() -> None:
    people = UserFederation(users(6, 20, 0), users(6, 10, 1))
    shared = train_personal(people, outputs(), (0.5, 1.0), 0)
    assert shared.shape == (2, 2)
    local = train_personal(people, outputs(personalization=0.0), (0.5, 1.0), 0)
    noisy = train_personal(people, outputs(noise_multiplier=100.0), (0.5, 1.0), 0)
    assert shared[-1].max() > 0.5
    assert shared[-1].max() > local[-1].max()
    assert shared[-1].max() > noisy[-1].max()
    assert np.array_equal(shared, train_personal(people, outputs(), (0.5, 1.0), 0))


def test_one_round_is_that_of_the_algorithm() -> None:
    """The shared step is η times the mean of clipped gradients, and the personal step is η/(αQ) times a gradient."""
    people = UserFederation(users(2, 10, 0), users(2, 10, 1))
    training = outputs(personalization=4.0, participants=2, clipping_norm=0.01, measured=(1,))
    seen: dict[str, Any] = {}

    def keep(shared: Any, own: Any, *_: object) -> np.ndarray[Any, Any]:
        seen.update(shared=shared, own=own)
        return np.zeros(1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(personal, "_measure_accuracies", keep)
        train_personal(people, training, (0.5,), 3)
    with seeded_torch(3):
        start = {**architectures.draw_representation(), personal.OUTPUT: architectures.draw_output_layer(10)}
    moved = dict.fromkeys(start, 0.0)
    for index, user in enumerate(people.training):
        weights = {name: value.clone().requires_grad_() for name, value in start.items()}
        own = torch.zeros(32, 10, requires_grad=True)
        predicted = architectures.represent(weights, torch.as_tensor(user.images)[:, None]) @ (
            weights[personal.OUTPUT] + own
        )
        targets = torch.eye(10)[torch.as_tensor(user.labels)] - 0.1
        loss = (predicted - targets).square().mean()
        *shared_gradients, own_gradient = torch.autograd.grad(loss, [*weights.values(), own])
        norm = math.sqrt(sum(float(gradient.square().sum()) for gradient in shared_gradients))
        assert norm > 0.01
        for name, gradient in zip(weights, shared_gradients, strict=True):
            moved[name] = moved[name] + 0.5 * gradient * (0.01 / norm) / 2
        torch.testing.assert_close(seen["own"][0, index], -0.125 * own_gradient, rtol=1e-3, atol=1e-7)
    for name, value in start.items():
        torch.testing.assert_close(value - seen["shared"][name][0], moved[name], rtol=5e-3, atol=1e-6)


def test_a_clipped_gradient_is_within_the_bound_and_a_short_one_is_unchanged() -> None:
    generator = torch.Generator().manual_seed(0)
    long = {"first": torch.randn(2, 3, 4, 5, generator=generator), "second": torch.randn(2, 3, 7, generator=generator)}
    clipped = personal._clip_gradients(long, 0.25)
    norms = torch.sqrt(sum(value.flatten(2).square().sum(dim=2) for value in clipped.values()))
    assert torch.all(norms <= 0.25 * (1.0 + 1e-6))
    assert torch.all(norms >= 0.25 * (1.0 - 1e-6))
    short = {name: 1e-3 * value for name, value in long.items()}
    assert all(torch.equal(value, short[name]) for name, value in personal._clip_gradients(short, 0.25).items())


def test_noise_of_the_mean_has_the_standard_deviation_of_the_multiplier() -> None:
    shapes = {"weights": torch.zeros(400, 500)}
    with seeded_torch(0):
        noise = personal._draw_noise(shapes, outputs(noise_multiplier=3.0, clipping_norm=0.5), torch.device("cpu"))
    assert float(noise["weights"].std()) == pytest.approx(3.0 * 0.5 / 4, rel=0.01)

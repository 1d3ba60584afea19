"""The noise that reaches a model is the calibrated one: clients without gradients show it alone."""

import math

import numpy as np
import pytest

import epsilond
from epsilond.accountants.numerics.truncated_laplace import variance
from epsilond.mechanisms import seeded
from epsilond.training import Client
from epsilond.training.arrays import as_floats
from epsilond.training.steps.noise_cancellation import CancellingServer, ClientNoise
from tests.training.runs import setting

DIMENSION = 4000
WIDE = {"epsilon": 1.0, "delta": 1e-5, "lipschitz": 1.0, "diameter": 1e7, "smoothness": 1.0}
STEP, SHORT = {"step_size": 0.1}, {"step_size": 1e-6}
TOLERANCE = 5.0 / math.sqrt(2.0 * DIMENSION)
"""Five standard errors of a standard deviation."""


def silent(records):
    zeros = Client(gradient=lambda _, places: np.zeros((len(places), DIMENSION)), records=records)
    return [zeros] * 6


def root_mean_square(vector):
    return math.sqrt(float(np.mean(np.square(as_floats(vector, pointer="/model")))))


@pytest.mark.parametrize("source", [None, seeded(0)], ids=["secure", "seeded"])
@pytest.mark.parametrize(
    ("algorithm", "fields", "expected"),
    [
        ("mb-sgd", {"rounds": 1, "batch_size": 2, "participants": 4, **STEP}, lambda p: 0.1 * p.noise_std / 2.0),
        ("shuffled-mb-sgd", {"rounds": 1, "batch_size": 2, **STEP}, lambda p: 0.1 * p.noise_std / math.sqrt(6.0)),
        (
            "accelerated-mb-sgd",
            {"rounds": 1, "batch_size": 2, "participants": 4},
            lambda p: p.noise_std / 2.0 / (2.0 * p.stages[0].prox_weight),
        ),
        (
            "one-pass-accelerated-mb-sgd",
            {"rounds": 1, "batch_size": 4},
            lambda p: p.noise_std / math.sqrt(6.0) / (2.0 * p.stages[0].prox_weight),
        ),
        ("mu2-sgd", {"rounds": 2, "participants": 4, **SHORT}, lambda p: 1e-6 / 3.0 * p.noise_std),
        ("mu2-sgd", {"rounds": 2, "server": "trusted", **SHORT}, lambda p: 2e-6 / 3.0 * p.noise_std),
    ],
)
def test_gaussian_noise(algorithm, fields, expected, source):
    asked = {**setting(algorithm, fields.get("server", "untrusted")), **WIDE, **fields}
    found = epsilond.train(algorithm, silent(4), dimension=DIMENSION, randomness=source, **asked)
    parameters = found.calibration.parameters
    assert root_mean_square(found.model) == pytest.approx(expected(parameters), rel=TOLERANCE)


def test_one_released_model():
    found = epsilond.train(
        "projected-sgd", silent(1), epsilon=1.0, delta=1e-5, dimension=DIMENSION, participants=6, lipschitz=1.0,
        radius=1e7, smoothness=1.0, step_schedule={"kind": "constant", "value": 0.5}, randomness=seeded(0), relation="replace-one", unit="record", observer="final-model",
    )  # fmt: skip
    expected = 0.5 * found.calibration.parameters.noise_std / math.sqrt(6.0)
    assert root_mean_square(found.model) == pytest.approx(expected, rel=TOLERANCE)


def test_the_shared_part():
    found = epsilond.train(
        "ppsgd", silent(4), epsilon=1.0, delta=1e-5, shared_dimension=DIMENSION, rounds=2, clipping_norm=1.0,
        step_size=0.1, local_step_size=0.1, randomness=seeded(0), relation="replace-one", unit="client", observer="other-clients",
    )  # fmt: skip
    expected = 0.5 * 0.1 * found.calibration.parameters.noise_std  # the mean of the start and of one step
    assert root_mean_square(found.model) == pytest.approx(expected, rel=TOLERANCE)
    assert np.array_equal(found.personal_models, np.tile(found.model, (6, 1)))


def test_integers_on_the_grid():
    found = epsilond.train(
        "norm-fedavg", silent(4), epsilon=4.0, delta=1e-5, dimension=DIMENSION, rounds=1, participants=4,
        quantization_levels=64, smoothness=1.0, quasar_convexity=1.0, initial_distance=1.0, randomness=seeded(0),
        step_size=1.0, sensitivity_rule={"kind": "relative", "relative_movement": 0.1}, relation="replace-one", unit="record", observer="server",
    )  # fmt: skip
    parameters = found.calibration.parameters
    steps = found.model * 4 * 64
    assert np.allclose(steps, np.round(steps), rtol=0.0, atol=1e-6)
    assert np.max(np.abs(steps)) <= 4 * (64 + parameters.noise_levels)
    std = math.sqrt(float(variance(parameters.decay_rate, parameters.noise_levels)) * 4.0)
    assert root_mean_square(steps) == pytest.approx(std, rel=2.0 * TOLERANCE)


def test_what_is_left_of_cancelled_noise_is_each_clients_last():
    generator, held = np.random.default_rng(0), ClientNoise(1, 5, 30)
    server = CancellingServer(np.zeros(30), step_size=1.0, project=lambda model: model)
    reports = np.zeros(5, dtype=int)
    for number in range(1, 9):
        who = np.sort(generator.permutation(5)[:3])
        reports[who] += 1
        normal = generator.standard_normal((1, 3, 30))
        added = held.replace_noise(who[None], np.ones((1, 3), dtype=bool), 2.0, normal)
        assert np.allclose(held.held[0, who], 2.0 * np.sqrt(reports[who])[:, None] * normal[0])
        server.receive(added[0].sum(axis=0), number)
        assert np.allclose(server.sum, held.held[0].sum(axis=0))

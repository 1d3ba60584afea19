"""A loop of one's own, made of the mechanisms, has the bounds and the noise of the loops that are given."""

import numpy as np
import pytest

from epsilond.mechanisms import from_calibration
from epsilond.training import Client
from tests.training.runs import CLIENTS, DIMENSION, answered, held, prepared


def figures(algorithm):
    """(bound of one contribution, weight in the noisy quantity, noise) of the loop."""
    run, _ = prepared(algorithm, held(algorithm).clients(), **(STEPS if algorithm == "ppsgd" else {}))
    if hasattr(run, "reporting"):
        reporting = run.reporting
        return reporting.bounds[0], 1.0 / reporting.batch_sizes[0], reporting.noise_stds[0]
    if algorithm == "ppsgd":
        return run.clipping_norm, 1.0 / (run.rate * run.weight), run.noise_std
    return run.lipschitz, 1.0, min(run.noise_stds)


STEPS = {"step_size": 0.1, "local_step_size": 0.1}
GAUSSIAN = (
    "mb-sgd",
    "shuffled-mb-sgd",
    "accelerated-mb-sgd",
    "one-pass-accelerated-mb-sgd",
    "projected-sgd",
    "ppsgd",
)


@pytest.mark.parametrize("algorithm", GAUSSIAN)
def test_bounds_weights_and_noise_are_the_same(algorithm):
    release = from_calibration(answered(algorithm))
    own = (release.contribution_bound, release.weight, release.noise_std)
    assert own == pytest.approx(figures(algorithm), rel=1e-12)


def test_a_message_has_the_bits_that_the_log_tells():
    answer = answered("norm-fedavg")
    release = from_calibration(answer)
    packed = release.encode(np.array([3.0, 0.0, -4.0]))
    bits = answer.communication.bits_per_round_per_client
    assert len(packed) == (bits + 7) // 8
    zeros = [Client(gradient=lambda _, places: np.zeros((len(places), DIMENSION)), records=1)] * CLIENTS
    run, session = prepared("norm-fedavg", zeros)
    session.bits_per_client = bits
    run(session)
    assert [one.bits for one in session.log] == [bits * run.participants] * run.rounds
    assert bits == release.bits_per_coordinate * DIMENSION

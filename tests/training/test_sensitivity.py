"""Two neighbours at the same random bits: what is noisy moves by the sensitivity that the guarantee tells, and no more."""

import numpy as np
import pytest

import epsilond
from epsilond.mechanisms import seeded
from epsilond.training import Client
from tests.training.runs import setting

TARGET = {"epsilon": 1.0, "delta": 1e-5, "dimension": 3}
WIDE = {**TARGET, "lipschitz": 0.7, "diameter": 1e6, "smoothness": 1.0}
CLIENTS, RECORDS = 4, 2


def clients(gradient, records):
    """The first record of the first client has that gradient, whatever the model; all others have none."""

    def first(_, places):
        return np.where((places == 0)[:, None], gradient, 0.0)

    others = Client(gradient=lambda _, places: np.zeros((len(places), 3)), records=records)
    return [Client(gradient=first, records=records), *[others] * (CLIENTS - 1)]


def moved(algorithm, length, *, records=RECORDS, **fields):
    """How far two such data sets move the model, the record's gradient being turned round; and the calibration."""
    question = fields.pop("question")
    asked = {**setting(algorithm, question.get("server", "untrusted")), "clients": CLIENTS, **question}
    answer = epsilond.calibrate(algorithm, **asked)
    turned = [np.array([0.0, sign * length, 0.0]) for sign in (1.0, -1.0)]
    models = [
        epsilond.train(algorithm, clients(each, records), calibration=answer, randomness=seeded(0), **fields).model
        for each in turned
    ]
    return float(np.linalg.norm(models[0] - models[1])), answer


@pytest.mark.parametrize("length", [1e3, 1e200])
@pytest.mark.parametrize("algorithm", ["mb-sgd", "shuffled-mb-sgd"])
def test_a_mean_of_clipped_gradients(algorithm, length):
    question = {**WIDE, "samples_per_client": RECORDS, "rounds": 1, "batch_size": RECORDS}
    found, answer = moved(algorithm, length, question=question, step_size=0.1)
    assert found * CLIENTS / 0.1 == pytest.approx(2.0 * 0.7 / RECORDS, rel=1e-9)
    assert answer.guarantee.sensitivity == pytest.approx(2.0 * 0.7 / RECORDS)


@pytest.mark.parametrize("algorithm", ["accelerated-mb-sgd", "one-pass-accelerated-mb-sgd"])
def test_a_step_of_a_stage(algorithm):
    question = {**WIDE, "samples_per_client": RECORDS, "rounds": 1, "batch_size": RECORDS}
    found, answer = moved(algorithm, 1e3, question=question)
    weight = answer.parameters.stages[0].prox_weight
    assert found * CLIENTS * 2.0 * weight == pytest.approx(answer.guarantee.sensitivity, rel=1e-9)


@pytest.mark.parametrize("server", ["trusted", "untrusted"])
def test_a_weighted_difference(server):
    question = {**WIDE, "diameter": 2.0, "rounds": 2, "server": server}
    found, answer = moved("mu2-sgd", 1e3, question=question, step_size=1e-9)
    sent = 3.0 / 2.0 * found / 1e-9
    parts = 1 if server == "trusted" else CLIENTS  # the guarantee is of the mean, or of a client's report
    expected = (
        answer.guarantee.sensitivity if server == "untrusted" else 2.0 * answer.parameters.clipping_norm / CLIENTS
    )
    assert sent * parts == pytest.approx(expected, rel=1e-5)


def test_a_message_of_a_client():
    question = {"epsilon": 1.0, "delta": 1e-5, "shared_dimension": 3, "rounds": 2, "clipping_norm": 0.6}
    question["batch_size"] = RECORDS
    found, answer = moved("ppsgd", 1e3, question=question, step_size=0.1, local_step_size=0.0)
    assert 2.0 * found / 0.1 == pytest.approx(answer.guarantee.sensitivity, rel=1e-9)


def test_a_gradient_as_it_is():
    question = {**TARGET, "lipschitz": 0.7, "radius": 1e6, "smoothness": 1.0, "participants": 2}
    question["step_schedule"] = {"kind": "constant", "value": 0.5}
    found, answer = moved("projected-sgd", 0.7, question=question, records=1)
    assert found * 2 / 0.5 == pytest.approx(answer.guarantee.sensitivity, rel=1e-9)

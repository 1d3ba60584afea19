"""Small calibrated runs on clients that remember what they were asked: for the tests of loops."""

import dataclasses
import json

import numpy as np

import epsilond
from epsilond.mechanisms import seeded
from epsilond.training import Client
from epsilond.training.clients.callables import CallableClients
from epsilond.training.loops import LOOPS
from epsilond.training.loops.session import Session

CLIENTS, RECORDS, DIMENSION = 6, 8, 3
TARGET = {"epsilon": 1.0, "delta": 1e-5}
BALL = {"diameter": 3.0, "lipschitz": 0.7, "smoothness": 1.0}
QUESTIONS = {
    "mb-sgd": {**BALL, "participants": 4, "rounds": 7, "batch_size": 3, "strong_convexity": 0.1},
    "shuffled-mb-sgd": {**BALL, "participants": 4, "rounds": 5, "batch_size": 2},
    "one-pass-accelerated-mb-sgd": {**BALL, "participants": 5, "rounds": 4, "batch_size": 2},
    "accelerated-mb-sgd": {**BALL, "rounds": 9, "batch_size": 4, "strong_convexity": 0.2},
    "norm-fedavg": {
        "participants": 3,
        "rounds": 4,
        "quantization_levels": 64,
        "smoothness": 1.0,
        "quasar_convexity": 1.0,
        "initial_distance": 1.0,
    },
    "projected-sgd": {
        "participants": 2,
        "lipschitz": 2.0,
        "radius": 1.5,
        "smoothness": 1.0,
        "step_schedule": {"kind": "inverse-time", "scale": 0.9},
    },
    "ppsgd": {
        "sampling": "without-replacement",
        "participation_rate": 0.5,
        "rounds": 6,
        "batch_size": 3,
        "clipping_norm": 0.6,
        "smoothness": 2.0,
        "optimum_norm": 1.0,
    },
    "mu2-sgd": {**BALL, "participants": 4, "rounds": 6},
    "dp-fedavg": {"participants": 3, "rounds": 5, "clipping_norm": 0.5},
}
ALGORITHMS = [name for name in LOOPS if name in {one.name for one in epsilond.CALIBRATORS}]


ANSWERS = {}


class Remembering:
    """Clients of tanh-shaped gradients that keep every question: (client, model, places)."""

    def __init__(self, clients=CLIENTS, records=RECORDS, dimension=DIMENSION, seed=0, scale=1.0):
        generator = np.random.default_rng(seed)
        self.centres = generator.standard_normal((clients, records, dimension))
        self.scale, self.asked = scale, []

    def gradient(self, model, client, record):
        return self.scale * np.tanh(model - self.centres[client, record])

    def clients(self):
        return [self._client(place) for place in range(len(self.centres))]

    def _client(self, place):
        def answer(model, places):
            self.asked.append((place, np.array(model), np.array(places)))
            return np.stack([self.gradient(model, place, record) for record in places])

        return Client(gradient=answer, records=self.centres.shape[1])


def setting(algorithm, server="untrusted"):
    """Return the relation, unit and observer of the algorithm's own example; a trusted server is not an adversary."""
    example = next(one.example for one in epsilond.CALIBRATORS if one.name == algorithm)
    named = {name: example[name] for name in ("relation", "unit", "observer")}
    return named if server == "untrusted" else named | {"observer": "released-models"}


def question(algorithm, **more):
    fields = {**TARGET, **setting(algorithm), **QUESTIONS[algorithm], **more}
    sizes = {"clients": CLIENTS, "dimension": DIMENSION, "samples_per_client": RECORDS}
    if algorithm == "ppsgd":
        sizes = {"clients": CLIENTS, "shared_dimension": DIMENSION}
    if algorithm in ("norm-fedavg", "projected-sgd", "mu2-sgd", "dp-fedavg"):
        del sizes["samples_per_client"]
    return {**sizes, **fields}


def answered(algorithm, **more):
    """The calibration of that question; the same object where it was asked before."""
    key = (algorithm, json.dumps(more, sort_keys=True))
    if key not in ANSWERS:
        ANSWERS[key] = epsilond.calibrate(algorithm, **question(algorithm, **more))
    return ANSWERS[key]


def held(algorithm, **sizes):
    return Remembering(records=1, **sizes) if algorithm == "projected-sgd" else Remembering(**sizes)


def silent(run):
    """The same run without any noise."""
    off = {"noise_std": 0.0, "noise_stds": None, "noise_levels": 0}
    changed = {name: value for name, value in off.items() if hasattr(run, name)}
    if "noise_stds" in changed:
        changed["noise_stds"] = np.zeros_like(run.noise_stds)
    if "noise_levels" in changed:
        changed["levels"] = 1 << 40
    if hasattr(run, "reporting"):
        reporting = run.reporting
        changed["reporting"] = dataclasses.replace(reporting, noise_stds=np.zeros_like(reporting.noise_stds))
    return dataclasses.replace(run, **changed)


def session_of(clients, *, seed, start, on_round=None):
    """With seeded randomness and everything told."""
    return Session(
        clients=CallableClients(tuple(clients), DIMENSION),
        source=seeded(seed),
        start=start,
        bits_per_client=96,
        participants_seen=True,
        models_seen=True,
        log_unprotected=True,
        on_round=on_round,
    )


def prepared(algorithm, clients, *, seed=0, start=None, answer=None, **steps):
    """(run, session) of a calibrated question."""
    answer = answer or answered(algorithm)
    session = session_of(clients, seed=seed, start=np.zeros(DIMENSION) if start is None else start)
    given = {"step_size": None, "local_step_size": None, "local_steps": None, **steps}
    run = LOOPS[algorithm].of(answer.problem, answer.parameters, session, **given)
    run.check(session)
    return run, session

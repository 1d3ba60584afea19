"""Without noise every loop does what its paper's pseudo code does, on the batches that it drew."""

import dataclasses

import numpy as np
import pytest

from epsilond.training import Client
from epsilond.training.loops.dp_fedavg import DpFedavgRun
from epsilond.training.loops.ppsgd import PpsgdRun
from epsilond.training.steps.averaged_updates import adapted_bound
from tests.oracles import training as paper
from tests.training.runs import DIMENSION, RECORDS, held, prepared, session_of, silent

START = np.array([0.3, -0.2, 0.1])


def rounds_of(asked):
    """Questions as rounds: {client: places} as long as no client is asked twice at one model."""
    rounds = []
    for client, model, places in asked:
        if not rounds or not np.array_equal(rounds[-1][0], model) or client in rounds[-1][1]:
            rounds.append((model, {}))
        rounds[-1][1][client] = places.tolist()
    return [batch for _, batch in rounds]


def went(algorithm, **steps):
    data = held(algorithm)
    run, session = prepared(algorithm, data.clients(), start=START, **steps)
    run = silent(run)
    return data, run, session, run(session)


@pytest.mark.parametrize("algorithm", ["mb-sgd", "shuffled-mb-sgd"])
def test_mini_batches(algorithm):
    data, run, session, outcome = went(algorithm)
    batches = rounds_of(data.asked)
    assert len(batches) == run.reporting.rounds
    assert [tuple(batch) for batch in batches] == [one.unprotected.participants for one in session.log]
    expected = paper.mini_batch(
        START,
        data.gradient,
        batches,
        step=run.step_size,
        bound=0.7,
        divisor=int(run.reporting.batch_sizes[0]),
        ball=1.5,
        ratio=1.0 / run.fading,
    )
    assert np.allclose(outcome.model, expected, rtol=1e-12, atol=1e-12)
    assert sum(one.unprotected.clipped for one in session.log) > 0


@pytest.mark.parametrize("algorithm", ["accelerated-mb-sgd", "one-pass-accelerated-mb-sgd"])
def test_stages(algorithm):
    data, run, _, outcome = went(algorithm)
    batches = rounds_of(data.asked)
    expected = paper.accelerated(
        START,
        data.gradient,
        batches,
        stages=[(stage.rounds, stage.prox_weight) for stage in run.stages],
        mu=run.strong_convexity,
        bound=0.7,
        divisor=int(run.reporting.batch_sizes[0]),
        ball=1.5,
    )
    assert np.allclose(outcome.model, expected, rtol=1e-12, atol=1e-12)
    assert not np.allclose(outcome.model, START)


def test_directions():
    data, run, session, outcome = went("norm-fedavg", step_size=0.3, local_step_size=0.2)
    expected = paper.normalised(
        START,
        data.gradient,
        [one.unprotected.participants for one in session.log],
        [RECORDS] * 6,
        local_steps=run.local_steps,
        local_step=0.2,
        server_step=0.3,
    )
    assert np.allclose(outcome.model, expected, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("poisson", [False, True])
@pytest.mark.parametrize("adaptive", [False, True])
def test_averages_of_clipped_updates(poisson, adaptive):
    data = held("dp-fedavg")
    session = session_of(data.clients(), seed=5, start=START)
    run = DpFedavgRun(
        rounds=12, participants=3, rate=0.5, poisson=poisson, clipping_norm=0.1, noise_multiplier=0.0,
        count_std=0.0 if adaptive else None, local_steps=3, local_step_size=0.1, server_step_size=0.8,
    )  # fmt: skip
    outcome = run(session)
    rounds = [one.unprotected.participants for one in session.log]
    expected, bounds = paper.averaged_updates(
        START, data.gradient, rounds, [RECORDS] * 6, local_steps=3, local_step=0.1, server_step=0.8, bound=0.1,
        planned=3, adaptive=adaptive,
    )  # fmt: skip
    assert np.allclose(outcome.model, expected, rtol=1e-12, atol=1e-12)
    assert (len({len(one) for one in rounds}) > 1) == poisson
    assert (len(set(bounds)) > 1) == adaptive
    assert sum(one.unprotected.clipped for one in session.log) > 0


def test_noise_of_averages_follows_the_bound():
    zeros = Client(gradient=lambda _, places: np.zeros((len(places), DIMENSION)), records=2)
    changes, last = [], [START]

    def moved(_, model):
        changes.append(np.linalg.norm(model - last[-1]))
        last.append(model)

    session = session_of([zeros] * 6, seed=1, start=START, on_round=moved)
    run = DpFedavgRun(
        rounds=200, participants=6, rate=1.0, poisson=False, clipping_norm=1.0, noise_multiplier=2.0, count_std=0.5,
        local_steps=1, local_step_size=1.0, server_step_size=1.0,
    )  # fmt: skip
    run(session)
    # No update is ever too long, so the bound falls by e^(−0.1) a round, up to the noise of the share.
    assert changes[0] < 3.0
    slope = np.polyfit(np.arange(200), np.log(changes), 1)[0]
    assert slope == pytest.approx(-0.1, abs=0.01)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("first", [1, 2, 3])
def test_one_model_of_a_pass(first, seed):
    data = held("projected-sgd")
    run, session = prepared("projected-sgd", data.clients(), start=START, seed=seed)
    run = dataclasses.replace(silent(run), first_stop=first)
    outcome = run(session)
    batches = [one.unprotected.participants for one in session.log]
    assert sorted(sum(batches, ())) == list(range(6))
    models = paper.one_release(START, data.gradient, batches, steps=run.step_sizes, ball=1.5)
    distances = [float(np.max(np.abs(outcome.model - model))) for model in models]
    assert int(np.argmin(distances)) >= first
    assert min(distances) < 1e-12


@pytest.mark.parametrize("added_up", [False, True])
def test_shared_and_own_parts(added_up):
    data = held("ppsgd")
    run, session = prepared("ppsgd", data.clients(), start=START, step_size=0.4, local_step_size=0.05)
    run = dataclasses.replace(silent(run), added_up=added_up)
    outcome = run(session)
    places = iter(data.asked)
    batches = [{client: next(places)[2].tolist() for client in one.unprotected.participants} for one in session.log]
    expected = paper.personalised(
        START,
        data.gradient,
        batches,
        clients=6,
        weight=run.weight,
        rate=0.5,
        shared_step=0.4,
        own_step=0.05,
        bound=0.6,
        added_up=added_up,
    )
    assert np.allclose(outcome.model, expected[0], rtol=1e-12, atol=1e-12)
    assert np.allclose(outcome.personal_models, expected[1], rtol=1e-12, atol=1e-12)
    assert {len(batch) for batch in batches} == {3}


def test_own_parts_that_are_coordinates_of_their_own():
    """Alternating steps on w and θ_i, all clients and all records in every round, without noise and clipping."""
    generator = np.random.default_rng(0)
    centres = generator.standard_normal((4, 2, 5))

    def gradient(client, model, record):
        return np.tanh(model - centres[client, record]) * np.array([1.0, 1.0, 1.0, 2.0, 2.0])

    clients = [Client(gradient=lambda m, p, c=c: np.stack([gradient(c, m, r) for r in p]), records=2) for c in range(4)]
    session = session_of(clients, seed=0, start=START)
    session.clients = dataclasses.replace(session.clients, dimension=5)
    session.own_start = np.array([0.5, -0.5])
    run = PpsgdRun(
        rounds=7, rate=1.0, participants=4, batch_sizes=np.full(4, 2), added_up=False, weight=4.0, clipping_norm=1e6,
        noise_std=0.0, shared_step_size=0.3, own_step_size=0.2,
    )  # fmt: skip
    outcome = run(session)
    shared, own, kept = START, np.tile([0.5, -0.5], (4, 1)), []
    for _ in range(7):
        models = [np.concatenate([shared, own[client]]) for client in range(4)]
        kept.append(models)
        means = [np.mean([gradient(c, models[c], r) for r in range(2)], axis=0) for c in range(4)]
        shared = shared - 0.3 * np.mean([each[:3] for each in means], axis=0)
        own = own - 0.2 * np.array([each[3:] for each in means])
    assert np.allclose(outcome.personal_models, np.mean(kept, axis=0), rtol=1e-12, atol=1e-12)
    assert np.array_equal(outcome.personal_models[0, :3], outcome.model)


@pytest.mark.parametrize("bound", [0.9, None])
def test_weighted_differences(bound):
    data = held("mu2-sgd")
    run, session = prepared("mu2-sgd", data.clients(), start=START, step_size=0.05)
    run = silent(run) if bound is None else dataclasses.replace(silent(run), clipping_norm=bound)
    outcome = run(session)
    batches, asked = [], iter(data.asked)
    for one in session.log:
        now = {client: next(asked)[2].tolist() for client in one.unprotected.participants}
        before = {client: next(asked)[2].tolist() for client in one.unprotected.participants}
        assert now == before
        batches.append(now)
    x = paper.mu2(START, data.gradient, batches, step=0.05, participants=4, bound=run.clipping_norm, ball=1.5)
    assert np.allclose(outcome.model, x[run.rounds - 1], rtol=1e-12, atol=1e-12)
    assert not np.allclose(x[run.rounds - 1], x[run.rounds], rtol=0.0, atol=1e-9)
    assert len(outcome.model) == DIMENSION


@pytest.mark.parametrize("noise", [-1e9, 1e9])
def test_a_bound_follows_noise_of_any_size(noise):
    changed = adapted_bound(1.0, np.ones(3, dtype=np.bool_), 3, noise, target=0.5, rate=0.2)
    assert (changed > 1e300) if noise < 0.0 else (changed < 1e-300)

"""PPSGD against the paper's pseudo-code, client by client; its draws; and what is known of it in closed form."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.algorithms.ppsgd import rounds as ppsgd_rounds
from epsilond.simulators.algorithms.ppsgd.ppsgd import ALGORITHM, alternatives, rounds_of, simulate, work_of
from epsilond.simulators.algorithms.ppsgd.rounds import chunk_size, draw
from epsilond.simulators.algorithms.ppsgd.run import PpsgdRun, largest_message, steps_of
from epsilond.simulators.problems.personalized_problems import PersonalizedHuber, PersonalizedLeastSquares
from epsilond.simulators.seeds import generators

PROBLEM = PersonalizedHuber(clients=5, dimension=3, optimum_spread=0.3, feature_vectors=8).build()
RUN = PpsgdRun(rounds=23, personalization=0.3, step_size=0.4, noise_std=0.2)
RUNS = {
    "algorithm-1": RUN,
    "algorithm-2": replace(
        RUN,
        sampling="poisson",
        participation_rate=0.4,
        weighting="samples",
        client_groups=({"clients": 3}, {"clients": 2, "batch_size": 3}),
    ),
    "algorithm-3": replace(RUN, sampling="poisson", participation_rate=0.4, batch_size=2),
    "fixed-size": replace(RUN, sampling="without-replacement", participation_rate=0.4, batch_size=2),
    "clipped": replace(RUN, clipping_norm=0.4),
    "local": replace(RUN, personalization=0.0),
    "global": replace(RUN, personalization="unbounded", step_size=None, shared_step_size=0.1),
}


def literal(problem, run: PpsgdRun, generator: np.random.Generator) -> float:
    """One repetition as it is printed, in loops, with the draws that the simulation takes."""
    groups = run.batches(problem.clients)
    sizes = [group.batch_size for group in groups for _ in range(group.clients)]
    most, rate = max(sizes), run.rate
    weight = float(problem.clients) if run.weighting == "clients" else float(sum(sizes))
    alpha = math.inf if run.personalization == "unbounded" else run.personalization
    eta = 0.0 if math.isinf(alpha) else run.step_size
    shared_step = run.shared_step_size if math.isinf(alpha) else alpha * eta
    w, theta = np.zeros(problem.dimension), np.zeros((problem.clients, problem.dimension))
    total_w, total_theta = np.zeros_like(w), np.zeros_like(theta)
    done, size = 0, chunk_size(rate * problem.clients * most * problem.dimension)
    while done < run.rounds:
        drawn = draw(
            problem,
            [generator],
            rounds=min(size, run.rounds - done),
            batch_size=most,
            rate=rate,
            participants=run.participants(problem.clients),
        )
        for place in range(drawn.rounds):
            total_w, total_theta = total_w + w, total_theta + theta
            rows = drawn.rows(place)
            features, targets = drawn.records.features[rows], drawn.records.targets[rows]
            summed, moved = np.zeros_like(w), theta.copy()
            for row, i in enumerate(drawn.client[rows]):
                message = np.zeros_like(w)
                for k in range(sizes[i]):
                    residual = features[row, k] @ (w + theta[i]) - targets[row, k]
                    message += np.clip(residual, -1.0, 1.0) * features[row, k]
                if run.weighting == "clients":
                    message /= sizes[i]
                norm = np.linalg.norm(message)
                factor = 1.0 if run.clipping_norm is None else min(1.0, run.clipping_norm / norm)
                summed += factor * message
                moved[i] = theta[i] - eta / (rate * weight) * message
            w = w - shared_step * (summed / (rate * weight) + run.noise_std * drawn.noise[place, 0])
            theta = moved
        done += drawn.rounds
    models = (total_w + total_theta) / run.rounds
    shares = np.ones(problem.clients) if run.weighting == "clients" else np.array(sizes, dtype=float)
    return float(problem.excess(models, shares / weight))


@pytest.mark.parametrize("name", RUNS)
def test_it_is_the_pseudo_code(name, monkeypatch):
    monkeypatch.setattr(ppsgd_rounds, "ENTRIES", 200)  # several chunks
    run = RUNS[name]
    found = simulate(PROBLEM, run, generators(3, range(3)), (run.rounds,)).excess[:, 0]
    wanted = [literal(PROBLEM, run, generator) for generator in generators(3, range(3))]
    assert found == pytest.approx(wanted, rel=1e-11)
    assert len(set(wanted)) == 3


@pytest.mark.parametrize("name", RUNS)
def test_a_repetition_is_the_same_bit_by_bit_alone_and_beside_others(name):
    run = RUNS[name]
    together = simulate(PROBLEM, run, generators(5, range(7)), (4, run.rounds))
    alone = simulate(PROBLEM, run, generators(5, [4]), (run.rounds,))
    assert together.excess[4, 1] == alone.excess[0, 0]
    for key, values in together.diagnostics.items():
        assert values[4] == alone.diagnostics[key][0]


def test_an_earlier_round_is_that_of_a_shorter_run_of_the_same_draws(monkeypatch):
    monkeypatch.setattr(ppsgd_rounds, "ENTRIES", 1)  # round by round, whatever the length of the run
    early = simulate(PROBLEM, RUN, generators(5, range(2)), (9, 23)).excess[:, 0]
    assert np.array_equal(early, simulate(PROBLEM, replace(RUN, rounds=9), generators(5, range(2)), (9,)).excess[:, 0])


def test_clients_take_part_as_often_as_they_should():
    shape = {"rounds": 400, "batch_size": 1, "rate": 0.4}
    fixed = draw(PROBLEM, generators(1, range(2)), participants=2, **shape)
    assert np.all(np.diff(fixed.starts, axis=1) == 2)
    for drawn in (fixed, draw(PROBLEM, generators(1, range(2)), participants=None, **shape)):
        counts = np.bincount(drawn.client, minlength=5)
        assert np.all(np.abs(counts - 320.0) < 5.0 * math.sqrt(800 * 0.4 * 0.6))
    independent = np.diff(draw(PROBLEM, generators(2, [0]), participants=None, **shape).starts, axis=1)
    assert np.var(independent) == pytest.approx(5 * 0.4 * 0.6, rel=0.5)


def test_a_round_without_participants_moves_the_shared_part_by_noise_alone():
    run = replace(RUN, rounds=2, sampling="poisson", participation_rate=1e-9)
    found = simulate(PROBLEM, run, generators(0, range(2)), (2,))
    normal = np.array([generator_noise(seed) for seed in generators(0, range(2))])
    w = -run.personalization * run.step_size * run.noise_std * normal / 2.0
    shares = np.full(5, 0.2)
    wanted = [PROBLEM.excess(np.broadcast_to(one, (5, 3)), shares) for one in w]
    assert found.excess[:, 0] == pytest.approx(wanted, rel=1e-12)
    assert np.all(found.diagnostics["mean_participants"] == 0.0)


def generator_noise(generator: np.random.Generator) -> np.ndarray:
    drawn = draw(PROBLEM, [generator], rounds=2, batch_size=1, rate=1e-9, participants=None)
    return drawn.noise[0, 0]


def test_clipping_is_counted():
    free = simulate(PROBLEM, RUN, generators(0, range(3)), (23,)).diagnostics
    assert np.all(free["clipped_share"] == 0.0)
    assert np.all(free["largest_message"] <= largest_message(PROBLEM, RUN) * (1.0 + 1e-12))
    bound = simulate(PROBLEM, RUNS["clipped"], generators(0, range(3)), (23,)).diagnostics
    assert np.all((bound["clipped_share"] > 0.0) & (bound["clipped_share"] <= 1.0))


def test_a_run_that_diverges_has_infinite_excess():
    problem = PersonalizedLeastSquares(clients=2, dimension=2).build()
    run = PpsgdRun(rounds=400, personalization=0.5, step_size=1e3, noise_std=0.0)
    assert np.all(np.isinf(simulate(problem, run, generators(0, range(2)), (400,)).excess))


def test_either_step_decides_the_other():
    assert steps_of(PROBLEM, RUN) == (0.4, pytest.approx(0.12))
    by_shared = replace(RUN, step_size=None, shared_step_size=0.12)
    assert steps_of(PROBLEM, by_shared) == (pytest.approx(0.4), pytest.approx(0.12))
    assert steps_of(PROBLEM, replace(RUN, personalization=0.0)) == (0.4, 0.0)
    assert steps_of(PROBLEM, replace(RUN, personalization="unbounded")) == (0.0, pytest.approx(0.4 / 5))


def test_what_is_set_beside_a_run_is_named_and_runs():
    found = alternatives(RUN)
    assert tuple(found) == ALGORITHM.alternative_names
    assert found["non-private"].noise_std == 0.0
    assert steps_of(PROBLEM, found["local-only"])[1] == 0.0
    assert steps_of(PROBLEM, found["global-only"])[0] == 0.0


def test_work_grows_with_what_is_drawn():
    little, much = work_of(PROBLEM, RUN), work_of(PROBLEM, replace(RUN, rounds=230, batch_size=7))
    assert much.operations > 10 * little.operations
    assert much.calls == 10 * little.calls


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"participation_rate": 0.5}, "/participation_rate"),
        ({"sampling": "poisson"}, "/participation_rate"),
        ({"batch_size": 1, "client_groups": ({"clients": 5},)}, "/client_groups"),
        ({"step_size": 0.1, "shared_step_size": 0.1}, "/shared_step_size"),
        ({"personalization": -1.0}, "/personalization"),
        ({"noise_std": -1.0}, "/noise_std"),
    ],
)
def test_what_no_run_can_be_is_refused(fields, pointer):
    with pytest.raises(InvalidInput) as caught:
        PpsgdRun(rounds=10, **fields)
    assert pointer in {fault.pointer for fault in caught.value.faults}


@pytest.mark.parametrize(
    ("run", "pointer"),
    [
        (PpsgdRun(rounds=3, noise_std=0.0, step_size=1.0), "/personalization"),
        (PpsgdRun(rounds=3, noise_std=0.0, personalization=1.0), "/step_size"),
        (PpsgdRun(rounds=3, client_groups=({"clients": 4},)), "/client_groups"),
        (PpsgdRun(rounds=3, sampling="without-replacement", participation_rate=0.3), "/participation_rate"),
    ],
)
def test_what_does_not_fit_the_problem_is_refused_before_the_run(run, pointer):
    with pytest.raises(InvalidInput) as caught:
        rounds_of(PROBLEM, run)
    assert caught.value.faults[0].pointer == pointer


def test_noise_must_be_known_to_run():
    with pytest.raises(InvalidInput):
        simulate(PROBLEM, PpsgdRun(rounds=3), generators(0, [0]), (3,))


# What Bietti et al. and the bound say of α ---------------------------------------------------------------------------
def excess_by_sharing(spec, *, noise_std: float, rounds: int, batch_size: int, shares: tuple[float, ...]) -> dict:
    """Mean excess at αN, each at the step of Theorem 4.5."""
    problem, found = spec.build(), {}
    known, clients = problem.constants, problem.clients
    for share in shares:
        alpha = share / clients
        smooth = known.smoothness * max(alpha, 1.0 / clients)
        spread = clients * known.optimum_spread**2
        norm = math.sqrt(clients * known.optimum_norm**2 / (share + 1.0) + spread)
        variance = (1.0 + alpha) * known.shared_gradient_std**2 / (clients * batch_size)
        variance += alpha * problem.dimension * noise_std**2
        step = min(0.25 / smooth, norm / math.sqrt(rounds * variance))
        run = PpsgdRun(rounds=rounds, batch_size=batch_size, personalization=alpha, step_size=step, noise_std=noise_std)
        found[share] = simulate(problem, run, generators(0, range(8)), (rounds,)).excess.mean()
    return found


def test_where_the_bias_dominates_the_balanced_share_is_best():
    spec = PersonalizedLeastSquares(
        clients=20, dimension=10, optimum_norm=30.0, optimum_spread=0.02, target_noise_std=0.01
    )
    found = excess_by_sharing(spec, noise_std=0.0, rounds=300, batch_size=5, shares=(0.0, 0.1, 1.0, 10.0))
    assert found[1.0] < 0.6 * min(found[0.1], found[10.0]) < 0.6 * found[0.0]


def test_without_noise_sharing_helps_and_with_much_it_hurts():
    spec = PersonalizedLeastSquares(clients=50, dimension=10, optimum_norm=1.0, target_noise_std=1.0)
    shares = (0.0, 0.1, 1.0, 10.0)
    free = excess_by_sharing(spec, noise_std=0.0, rounds=500, batch_size=1, shares=shares)
    noisy = excess_by_sharing(spec, noise_std=1.0, rounds=500, batch_size=1, shares=shares)
    assert free[10.0] < free[1.0] < free[0.1] < free[0.0]
    assert noisy[0.0] < noisy[1.0] < noisy[10.0]

"""Noise cancellation against the paper's pseudo-code, client by client, and the laws of the noise that is left."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.algorithms.mu2_sgd import participation, rounds
from epsilond.simulators.algorithms.mu2_sgd.mu2_sgd import ALGORITHM, alternatives, rounds_of, simulate, work_of
from epsilond.simulators.algorithms.mu2_sgd.participation import RunParticipation, chunk_size, draw_reports
from epsilond.simulators.algorithms.mu2_sgd.run import Mu2SgdRun, fresh_noise_std, report_norm, step_size
from epsilond.simulators.problems.kinds import (
    HuberProblem,
    LeastSquaresProblem,
    LinearProblem,
    LogisticProblem,
)
from epsilond.simulators.problems.problem import Records
from epsilond.simulators.seeds import generators
from epsilond.training.steps.noise_cancellation import CancellingServer

SPEC = {"clients": 6, "samples_per_client": 1, "dimension": 3, "own_share": 0.5, "population": 8}
PROBLEM = LeastSquaresProblem(**SPEC).build()
RUN = Mu2SgdRun(rounds=17, participants=2, noise_std=0.7, step_size=0.01)
PATTERN = RunParticipation(
    kind="pattern",
    groups=({"clients": 1, "rounds": (1, 3, 4)}, {"clients": 1, "rounds": (4, 17)}, {"clients": 4, "rounds": ()}),
)
RUNS = {
    "untrusted": RUN,
    "everyone": replace(RUN, participants=None),
    "trusted": replace(RUN, server="trusted"),
    "independent": replace(RUN, method="independent-noise"),
    "independent-trusted": replace(RUN, method="independent-noise", server="trusted"),
    "noisy-sgd": replace(RUN, method="noisy-sgd", step_size=None),
    "noisy-sgd-trusted": replace(RUN, method="noisy-sgd", server="trusted"),
    "pattern": replace(RUN, participation=PATTERN),
    "gaps": replace(RUN, method="gap-differences"),
    "gaps-pattern": replace(RUN, method="gap-differences", participation=PATTERN),
}


def literal(problem, run: Mu2SgdRun, generator: np.random.Generator) -> float:
    """One repetition as Algorithm 1 or 2 is printed, in loops, with the draws that the simulation takes."""
    m, trusted, d = run.reporting(problem.clients), run.server == "trusted", problem.dimension
    known = problem.constants
    g_norm, s_norm = known.lipschitz, known.lipschitz + 2 * known.smoothness * known.diameter
    fresh = run.noise_std / math.sqrt(run.rounds - 1 if trusted else sum(1 / k for k in range(1, run.most_reports + 1)))
    eta = run.step_size
    if run.method == "noisy-sgd":
        fresh *= g_norm / s_norm
        noise = fresh**2 * d / (1 if trusted else m)
        eta = eta or known.diameter / math.sqrt((g_norm**2 + noise) * run.rounds)
    noises = 1 if trusted else m
    x, x_before, w = np.zeros(d), np.zeros(d), np.zeros(d)
    q, mean = np.zeros(d), np.zeros(d)
    held, counts, server_noise = np.zeros((problem.clients, d)), np.zeros(problem.clients), np.zeros(d)
    last_round, last_model = [0] * problem.clients, [np.zeros(d)] * problem.clients
    gaps = run.method == "gap-differences"
    t = 0
    while t < run.rounds:
        drawn = draw_reports(
            problem,
            [generator],
            run.taking_part,
            first=t + 1,
            rounds=min(chunk_size(problem.clients, noises * d), run.rounds - t),
            participants=m,
            noises=noises,
        )
        for place in range(drawn.rounds):
            t += 1
            put_out = mean = mean + (x - mean) / t
            put_out = mean if run.method == "noisy-sgd" else x
            summed = np.zeros(d)
            for k in range(m):
                if not drawn.present[place, 0, k]:
                    continue
                i, normal = drawn.clients[place, 0, k], drawn.noise[place, 0, k % noises]
                record = problem.records(i, drawn.places[place, 0, k])
                if gaps:  # the client's own sum, in `held`, of which the server takes the mean
                    gap = t - last_round[i]
                    s = t * problem.gradients(x, record) - last_round[i] * problem.gradients(last_model[i], record)
                    s = s * min(1.0, gap * s_norm / np.linalg.norm(s)) + fresh * gap * normal
                    held[i] = held[i] + s
                    last_round[i], last_model[i] = t, x
                    summed += held[i] / drawn.present[place, 0].sum()
                    continue
                now, before = problem.gradients(x, record), problem.gradients(x_before, record)
                s, most = (now, g_norm) if run.method == "noisy-sgd" else (t * now - (t - 1) * before, s_norm)
                s = s * min(1.0, most / np.linalg.norm(s))
                if not trusted and run.method == "cancelled-noise":
                    counts[i] += 1
                    y = run.noise_std * math.sqrt(counts[i]) * normal
                    s = s + y - held[i]
                    held[i] = y
                elif not trusted:
                    s = s + fresh * normal
                summed += s / m
            if trusted and run.method == "cancelled-noise":
                y = run.noise_std * drawn.noise[place, 0, 0]
                summed, server_noise = summed + y - server_noise, y
            elif trusted:
                summed = summed + fresh * drawn.noise[place, 0, 0]
            if run.method == "noisy-sgd":
                x = problem.project(x - eta * summed)
                continue
            q = summed if gaps else q + summed
            w = problem.project(w - eta * q)
            x_before, x = x, (1 - 2 / (t + 2)) * x + 2 / (t + 2) * w
    return float(problem.excess(put_out))


@pytest.mark.parametrize("name", RUNS)
def test_it_is_the_pseudo_code(name, monkeypatch):
    monkeypatch.setattr(participation, "ENTRIES", 100)  # several chunks
    run = RUNS[name]
    found = simulate(PROBLEM, run, generators(3, range(3)), (run.rounds,)).excess[:, 0]
    wanted = [literal(PROBLEM, run, generator) for generator in generators(3, range(3))]
    assert found == pytest.approx(wanted, rel=1e-10)
    assert len(set(wanted)) == 3


@pytest.mark.parametrize("name", RUNS)
def test_a_repetition_is_the_same_bit_by_bit_alone_and_beside_others(name):
    run = RUNS[name]
    together = simulate(PROBLEM, run, generators(5, range(7)), (4, run.rounds))
    alone = simulate(PROBLEM, run, generators(5, [4]), (run.rounds,))
    assert together.excess[4, 1] == alone.excess[0, 0]
    for key, values in together.diagnostics.items():
        assert values[4] == alone.diagnostics[key][0]


# Lemma 4.1 and its consequence ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["untrusted", "everyone", "trusted", "pattern"])
def test_the_sum_holds_each_clients_last_noise_only(name):
    run = replace(RUNS[name], rounds=300)
    error = simulate(PROBLEM, run, generators(0, range(5)), (300,)).diagnostics["cancellation_error"]
    assert np.all(error < 1e-12)


@pytest.mark.parametrize(("participants", "rounds"), [(6, 1), (6, 30), (2, 30), (1, 45)])
def test_the_noise_left_in_the_sum_has_the_law_of_the_theorem(participants, rounds):
    """E|Y_T|² = d c T/m with c = base², within five standard errors."""
    run = replace(RUN, participants=participants, rounds=rounds)
    left = simulate(PROBLEM, run, generators(1, range(400)), (rounds,)).diagnostics["residual_noise"]
    wanted = 3 * RUN.noise_std**2 * rounds / participants
    assert abs(left.mean() - wanted) < 5.0 * left.std() / math.sqrt(len(left))


@pytest.mark.parametrize("participants", [1, 3])
def test_gap_differences_err_as_appendix_g_says_it_with_true_gaps(participants):
    """Of linear losses q − T∇F is Σ gaps² of mean-zero gradients: (2M/m − 1)T σ²/m, less what the start cuts off."""
    problem = LinearProblem(clients=6, samples_per_client=1, dimension=2, population=8).build()
    run = replace(RUN, rounds=200, participants=participants, method="gap-differences", noise_std=0.0, step_size=1e-9)
    state = {}

    class Watched(CancellingServer):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            state["server"] = self

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rounds, "CancellingServer", Watched)
        simulate(problem, run, generators(1, range(400)), (200,))
    each = problem.gradients(np.zeros(2), Records(problem.population.features[0], problem.population.targets[0]))
    spread = np.mean(np.sum(np.square(each - each.mean(axis=0)), axis=1))
    # The output of round T is put out before its reports, and then they are received.
    errors = np.sum(np.square(state["server"].sum - 200 * each.mean(axis=0)), axis=1)
    wanted = 200 * spread * (2 * 6 / participants - 1) / participants
    assert np.mean(errors) == pytest.approx(wanted, rel=0.25)
    printed = 200 * spread * (6 / participants) / participants
    assert np.mean(errors) > 1.1 * printed


def test_noise_of_gap_differences_grows_with_the_gap():
    """Clients that report in rounds 1 and 10: variances 1 and 81 of one report's, in sums that keep both."""
    groups = ({"clients": 6, "rounds": (1, 10)},)
    run = replace(
        RUN,
        rounds=10,
        participants=None,
        method="gap-differences",
        noise_std=math.sqrt(1.5),  # H_2: a report of gap 1 has variance 1
        step_size=1e-12,
        participation=RunParticipation(kind="pattern", groups=groups),
    )
    assert fresh_noise_std(PROBLEM, run) == pytest.approx(1.0)
    sums = []

    class Watched(CancellingServer):
        def receive(self, increment, number):
            super().receive(increment, number)
            if number == 10:
                sums.append(self.sum.copy())

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rounds, "CancellingServer", Watched)
        simulate(PROBLEM, run, generators(2, range(2000)), (10,))
        (noisy,) = sums
        simulate(PROBLEM, replace(run, noise_std=0.0), generators(2, range(2000)), (10,))
    noise = noisy - sums[1]
    assert np.mean(np.square(noise)) == pytest.approx((1 + 81) / 6, rel=0.08)


def test_a_trusted_servers_noise_does_not_grow():
    left = simulate(PROBLEM, RUNS["trusted"], generators(1, range(400)), (17,)).diagnostics["residual_noise"]
    assert abs(left.mean() - 3 * RUN.noise_std**2) < 5.0 * left.std() / math.sqrt(len(left))


def test_noise_of_clients_that_are_gone_stays():
    """Three reports and two reports: c(3 + 2)/m² is left, whenever they were."""
    left = simulate(PROBLEM, RUNS["pattern"], generators(1, range(400)), (17,)).diagnostics["residual_noise"]
    wanted = 3 * RUN.noise_std**2 * (3 + 2) / 4
    assert abs(left.mean() - wanted) < 5.0 * left.std() / math.sqrt(len(left))


@pytest.mark.parametrize("kind", [LinearProblem, HuberProblem, LogisticProblem, LeastSquaresProblem])
def test_no_report_is_longer_than_its_bound(kind):
    problem = kind(**SPEC).build()
    found = simulate(problem, replace(RUN, rounds=60, step_size=0.3), generators(0, range(5)), (60,)).diagnostics
    assert np.all(found["largest_report"] <= report_norm(problem) * (1.0 + 1e-9))
    assert np.all(found["largest_gradient_norm"] <= problem.constants.lipschitz * (1.0 + 1e-9))
    assert np.all(found["clipped_share"] == 0.0)


# What the paper compares ----------------------------------------------------------------------------------------------
def of_the_theorem(problem, *, participants: int, rounds: int, mu: float) -> Mu2SgdRun:
    """The schedule and the step of Theorem 5.2."""
    known, norm = problem.constants, report_norm(problem)
    log = 1.0 + math.log(rounds)
    spread = math.sqrt(2.0 * problem.clients * problem.dimension * log)
    step = mu * known.diameter * participants / (2.0 * norm * rounds * spread)
    if known.smoothness > 0.0:
        step = min(step, 1.0 / (8.0 * known.smoothness * rounds))
    base = 2.0 * norm * math.sqrt(log) / mu
    return Mu2SgdRun(rounds=rounds, participants=participants, noise_std=base, step_size=step)


@pytest.mark.parametrize(("kind", "mu"), [(LinearProblem, 1.0), (LogisticProblem, 4.0), (HuberProblem, 4.0)])
def test_cancelled_noise_costs_less_than_fresh_noise_at_the_theorems_step(kind, mu):
    problem = kind(clients=20, samples_per_client=1, dimension=10, own_share=0.3).build()
    run = of_the_theorem(problem, participants=5, rounds=800, mu=mu)
    mean = {
        name: simulate(problem, each, generators(0, range(24)), (800,)).excess.mean()
        for name, each in {"cancelled-noise": run, **alternatives(run)}.items()
    }
    assert mean["non-private"] < mean["cancelled-noise"] < mean["independent-noise"] / 1.15
    trusted = replace(run, server="trusted", noise_std=2.0 * report_norm(problem) * math.sqrt(800) / (mu * 5))
    assert simulate(problem, trusted, generators(0, range(24)), (800,)).excess.mean() < mean["cancelled-noise"]


def test_alternatives_are_of_the_same_privacy():
    """2S√H_T/base of cancelled reports is 2S/σ of fresh ones and 2G/σ of gradients; of a trusted server with √(T − 1)."""
    norm, steepest = report_norm(PROBLEM), PROBLEM.constants.lipschitz
    harmonic = sum(1.0 / k for k in range(1, 18))
    mu = 2.0 * norm * math.sqrt(harmonic) / RUN.noise_std
    found = alternatives(RUN)
    assert 2.0 * norm / fresh_noise_std(PROBLEM, found["independent-noise"]) == pytest.approx(mu)
    assert 2.0 * steepest / fresh_noise_std(PROBLEM, found["noisy-sgd"]) == pytest.approx(mu)
    trusted = alternatives(RUNS["trusted"])
    mu = 2.0 * norm * math.sqrt(16) / (2 * RUN.noise_std)
    assert 2.0 * norm / (2 * fresh_noise_std(PROBLEM, trusted["independent-noise"])) == pytest.approx(mu)
    assert 2.0 * steepest / (2 * fresh_noise_std(PROBLEM, trusted["noisy-sgd"])) == pytest.approx(mu)


def test_what_is_set_beside_a_run_has_a_known_name():
    for run in RUNS.values():
        found = alternatives(run)
        assert set(found) <= set(ALGORITHM.alternative_names)
        assert found["non-private"].noise_std == 0.0
        for each in found.values():
            assert rounds_of(PROBLEM, each) == 17


def test_noisy_sgd_has_a_step_of_its_own():
    run = RUNS["noisy-sgd"]
    noise = fresh_noise_std(PROBLEM, run) ** 2 * 3 / 2
    wanted = 2.0 / math.sqrt((PROBLEM.constants.lipschitz**2 + noise) * 17)
    assert step_size(PROBLEM, run) == pytest.approx(wanted)


def test_what_a_run_costs_is_told_at_once_however_long_it_is():
    """H_T is ln T + γ to all digits there."""
    endless = replace(RUNS["noisy-sgd"], rounds=10**15)
    assert rounds_of(PROBLEM, endless) == 10**15
    wanted = 0.7 / math.sqrt(math.log(10**15) + 0.5772156649015329)
    fresh = fresh_noise_std(PROBLEM, replace(endless, method="independent-noise"))
    assert fresh == pytest.approx(wanted, rel=1e-12)


def test_work_grows_with_rounds():
    assert work_of(PROBLEM, replace(RUN, rounds=170)).operations == 10 * work_of(PROBLEM, RUN).operations


def test_uniform_participants_are_distinct_and_as_often_each():
    drawn = draw_reports(
        PROBLEM, generators(2, range(2)), RunParticipation(), first=1, rounds=500, participants=2, noises=2
    )
    assert np.all(drawn.clients[..., 0] < drawn.clients[..., 1])
    counts = np.bincount(drawn.clients.ravel(), minlength=6)
    assert np.all(np.abs(counts - 1000 / 3) < 5.0 * math.sqrt(1000 * 2 / 9))


# What is refused ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"participation": {"kind": "pattern"}}, "/groups"),
        ({"participation": {"groups": ({"clients": 6, "rounds": (1,)},)}}, "/groups"),
        ({"participation": {"kind": "pattern", "groups": ({"clients": 6, "rounds": (2, 2)},)}}, "/rounds"),
        ({"participation": {"kind": "pattern", "groups": ({"clients": 6, "rounds": (18,)},)}}, "/participation/groups"),
        ({"noise_std": -1.0}, "/noise_std"),
        ({"method": "gap-differences", "server": "trusted"}, "/server"),
    ],
)
def test_what_no_run_can_be_is_refused(fields, pointer):
    with pytest.raises(InvalidInput) as caught:
        Mu2SgdRun(rounds=17, **fields)
    assert caught.value.faults[0].pointer == pointer


@pytest.mark.parametrize(
    ("run", "pointer"),
    [
        (replace(RUN, participants=7), "/participants"),
        (replace(RUN, step_size=None), "/step_size"),
        (
            replace(RUN, participation=RunParticipation(kind="pattern", groups=({"clients": 5, "rounds": ()},))),
            "/participation/groups",
        ),
        (
            replace(RUN, participation=RunParticipation(kind="pattern", groups=({"clients": 6, "rounds": (1,)},))),
            "/participation/groups",
        ),
    ],
)
def test_what_does_not_fit_the_problem_is_refused_before_the_run(run, pointer):
    with pytest.raises(InvalidInput) as caught:
        rounds_of(PROBLEM, run)
    assert caught.value.faults[0].pointer == pointer


def test_noise_must_be_known_to_run():
    with pytest.raises(InvalidInput):
        simulate(PROBLEM, replace(RUN, noise_std=None), generators(0, [0]), (17,))

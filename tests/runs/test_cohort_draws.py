"""The tests on cohorts: exact levels by enumeration, power, and no alarm on fresh draws."""

import copy
import itertools

import numpy as np
import pytest

from epsilond.runs.cohort_draws import CYCLE, SAME, TURNS, CohortDraws
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import COHORT, NOISE


@pytest.mark.parametrize(("count", "size"), [(6, 2), (7, 3), (5, 1), (6, 5)])
def test_the_wealth_of_each_bet_is_a_martingale(count, size):
    """The expected wealth after one more cohort equals the wealth before it and the new bet, by enumeration."""
    random = np.random.default_rng(count)
    clients = list(range(count))
    draws = CohortDraws()
    cohorts = list(itertools.combinations(clients, size))
    for step in range(1, 12):
        before = dict(draws._wealth)
        expected = dict.fromkeys(before, 0.0)
        for cohort in cohorts:
            trial = copy.deepcopy(draws)
            trial.observe(cohort, clients)
            for name in expected:
                expected[name] += trial._wealth[name] / len(cohorts)
        for name, wealth in before.items():
            # A bet that no cohort can win loses its half; no bet wins more than it should.
            bound = wealth + 1 / (step * (step + 1))
            assert bound / 2 * (1 - 1e-9) <= expected[name] <= bound * (1 + 1e-9)
        if step > 1:
            assert expected[TURNS] == pytest.approx(before[TURNS] + 1 / (step * (step + 1)), rel=1e-9)
            assert expected[SAME] == pytest.approx(before[SAME] + 1 / (step * (step + 1)), rel=1e-9)
        draws.observe(random.choice(count, size, replace=False).tolist(), clients)


def alarm(cohorts, clients):
    draws = CohortDraws()
    for step, cohort in enumerate(cohorts, 1):
        draws.observe(cohort, clients)
        if draws.alarm:
            return step, draws.alarm
    return None


@pytest.mark.parametrize(
    ("pick", "words", "latest"),
    [
        (lambda _: range(5), SAME, 6),
        (lambda step: [(5 * step + place) % 20 for place in range(5)], TURNS, 8),
        (lambda step: [[0, 1, 2, 7, 9], [3, 4, 5, 6, 11], [9, 1, 2, 12, 13]][step % 3], CYCLE, 10),
        (lambda step: [0, *np.random.default_rng(step).choice(range(1, 20), 4, replace=False)], "a client is in", 40),
    ],
    ids=["same", "turns", "cycle", "one always"],
)
def test_cohorts_that_are_no_fresh_draw_are_noticed(pick, words, latest):
    step, message = alarm((list(pick(step)) for step in range(200)), range(20))
    assert words in message
    assert step <= latest


@pytest.mark.parametrize("poisson", [True, False])
def test_fresh_draws_have_no_alarm(poisson):
    random = np.random.default_rng(5)
    for _ in range(40):
        count = int(random.integers(1, 40))
        size, rate = int(random.integers(0, count + 1)), random.random()
        clients = np.arange(count)

        def draw(count=count, size=size, rate=rate, clients=clients):
            if poisson:
                return clients[random.random(count) < rate].tolist()
            return random.choice(count, size, replace=False).tolist()

        assert alarm((draw() for _ in range(100)), clients.tolist()) is None


def test_clients_that_come_and_go_have_no_alarm():
    random = np.random.default_rng(6)
    draws = CohortDraws()
    for _ in range(300):
        clients = np.flatnonzero(random.random(30) < 0.7).tolist()
        draws.observe([each for each in clients if random.random() < 0.2], clients)
        draws.observe([], [])
    assert draws.alarm is None


def test_premises_can_be_shown_after_their_step_was_counted():
    evidence = Evidence((COHORT, NOISE), outside=())
    evidence.count_step(count=2)
    assert evidence.status == "declared"
    evidence.show((COHORT, NOISE), count=2)
    assert (evidence.status, evidence.steps) == ("certified", 2)

"""Participants and batches follow the law of their sampler, whichever source of random bits draws them."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2

from epsilond.mechanisms import secure, seeded
from epsilond.training.clients.batches import Batch, draw, integers
from epsilond.training.loops.mini_batch import RoundMessages
from epsilond.training.loops.session import Session

SOURCES = {"secure": secure(), "seeded": seeded(0)}
RARE = 1e-9
"""How rarely a sampler that is right fails."""


def fits(counts, expected):
    """χ² of counts against expected ones."""
    found = sum((counts.get(one, 0) - mean) ** 2 / mean for one, mean in expected.items())
    return set(counts) <= set(expected) and chi2.sf(found, len(expected) - 1) > RARE


class Sized:
    """Clients of which only the numbers of records matter."""

    dimension, means_only = 1, False

    def __init__(self, sizes):
        self.sizes = np.asarray(sizes)


@pytest.fixture(params=SOURCES)
def source(request):
    return SOURCES[request.param]


def session(source, sizes):
    return Session(
        clients=Sized(sizes), source=source, start=np.zeros(1), bits_per_client=32, participants_seen=True,
        models_seen=True,
    )  # fmt: skip


def reporting(clients, *, rounds, counts, batch_size=2, sampling="without-replacement"):
    ones = np.ones(clients)
    return RoundMessages(
        rounds=rounds, counts=np.asarray(counts), sampling=sampling, batch_sizes=np.full(clients, batch_size),
        bounds=ones, scales=ones, noise_stds=ones,
    )  # fmt: skip


def test_participants_are_uniform_subsets(source):
    plan = reporting(5, rounds=3000, counts=[(3, 1.0)])
    drawn = Counter(tuple(batch.clients.tolist()) for batch in plan.draw_batches(session(source, [4] * 5)))
    assert fits(drawn, dict.fromkeys(combinations(range(5), 3), 300.0))


def test_a_law_of_the_number_of_participants_is_followed(source):
    plan = reporting(5, rounds=3000, counts=[(1, 0.2), (4, 0.5), (5, 0.3)])
    drawn = Counter(len(batch.clients) for batch in plan.draw_batches(session(source, [4] * 5)))
    assert fits(drawn, {1: 600.0, 4: 1500.0, 5: 900.0})


def test_batches_without_replacement_are_uniform_subsets_of_each_client(source):
    plan = reporting(2, rounds=3000, counts=[(2, 1.0)])
    drawn = Counter()
    for batch in plan.draw_batches(session(source, [4, 4])):
        drawn[tuple(tuple(sorted(batch.own(row).tolist())) for row in range(2))] += 1
    pairs = list(combinations(range(4), 2))
    assert fits(drawn, {(one, other): 3000 / 36 for one in pairs for other in pairs})


def test_poisson_batches_are_independent(source):
    drawn = Counter()
    for _ in range(3000):
        batch = draw(source, "poisson", np.array([0]), np.array([4]), np.array([1]))
        drawn[tuple(batch.own(0).tolist())] += 1
    subsets = [each for size in range(5) for each in combinations(range(4), size)]
    assert fits(drawn, {each: 3000 * 0.25 ** len(each) * 0.75 ** (4 - len(each)) for each in subsets})


def test_batches_with_replacement_are_uniform_words(source):
    drawn = Counter()
    for _ in range(2700):
        batch = draw(source, "with-replacement", np.array([0]), np.array([3]), np.array([3]))
        drawn[tuple(batch.own(0).tolist())] += 1
    words = [(one, two, three) for one in range(3) for two in range(3) for three in range(3)]
    assert fits(drawn, dict.fromkeys(words, 100.0))


def test_full_batches_hold_everything_once():
    batch = draw(secure(), "full", np.array([1, 0]), np.array([2, 3]), np.array([2, 3]))
    assert [batch.own(row).tolist() for row in range(2)] == [[0, 1], [0, 1, 2]]


def test_integers_reject_what_would_favour_small_ones():
    class Words:
        def __init__(self):
            self.given = [np.array([2**64 - 1, 5], dtype=np.uint64), np.array([7, 9], dtype=np.uint64)]

        def words(self, _):
            return self.given.pop(0)

    assert integers(Words(), 10, 2).tolist() == [7, 5]
    assert integers(secure(), 1, 3).tolist() == [0, 0, 0]


def test_one_pass_reads_no_record_twice_in_an_order_that_is_uniform(source):
    plan, orders = reporting(1, rounds=2, counts=[(1, 1.0)]), Counter()
    for _ in range(1800):
        read = [tuple(sorted(batch.own(0).tolist())) for batch in plan.deal_batches(session(source, [4]))]
        assert len(set(read[0]) | set(read[1])) == 4
        orders[tuple(read)] += 1
    pairs = list(combinations(range(4), 2))
    assert fits(orders, {(one, tuple(sorted(set(range(4)) - set(one)))): 300.0 for one in pairs})


def test_ragged_batches_keep_their_own_places():
    batch = Batch.of(np.array([3, 1, 2]), [np.array([4]), np.array([], dtype=np.int64), np.array([0, 2])])
    assert batch.sizes.tolist() == [1, 0, 2]
    assert [batch.own(row).tolist() for row in range(3)] == [[4], [], [0, 2]]

"""Aggregates over clients, participation, and the implicit number of rounds."""

import math
from functools import partial

import numpy as np
import pytest

from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.accountants.federation import ClientGroup, Federation, ParticipationMoments
from epsilond.accountants.theorems.papers.lowy_razaviyayn.averages import average_of_largest
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import aggregates, xi
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import smallest_round_count


def test_moments_of_a_random_number_of_participants() -> None:
    counts = [(2, 0.5), (4, 0.25), (10, 0.25)]
    found = ParticipationMoments.of(counts)
    assert found.mean == pytest.approx(1 / (0.25 + 0.0625 + 0.025))
    assert found.rms == pytest.approx(1 / math.sqrt(0.125 + 0.015625 + 0.0025))
    assert 1 <= found.rms <= found.mean <= 10


@pytest.mark.parametrize("counts", [[(0, 1.0)], [(2, 1.5), (3, -0.5)], [(2, 0.5)], []])
def test_participation_that_no_run_can_have(counts: list[tuple[int, float]]) -> None:
    with pytest.raises(InvalidInput):
        ParticipationMoments.of(counts)


def test_groups_are_their_members() -> None:
    rng = np.random.default_rng(3)
    values = [(float(value), int(count)) for value, count in zip(rng.random(5), rng.integers(1, 9, 5), strict=True)]
    spread = sorted((value for value, count in values for _ in range(count)), reverse=True)
    for count in range(1, len(spread) + 1):
        assert average_of_largest(values, count) == pytest.approx(sum(spread[:count]) / count, rel=1e-14)
    for count in (0, len(spread) + 1):
        with pytest.raises(InvalidInput):
            average_of_largest(values, count)


def group(clients: int, epsilon: float) -> ClientGroup:
    return ClientGroup(clients=clients, samples_per_client=1000, batch_size=100, epsilon=epsilon, log_delta=-11.5)


def test_one_demanding_client_among_many_is_averaged_away() -> None:
    federation = Federation(groups=(group(1, 0.1), group(10**6, 1.0)), counts=((10, 0.5), (1000, 0.5)))
    seen = aggregates(federation, 50)
    worst, usual = (xi(epsilon=epsilon, log_delta=-11.5, samples_per_client=1000, rounds=50) for epsilon in (0.1, 1.0))
    few, many = (worst + 9 * usual) / 10, (worst + 999 * usual) / 1000
    assert seen.largest_xi == worst
    assert seen.average_xi == pytest.approx(math.sqrt(0.5 * few**2 + 0.5 * many**2), rel=1e-13)
    moments = federation.participation
    assert seen.noise_ratio == pytest.approx(min(seen.average_xi / moments.rms, worst / moments.mean))
    assert seen.noise_ratio == pytest.approx(seen.xi / seen.participants)
    # The exact noise of the average, by uniform participation, is never more (E-31).
    assert (worst + 10**6 * usual) / (10**6 + 1) / moments.mean <= seen.noise_ratio
    assert not federation.all_participate
    assert Federation(groups=(group(4, 1.0),), counts=((4, 1.0), (2, 0.0))).all_participate


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5, 1e3, 1e12, 1e40])
def test_the_smallest_round_count(scale: float) -> None:
    def right_side(rounds: int) -> float:
        return scale / math.log(2.5 * rounds + 10)

    found = smallest_round_count(right_side)
    assert found >= right_side(found)
    assert found == 1 or found - 1 < right_side(found - 1)


def over_root(scale: float, rounds: int) -> float:
    return scale / math.sqrt(rounds)


def test_the_smallest_round_count_by_brute_force_and_over_a_jump() -> None:
    for scale in range(1, 60):
        expected = next(r for r in range(1, 10**4) if r >= scale / math.sqrt(r))
        assert smallest_round_count(partial(over_root, scale)) == expected
    found = smallest_round_count(lambda r: 5.0 if r < 7 else 40.0)
    assert found >= (5.0 if found < 7 else 40.0)
    with pytest.raises(Infeasible):
        smallest_round_count(lambda _: math.inf)

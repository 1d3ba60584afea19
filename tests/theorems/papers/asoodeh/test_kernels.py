"""(3) and (8) of Asoodeh et al.: against all events, and against the channels applied in rationals."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from mpmath import exp, mp, mpf

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.papers.asoodeh.kernels import EQUATION_3, EQUATION_8, MOST_CHANNELS
from tests.theorems.papers.asoodeh.test_divergence import over_events, random_laws


@pytest.mark.compares("asoodeh.equation-3")
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.5])
@pytest.mark.parametrize("seed", range(4))
def test_privacy_is_the_largest_divergence_by_trying_all_events(seed: int, epsilon: float) -> None:
    laws = random_laws(seed, 4, 5)
    found = EQUATION_3.evaluate(EQUATION_3.request(epsilon=epsilon, output_distributions=laws)).outputs
    with mp.workdps(40):
        exact = [[mpf(value) for value in law] for law in laws]
        pairs = list(itertools.permutations(range(4), 2))
        deltas = {pair: over_events(exact[pair[0]], exact[pair[1]], epsilon) for pair in pairs}
        worst = (found["first_data_set"], found["second_data_set"])  # at ε = 0 either order attains it
        event = [k for k in range(5) if exact[worst[0]][k] > exp(mpf(epsilon)) * exact[worst[1]][k]]
        masses = [sum(exact[each][k] for k in event) for each in worst]
    assert found["delta"] == pytest.approx(float(max(deltas.values())), rel=1e-12)
    assert found["delta"] == pytest.approx(float(deltas[worst]), rel=1e-12)
    assert found["first_probability"] == pytest.approx(float(masses[0]), rel=1e-12)
    assert found["second_probability"] == pytest.approx(float(masses[1]), rel=1e-12)


def test_one_data_set_and_distant_laws() -> None:
    alone = EQUATION_3.evaluate(EQUATION_3.request(epsilon=0.0, output_distributions=((0.5, 0.5),))).outputs
    assert alone["delta"] == 0.0
    apart = {"output_distributions": ((1.0, 0.0), (0.0, 1.0))}
    assert EQUATION_3.evaluate(EQUATION_3.request(epsilon=1e9, **apart)).outputs["delta"] == 1.0
    for wrong in ((), ((0.5, 0.5), (1.0,)), ((0.5, 0.6),)):
        with pytest.raises(InvalidInput, match="distribution"):
            EQUATION_3.request(epsilon=0.0, output_distributions=wrong)


def sent(law: list[Any], channel: list[list[Any]]) -> list[Any]:
    return [sum(mass * row[k] for mass, row in zip(law, channel, strict=True)) for k in range(len(channel[0]))]


@pytest.mark.compares("asoodeh.equation-8")
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.6])
@pytest.mark.parametrize("seed", range(4))
def test_a_chain_by_trying_all_events(seed: int, epsilon: float) -> None:
    first, second = random_laws(seed, 2, 4)
    channels = [random_laws(50 + seed, 4, 3), random_laws(60 + seed, 3, 5)]
    fields = {"first": first, "second": second, "epsilon": epsilon, "channels": channels}
    found = EQUATION_8.evaluate(EQUATION_8.request(**fields)).outputs
    with mp.workdps(40):
        here, there = ([mpf(value) for value in law] for law in (first, second))
        start, product = over_events(here, there, epsilon), mpf(1)
        for channel in channels:
            rows = [[mpf(value) for value in row] for row in channel]
            product *= max(over_events(*pair, epsilon) for pair in itertools.permutations(rows, 2))
            here, there = sent(here, rows), sent(there, rows)
        end = over_events(here, there, epsilon)
    wanted = {"divergence": start, "contraction": product, "divergence_bound": start * product, "last_divergence": end}
    assert found == pytest.approx({name: float(value) for name, value in wanted.items()}, rel=1e-12, abs=1e-15)
    assert found["last_divergence"] <= found["divergence_bound"] * (1 + 1e-12)


def test_point_masses_attain_the_chain_at_epsilon_0() -> None:
    """The total variation of two points after a binary symmetric channel is its coefficient, step after step."""
    channel = ((0.75, 0.25), (0.25, 0.75))
    fields = {"first": (1.0, 0.0), "second": (0.0, 1.0), "epsilon": 0.0}
    found = EQUATION_8.evaluate(EQUATION_8.request(**fields, channels=(channel,) * 5)).outputs
    assert found["divergence_bound"] == pytest.approx(0.5**5)
    assert found["last_divergence"] == pytest.approx(0.5**5)
    empty = EQUATION_8.evaluate(EQUATION_8.request(**fields, channels=())).outputs
    assert empty["divergence_bound"] == empty["last_divergence"] == 1.0
    with pytest.raises(InvalidInput, match="too many"):
        EQUATION_8.request(**fields, channels=(channel,) * (MOST_CHANNELS + 1))
    with pytest.raises(InvalidInput, match="one row"):
        EQUATION_8.request(**fields, channels=(((0.2, 0.3, 0.5),) * 2, channel))
    assert math.isfinite(empty["divergence"])

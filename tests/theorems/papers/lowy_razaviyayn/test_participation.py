"""Remark E.1: moments of participation and averages of clients, by enumeration."""

from itertools import combinations
from typing import Any

import pytest
from mpmath import mp, mpf

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.papers.lowy_razaviyayn.participation import REMARK_E_1
from tests.oracles.lowy_reused import moments, over_largest

FIGURES = [0.1, 0.1, 0.1, 2.0, 2.0, 0.7]
GROUPS = [{"clients": 3, "figure": 0.1}, {"clients": 1, "figure": 0.7}, {"clients": 2, "figure": 2.0}]
READINGS = ("printed", "corrected")
LAWS = [[(6, 1.0)], [(1, 0.25), (4, 0.75)], [(2, 0.5), (3, 0.25), (6, 0.25)]]


def evaluated(reading: Any = "corrected", **given: Any) -> dict[str, Any]:
    return dict(REMARK_E_1.evaluate(REMARK_E_1.request(**{"client_groups": GROUPS, **given}), reading).outputs)


def law_of(pairs: list[tuple[int, float]]) -> list[dict[str, float]]:
    return [{"participants": count, "probability": share} for count, share in pairs]


@pytest.mark.compares("lowy.remark-e.1")
@pytest.mark.parametrize("law", LAWS)
def test_every_moment_from_its_definition(law: list[tuple[int, float]]) -> None:
    found = evaluated(participation=law_of(law))
    M, rms = moments(law)
    X = over_largest([mpf(value) for value in FIGURES], law)
    expected = {
        "mean_participants": M,
        "rms_participants": rms,
        "average": X,
        "largest": mpf(2),
        "mean": mp.fsum(map(mpf, FIGURES)) / 6,
        "bound_over_participants": min(X / rms, 2 / M),
        "exact_over_participants": mp.fsum(map(mpf, FIGURES)) / 6 / M,
        "client_sampling_share": 1 - (M - 1) / 5,
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(float(value), rel=1e-13, abs=1e-15), name
    falling = sorted(FIGURES, reverse=True)
    for one, (count, _) in zip(found["averages_of_largest"], law, strict=True):
        assert one == {"participants": count, "average": pytest.approx(sum(falling[:count]) / count)}
    assert 1 <= found["rms_participants"] <= found["mean_participants"] <= 6
    assert found["mean"] <= found["average"] <= found["largest"]


@pytest.mark.parametrize("law", LAWS)
def test_the_exact_ratio_is_what_independent_errors_leave(law: list[tuple[int, float]]) -> None:
    """Every set of participants: the variance of the mean of errors of variances x_i."""
    exact = 0.0
    for count, share in law:
        sets = list(combinations(FIGURES, count))
        exact += share * sum(sum(chosen) / count**2 for chosen in sets) / len(sets)
    found = evaluated(participation=law_of(law))
    assert found["exact_over_participants"] == pytest.approx(exact, rel=1e-13)
    assert exact <= found["bound_over_participants"] * (1 + 1e-13)


@pytest.mark.erratum("E-09")
def test_the_printed_second_moment_is_the_first() -> None:
    """E-09: where one client has all the noise, E[(mean of the M_r largest)/M_r] is above X/M, and at most X/M'."""
    lone = [{"clients": 1, "figure": 1.0}, {"clients": 99, "figure": 0.0}]
    law = law_of([(1, 0.5), (100, 0.5)])
    printed, corrected = (evaluated(reading, client_groups=lone, participation=law) for reading in READINGS)
    assert printed["rms_participants"] == printed["mean_participants"] == pytest.approx(1 / 0.505)
    assert corrected["rms_participants"] == pytest.approx(1 / (0.5 + 0.5e-4) ** 0.5)
    costliest = 0.5 * 1.0 / 1 + 0.5 * 0.01 / 100
    assert printed["average"] / printed["rms_participants"] < 0.8 * costliest
    assert costliest <= corrected["average"] / corrected["rms_participants"]


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"participants": 7}, "/participants"),
        ({"participation": [{"participants": 7, "probability": 1.0}]}, "/participation/0/participants"),
        ({"participation": law_of(LAWS[1]), "participants": 2}, "/participation"),
        ({"client_groups": []}, "/client_groups"),
        ({"client_groups": [{"clients": 1, "figure": -1.0}]}, "/client_groups/0/figure"),
    ],
)
def test_what_there_cannot_be(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluated(**changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}

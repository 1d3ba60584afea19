"""Differences since a client's last report: in rationals, and along runs that go as far as they can."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import harmonic, mp, mpf

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.papers.reshef_levy.gap_differences import ALTERNATIVE_1, inverse_sum


def found(**fields: Any) -> Any:
    given = {"lipschitz": 3.0, "smoothness": 0.5, "diameter": 2.0, "gaussian_dp_mu": 4.0}
    return ALTERNATIVE_1.evaluate(ALTERNATIVE_1.request(**{**given, **fields})).outputs


@pytest.mark.compares("reshef.alternative-1")
@pytest.mark.parametrize(("round_", "last"), [(1, 0), (9, 0), (2, 1), (20, 19), (20, 15), (400, 3)])
def test_the_norm_in_rationals(round_: int, last: int) -> None:
    moved = min(Fraction(2), sum((Fraction(4, r + 2) for r in range(last, round_)), Fraction(0))) if last else 0
    norm = 3 * (round_ - last) + last * Fraction(1, 2) * moved
    wanted = {
        "clipping_norm": 5 * (round_ - last),
        "sharper_clipping_norm": norm,
        "movement": moved,
        "noise_std": norm / 2,
    }
    answer = found(round=round_, last_round=last)
    assert answer == pytest.approx({name: float(value) for name, value in wanted.items()}, rel=1e-13)
    assert answer["sharper_clipping_norm"] <= answer["clipping_norm"]


def test_no_run_goes_farther() -> None:
    """Records of gradient G + L(x − c) on [−1, 1]: models that jump from one end to the other."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        ends = rng.choice([-1.0, 1.0], size=60) if rng.random() < 0.5 else np.repeat([1.0, -1.0], 30)
        x = [0.0, float(ends[0])]
        for t in range(1, 60):
            share = 2.0 / (t + 2.0)
            x.append((1.0 - share) * x[t] + share * ends[t])
        last, now = sorted(rng.choice(np.arange(1, 61), size=2, replace=False))
        slopes = [2.0 + 0.5 * each for each in x]  # at most 3 with L = 1/2 and D = 2
        difference = abs(now * slopes[now] - last * slopes[last])
        answer = found(round=int(now), last_round=int(last))
        assert abs(x[now] - x[last]) <= answer["movement"] * (1 + 1e-12)
        assert difference <= answer["sharper_clipping_norm"] * (1 + 1e-12)


@pytest.mark.parametrize(("first", "last"), [(2, 10**7), (10**6, 2 * 10**6), (10**14, 10**15)])
def test_long_sums_are_not_too_small(first: int, last: int) -> None:
    with mp.workdps(40):
        truth = harmonic(last) - harmonic(first - 1)
        over = mpf(inverse_sum(first, last)) / truth - 1
    assert -1e-13 < over < 1e-5


def test_a_client_reports_once_in_a_round() -> None:
    for last in (3, 4):
        with pytest.raises(InvalidInput, match="before round"):
            found(round=3, last_round=last)

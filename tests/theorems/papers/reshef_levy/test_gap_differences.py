"""Differences since a client's last report: in rationals, and along runs that go as far as they can."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.papers.reshef_levy.gap_differences import ALTERNATIVE_1


def found(**fields: Any) -> Any:
    given = {"lipschitz": 3.0, "smoothness": 0.5, "diameter": 2.0, "gaussian_dp_mu": 4.0}
    return ALTERNATIVE_1.evaluate(ALTERNATIVE_1.request(**{**given, **fields})).outputs


@pytest.mark.compares("reshef.alternative-1")
@pytest.mark.parametrize(("round_", "last"), [(1, 0), (9, 0), (2, 1), (20, 19), (20, 15), (400, 3)])
def test_the_norm_in_rationals(round_: int, last: int) -> None:
    weights = [Fraction(sum(range(1, t + 1))) for t in (last, round_)]
    moved = 2 * (1 - weights[0] / weights[1]) if last else Fraction(0)
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


@pytest.mark.parametrize(("round_", "last"), [(2, 1), (20, 15), (60, 7)])
def test_a_run_that_turns_once_moves_so_far(round_: int, last: int) -> None:
    """Iterates at −1 up to the last report, and at 1 after it: the model moves by the whole bound."""
    ends = [Fraction(-1)] * last + [Fraction(1)] * (round_ - last)
    means = [sum(t * w for t, w in enumerate(ends[:n], start=1)) / sum(range(1, n + 1)) for n in (last, round_)]
    answer = found(round=round_, last_round=last)
    assert answer["movement"] == pytest.approx(float(means[1] - means[0]), rel=1e-15)
    steps = sum((Fraction(4, r + 2) for r in range(last, round_)), Fraction(0))
    assert means[1] - means[0] <= steps
    assert (means[1] - means[0] < steps) == (round_ > last + 1)


def test_a_client_reports_once_in_a_round() -> None:
    for last in (3, 4):
        with pytest.raises(InvalidInput, match="before round"):
            found(round=3, last_round=last)

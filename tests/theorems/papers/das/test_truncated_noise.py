"""Theorem 1 of Das et al. against enumeration: where it is false, and by how much."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from mpmath import exp, expm1, mp, mpf, quad

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.papers.das.truncated_noise import (
    REMARK_2,
    THEOREM_1,
    PrintedInputs,
    continuous_escape,
    printed_levels,
    true_delta,
)


def inputs(**changes: Any) -> PrintedInputs:
    return PrintedInputs(**{"epsilon": 0.3, "dimension": 2, "l1_sensitivity": 16, "linf_sensitivity": 8, **changes})


def enumerated(rate: float, levels: int, shift: tuple[int, ...], epsilon: float) -> mpf:
    """E_ε of the product law against its shift, from the definition."""
    with mp.workdps(40):
        weights = {y: exp(-mpf(rate) * abs(y)) for y in range(-levels, levels + 1)}
        total = sum(weights.values())
        here = {y: weight / total for y, weight in weights.items()}
        delta = mpf(0)
        for y in itertools.product(range(-levels, levels + 1), repeat=len(shift)):
            p, q = mpf(1), mpf(1)
            for one, moved in zip(y, shift, strict=True):
                p, q = p * here[one], q * here.get(one - moved, mpf(0))
            delta += max(p - exp(mpf(epsilon)) * q, mpf(0))
        return delta


@pytest.mark.erratum("D-1")
def test_two_coordinates_refute_the_count() -> None:
    """d = 2, m = 1, shift (1, 0): three of nine outputs are out of the neighbour's reach; the proof counts one."""
    box = set(itertools.product((-1, 0, 1), repeat=2))
    moved = {(a + 1, b) for a, b in box}
    assert len(box - moved) == 3
    assert 1**2 == 1  # Δ∞^d
    one = inputs()
    levels = printed_levels(one)
    assert levels == 9
    truth = enumerated(one.decay_rate, levels, (8, 8), one.epsilon)
    assert math.exp(true_delta(one, levels).log_delta) == pytest.approx(float(truth), rel=1e-13)
    assert truth > 0.65 > 2.0**-2
    assert THEOREM_1.status is Status.REFUTED
    assert "FALSE" in THEOREM_1.statement
    assert "d = 2, m = 1 and the shift (1, 0)" in THEOREM_1.statement


@pytest.mark.parametrize("shift", [(3, 3, 3), (3, 2, 0), (1, 1, 1)])
def test_the_true_delta_by_enumeration_in_three_dimensions(shift: tuple[int, ...]) -> None:
    one = inputs(dimension=3, l1_sensitivity=sum(shift), linf_sensitivity=max(shift), epsilon=0.2)
    levels = printed_levels(one)
    assert levels is not None
    truth = enumerated(one.decay_rate, levels, shift, one.epsilon)
    found = true_delta(one, levels)
    assert math.exp(found.log_delta) == pytest.approx(float(truth), rel=1e-13)
    assert math.exp(found.log_one_minus_delta) == pytest.approx(float(1 - truth), rel=1e-13)


def test_where_it_is_false() -> None:
    for dimension, linf, factor in itertools.product((1, 2, 3, 5, 40), range(1, 9), range(1, 6)):
        if factor > dimension:
            continue
        for share in (0.05, 0.5, 0.99):
            epsilon = share * factor / math.e
            one = inputs(dimension=dimension, l1_sensitivity=factor * linf, linf_sensitivity=linf, epsilon=epsilon)
            levels = printed_levels(one)
            assert levels is not None
            holds = true_delta(one, levels).log_delta <= -dimension * math.log(2.0)
            if dimension == 1:
                assert holds
            elif dimension >= 3 or factor > 1 or linf > 3:
                assert not holds


def test_one_coordinate_escapes_with_at_least_a_seventh() -> None:
    for linf in (1, 2, 3, 10, 1000):
        for share in (1e-6, 0.5, 0.999999):
            one = inputs(dimension=1, l1_sensitivity=linf, linf_sensitivity=linf, epsilon=share / math.e)
            levels = printed_levels(one)
            assert levels is not None
            escape = math.exp(true_delta(one, levels).log_delta)
            assert (0.1433 if linf == 1 else 0.2300) <= escape <= 0.5


@pytest.mark.erratum("D-4")
def test_the_printed_levels_are_below_their_bound() -> None:
    for linf in (1.0, 1.5, 2.0, 3.7, 53.2, 1e4, 104859.6):
        for share in (1e-9, 0.1, 0.7, 0.9999999):
            one = inputs(l1_sensitivity=2 * linf, linf_sensitivity=linf, epsilon=share * 2 / math.e)
            levels = printed_levels(one)
            assert levels is not None
            assert levels < THEOREM_1.evaluate(one).outputs["noise_levels_below"]
            assert levels <= math.ceil(1.5990 * linf)
    # D-4: a < b does not give ⌈a⌉ < ⌈b⌉. At Δ∞ = 2 both sides of the last step of (19) are 5.
    below, above = (math.e - 1) * math.log(4) * 2, 2.5 * 2
    assert below < above
    assert math.ceil(below) == math.ceil(above) == 5


@pytest.mark.erratum("D-5")
def test_the_factor_e_is_needed_in_the_condition_on_epsilon() -> None:
    """D-5: eαΔ∞ is e ε Δ∞/Δ₁, which ε < Δ₁/(eΔ∞) bounds by 1; ε Δ∞/Δ₁ < 1 leaves levels that are not defined."""
    linf, l1 = 8, 16
    for share in (0.3, 0.9, 0.999):
        stated = inputs(epsilon=share * l1 / (math.e * linf))
        assert math.e * stated.decay_rate * linf == pytest.approx(math.e * stated.epsilon * linf / l1, rel=1e-14)
        assert math.e * stated.decay_rate * linf == pytest.approx(share, rel=1e-14)
        assert printed_levels(stated) is not None
    as_printed = inputs(epsilon=0.999 * l1 / linf)
    assert as_printed.epsilon * linf / l1 < 1.0
    assert math.expm1(as_printed.decay_rate) * linf > 1.0
    assert printed_levels(as_printed) is None


@pytest.mark.parametrize(
    ("changes", "condition"),
    [
        ({"epsilon": 0.75}, "epsilon-range"),
        ({"linf_sensitivity": 17.0}, "linf-at-most-l1"),
        ({"dimension": 1}, "l1-at-most-d-linf"),
    ],
)
def test_each_condition_violated_once(changes: dict[str, Any], condition: str) -> None:
    assert all(one.holds == "yes" for one in THEOREM_1.evaluate(inputs()).conditions)
    failing = [one.id for one in THEOREM_1.evaluate(inputs(**changes)).conditions if one.holds == "no"]
    assert failing == [condition]


def test_levels_that_are_not_defined() -> None:
    one = inputs(epsilon=1.95)
    assert printed_levels(one) is None
    assert [condition.at(one).holds for condition in THEOREM_1.conditions[-1:]] == ["no"]
    with pytest.raises(InvalidInput):
        THEOREM_1.evaluate(one)


@pytest.mark.erratum("D-1")
@pytest.mark.compares("das.remark-2")
def test_continuous_noise_cut_off_at_the_sensitivity() -> None:
    assert continuous_escape(0.02, 8.0, 8.0) == pytest.approx(0.5, rel=1e-15)
    with mp.workdps(30):
        total = 2 * quad(lambda y: exp(-mpf("0.02") * y), [0, 8])
        tail = quad(lambda y: exp(-mpf("0.02") * y), [5, 8]) / total
        assert continuous_escape(0.02, 8.0, 3.0) == pytest.approx(float(tail), rel=1e-13)
    outputs = REMARK_2.evaluate(inputs(dimension=3, l1_sensitivity=20), "corrected").outputs
    # Two coordinates leave with probability 1/2 each, the third moves by 4.
    expected = 1 - 0.25 * (1 - continuous_escape(0.3 / 20, 8.0, 4.0))
    assert outputs["delta"] == pytest.approx(expected, rel=1e-13)
    one = REMARK_2.evaluate(inputs(dimension=1, l1_sensitivity=8), "corrected").outputs["reach_of_one_coordinate"]
    with mp.workdps(30):
        rate = mpf(0.3) / 8
        assert one == pytest.approx(float(mp.log1p(expm1(mpf(0.3))) / rate), rel=1e-12)
        at = -expm1(-rate * 8) * exp(-rate * (mpf(one) - 8)) / (2 * -expm1(-rate * mpf(one)))
        assert float(at) == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("sensitivity", [1e-300, 1e-100, 1e-3])
def test_what_moves_next_to_nothing_has_no_printed_level_and_overflows_nowhere(sensitivity: float) -> None:
    one = PrintedInputs(epsilon=1.0, dimension=4, l1_sensitivity=sensitivity, linf_sensitivity=sensitivity)
    assert printed_levels(one) is None


@pytest.mark.parametrize("epsilon", [1e-3, 1e-30, 1e-90, 1e-300])
def test_near_no_privacy_loss_the_printed_levels_are_just_above_one_shift(epsilon: float) -> None:
    """As ε → 0 the printed m falls to Δ∞ from above."""
    assert printed_levels(PrintedInputs(epsilon=epsilon, dimension=4, l1_sensitivity=8, linf_sensitivity=3)) == 4
    tiny = PrintedInputs(epsilon=epsilon, dimension=4, l1_sensitivity=8, linf_sensitivity=1e-108)
    assert printed_levels(tiny) == 1

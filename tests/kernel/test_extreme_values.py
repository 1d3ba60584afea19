"""Test large shifts, ε up to 10^6 and δ below every double: the kernel answers, and the reference refuses at once."""

from __future__ import annotations

from types import ModuleType

import mpmath as mp
import pytest

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from tests.oracles.contour import Step, by_contour

ORDERS = {"remove": 0, "add": 1, "replace": 2}


@pytest.mark.parametrize(
    ("step", "epsilon", "tilt", "period", "count"),
    [
        (Step(0.0271, 17.83, "remove", 13_329), 1.32355e6, 0.0252, 4.2e5, 150),
        (Step(8.19e-5, 15.6, "replace", 29_710_620), 596_644.0, 0.00678, 3.7e5, 250),
    ],
)
def test_many_steps_of_a_large_shift_against_ball_arithmetic(
    module: ModuleType, step: Step, epsilon: float, tilt: float, period: float, count: int
) -> None:
    composition = module.Composition(((step.rate, step.shift, ORDERS[step.direction], float(step.count)),), 0.0, ())
    lower, upper, width = composition.log_delta(epsilon)
    with mp.workdps(60):
        spacing = 0.05 / step.shift
        truth = mp.log(by_contour([step], epsilon, tilt=tilt, period=period, count=count, spacing=spacing))
        assert lower <= truth <= upper
    assert width < 1e-7


@pytest.mark.parametrize(
    ("rate", "shift", "count", "epsilon", "reason"),
    [
        (7.61e-8, 6.533, 5, 56_142.6, RefusalReason.NOT_POSITIVE),
        (0.0271, 17.83, 13_329, 1.32355e6, RefusalReason.TOO_WIDE),
    ],
)
def test_a_delta_below_the_noise_that_is_left_out_is_refused_before_a_line_is_laid(
    monkeypatch: pytest.MonkeyPatch, rate: float, shift: float, count: int, epsilon: float, reason: RefusalReason
) -> None:
    def lay(*_: object) -> None:
        pytest.fail("a line was laid")

    monkeypatch.setattr(contour, "build_integrand", lay)
    with pytest.raises(ContourRefused) as refused:
        contour.log_delta([(SampledGaussianLaw(rate, shift, "remove"), count)], epsilon)
    assert refused.value.reason is reason


@pytest.mark.parametrize(
    ("step", "epsilon"),
    [
        (Step(7.22654326986794e-05, 4.11, "remove", 19_940), 44.789),
        (Step(7.22654326986794e-05, 3.5874580572022867, "remove", 19_940), 44.79),
        (Step(3.9082740682470736e-07, 3.570460277108856, "replace", 244_705), 254.1538),
    ],
)
def test_rare_large_losses_among_many_small_ones_against_the_reference(
    module: ModuleType, step: Step, epsilon: float
) -> None:
    composition = module.Composition(((step.rate, step.shift, ORDERS[step.direction], float(step.count)),), 0.0, ())
    lower, upper, width = composition.log_delta(epsilon)
    assert step.direction in ("remove", "replace")
    reference = contour.log_delta([(SampledGaussianLaw(step.rate, step.shift, step.direction), step.count)], epsilon)
    assert lower <= reference.upper
    assert reference.lower <= upper
    assert width < 1e-4

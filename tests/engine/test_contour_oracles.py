"""Second opinions in high precision, on other tilts, other steps and other formulas than the engine's."""

from __future__ import annotations

import mpmath as mp
import pytest

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine.contour import composition as contour
from tests.oracles.contour import Step, by_contour, by_tails, two_steps


def enclosure(steps: list[Step], epsilon: float) -> tuple[float, float]:
    return contour.log_delta([(SampledGaussianLaw(s.rate, s.shift, s.direction), s.count) for s in steps], epsilon)


@pytest.mark.parametrize(
    ("steps", "epsilon", "tilt", "period", "count"),
    [
        ([Step(0.01, 1.0, "remove", 1000)], 2.12256, 5.6, 78.0, 440),
        ([Step(0.01, 1.0, "add", 1000)], 3.52274, 38.0, 3.9, 78),
        ([Step(0.01, 1.25, "add", 1000)], 8.327, 400.0, 0.95, 90),
        ([Step(0.01, 1.0, "replace", 1000)], 3.214, 5.0, 50.0, 200),
        ([Step(0.001, 1 / 0.6, "remove", 10**5)], 6.96084, 2.1, 110.0, 450),
        ([Step(0.01, 1.0, "remove", 10**6)], 180.062, 0.45, 250.0, 92),
        ([Step(0.01, 1.0, "add", 10**6)], 140.908, 0.32, 250.0, 80),
        ([Step(0.001, 1.0, "replace", 10**6)], 37.5499, 6.0, 40.0, 74),
        ([Step(0.1, 0.2, "remove", 1000)], 26.4671, 38.0, 17.0, 78),
        ([Step(0.5, 0.1, "replace", 300)], 11.2321, 2.7, 33.0, 61),
        ([Step(0.99, 0.5, "add", 50)], 35.4616, 2.0, 63.0, 57),
        ([Step(0.3, 0.25, "remove", 20)], 2.43944, 12.0, 10.0, 80),
        ([Step(1e-4, 0.5, "remove", 10**7)], 1.10887, 32.0, 3.7, 83),
        (
            [Step(0.01, 1.0, "remove", 500), Step(0.02, 0.8, "add", 300), Step(0.005, 0.5, "replace", 1000)],
            4.17599,
            5.0,
            120.0,
            400,
        ),
    ],
)
def test_the_same_integral_on_another_tilt(
    steps: list[Step], epsilon: float, tilt: float, period: float, count: int
) -> None:
    with mp.workdps(60):
        spacing = 0.06 * min(1.0, 1 / max(step.shift for step in steps))
        truth = mp.log(by_contour(steps, epsilon, tilt=tilt, period=period, count=count, spacing=spacing))
        lower, upper = enclosure(steps, epsilon)
        assert lower <= truth <= upper
        assert upper - lower < 2e-8


@pytest.mark.parametrize(
    ("step", "epsilon", "period", "count"),
    [
        (Step(0.01, 1.0, "remove", 1000), 2.12256, 100.0, 480),
        (Step(0.01, 1.0, "add", 1000), 1.588, 40.0, 200),
        (Step(0.01, 1.0, "replace", 1000), 3.214, 80.0, 220),
        (Step(0.1, 0.2, "replace", 500), 4.0, 60.0, 120),
    ],
)
def test_the_two_untilted_tail_probabilities(step: Step, epsilon: float, period: float, count: int) -> None:
    with mp.workdps(60):
        truth = mp.log(by_tails([step], epsilon, period=period, count=count, spacing=0.07))
        lower, upper = enclosure([step], epsilon)
        assert lower <= truth <= upper


@pytest.mark.parametrize(
    ("first", "second", "epsilon"),
    [
        (Step(0.1, 0.5, "add"), Step(0.3, 0.4, "add"), 0.3),
        (Step(0.2, 0.5, "replace"), Step(0.2, 0.5, "replace"), 2.0),
        (Step(0.05, 0.7, "remove"), Step(0.3, 0.3, "replace"), 2.5),
    ],
)
def test_two_steps_without_any_transform(first: Step, second: Step, epsilon: float) -> None:
    with mp.workdps(20):
        truth = mp.log(two_steps(first, second, epsilon))
        lower, upper = enclosure([first, second], epsilon)
        assert lower - 1e-15 <= truth <= upper + 1e-15

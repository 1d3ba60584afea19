"""The ε of a run that fits a ledger, from the noise that fits."""

from __future__ import annotations

import math
from typing import Any

import pytest

from epsilond.accountants.specs import Gaussian, Repeated
from epsilond.ledgers.calibrating.by_noise import MOST_RUNS, NEAR, near_strictness
from epsilond.ledgers.calibrating.runs import least_accepted


class Ledger:
    """One that reserves runs of enough noise, in some ranges of it, and a calibrator of power laws; both counted."""

    def __init__(self, *ranges: tuple[float, float], power: float = 0.8) -> None:
        self.ranges, self.power, self.runs = ranges, power, 0

    def run(self, strictness: float) -> Any:
        self.runs += 1
        return Repeated(times=3, mechanism=Gaussian(noise_multiplier=1.3 * math.exp(self.power * strictness)))

    def missed(self, spec: Any) -> float:
        return math.log(self.ranges[0][0] / float(spec.mechanism.noise_multiplier))

    def reserve(self, spec: Any) -> Any | None:
        noise = spec.mechanism.noise_multiplier
        return spec if any(low <= noise <= high for low, high in self.ranges) else None

    def found(self, start: float = 0.0) -> float | None:
        return near_strictness(self.run, self.missed, least_accepted, self.reserve, start)


@pytest.mark.parametrize("power", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("start", [-3.0, 0.5, 2.0])
def test_a_few_runs_find_the_least_noise(power: float, start: float) -> None:
    ledger = Ledger((2.0, math.inf), power=power)
    strictness = ledger.found(start)
    assert strictness is not None
    assert ledger.runs <= MOST_RUNS + 1
    assert 2.0 <= ledger.run(strictness).mechanism.noise_multiplier <= 2.0 * (1.0 + 3.0 * NEAR)


def test_less_noise_that_is_reserved_below_a_gap_is_found() -> None:
    ledger = Ledger((1.9985, 2.0004), (2.001, math.inf))
    ledger.missed = lambda spec: math.log(2.0009 / spec.mechanism.noise_multiplier)  # type: ignore[method-assign]
    strictness = ledger.found()
    assert strictness is not None
    assert ledger.run(strictness).mechanism.noise_multiplier <= 1.9986


def test_what_has_no_single_noise_is_left_to_the_other_search() -> None:
    ledger = Ledger((2.0, math.inf))
    ledger.run = lambda _: None  # type: ignore[method-assign]
    assert ledger.found() is None


def test_a_run_that_changes_with_epsilon_is_left_to_the_other_search() -> None:
    ledger = Ledger((2.0, math.inf))
    usual = ledger.run

    def changing(strictness: float) -> Any:
        return Repeated(times=3 if strictness == 0.0 else 4, mechanism=usual(strictness).mechanism)

    ledger.run = changing  # type: ignore[method-assign]
    assert ledger.found() is None

"""Answers that many tests look at, computed once in each process that runs tests."""

from functools import cache

import epsilond
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration

BY_NAME = {each.name: each for each in CALIBRATORS}


@cache
def example_answer(name: str) -> Calibration:
    """A calibrator's own example, calibrated."""
    return epsilond.calibrate(name, **BY_NAME[name].example)

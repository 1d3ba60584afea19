"""Answers that many tests look at, computed once in each process that runs tests.

The question is imported from where it lives: its lazy name in `epsilond` would keep what a test put in its place.
"""

from functools import cache

from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration
from epsilond.questions.calibrate import calibrate

BY_NAME = {each.name: each for each in CALIBRATORS}


@cache
def example_answer(name: str) -> Calibration:
    """A calibrator's own example, calibrated."""
    return calibrate(name, **BY_NAME[name].example)

"""Answers that many tests look at, computed once in each process that runs tests.

The question is imported from where it lives: its lazy name in `epsilond` would keep what a test put in its place.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.risk.answer import RiskBoundsAnswer
from epsilond.questions.calibrate import calibrate

BY_NAME = {each.name: each for each in CALIBRATORS}


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of values that answers the same question once in each process."""
    answers: dict[str, Any] = {}

    @wraps(function)
    def ask(*given: Any, **fields: Any) -> Any:
        question = repr((given, sorted(fields.items())))
        if question not in answers:
            answers[question] = function(*given, **fields)
        return answers[question]

    return ask


@cache
def example_answer(name: str) -> Calibration:
    """A calibrator's own example, calibrated."""
    return calibrate(name, **BY_NAME[name].example)


def codes(answer: Calibration | RiskBoundsAnswer) -> set[str]:
    """Codes of an answer's warnings."""
    return {warning.code for warning in answer.warnings}


def risk_of(answer: Calibration) -> float:
    """The upper bound on the risk, which the answer has."""
    assert answer.risk is not None
    assert answer.risk.upper is not None
    return answer.risk.upper.value

"""The condition that a run takes the step size of a bound."""

from __future__ import annotations

import math

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.verdict import Verdict

SAME = 1e-9
"""Relative tolerance for equal step sizes; it allows for rounding."""


def check_step(step: float, prescribed: float) -> ConditionResult:
    """Check whether a run takes the step size that a bound is stated for, up to rounding.

    Args:
        step: step size of the run.
        prescribed: step size of the bound.

    Returns:
        The condition with its verdict and both step sizes.
    """
    is_prescribed = math.isclose(step, prescribed, rel_tol=SAME)
    return ConditionResult(
        "step-of-the-theorem",
        "the run's step is the one that the bound is stated for",
        Verdict.of(is_prescribed),
        step,
        prescribed,
    )

"""The condition that bounds with a step of their own put on a run."""

from __future__ import annotations

import math

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.verdict import Verdict

SAME = 1e-9
"""Two step sizes are the same if they agree to this, relative."""


def at_step(taken: float, promised: float) -> ConditionResult:
    """Whether the run takes the step that the bound is for."""
    return ConditionResult(
        "step-of-the-theorem",
        "the run's step is the one that the bound is stated for",
        Verdict.of(math.isclose(taken, promised, rel_tol=SAME)),
        taken,
        promised,
    )

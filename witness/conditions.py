"""A theorem's conditions at one run on one problem: checked by the theorem itself, or settled by what we built."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from accountants.theorem import ConditionResult, Theorem, Verdict

SAME = 1e-9
"""Two step sizes are the same if they agree to this, relative."""


def settled(theorem: Theorem, inputs: object, known: Mapping[str, Verdict]) -> tuple[ConditionResult, ...]:
    """Every condition at the inputs. `known` tells by id what the problem and the run are by construction."""
    found = (condition.at(inputs) for condition in theorem.conditions)
    return tuple(replace(one, holds=known.get(one.id, one.holds)) for one in found)


def at_step(taken: float, promised: float) -> ConditionResult:
    """Whether the run takes the step that the bound is for."""
    return ConditionResult(
        "step-of-the-theorem",
        "the run's step is the one that the bound is stated for",
        math.isclose(taken, promised, rel_tol=SAME),
        taken,
        promised,
    )

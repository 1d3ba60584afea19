"""The target of a `gaussian` request: (ε, δ), or a risk with the δ at which ε is given."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.attackers.targets import ASSUMED_DELTA, target_of_risk
from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import Infeasible
from epsilond.accountants.target import Target
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Caution

if TYPE_CHECKING:
    from epsilond.calibrators.gaussian.problem import GaussianProblem
    from epsilond.calibrators.search import Certified


def target_of(problem: GaussianProblem) -> Target:
    """Return the given (ε, δ), or the given risk."""
    if problem.risk is not None:
        return target_of_risk(problem.risk, problem.delta, problem.log10_delta)
    return Target.of(problem.epsilon or 0.0, problem.delta, problem.log10_delta)


def read_at_delta(certified: Certified, target: Target) -> Target:
    """Return the target of a risk with the ε that is certified at its δ.

    Args:
        certified: the certified number and its guarantee.
        target: a target with a risk.

    Raises:
        Infeasible: no finite ε has this δ.
    """
    epsilon = certified.guarantee.curve.bound_epsilon(target.log_delta).upper
    if math.isinf(epsilon):
        limit = ConditionResult("delta-attainable", "δ is attained at a finite ε", Verdict.NO, target.log10_delta, None)
        raise Infeasible("the risk is met, but no ε has the δ at which ε is given", limit)
    return replace(target, epsilon=epsilon)


def warn_of_assumed_delta(problem: GaussianProblem) -> Iterator[Caution]:
    """Warn that ε is given at a δ that was not requested.

    Args:
        problem: the request.
    """
    if problem.risk is not None and problem.delta is None and problem.log10_delta is None:
        yield Caution(code="assumed-delta", message=f"no δ was requested, so ε is read off at δ = {ASSUMED_DELTA:g}")

"""The request classes: what the questions are asked with, for those who would rather build it than name fields."""

from __future__ import annotations

from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.accounts import AccountProblem, Claim
from epsilond.calibrators.planning.problem import PlanProblem, Reach
from epsilond.calibrators.risk.bounder import RISK_BOUNDS

_BY_ALGORITHM = {each.problem.__name__: each.problem for each in (*CALIBRATORS, *RISK_BOUNDS)}
globals().update(_BY_ALGORITHM)
__all__ = ["AccountProblem", "Claim", "PlanProblem", "Reach", *_BY_ALGORITHM]  # noqa: PLE0604 (they are strings)

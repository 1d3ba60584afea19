"""The request classes of all questions, for callers that build a request instead of naming fields."""

from __future__ import annotations

from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.accounting.claims import Claim
from epsilond.calibrators.accounts import AccountProblem
from epsilond.calibrators.planning.problem import PlanProblem, Reach
from epsilond.calibrators.risk.bounder import RISK_BOUNDS

_PROBLEMS = [calibrator.problem for calibrator in CALIBRATORS] + [bounder.problem for bounder in RISK_BOUNDS]
_BY_ALGORITHM = {problem.__name__: problem for problem in _PROBLEMS}
globals().update(_BY_ALGORITHM)
__all__ = ["AccountProblem", "Claim", "PlanProblem", "Reach", *_BY_ALGORITHM]  # noqa: PLE0604 (they are strings)

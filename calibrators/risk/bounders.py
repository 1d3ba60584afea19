"""The risk bounds of all calibrators that have them."""

from __future__ import annotations

from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.risk.bounder import RiskBounder, bounder_of

RISK_BOUNDS: tuple[RiskBounder, ...] = tuple(
    bounder_of(calibrator) for calibrator in CALIBRATORS if calibrator.risk_bounds is not None
)

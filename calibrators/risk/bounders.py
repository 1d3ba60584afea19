"""The risk bounds of all calibrators that have them."""

from __future__ import annotations

from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.risk.bounder import RiskBounder, bounder_of

RISK_BOUNDS: tuple[RiskBounder, ...] = tuple(bounder_of(one) for one in CALIBRATORS if one.risk is not None)

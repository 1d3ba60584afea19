"""THE list of risk bounds, one for each algorithm. A new one is one file `risk_bounds_<algorithm>.py` and one line."""

from __future__ import annotations

from epsilond.calibrators.accelerated_mb_sgd import risk as risk_bounds_accelerated_mb_sgd
from epsilond.calibrators.mb_sgd import risk as risk_bounds_mb_sgd
from epsilond.calibrators.one_pass_accelerated_mb_sgd import risk as risk_bounds_one_pass_accelerated_mb_sgd
from epsilond.calibrators.risk.answer import RiskBounder
from epsilond.calibrators.shuffled_mb_sgd import risk as risk_bounds_shuffled_mb_sgd

RISK_BOUNDS: tuple[RiskBounder, ...] = (
    risk_bounds_mb_sgd.RISK_BOUND,
    risk_bounds_one_pass_accelerated_mb_sgd.RISK_BOUND,
    risk_bounds_accelerated_mb_sgd.RISK_BOUND,
    risk_bounds_shuffled_mb_sgd.RISK_BOUND,
)

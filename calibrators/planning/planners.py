"""How each calibrator takes part in plans.

A new one is one file here and one line in `PLANNERS`. They are started in this order: those that take longest
stand last, so that a deadline leaves most of a plan standing.
"""

from __future__ import annotations

from epsilond.calibrators.accelerated_mb_sgd import plan as accelerated_mb_sgd
from epsilond.calibrators.gaussian import plan as gaussian
from epsilond.calibrators.mb_sgd import plan as mb_sgd
from epsilond.calibrators.mu2_sgd import plan as mu2_sgd
from epsilond.calibrators.norm_fedavg import plan as norm_fedavg
from epsilond.calibrators.one_pass_accelerated_mb_sgd import plan as one_pass_accelerated_mb_sgd
from epsilond.calibrators.planning.adapter import Planner
from epsilond.calibrators.ppsgd import plan as ppsgd
from epsilond.calibrators.projected_sgd import plan as projected_sgd
from epsilond.calibrators.qtdl import plan as qtdl
from epsilond.calibrators.shuffled_mb_sgd import plan as shuffled_mb_sgd

PLANNERS: tuple[Planner, ...] = (
    mu2_sgd.PLANNER,
    ppsgd.PLANNER,
    one_pass_accelerated_mb_sgd.PLANNER,
    gaussian.PLANNER,
    projected_sgd.PLANNER,
    accelerated_mb_sgd.PLANNER,
    mb_sgd.PLANNER,
    shuffled_mb_sgd.PLANNER,
    qtdl.PLANNER,
    norm_fedavg.PLANNER,
)
"""THE list of planners."""

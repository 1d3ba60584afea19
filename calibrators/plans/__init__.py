"""How each calibrator takes part in plans.

A new one is one file here and one line in `PLANNERS`. They are started in this order: those that take longest
stand last, so that a deadline leaves most of a plan standing.
"""

from __future__ import annotations

from calibrators.plan_ways import Planner
from calibrators.plans import (
    accelerated_mb_sgd,
    gaussian,
    mb_sgd,
    mu2_sgd,
    norm_fedavg,
    one_pass_accelerated_mb_sgd,
    ppsgd,
    projected_sgd,
    qtdl,
    shuffled_mb_sgd,
)

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

"""How each calibrator takes part in plans.

A new one is one file here and one line in `PLANNERS`. Those that take longest come first: they are started first.
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
    shuffled_mb_sgd.PLANNER,
    mb_sgd.PLANNER,
    accelerated_mb_sgd.PLANNER,
    norm_fedavg.PLANNER,
    qtdl.PLANNER,
    projected_sgd.PLANNER,
    one_pass_accelerated_mb_sgd.PLANNER,
    ppsgd.PLANNER,
    mu2_sgd.PLANNER,
    gaussian.PLANNER,
)
"""THE list of planners."""

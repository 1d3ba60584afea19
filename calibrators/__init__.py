"""Inverse problems and risk bounds: which parameters to run with, certified on the safe end.

A new algorithm is one file here and one line in `CALIBRATORS`.
"""

from __future__ import annotations

from calibrators import (
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
from calibrators.problem import Calibrator

CALIBRATORS: tuple[Calibrator, ...] = (
    mb_sgd.CALIBRATOR,
    one_pass_accelerated_mb_sgd.CALIBRATOR,
    accelerated_mb_sgd.CALIBRATOR,
    shuffled_mb_sgd.CALIBRATOR,
    qtdl.CALIBRATOR,
    norm_fedavg.CALIBRATOR,
    projected_sgd.CALIBRATOR,
    ppsgd.CALIBRATOR,
    mu2_sgd.CALIBRATOR,
    gaussian.CALIBRATOR,
)
"""THE list of calibrators."""

"""Inverse problems and risk bounds: which parameters to run with, certified on the safe end.

A new algorithm is one file here and one line in `CALIBRATORS`.
"""

from __future__ import annotations

from calibrators import accelerated_mb_sgd, gaussian, mb_sgd, one_pass_accelerated_mb_sgd, projected_sgd
from calibrators.problem import Calibrator

CALIBRATORS: tuple[Calibrator, ...] = (
    mb_sgd.CALIBRATOR,
    gaussian.CALIBRATOR,
    one_pass_accelerated_mb_sgd.CALIBRATOR,
    accelerated_mb_sgd.CALIBRATOR,
    projected_sgd.CALIBRATOR,
)
"""THE list of calibrators."""

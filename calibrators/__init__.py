"""Inverse problems and risk bounds: which parameters to run with, certified on the safe end.

A new algorithm is one file here and one line in `CALIBRATORS`.
"""

from __future__ import annotations

from calibrators import accelerated_mb_sgd, gaussian, mb_sgd, norm_fedavg, one_pass_accelerated_mb_sgd, qtdl
from calibrators.problem import Calibrator

CALIBRATORS: tuple[Calibrator, ...] = (
    mb_sgd.CALIBRATOR,
    gaussian.CALIBRATOR,
    one_pass_accelerated_mb_sgd.CALIBRATOR,
    accelerated_mb_sgd.CALIBRATOR,
    qtdl.CALIBRATOR,
    norm_fedavg.CALIBRATOR,
)
"""THE list of calibrators."""

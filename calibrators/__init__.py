"""Inverse problems and risk bounds: which parameters to run with, certified on the safe end.

A new algorithm is one file here and one line in `CALIBRATORS`.
"""

from __future__ import annotations

from epsilond.calibrators.accelerated_mb_sgd import calibrator as accelerated_mb_sgd
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.gaussian import calibrator as gaussian
from epsilond.calibrators.mb_sgd import calibrator as mb_sgd
from epsilond.calibrators.mu2_sgd import calibrator as mu2_sgd
from epsilond.calibrators.norm_fedavg import calibrator as norm_fedavg
from epsilond.calibrators.one_pass_accelerated_mb_sgd import calibrator as one_pass_accelerated_mb_sgd
from epsilond.calibrators.ppsgd import calibrator as ppsgd
from epsilond.calibrators.projected_sgd import calibrator as projected_sgd
from epsilond.calibrators.qtdl import calibrator as qtdl
from epsilond.calibrators.shuffled_mb_sgd import calibrator as shuffled_mb_sgd

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

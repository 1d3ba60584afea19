"""Inverse problems and risk bounds: parameters to run with, certified on the safe side.

A new algorithm is one folder here and one line in `ALGORITHMS`. `CALIBRATORS` is made on first use, so that an account
imports no calibrator.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epsilond.calibrators.calibration import Calibrator

    CALIBRATORS: tuple[Calibrator, ...]

ALGORITHMS = (
    "mb_sgd",
    "one_pass_accelerated_mb_sgd",
    "accelerated_mb_sgd",
    "shuffled_mb_sgd",
    "qtdl",
    "norm_fedavg",
    "projected_sgd",
    "ppsgd",
    "mu2_sgd",
    "dp_fedavg",
    "gaussian",
)
"""THE list of calibrators, by the folder whose `calibrator` file has each."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Make the list, once."""
        if name != "CALIBRATORS":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        modules = [import_module(f"{__name__}.{folder}.calibrator") for folder in ALGORITHMS]
        calibrators = tuple(module.CALIBRATOR for module in modules)
        globals()[name] = calibrators
        return calibrators

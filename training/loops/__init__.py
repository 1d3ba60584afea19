"""The list of algorithms that train, each from a problem and its calibrated parameters."""

from __future__ import annotations

from typing import Protocol

from epsilond.training.loops.accelerated import AcceleratedRun, OnePassRun
from epsilond.training.loops.dp_fedavg import DpFedavgRun
from epsilond.training.loops.mini_batch import MiniBatchRun
from epsilond.training.loops.mu2_sgd import Mu2SgdRun
from epsilond.training.loops.norm_fedavg import NormFedavgRun
from epsilond.training.loops.ppsgd import PpsgdRun
from epsilond.training.loops.projected_sgd import ProjectedSgdRun
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome


class TrainingRun(Protocol):
    """A run that is determined except for its random draws."""

    def check(self, session: Session) -> None:
        """Reject clients that do not fit, before any privacy budget is spent."""

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run all rounds."""


class RunFactory(Protocol):
    """A class of training runs, one for each algorithm, that builds a run from a calibration.

    A calibration prescribes the noise, the rounds and the step sizes for a privacy target.
    """

    def of(
        self,
        problem: Problem,
        parameters: Parameters,
        session: Session,
        *,
        step_size: float | None,
        local_step_size: float | None,
        local_steps: int | None,
    ) -> TrainingRun:
        """Build a run from a problem and its calibrated parameters.

        Args:
            problem: request of the calibration.
            parameters: parameters that the calibration returned.
            session: clients, randomness and log of the run.
            step_size: step size of the server that the caller chose; None for the calibrated one.
            local_step_size: step size of the clients that the caller chose; None for the calibrated one.
            local_steps: number of steps of a client in a round that the caller chose; None for the calibrated one.

        Returns:
            The run. Called with the session, it runs all rounds and returns the trained model.
        """


LOOPS: dict[str, RunFactory] = {
    "mb-sgd": MiniBatchRun,
    "shuffled-mb-sgd": MiniBatchRun,
    "one-pass-accelerated-mb-sgd": OnePassRun,
    "accelerated-mb-sgd": AcceleratedRun,
    "norm-fedavg": NormFedavgRun,
    "dp-fedavg": DpFedavgRun,
    "projected-sgd": ProjectedSgdRun,
    "ppsgd": PpsgdRun,
    "mu2-sgd": Mu2SgdRun,
}
"""Runs of each algorithm, by name."""

"""THE list of algorithms that train: each from a problem and what was calibrated for it."""

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
    """A run that is decided in all but its random draws."""

    def check(self, session: Session) -> None:
        """Refuse clients that do not fit, before anything is spent."""

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run it."""


class RunFactory(Protocol):
    """The class of an algorithm's runs."""

    def of(
        self,
        asked: Problem,
        parameters: Parameters,
        session: Session,
        *,
        step_size: float | None,
        local_step_size: float | None,
        local_steps: int | None,
    ) -> TrainingRun:
        """From a problem and what was found for it."""


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

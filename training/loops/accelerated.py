"""one-pass-accelerated-mb-sgd and accelerated-mb-sgd: Algorithm 2 of Lowy and Razaviyayn on people's own data.

Messages are those of mb-sgd, at the models where Algorithm 2 asks for gradients. In one pass every client deals its
records into disjoint batches; else batches are drawn afresh. w^ag is put out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.training.arrays import Indices
from epsilond.training.loops.mini_batch import RoundMessages, required_sizes
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome, refuse_steps, require_records
from epsilond.training.steps.acceleration import AccelerationStage, Sequences, steps


@dataclass(frozen=True, kw_only=True)
class AcceleratedRun:
    """Algorithm 2, with fresh batches."""

    reporting: RoundMessages
    sizes: Indices
    stages: tuple[AccelerationStage, ...]
    strong_convexity: float
    radius: float
    one_pass: bool = False

    @classmethod
    def of(cls, asked: Problem, parameters: Parameters, session: Session, **others: float | None) -> AcceleratedRun:
        """From a problem and what was found for it.

        Raises:
            InvalidInput: no stages are known.
        """
        refuse_steps("accelerated-mb-sgd", others)
        if not parameters.stages:
            raise InvalidInput.at("/calibration", "has no stages: no risk bound chooses them for this run")
        return cls(
            reporting=RoundMessages.of(asked, parameters, session.count),
            sizes=required_sizes(asked, session.count),
            stages=tuple(parameters.stages),
            strong_convexity=parameters.strong_convexity or 0.0,
            radius=0.5 * asked.diameter,
        )

    def check(self, session: Session) -> None:
        """Refuse clients that do not hold what was calibrated for.

        Raises:
            InvalidInput: at a client.
        """
        require_records(session.clients.sizes, self.sizes, exactly=True)

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run it."""
        state = Sequences(session.start, self.strong_convexity, session.around_start(self.radius))
        batches = self.reporting.deal_batches(session) if self.one_pass else self.reporting.draw_batches(session)
        for step, batch in zip(steps(self.stages), batches, strict=True):
            middle = state.middle(step)
            messages, met = self.reporting.messages(session, middle, batch)
            state.move(step, middle, np.mean(messages, axis=-2))
            if session.done(state.output, batch.clients, met):
                break
        return TrainingOutcome(model=state.output, rounds=len(session.log))


@dataclass(frozen=True, kw_only=True)
class OnePassRun(AcceleratedRun):
    """Algorithm 2 in one pass."""

    one_pass: bool = True

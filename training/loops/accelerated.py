"""Training by one-pass-accelerated-mb-sgd and accelerated-mb-sgd: Algorithm 2 of Lowy and Razaviyayn.

Messages are those of mb-sgd, at the point w^md of Algorithm 2. With one pass, every client splits its records into
disjoint batches; otherwise batches are drawn afresh. The output is w^ag.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.training.arrays import Indices
from epsilond.training.loops.mini_batch import RoundMessages, required_sizes
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome, reject_steps, require_records
from epsilond.training.steps.acceleration import AccelerationStage, Sequences, steps


@dataclass(frozen=True, kw_only=True)
class AcceleratedRun:
    """A run of Algorithm 2 of Lowy and Razaviyayn, with batches that are drawn afresh in every round.

    Attributes:
        reporting: computes the clients' noisy messages, and draws the batches.
        sizes: number of records of each client that the noise was calibrated for, (N,).
        stages: stages of consecutive rounds, each with a weight of the proximal term.
        strong_convexity: strong convexity μ of the loss, in loss/length²; 0 if it is only convex.
        radius: radius of the ball around the start onto which models are projected.
        one_pass: True if each client splits its records into disjoint batches instead.
    """

    reporting: RoundMessages
    sizes: Indices
    stages: tuple[AccelerationStage, ...]
    strong_convexity: float
    radius: float
    one_pass: bool = False

    @classmethod
    def of(
        cls, problem: Problem, parameters: Parameters, session: Session, **caller_steps: float | None
    ) -> AcceleratedRun:
        """Build a run from a problem and its calibrated parameters.

        Args:
            problem: request of the calibration.
            parameters: parameters that the calibration returned.
            session: clients of the run.
            caller_steps: step sizes and local steps that the caller chose. All must be None, because the calibration
                prescribes the steps.

        Returns:
            The run. Its domain is a ball around the first model with half of the problem's diameter as radius.

        Raises:
            InvalidInput: the calibration has no stages of step sizes, or the caller chose steps.
        """
        reject_steps("accelerated-mb-sgd", caller_steps)
        if not parameters.stages:
            raise InvalidInput.at("/calibration", "has no stages: no risk bound chooses them for this run")
        return cls(
            reporting=RoundMessages.of(problem, parameters, session.count),
            sizes=required_sizes(problem, session.count),
            stages=tuple(parameters.stages),
            strong_convexity=parameters.strong_convexity or 0.0,
            radius=0.5 * problem.diameter,
        )

    def check(self, session: Session) -> None:
        """Check that each client has the number of records that the noise was calibrated for.

        Args:
            session: clients of the run.

        Raises:
            InvalidInput: a client has another number of records.
        """
        require_records(session.clients.sizes, self.sizes, exactly=True)

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run the rounds of all stages, unless the caller's callback ends the run earlier.

        In each round the clients report gradients at a point between two sequences of models. Then both sequences move.

        Args:
            session: clients, start, randomness and log of the run.

        Returns:
            The output of the last round, and the number of rounds.
        """
        project = session.projection_around_start(self.radius)
        state = Sequences(session.start, self.strong_convexity, project)
        make_batches = self.reporting.deal_batches if self.one_pass else self.reporting.draw_batches
        batches = make_batches(session)

        for step, batch in zip(steps(self.stages), batches, strict=True):
            middle = state.middle(step)
            messages, statistics = self.reporting.messages(session, middle, batch)
            state.move(step, middle, np.mean(messages, axis=-2))
            if session.record_round(state.output, batch.clients, statistics):
                break
        return TrainingOutcome(model=state.output, rounds=len(session.log))


@dataclass(frozen=True, kw_only=True)
class OnePassRun(AcceleratedRun):
    """A run of Algorithm 2 of Lowy and Razaviyayn, with disjoint batches of each client's records."""

    one_pass: bool = True

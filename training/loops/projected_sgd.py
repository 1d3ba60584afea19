"""Training by projected-sgd: Algorithm 1 of Asoodeh et al. 2021, which releases one model.

Every client holds one record. One pass uses a uniform, secret partition into batches of m. Each client adds N(0, σ_t²)
per coordinate to its gradient, the server steps by their mean, and no model except the released one is published.
Gradients are not clipped: the guarantee assumes losses that are L-Lipschitz, convex and smooth. If a gradient exceeds
L, the run is void and nothing is released.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput, Observation, RunDiffers
from epsilond.accountants.specs.projected_sgd import first_step_of_suffix
from epsilond.training.arrays import Floats
from epsilond.training.clients.batches import Batch, GradientStatistics
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome, reject_steps, require_records
from epsilond.training.steps.messages import with_noise
from epsilond.training.steps.one_release import projected_step, stopping_step, whole_batches


@dataclass(frozen=True, kw_only=True)
class ProjectedSgdRun:
    """A run of Algorithm 1 of Asoodeh et al. 2021, which releases the model of one secret step.

    Attributes:
        participants: number m of clients in a batch, each with one record.
        step_sizes: step size η_t of every step, of shape (T,).
        noise_stds: standard deviation σ_t of the noise in each coordinate of a message, of shape (T,).
        radius: radius of the domain, a ball around the first model.
        lipschitz: Lipschitz constant L of the losses: no gradient may have a larger norm.
        first_stop: first step with a model that may be released, counted from 1. The released step is uniform from
            there on.
    """

    participants: int
    step_sizes: Floats
    noise_stds: Floats
    radius: float
    lipschitz: float
    first_stop: int

    @classmethod
    def of(
        cls, problem: Problem, parameters: Parameters, session: Session, **caller_steps: float | None
    ) -> ProjectedSgdRun:
        """Build a run from a problem and its calibrated parameters.

        Args:
            problem: problem of the calibration.
            parameters: calibrated parameters.
            session: clients, randomness and log of the run.
            caller_steps: step sizes of the caller, which must be None.

        Returns:
            The run. It releases the model of the last step, or that of a random step from `first_stop` on.

        Raises:
            InvalidInput: the caller gives a step size; the guarantee holds only for the calibrated step sizes.
        """
        del session
        reject_steps("projected-sgd", caller_steps)
        last_step = parameters.rounds
        if problem.release == "last":
            first_stop = last_step
        else:
            first_stop = first_step_of_suffix(problem.suffix_fraction, last_step)
        return cls(
            participants=parameters.participants,
            step_sizes=np.asarray(parameters.step_schedule.at(1, last_step)),
            noise_stds=np.asarray(parameters.noise_schedule.at(1, last_step)),
            radius=problem.radius,
            lipschitz=problem.lipschitz,
            first_stop=first_stop,
        )

    def check(self, session: Session) -> None:
        """Reject clients without exactly one record, and clients that return only mean gradients.

        The run checks the norm of each record's gradient, which a mean does not show.

        Args:
            session: clients of the run.

        Raises:
            InvalidInput: a client does not have exactly one record, or some client returns only means.
        """
        sizes = session.clients.sizes
        require_records(sizes, np.ones_like(sizes), exactly=True)
        if session.clients.means_only:
            raise InvalidInput.at("/clients", "return means: here every record's gradient has to be seen")

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run all steps of one pass over the clients, and release the model of one step.

        The pass goes on after that step, because the step must stay secret.

        Args:
            session: clients, start, randomness and log of the run.

        Returns:
            The released model, and the number of all steps of the pass.

        Raises:
            RunDiffers: a gradient had NaN or infinite entries, or a norm above `lipschitz`. The error is raised after
                the last step.
        """
        # The partition of the clients into batches and the released step are secret draws of the run.
        source = session.source
        steps = len(self.step_sizes)
        batches = whole_batches(source.permutations((), session.count), self.participants)
        stop = int(stopping_step(np.asarray(self.first_stop), np.asarray(steps), source.uniform(())))

        project = session.projection_around_start(self.radius)
        bounds = np.full(self.participants, self.lipschitz)
        only_record = np.zeros((self.participants, 1), dtype=np.int64)
        total = GradientStatistics()
        model = released = session.start
        for step in range(steps):
            batch = Batch(batches[step], only_record)
            gradients, statistics = session.clients.sums(model, batch, bounds)
            messages = with_noise(gradients, self.noise_stds[step], source.normal(gradients.shape))
            direction = np.mean(messages, axis=-2)
            model = projected_step(model, direction, self.step_sizes[step], project)
            if step + 1 == stop:
                released = model
            session.record_round(model, batch.clients, statistics)
            total = total.merge(statistics)

        # The guarantee does not hold for a gradient longer than `lipschitz`, so nothing is released.
        if total.clipped or total.not_finite:
            raise RunDiffers.of((_unbounded_gradient(),))
        return TrainingOutcome(model=released, rounds=steps)


def _unbounded_gradient() -> Observation:
    """Return the observation, for an error report, that a gradient is longer than the Lipschitz constant.

    Its count is always 0, because the number of such gradients depends on the data.
    """
    return Observation(
        "lipschitz-losses",
        "a gradient is not a number, or longer than lipschitz; nothing is released",
        remedy="Calibrate for a larger lipschitz, or scale the losses down.",
        count=0,
    )

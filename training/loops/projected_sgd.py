"""projected-sgd: noisy projected gradient descent of which one model is released (Asoodeh et al.), on people's data.

Every client holds one record. One pass goes through a uniform, secret partition into batches of m; each client adds
N(0, σ_t²) per coordinate to its gradient, the server steps by their mean, and no model but the released one is handed
out. Gradients are not clipped: the guarantee rests on losses that are L-Lipschitz, convex and smooth as they are, and a
gradient beyond L voids the run: nothing is released.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput, Observation, RunDiffers
from epsilond.accountants.specs.projected_sgd import first_step_of_suffix
from epsilond.training.arrays import Floats
from epsilond.training.clients.batches import Batch, Met
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome, refuse_steps, require_records
from epsilond.training.steps.messages import with_noise
from epsilond.training.steps.one_release import projected_step, stopping_step, whole_batches


@dataclass(frozen=True, kw_only=True)
class ProjectedSgdRun:
    """Algorithm 1 of Asoodeh et al."""

    participants: int
    step_sizes: Floats
    noise_stds: Floats
    radius: float
    lipschitz: float
    first_stop: int

    @classmethod
    def of(cls, asked: Problem, parameters: Parameters, session: Session, **others: float | None) -> ProjectedSgdRun:
        """From a problem and what was found for it.

        Raises:
            InvalidInput: a step size is given: the guarantee is for the calibration's.
        """
        del session
        refuse_steps("projected-sgd", others)
        last = parameters.rounds
        first = last if asked.release == "last" else first_step_of_suffix(asked.suffix_fraction, last)
        return cls(
            participants=parameters.participants,
            step_sizes=np.asarray(parameters.step_schedule.at(1, last)),
            noise_stds=np.asarray(parameters.noise_schedule.at(1, last)),
            radius=asked.radius,
            lipschitz=asked.lipschitz,
            first_stop=first,
        )

    def check(self, session: Session) -> None:
        """Refuse clients of other than one record, and those that return means, of which nothing could be checked.

        Raises:
            InvalidInput: at a client.
        """
        sizes = session.clients.sizes
        require_records(sizes, np.ones_like(sizes), exactly=True)
        if session.clients.means_only:
            raise InvalidInput.at("/clients", "return means: here every record's gradient has to be seen")

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run it: all of its steps, wherever the released model stands, for where it does is secret.

        Raises:
            RunDiffers: a gradient was no number or longer than L. It is raised after the last step.
        """
        source, steps = session.source, len(self.step_sizes)
        batches = whole_batches(source.permutations((), session.count), self.participants)
        stop = int(stopping_step(np.asarray(self.first_stop), np.asarray(steps), source.uniform(())))
        project = session.around_start(self.radius)
        model = released = session.start
        bounds, seen = np.full(self.participants, self.lipschitz), Met()
        for number in range(steps):
            batch = Batch(batches[number], np.zeros((self.participants, 1), dtype=np.int64))
            gradients, met = session.clients.sums(model, batch, bounds)
            messages = with_noise(gradients, self.noise_stds[number], source.normal(gradients.shape))
            model = projected_step(model, np.mean(messages, axis=-2), self.step_sizes[number], project)
            released = model if number + 1 == stop else released
            session.done(model, batch.clients, met)
            seen = seen.and_of(met)
        if seen.clipped or seen.not_finite:
            raise RunDiffers.of((_unbounded_gradient(),))
        return TrainingOutcome(model=released, rounds=steps)


def _unbounded_gradient() -> Observation:
    """Return the observation of a gradient that is longer than L, without a count, which would depend on the data."""
    return Observation(
        "lipschitz-losses",
        "a gradient is no number, or longer than lipschitz; nothing is released",
        remedy="Calibrate for a larger lipschitz, or scale the losses down.",
        count=0,
    )

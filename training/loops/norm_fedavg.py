"""norm-fedavg: DP-NormFedAvg of Das et al., Algorithm 1, on people's own data.

Every client of a round descends E steps on its full gradient, its update is normalised, each coordinate is rounded at
random to a multiple of 1/s, and truncated discrete Laplace noise is added; the server moves by β times the mean of the
messages. Nothing is clipped and nothing projected: the noise is for the sensitivities that were calibrated for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilond.mechanisms.clipping import clip
from epsilond.mechanisms.quantization import quantized_messages, unit_vectors
from epsilond.training.arrays import Floats, Indices
from epsilond.training.clients.batches import Batch, Met
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome, refuse_steps, require_records
from epsilond.training.steps.normalised_updates import local_update, server_step


@dataclass(frozen=True, kw_only=True)
class NormFedavgRun:
    """Algorithm 1. `levels` s, `noise_levels` m and `decay_rate` α are those of a message."""

    rounds: int
    participants: int
    local_steps: int
    local_step_size: float
    server_step_size: float
    levels: int
    noise_levels: int
    decay_rate: float
    samples_per_client: int | None

    @classmethod
    def of(
        cls,
        asked: Problem,
        parameters: Parameters,
        session: Session,
        *,
        step_size: float | None,
        local_step_size: float | None,
        **others: float | None,
    ) -> NormFedavgRun:
        """From a problem and what was found for it; `step_size` is β."""
        del session
        refuse_steps("norm-fedavg", others)
        return cls(
            rounds=parameters.rounds,
            participants=parameters.participants,
            local_steps=parameters.local_steps,
            local_step_size=parameters.local_step_size if local_step_size is None else local_step_size,
            server_step_size=parameters.server_step_size if step_size is None else step_size,
            levels=parameters.quantization_levels,
            noise_levels=parameters.noise_levels,
            decay_rate=parameters.decay_rate,
            samples_per_client=asked.samples_per_client,
        )

    def check(self, session: Session) -> None:
        """Refuse clients that do not hold what was calibrated for, where that says.

        Raises:
            InvalidInput: at a client.
        """
        if self.samples_per_client is not None:
            sizes = session.clients.sizes
            require_records(sizes, np.full(len(sizes), self.samples_per_client), exactly=True)

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run it."""
        model = session.start
        for _ in range(self.rounds):
            who = np.sort(session.source.subsets((), session.count, self.participants))
            updates, met = updates_of(session, model, who, steps=self.local_steps, step_size=self.local_step_size)
            messages = quantized_messages(
                clip(unit_vectors(updates), 1.0, records=True).values,
                levels=self.levels,
                noise_levels=self.noise_levels,
                decay_rate=self.decay_rate,
                source=session.source,
            )
            model = server_step(model, messages / self.levels, self.server_step_size)
            if session.done(model, who, met):
                break
        return TrainingOutcome(model=model, rounds=len(session.log))


def updates_of(session: Session, model: Floats, who: Indices, *, steps: int, step_size: float) -> tuple[Floats, Met]:
    """(r, d): w − w_{k,E} of each participant, after so many steps on its own mean loss."""
    sizes = session.clients.sizes[who]
    everything = Batch.of(who, [np.arange(n) for n in sizes.tolist()])
    unbounded = np.full(len(who), np.inf)
    seen = [Met()]

    def gradient(local: Floats) -> Floats:
        summed, met = session.clients.sums(local, everything, unbounded)
        seen.append(met.and_of(seen.pop()))
        mean: Floats = summed / sizes[:, None]
        return mean

    with np.errstate(over="ignore", invalid="ignore"):  # an update that overflows is sent as zeros
        start = np.broadcast_to(model, (len(who), len(model)))
        updates = local_update(start, gradient, steps=steps, step_size=step_size)
    return updates, seen[0]

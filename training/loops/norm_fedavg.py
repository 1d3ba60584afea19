"""Training by norm-fedavg: DP-NormFedAvg, Algorithm 2 of Das et al. 2021.

Every client of a round descends E steps on its full gradient and normalises its update. Each coordinate is rounded at
random to a multiple of 1/s, and truncated discrete Laplace noise is added (the QTDL operator, Algorithm 1). The server
moves by β times the mean of the messages. Nothing is clipped or projected: the noise is for the sensitivities of the
calibration.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from epsilond.mechanisms.clipping import clip
from epsilond.mechanisms.quantization import quantized_messages, unit_vectors
from epsilond.training.arrays import Floats, Indices
from epsilond.training.clients.batches import Batch, GradientStatistics
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome, reject_steps, require_records
from epsilond.training.steps.normalised_updates import local_update, server_step


@dataclass(frozen=True, kw_only=True)
class NormFedavgRun:
    """A run of DP-NormFedAvg, in which clients send normalised updates, quantised and with integer noise.

    The noise of a coordinate has the truncated discrete Laplace distribution, with probabilities proportional to
    exp(−α|k|) for the integers k from −m to m.

    Attributes:
        rounds: number of rounds.
        participants: number r of clients in a round.
        local_steps: number E of gradient steps of a client.
        local_step_size: step size η of a client.
        server_step_size: step size β of the server.
        levels: number s of grid steps per unit: a coordinate of a message is a multiple of 1/s.
        noise_levels: largest absolute value m of the noise, in units of 1/s.
        decay_rate: decay rate α of the noise, above 0.
        samples_per_client: number of records of each client that was calibrated for; None if it does not matter.
    """

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
        problem: Problem,
        parameters: Parameters,
        session: Session,
        *,
        step_size: float | None,
        local_step_size: float | None,
        **caller_steps: float | None,
    ) -> NormFedavgRun:
        """Build a run from a problem and its calibrated parameters.

        Args:
            problem: request of the calibration.
            parameters: parameters that the calibration returned.
            session: not used.
            step_size: step size of the server that the caller chose; None for the calibrated one.
            local_step_size: step size of the clients that the caller chose; None for the calibrated one.
            caller_steps: number of local steps, which must be None because the calibration states it.

        Returns:
            The run with these step sizes.

        Raises:
            InvalidInput: the caller chose a number of local steps.
        """
        del session
        reject_steps("norm-fedavg", caller_steps)
        if local_step_size is None:
            local_step_size = parameters.local_step_size
        if step_size is None:
            step_size = parameters.server_step_size
        return cls(
            rounds=parameters.rounds,
            participants=parameters.participants,
            local_steps=parameters.local_steps,
            local_step_size=local_step_size,
            server_step_size=step_size,
            levels=parameters.quantization_levels,
            noise_levels=parameters.noise_levels,
            decay_rate=parameters.decay_rate,
            samples_per_client=problem.samples_per_client,
        )

    def check(self, session: Session) -> None:
        """Check that each client has the calibrated number of records, if the calibration depends on this number.

        Args:
            session: clients of the run.

        Raises:
            InvalidInput: a client has another number of records.
        """
        if self.samples_per_client is None:
            return
        sizes = session.clients.sizes
        calibrated_sizes = np.full(len(sizes), self.samples_per_client)
        require_records(sizes, calibrated_sizes, exactly=True)

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run all rounds, unless the caller's callback ends the run earlier.

        Clients divide their updates by the norm, round them to multiples of 1/`levels`, and add integer noise. The
        server moves by `server_step_size` times the mean message.

        Args:
            session: clients, start, randomness and log of the run.

        Returns:
            The last model, and the number of rounds.
        """
        model = session.start
        for _ in range(self.rounds):
            clients = np.sort(session.source.subsets((), session.count, self.participants))
            updates, statistics = client_updates(
                session, model, clients, steps=self.local_steps, step_size=self.local_step_size
            )
            # Rounding may leave a norm just above 1, but the noise is for norms of at most 1.
            unit_updates = clip(unit_vectors(updates), 1.0, records=True).values
            messages = quantized_messages(
                unit_updates,
                levels=self.levels,
                noise_levels=self.noise_levels,
                decay_rate=self.decay_rate,
                source=session.source,
            )
            # Messages are integers, in units of 1/levels.
            model = server_step(model, messages / self.levels, self.server_step_size)
            if session.record_round(model, clients, statistics):
                break
        return TrainingOutcome(model=model, rounds=len(session.log))


def client_updates(
    session: Session, model: Floats, clients: Indices, *, steps: int, step_size: float
) -> tuple[Floats, GradientStatistics]:
    """Compute the update of each participant: the server's model minus the client's model after E gradient steps.

    Every step uses all records of the participant. Gradients are not clipped.

    Args:
        session: clients of the run.
        model: the server's model w, (d,), for d coordinates.
        clients: the r participants.
        steps: number of steps E on the client's own mean loss.
        step_size: step size η of the participants.

    Returns:
        Updates, (r, d), and statistics of all gradients.
    """
    sizes = session.clients.sizes[clients]
    all_records = Batch.of(clients, [np.arange(size) for size in sizes.tolist()])
    unbounded = np.full(len(clients), np.inf)
    statistics_of_steps: list[GradientStatistics] = []

    def gradient(local_models: Floats) -> Floats:
        """Return the mean gradient of each participant at its local model, and collect its statistics."""
        sums, statistics = session.clients.sums(local_models, all_records, unbounded)
        statistics_of_steps.append(statistics)
        mean: Floats = sums / sizes[:, None]
        return mean

    start = np.broadcast_to(model, (len(clients), len(model)))
    with np.errstate(over="ignore", invalid="ignore"):  # an update that overflows is sent as zeros
        updates = local_update(start, gradient, steps=steps, step_size=step_size)
    all_statistics = reduce(GradientStatistics.merge, statistics_of_steps, GradientStatistics())
    return updates, all_statistics

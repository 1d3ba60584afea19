"""Training by dp-fedavg: a trusted server averages clipped updates with Gaussian noise (McMahan et al. 2018).

In a round each participating client descends E steps on its full gradient and sends its update, scaled down to norm C.
The server adds N(0, (zC)²) per coordinate to the sum, divides by the planned number M, and steps by β times the result.
With adaptive clipping (Andrew et al. 2021) each client also sends whether its update was within C. The bound C follows
the noisy share of those updates, and the noise is proportional to C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from epsilond.mechanisms.clipping import LEAST_BOUND, MOST_BOUND
from epsilond.training.arrays import Floats, Indices
from epsilond.training.clients.clipping import clip_rows
from epsilond.training.loops.norm_fedavg import client_updates
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome
from epsilond.training.steps.averaged_updates import adapted_bound, noisy_mean

Number = TypeVar("Number", int, float)

TARGET_SHARE, RATE = 0.5, 0.2
"""Share of updates to leave unclipped and learning rate of the bound, as recommended by Andrew et al. 2021."""


def _or_default(value: Number | None, default: Number) -> Number:
    """Return the value, or the default if it is None."""
    return default if value is None else value


@dataclass(frozen=True, kw_only=True)
class DpFedavgRun:
    """A run of DP-FedAvg, in which a trusted server averages clipped updates with calibrated Gaussian noise.

    Attributes:
        rounds: number of rounds.
        participants: planned number M of clients in a round.
        rate: probability that a client participates in a round.
        poisson: whether clients participate independently; otherwise M clients are drawn.
        clipping_norm: norm C to which updates are clipped, in the first round if it is adapted.
        noise_multiplier: standard deviation of the noise in each coordinate of the sum, in units of C.
        count_std: standard deviation of the noise on the clients' bits, for adaptive clipping. A bit is ½ if the update
            was within the clipping norm, and −½ otherwise. None if the clipping norm is fixed.
        local_steps: number E of gradient steps of a client.
        local_step_size: step size of a client.
        server_step_size: step size β of the server.
    """

    rounds: int
    participants: int
    rate: float
    poisson: bool
    clipping_norm: float
    noise_multiplier: float
    count_std: float | None
    local_steps: int
    local_step_size: float
    server_step_size: float

    @classmethod
    def of(
        cls,
        problem: Problem,
        parameters: Parameters,
        session: Session,
        *,
        step_size: float | None,
        local_step_size: float | None,
        local_steps: int | None,
    ) -> DpFedavgRun:
        """Build a run from a problem and its calibrated parameters.

        Args:
            problem: request of the calibration.
            parameters: parameters that the calibration returned.
            session: not used.
            step_size: step size of the server; None for the calibrated one, or 1 if there is none.
            local_step_size: step size of a client; None for 1, with which the update of a single step is the gradient.
            local_steps: number of steps of a client in a round; None for 1.

        Returns:
            The run. Its clipping norm is adapted after each round if the calibration has noise for this.
        """
        del session
        adaptive = parameters.adaptive_clipping
        count_std = None if adaptive is None else adaptive.count_std
        if step_size is None:
            step_size = parameters.step_size
        # If all clients participate, no draw is needed.
        is_poisson = problem.sampling == "poisson" and parameters.participation_rate < 1.0
        return cls(
            rounds=parameters.rounds,
            participants=parameters.participants,
            rate=parameters.participation_rate,
            poisson=is_poisson,
            clipping_norm=parameters.clipping_norm,
            noise_multiplier=parameters.noise_multiplier,
            count_std=count_std,
            local_steps=_or_default(local_steps, 1),
            local_step_size=_or_default(local_step_size, 1.0),
            server_step_size=_or_default(step_size, 1.0),
        )

    def check(self, session: Session) -> None:
        """Accept any clients, because each is protected as a whole."""

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run all rounds, unless the caller's callback ends the run earlier.

        In each round, clients send updates that are clipped to a norm. The server steps by their noisy mean. The
        standard deviation of the noise is proportional to the clipping norm, which changes with adaptive clipping.

        Args:
            session: clients, start, randomness and log of the run.

        Returns:
            The last model, and the number of rounds.
        """
        model = session.start
        bound = self.clipping_norm
        for _ in range(self.rounds):
            clients = self._draw_participants(session)
            updates, gradient_statistics = client_updates(
                session, model, clients, steps=self.local_steps, step_size=self.local_step_size
            )

            clipped, clipping_statistics = clip_rows(updates, bound)
            normal = session.source.normal((session.dimension,))
            noise_std = self.noise_multiplier * bound
            mean = noisy_mean(clipped, self.participants, noise_std, normal)
            model = model - self.server_step_size * mean
            if self.count_std is not None:
                bound = self._next_bound(session, clipped, updates, bound)

            statistics = clipping_statistics.merge(gradient_statistics)
            if session.record_round(model, clients, statistics):
                break
        return TrainingOutcome(model=model, rounds=len(session.log))

    def _draw_participants(self, session: Session) -> Indices:
        """Draw the participants of a round: each client independently, or a uniform set of fixed size.

        The draw does not depend on the data.

        Args:
            session: number of clients and randomness of the run.

        Returns:
            The indices of the participants, increasing. There may be none if each client is drawn independently.
        """
        if self.poisson:
            return np.flatnonzero(session.source.flips(self.rate, (session.count,)))
        return np.sort(session.source.subsets((), session.count, self.participants))

    def _next_bound(self, session: Session, clipped: Floats, updates: Floats, bound: float) -> float:
        """Adapt the clipping norm for the next round, so that about a given share of the updates is not clipped.

        The present share is measured with noise. An update with NaN entries counts as clipped.

        Args:
            session: randomness of the run.
            clipped: updates after clipping, (m, d), for m clients and d coordinates.
            updates: updates before clipping, (m, d).
            bound: clipping norm of this round.

        Returns:
            The clipping norm of the next round, between `LEAST_BOUND` and `MOST_BOUND`.
        """
        # A comparison with NaN is false.
        is_unclipped = np.all(clipped == updates, axis=-1)
        assert self.count_std is not None
        noise = self.count_std * float(session.source.normal(()))
        next_bound = adapted_bound(bound, is_unclipped, self.participants, noise, target=TARGET_SHARE, rate=RATE)
        return float(np.clip(next_bound, LEAST_BOUND, MOST_BOUND))

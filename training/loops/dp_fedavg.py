"""dp-fedavg: clipped updates of clients, averaged with Gaussian noise by a trusted server (McMahan et al.).

In a round each client that takes part descends E steps on its full gradient and sends what that changed, scaled down to
norm C; the server adds N(0, (zC)²) per coordinate to their sum, divides by the M that was planned, and steps by β times
that. With adaptive clipping (Andrew et al.) each client also sends whether its update was short enough, and C follows
the noisy share of those; noise grows and shrinks with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilond.mechanisms.clipping import LEAST_BOUND, MOST_BOUND
from epsilond.training.arrays import Floats, Indices
from epsilond.training.clients.clipping import clipped_rows
from epsilond.training.loops.norm_fedavg import updates_of
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome
from epsilond.training.steps.averaged_updates import adapted_bound, noisy_mean

TARGET_SHARE, RATE = 0.5, 0.2
"""Of Andrew et al.: the share of updates that are to stay as they are, and how fast the bound follows."""


@dataclass(frozen=True, kw_only=True)
class DpFedavgRun:
    """`count_std` is the noise of the sum of shifted bits, None where clipping is fixed."""

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
        asked: Problem,
        parameters: Parameters,
        session: Session,
        *,
        step_size: float | None,
        local_step_size: float | None,
        local_steps: int | None,
    ) -> DpFedavgRun:
        """From a problem and what was found for it; absent, one step of length 1 of a client, and β as calibrated or 1.

        So with neither a client sends its gradient.
        """
        del session
        adaptive = parameters.adaptive_clipping
        known = 1.0 if parameters.step_size is None else parameters.step_size
        return cls(
            rounds=parameters.rounds,
            participants=parameters.participants,
            rate=parameters.participation_rate,
            poisson=asked.sampling == "poisson" and parameters.participation_rate < 1.0,
            clipping_norm=parameters.clipping_norm,
            noise_multiplier=parameters.noise_multiplier,
            count_std=None if adaptive is None else adaptive.count_std,
            local_steps=1 if local_steps is None else local_steps,
            local_step_size=1.0 if local_step_size is None else local_step_size,
            server_step_size=known if step_size is None else step_size,
        )

    def check(self, session: Session) -> None:
        """Any clients will do: each is protected as a whole."""

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run it."""
        model, bound = session.start, self.clipping_norm
        for _ in range(self.rounds):
            who = self._taking_part(session)
            updates, seen = updates_of(session, model, who, steps=self.local_steps, step_size=self.local_step_size)
            sent, met = clipped_rows(updates, bound)
            normal = session.source.normal((session.dimension,))
            mean = noisy_mean(sent, self.participants, self.noise_multiplier * bound, normal)
            model = model - self.server_step_size * mean
            if self.count_std is not None:
                bound = self._next_bound(session, sent, updates, bound)
            if session.done(model, who, met.and_of(seen)):
                break
        return TrainingOutcome(model=model, rounds=len(session.log))

    def _taking_part(self, session: Session) -> Indices:
        if self.poisson:
            return np.flatnonzero(session.source.flips(self.rate, (session.count,)))
        return np.sort(session.source.subsets((), session.count, self.participants))

    def _next_bound(self, session: Session, sent: Floats, updates: Floats, bound: float) -> float:
        """From bits that say whose update was sent as it is; one that is no number was not."""
        short = np.all(sent == updates, axis=-1)
        assert self.count_std is not None
        noise = self.count_std * float(session.source.normal(()))
        changed = adapted_bound(bound, short, self.participants, noise, target=TARGET_SHARE, rate=RATE)
        return float(np.clip(changed, LEAST_BOUND, MOST_BOUND))

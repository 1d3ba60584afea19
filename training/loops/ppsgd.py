"""ppsgd: Algorithms 1 to 3 of Bietti et al. on people's own data, for losses of w + θ_i, or of w and θ_i.

In a round, client i of those that take part sends a message about the shared part: the mean of its batch's gradients at
w + θ_i, or their sum (weighting `samples`), scaled down to norm C. The server adds N(0, σ_ζ²) to the sum over qW and
steps by αη; each client steps by η/(qW) with its message as it was. The means of the iterates are put out: w for all,
and that with θ_i for client i alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.training.arrays import Floats, Indices
from epsilond.training.clients.batches import Met, draw
from epsilond.training.clients.clipping import clipped_rows
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome, refuse_steps, require_records
from epsilond.training.steps.shared_and_own import OwnParts, SharedPart


@dataclass(frozen=True)
class ModelParts:
    """How a client's model is made of w and θ_i: their sum, or one after the other where θ_i begins at `own_start`."""

    shared_size: int
    own_start: Floats | None

    @classmethod
    def of(cls, session: Session) -> ModelParts:
        """Of a run."""
        return cls(len(session.start), session.own_start)

    def start(self, clients: int) -> Floats:
        """(N, p): of all own parts."""
        return np.tile(np.zeros(self.shared_size) if self.own_start is None else self.own_start, (clients, 1))

    def models(self, shared: Floats, own: Floats) -> Floats:
        """What gradients are taken at: (d,) and (M, p)."""
        if self.own_start is None:
            return shared + own
        return np.concatenate([np.broadcast_to(shared, (len(own), len(shared))), own], axis=1)

    def shared_gradient(self, gradients: Floats) -> Floats:
        """In w."""
        return gradients if self.own_start is None else gradients[:, : self.shared_size]

    def own_gradient(self, gradients: Floats) -> Floats:
        """In θ_i."""
        return gradients if self.own_start is None else gradients[:, self.shared_size :]


@dataclass(frozen=True, kw_only=True)
class PpsgdRun:
    """PPSGD. `participants` None: each client independently with probability `rate`."""

    rounds: int
    rate: float
    participants: int | None
    batch_sizes: Indices
    added_up: bool
    """Whether messages are sums of gradients, not means."""
    weight: float
    """W."""
    clipping_norm: float
    noise_std: float
    shared_step_size: float
    own_step_size: float

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
    ) -> PpsgdRun:
        """From a problem and what was found for it; `step_size` is αη, `local_step_size` η/(qW).

        Raises:
            InvalidInput: steps are not known.
        """
        del session
        refuse_steps("ppsgd", others)
        shared = parameters.shared_step_size if step_size is None else step_size
        own = parameters.local_step_size if local_step_size is None else local_step_size
        for name, value in (("step_size", shared), ("local_step_size", own)):
            if value is None:
                raise InvalidInput.at(f"/{name}", "is needed: no risk bound chooses the steps of this run")
        sizes = np.repeat([one.batch_size for one in asked.batches], [one.clients for one in asked.batches])
        return cls(
            rounds=parameters.rounds,
            rate=asked.rate,
            participants=asked.participants,
            batch_sizes=sizes,
            added_up=asked.weighting == "samples",
            weight=float(asked.federation.weight),
            clipping_norm=parameters.clipping_norm,
            noise_std=parameters.noise_std,
            shared_step_size=shared,
            own_step_size=own,
        )

    def check(self, session: Session) -> None:
        """Refuse clients with fewer records than a batch.

        Raises:
            InvalidInput: at a client.
        """
        require_records(session.clients.sizes, self.batch_sizes, exactly=False)

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run it."""
        shared = SharedPart(session.start, step_size=self.shared_step_size, noise_std=self.noise_std)
        parts = ModelParts.of(session)
        own = OwnParts(parts.start(session.count), step_size=self.own_step_size)
        scale, put_out = 1.0 / (self.rate * self.weight), session.start
        for number in range(1, self.rounds + 1):
            who = self._taking_part(session)
            messages, broken = self._messages(session, parts.models(shared.model, own.models[who]), who)
            sent, told = clipped_rows(parts.shared_gradient(messages), self.clipping_norm)
            normal = session.source.normal(session.start.shape)
            shared.receive(scale * np.sum(sent, axis=0), normal, number)
            own.move(who, parts.own_gradient(messages), number)
            put_out = shared.mean(number)
            if session.done(put_out, who, told.and_of(Met(not_finite=broken))):
                break
        rounds = len(session.log)
        return TrainingOutcome(model=put_out, personal_models=parts.models(put_out, own.means(rounds)), rounds=rounds)

    def _taking_part(self, session: Session) -> Indices:
        if self.participants is None:
            return np.flatnonzero(session.source.flips(self.rate, (session.count,)))
        return np.sort(session.source.subsets((), session.count, self.participants))

    def _messages(self, session: Session, models: Floats, who: Indices) -> tuple[Floats, int]:
        """(M, d): before they are clipped; and how many gradients were no numbers."""
        sizes = session.clients.sizes[who]
        batch = draw(session.source, "without-replacement", who, sizes, self.batch_sizes[who])
        summed, seen = session.clients.sums(models, batch, np.full(len(who), np.inf))
        if not self.added_up:
            summed = summed / self.batch_sizes[who][:, None]
        return summed, seen.not_finite

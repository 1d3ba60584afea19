"""Training by ppsgd: Algorithms 1 to 3 of Bietti et al., for losses of w + θ_i, or of w and θ_i.

In a round, each participating client i sends a message about the shared part: the mean of its batch's gradients, or
their sum (weighting `samples`), scaled down to norm C. The server adds N(0, σ_ζ²) per coordinate to the sum over qW and
steps by αη; each client steps by η/(qW) with its unclipped message. The output is the mean of the iterates: w for all
clients, and w with θ_i for client i only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.training.arrays import Floats, Indices
from epsilond.training.clients.batches import GradientStatistics, draw
from epsilond.training.clients.clipping import clip_rows
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome, reject_steps, require_records
from epsilond.training.steps.shared_and_own import OwnParts, SharedPart


@dataclass(frozen=True)
class ModelParts:
    """Composition of a client's model from a shared part w, (d,), and the client's own part θ_i, (p,).

    The model is either the sum w + θ_i, with p = d, or the concatenation (w, θ_i).

    Attributes:
        shared_size: dimension d of w.
        own_start: first θ_i for a concatenation, (p,); None for a sum, where θ_i starts at 0.
    """

    shared_size: int
    own_start: Floats | None

    @classmethod
    def of(cls, session: Session) -> ModelParts:
        """Return the composition of a session's models: a concatenation if `own_start` is given, a sum otherwise."""
        return cls(len(session.start), session.own_start)

    def start(self, clients: int) -> Floats:
        """Return the start of the own parts of all N clients, of shape (N, p)."""
        own = np.zeros(self.shared_size) if self.own_start is None else self.own_start
        return np.tile(own, (clients, 1))

    def models(self, shared: Floats, own: Floats) -> Floats:
        """Return the complete models of M clients from the shared part and their own parts.

        Args:
            shared: shared part w, (d,).
            own: own parts θ_i of the clients, (M, p).

        Returns:
            The models, one row for each client: the sums w + θ_i, (M, d), or the concatenations (w, θ_i), (M, d + p).
        """
        if self.own_start is None:
            return shared + own
        shared_rows = np.broadcast_to(shared, (len(own), len(shared)))
        return np.concatenate([shared_rows, own], axis=1)

    def shared_gradient(self, gradients: Floats) -> Floats:
        """Return the gradients with respect to the shared part w from those of complete models, one row per client."""
        if self.own_start is None:
            return gradients
        return gradients[:, : self.shared_size]

    def own_gradient(self, gradients: Floats) -> Floats:
        """Return the gradients with respect to the own parts θ_i from those of complete models, one row per client."""
        if self.own_start is None:
            return gradients
        return gradients[:, self.shared_size :]


@dataclass(frozen=True, kw_only=True)
class PpsgdRun:
    """Run of PPSGD (personalised private SGD), where a model has a shared part and a part of the client's own.

    Attributes:
        rounds: largest number of rounds.
        rate: participation rate q, the probability that a client participates in a round.
        participants: number of participants in each round; None if each client participates independently.
        batch_sizes: number of records in the batch of each client, (N,).
        added_up: True if messages are sums of gradients, False if they are means.
        weight: total weight W.
        clipping_norm: norm C to which messages are clipped.
        noise_std: standard deviation σ_ζ of the noise in each coordinate of the sum of messages over qW.
        shared_step_size: step size αη of the shared part, for personalisation α and base step size η.
        own_step_size: step size η/(qW) of the own parts.
    """

    rounds: int
    rate: float
    participants: int | None
    batch_sizes: Indices
    added_up: bool
    weight: float
    clipping_norm: float
    noise_std: float
    shared_step_size: float
    own_step_size: float

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
    ) -> PpsgdRun:
        """Build a run from a problem and its calibrated parameters.

        Args:
            problem: problem of the calibration.
            parameters: calibrated parameters.
            session: clients, randomness and log of the run.
            step_size: the caller's step size αη of the shared part, the personalisation α times the base step size η;
                None for the calibrated one.
            local_step_size: the caller's step size η/(qW) of the own parts, with participation rate q and total weight
                W; None for the calibrated one.
            caller_steps: further steps of the caller, which must be None.

        Returns:
            The run, which trains a shared part of the model with noise, and each client's own part.

        Raises:
            InvalidInput: a step size is neither given nor calibrated, or one of `caller_steps` is given.
        """
        del session
        reject_steps("ppsgd", caller_steps)
        shared_step = parameters.shared_step_size if step_size is None else step_size
        own_step = parameters.local_step_size if local_step_size is None else local_step_size
        for name, value in (("step_size", shared_step), ("local_step_size", own_step)):
            if value is None:
                raise InvalidInput.at(f"/{name}", "is needed: no risk bound chooses the steps of this run")

        # All clients of a group have batches of the same size.
        batch_sizes = [group.batch_size for group in problem.batches]
        clients_of_groups = [group.clients for group in problem.batches]
        return cls(
            rounds=parameters.rounds,
            rate=problem.rate,
            participants=problem.participants,
            batch_sizes=np.repeat(batch_sizes, clients_of_groups),
            added_up=problem.weighting == "samples",
            weight=float(problem.federation.weight),
            clipping_norm=parameters.clipping_norm,
            noise_std=parameters.noise_std,
            shared_step_size=shared_step,
            own_step_size=own_step,
        )

    def check(self, session: Session) -> None:
        """Reject clients with fewer records than their batches.

        Args:
            session: clients of the run.

        Raises:
            InvalidInput: a client has too few records; the error points to the first such client.
        """
        require_records(session.clients.sizes, self.batch_sizes, exactly=False)

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run all rounds, unless the caller's callback ends the run earlier.

        In each round the server moves the shared part by the clipped messages with noise. Each participant moves its
        own part by its message, without clipping and noise.

        Args:
            session: clients, start, randomness and log of the run.

        Returns:
            `model` is the mean of the shared part before each round. A personal model is composed of this mean and the
            mean of the client's own part.
        """
        parts = ModelParts.of(session)
        shared = SharedPart(session.start, step_size=self.shared_step_size, noise_std=self.noise_std)
        own = OwnParts(parts.start(session.count), step_size=self.own_step_size)
        scale = 1.0 / (self.rate * self.weight)  # 1/(qW), the factor of the sum of messages
        output = session.start
        for number in range(1, self.rounds + 1):
            clients = self._draw_participants(session)
            models = parts.models(shared.model, own.models[clients])
            messages, not_finite = self._messages(session, models, clients)

            # The server receives only clipped gradients of the shared part, and adds noise to their sum.
            clipped, clipping_statistics = clip_rows(parts.shared_gradient(messages), self.clipping_norm)
            normal = session.source.normal(session.start.shape)
            shared.receive(scale * np.sum(clipped, axis=0), normal, number)

            # An own part never leaves its client, so its gradients get no noise.
            own.move(clients, parts.own_gradient(messages), number)

            output = shared.mean(number)
            statistics = clipping_statistics.merge(GradientStatistics(not_finite=not_finite))
            if session.record_round(output, clients, statistics):
                break
        rounds = len(session.log)
        personal_models = parts.models(output, own.means(rounds))
        return TrainingOutcome(model=output, personal_models=personal_models, rounds=rounds)

    def _draw_participants(self, session: Session) -> Indices:
        """Draw the participants of a round: each client independently, or a uniform set of fixed size.

        Args:
            session: number of clients and randomness of the run.

        Returns:
            The sorted indices of the participants. The draw does not depend on the data.
        """
        if self.participants is None:
            return np.flatnonzero(session.source.flips(self.rate, (session.count,)))
        return np.sort(session.source.subsets((), session.count, self.participants))

    def _messages(self, session: Session, models: Floats, clients: Indices) -> tuple[Floats, int]:
        """Return the messages that the clients send in a round, before clipping.

        A message is the mean gradient of a client's batch, or the sum if clients are weighted by their number of
        samples.

        Args:
            session: clients and randomness of the run.
            models: model of each participating client, one row each.
            clients: indices of the participating clients, shape (M,), for M clients.

        Returns:
            The messages, (M, D), where D is the dimension of the complete models, and the number of gradients with
            NaN or infinite entries.
        """
        batch_sizes = self.batch_sizes[clients]
        sizes = session.clients.sizes[clients]
        batch = draw(session.source, "without-replacement", clients, sizes, batch_sizes)

        # Gradients of records are not clipped, only the messages.
        unbounded = np.full(len(clients), np.inf)
        messages, statistics = session.clients.sums(models, batch, unbounded)
        if not self.added_up:
            messages = messages / batch_sizes[:, None]
        return messages, statistics.not_finite

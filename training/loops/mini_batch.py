"""mb-sgd and shuffled-mb-sgd: Algorithm 1 of Lowy and Razaviyayn on people's own data.

In each round M of N clients, drawn uniformly, send the mean of K gradients, each clipped to L, plus N(0, σ²) per
coordinate; with a shuffler the server gets the messages in a uniformly random order. The server steps to
Π(w − η · mean), and the average of w_1, …, w_R is put out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Sampling
from epsilond.training.arrays import Floats, Indices
from epsilond.training.clients.batches import Batch, Met, draw
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome, refuse_steps, require_records
from epsilond.training.steps.averaged_descent import AveragedDescent
from epsilond.training.steps.messages import with_noise


@dataclass(frozen=True, kw_only=True)
class RoundMessages:
    """What clients send in one round; arrays have an entry for each client.

    `bounds` are what a record's gradient is clipped to, `scales` what its loss is weighted with in the objective.
    """

    rounds: int
    counts: Floats
    """How many take part: (choices, 2) of number and probability."""
    sampling: Sampling
    batch_sizes: Indices
    bounds: Floats
    scales: Floats
    noise_stds: Floats

    @classmethod
    def of(cls, asked: Problem, parameters: Parameters, count: int) -> RoundMessages:
        """From a mini-batch problem and what was found for it."""
        groups = getattr(parameters, "groups", None)
        own = [(count, parameters.batch_size, asked.lipschitz, 1.0, parameters.noise_std)]
        if groups:
            weights = np.asarray([group.weight or 1.0 for group in asked.client_groups])
            clients = np.asarray([group.clients for group in asked.client_groups])
            scales = weights * clients.sum() / np.sum(weights * clients)
            own = [
                (one.clients, found.batch_size, one.lipschitz or asked.lipschitz, scale, found.noise_std)
                for one, found, scale in zip(asked.client_groups, groups, scales.tolist(), strict=True)
            ]
        repeats = [one[0] for one in own]
        columns = [np.repeat(np.asarray(column), repeats) for column in zip(*(one[1:] for one in own), strict=True)]
        return cls(
            rounds=parameters.rounds,
            counts=np.asarray(asked.counts, dtype=np.float64),
            sampling=asked.sampling,
            batch_sizes=columns[0],
            bounds=columns[1],
            scales=columns[2],
            noise_stds=columns[3],
        )

    def participants(self, session: Session) -> Indices:
        """Of a round: as many as the law says, uniformly drawn, in their order."""
        number = int(self.counts[0, 0])
        if len(self.counts) > 1:
            uniform = float(session.source.uniform(()))
            place = int(np.searchsorted(np.cumsum(self.counts[:, 1]), uniform, side="right"))
            number = int(self.counts[min(place, len(self.counts) - 1), 0])
        return np.sort(session.source.subsets((), session.count, number))

    def messages(self, session: Session, model: Floats, batch: Batch) -> tuple[Floats, Met]:
        """(M, d): the clients' side of a round."""
        who = batch.clients
        summed, met = session.clients.sums(model, batch, self.bounds[who])
        means = summed * (self.scales[who] / self.batch_sizes[who])[:, None]
        normal = session.source.normal((len(who), session.dimension))
        return with_noise(means, self.noise_stds[who][:, None], normal), met

    def draw_batches(self, session: Session) -> Iterator[Batch]:
        """The batches of all rounds, drawn afresh in each."""
        for _ in range(self.rounds):
            who = self.participants(session)
            yield draw(session.source, self.sampling, who, session.clients.sizes[who], self.batch_sizes[who])

    def deal_batches(self, session: Session) -> Iterator[Batch]:
        """Disjoint batches: each client orders its records once at random, and its t-th K are those of round t."""
        sizes = session.clients.sizes.tolist()
        orders = [session.source.permutations((), n) for n in sizes]
        for number in range(self.rounds):
            who = self.participants(session)
            size = [int(self.batch_sizes[one]) for one in who]
            yield Batch.of(
                who, [orders[one][number * k : (number + 1) * k] for one, k in zip(who.tolist(), size, strict=True)]
            )


def required_sizes(asked: Problem, count: int) -> Indices:
    """How many records each client has to hold: the noise is for these."""
    groups = getattr(asked, "client_groups", None)
    if not groups:
        return np.full(count, asked.samples_per_client)
    return np.repeat([group.samples_per_client for group in groups], [group.clients for group in groups])


@dataclass(frozen=True, kw_only=True)
class MiniBatchRun:
    """Algorithm 1."""

    reporting: RoundMessages
    sizes: Indices
    step_size: float
    fading: float
    radius: float
    shuffled: bool

    @classmethod
    def of(
        cls,
        asked: Problem,
        parameters: Parameters,
        session: Session,
        *,
        step_size: float | None,
        **others: float | None,
    ) -> MiniBatchRun:
        """From a problem and what was found for it.

        Raises:
            InvalidInput: no step size is known.
        """
        refuse_steps("mb-sgd", others)
        step = parameters.step_size if step_size is None else step_size
        if step is None:
            raise InvalidInput.at("/step_size", "is needed: no risk bound chooses one for this run")
        return cls(
            reporting=RoundMessages.of(asked, parameters, session.count),
            sizes=required_sizes(asked, session.count),
            step_size=step,
            fading=1.0 / parameters.averaging.ratio if parameters.averaging and parameters.averaging.ratio else 1.0,
            radius=0.5 * asked.diameter,
            shuffled=asked.observer == "shuffled-server",
        )

    def check(self, session: Session) -> None:
        """Refuse clients that do not hold what was calibrated for.

        Raises:
            InvalidInput: at a client.
        """
        require_records(session.clients.sizes, self.sizes, exactly=True)

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run it."""
        project: Callable[[Floats], Floats] = session.around_start(self.radius)
        server = AveragedDescent(session.start, step_size=self.step_size, fading=self.fading, project=project)
        for batch in self.reporting.draw_batches(session):
            messages, met = self.reporting.messages(session, server.model, batch)
            if self.shuffled:
                messages = messages[session.source.permutations((), len(messages))]
            server.receive(messages)
            if session.done(server.average, batch.clients, met):
                break
        return TrainingOutcome(model=server.average, rounds=len(session.log))

"""mu2-sgd: DP-μ²-FL of Reshef and Levy on people's own data.

In round t each client that reports takes a record that it has not used and sends s = t∇f(x_t) − (t − 1)∇f(x_{t−1}),
scaled down to norm S = G + 2LD, with noise of variance base² N at its N-th report less the noise that it sent before;
a trusted server adds noise of variance base² in every round, and takes it back. After t rounds x_t is put out, which
the sums of the rounds before the t-th make.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.training.arrays import Floats, Indices
from epsilond.training.clients.batches import Batch, Met
from epsilond.training.clients.clipping import clipped_rows
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome, refuse_steps, require_records
from epsilond.training.steps.noise_cancellation import (
    CancellingServer,
    ClientNoise,
    ServerNoise,
    weighted_difference,
)


@dataclass(frozen=True, kw_only=True)
class Mu2SgdRun:
    """Algorithm 1, or with a trusted server Algorithm 2.

    `schedule` has the rounds of each group of clients with its size; None: m of N uniformly in each round, each at most
    `cap` times.
    """

    rounds: int
    participants: int
    schedule: tuple[tuple[int, frozenset[int]], ...] | None
    cap: int
    trusted: bool
    clipping_norm: float
    noise_std: float
    step_size: float
    radius: float

    @classmethod
    def of(
        cls,
        asked: Problem,
        parameters: Parameters,
        session: Session,
        *,
        step_size: float | None,
        **others: float | None,
    ) -> Mu2SgdRun:
        """From a problem and what was found for it.

        Raises:
            InvalidInput: no step size is known, or participation is told by counts alone.
        """
        del session
        refuse_steps("mu2-sgd", others)
        step = parameters.step_size if step_size is None else step_size
        if step is None:
            raise InvalidInput.at("/step_size", "is needed: no risk bound chooses one for this run")
        asked_part = asked.taking_part
        if asked_part.kind == "counts":
            message = "does not say who reports when: give the rounds of each group"
            raise InvalidInput.at("/participation/kind", message, allowed="uniform, pattern")
        pattern = None
        if asked_part.groups is not None:
            pattern = tuple((group.clients, frozenset(group.rounds)) for group in asked_part.groups)
        return cls(
            rounds=parameters.rounds,
            participants=asked.reporting,
            schedule=pattern,
            cap=asked.cap,
            trusted=asked.server == "trusted",
            clipping_norm=parameters.clipping_norm,
            noise_std=parameters.noise_std,
            step_size=step,
            radius=0.5 * asked.diameter,
        )

    def check(self, session: Session) -> None:
        """Refuse clients with fewer records than they may send reports, for each takes a record of its own.

        Raises:
            InvalidInput: at a client.
        """
        most = np.full(session.count, self.cap)
        if self.schedule is not None:
            most = np.repeat([len(rounds) for _, rounds in self.schedule], [size for size, _ in self.schedule])
        require_records(session.clients.sizes, most, exactly=False)

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run it."""
        source = session.source
        orders = [source.permutations((), n) for n in session.clients.sizes.tolist()]
        server = CancellingServer(session.start, step_size=self.step_size, project=session.around_start(self.radius))
        by_clients = ClientNoise(1, 0 if self.trusted else session.count, session.dimension)
        by_server, used = ServerNoise(session.start), np.zeros(session.count, dtype=np.int64)
        for number, who in enumerate(self._reporting(session), start=1):
            records = np.asarray([orders[one][used[one]] for one in who.tolist()], dtype=np.int64)
            used[who] += 1
            reports, met = self._reports(session, server, Batch(who, records[:, None]), number)
            increment = np.sum(reports, axis=0)
            if self.trusted:
                increment = increment / self.participants
                increment = increment + by_server.replace_noise(self.noise_std, source.normal((session.dimension,)))
            else:
                normal = source.normal((1, len(who), session.dimension))
                present = np.ones((1, len(who)), dtype=np.bool_)
                added = by_clients.replace_noise(who[None], present, self.noise_std, normal)
                increment = (increment + np.sum(added[0], axis=0)) / self.participants
            server.receive(increment, number)
            if session.done(server.before, who, met):
                break
        # x_T: nothing that is computed from the sum of the last round is released.
        return TrainingOutcome(model=server.before, rounds=len(session.log))

    def _reports(self, session: Session, server: CancellingServer, batch: Batch, number: int) -> tuple[Floats, Met]:
        """(m, d): the weighted differences, each scaled down to S by its client."""
        unbounded = np.full(len(batch.clients), np.inf)
        now, seen = session.clients.sums(server.model, batch, unbounded)
        before, seen_before = session.clients.sums(server.before, batch, unbounded)
        with np.errstate(over="ignore", invalid="ignore"):
            kept, met = clipped_rows(weighted_difference(now, before, number), self.clipping_norm)
        broken = met.not_finite + seen.not_finite + seen_before.not_finite
        return kept, Met(met.largest_norm, met.clipped, broken)

    def _reporting(self, session: Session) -> Iterator[Indices]:
        """Who reports in each round: without regard to data."""
        if self.schedule is not None:
            sizes = [size for size, _ in self.schedule]
            for number in range(1, self.rounds + 1):
                reports = [number in rounds for _, rounds in self.schedule]
                yield np.flatnonzero(np.repeat(reports, sizes))
            return
        counts = np.zeros(session.count, dtype=np.int64)
        for _ in range(self.rounds):
            who = np.sort(session.source.subsets((), session.count, self.participants))
            who = who[counts[who] < self.cap]
            counts[who] += 1
            yield who

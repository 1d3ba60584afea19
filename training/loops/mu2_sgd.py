"""Training by mu2-sgd: DP-μ²-FL of Reshef and Levy.

In round t each client that reports takes an unused record and sends s = t∇f(x_t) − (t − 1)∇f(x_{t−1}), scaled down to
norm S = G + 2LD. Its N-th report carries noise of variance base² N minus the noise of its previous report (Algorithm
1). A trusted server adds noise of variance base² in every round and subtracts it in the next (Algorithm 2). The output
after t rounds is x_t, which depends on the sums of the rounds before t only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.training.arrays import Floats, Indices
from epsilond.training.clients.batches import Batch, GradientStatistics
from epsilond.training.clients.clipping import clip_rows
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome, reject_steps, require_records
from epsilond.training.steps.noise_cancellation import (
    CancellingServer,
    ClientNoise,
    ServerNoise,
    weighted_difference,
)


@dataclass(frozen=True, kw_only=True)
class Mu2SgdRun:
    """A run of Algorithm 1 of Reshef and Levy, or of Algorithm 2 if the server is trusted.

    Attributes:
        rounds: number of rounds.
        participants: planned number m of reports in a round.
        schedule: size of each group of clients, and the rounds in which they report. If it is None, m of N clients are
            drawn uniformly in each round.
        cap: number of reports after which a client does not report again, if clients are drawn.
        trusted: whether the server adds the noise, instead of each client.
        clipping_norm: norm S to which reports are scaled down.
        noise_std: standard deviation of the noise of a first report, or of a trusted server in each round.
        step_size: step size η of the server.
        radius: radius of the domain, a ball around the first model.
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
        problem: Problem,
        parameters: Parameters,
        session: Session,
        *,
        step_size: float | None,
        **caller_steps: float | None,
    ) -> Mu2SgdRun:
        """Build a run from a problem and its calibrated parameters.

        Args:
            problem: request of the calibration.
            parameters: parameters that the calibration returned.
            session: not used.
            step_size: step size of the server that the caller chose; None for the calibrated one.
            caller_steps: local steps and their size, which must be None because clients make no steps.

        Returns:
            The run. Its domain is a ball around the first model with half of the problem's diameter as radius.

        Raises:
            InvalidInput: neither the caller nor the calibration has a step size, the caller chose local steps, or the
                participation states only how often clients report, and not in which rounds.
        """
        del session
        reject_steps("mu2-sgd", caller_steps)
        if step_size is None:
            step_size = parameters.step_size
        if step_size is None:
            raise InvalidInput.at("/step_size", "is needed: no risk bound chooses one for this run")

        participation = problem.taking_part
        if participation.kind == "counts":
            message = "does not say who reports when: give the rounds of each group"
            raise InvalidInput.at("/participation/kind", message, allowed="uniform, pattern")
        schedule = None  # clients are drawn uniformly
        if participation.groups is not None:
            schedule = tuple((group.clients, frozenset(group.rounds)) for group in participation.groups)
        return cls(
            rounds=parameters.rounds,
            participants=problem.reporting,
            schedule=schedule,
            cap=problem.cap,
            trusted=problem.server == "trusted",
            clipping_norm=parameters.clipping_norm,
            noise_std=parameters.noise_std,
            step_size=step_size,
            radius=0.5 * problem.diameter,
        )

    def check(self, session: Session) -> None:
        """Check that each client has a new record for each of its reports.

        The noise was calibrated for records that are used in one report each.

        Args:
            session: clients of the run.

        Raises:
            InvalidInput: a client has too few records.
        """
        most_reports = np.full(session.count, self.cap)
        if self.schedule is not None:
            group_sizes = [size for size, _ in self.schedule]
            most_reports = np.repeat([len(rounds) for _, rounds in self.schedule], group_sizes)
        require_records(session.clients.sizes, most_reports, exactly=False)

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run all rounds, unless the caller's callback ends the run earlier.

        Each report of a client uses its next record, in a random order. A trusted server adds the noise itself.
        Otherwise each client does. In both cases the new noise replaces the previous noise, which is subtracted.

        Args:
            session: clients, start, randomness and log of the run.

        Returns:
            The model x_t of the last round t, and the number of rounds.
        """
        project = session.projection_around_start(self.radius)
        server = CancellingServer(session.start, step_size=self.step_size, project=project)
        server_noise = ServerNoise(session.start)
        noisy_clients = 0 if self.trusted else session.count
        client_noise = ClientNoise(1, noisy_clients, session.dimension)
        noise = server_noise if self.trusted else client_noise

        orders = [session.source.permutations((), size) for size in session.clients.sizes.tolist()]
        used_counts = np.zeros(session.count, dtype=np.int64)
        for number, clients in enumerate(self._draw_reporters(session), start=1):
            records = np.asarray([orders[client][used_counts[client]] for client in clients.tolist()], dtype=np.int64)
            used_counts[clients] += 1
            batch = Batch(clients, records[:, None])
            reports, statistics = self._reports(session, server, batch, number)
            server.receive(self._noisy_mean(session, clients, reports, noise), number)
            if session.record_round(server.before, clients, statistics):
                break
        # The output x_T does not depend on the sum of the last round.
        return TrainingOutcome(model=server.before, rounds=len(session.log))

    def _noisy_mean(
        self, session: Session, clients: Indices, reports: Floats, noise: ServerNoise | ClientNoise
    ) -> Floats:
        """Return the mean report of a round with new noise, and subtract the previous noise.

        The sum of the reports is divided by the planned number m of reports, even if fewer clients report.

        Args:
            session: randomness of the run.
            clients: the clients that report, at most m.
            reports: their reports without noise, (len(clients), d), for d coordinates.
            noise: noise of the server, which is added to the mean, or of the clients, which is added to each report. It
                stores the new noise, so that the next round can subtract it.

        Returns:
            The noisy mean, (d,).
        """
        total = np.sum(reports, axis=0)
        if isinstance(noise, ServerNoise):
            normal = session.source.normal((session.dimension,))
            noise_change = noise.replace_noise(self.noise_std, normal)
            server_mean: Floats = total / self.participants + noise_change
            return server_mean

        # `ClientNoise` has a first axis for several runs. Here there is a single run.
        normal = session.source.normal((1, len(clients), session.dimension))
        present = np.ones((1, len(clients)), dtype=np.bool_)
        changes = noise.replace_noise(clients[None], present, self.noise_std, normal)
        mean: Floats = (total + np.sum(changes[0], axis=0)) / self.participants
        return mean

    def _reports(
        self, session: Session, server: CancellingServer, batch: Batch, number: int
    ) -> tuple[Floats, GradientStatistics]:
        """Return the reports of the clients of a round, each scaled down to the clipping norm.

        The report of a client is t∇f(x_t) − (t − 1)∇f(x_{t−1}), for the loss f of one record and the server's models.

        Args:
            session: clients of the run.
            server: the server, with its models x_t and x_{t−1}.
            batch: one new record of each of the m clients.
            number: number t of the round, from 1 on.

        Returns:
            Reports without noise, (m, d), for d coordinates, and statistics of their norms before clipping.
        """
        # The gradients are not clipped themselves, only the reports, which are what a client sends.
        unbounded = np.full(len(batch.clients), np.inf)
        gradients, statistics = session.clients.sums(server.model, batch, unbounded)
        earlier_gradients, earlier_statistics = session.clients.sums(server.before, batch, unbounded)
        with np.errstate(over="ignore", invalid="ignore"):
            differences = weighted_difference(gradients, earlier_gradients, number)
            reports, clipping = clip_rows(differences, self.clipping_norm)
        not_finite = clipping.not_finite + statistics.not_finite + earlier_statistics.not_finite
        return reports, GradientStatistics(clipping.largest_norm, clipping.clipped, not_finite)

    def _draw_reporters(self, session: Session) -> Iterator[Indices]:
        """Yield the clients that report in each round: by the schedule, or drawn uniformly.

        A client that was drawn, but has made its largest number of reports (`cap`), is left out. No draw depends on the
        data.

        Args:
            session: number of clients and randomness of the run.

        Yields:
            The sorted indices of the clients that report in one round.
        """
        if self.schedule is not None:
            group_sizes = [size for size, _ in self.schedule]
            for number in range(1, self.rounds + 1):
                is_group_reporting = [number in rounds for _, rounds in self.schedule]
                yield np.flatnonzero(np.repeat(is_group_reporting, group_sizes))
            return

        report_counts = np.zeros(session.count, dtype=np.int64)
        for _ in range(self.rounds):
            clients = np.sort(session.source.subsets((), session.count, self.participants))
            # The clients that are left out are not replaced.
            clients = clients[report_counts[clients] < self.cap]
            report_counts[clients] += 1
            yield clients

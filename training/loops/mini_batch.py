"""Training by mb-sgd and shuffled-mb-sgd: Algorithm 1 of Lowy and Razaviyayn.

In each round M of N clients, drawn uniformly, send the mean of K gradients, each clipped to L, plus N(0, σ²) per
coordinate. With a shuffler the server gets the messages in a uniformly random order. The server moves to Π(w − η ·
mean), and the output is the average of w_1, …, w_R.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Sampling
from epsilond.training.arrays import Floats, Indices
from epsilond.training.clients.batches import Batch, GradientStatistics, draw
from epsilond.training.loops.session import Parameters, Problem, Session, TrainingOutcome, reject_steps, require_records
from epsilond.training.steps.averaged_descent import AveragedDescent
from epsilond.training.steps.messages import with_noise


@dataclass(frozen=True, kw_only=True)
class RoundMessages:
    """Distribution of the clients' messages in one round; arrays have one entry per client.

    Attributes:
        rounds: number of rounds R.
        counts: distribution of the number of participants, with one row for each possible number: the number and its
            probability.
        sampling: distribution of a client's batch.
        batch_sizes: number K of records in a client's batch.
        bounds: norm to which the gradient of a record is clipped.
        scales: weight of the client's loss in the objective, relative to the mean weight.
        noise_stds: standard deviation σ of the noise in each coordinate of a message.
    """

    rounds: int
    counts: Floats
    sampling: Sampling
    batch_sizes: Indices
    bounds: Floats
    scales: Floats
    noise_stds: Floats

    @classmethod
    def of(cls, problem: Problem, parameters: Parameters, count: int) -> RoundMessages:
        """Build the rule for the clients' messages from a calibration.

        In each round, a participating client sends the noisy mean of its clipped gradients. Without groups, all clients
        have the same batch size, clipping norm and noise, and the weight 1.

        Args:
            problem: request of the calibration. If it has groups of clients, each client has the values of its group.
            parameters: parameters that the calibration returned.
            count: number of clients; it is used if there are no groups.
        """
        if getattr(parameters, "groups", None):
            return cls._of_groups(problem, parameters)
        return cls(
            rounds=parameters.rounds,
            counts=np.asarray(problem.counts, dtype=np.float64),
            sampling=problem.sampling,
            batch_sizes=np.full(count, parameters.batch_size),
            bounds=np.full(count, problem.lipschitz),
            scales=np.ones(count),
            noise_stds=np.full(count, parameters.noise_std),
        )

    @classmethod
    def _of_groups(cls, problem: Problem, parameters: Parameters) -> RoundMessages:
        """Build the rule for the clients' messages, in which each client has the values of its group.

        Clients are in the order of the groups. Their weights are scaled so that the mean over all clients is 1.

        Args:
            problem: request of the calibration, with the sizes, weights and clipping norms of the groups.
            parameters: calibrated parameters, with the batch sizes and noise of the groups.
        """
        groups = problem.client_groups
        clients = np.asarray([group.clients for group in groups])
        weights = np.asarray([group.weight or 1.0 for group in groups])
        relative_weights = weights * clients.sum() / np.sum(weights * clients)
        clipping_norms = [group.lipschitz or problem.lipschitz for group in groups]
        batch_sizes = [group.batch_size for group in parameters.groups]
        noise_stds = [group.noise_std for group in parameters.groups]
        return cls(
            rounds=parameters.rounds,
            counts=np.asarray(problem.counts, dtype=np.float64),
            sampling=problem.sampling,
            batch_sizes=np.repeat(batch_sizes, clients),
            bounds=np.repeat(clipping_norms, clients),
            scales=np.repeat(relative_weights, clients),
            noise_stds=np.repeat(noise_stds, clients),
        )

    def participants(self, session: Session) -> Indices:
        """Draw the number of participants of a round, and a uniformly random set of so many clients.

        The draw does not depend on the data.

        Args:
            session: number of clients and randomness of the run.

        Returns:
            The indices of the participating clients, increasing.
        """
        numbers, probabilities = self.counts[:, 0], self.counts[:, 1]
        choice = 0
        if len(numbers) > 1:
            # Invert the cumulative probabilities, which may sum to slightly less than 1.
            uniform = float(session.source.uniform(()))
            choice = int(np.searchsorted(np.cumsum(probabilities), uniform, side="right"))
            choice = min(choice, len(numbers) - 1)
        number = int(numbers[choice])
        return np.sort(session.source.subsets((), session.count, number))

    def messages(self, session: Session, model: Floats, batch: Batch) -> tuple[Floats, GradientStatistics]:
        """Return the messages that clients send in a round: weighted means of clipped gradients plus Gaussian noise.

        Args:
            session: clients and randomness of the run.
            model: the server's model, (d,), for d coordinates.
            batch: records of the M participants.

        Returns:
            Messages, (M, d), and statistics of the gradients.
        """
        clients = batch.clients
        sums, statistics = session.clients.sums(model, batch, self.bounds[clients])
        # The mean of a batch, times the weight of the client's loss.
        factors = self.scales[clients] / self.batch_sizes[clients]
        means = sums * factors[:, None]
        normal = session.source.normal((len(clients), session.dimension))
        noise_stds = self.noise_stds[clients][:, None]
        return with_noise(means, noise_stds, normal), statistics

    def draw_batches(self, session: Session) -> Iterator[Batch]:
        """Yield the batch of each round. Participants and their records are drawn independently of other rounds.

        Args:
            session: clients and randomness of the run.

        Yields:
            The records of a round, for each client that participates in it.
        """
        for _ in range(self.rounds):
            clients = self.participants(session)
            sizes = session.clients.sizes[clients]
            batch_sizes = self.batch_sizes[clients]
            yield draw(session.source, self.sampling, clients, sizes, batch_sizes)

    def deal_batches(self, session: Session) -> Iterator[Batch]:
        """Yield the batch of each round of one pass over the data, in which each record is used at most once.

        Each client shuffles its records once. In round t its batch is the t-th block of records in this order.

        Args:
            session: clients and randomness of the run.

        Yields:
            The records of a round, for each client that participates in it.
        """
        sizes = session.clients.sizes.tolist()
        orders = [session.source.permutations((), size) for size in sizes]
        for round_index in range(self.rounds):
            clients = self.participants(session)
            batches = []
            for client in clients.tolist():
                batch_size = int(self.batch_sizes[client])
                first = round_index * batch_size
                batches.append(orders[client][first : first + batch_size])
            yield Batch.of(clients, batches)


def required_sizes(problem: Problem, count: int) -> Indices:
    """Return the number of records that each client must have, because the noise was calibrated for it.

    Args:
        problem: request of the calibration. If it has groups of clients, each group has its own number.
        count: number N of clients; it is used if there are no groups.

    Returns:
        The numbers of records, shape (N,), in the order of the groups.
    """
    groups = getattr(problem, "client_groups", None)
    if not groups:
        return np.full(count, problem.samples_per_client)
    records = [group.samples_per_client for group in groups]
    clients = [group.clients for group in groups]
    return np.repeat(records, clients)


@dataclass(frozen=True, kw_only=True)
class MiniBatchRun:
    """A run of Algorithm 1 of Lowy and Razaviyayn: mini-batch SGD with noise, projection and averaging of the models.

    Attributes:
        reporting: computes the clients' noisy messages, and draws the batches.
        sizes: number of records of each client that the noise was calibrated for, (N,).
        step_size: step size η of the server.
        fading: weight of a model in the average, over the weight of the next model; 1 for equal weights.
        radius: radius of the ball around the start onto which models are projected.
        shuffled: whether a shuffler permutes the messages of a round.
    """

    reporting: RoundMessages
    sizes: Indices
    step_size: float
    fading: float
    radius: float
    shuffled: bool

    @classmethod
    def of(
        cls,
        problem: Problem,
        parameters: Parameters,
        session: Session,
        *,
        step_size: float | None,
        **caller_steps: float | None,
    ) -> MiniBatchRun:
        """Build a run from a problem and its calibrated parameters.

        Args:
            problem: request of the calibration.
            parameters: parameters that the calibration returned.
            session: clients of the run.
            step_size: step size of the server that the caller chose; None for the calibrated one.
            caller_steps: local steps and their size, which must be None because clients make no steps.

        Returns:
            The run. Its domain is a ball around the first model with half of the problem's diameter as radius.

        Raises:
            InvalidInput: neither the caller nor the calibration has a step size, or the caller chose local steps.
        """
        reject_steps("mb-sgd", caller_steps)
        if step_size is None:
            step_size = parameters.step_size
        if step_size is None:
            raise InvalidInput.at("/step_size", "is needed: no risk bound chooses one for this run")

        # In the average of the models, each weight exceeds the one before by the calibrated ratio.
        fading = 1.0
        if parameters.averaging and parameters.averaging.ratio:
            fading = 1.0 / parameters.averaging.ratio
        return cls(
            reporting=RoundMessages.of(problem, parameters, session.count),
            sizes=required_sizes(problem, session.count),
            step_size=step_size,
            fading=fading,
            radius=0.5 * problem.diameter,
            shuffled=problem.observer == "shuffled-server",
        )

    def check(self, session: Session) -> None:
        """Check that each client has the number of records that the noise was calibrated for.

        Args:
            session: clients of the run.

        Raises:
            InvalidInput: a client has another number of records.
        """
        require_records(session.clients.sizes, self.sizes, exactly=True)

    def __call__(self, session: Session) -> TrainingOutcome:
        """Run all rounds, unless the caller's callback ends the run earlier.

        Args:
            session: clients, start, randomness and log of the run.

        Returns:
            The weighted average of the models of all rounds, and the number of rounds.
        """
        project: Callable[[Floats], Floats] = session.projection_around_start(self.radius)
        server = AveragedDescent(session.start, step_size=self.step_size, fading=self.fading, project=project)
        for batch in self.reporting.draw_batches(session):
            messages, statistics = self.reporting.messages(session, server.model, batch)
            # The server must not learn which client has sent which message.
            if self.shuffled:
                order = session.source.permutations((), len(messages))
                messages = messages[order]
            server.receive(messages)
            if session.record_round(server.average, batch.clients, statistics):
                break
        return TrainingOutcome(model=server.average, rounds=len(session.log))

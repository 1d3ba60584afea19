"""DP-μ²-FL of Reshef and Levy: the clients' reports, noise that later reports cancel, and the server's two models.

In round t the server receives reports s of m clients. It sets q ← q + (1/m) Σ s and w ← Π(w − ηq), and moves x by the
share 2/(t + 2) towards w. The output is x. The noise of a client's N-th report is new noise of variance base² N, minus
the noise of its previous report (Algorithm 1 and equation 14). A trusted server adds noise of variance base² to q in
every round and subtracts it in the next (Algorithm 2).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epsilond.training.arrays import Bools, Floats, Indices


def weighted_difference(now: Floats, before: Floats, number: int) -> Floats:
    """Return the report s = t∇f(x_t) − (t − 1)∇f(x_{t−1}) of a client in round t, before clipping and noise.

    Args:
        now: gradient ∇f(x_t) of a record's loss f at the present model x_t.
        before: gradient ∇f(x_{t−1}) of the same loss at the model of the previous round.
        number: number t of the round, from 1 on.

    Returns:
        The report, in the shape of the gradients.
    """
    return number * now - (number - 1) * before


class CancellingServer:
    """State of the server in DP-μ²-FL, private federated learning with cancelled noise (Reshef and Levy).

    In round t the server adds the mean report of the clients to a sum q. An iterate w follows q, and the model x
    averages the iterates (Algorithms 1 and 2 of the paper). All arrays have shape (…, d).

    Args:
        start: first models x and w, (…, d), for d coordinates.
        step_size: step size η of w.
        project: projection Π onto the domain.

    Attributes:
        model: the model x_{t+1} after round t, at which clients take the next gradients.
        before: the model x_t, at which clients took the last gradients.
        moved: the iterate w, which starts at the same models as x.
        sum: the sum q of the mean reports of all rounds.
    """

    def __init__(self, start: Floats, *, step_size: float, project: Callable[[Floats], Floats]) -> None:
        self.model = self.before = self.moved = start
        self.sum = np.zeros_like(start)
        self._step_size = step_size
        self._project = project

    def receive(self, increment: Floats, number: int) -> None:
        """Take the server's step of one round, by which its sum, its iterate and its model change.

        The sum q of all mean reports grows by the increment. The iterate w becomes Π(w − ηq), with step size η and
        projection Π onto the domain. The model x moves by the share 2/(t + 2) towards the new w. So x is an average of
        the start and of all iterates, in which later iterates weigh more.

        Args:
            increment: mean of the reports of the round, with their noise, (…, d), for d coordinates.
            number: number t of the round, from 1 on.
        """
        self.sum += increment
        self.moved = self._project(self.moved - self._step_size * self.sum)
        share = 2.0 / (number + 2.0)
        next_model = (1.0 - share) * self.model + share * self.moved
        self.before, self.model = self.model, next_model


class ClientNoise:
    """State of the noise that clients add to their reports, and that their next reports cancel.

    S independent runs of N clients are simulated at once, one along the first axis of the arrays.

    Args:
        runs: number S of runs.
        clients: number N of clients.
        dimension: number d of coordinates of a report.

    Attributes:
        held: noise of each client's last report, which its next report subtracts, (S, N, d).
    """

    def __init__(self, runs: int, clients: int, dimension: int) -> None:
        self.held = np.zeros((runs, clients, dimension))
        self._reports = np.zeros((runs, clients))
        self._rows = np.arange(runs)[:, None]

    def replace_noise(self, clients: Indices, present: Bools, base: float, normal: Floats) -> Floats:
        """Set new noise for the clients that report, and return the new noise minus the old.

        The variance of a client's noise is proportional to its number of reports.

        Args:
            clients: indices of the m clients that may report in a round of each of S runs, (S, m).
            present: whether each of them reports, (S, m).
            base: standard deviation of the noise in a client's first report.
            normal: standard normal variables, (S, m, d), for d coordinates.

        Returns:
            The new noise minus the old, (S, m, d); 0 for a client that does not report.
        """
        last_noise = self.held[self._rows, clients]
        counts = self._reports[self._rows, clients] + present  # with this report
        new_noise = base * np.sqrt(counts)[..., None] * normal
        # A client that does not report keeps its noise.
        noise = np.where(present[..., None], new_noise, last_noise)
        self.held[self._rows, clients] = noise
        self._reports[self._rows, clients] = counts
        return noise - last_noise


class GapDifferences:
    """State of Alternative 1 of Reshef and Levy (equation 12): each client's sum of differences.

    Let τ be the last round in which a client reported, and 0 before its first report. In round t it sends
    s = t∇f(x_t) − τ∇f(x_τ). Here x_t is the model of round t, and f the loss of one record. The sum of a client's
    reports thus estimates t∇f(x_t). The server takes the mean of the sums of the clients that report. S independent
    runs of N clients are simulated at once.

    Args:
        runs: number S of runs.
        clients: number N of clients.
        dimension: number d of coordinates of a report.
    """

    def __init__(self, runs: int, clients: int, dimension: int) -> None:
        self._sums = np.zeros((runs, clients, dimension))
        self._models = np.zeros((runs, clients, dimension))
        self._rounds = np.zeros((runs, clients))
        self._rows = np.arange(runs)[:, None]

    def last_reports(self, clients: Indices) -> tuple[Floats, Floats]:
        """Return the model x_τ and the number τ of the round in which some clients last reported.

        Args:
            clients: indices of m clients in each of S runs, (S, m).

        Returns:
            The models, (S, m, d), for d coordinates, and the rounds, (S, m); both are 0 for a client without a report.
        """
        return self._models[self._rows, clients], self._rounds[self._rows, clients]

    def receive(self, clients: Indices, present: Bools, reports: Floats, models: Floats, number: int) -> Floats:
        """Add the reports of a round to the clients' sums, and return the mean sum of the clients that report.

        Args:
            clients: indices of the m clients that may report in the round of each of S runs, (S, m).
            present: whether each of them reports, (S, m). The state of the others does not change.
            reports: differences s with noise, (S, m, d), for d coordinates.
            models: the models x_t of round t, (S, d).
            number: number t of the round, from 1 on.

        Returns:
            The mean, (S, d); 0 if no client reports.
        """
        is_present = present[..., None]
        sums = self._sums[self._rows, clients] + np.where(is_present, reports, 0.0)
        self._sums[self._rows, clients] = sums

        # A client that reports remembers the model and the round.
        last_models, last_rounds = self.last_reports(clients)
        self._models[self._rows, clients] = np.where(is_present, models[:, None, :], last_models)
        self._rounds[self._rows, clients] = np.where(present, number, last_rounds)

        total = np.sum(sums * is_present, axis=1)
        report_count = np.maximum(np.sum(present, axis=1), 1)  # no division by 0
        mean: Floats = total / report_count[:, None]
        return mean


class ServerNoise:
    """Noise of a trusted server in the sum of reports, of which each round replaces that of the last round.

    This is Algorithm 2 of Reshef and Levy.

    Args:
        start: an array in the shape of the noise; its values are not used.

    Attributes:
        held: noise that the sum of reports contains now, (…, d), for d coordinates.
    """

    def __init__(self, start: Floats) -> None:
        self.held = np.zeros_like(start)

    def replace_noise(self, base: float, normal: Floats) -> Floats:
        """Compute and keep the noise of a round, and return its difference to the noise of the last round.

        Args:
            base: standard deviation of the noise in each coordinate.
            normal: standard normal variables, (…, d), for d coordinates.

        Returns:
            New noise minus last noise, (…, d).
        """
        noise: Floats = base * normal
        change: Floats = noise - self.held
        self.held = noise
        return change

"""State and rounds of DP-μ²-FL and of its alternatives, for several repetitions at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilond.simulators.algorithms.mu2_sgd.participation import Reports
from epsilond.simulators.algorithms.mu2_sgd.run import Mu2SgdRun, fresh_noise_std, report_norm, step_size
from epsilond.simulators.problems.problem import Floats, SimulatedProblem
from epsilond.training.steps.messages import clipping_factors, norms_of, with_noise
from epsilond.training.steps.noise_cancellation import (
    CancellingServer,
    ClientNoise,
    GapDifferences,
    ServerNoise,
    weighted_difference,
)
from epsilond.training.steps.one_release import projected_step


@dataclass(frozen=True)
class Scales:
    """Step size, clipping norm and noise of a run of DP-μ²-FL on a problem.

    DP-μ²-FL is private federated learning in which a client's new noise cancels its earlier noise.

    Attributes:
        step: step size η.
        largest: norm to which longer reports are scaled down, in the unit of a gradient.
        base: standard deviation per coordinate of noise that a later report cancels: in a client's first report, or in
            a trusted server's sum.
        fresh: standard deviation per coordinate of noise that is never cancelled, at equal privacy.
    """

    step: float
    largest: float
    base: float
    fresh: float

    @classmethod
    def of(cls, problem: SimulatedProblem, run: Mu2SgdRun) -> Scales:
        """Return the step size, the clipping norm and the noise of a run on a problem.

        Args:
            problem: learning problem, with its constants such as the Lipschitz constant of the loss.
            run: parameters of the run. If its noise standard deviation is None, the scales have no noise.

        Returns:
            The scales. The clipping norm of noisy SGD is the Lipschitz constant, because its reports are gradients.
            The clipping norm of the other methods is `report_norm`.

        Raises:
            InvalidInput: the run has no step size, and its method has no default.
        """
        largest = report_norm(problem)
        if run.method == "noisy-sgd":
            largest = problem.constants.lipschitz
        return cls(
            step=step_size(problem, run),
            largest=largest,
            base=run.noise_std or 0.0,
            fresh=fresh_noise_std(problem, run),
        )


class State:
    """State of all repetitions of a run of DP-μ²-FL: models, sums, and the noise that later reports will cancel.

    Clients, or a trusted server, remember their last noise in order to cancel it.

    Attributes:
        server: the models x and w, and the sum q of the rounds' mean reports.
        plain: the sum q without noise, (repetitions, d), for d coordinates; 0 for noisy SGD and gap differences.
        total: sum of the models over the rounds, (repetitions, d), for noisy SGD only; otherwise 0.
        clients: last noise of each client; of no client if the server is trusted.
        gaps: last reports of each client, for the method of gap differences only.
        trusted: last noise of a trusted server.
    """

    def __init__(self, problem: SimulatedProblem, run: Mu2SgdRun, step: float, repetitions: int) -> None:
        """Create the state before the first round, in which all models are 0.

        Args:
            problem: learning problem, with its clients and its domain.
            run: parameters of the run.
            step: step size η of the server.
            repetitions: number of repetitions.
        """
        dimension = problem.dimension
        start = np.zeros((repetitions, dimension))
        self.server = CancellingServer(start, step_size=step, project=problem.project)
        self.plain = np.zeros((repetitions, dimension))
        self.total = np.zeros((repetitions, dimension))
        self._is_trusted = run.server == "trusted"

        # What the method or the trust model does not use gets arrays for 0 clients.
        clients_with_noise = 0 if self._is_trusted else problem.clients
        clients_with_gaps = problem.clients if run.method == "gap-differences" else 0
        self.clients = ClientNoise(repetitions, clients_with_noise, dimension)
        self.gaps = GapDifferences(repetitions, clients_with_gaps, dimension)
        self.trusted = ServerNoise(start)

    @property
    def residual_noise(self) -> Floats:
        """Sum of the noise that no later report has cancelled, (repetitions, d).

        It is the noise in q if the server is trusted. If clients add noise, it is m times the noise in q.
        """
        if self._is_trusted:
            return self.trusted.held
        return np.asarray(self.clients.held.sum(axis=1))


def run_round(
    problem: SimulatedProblem,
    run: Mu2SgdRun,
    scales: Scales,
    state: State,
    draws: Reports,
    round_index: int,
    *,
    number: int,
) -> tuple[Floats, Floats]:
    """Run one round of all repetitions, in which at most m clients report on one record each.

    In round t, noisy SGD reports the gradient ∇f(x_t) of a record's loss f at the server's model x_t. The other methods
    report the difference t∇f(x_t) − (t − 1)∇f(x_{t−1}), except for gap differences (`_run_gap_round`). Reports longer
    than `scales.largest` are scaled down to this norm.

    Args:
        problem: learning problem.
        run: parameters of the run.
        scales: step size, clipping norm and noise of the run.
        state: state before the round, which is updated.
        draws: participants, records and standard normal variables of a chunk of rounds.
        round_index: index of the round in the chunk.
        number: number t of the round in the run, from 1 on.

    Returns:
        Norms of the gradients and of the reports before scaling, (repetitions, m); 0 for a client that does not report.
        For gap differences the norms of the reports are divided by their gaps.
    """
    clients = draws.clients[round_index]
    present = draws.present[round_index]
    server = state.server
    records = problem.records(clients, draws.places[round_index])

    # The gradients of clients that do not report are computed, too, and left out by the mask `present`.
    report = problem.gradients(server.model[:, None, :], records)
    gradient_norms = np.where(present, norms_of(report), 0.0)

    if run.method == "gap-differences":
        report_norms = _run_gap_round(problem, scales, state, draws, round_index, report, number=number)
        return gradient_norms, report_norms

    if run.method != "noisy-sgd":
        earlier_gradients = problem.gradients(server.before[:, None, :], records)
        report = weighted_difference(report, earlier_gradients, number)

    # The factor is 0 for clients that do not report, but the mean is over all m entries.
    report_norms = np.where(present, norms_of(report), 0.0)
    factors = np.where(present, clipping_factors(report_norms, scales.largest), 0.0)
    participants = clients.shape[1]
    mean_report = np.sum(report * factors[..., None], axis=1) / participants
    noise = _noise(run, scales, state, draws, round_index)

    if run.method == "noisy-sgd":
        state.total += server.model
        server.model = projected_step(server.model, mean_report + noise, scales.step, problem.project)
        return gradient_norms, report_norms

    # Keep the sum of reports without noise, to check in the end that earlier noise was cancelled.
    state.plain += mean_report
    server.receive(mean_report + noise, number)
    return gradient_norms, report_norms


def _run_gap_round(
    problem: SimulatedProblem,
    scales: Scales,
    state: State,
    draws: Reports,
    round_index: int,
    gradients: Floats,
    *,
    number: int,
) -> Floats:
    """Run a round of Alternative 1 of Reshef and Levy, and update the state.

    In round t a client reports:

        s = t∇f(x_t) − τ∇f(x_τ).

    Here τ is the round of its previous report, or 0, x_t and x_τ are the models of both rounds, and f is the loss of
    one record. The clipping norm and the noise are proportional to the gap t − τ.

    Args:
        problem: learning problem.
        scales: step size, clipping norm and noise of the run.
        state: state before the round, which is updated.
        draws: random draws of a chunk of rounds.
        round_index: index of the round in the chunk.
        gradients: gradients at x_t, (repetitions, m, d), for m participants and d coordinates.
        number: number t of the round in the run, from 1 on.

    Returns:
        Norms of the reports before scaling, divided by their gaps, (repetitions, m); 0 for a client that does not
        report.
    """
    clients = draws.clients[round_index]
    present = draws.present[round_index]
    server = state.server

    last_models, last_rounds = state.gaps.last_reports(clients)
    records = problem.records(clients, draws.places[round_index])
    last_gradients = problem.gradients(last_models, records)
    report = number * gradients - last_rounds[..., None] * last_gradients

    # The norm bound and the noise grow with the gap between two reports of a client.
    gaps = number - last_rounds
    norms = np.where(present, norms_of(report) / gaps, 0.0)
    scaled_report = report * clipping_factors(norms, scales.largest)[..., None]
    noisy_report = with_noise(scaled_report, scales.fresh * gaps[..., None], draws.noise[round_index])

    # The server adds the increment to its sum, which thereby becomes the mean of the sums of the clients that report.
    mean = state.gaps.receive(clients, present, noisy_report, server.model, number)
    server.receive(mean - server.sum, number)
    return norms


def _noise(run: Mu2SgdRun, scales: Scales, state: State, draws: Reports, round_index: int) -> Floats:
    """Return the noise that a round adds to the server's sum of mean reports.

    With noise cancellation it is new noise minus earlier noise. Otherwise it is fresh noise of the standard deviation
    `scales.fresh`. If clients add noise, their sum is divided by m, because the server averages m reports.

    Args:
        run: method, and the party that adds the noise.
        scales: noise of the run.
        state: noise of earlier rounds, which is replaced if it is cancelled.
        draws: random draws of a chunk of rounds.
        round_index: index of the round in the chunk.

    Returns:
        The noise, (repetitions, d), for d coordinates.
    """
    normal = draws.noise[round_index]
    present = draws.present[round_index]
    clients = draws.clients[round_index]
    is_trusted = run.server == "trusted"

    if run.method != "cancelled-noise":
        fresh_noise: Floats = scales.fresh * normal
        if is_trusted:
            return fresh_noise[:, 0]
        sum_of_noise = np.sum(fresh_noise * present[..., None], axis=1)
        return np.asarray(sum_of_noise / normal.shape[1])

    if is_trusted:
        return state.trusted.replace_noise(scales.base, normal[:, 0])
    changes = state.clients.replace_noise(clients, present, scales.base, normal)
    return np.asarray(np.sum(changes, axis=1) / clients.shape[1])

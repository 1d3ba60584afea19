"""A run of DP-μ²-FL as requested, and its scales on a problem: the norm of reports, the noise and the step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from scipy.special import digamma

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import NOISE_STD, PARTICIPANTS, STEP_SIZE, Quantity, Rounds, request
from epsilond.simulators.algorithms.mu2_sgd.participation import PARTICIPATION, RunParticipation
from epsilond.simulators.problems.problem import SimulatedProblem

Server = Literal["trusted", "untrusted"]
Method = Literal["cancelled-noise", "independent-noise", "noisy-sgd", "gap-differences"]

SERVER = Quantity(
    description="who adds the noise. untrusted: each client adds noise to its own messages. trusted: the "
    "server adds it, and sees every message"
)
METHOD = Quantity(
    description="algorithm that is run: cancelled-noise is DP-μ²-FL. The others are for comparison with the "
    "same privacy"
)
BASE_NOISE_STD = replace(
    NOISE_STD,
    ge=0,
    gt=None,
    description="standard deviation per coordinate of the noise of a client's first report, or of a trusted "
    "server's noise in a round's mean",
)


@request
class Mu2SgdRun:
    """A run of DP-μ²-FL (Reshef and Levy), or of a method that it is compared with.

    If `noise_std` is absent, the noise is calibrated, and an absent `step_size` with it. A run with given noise needs a
    step size. The method `noisy-sgd` does not: its default step size depends on the problem, the noise and the rounds.
    The server divides the sum of a round's reports by `participants`; if it is absent, by the number of all clients.
    """

    algorithm: Annotated[Literal["mu2-sgd"], Quantity(description="name of the algorithm")] = "mu2-sgd"
    rounds: Rounds
    participants: Annotated[int | None, PARTICIPANTS] = None
    participation: Annotated[RunParticipation | None, PARTICIPATION] = None
    server: Annotated[Server, SERVER] = "untrusted"
    method: Annotated[Method, METHOD] = "cancelled-noise"
    step_size: Annotated[float | None, STEP_SIZE] = None
    noise_std: Annotated[float | None, BASE_NOISE_STD] = None

    def check(self) -> None:
        """Check that the participation and the server fit the rounds and the method.

        Raises:
            InvalidInput: a group reports after the last round, or the method is gap differences with a trusted server.
        """
        if self.method == "gap-differences" and self.server == "trusted":
            message = "adds no noise to gap differences: a record stays in its client's sum"
            raise InvalidInput.at("/server", message, allowed="untrusted")
        participation: object = self.participation
        if isinstance(participation, Mapping):
            object.__setattr__(self, "participation", RunParticipation(**participation))
        if self.taking_part.last_round > self.rounds:
            raise InvalidInput.at("/participation/groups", "report beyond the last round", allowed=f"≤ {self.rounds}")

    @property
    def taking_part(self) -> RunParticipation:
        """Requested participation, by default uniform."""
        return self.participation or RunParticipation()

    def reporting(self, clients: int) -> int:
        """Check the participation, and return the number m of reports by which the server divides.

        Args:
            clients: number of clients of the problem, at least 1.

        Returns:
            The number m: `participants` if it is given, otherwise all clients.

        Raises:
            InvalidInput: m exceeds the number of clients, or the participation pattern does not fit m.
        """
        reporting = self.participants or clients
        if reporting > clients:
            raise InvalidInput.at("/participants", "cannot exceed clients", allowed=f"≤ {clients}")
        self.taking_part.require_fit(clients, reporting)
        return reporting

    @property
    def most_reports(self) -> int:
        """Largest number K of reports of a client, at least 1."""
        return self.taking_part.most_reports(self.rounds)


def report_norm(problem: SimulatedProblem) -> float:
    """Return the bound S = G + 2LD on the norm of every report (Reshef and Levy, Theorem 5.1).

    G is the Lipschitz constant of the losses, L their smoothness, and D the diameter of the domain.

    Args:
        problem: learning problem with these constants.

    Returns:
        The bound on the Euclidean norm, in the unit of a gradient.
    """
    constants = problem.constants
    return constants.lipschitz + 2.0 * constants.smoothness * constants.diameter


def fresh_noise_std(problem: SimulatedProblem, run: Mu2SgdRun) -> float:
    """Return the noise σ per coordinate of a method without noise cancellation, at equal privacy.

    Let base be `noise_std`, the noise of the method with cancellation. Both methods have the same parameter of Gaussian
    differential privacy for:

        σ = base/√(T − 1) with a trusted server and T rounds (base for T = 1),
        σ = base/√H_K if clients add the noise, each in at most K reports,

    with the K-th harmonic number H_K. For noisy SGD this σ is multiplied by G/S, the ratio of the norm bounds of a
    gradient and of a report.

    Args:
        problem: learning problem.
        run: the run; if its `noise_std` is None, the result is 0.

    Returns:
        The standard deviation σ, at least 0.
    """
    base = run.noise_std or 0.0
    if run.server == "trusted":
        noise_std = base / math.sqrt(max(run.rounds - 1, 1))
    else:
        # The harmonic number H_K is the digamma function at K + 1 plus Euler's constant.
        harmonic_number = float(digamma(run.most_reports + 1.0)) + np.euler_gamma
        noise_std = base / math.sqrt(harmonic_number)

    norm_ratio = 1.0
    if run.method == "noisy-sgd":
        norm_ratio = problem.constants.lipschitz / report_norm(problem)
    return noise_std * norm_ratio


def step_size(problem: SimulatedProblem, run: Mu2SgdRun) -> float:
    """Return the step size η of the run, or the default of noisy SGD.

    The default is D/(B √T) with B² = G² + d σ²/m.

    D is the diameter of the domain, T the number of rounds, G the Lipschitz constant and d the dimension. σ is the
    value of `fresh_noise_std`. m is the number of reports that carry noise in a round, or 1 if a trusted server adds
    the noise. B² bounds the mean squared norm of a noisy mean gradient.

    Args:
        problem: learning problem.
        run: parameters of the run.

    Returns:
        The step size η.

    Raises:
        InvalidInput: the step is absent and the method is not noisy SGD.
    """
    if run.step_size is not None:
        return run.step_size
    if run.method != "noisy-sgd":
        raise InvalidInput.at("/step_size", "is needed with noise_std", allowed=STEP_SIZE.allowed)

    constants = problem.constants
    noise_std = fresh_noise_std(problem, run)
    averaged_noises = 1 if run.server == "trusted" else run.reporting(problem.clients)
    noise_variance = noise_std * noise_std * problem.dimension / averaged_noises
    squared_gradient = constants.lipschitz**2 + noise_variance  # B²
    return constants.diameter / math.sqrt(squared_gradient * run.rounds)

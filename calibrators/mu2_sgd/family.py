"""The privacy of mu2-sgd at a noise: the certificate of a record, and the protection of each kind of client."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.json_types import Fields
from epsilond.accountants.numerics.power_sums import PAD, harmonic
from epsilond.accountants.specs import Gaussian
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.target import Target
from epsilond.accountants.theorems.papers.reshef_levy.conversions import exact_epsilons, exact_mu
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import (
    base_std,
    client_mu,
    released_mu,
    upper_mu,
)
from epsilond.calibrators.answer import Ends, Served
from epsilond.calibrators.mu2_sgd.problem import ASSUMED_DELTA
from epsilond.calibrators.search import SLACKS, Certified, confirm, guarantee_of, smallest_noise

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.quantities import Relation
    from epsilond.accountants.rule import Effort
    from epsilond.calibrators.mu2_sgd.problem import Mu2SgdProblem

Described = Literal["group", "most", "average"]


@dataclass(frozen=True, kw_only=True)
class ClientReport:
    """Clients with equal participation. With `uniform`: one that reports most often, and an average one."""

    described: Annotated[Described, Served("a group of the request, or the client of most or of average reports")]
    clients: Annotated[int, Served("clients this is said of; for `most` and `average` all of them")]
    participations: Annotated[int, Served("reports of each")]
    gaussian_dp_mu: Annotated[float, Served("ρ_i, rounded up: each of its records, at the answer's noise")]
    epsilon: Annotated[Ends, Served("ε of each of its records at the target δ")]
    last_record_gaussian_dp_mu: Annotated[
        float | None,
        Served("ρ of the record of its last report, which only one noise vector protects; untrusted server"),
    ] = None
    whole_client_gaussian_dp_mu: Annotated[
        float | None, Served("ρ if all its records change at once, which is not calibrated; untrusted server")
    ] = None
    last_noise_std: Annotated[
        float | None, Served("σ of the noise of its last report, which stays in the server's sum; untrusted server")
    ] = None
    least_noise_std: Annotated[
        float | None, Served("base of the schedule that would do for clients of so few reports; untrusted server")
    ] = None
    first_round: Annotated[int | None, Served("of its reports, where the pattern is given")] = None
    last_round: Annotated[int | None, Served("of its reports, where the pattern is given")] = None
    longest_gap: Annotated[int | None, Served("most rounds between two of its reports, as the pattern has it")] = None
    uncancelled_rounds: Annotated[
        int | None, Served("rounds after its last report, in which its last noise is never cancelled")
    ] = None
    protected: tuple[str, ...]
    not_protected: tuple[str, ...]


def releases_of(rounds: int) -> int:
    """Return the number of sums that x_1, …, x_T are computed from: T − 1, but at least 1 to be safe."""
    return max(rounds - 1, 1)


def contribution_norm(problem: Mu2SgdProblem) -> float:
    """Return the norm bound of one record's contribution: S to a report, or S/m to the mean of a round.

    S is the clipping norm and m the number of participants. With a trusted server the noise is added to the mean.
    """
    norm = problem.federation.clipping_norm
    return norm if problem.server == "untrusted" else norm / problem.reporting


def noise_std_of(problem: Mu2SgdProblem, noise_multiplier: float) -> float:
    """Return the standard deviation σ of a client's first noise (untrusted server) or of every round's (trusted).

    By Theorems 5.1 and F.1 of Reshef and Levy, all releases about a record are together one Gaussian mechanism. With an
    untrusted server its variance is σ² over 1 + 1/2 + … + 1/K, for at most K reports of a client. With a trusted server
    it is σ² over the number of released sums. The result is rounded up.

    Args:
        problem: the request.
        noise_multiplier: noise multiplier of that single mechanism.
    """
    variance_factor = harmonic(problem.cap) if problem.server == "untrusted" else releases_of(problem.rounds)
    return noise_multiplier * contribution_norm(problem) * math.sqrt(variance_factor) * (1.0 + 2.0 * PAD)


@dataclass(frozen=True, kw_only=True)
class ScheduleNoise:
    """The noise of a run.

    `std` is the standard deviation of a client's first noise if clients add it (untrusted server), and of every round's
    noise if the server adds it (trusted).
    """

    problem: Mu2SgdProblem
    std: float

    def mu(self, participations: int, first_round: int = 1, relation: Relation | None = None) -> float:
        """Return the parameter μ of Gaussian differential privacy of a client, rounded up.

        The paper calls it ρ_i. It is 0 if nothing of the client is released.

        Args:
            participations: number of reports of the client.
            first_round: round of its first report.
            relation: a relation in place of the request's.
        """
        problem = self.problem
        sensitivity = sensitivity_factor(relation or problem.relation) * problem.federation.clipping_norm
        if participations == 0:
            return 0.0
        if problem.server == "untrusted":
            return upper_mu(sensitivity=sensitivity, base=self.std, participations=participations)
        releases = releases_of(problem.rounds) - first_round + 1
        return released_mu(
            sensitivity=sensitivity, noise_std=self.std, participants=problem.reporting, releases=max(releases, 0)
        )


def guarantee_at(
    problem: Mu2SgdProblem, mu: float, effort: Effort = "default", relation: Relation | None = None
) -> Guarantee:
    """Return the guarantee of μ-Gaussian differential privacy in the setting of the request.

    Args:
        problem: the request.
        mu: parameter μ of Gaussian differential privacy.
        effort: the work that compositions may take.
        relation: a relation in place of the request's.
    """
    chosen = relation or problem.relation
    mechanism = Gaussian(noise_multiplier=sensitivity_factor(chosen) / mu)
    guarantee = guarantee_of(problem, mechanism, effort, relation=chosen)
    if problem.sees_all:
        return guarantee
    # This observer sees a function of the messages. The upper bound holds, and the lower bound need not.
    return replace(guarantee, curve=Curve(guarantee.curve.upper))


def certify(problem: Mu2SgdProblem) -> tuple[Certified, Target]:
    """Return the smallest noise multiplier of the single Gaussian mechanism that the run is equivalent to.

    Returns:
        The certified noise multiplier, and the target. If the request states a parameter μ in place of a target, the
        multiplier follows from μ. The target then has the requested δ, or `ASSUMED_DELTA`, and the ε that μ has there.

    Raises:
        Infeasible: no noise that is offered meets the target.
    """
    sensitivity = sensitivity_factor(problem.relation)
    target = problem.target
    if target is None:
        mu = problem.gaussian_dp_mu or 0.0
        guarantee = guarantee_at(problem, mu)
        delta, log10_delta = problem.delta, problem.log10_delta
        if delta is None and log10_delta is None:
            delta = ASSUMED_DELTA
        at_zero = Target.of(0.0, delta, log10_delta)
        epsilon = guarantee.curve.bound_epsilon(at_zero.log_delta).upper
        return Certified(sensitivity / mu, guarantee, 0.0), replace(at_zero, epsilon=epsilon)

    @functools.cache
    def family(noise: float, effort: Effort) -> Guarantee:
        return guarantee_at(problem, sensitivity / noise, effort)

    closed_form = sensitivity / exact_mu(epsilon=target.epsilon, log_delta=target.log_delta) * (1.0 + PAD)
    confirmed = confirm(family, target, closed_form, SLACKS[0])
    return confirmed or smallest_noise(family, target, guess=closed_form), target


def reports_of(problem: Mu2SgdProblem, noise: ScheduleNoise, target: Target) -> tuple[ClientReport, ...]:
    """Describe the protection of each group of clients.

    If participants are drawn uniformly, there are no groups. Two clients are then described: one that reports as often
    as it may, and one that reports as often as clients do on average.

    Args:
        problem: the request.
        noise: the noise of the run.
        target: the target, of which only δ is used: each description has the ε at this δ.
    """
    kinds: list[_EqualClients]
    if problem.taking_part.groups is not None:
        groups = problem.taking_part.groups
        kinds = [_EqualClients(noise, "group", group.clients, group.reports, group.rounds) for group in groups]
    else:
        average = max(1, min(round(problem.rounds * problem.reporting / problem.clients), problem.cap))
        kinds = [
            _EqualClients(noise, "most", problem.clients, problem.cap),
            _EqualClients(noise, "average", problem.clients, average),
        ]
    positive_mus = sorted({kind.mu for kind in kinds if kind.mu > 0.0})
    lower, upper = exact_epsilons(np.asarray(positive_mus), target.log_delta)
    epsilons = {0.0: Ends(0.0, 0.0)}
    for mu, low, high in zip(positive_mus, lower, upper, strict=True):
        epsilons[mu] = Ends(float(low), float(high))
    return tuple(kind.report(epsilons) for kind in kinds)


class _EqualClients:
    """Clients with the same number of reports or the same rounds, and the parameter μ of their privacy."""

    def __init__(
        self,
        noise: ScheduleNoise,
        described: Described,
        clients: int,
        count: int,
        rounds: tuple[int, ...] | None = None,
    ) -> None:
        self.noise, self.described, self.clients, self.count, self.rounds = noise, described, clients, count, rounds
        self.mu = noise.mu(count, rounds[0] if rounds else 1)

    def report(self, epsilons: Mapping[float, Ends]) -> ClientReport:
        """Describe these clients: their privacy, their noise, and the rounds of their reports if these are given.

        Args:
            epsilons: ε at the target's δ for each parameter μ.
        """
        problem, rounds = self.noise.problem, self.rounds
        rounds_after_last = problem.rounds - rounds[-1] if rounds else None
        own_noise: Fields = {}
        if problem.server == "untrusted" and self.count > 0:
            own_noise = {**self._own_noise(), "uncancelled_rounds": rounds_after_last}
        pattern: Fields = {}
        if rounds:
            gaps = [later - earlier for earlier, later in itertools.pairwise(rounds)]
            pattern = {"first_round": rounds[0], "last_round": rounds[-1], "longest_gap": max(gaps, default=0)}
        return ClientReport(
            described=self.described,
            clients=self.clients,
            participations=self.count,
            gaussian_dp_mu=self.mu,
            epsilon=epsilons[self.mu],
            **own_noise,
            **pattern,
            protected=tuple(self._protections()),
            not_protected=tuple(self._not_protected(rounds_after_last)),
        )

    def _own_noise(self) -> Fields:
        """Return the figures of clients that add their own noise, because the server is not trusted.

        The last noise of a client is never cancelled. It is the only protection of the last report's record.
        """
        noise, problem = self.noise, self.noise.problem
        sensitivity = sensitivity_factor(problem.relation) * problem.federation.clipping_norm
        last_std = noise.std * math.sqrt(self.count)
        largest_mu = noise.mu(problem.cap)
        return {
            "last_record_gaussian_dp_mu": sensitivity / last_std,
            "whole_client_gaussian_dp_mu": client_mu(
                sensitivity=sensitivity, base=noise.std, participations=self.count
            ),
            "last_noise_std": last_std,
            "least_noise_std": base_std(sensitivity=sensitivity, mu=largest_mu, participations=self.count),
        }

    def _protections(self) -> Iterator[str]:
        """Yield the statement on the protected data and the observers, for the answer."""
        if self.count == 0:
            yield "everything: such a client sends nothing"
        elif self.noise.problem.server == "untrusted":
            yield (
                "each of its records against the server and all others, at gaussian_dp_mu. Its messages are "
                "protected by its own noise only. The guarantee holds if others join, drop out or collude, and "
                "whenever the client itself stops"
            )
        elif self.mu == 0.0:
            yield "everything: it reports in the last round only, and no released model depends on that"
        else:
            yield "each of its records against every observer of the models; the server adds the noise of each round"

    def _not_protected(self, rounds_after_last: int | None) -> Iterator[str]:
        """Yield the statements on facts that the guarantee does not cover, for the answer.

        Args:
            rounds_after_last: number of rounds after the last report; None if the rounds are not given.
        """
        yield "who reports, when and how often"
        if self.count == 0:
            return
        if self.noise.problem.server == "trusted":
            yield "anything against the server, which sees every message"
            return
        yield "all its records at once: they are only whole_client_gaussian_dp_mu together"
        if rounds_after_last is None:
            yield "the model's accuracy, if it leaves for good: then its last noise is never cancelled"
        elif rounds_after_last > 0:
            yield (
                f"the model's accuracy in the {rounds_after_last} rounds after its last report: "
                "its last noise is never cancelled"
            )


def residual_noise_std(problem: Mu2SgdProblem, noise_std: float) -> float:
    """Return the root mean square, per coordinate, of the noise in the server's mean after round T.

    By Lemma 4.1, for any pattern, the last noise of every client remains. For K_i reports of client i, base noise
    `base` and m participants this is √(Σ_i K_i) · base/m. It is √(T/m) · base in expectation if m are drawn uniformly.
    """
    if problem.server == "trusted":
        return noise_std
    groups = problem.taking_part.groups
    m = float(problem.reporting)
    sent = m * problem.rounds
    if groups:
        sent = math.fsum(float(group.clients) * group.reports for group in groups)
    return noise_std * math.sqrt(sent) / m

"""The protection of each kind of client of a run of mu2-sgd, for the answer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from epsilond.accountants.json_types import Fields
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.theorems.papers.reshef_levy.conversions import exact_epsilons
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import base_std, client_mu
from epsilond.calibrators.answer import Ends, Served

if TYPE_CHECKING:
    from epsilond.accountants.target import Target
    from epsilond.calibrators.mu2_sgd.family import ScheduleNoise
    from epsilond.calibrators.mu2_sgd.problem import Mu2SgdProblem

Described = Literal["group", "most", "average"]


@dataclass(frozen=True, kw_only=True)
class ClientReport:
    """The protection of clients that take part equally often. A report is the message of a client in one round.

    If participants are drawn uniformly, one answer is for a client that reports most often, another for an average one.
    """

    described: Annotated[
        Described,
        Served(
            "clients that are described. group: a group of the request. most: a client with the largest "
            "allowed number of reports. average: a client with the average number of reports"
        ),
    ]
    clients: Annotated[
        int, Served("number of clients that are described; for `most` and `average` the number of all clients")
    ]
    participations: Annotated[int, Served("number of rounds in which each of these clients reports")]
    gaussian_dp_mu: Annotated[
        float,
        Served(
            "parameter μ of Gaussian differential privacy for each record of such a client, at the "
            "answer's noise, rounded up"
        ),
    ]
    epsilon: Annotated[Ends, Served("bounds on ε for each record of such a client, at the target δ")]
    last_record_gaussian_dp_mu: Annotated[
        float | None,
        Served(
            "parameter μ of Gaussian differential privacy for the record of the client's last report, "
            "which only the last noise protects. Absent with a trusted server"
        ),
    ] = None
    whole_client_gaussian_dp_mu: Annotated[
        float | None,
        Served(
            "parameter μ of Gaussian differential privacy if all records of the client change at once. The "
            "noise is not calibrated for it. Absent with a trusted server"
        ),
    ] = None
    last_noise_std: Annotated[
        float | None,
        Served(
            "standard deviation per coordinate of the noise of the client's last report, which stays in "
            "the server's sum. Absent with a trusted server"
        ),
    ] = None
    least_noise_std: Annotated[
        float | None,
        Served(
            "noise_std that would suffice if no client reported more often than these clients. Absent with "
            "a trusted server"
        ),
    ] = None
    first_round: Annotated[
        int | None, Served("first round in which the client reports; absent unless the rounds of the reports are given")
    ] = None
    last_round: Annotated[
        int | None, Served("last round in which the client reports; absent unless the rounds of the reports are given")
    ] = None
    longest_gap: Annotated[
        int | None,
        Served(
            "largest difference between the rounds of two consecutive reports of the client; absent unless "
            "the rounds of the reports are given"
        ),
    ] = None
    uncancelled_rounds: Annotated[
        int | None,
        Served(
            "number of rounds after the client's last report, in which its last noise stays in the sum. "
            "Absent with a trusted server, or unless the rounds are given"
        ),
    ] = None
    protected: tuple[str, ...]
    not_protected: tuple[str, ...]


def describe_clients(problem: Mu2SgdProblem, noise: ScheduleNoise, target: Target) -> tuple[ClientReport, ...]:
    """Describe the ε, the noise and the protected data of each kind of client, for the answer.

    Args:
        problem: the request, with its client groups or with the number of participants.
        noise: the noise of the run.
        target: the target. Each description has the ε at its δ.

    Returns:
        One description for each client group of the request. If participants are drawn uniformly, there are two: for a
        client that reports most often, and for one that reports an average number of times.
    """
    kinds = _list_client_kinds(problem, noise)
    epsilon_of_mu = _epsilons_at_delta({kind.mu for kind in kinds}, target.log_delta)
    return tuple(_describe_clients_of_kind(kind, epsilon_of_mu[kind.mu]) for kind in kinds)


@dataclass(frozen=True)
class ReportingClients:
    """Clients that report equally often, and in the same rounds if these are given.

    Attributes:
        noise: the noise of the run.
        described: `group` for a group of the request, `most` or `average` for typical clients.
        clients: number of these clients.
        reports: number of reports of each.
        rounds: rounds of these reports in ascending order; None if they are not given.
    """

    noise: ScheduleNoise
    described: Described
    clients: int
    reports: int
    rounds: tuple[int, ...] | None = None

    @cached_property
    def mu(self) -> float:
        """Parameter μ of Gaussian differential privacy of each of their records, rounded up."""
        first_round = self.rounds[0] if self.rounds else 1
        return self.noise.mu(self.reports, first_round)

    @property
    def rounds_after_last(self) -> int | None:
        """Number of rounds after the last report; None if the rounds of the reports are not given."""
        return self.noise.problem.rounds - self.rounds[-1] if self.rounds else None


def _list_client_kinds(problem: Mu2SgdProblem, noise: ScheduleNoise) -> list[ReportingClients]:
    """List the client groups of the request, or two typical clients if participants are drawn uniformly.

    The first typical client reports as often as allowed. The second reports the average number of times, rounded, but
    at least once.

    Args:
        problem: the request, with its groups or with the number of participants.
        noise: the noise of the run.

    Returns:
        The kinds of clients, in the order of the answer.
    """
    groups = problem.taking_part.groups
    if groups is not None:
        return [ReportingClients(noise, "group", group.clients, group.reports, group.rounds) for group in groups]
    expected_reports = round(problem.rounds * problem.reporting / problem.clients)
    average = max(1, min(expected_reports, problem.cap))
    return [
        ReportingClients(noise, "most", problem.clients, problem.cap),
        ReportingClients(noise, "average", problem.clients, average),
    ]


def _epsilons_at_delta(mus: set[float], log_delta: float) -> dict[float, Ends]:
    """Compute bounds on the ε of μ-Gaussian differential privacy at a δ, for several μ.

    Args:
        mus: distinct parameters μ, at least 0.
        log_delta: log δ, natural logarithm.

    Returns:
        A lower and an upper bound on ε for each μ. Both are 0 for μ = 0.
    """
    positive_mus = sorted(mu for mu in mus if mu > 0.0)
    lower, upper = exact_epsilons(np.asarray(positive_mus), log_delta)
    epsilons = {0.0: Ends(0.0, 0.0)}
    for mu, low, high in zip(positive_mus, lower, upper, strict=True):
        epsilons[mu] = Ends(float(low), float(high))
    return epsilons


def _describe_clients_of_kind(kind: ReportingClients, epsilon: Ends) -> ClientReport:
    """Describe the privacy, the noise and the rounds of one kind of client, for the answer.

    Args:
        kind: clients with the same number of reports.
        epsilon: lower and upper bound on the ε of each of their records, at the target δ.

    Returns:
        The description. Fields on a client's own noise are absent if the server adds the noise.
    """
    own_noise: Fields = {}
    if kind.noise.problem.server == "untrusted" and kind.reports > 0:
        own_noise = _own_noise_fields(kind)
    return ClientReport(
        described=kind.described,
        clients=kind.clients,
        participations=kind.reports,
        gaussian_dp_mu=kind.mu,
        epsilon=epsilon,
        **own_noise,
        **_report_round_fields(kind),
        protected=(_describe_protection(kind),),
        not_protected=tuple(_list_gaps(kind)),
    )


def _report_round_fields(kind: ReportingClients) -> Fields:
    """Return the first and the last round with a report, and the longest gap between reports, as fields of the answer.

    Args:
        kind: clients that report in the same rounds.

    Returns:
        The three fields, of which the gap is 0 for a single report. No fields if the rounds are not given.
    """
    rounds = kind.rounds
    if not rounds:
        return {}
    gaps = [later - earlier for earlier, later in itertools.pairwise(rounds)]
    return {"first_round": rounds[0], "last_round": rounds[-1], "longest_gap": max(gaps, default=0)}


def _own_noise_fields(kind: ReportingClients) -> Fields:
    """Compute the fields of the answer about the noise of clients that add their own, because the server is untrusted.

    The noise of a client's K-th report has the standard deviation σ√K, where σ is that of its first report. Each report
    also subtracts the noise of the previous one. So only the last noise stays. Nothing more protects the last record.

    Args:
        kind: clients that report at least once.

    Returns:
        Values by the names of the fields.
    """
    noise = kind.noise
    problem = noise.problem
    sensitivity = sensitivity_factor(problem.relation) * problem.federation.clipping_norm
    last_std = noise.std * math.sqrt(kind.reports)
    mu_at_cap = noise.mu(problem.cap)
    return {
        "last_record_gaussian_dp_mu": sensitivity / last_std,
        "whole_client_gaussian_dp_mu": client_mu(sensitivity=sensitivity, base=noise.std, participations=kind.reports),
        "last_noise_std": last_std,
        "least_noise_std": base_std(sensitivity=sensitivity, mu=mu_at_cap, participations=kind.reports),
        "uncancelled_rounds": kind.rounds_after_last,
    }


def _describe_protection(kind: ReportingClients) -> str:
    """Return a statement of which data of a client are protected, and against whom.

    Args:
        kind: clients with the same number of reports.
    """
    if kind.reports == 0:
        return "everything: such a client sends nothing"
    if kind.noise.problem.server == "untrusted":
        return (
            "each of its records against the server and all others, at gaussian_dp_mu. Its messages are "
            "protected by its own noise only. The guarantee holds if others join, drop out or collude, and "
            "whenever the client itself stops"
        )
    if kind.mu == 0.0:
        return "everything: it reports in the last round only, and no released model depends on that"
    return "each of its records against every observer of the models; the server adds the noise of each round"


def _list_gaps(kind: ReportingClients) -> Iterator[str]:
    """Yield phrases for the data of a client, and its effects, that the guarantee does not cover.

    Args:
        kind: clients with the same number of reports.

    Yields:
        One phrase for each gap. The first one holds for every client.
    """
    yield "who reports, when and how often"
    if kind.reports == 0:
        return
    if kind.noise.problem.server == "trusted":
        yield "anything against the server, which sees every message"
        return

    # With an untrusted server the client adds its own noise.
    yield "all its records at once: together they have only the weaker whole_client_gaussian_dp_mu"
    if kind.rounds_after_last is None:
        yield "the model's accuracy, if it leaves for good: then its last noise is never cancelled"
    elif kind.rounds_after_last > 0:
        yield (
            f"the model's accuracy in the {kind.rounds_after_last} rounds after its last report: "
            "its last noise is never cancelled"
        )

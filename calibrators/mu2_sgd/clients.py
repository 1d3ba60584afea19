"""What mu2-sgd guarantees to each kind of client, by how often or when it reports, and what it does not protect."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from epsilond.accountants.account import account
from epsilond.accountants.curve import Curve
from epsilond.accountants.specs import Gaussian
from epsilond.accountants.theorems.mechanisms.gaussian import sensitivity_factor
from epsilond.accountants.theorems.papers.reshef_levy.conversions import exact_epsilons
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import (
    base_std,
    client_mu,
    released_mu,
    upper_mu,
)
from epsilond.calibrators.answer import Ends, Served

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.quantities import Relation
    from epsilond.accountants.theorem import Effort
    from epsilond.calibrators.mu2_sgd.problem import Mu2SgdProblem, ParticipatingGroup
    from epsilond.calibrators.problem import Target

Described = Literal["group", "most", "average"]


@dataclass(frozen=True, kw_only=True)
class ClientReport:
    """Clients that take part alike. With participation `uniform`: one that reports most often, and an average one."""

    described: Annotated[Described, Served("a group of the request, or the client of most or of average reports")]
    clients: Annotated[int, Served("clients this is said of; for `most` and `average` all of them")]
    participations: Annotated[int, Served("reports of each")]
    gaussian_dp_mu: Annotated[float, Served("ρ_i, rounded up: each of its records, at the answer's noise")]
    epsilon: Annotated[Ends, Served("ε of each of its records at the target δ")]
    last_record_gaussian_dp_mu: Annotated[
        float | None, Served("ρ of the record of its last report, which one noise alone protects; untrusted server")
    ] = None
    whole_client_gaussian_dp_mu: Annotated[
        float | None, Served("ρ if all its records change at once: not what is calibrated; untrusted server")
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


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The noise of a run: base of the schedule (untrusted), or σ of every round (trusted)."""

    problem: Mu2SgdProblem
    std: float

    def mu(self, participations: int, first_round: int = 1, relation: Relation | None = None) -> float:
        """ρ_i of a client, rounded up; 0 where nothing of it is released."""
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


def releases_of(rounds: int) -> int:
    """Sums that x_1, …, x_T are computed from: those of rounds below T; one, where T is 1, to be safe."""
    return max(rounds - 1, 1)


def guarantee_at(
    problem: Mu2SgdProblem, mu: float, effort: Effort = "default", relation: Relation | None = None
) -> Guarantee:
    """What μ-Gaussian differential privacy is, in the request's setting or under another relation."""
    chosen = relation or problem.relation
    found = account(
        Gaussian(noise_multiplier=sensitivity_factor(chosen) / mu),
        relation=chosen,
        unit=problem.unit,
        observer=problem.seen_by,
        effort=effort,
    ).guarantee
    if problem.sees_all:
        return found
    # Who sees a function of the messages is no better off, but perhaps worse: nothing is known from below.
    return replace(found, curve=Curve(found.curve.upper))


def reports_of(problem: Mu2SgdProblem, noise: Noise, target: Target) -> tuple[ClientReport, ...]:
    """One report a group, or those of the most and of average reports."""
    asked = problem.taking_part
    if asked.groups is not None:
        alike = [noise.mu(group.reports, group.rounds[0] if group.rounds else 1) for group in asked.groups]
        known = _epsilons(alike, target)
        return tuple(_of_group(problem, noise, group, known) for group in asked.groups)
    average = max(1, min(round(problem.rounds * problem.reporting / problem.clients), problem.cap))
    described: tuple[tuple[Described, int], ...] = (("most", problem.cap), ("average", average))
    known = _epsilons([noise.mu(count) for _, count in described], target)
    return tuple(_report(problem, noise, name, problem.clients, count, None, known) for name, count in described)


def _epsilons(mus: Sequence[float], target: Target) -> Mapping[float, Ends]:
    """ε at the target δ of each ρ_i; 0 where nothing is released."""
    distinct = sorted({mu for mu in mus if mu > 0.0})
    lower, upper = exact_epsilons(np.asarray(distinct), target.log_delta)
    ends = (Ends(float(low), float(high)) for low, high in zip(lower, upper, strict=True))
    return {0.0: Ends(0.0, 0.0), **dict(zip(distinct, ends, strict=True))}


def _of_group(
    problem: Mu2SgdProblem,
    noise: Noise,
    group: ParticipatingGroup,
    known: Mapping[float, Ends],
) -> ClientReport:
    return _report(problem, noise, "group", group.clients, group.reports, group.rounds, known)


def _report(
    problem: Mu2SgdProblem,
    noise: Noise,
    described: Described,
    clients: int,
    count: int,
    rounds: tuple[int, ...] | None,
    known: Mapping[float, Ends],
) -> ClientReport:
    first = rounds[0] if rounds else 1
    mu = noise.mu(count, first)
    own = problem.server == "untrusted" and count > 0
    sensitivity = sensitivity_factor(problem.relation) * problem.federation.clipping_norm
    top = noise.mu(problem.cap)
    left = problem.rounds - rounds[-1] if rounds else None
    return ClientReport(
        described=described,
        clients=clients,
        participations=count,
        gaussian_dp_mu=mu,
        epsilon=known[mu],
        last_record_gaussian_dp_mu=sensitivity / (noise.std * math.sqrt(count)) if own else None,
        whole_client_gaussian_dp_mu=client_mu(sensitivity=sensitivity, base=noise.std, participations=count)
        if own
        else None,
        last_noise_std=noise.std * math.sqrt(count) if own else None,
        least_noise_std=base_std(sensitivity=sensitivity, mu=top, participations=count) if own else None,
        first_round=first if rounds else None,
        last_round=rounds[-1] if rounds else None,
        longest_gap=max((b - a for a, b in itertools.pairwise(rounds)), default=0) if rounds else None,
        uncancelled_rounds=left if own else None,
        protected=tuple(_protected(problem, count, mu)),
        not_protected=tuple(_not_protected(problem, count, left)),
    )


def _protected(problem: Mu2SgdProblem, count: int, mu: float) -> Iterator[str]:
    if count == 0:
        yield "everything: such a client sends nothing"
    elif problem.server == "trusted":
        if mu == 0.0:
            yield "everything: it reports in the last round only, and no released model depends on that"
        else:
            yield "each of its records against whoever sees the models; each round's noise is the server's own"
    else:
        yield (
            "each of its records against the server and everybody, at gaussian_dp_mu, whoever else takes part, drops "
            "out or colludes, and whenever it stops itself: what it has sent is protected by its own noise alone"
        )


def _not_protected(problem: Mu2SgdProblem, count: int, left: int | None) -> Iterator[str]:
    yield "who reports, when and how often"
    if count == 0:
        return
    if problem.server == "trusted":
        yield "anything against the server, which sees every message"
        return
    yield "all its records at once: they are only whole_client_gaussian_dp_mu together"
    if left is None:
        yield "the model's accuracy, if it leaves for good: then its last noise is never cancelled"
    elif left > 0:
        yield f"the model's accuracy in the {left} rounds after its last report: its last noise is never cancelled"


def residual_noise_std(problem: Mu2SgdProblem, noise: Noise) -> float:
    """Root mean square, per coordinate, of the noise in the server's mean after round T (Lemma 4.1, for any pattern).

    Of every client its last noise is left: √(Σ_i K_i) · base/m; in expectation √(T/m) · base if m are drawn uniformly.
    """
    if problem.server == "trusted":
        return noise.std
    groups = problem.taking_part.groups
    m = float(problem.reporting)
    sent = math.fsum(float(one.clients) * one.reports for one in groups) if groups else m * problem.rounds
    return noise.std * math.sqrt(sent) / m

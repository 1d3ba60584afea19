"""The privacy of mu2-sgd at a noise: the guarantee of a record, and the smallest noise that meets the target."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.numerics.power_sums import PAD, harmonic
from epsilond.accountants.specs import Gaussian
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.theorems.papers.reshef_levy.conversions import exact_mu
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import released_mu, upper_mu
from epsilond.calibrators.search import (
    MOST,
    SLACKS,
    Certified,
    confirm,
    guarantee_of,
    no_noise_suffices,
    smallest_noise,
)
from epsilond.calibrators.targets.certified import certified_target

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.quantities import Relation
    from epsilond.accountants.rule import Effort
    from epsilond.accountants.target import Target
    from epsilond.calibrators.mu2_sgd.problem import Mu2SgdProblem


def releases_of(rounds: int) -> int:
    """Return the number of noisy sums that the released models x_1, …, x_T of T rounds depend on: T − 1, or 1 if T = 1.

    The sum of the last round does not affect these models. For T = 1 one sum is assumed, which is pessimistic.

    Args:
        rounds: number T of rounds.
    """
    return max(rounds - 1, 1)


def contribution_norm(problem: Mu2SgdProblem) -> float:
    """Return the bound on the norm of one record's contribution to the vector that gets noise.

    With an untrusted server this vector is a client's report, and the bound is the clipping norm S. With a trusted
    server it is the mean of a round with m participants, and the bound is S/m.

    Args:
        problem: the request, which says who adds the noise.

    Returns:
        The norm, in units of a gradient.
    """
    norm = problem.federation.clipping_norm
    if problem.server == "untrusted":
        return norm
    return norm / problem.reporting


def noise_std_of(problem: Mu2SgdProblem, noise_multiplier: float) -> float:
    """Convert a noise multiplier z to the standard deviation σ of the noise that is added.

    All releases about a record are equivalent to one Gaussian mechanism with the noise multiplier z and the variance
    σ²/H (Theorems 5.1 and F.1 of Reshef and Levy). With the contribution norm C, this means:

        σ = z C √H.

    With an untrusted server, σ belongs to a client's first noise, and H = 1 + 1/2 + … + 1/K for at most K reports of a
    client. With a trusted server, σ belongs to every round's noise, and H is the number of released sums.

    Args:
        problem: the request, with the rounds, the limit K on reports, and who adds the noise.
        noise_multiplier: z, without unit.

    Returns:
        σ per coordinate, rounded up.
    """
    variance_factor = harmonic(problem.cap) if problem.server == "untrusted" else releases_of(problem.rounds)
    rounding = 1.0 + 2.0 * PAD  # exceeds the rounding errors of the product
    return noise_multiplier * contribution_norm(problem) * math.sqrt(variance_factor) * rounding


@dataclass(frozen=True, kw_only=True)
class ScheduleNoise:
    """The noise of a run, and the privacy that it gives to a record.

    Attributes:
        problem: the request.
        std: standard deviation per coordinate of a client's first noise, or of every round's noise if a trusted server
            adds it.
    """

    problem: Mu2SgdProblem
    std: float

    def mu(self, participations: int, first_round: int = 1, relation: Relation | None = None) -> float:
        """Return the parameter μ of Gaussian differential privacy of every record of a client, rounded up.

        It is 0 if no release depends on the client. With a trusted server, a record affects the released sums of all
        rounds from its report on. So the client's first record is the least protected.

        Args:
            participations: number of reports of the client.
            first_round: round of the client's first report, from 1.
            relation: neighbouring relation; None for that of the request.

        Returns:
            μ, at least 0 and without unit.
        """
        if participations == 0:
            return 0.0
        problem = self.problem
        sensitivity = sensitivity_factor(relation or problem.relation) * problem.federation.clipping_norm
        if problem.server == "untrusted":
            return upper_mu(sensitivity=sensitivity, base=self.std, participations=participations)
        releases_after_report = max(releases_of(problem.rounds) - first_round + 1, 0)
        return released_mu(
            sensitivity=sensitivity,
            noise_std=self.std,
            participants=problem.reporting,
            releases=releases_after_report,
        )


def guarantee_at(
    problem: Mu2SgdProblem, mu: float, effort: Effort = "default", relation: Relation | None = None
) -> Guarantee:
    """Return the guarantee of μ-Gaussian differential privacy, for the protected unit and the observer of a request.

    Args:
        problem: the request, with the neighbouring relation, the protected unit and the observer.
        mu: parameter μ > 0 of Gaussian differential privacy.
        effort: how much work the computation of the guarantee may take.
        relation: neighbouring relation; None for that of the request.

    Returns:
        The guarantee, with certified bounds on δ as a function of ε. There is no lower bound for an observer that sees
        only a part of the releases.
    """
    used_relation = relation or problem.relation
    mechanism = Gaussian(noise_multiplier=sensitivity_factor(used_relation) / mu)
    guarantee = guarantee_of(problem, mechanism, effort, relation=used_relation)
    if problem.sees_all:
        return guarantee
    # A function of the releases is post-processing: the upper bound on δ holds, but the lower bound need not.
    return replace(guarantee, curve=Curve(guarantee.curve.upper))


def certify(problem: Mu2SgdProblem) -> tuple[Certified, Target]:
    """Find the smallest noise multiplier that meets the target, with its certificate.

    The multiplier is that of the single Gaussian mechanism to which all releases of the run are equivalent.

    Args:
        problem: the request, with the neighbouring relation and the privacy target.

    Returns:
        The certified noise multiplier, and the target. If the request states a risk in place of ε, the multiplier meets
        the risk. The target then has the requested δ, or `ASSUMED_DELTA`, and the ε that is certified there.

    Raises:
        Infeasible: the largest noise that is offered does not meet the target.
    """
    risk = problem.risk
    if risk is not None and risk.kind == "gaussian_dp_mu":
        return _certify_mu(problem, risk.bound)
    target = problem.target
    sensitivity = sensitivity_factor(problem.relation)

    @functools.cache
    def family(noise: float, effort: Effort) -> Guarantee:
        """Return the guarantee of all releases about a record together, at a noise multiplier."""
        return guarantee_at(problem, sensitivity / noise, effort)

    # The exact conversion of the target to μ gives the noise in closed form. A search follows only if this noise is not
    # certified.
    mu = risk.gaussian_mu if risk else exact_mu(epsilon=target.epsilon, log_delta=target.log_delta)
    # The padding exceeds rounding errors, and `MOST` is the largest noise that is offered.
    closed_form = min(sensitivity / mu * (1.0 + PAD), MOST)
    certified = confirm(family, target, closed_form, SLACKS[0])
    if certified is None:
        certified = smallest_noise(family, target, guess=closed_form)
    return certified, certified_target(certified.guarantee, target)


def _certify_mu(problem: Mu2SgdProblem, mu: float) -> tuple[Certified, Target]:
    """Return the noise multiplier that gives μ-Gaussian differential privacy, and the ε that it has at the requested δ.

    The noise multiplier is the sensitivity, in units of the contribution norm, divided by μ.

    Args:
        problem: the request, with its relation and its δ.
        mu: the requested parameter μ > 0.

    Returns:
        The certificate at this noise, and the target (ε, δ).

    Raises:
        Infeasible: the noise multiplier is above `MOST`, the largest that is offered.
    """
    sensitivity = sensitivity_factor(problem.relation)
    noise_multiplier = sensitivity / mu
    if noise_multiplier > MOST:
        raise no_noise_suffices(guarantee_at(problem, sensitivity / MOST), problem.target)
    guarantee = guarantee_at(problem, mu)
    slack = 0.0  # the closed form is exact, so no smaller noise meets the target
    return Certified(noise_multiplier, guarantee, slack), certified_target(guarantee, problem.target)


def residual_noise_std(problem: Mu2SgdProblem, noise_std: float) -> float:
    """Return the standard deviation per coordinate of the noise that stays in the server's mean after the last round.

    With a trusted server it is the noise of the last round. With an untrusted server the last noise of every client is
    left (Lemma 4.1 of Reshef and Levy). For K_i reports of client i and m participants, its standard deviation is:

        σ √(Σ_i K_i)/m.

    The sum Σ_i K_i is mT if m clients are drawn uniformly in each of T rounds.

    Args:
        problem: the request, with the rounds, the reports of the clients, and who adds the noise.
        noise_std: standard deviation σ of a client's first noise, or of every round's noise with a trusted server.

    Returns:
        The standard deviation, in units of a gradient.
    """
    if problem.server == "trusted":
        return noise_std
    groups = problem.taking_part.groups
    participants = float(problem.reporting)
    total_reports = participants * problem.rounds
    if groups:
        total_reports = math.fsum(float(group.clients) * group.reports for group in groups)
    return noise_std * math.sqrt(total_reports) / participants

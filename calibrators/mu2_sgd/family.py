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
    """Return the number of noisy sums that the models x_1, …, x_T of T rounds depend on: T − 1, but at least 1.

    The sum of the last round changes none of these models. One release is assumed for T = 1, which is pessimistic.

    Args:
        rounds: number T of rounds.
    """
    return max(rounds - 1, 1)


def contribution_norm(problem: Mu2SgdProblem) -> float:
    """Return the bound on the norm of one record's contribution to the quantity that gets noise.

    With an untrusted server it is the clipping norm S, for a client's report. With a trusted server it is S/m, for the
    mean of a round with m participants.

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
    """Convert a noise multiplier to the standard deviation σ of the noise that is added.

    With an untrusted server, σ is that of a client's first noise; with a trusted server, of every round's noise. All
    releases about a record are together one Gaussian mechanism, of variance σ²/H (Theorems 5.1 and F.1 of Reshef and
    Levy). The number H is 1 + 1/2 + … + 1/K with an untrusted server, for at most K reports of a client. With a trusted
    server, H is the number of released sums. Hence σ = z · C · √H, for the noise multiplier z and the contribution norm
    C.

    Args:
        problem: the request, with the rounds, the limit K on reports, and who adds the noise.
        noise_multiplier: noise multiplier z of that single mechanism.

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
        std: the standard deviation σ per coordinate. If clients add the noise (untrusted server), it is that of a
            client's first noise. If the server adds it (trusted server), it is that of every round's noise.
    """

    problem: Mu2SgdProblem
    std: float

    def mu(self, participations: int, first_round: int = 1, relation: Relation | None = None) -> float:
        """Return the parameter μ of Gaussian differential privacy of every record of a client, rounded up.

        The paper calls it ρ_i. It is 0 if nothing of the client is released. With a trusted server a record affects the
        released sums from the round of its report on. The first report is therefore the most exposed.

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
        # Clients add the noise themselves.
        if problem.server == "untrusted":
            return upper_mu(sensitivity=sensitivity, base=self.std, participations=participations)
        # A trusted server: count the releases that the first report affects.
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
    """Return the guarantee of μ-Gaussian differential privacy: δ as a certified function of ε.

    It is computed for a Gaussian mechanism with sensitivity μ and standard deviation 1. The protected unit and the
    observer are those of the request.

    Args:
        problem: the request, with the neighbouring relation, the protected unit and the observer.
        mu: parameter μ of Gaussian differential privacy.
        effort: the work that the computation of the guarantee may take.
        relation: neighbouring relation; None for that of the request.

    Returns:
        The guarantee of a single Gaussian mechanism, as a certified function of ε.
    """
    relation = relation or problem.relation
    mechanism = Gaussian(noise_multiplier=sensitivity_factor(relation) / mu)
    guarantee = guarantee_of(problem, mechanism, effort, relation=relation)
    if problem.sees_all:
        return guarantee
    # This observer sees only a function of the messages. The upper bound on δ holds, but the lower bound need not.
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
        Infeasible: no noise that is offered meets the target.
    """
    risk = problem.risk
    if risk is not None and risk.kind == "gaussian_dp_mu":
        return _certify_mu(problem, risk.bound)
    target = problem.target
    sensitivity = sensitivity_factor(problem.relation)

    @functools.cache
    def family(noise: float, effort: Effort) -> Guarantee:
        """Return the guarantee of all reports together at a noise, which amounts to that of a single mechanism."""
        return guarantee_at(problem, sensitivity / noise, effort)

    # The exact conversion of the target to μ gives the noise in closed form. It is searched only if that fails.
    mu = risk.gaussian_mu if risk else exact_mu(epsilon=target.epsilon, log_delta=target.log_delta)
    # The padding exceeds rounding errors, and `MOST` is the largest noise that is offered.
    closed_form = min(sensitivity / mu * (1.0 + PAD), MOST)
    certified = confirm(family, target, closed_form, SLACKS[0])
    if certified is None:
        certified = smallest_noise(family, target, guess=closed_form)
    return certified, certified_target(certified.guarantee, target)


def _certify_mu(problem: Mu2SgdProblem, mu: float) -> tuple[Certified, Target]:
    """Return the noise multiplier of μ-Gaussian differential privacy, and the ε that it has at the requested δ.

    The noise multiplier is the sensitivity in units of the contribution norm, divided by μ.

    Args:
        problem: the request, with its relation and its δ.
        mu: the requested parameter μ > 0.

    Returns:
        The certificate at this noise, and the target (ε, δ).

    Raises:
        Infeasible: the noise is more than is offered.
    """
    sensitivity = sensitivity_factor(problem.relation)
    noise_multiplier = sensitivity / mu
    # `MOST` is the largest noise multiplier that is offered.
    if noise_multiplier > MOST:
        raise no_noise_suffices(guarantee_at(problem, sensitivity / MOST), problem.target)
    guarantee = guarantee_at(problem, mu)
    # The noise is given in closed form, so that no smaller noise has to be excluded (`slack` 0).
    return Certified(noise_multiplier, guarantee, 0.0), certified_target(guarantee, problem.target)


def residual_noise_std(problem: Mu2SgdProblem, noise_std: float) -> float:
    """Return the standard deviation per coordinate of the noise that stays in the mean after the last round.

    With a trusted server it is the noise of the last round. With an untrusted server the last noise of every client is
    left (Lemma 4.1 of Reshef and Levy). It is then σ √(Σ_i K_i)/m, for K_i reports of client i and m participants. The
    sum is mT if m clients are drawn uniformly in each of T rounds.

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

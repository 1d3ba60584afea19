"""mu2-sgd: federated learning with noise cancellation, DP-μ²-FL of Reshef and Levy.

A client that reports for the N-th time takes back the noise it sent before and adds one of variance base² N, so that
the server's sum holds each client's last noise only. What the server sees of a record is, exactly, one Gaussian
mechanism (Theorem 5.1), whoever drops out. With a trusted server that adds the noise itself, all noise but the last is
cancelled (Theorem F.1). This file states the family σ ↦ Spec; clients, printed formulas and bounds have their own.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.quantities import Relation
from epsilond.accountants.theorem import Condition
from epsilond.accountants.theorems.mechanisms.gaussian import sensitivity_factor
from epsilond.accountants.theorems.papers.reshef_levy.arithmetic import PAD, harmonic
from epsilond.accountants.theorems.papers.reshef_levy.conversions import epsilons, exact_mu, mus
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import (
    SCHEDULE,
    SILENT_LAST,
    TRUSTED,
    UNTRUSTED,
)
from epsilond.accountants.theorems.risk.reshef_levy.bounds import (
    best_step_size,
    certified_risk,
    trusted_step_size,
    trusted_terms,
)
from epsilond.accountants.theorems.risk.reshef_levy.trusted_server import ORDERS, TRUSTED_RUN, order_terms
from epsilond.accountants.theorems.risk.reshef_levy.untrusted_server import CERTIFIED, CONVERGENCE
from epsilond.calibrators.answer import (
    Calibration,
    Communication,
    Number,
    Risk,
    RiskBound,
    Served,
    TrueFigures,
    derivation_of,
)
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.envelope import declared_answers, guarantee_answer, numerical_answer, true_figures
from epsilond.calibrators.mu2_sgd.clients import (
    ClientReport,
    Noise,
    guarantee_at,
    releases_of,
    reports_of,
    residual_noise_std,
)
from epsilond.calibrators.mu2_sgd.printed import printed_readings
from epsilond.calibrators.mu2_sgd.problem import ASSUMED_DELTA, BITS_PER_COORDINATE, Mu2SgdProblem
from epsilond.calibrators.mu2_sgd.warnings import warnings_of
from epsilond.calibrators.problem import Target
from epsilond.calibrators.risk.baseline import Start, measured, start_of
from epsilond.calibrators.search import SLACKS, Certified, smallest_noise

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.rule import Effort

MOST_QUICK = 8
"""Groups whose curves are a closed form's work."""
ABSENT_IS_ZERO = Condition(
    "absent-record-sends-noise",
    "if a record is added, removed or zeroed, its client still reports in that round, with s = 0 and its noise",
)


@dataclass(frozen=True, kw_only=True)
class ScheduleAnswer:
    """The noise of every report, as a rule."""

    base_std: Annotated[float, Served("σ of a client's first report, or of every round of a trusted server")]
    rule: Annotated[
        Literal["base_std * sqrt(participations)", "base_std"],
        Served("σ of a report; participations counts the client's own, this one included"),
    ]
    added_by: Annotated[Literal["client", "server"], Served("who draws it, and takes back the one before")]
    most_participations: Annotated[int, Served("reports of a client for which the noise is enough; then it must stop")]


@dataclass(frozen=True, kw_only=True)
class ByConversion:
    """One figure three ways."""

    exact: Annotated[float, Served("by the Gaussian curve")]
    zcdp: Annotated[float, Served("by the best conversion of zero-concentrated privacy")]
    lemma: Annotated[float, Served("by Lemma 2.6, as printed")]


@dataclass(frozen=True, kw_only=True)
class ConversionAnswer:
    """ρ for the target and ε at the answer's ρ, three ways, and the noise that exactness saves."""

    gaussian_dp_mu: Annotated[ByConversion, Served("largest ρ that is promised (ε, δ)")]
    epsilon: Annotated[ByConversion, Served("ε at the target δ, of the answer's ρ")]
    noise_over_exact: Annotated[
        Number, Served("noise that Lemma 2.6 asks for, over the exact one", may_be_unbounded=True)
    ]
    zcdp_noise_over_exact: Annotated[
        Number, Served("noise that the best conversion of zCDP asks for, over the exact one", may_be_unbounded=True)
    ]


@dataclass(frozen=True, kw_only=True)
class Mu2SgdParameters:
    """What to run with. Weights are those of Algorithm 1: α_t = t, and x_{t+1} is 2/(t + 2) of the way to w_{t+1}."""

    noise_std: Annotated[float, Served("σ per coordinate of a client's first report; trusted: of each round's mean")]
    noise_multiplier: Annotated[
        float, Served("σ over the norm bound of one record's contribution to what it is added to")
    ]
    schedule: ScheduleAnswer
    gaussian_dp_mu: Annotated[float, Served("ρ of the most exposed record, rounded up")]
    clipping_norm: Annotated[float, Served("S = G + 2LD: a client scales s down to this norm before adding noise")]
    rounds: int
    step_size: Annotated[float | None, Served("η; absent where no risk bound applies")] = None
    residual_noise_std: Annotated[
        float, Served("σ per coordinate of the noise left in the server's mean after the last round, root mean square")
    ]
    conversion: ConversionAnswer
    client_reports: Annotated[tuple[ClientReport, ...], Served("what each kind of client is and is not protected from")]


@dataclass(frozen=True, kw_only=True)
class _Scale:
    """From the multiplier of the one Gaussian mechanism that a record is seen through, to σ of the run."""

    norm: float
    root: float

    @classmethod
    def of(cls, problem: Mu2SgdProblem) -> _Scale:
        """S and √H_K, or S/m and √(T − 1)."""
        norm = problem.federation.clipping_norm
        if problem.server == "untrusted":
            return cls(norm=norm, root=math.sqrt(harmonic(problem.cap)))
        return cls(norm=norm / problem.reporting, root=math.sqrt(releases_of(problem.rounds)))

    def std(self, noise: float) -> float:
        """σ, rounded up."""
        return noise * self.norm * self.root * (1.0 + 2.0 * PAD)


def certify(problem: Mu2SgdProblem) -> tuple[Certified, Target]:
    """The least noise of the equivalent single mechanism, and the target with its ε.

    Raises:
        Infeasible: no noise that is offered meets the target.
    """
    distance = sensitivity_factor(problem.relation)
    target = problem.target
    if target is None:
        mu = problem.gaussian_dp_mu or 0.0
        noise = distance / mu
        guarantee = guarantee_at(problem, mu)
        given = (problem.delta, problem.log10_delta)
        delta, log10_delta = (ASSUMED_DELTA, None) if given == (None, None) else given
        read = Target.of(0.0, delta, log10_delta)
        epsilon = guarantee.curve.bound_epsilon(read.log_delta).upper
        return Certified(noise, guarantee, 0.0), Target(epsilon, read.log_delta, read.given_delta)

    @functools.cache
    def family(noise: float, effort: Effort) -> Guarantee:
        return guarantee_at(problem, distance / noise, effort)

    exact = distance / exact_mu(epsilon=target.epsilon, log_delta=target.log_delta) * (1.0 + PAD)
    guarantee, less = family(exact, "default"), family(exact * (1.0 - SLACKS[0]), "default")
    meets = guarantee.curve.bound_log_delta(target.epsilon).upper <= target.log_delta
    if meets and less.curve.bound_log_delta(target.epsilon).lower > target.log_delta:
        return Certified(exact, guarantee, SLACKS[0]), target
    return smallest_noise(family, target, guess=exact), target


def solve(problem: Mu2SgdProblem) -> Calibration:
    """The smallest certified base of the noise schedule, its step size, and the printed theorems beside it.

    Guarantees: for every record of every client of at most `most_participations` reports, whoever else reports,
    `guarantee.epsilon.upper` ≤ ε at the target δ, and `guarantee.delta.upper` ≤ δ at the target ε.

    Raises:
        Infeasible: no noise that is offered meets the target.
    """
    certified, target = certify(problem)
    scale = _Scale.of(problem)
    noise = Noise(problem=problem, std=scale.std(certified.noise))
    mu = noise.mu(problem.cap)
    untrusted = problem.server == "untrusted"
    step_size, risk = risk_of(problem, noise.std, target)
    truth = functools.cache(functools.partial(_truth, problem, target))
    printed = printed_readings(problem, target, truth)
    reports = reports_of(problem, noise, target)
    theorem = UNTRUSTED if untrusted else TRUSTED
    derivation = theorem.because(
        certified.guarantee.derivation, clipping_norm=problem.federation.clipping_norm, gaussian_dp_mu=mu
    )
    conditions = theorem.conditions if untrusted else (*theorem.conditions, SILENT_LAST)
    apart = () if problem.relation == "replace-one" else (ABSENT_IS_ZERO,)
    bits = BITS_PER_COORDINATE * problem.dimension
    answer = Calibration(
        algorithm="mu2-sgd",
        parameters=Mu2SgdParameters(
            noise_std=noise.std,
            noise_multiplier=noise.std / scale.norm,
            schedule=ScheduleAnswer(
                base_std=noise.std,
                rule="base_std * sqrt(participations)" if untrusted else "base_std",
                added_by="client" if untrusted else "server",
                most_participations=problem.cap,
            ),
            gaussian_dp_mu=mu,
            clipping_norm=problem.federation.clipping_norm,
            rounds=problem.rounds,
            step_size=step_size,
            residual_noise_std=residual_noise_std(problem, noise),
            conversion=conversion_of(mu, target),
            client_reports=reports,
        ),
        guarantee=guarantee_answer(
            certified,
            target,
            definition="local" if untrusted else "central",
            sampling="full",
            sensitivity=sensitivity_factor(problem.relation) * scale.norm,
        ),
        numerical=numerical_answer(certified.guarantee, target),
        as_printed=printed,
        risk=risk,
        communication=Communication(
            bits_per_coordinate=float(BITS_PER_COORDINATE),
            bits_per_round_per_client=bits,
            total_bits=bits * problem.reporting * problem.rounds,
        ),
        derivation=derivation_of(derivation),
        declared_conditions=declared_answers((*conditions, *apart, *(CONVERGENCE if step_size else ()))),
        warnings=warnings_of(problem, certified, noise, printed, reports),
        engine_version=ENGINE_VERSION,
    )
    return measured(answer, start_of_run(problem))


def start_of_run(problem: Mu2SgdProblem) -> Start:
    """What the start gives: losses are Lipschitz and smooth, and their mean's gradient at the minimiser is bounded."""
    run = problem.federation
    return start_of(
        "population",
        distance=run.diameter,
        lipschitz=run.lipschitz,
        smoothness=run.smoothness,
        minimiser_gradient_norm=run.optimum_gradient_norm,
    )


def conversion_of(mu: float, target: Target) -> ConversionAnswer:
    """The three conversions at the answer's ρ and at the target."""
    wanted = mus(epsilon=target.epsilon, log_delta=target.log_delta)
    reached = epsilons(mu=mu, log_delta=target.log_delta)
    exact, zcdp, lemma = wanted.values()
    return ConversionAnswer(
        gaussian_dp_mu=ByConversion(exact=exact, zcdp=zcdp, lemma=lemma),
        epsilon=ByConversion(
            exact=reached["exact_epsilon"], zcdp=reached["zcdp_epsilon"], lemma=reached["lemma_epsilon"]
        ),
        noise_over_exact=exact / lemma if lemma > 0.0 else math.inf,
        zcdp_noise_over_exact=exact / zcdp if zcdp > 0.0 else math.inf,
    )


def risk_of(problem: Mu2SgdProblem, std: float, target: Target) -> tuple[float | None, Risk]:
    """The step size that the certified bound likes best and the bound, where participation is the theorems'; orders.

    The terms add up to the bound; `bound_by_…` are the three that it is the least of.
    """
    run = problem.federation
    orders = order_terms(
        server=problem.server,
        clients=problem.clients,
        reports=float(problem.reporting) * problem.rounds,
        dimension=problem.dimension,
        epsilon=target.epsilon if target.epsilon > 0.0 else math.inf,
    )
    lower = RiskBound(value=math.fsum(orders.values()), constant="hidden", theorem=ORDERS.id, terms=orders)
    if not problem.printed_participation:
        return None, Risk(lower=lower)
    if problem.server == "trusted":
        step_size = trusted_step_size(run, noise_std=std)
        terms = trusted_terms(run, noise_std=std, step_size=step_size)
        bound = RiskBound(value=math.fsum(terms.values()), constant="explicit", theorem=TRUSTED_RUN.id, terms=terms)
        return step_size, Risk(upper=bound, lower=lower)
    step_size = best_step_size(run, noise_variance=std * std)
    found = certified_risk(run, step_size=step_size, noise_variance=std * std)
    terms = {
        "optimisation": found.optimisation,
        "statistical": found.statistical,
        "noise": found.noise,
        "bound_by_norm": found.by_norm,
        "bound_by_young": found.by_young,
        "bound_by_stability": found.by_stability,
    }
    upper = RiskBound(value=found.total, constant="explicit", theorem=CERTIFIED.id, terms=terms)
    return step_size, Risk(upper=upper, lower=lower)


def _truth(problem: Mu2SgdProblem, target: Target, mu: float) -> TrueFigures:
    """For a record under replace-one: what the theorems speak of."""
    relation: Relation = "replace-one"
    return true_figures(guarantee_at(problem, mu, relation=relation), target)


def cost(problem: Mu2SgdProblem) -> CostClass:
    """What a record is seen through is exactly Gaussian, a closed form; many groups and the step size take longer."""
    stepped = problem.server == "untrusted" and problem.printed_participation
    return "search" if stepped or len(problem.taking_part.groups or ()) > MOST_QUICK else "closed-form"


CALIBRATOR = Calibrator(
    name="mu2-sgd",
    title="Federated learning with noise cancellation and partial participation",
    summary=(
        "Clients take back the noise they sent before, so that only their last noise stays in the sum; the noise "
        "schedule for any participation, with an untrusted or a trusted server (Reshef and Levy, Theorems 5.1, 5.2, "
        "F.1 and F.2)."
    ),
    problem=Mu2SgdProblem,
    parameters=Mu2SgdParameters,
    by_hand=solve,
    cost=cost,
    theorems=("reshef.5.1", "reshef.5.2", "reshef.f.1", "reshef.f.2", "reshef.lemma-2.6", SCHEDULE.id, CERTIFIED.id),
    example={
        "epsilon": 8.0,
        "delta": 1e-5,
        "clients": 100,
        "participants": 50,
        "rounds": 1200,
        "dimension": 7850,
        "lipschitz": 40.0,
        "smoothness": 392.5,
        "diameter": 0.1,
    },
)

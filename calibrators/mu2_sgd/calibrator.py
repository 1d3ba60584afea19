"""mu2-sgd: federated learning with noise cancellation, DP-μ²-FL of Reshef and Levy.

A client that reports for the N-th time takes back the noise it sent before and adds one of variance base² N, so that
the server's sum holds each client's last noise only. What the server sees of a record is, exactly, one Gaussian
mechanism (Theorem 5.1), whoever drops out. With a trusted server that adds the noise itself, all noise but the last is
cancelled (Theorem F.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from epsilond.accountants.specs import Gaussian
from epsilond.accountants.theorem import Condition, Status
from epsilond.accountants.theorems.papers.reshef_levy.conversions import epsilons, mus
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import (
    SCHEDULE,
    SILENT_LAST,
    TRUSTED,
    UNTRUSTED,
)
from epsilond.accountants.theorems.risk.reshef_levy.certified_bound import (
    CERTIFIED,
    CONVERGENCE,
    best_step_size,
    certified_risk,
)
from epsilond.accountants.theorems.risk.reshef_levy.trusted_server import (
    ORDERS,
    TRUSTED_RUN,
    order_terms,
    trusted_step_size,
    trusted_terms,
)
from epsilond.calibrators.answer import Caution, Communication, Number, Risk, RiskBound, Served
from epsilond.calibrators.calibration import Calibrator, CostClass, Solution
from epsilond.calibrators.cautions import printed_cautions
from epsilond.calibrators.mu2_sgd.family import (
    ClientReport,
    Noise,
    certify,
    contribution_norm,
    noise_std_of,
    reports_of,
    residual_noise_std,
)
from epsilond.calibrators.mu2_sgd.plan import PLANS
from epsilond.calibrators.mu2_sgd.printed import printed_readings
from epsilond.calibrators.mu2_sgd.problem import ASSUMED_DELTA, BITS_PER_COORDINATE, SPREADS, Mu2SgdProblem
from epsilond.calibrators.risk.baseline import Start, start_of
from epsilond.calibrators.search import LEAST

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Step
    from epsilond.calibrators.problem import Target

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

    @classmethod
    def of(cls, solution: Mu2SgdSolution) -> Mu2SgdParameters:
        """The certified noise as a schedule, and what it comes to."""
        problem, std = solution.problem, solution.noise.std
        untrusted = problem.server == "untrusted"
        return cls(
            noise_std=std,
            noise_multiplier=std / solution.norm,
            schedule=ScheduleAnswer(
                base_std=std,
                rule="base_std * sqrt(participations)" if untrusted else "base_std",
                added_by="client" if untrusted else "server",
                most_participations=problem.cap,
            ),
            gaussian_dp_mu=solution.mu,
            clipping_norm=problem.federation.clipping_norm,
            rounds=problem.rounds,
            step_size=solution.utility.step_size,
            residual_noise_std=residual_noise_std(problem, std),
            conversion=conversion_of(solution.mu, solution.target),
            client_reports=solution.reports,
        )


@dataclass(frozen=True, kw_only=True)
class Mu2SgdSolution(Solution):
    """With the run's noise, the ρ of the most exposed record and what each kind of client has."""

    noise: Noise
    mu: float
    reports: tuple[ClientReport, ...]

    @classmethod
    def of(cls, problem: Mu2SgdProblem) -> Mu2SgdSolution:
        """The smallest certified base of the noise schedule.

        It holds for every record of every client of at most `most_participations` reports, whoever else reports.

        Raises:
            Infeasible: no noise that is offered meets the target.
        """
        certified, target = certify(problem)
        noise = Noise(problem=problem, std=noise_std_of(problem, certified.noise))
        return cls(
            problem=problem,
            target=target,
            certified=certified,
            norm=contribution_norm(problem),
            noise=noise,
            mu=noise.mu(problem.cap),
            reports=reports_of(problem, noise, target),
        )


def conversion_of(mu: float, target: Target) -> ConversionAnswer:
    """The three conversions at the answer's ρ and at the target."""
    exact, zcdp, lemma = mus(epsilon=target.epsilon, log_delta=target.log_delta).values()
    reached = epsilons(mu=mu, log_delta=target.log_delta)
    return ConversionAnswer(
        gaussian_dp_mu=ByConversion(exact=exact, zcdp=zcdp, lemma=lemma),
        epsilon=ByConversion(**{name: reached[f"{name}_epsilon"] for name in ("exact", "zcdp", "lemma")}),
        noise_over_exact=exact / lemma if lemma > 0.0 else math.inf,
        zcdp_noise_over_exact=exact / zcdp if zcdp > 0.0 else math.inf,
    )


@dataclass(frozen=True, kw_only=True)
class Training:
    """The step size that the certified bound likes best, with the bound; the order alone where no theorem has one."""

    step_size: float | None = None
    risk: Risk

    @property
    def declared(self) -> tuple[Condition, ...]:
        """What the bound demands."""
        return CONVERGENCE if self.step_size else ()


def training_of(solution: Mu2SgdSolution) -> Training:
    """The bound where participation is the theorems'; and orders.

    The terms add up to the bound; `bound_by_…` are the three that it is the least of.
    """
    problem, std, epsilon = solution.problem, solution.noise.std, solution.target.epsilon
    run = problem.federation
    orders = order_terms(
        server=problem.server,
        clients=problem.clients,
        reports=float(problem.reporting) * problem.rounds,
        dimension=problem.dimension,
        epsilon=epsilon if epsilon > 0.0 else math.inf,
    )
    lower = RiskBound(value=math.fsum(orders.values()), constant="hidden", theorem=ORDERS.id, terms=orders)
    if not problem.printed_participation:
        return Training(risk=Risk(lower=lower))
    if problem.server == "trusted":
        step_size = trusted_step_size(run, noise_std=std)
        terms = trusted_terms(run, noise_std=std, step_size=step_size)
        upper = RiskBound(value=math.fsum(terms.values()), constant="explicit", theorem=TRUSTED_RUN.id, terms=terms)
    else:
        step_size = best_step_size(run, noise_variance=std * std)
        found = certified_risk(run, step_size=step_size, noise_variance=std * std)
        terms = {name: getattr(found, name) for name in ("optimisation", "statistical", "noise")}
        terms |= {f"bound_{name}": getattr(found, name) for name in ("by_norm", "by_young", "by_stability")}
        upper = RiskBound(value=found.total, constant="explicit", theorem=CERTIFIED.id, terms=terms)
    return Training(step_size=step_size, risk=Risk(upper=upper, lower=lower))


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


def derivation(solution: Mu2SgdSolution) -> tuple[Step]:
    """That a record is seen through one Gaussian mechanism, on what that one guarantees."""
    problem = solution.problem
    theorem = UNTRUSTED if problem.server == "untrusted" else TRUSTED
    premise = solution.certified.guarantee.derivation
    norm = problem.federation.clipping_norm
    return (theorem.because(premise, clipping_norm=norm, gaussian_dp_mu=solution.mu),)


def declared(solution: Mu2SgdSolution) -> tuple[Condition, ...]:
    """What the guarantee demands, then what the bound does."""
    problem = solution.problem
    conditions = UNTRUSTED.conditions if problem.server == "untrusted" else (*TRUSTED.conditions, SILENT_LAST)
    apart = () if problem.relation == "replace-one" else (ABSENT_IS_ZERO,)
    return (*conditions, *apart, *solution.utility.declared)


def communication(solution: Mu2SgdSolution) -> Communication:
    """Every report in 32-bit numbers."""
    problem = solution.problem
    bits = BITS_PER_COORDINATE * problem.dimension
    return Communication(
        bits_per_coordinate=float(BITS_PER_COORDINATE),
        bits_per_round_per_client=bits,
        total_bits=bits * problem.reporting * problem.rounds,
    )


def cautions(solution: Mu2SgdSolution) -> Iterator[Caution]:
    """Every caution that applies, in a fixed order."""
    yield from _of_the_guarantee(solution)
    yield from _of_participation(solution)
    yield from printed_cautions(solution.printed, (solution.noise.std,))
    for reading in solution.printed:
        if reading.status is Status.UNPROVED:
            yield Caution(
                code="stated-bound-unproved",
                message=f"at these parameters the risk stated in {reading.theorem} ({reading.reading}) is not proved "
                "(erratum E-R1); certified_excess_risk beside it is",
            )
    assumed = [name for name in SPREADS if getattr(solution.problem, name) is None]
    if assumed and solution.problem.printed_participation:
        taken = ", ".join(f"{name} = {SPREADS[name]}" for name in assumed)
        yield Caution(code="assumed-spreads", message=f"taken at their largest: {taken}")


def _of_the_guarantee(solution: Mu2SgdSolution) -> Iterator[Caution]:
    problem = solution.problem
    if solution.certified.noise == LEAST:
        yield Caution(
            code="least-noise-offered", message=f"the target is met at the least noise offered, {LEAST:g} contributions"
        )
    if problem.gaussian_dp_mu is not None:
        yield Caution(
            code="gaussian-dp-mu-is-not-zcdp-rho",
            message="gaussian_dp_mu is √(2ρ) of ρ-zCDP; the larger it is, the less is protected",
        )
        if problem.delta is None and problem.log10_delta is None:
            yield Caution(code="assumed-delta", message=f"ε is read off at δ = {ASSUMED_DELTA:g}, which was not asked")
    if problem.relation != "replace-one":
        yield Caution(
            code="printed-truth-is-for-replace-one",
            message="the printed theorem and the true figures beside it are for replace-one, not for this relation",
        )
    if not problem.sees_all:
        yield Caution(
            code="observer-sees-less",
            message="the figures are those against whoever sees all that is released; this observer sees a function "
            "of it, so they hold, and may be pessimistic",
        )


def _of_participation(solution: Mu2SgdSolution) -> Iterator[Caution]:
    problem = solution.problem
    if problem.cap < problem.rounds:
        yield Caution(
            code="participations-are-capped",
            message=f"the noise is enough for {problem.cap} reports of a client: it must not report more often",
        )
    average = problem.rounds * (problem.reporting / problem.clients)
    if problem.server == "untrusted" and average <= 2.0 * (1.0 + math.log(problem.rounds)):
        yield Caution(
            code="cancellation-does-not-pay",
            message=f"a client reports {average:.3g} times on average, not above 2(1 + ln T): fresh noise per report, "
            "never cancelled, is as private, its bound no worse (epsilond.independent-noise-excess-risk)",
        )
    gone = [one for one in solution.reports if (one.uncancelled_rounds or 0) > 0]
    if gone:
        clients, longest = sum(one.clients for one in gone), max(one.uncancelled_rounds or 0 for one in gone)
        yield Caution(
            code="noise-is-never-cancelled",
            message=f"{clients} clients report no more before the last round, up to {longest} rounds: their last noise "
            "stays in the sum. Their records are as protected as before; the model's accuracy is not",
        )
    if not problem.printed_participation:
        yield Caution(
            code="no-risk-for-this-participation",
            message="the risk bounds are proved for m of M clients drawn uniformly in every round, without a cap; the "
            "noise is certified",
        )


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
    cost=cost,
    find=Mu2SgdSolution.of,
    definition=lambda problem: "local" if problem.server == "untrusted" else "central",
    sampling=lambda _: "full",
    released=lambda solution: (Gaussian(noise_multiplier=solution.certified.noise),),
    utility=training_of,
    printed=printed_readings,
    communication=communication,
    derivation=derivation,
    declared=declared,
    cautions=cautions,
    start=start_of_run,
    theorems=("reshef.5.1", "reshef.5.2", "reshef.f.1", "reshef.f.2", "reshef.lemma-2.6", SCHEDULE.id, CERTIFIED.id),
    plans=PLANS,
    plan_place=0,
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

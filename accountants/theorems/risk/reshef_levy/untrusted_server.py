"""Theorem 5.2 of Reshef and Levy as printed, and what is proved in its place: the untrusted server."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import (
    ANY_SCALE,
    STEP_SIZE,
    Clients,
    Diameter,
    Dimension,
    Lipschitz,
    Participants,
    Quantity,
    Rounds,
    StepSize,
    request,
)
from epsilond.accountants.scales import check_scales
from epsilond.accountants.theorem import Condition, Erratum, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.arithmetic import in_doubles
from epsilond.accountants.theorems.papers.reshef_levy.arithmetic import (
    CLIENT_SPREAD,
    GRADIENT_STD,
    OPTIMUM_GRADIENT_NORM,
    SMOOTHNESS_HETEROGENEITY,
    SMOOTHNESS_STD,
    Federation,
    GaussianDpMu,
    SmoothnessOrLinear,
)
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import (
    MALICIOUS,
    or_most,
    printed_base_std,
)
from epsilond.accountants.theorems.risk.reshef_levy.bounds import (
    certified_risk,
    printed_risk_at,
    printed_step_size,
    printed_terms,
    stated_criterion,
)
from epsilond.accountants.theorems.risk.reshef_levy.variance import FRESH_RECORDS, UNIFORM

BASE_STD = Quantity(
    symbol="√c", gt=0, unit="loss/length", description="σ of a client's first message; that of its N-th is √N times it"
)
_TESTS = "tests/theorems/risk/reshef_levy/test_risk.py"


@request
class FederationInputs:
    """M clients of which m report in each round. Absent spreads and G* are at their largest."""

    clients: Clients
    participants: Participants
    rounds: Rounds
    dimension: Dimension
    lipschitz: Lipschitz
    smoothness: SmoothnessOrLinear
    diameter: Diameter
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    heterogeneity: Annotated[float | None, CLIENT_SPREAD] = None
    smoothness_std: Annotated[float | None, SMOOTHNESS_STD] = None
    smoothness_heterogeneity: Annotated[float | None, SMOOTHNESS_HETEROGENEITY] = None
    optimum_gradient_norm: Annotated[float | None, OPTIMUM_GRADIENT_NORM] = None

    def check(self) -> None:
        """m ≤ M, and scales whose squares are doubles."""
        check_scales(
            lipschitz=self.lipschitz,
            smoothness=self.smoothness,
            diameter=self.diameter,
            gradient_std=self.gradient_std,
            heterogeneity=self.heterogeneity,
            smoothness_std=self.smoothness_std,
            smoothness_heterogeneity=self.smoothness_heterogeneity,
            optimum_gradient_norm=self.optimum_gradient_norm,
        )
        if self.participants > self.clients:
            raise InvalidInput.at("/participants", "cannot exceed clients", allowed=f"≤ {self.clients}")

    @property
    def federation(self) -> Federation:
        """With what is absent at its largest."""
        return Federation(
            clients=self.clients,
            participants=self.participants,
            rounds=self.rounds,
            dimension=self.dimension,
            lipschitz=self.lipschitz,
            smoothness=self.smoothness,
            diameter=self.diameter,
            gradient_std=or_most(self.gradient_std, self.lipschitz),
            heterogeneity=or_most(self.heterogeneity, self.lipschitz),
            smoothness_std=or_most(self.smoothness_std, self.smoothness),
            smoothness_heterogeneity=or_most(self.smoothness_heterogeneity, self.smoothness),
            optimum_gradient_norm=or_most(self.optimum_gradient_norm, self.lipschitz),
        )


@request
class StatedInputs(FederationInputs):
    """ρ, and a step size; absent, it is the printed one."""

    gaussian_dp_mu: GaussianDpMu
    step_size: Annotated[float | None, STEP_SIZE, ANY_SCALE] = None

    @property
    def step(self) -> float:
        """η."""
        return self.step_size or printed_step_size(self.federation, mu=self.gaussian_dp_mu)

    @property
    def criterion(self) -> float:
        """What decides whether the statement is proved."""
        return stated_criterion(self.federation, step_size=self.step)


@request
class CertifiedInputs(FederationInputs):
    """The noise of a run and its step size."""

    base_std: Annotated[float, BASE_STD]
    step_size: Annotated[StepSize, ANY_SCALE]


@in_doubles
def stated(inputs: StatedInputs) -> Outputs:
    """The printed schedule, step and bound; at a given step the display before it is picked.

    `certified_excess_risk` is the proved bound at the same noise and step, and `criterion` is at most 2 where the
    stated one is proved too.
    """
    run, mu, step = inputs.federation, inputs.gaussian_dp_mu, inputs.step
    terms = printed_terms(run, mu=mu)
    base = printed_base_std(clipping_norm=run.clipping_norm, mu=mu, rounds=run.rounds)
    proved = certified_risk(run, step_size=step, noise_variance=base * base, thorough=True)
    return {
        "base_std": base,
        "step_size": step,
        "excess_risk": math.fsum(terms.values()),
        **{f"{name}_term": value for name, value in terms.items()},
        "excess_risk_at_step_size": printed_risk_at(run, mu=mu, step_size=step),
        "certified_excess_risk": proved.total,
        "criterion": inputs.criterion,
    }


@in_doubles
def certified(inputs: CertifiedInputs) -> Outputs:
    """The proved bound with its parts, and the three bounds it is the least of."""
    run = inputs.federation
    found = certified_risk(run, step_size=inputs.step_size, noise_variance=inputs.base_std**2, thorough=True)
    return {
        "excess_risk": found.total,
        "optimisation_term": found.optimisation,
        "statistical_term": found.statistical,
        "noise_term": found.noise,
        "bound_by_norm": found.by_norm,
        "bound_by_young": found.by_young,
        "bound_by_stability": found.by_stability,
    }


ROUNDED = 1.0 + 1e-12
"""Where a condition holds with equality, its left side is rounded."""


def small_step(left: float) -> Sides:
    """left ≤ 1, up to rounding: the printed step size attains it."""
    return Sides(left <= ROUNDED, left, 1.0)


# Conditions and errata ------------------------------------------------------------------------------------------------
SMOOTH_EVERYWHERE = Condition(
    "smooth-on-a-neighbourhood",
    "every record's loss is convex, G-Lipschitz and L-smooth on all of R^d, or on everything within D of the domain",
)
DOMAIN = Condition("domain", "the domain is convex, closed, of diameter at most D, and holds x_1")
CONVERGENCE = (SMOOTH_EVERYWHERE, DOMAIN, UNIFORM, FRESH_RECORDS)
ROUNDS_COVER = Condition(
    "rounds-cover-clients",
    "M/m ≤ T, used silently by the proof",
    lambda inputs: Sides.at_most(inputs.clients / inputs.participants, inputs.rounds),
)
PROVED_HERE = Condition(
    "stated-bound-is-proved",
    "min over l of exp(2ηL Σ_{a<l} a²) + (M/m)(1 − m/M)^l is at most 2 (so if M ≤ 2m): then the repaired proof covers "
    "the stated bound; otherwise nothing is known",
    lambda inputs: Sides(inputs.criterion <= 2.0 * ROUNDED, inputs.criterion, 2.0),
)
SMALL_STEP = Condition(
    "small-step",
    "8ηLT ≤ 1",
    lambda inputs: small_step(8.0 * inputs.step * inputs.smoothness * inputs.rounds),
)
POSITIVE = Condition(
    "stable-step",
    "2ηLT < 1, else the bound is unbounded",
    lambda inputs: Sides(
        2.0 * inputs.step_size * inputs.smoothness * inputs.rounds < 1.0,
        2.0 * inputs.step_size * inputs.smoothness * inputs.rounds,
        1.0,
    ),
)

DECOUPLED = Erratum(
    "E-R1",
    printed="E⟨Y_{τ,i}, x* − w_{τ+1}⟩ = Σ_s p(1 − p)^{τ−s} E⟨y_{s,i}, x* − w_{τ+1}⟩",
    truth=(
        "w_{τ+1} depends on who took part: the identity is off by (2 − p)/p. The theorem is proved where M ≤ 2m or the "
        "criterion is at most 2, and unproved elsewhere; the least of three other bounds always holds"
    ),
    test=f"{_TESTS}::test_the_printed_identity_is_off_by_two_over_p",
)
NEIGHBOURHOOD = Erratum(
    "E-R2",
    printed="Lemma A.6 extends a function that is convex and L-smooth on the domain to all of R^d as such",
    truth="that is not always possible for d ≥ 2, and the lemma then fails, by any factor",
    test=f"{_TESTS}::test_smooth_on_the_domain_alone_is_not_enough",
)
SILENT = Erratum(
    "E-R3",
    printed="no condition on M/m",
    truth="the proof uses M/m ≤ T; without it the last term of the display before η has (1 + M/(mT))/2",
    test=f"{_TESTS}::test_each_condition_of_the_risk_can_fail",
)
NORM = Erratum(
    "E-R4",
    printed="G* := ∇f(x*)",
    truth="‖∇f(x*)‖, at most G, 0 for an interior minimiser",
    test=f"{_TESTS}::test_an_interior_minimiser_lowers_the_first_term_alone",
)

LEMMA_A_6 = Theorem(
    id="reshef.lemma-a.6",
    title="Gradients near a minimiser over the domain",
    statement="‖∇f(x) − ∇f(x*)‖² ≤ 2L(f(x) − f(x*)) for f convex and L-smooth on the domain only, as printed",
    source=Source("reshef2025", "Lemma A.6"),
    status=Status.REFUTED,
    conditions=(SMOOTH_EVERYWHERE,),
    errata=(NEIGHBOURHOOD,),
)
STATED = Theorem(
    id="reshef.5.2",
    title="Federated learning with noise cancellation, untrusted server",
    statement=(
        "With σ²_{t,i} = 4S²(1 + ln T)N_{t,i}/ρ² and η = min{ρDm/(2ST√(2Md(1 + ln T))), 1/(8LT)}: E f(x_T) − f* ≤ "
        "4D((G* + 4LD)/T + √(σ̃² + ξ̃²)/√(mT) + 2S√(2Md(1 + ln T))/(ρmT))"
    ),
    source=Source("reshef2025", "Theorem 5.2"),
    status=Status.UNPROVED,
    conditions=(PROVED_HERE, ROUNDS_COVER, SMALL_STEP, *CONVERGENCE),
    errata=(DECOUPLED, NEIGHBOURHOOD, SILENT, NORM, MALICIOUS),
    inputs=StatedInputs,
    formula=stated,
    examples=(
        {
            "clients": 100,
            "participants": 50,
            "rounds": 1200,
            "dimension": 7850,
            "lipschitz": 39.62322551231794,
            "smoothness": 392.5,
            "diameter": 0.1,
            "optimum_gradient_norm": 0.0,
            "gaussian_dp_mu": 8.0,
        },
    ),
)
CERTIFIED = Theorem(
    id="epsilond.noise-cancellation-excess-risk",
    title="Excess risk with cancelled noise, proved",
    statement=(
        "With noise of variance c N after a client's N reports and any step size: E f(x_T) − f* is at most the least "
        "of three bounds, by the noise's norm, by Young's inequality between reports, and by stability"
    ),
    source=Source("epsilond", "repaired proof of Theorem 5.2 of Reshef and Levy, stated in reshef_bounds"),
    status=Status.PROVED,
    conditions=(POSITIVE, *CONVERGENCE),
    inputs=CertifiedInputs,
    formula=certified,
    examples=(
        {
            "clients": 20,
            "participants": 4,
            "rounds": 2000,
            "dimension": 10,
            "lipschitz": 1.0,
            "smoothness": 0.25,
            "diameter": 2.0,
            "base_std": 2.9,
            "step_size": 1e-4,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (STATED, CERTIFIED, LEMMA_A_6)

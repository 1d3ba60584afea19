"""Theorem 5.2 of Reshef and Levy: excess risk with an untrusted server as printed, and the cases where it is proved."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import in_doubles
from epsilond.accountants.quantities import ANY_SCALE, STEP_SIZE, request
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.reshef_levy.conversions import GaussianDpMu
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import printed_base_std
from epsilond.accountants.theorems.papers.reshef_levy.weighted_differences import MALICIOUS
from epsilond.accountants.theorems.risk.reshef_levy.certified_bound import (
    CONVERGENCE,
    SMOOTH_EVERYWHERE,
    CancellationRun,
    certified_risk,
    stated_criterion,
)
from epsilond.accountants.verdict import Verdict

_TESTS = "tests/theorems/risk/reshef_levy/test_risk.py"


# As printed -----------------------------------------------------------------------------------------------------------
def printed_step_size(run: CancellationRun, *, mu: float) -> float:
    """Return the step size of Theorem 5.2, min{ρDm/(2ST√(2Md(1 + ln T))), 1/(8LT)}.

    Args:
        run: m of M clients in each of T rounds, and the constants of the losses: diameter D, dimension d, smoothness L
            and bound S on the norm of a message.
        mu: Gaussian DP parameter ρ.
    """
    noise = 2.0 * run.clients * run.dimension * (1.0 + math.log(run.rounds))
    first = mu * run.diameter * run.participants / (2.0 * run.clipping_norm * run.rounds * math.sqrt(noise))
    return min(first, 1.0 / (8.0 * run.smoothness * run.rounds)) if run.smoothness > 0.0 else first


def printed_terms(run: CancellationRun, *, mu: float) -> dict[str, float]:
    """Return the three terms of the bound on the excess risk that Theorem 5.2 prints.

    Their sum is 4D((G* + 4LD)/T + √(σ̃² + ξ̃²)/√(mT) + 2S√(2Md(1 + ln T))/(ρmT)). G* is the gradient norm at the
    minimiser, and σ̃² + ξ̃² the variance of the clients' messages. The other symbols are those of `printed_step_size`.

    Args:
        run: the clients, rounds and constants of the losses.
        mu: Gaussian DP parameter ρ.
    """
    d, reports = run.diameter, float(run.participants) * run.rounds
    noise = 2.0 * run.clients * run.dimension * (1.0 + math.log(run.rounds))
    return {
        "optimisation": 4.0 * d * (run.gradient_at_optimum + 4.0 * run.smoothness * d) / run.rounds,
        "statistical": 4.0 * d * math.sqrt(run.printed_variance / reports),
        "privacy": 8.0 * d * run.clipping_norm * math.sqrt(noise) / (mu * reports),
    }


def printed_risk_at(run: CancellationRun, *, mu: float, step_size: float) -> float:
    """Return the bound in the printed proof of Theorem 5.2 as a function of the step size η ≤ 1/(8LT).

    The proof also uses M/m ≤ T without stating it. Here the bound does not need this: its last factor is 1 + M/(mT).

    Args:
        run: the clients, rounds and constants of the losses.
        mu: Gaussian DP parameter ρ.
        step_size: step size η.
    """
    d, rounds = run.diameter, float(run.rounds)
    scale = run.clients * run.dimension * (1.0 + math.log(rounds)) / (run.participants * run.participants)
    noise = 8.0 * run.clipping_norm**2 * step_size * scale / (mu * mu)
    return math.fsum(
        (
            2.0 * d * d / (step_size * rounds * rounds),
            4.0 * d * run.gradient_at_optimum / rounds,
            4.0 * d * math.sqrt(run.printed_variance / (run.participants * rounds)),
            noise * (1.0 + run.clients / (run.participants * rounds)),
        )
    )


@request
class StatedInputs(CancellationRun):
    """A run with its ρ and a step size; if absent, the printed one."""

    gaussian_dp_mu: GaussianDpMu
    step_size: Annotated[float | None, STEP_SIZE, ANY_SCALE] = None

    @property
    def step(self) -> float:
        """The step size η; if absent, the printed one."""
        return self.step_size or printed_step_size(self, mu=self.gaussian_dp_mu)

    @property
    def criterion(self) -> float:
        """The criterion of `stated_criterion`; the printed bound is proved where it is at most 2."""
        return stated_criterion(self, step_size=self.step)


@in_doubles
def stated_bound(inputs: StatedInputs) -> Outputs:
    """Return the noise, step size and bound of Theorem 5.2 as printed, and bounds that are proved.

    Returns:
        `excess_risk` is the printed bound, which is proved if `criterion` is at most 2. `excess_risk_at_step_size` is
        that of the printed proof at the requested step size. `certified_excess_risk` is our proved bound at the same
        noise and step size.
    """
    mu, step = inputs.gaussian_dp_mu, inputs.step
    terms = printed_terms(inputs, mu=mu)
    base = printed_base_std(clipping_norm=inputs.clipping_norm, mu=mu, rounds=inputs.rounds)
    proved = certified_risk(inputs, step_size=step, noise_variance=base * base, thorough=True)
    return {
        "base_std": base,
        "step_size": step,
        "excess_risk": math.fsum(terms.values()),
        **{f"{name}_term": value for name, value in terms.items()},
        "excess_risk_at_step_size": printed_risk_at(inputs, mu=mu, step_size=step),
        "certified_excess_risk": proved.total,
        "criterion": inputs.criterion,
    }


ROUNDED = 1.0 + 1e-12
"""Largest left side that counts as 1; the printed step size gives equality, and its left side is rounded."""


def small_step(left: float) -> Sides:
    """Check that left ≤ 1, up to rounding, as the printed step size gives equality."""
    return Sides(Verdict.of(left <= ROUNDED), left, 1.0)


# Conditions and errata ------------------------------------------------------------------------------------------------
ROUNDS_COVER = Condition(
    "rounds-cover-clients",
    "M/m ≤ T, used silently by the proof",
    lambda inputs: Sides.at_most(inputs.clients / inputs.participants, inputs.rounds),
)
PROVED_HERE = Condition(
    "stated-bound-is-proved",
    (
        "min over l of exp(2ηL Σ_{a<l} a²) + (M/m)(1 − m/M)^l is at most 2 (so if M ≤ 2m). The repaired proof then "
        "covers the stated bound. Otherwise nothing is known"
    ),
    lambda inputs: Sides(Verdict.of(inputs.criterion <= 2.0 * ROUNDED), inputs.criterion, 2.0),
)
SMALL_STEP = Condition(
    "small-step",
    "8ηLT ≤ 1",
    lambda inputs: small_step(8.0 * inputs.step * inputs.smoothness * inputs.rounds),
)

DECOUPLED = Erratum(
    "E-R1",
    grade=Grade.PROVED_WRONG,
    printed="E⟨Y_{τ,i}, x* − w_{τ+1}⟩ = Σ_s p(1 − p)^{τ−s} E⟨y_{s,i}, x* − w_{τ+1}⟩",
    truth=(
        "w_{τ+1} depends on who took part: the identity is off by (2 − p)/p. The theorem is proved where M ≤ "
        "2m or the criterion is at most 2, and unproved elsewhere. The least of three other bounds always holds"
    ),
    test=f"{_TESTS}::test_the_printed_identity_is_off_by_two_over_p",
)
NEIGHBOURHOOD = Erratum(
    "E-R2",
    grade=Grade.PROVED_WRONG,
    printed="Lemma A.6 extends a function that is convex and L-smooth on the domain to all of R^d as such",
    truth="that is not always possible for d ≥ 2, and the lemma then fails, by any factor",
    test=f"{_TESTS}::test_smooth_on_the_domain_alone_is_not_enough",
)
SILENT = Erratum(
    "E-R3",
    grade=Grade.PROVED_WRONG,
    printed="no condition on M/m",
    truth="The proof uses M/m ≤ T. Without it the last term of the display before η has (1 + M/(mT))/2",
    test=f"{_TESTS}::test_each_condition_of_the_risk_can_fail",
)
NORM = Erratum(
    "E-R4",
    grade=Grade.MISPRINT,
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
    formula=stated_bound,
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
THEOREMS: tuple[Theorem, ...] = (STATED, LEMMA_A_6)

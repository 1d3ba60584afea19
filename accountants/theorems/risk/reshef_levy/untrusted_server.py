"""Theorem 5.2 of Reshef and Levy: excess risk with an untrusted server as printed, and the cases where it is proved."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import in_doubles
from epsilond.accountants.quantities import ANY_SCALE, STEP_SIZE, request
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.reshef_levy.conversions import GaussianDpMu
from epsilond.accountants.theorems.papers.reshef_levy.errata import MALICIOUS
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import printed_base_std
from epsilond.accountants.theorems.risk.reshef_levy.cancellation_run import CancellationRun
from epsilond.accountants.theorems.risk.reshef_levy.certified_bound import (
    CONVERGENCE,
    SMOOTH_EVERYWHERE,
    certified_risk,
)
from epsilond.accountants.theorems.risk.reshef_levy.errata import DECOUPLED, NEIGHBOURHOOD, NORM, SILENT
from epsilond.accountants.theorems.risk.reshef_levy.stability_bound import stated_criterion
from epsilond.accountants.verdict import Verdict


# As printed -----------------------------------------------------------------------------------------------------------
def printed_step_size(run: CancellationRun, *, mu: float) -> float:
    """Return the step size min{ρDm/(2ST√(2Md(1 + ln T))), 1/(8LT)} of Theorem 5.2 of Reshef and Levy.

    The first number is a limit due to the privacy noise, and the second one a limit due to the smoothness.

    Args:
        run: m of M clients in each of T rounds, and the constants of the losses: diameter D, dimension d, smoothness L
            and bound S on the norm of a message.
        mu: Gaussian differential privacy parameter ρ > 0.

    Returns:
        The step size. If L = 0, it is the first number.
    """
    noise_root = math.sqrt(2.0 * run.clients * run.dimension * (1.0 + math.log(run.rounds)))
    step_for_noise = mu * run.diameter * run.participants / (2.0 * run.clipping_norm * run.rounds * noise_root)
    if run.smoothness == 0.0:
        return step_for_noise
    step_for_smoothness = 1.0 / (8.0 * run.smoothness * run.rounds)
    return min(step_for_noise, step_for_smoothness)


def printed_terms(run: CancellationRun, *, mu: float) -> dict[str, float]:
    """Return the three terms of the bound on the excess risk in Theorem 5.2 of Reshef and Levy.

    Their sum is:

        4D((G* + 4LD)/T + √(σ̃² + ξ̃²)/√(mT) + 2S√(2Md(1 + ln T))/(ρmT)).

    Args:
        run: m of M clients in each of T rounds, diameter D, dimension d, and bound S on the norm of a message. The
            losses have smoothness L and gradient norm G* at the minimiser; σ̃² + ξ̃² bounds a message's variance.
        mu: Gaussian DP parameter ρ.

    Returns:
        `optimisation`, `statistical` and `privacy`, in units of the loss.
    """
    diameter = run.diameter
    reports = float(run.participants) * run.rounds  # mT

    gradient_scale = run.gradient_at_optimum + 4.0 * run.smoothness * diameter  # G* + 4LD
    optimisation = 4.0 * diameter * gradient_scale / run.rounds
    statistical = 4.0 * diameter * math.sqrt(run.printed_variance / reports)
    squared_noise = 2.0 * run.clients * run.dimension * (1.0 + math.log(run.rounds))
    privacy = 8.0 * diameter * run.clipping_norm * math.sqrt(squared_noise) / (mu * reports)
    return {"optimisation": optimisation, "statistical": statistical, "privacy": privacy}


def printed_risk_at(run: CancellationRun, *, mu: float, step_size: float) -> float:
    """Return the bound on the excess risk in the proof of Theorem 5.2 of Reshef and Levy, for a step size η ≤ 1/(8LT).

    It is:

        2D²/(ηT²) + 4DG*/T + 4D√((σ̃² + ξ̃²)/(mT)) + 8ηS²Md(1 + ln T)/(ρm)² · (1 + M/(mT)).

    The printed proof replaces the last factor by 2, because it assumes M/m ≤ T without stating it.

    Args:
        run: m of M clients in each of T rounds, diameter D, dimension d, and bound S on the norm of a message. The
            losses have smoothness L and gradient norm G* at the minimiser; σ̃² + ξ̃² bounds a message's variance.
        mu: Gaussian DP parameter ρ.
        step_size: step size η.

    Returns:
        The bound, in units of the loss.
    """
    diameter, rounds = run.diameter, float(run.rounds)
    reports = run.participants * rounds  # mT
    by_distance = 2.0 * diameter * diameter / (step_size * rounds * rounds)
    by_gradient_at_optimum = 4.0 * diameter * run.gradient_at_optimum / rounds
    statistical = 4.0 * diameter * math.sqrt(run.printed_variance / reports)

    # The noise term. Its last factor is close to 1 in a long run.
    scale = run.clients * run.dimension * (1.0 + math.log(rounds)) / (run.participants * run.participants)
    noise_of_long_run = 8.0 * run.clipping_norm**2 * step_size * scale / (mu * mu)
    noise = noise_of_long_run * (1.0 + run.clients / reports)
    return math.fsum((by_distance, by_gradient_at_optimum, statistical, noise))


@request
class StatedInputs(CancellationRun):
    """A run with cancelled noise, its Gaussian DP parameter ρ, and a step size.

    If absent, the step size is the printed one of Theorem 5.2.
    """

    gaussian_dp_mu: GaussianDpMu
    step_size: Annotated[float | None, STEP_SIZE, ANY_SCALE] = None

    @property
    def step(self) -> float:
        """The step size η; if absent, the printed one."""
        if self.step_size:
            return self.step_size
        return printed_step_size(self, mu=self.gaussian_dp_mu)

    @property
    def criterion(self) -> float:
        """The number that `stated_criterion` computes; the printed bound is proved where it is at most 2."""
        return stated_criterion(self, step_size=self.step)


@in_doubles
def stated_bound(inputs: StatedInputs) -> Outputs:
    """Return the noise, step size and risk bound that Theorem 5.2 of Reshef and Levy prints, and proved bounds.

    Args:
        inputs: the clients, the rounds, the constants of the losses, the Gaussian DP parameter, and optionally a step
            size.

    Returns:
        `base_std`: noise that the paper prescribes for the Gaussian DP parameter μ.
        `step_size`: the requested step size, or that of the paper.
        `excess_risk`: bound of the paper, the sum of `optimisation_term`, `statistical_term` and `privacy_term`.
        `criterion`: a number; the bound of the paper is proved if it is at most 2.
        `excess_risk_at_step_size`: the paper's bound, evaluated at this step size.
        `certified_excess_risk`: proved bound at the same noise and step size.
    """
    mu, step = inputs.gaussian_dp_mu, inputs.step
    terms = printed_terms(inputs, mu=mu)
    named_terms = {f"{name}_term": value for name, value in terms.items()}
    base_std = printed_base_std(clipping_norm=inputs.clipping_norm, mu=mu, rounds=inputs.rounds)
    proved = certified_risk(inputs, step_size=step, noise_variance=base_std * base_std, thorough=True)
    return {
        "base_std": base_std,
        "step_size": step,
        "excess_risk": math.fsum(terms.values()),
        **named_terms,
        "excess_risk_at_step_size": printed_risk_at(inputs, mu=mu, step_size=step),
        "certified_excess_risk": proved.total,
        "criterion": inputs.criterion,
    }


ROUNDED = 1.0 + 1e-12
"""Largest ratio that counts as 1. The printed step size makes the ratio 1 up to rounding."""


def small_step(left: float) -> Sides:
    """Check that the ratio of a step size to its largest allowed value is at most 1, up to rounding.

    Args:
        left: the ratio, at least 0. A ratio up to `ROUNDED`, slightly above 1, is accepted.

    Returns:
        Whether the condition holds, with its two sides, the ratio and 1.
    """
    return Sides(Verdict.of(left <= ROUNDED), left, 1.0)


# Conditions -----------------------------------------------------------------------------------------------------------
ROUNDS_COVER = Condition(
    "rounds-cover-clients",
    "M/m ≤ T holds for m of M clients in each of T rounds. The proof uses this, and Theorem 5.2 does not state it",
    lambda inputs: Sides.at_most(inputs.clients / inputs.participants, inputs.rounds),
)
PROVED_HERE = Condition(
    "stated-bound-is-proved",
    (
        "For some l, exp(2ηL Σ_{a<l} a²) + (M/m)(1 − m/M)^l is at most 2, as it always is if M ≤ 2m. The repaired "
        "proof then covers the stated bound. Otherwise nothing is known. Here m of M clients take part in a round, η "
        "is the step size, and L the smoothness"
    ),
    lambda inputs: Sides(Verdict.of(inputs.criterion <= 2.0 * ROUNDED), inputs.criterion, 2.0),
)
SMALL_STEP = Condition(
    "small-step",
    "8ηLT ≤ 1 holds for the step size η, the smoothness L and T rounds",
    lambda inputs: small_step(8.0 * inputs.step * inputs.smoothness * inputs.rounds),
)


LEMMA_A_6 = Theorem(
    id="reshef.lemma-a.6",
    title="Gradients near a minimiser over the domain",
    statement=(
        "‖∇f(x) − ∇f(x*)‖² ≤ 2L(f(x) − f(x*)) holds for every f that is convex and L-smooth on the domain only, as "
        "printed"
    ),
    source=Source("reshef2025", "Lemma A.6"),
    status=Status.REFUTED,
    conditions=(SMOOTH_EVERYWHERE,),
    errata=(NEIGHBOURHOOD,),
)
STATED = Theorem(
    id="reshef.5.2",
    title="Federated learning with noise cancellation, untrusted server",
    statement=(
        "With noise σ²_{t,i} = 4S²(1 + ln T)N_{t,i}/ρ² and step size η = min{ρDm/(2ST√(2Md(1 + ln T))), 1/(8LT)}, the "
        "excess risk is bounded. E f(x_T) − f* ≤ 4D((G* + 4LD)/T + √(σ̃² + ξ̃²)/√(mT) + 2S√(2Md(1 + ln T))/(ρmT))"
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

"""Excess risk with a trusted server (Theorem F.2 of Reshef and Levy), lower bounds as orders, and baselines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from epsilond.accountants.formula import formula, in_doubles
from epsilond.accountants.quantities import (
    ANY_SCALE,
    NOISE_STD,
    STEP_SIZE,
    Clients,
    Dimension,
    Epsilon,
    Participants,
    Quantity,
    Rounds,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.papers.reshef_levy.conversions import GaussianDpMu
from epsilond.accountants.theorems.papers.reshef_levy.errata import LEFT_OVERS
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import PLANNED_MEAN
from epsilond.accountants.theorems.risk.reshef_levy.baselines import (
    BaselineInputs,
    IndependentInputs,
    baseline,
    independent_noise,
)
from epsilond.accountants.theorems.risk.reshef_levy.cancellation_run import CancellationRun
from epsilond.accountants.theorems.risk.reshef_levy.certified_bound import (
    CONVERGENCE,
    DOMAIN,
    POSITIVE,
)
from epsilond.accountants.theorems.risk.reshef_levy.errata import NEIGHBOURHOOD, NORM
from epsilond.accountants.theorems.risk.reshef_levy.untrusted_server import small_step
from epsilond.accountants.theorems.risk.reshef_levy.variance import FRESH_RECORDS, UNIFORM

Server = Literal["trusted", "untrusted"]
SERVER = Quantity(
    description="who adds the noise. untrusted: each client adds noise to its own messages. trusted: the "
    "server adds it, and is trusted with every message"
)


def trusted_step_size(run: CancellationRun, *, noise_std: float) -> float:
    """Return the step size min{D/(σ√(dT)), 1/(4LT)} of Theorem F.2 of Reshef and Levy, but for any noise σ.

    The first value balances the noise and the distance to the minimiser. The second one is a limit due to the
    smoothness.

    Args:
        run: T rounds, diameter D of the domain, dimension d, and smoothness L of the losses.
        noise_std: standard deviation σ of the server's noise per coordinate.

    Returns:
        The step size η. If L = 0, it is the first value, as the second one is infinite.
    """
    step_for_noise = run.diameter / (noise_std * math.sqrt(run.dimension * float(run.rounds)))
    if run.smoothness == 0.0:
        return step_for_noise
    step_for_smoothness = 1.0 / (4.0 * run.smoothness * run.rounds)
    return min(step_for_noise, step_for_smoothness)


def trusted_terms(run: CancellationRun, *, noise_std: float, step_size: float) -> dict[str, float]:
    """Return the terms of a bound on the excess risk of the algorithm of Reshef and Levy with a trusted server.

    Their sum bounds the expected loss of the final model minus the least loss, for step sizes η ≤ 1/(4LT). Erratum E-R7
    explains the proof.

    Args:
        run: m reporting clients in each of T rounds, the diameter D of the domain, and the dimension d. The losses have
            smoothness L and gradient norm G* at the minimiser. σ̃² + ξ̃² bounds the variance of a client's message.
        noise_std: standard deviation σ of the server's noise per coordinate.
        step_size: step size η.

    Returns:
        `optimisation`: 2D²/(ηT²) + 4DG*/T.
        `statistical`: 4D√(σ̃² + ξ̃²)/√(mT).
        `noise`: 2ηdσ²/T.
        All are in units of the loss.
    """
    diameter, rounds = run.diameter, float(run.rounds)
    by_distance = 2.0 * diameter * diameter / (step_size * rounds * rounds)
    by_gradient_at_optimum = 4.0 * diameter * run.gradient_at_optimum / rounds
    reports = run.participants * rounds  # mT
    statistical = 4.0 * diameter * math.sqrt(run.printed_variance / reports)
    noise = 2.0 * step_size * run.dimension * noise_std * noise_std / rounds
    return {
        "optimisation": by_distance + by_gradient_at_optimum,
        "statistical": statistical,
        "noise": noise,
    }


@request
class TrustedRunInputs(CancellationRun):
    """A run in which a trusted server adds the noise, with its Gaussian-DP parameter `gaussian_dp_mu`, ρ in the paper.

    If `step_size` or `noise_std` is absent, it has the value that Reshef and Levy print for ρ.
    """

    gaussian_dp_mu: GaussianDpMu
    noise_std: Annotated[float | None, NOISE_STD, ANY_SCALE] = None
    step_size: Annotated[float | None, STEP_SIZE, ANY_SCALE] = None

    @property
    def std(self) -> float:
        """The noise σ per coordinate; if absent, 2S√T/(ρm) for T rounds, m participants and clipping norm S."""
        if self.noise_std:
            return self.noise_std
        return 2.0 * self.clipping_norm * math.sqrt(self.rounds) / (self.gaussian_dp_mu * self.participants)

    @property
    def step(self) -> float:
        """The step size η; if absent, the printed one."""
        if self.step_size:
            return self.step_size
        return trusted_step_size(self, noise_std=self.std)


@in_doubles
def trusted_run(inputs: TrustedRunInputs) -> Outputs:
    """Return the bound of Theorem F.2 of Reshef and Levy on the excess risk, and the bound at the requested noise.

    A trusted server adds the noise. The bound of the theorem is:

        4D((G* + 2LD)/T + √(σ̃² + ξ̃²)/√(mT) + 2S√d/(ρmT)).

    Args:
        inputs: m reporting clients in each of T rounds, diameter D, dimension d, bound S on the norm of a message, and
            the Gaussian DP parameter ρ. The losses have smoothness L and gradient norm G* at the minimiser.
            σ̃² + ξ̃² bounds the variance of a message.

    Returns:
        The noise and the step size of the run. Further:
        `excess_risk`: bound of the paper, the sum of `optimisation_term`, `statistical_term` and `privacy_term`.
        `excess_risk_at_step_size`: the bound at the noise and step size of the request.
        `true_gaussian_dp_mu`: exact Gaussian DP parameter ρ√((T − 1)/T) of the run, smaller than the ρ of the paper.
    """
    diameter, rounds, mu = inputs.diameter, inputs.rounds, inputs.gaussian_dp_mu
    reports = float(inputs.participants) * rounds  # mT

    # The three terms of the theorem.
    gradient_scale = inputs.gradient_at_optimum + 2.0 * inputs.smoothness * diameter  # G* + 2LD
    optimisation = 4.0 * diameter * gradient_scale / rounds
    statistical = 4.0 * diameter * math.sqrt(inputs.printed_variance / reports)
    privacy = 8.0 * diameter * inputs.clipping_norm * math.sqrt(inputs.dimension) / (mu * reports)

    terms_at_step = trusted_terms(inputs, noise_std=inputs.std, step_size=inputs.step)
    return {
        "noise_std": inputs.std,
        "step_size": inputs.step,
        "excess_risk": math.fsum((optimisation, statistical, privacy)),
        "optimisation_term": optimisation,
        "statistical_term": statistical,
        "privacy_term": privacy,
        "excess_risk_at_step_size": math.fsum(terms_at_step.values()),
        "true_gaussian_dp_mu": mu * math.sqrt((rounds - 1.0) / rounds),
    }


def order_terms(*, server: Server, clients: int, reports: float, dimension: int, epsilon: float) -> dict[str, float]:
    """Return the two terms of the lower bound on the excess risk of any private algorithm, without constants.

    The terms are 1/√n, due to sampling, and min{1, √d/(εn)}, due to privacy. With an untrusted server every client adds
    its own noise, so that d is replaced by Md. The unit is GD, the Lipschitz constant times the diameter, which is the
    largest possible excess risk.

    Args:
        server: "trusted" or "untrusted".
        clients: number M of clients, at least 1.
        reports: number n of records of all clients and rounds, at least 1.
        dimension: number d of coordinates of the model, at least 1.
        epsilon: ε > 0 of the target; infinite without privacy.

    Returns:
        The terms `statistical` and `privacy`; the latter is 0 without privacy.
    """
    separate_noises = float(clients) if server == "untrusted" else 1.0
    privacy_ratio = math.sqrt(separate_noises * dimension) / (epsilon * reports)
    return {
        "statistical": 1.0 / math.sqrt(reports),
        "privacy": min(1.0, privacy_ratio),
    }


def order_scale(terms: Mapping[str, float]) -> float:
    """Return the sum of the terms of a lower bound on the excess risk, but at most 1, the largest possible excess risk.

    Args:
        terms: result of `order_terms`, in units of the Lipschitz constant times the diameter.
    """
    return min(1.0, math.fsum(terms.values()))


@formula(given="n = mT records in all, d coordinates, ε; M clients where the server is not trusted.", bounded=False)
def order(
    *,
    server: Annotated[Server, SERVER],
    clients: Clients,
    participants: Participants,
    rounds: Rounds,
    dimension: Dimension,
    epsilon: Epsilon,
) -> Outputs:
    """Return the order of the smallest possible excess risk, without its constant, and its terms.

    For n records, the order is min{1, 1/√n + √d/(εn)}, with Md instead of d if the server is untrusted. Its unit is the
    Lipschitz constant times the diameter, which is the largest possible excess risk.

    Args:
        server: "trusted" or "untrusted".
        clients: number M of clients.
        participants: number m of clients in a round.
        rounds: number T of rounds; n = mT.
        dimension: number d of coordinates.
        epsilon: ε of the target.

    Returns:
        `excess_risk_scale`, the order, and its terms `statistical_term` and `privacy_term`.
    """
    reports = float(participants) * rounds
    terms = order_terms(server=server, clients=clients, reports=reports, dimension=dimension, epsilon=epsilon)
    named_terms = {f"{name}_term": value for name, value in terms.items()}
    return {"excess_risk_scale": order_scale(terms), **named_terms}


_RUN = {
    "clients": 20,
    "participants": 4,
    "rounds": 2000,
    "dimension": 10,
    "lipschitz": 1.0,
    "smoothness": 0.25,
    "diameter": 2.0,
    "gaussian_dp_mu": 4.0,
}
TRUSTED_RUN = Theorem(
    id="reshef.f.2",
    title="Federated learning with noise cancellation, trusted server",
    statement=(
        "With noise σ_t² = 4S²T/(ρ²m²) and step size η = min{ρDm/(2ST√d), 1/(4LT)}, the excess risk is bounded. E "
        "f(x_T) − f* ≤ 4D((G* + 2LD)/T + √(σ̃² + ξ̃²)/√(mT) + 2S√d/(ρmT))"
    ),
    source=Source("reshef2025", "Theorem F.2; proved as in erratum E-R7"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "small-step",
            "4ηLT ≤ 1 holds for the step size η, the smoothness L and T rounds",
            lambda inputs: small_step(4.0 * inputs.step * inputs.smoothness * inputs.rounds),
        ),
        *CONVERGENCE,
        PLANNED_MEAN,
    ),
    errata=(LEFT_OVERS, NEIGHBOURHOOD, NORM),
    inputs=TrustedRunInputs,
    formula=trusted_run,
    examples=(_RUN,),
)
ORDERS = Theorem(
    id="reshef.lower-bounds",
    title="Lower bounds, as orders",
    statement=(
        "The order of the least excess risk is 1/√n + min{1, √d/(εn)} with a trusted server. With an untrusted server "
        "it is 1/√n + min{1, √(Md)/(εn)}. It is never more than 1. Here n = mT is the number of records, of m of M "
        "clients in each of T rounds. Constants, GD and ln(1/δ) are omitted"
    ),
    source=Source("reshef2025", "the lower bounds it compares with"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(
        Condition(
            "hidden-constants",
            "the orders leave out factors GD and ln(1/δ), with the Lipschitz constant G and the diameter D",
            undecidable=True,
        ),
    ),
    formula=order,
    examples=(
        {
            "server": "untrusted",
            "clients": 100,
            "participants": 50,
            "rounds": 1200,
            "dimension": 7850,
            "epsilon": 10.0,
        },
    ),
)
INDEPENDENT = Theorem(
    id="epsilond.independent-noise-excess-risk",
    title="Excess risk with fresh noise on each message",
    statement=(
        "Noise N(0, (2S/ρ)²) on each message, never cancelled, is ρ-Gaussian differentially private too. Cancellation "
        "reduces the noise term by the factor √(mT/(2M(1 + ln T))). It is better if pT > 2(1 + ln T), where a client "
        "reports with probability p = m/M in each of T rounds"
    ),
    source=Source("epsilond", "bound R0 at the variance of fresh noise"),
    status=Status.PROVED,
    conditions=(
        POSITIVE,
        *CONVERGENCE,
    ),
    inputs=IndependentInputs,
    formula=independent_noise,
    examples=({**_RUN, "step_size": 1e-4},),
)
BASELINE = Theorem(
    id="reshef.baseline",
    title="Noisy SGD, to compare with",
    statement="One pass of noisy SGD at step size η = D/(B√T) has E f − f* ≤ DB/√T, with B² = G² + 4G²d/(ρ²m)",
    source=Source("reshef2025", "the noisy SGD it compares with"),
    status=Status.PROVED,
    conditions=(DOMAIN, UNIFORM, FRESH_RECORDS, Condition("loss", "every record's loss is convex and G-Lipschitz")),
    inputs=BaselineInputs,
    formula=baseline,
    examples=(
        {
            "lipschitz": 1.0,
            "diameter": 2.0,
            "dimension": 10,
            "participants": 4,
            "rounds": 2000,
            "gaussian_dp_mu": 4.0,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (TRUSTED_RUN, ORDERS, INDEPENDENT, BASELINE)

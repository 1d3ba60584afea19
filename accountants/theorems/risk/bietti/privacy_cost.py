"""Privacy cost of PPSGD: Theorem 4.5 of Bietti et al. at the noise of a target, and when to share nothing.

(9) is the bound at the noise for a target (ε, δ). If nothing is shared (α = 0), there is no noise. If everything is
shared (α = ∞), there is one model for all clients. Lemma 4.6 compares both cases for clients with one optimum.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.json_types import Fields
from epsilond.accountants.quantities import (
    ANY_SCALE,
    RELATION,
    SQUARES,
    Clients,
    Epsilon,
    GivenLogDelta,
    Lipschitz,
    Relation,
    Rounds,
    Smoothness,
)
from epsilond.accountants.quantities.algorithms import (
    FINITE_PERSONALIZATION,
    LOCAL_GRADIENT_STD,
    NOISE_CONSTANT,
    OPTIMUM_NORM,
    OPTIMUM_SPREAD,
    SHARED_GRADIENT_STD,
    SHARED_NOISE_STD,
    SharedDimension,
)
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.bietti.noise import noise_with_constant
from epsilond.accountants.theorems.risk.bietti.errata import EPSILON_SQUARED
from epsilond.accountants.theorems.risk.bietti.full_participation import ADDITIVE, CONVEX_SMOOTH, FRESH, WeightedOptimum
from epsilond.accountants.theorems.risk.bietti.step_bounds import theorem_bound
from epsilond.accountants.theorems.risk.bietti.variance_term import (
    VarianceTermInputs,
    least_noise_constant,
    variance_term,
)


# The bound at the noise of a target ---------------------------------------------------------------------------------
@formula(given="(9): the bound at the noise of a target. Absent `noise_constant`: the least that does at this target.")
def privacy_cost(
    *,
    optimum: WeightedOptimum,
    clients: Clients,
    rounds: Rounds,
    smoothness: Smoothness,
    personalization: Annotated[float, FINITE_PERSONALIZATION],
    shared_gradient_std: Annotated[float, SHARED_GRADIENT_STD],
    local_gradient_std: Annotated[float, LOCAL_GRADIENT_STD],
    shared_dimension: SharedDimension,
    lipschitz: Lipschitz,
    epsilon: Annotated[Epsilon, SQUARES],
    log_delta: GivenLogDelta,
    relation: Annotated[Relation, RELATION] = "replace-one",
    noise_constant: Annotated[float | None, NOISE_CONSTANT, ANY_SCALE] = None,
) -> Outputs:
    """Return the bound (9) of Bietti et al. on the excess risk of PPSGD, at the noise for a target (ε, δ).

    PPSGD trains a model with a shared part w, which all clients have in common, and an own part θ_i of each client i.
    Only messages about w are sent, so only they get noise. The excess risk is the expected loss of the mean of the
    models of all rounds minus the least expected loss. With z* the minimiser, the bound is the sum of three terms:

        4L max{α, 1/N}‖z*‖²/n + 3‖z*‖ √((ασ̄_w² + σ̄_θ²)/(Nn)) + 3‖z*‖ σ_ζ √(αd_w/n)

    The noise has the standard deviation σ_ζ = cG√(n ln(1/δ))/(Nε) in each coordinate.

    Args:
        optimum: distance ‖z*‖ of the initial model from the minimiser, in the norm ‖z‖² = ‖w‖²/α + Σ‖θ_i‖².
        clients: number N of clients.
        rounds: number n of rounds.
        smoothness: smoothness L of the losses.
        personalization: weight α of the shared part, finite.
        shared_gradient_std: standard deviation σ̄_w of the shared gradient.
        local_gradient_std: standard deviation σ̄_θ of the local gradient.
        shared_dimension: number d_w of shared coordinates.
        lipschitz: bound G on the norm of a message.
        epsilon: ε of the target, in nats.
        log_delta: log δ of the target, natural logarithm.
        relation: relation of neighbouring data sets.
        noise_constant: constant c of the noise; None for the least one that is valid for the target.

    Returns:
        The noise and its constant, the three terms and their sum `excess_risk`. `joined_excess_risk` is a smaller
        bound, in which the root of a sum of squares replaces the sum of the last two terms.
    """
    if noise_constant is None:
        noise_constant = least_noise_constant(epsilon=epsilon, log_delta=log_delta, relation=relation)
    std = noise_with_constant(
        constant=noise_constant,
        clipping_norm=lipschitz,
        contributions=clients,
        rounds=rounds,
        epsilon=epsilon,
        log_delta=log_delta,
    )

    alpha, norm = personalization, optimum.norm
    weighted_smoothness = 4.0 * smoothness * max(alpha, 1.0 / clients)
    optimisation = weighted_smoothness * norm * norm / rounds
    sampling_variance = (alpha * shared_gradient_std**2 + local_gradient_std**2) / clients
    statistical = 3.0 * norm * math.sqrt(sampling_variance / rounds)
    privacy = 3.0 * norm * std * math.sqrt(alpha * shared_dimension / rounds)

    return {
        "noise_std": std,
        "noise_constant": noise_constant,
        "optimisation_term": optimisation,
        "statistical_term": statistical,
        "privacy_term": privacy,
        "excess_risk": optimisation + statistical + privacy,
        "joined_excess_risk": optimisation + math.hypot(statistical, privacy),
    }


def _constant_suffices(*, noise_constant: float | None, epsilon: float, log_delta: float, relation: Relation) -> Sides:
    """Compare the noise constant c of a request with the least one that is valid for its target (ε, δ).

    The noise of the bound is proportional to c.

    Args:
        noise_constant: constant c of the request; None for the least one.
        epsilon: ε of the target, in nats.
        log_delta: log δ of the target, natural logarithm.
        relation: relation of neighbouring data sets.

    Returns:
        Both sides of the inequality c ≥ least constant, and whether it is true.
    """
    least = least_noise_constant(epsilon=epsilon, log_delta=log_delta, relation=relation)
    if noise_constant is None:
        return Sides.at_least(least, least)
    return Sides.at_least(noise_constant, least)


# Nothing shared, and everything --------------------------------------------------------------------------------------
def _limit(smooth: float, variance: float, rounds: int) -> Outputs:
    """Return the bound 4L‖z*‖²/n + 3σ‖z*‖/√n of Theorem 4.5 of Bietti et al. and its two terms, as named outputs.

    Args:
        smooth: L‖z*‖², the smoothness times the squared distance of the initial model from the minimiser z*.
        variance: σ²‖z*‖², the variance of a step times the squared distance.
        rounds: number n of rounds.

    Returns:
        `optimisation_term`, `variance_term` and their sum `excess_risk`, in units of the loss.
    """
    bound = theorem_bound(smooth=smooth, variance=variance, rounds=rounds)
    return {
        "optimisation_term": bound.optimisation,
        "variance_term": bound.variance,
        "excess_risk": bound.total,
    }


@formula(given="α = 0, where every client has its own optimum: Σ‖θ_i*‖²/N = `optimum_norm`² + `optimum_spread`².")
def local_limit(
    *,
    clients: Clients,  # noqa: ARG001  the bound does not depend on them, and says so
    rounds: Rounds,
    smoothness: Smoothness,
    optimum_norm: Annotated[float, OPTIMUM_NORM],
    optimum_spread: Annotated[float, OPTIMUM_SPREAD] = 0.0,
    local_gradient_std: Annotated[float, LOCAL_GRADIENT_STD],
) -> Outputs:
    """Return a bound on the excess risk of clients that share no part of their models.

    It is Theorem 4.5 of Bietti et al. at the weight α = 0 of the shared part. Every client i trains its own model
    towards its own optimum θ_i*. With the mean squared norm v² = Σ‖θ_i*‖²/N of the optima, the bound is:

        4Lv²/n + 3√(σ̄_θ²v²/n).

    Args:
        clients: number N of clients; the bound does not depend on it.
        rounds: number n of rounds.
        smoothness: smoothness L of the losses.
        optimum_norm: norm of the mean of the optima.
        optimum_spread: root mean square distance of the optima from their mean.
        local_gradient_std: standard deviation σ̄_θ of the local gradient.

    Returns:
        `optimisation_term` and `variance_term`, the two terms of the bound, and their sum `excess_risk`.
    """
    mean_squared_norm = optimum_norm**2 + optimum_spread**2
    variance = local_gradient_std**2
    return _limit(smoothness * mean_squared_norm, variance * mean_squared_norm, rounds)


@formula(given="α = ∞, all clients sharing one optimum. `optimum_norm` is its norm ‖v‖.")
def global_limit(
    *,
    clients: Clients,
    rounds: Rounds,
    smoothness: Smoothness,
    optimum_norm: Annotated[float, OPTIMUM_NORM],
    shared_gradient_std: Annotated[float, SHARED_GRADIENT_STD],
    shared_dimension: SharedDimension,
    noise_std: Annotated[float, SHARED_NOISE_STD],
) -> Outputs:
    """Return a bound on the excess risk of clients that share the whole model.

    It is Theorem 4.5 of Bietti et al. at the weight α = ∞ of the shared part. Only the shared part is trained, towards
    the optimum v that all clients have in common. The bound is:

        4L‖v‖²/n + 3‖v‖√((σ̄_w²/N + d_wσ_ζ²)/n).

    Args:
        clients: number N of clients.
        rounds: number n of rounds.
        smoothness: smoothness L of the losses.
        optimum_norm: norm ‖v‖ of the common optimum.
        shared_gradient_std: standard deviation σ̄_w of the shared gradient.
        shared_dimension: number d_w of shared coordinates.
        noise_std: standard deviation σ_ζ of the noise per shared coordinate.

    Returns:
        `optimisation_term` and `variance_term`, the two terms of the bound, and their sum `excess_risk`.
    """
    squared_norm = optimum_norm**2
    sampling_variance = shared_gradient_std**2 / clients
    variance = sampling_variance + shared_dimension * noise_std**2
    return _limit(smoothness * squared_norm, variance * squared_norm, rounds)


# When to share nothing ----------------------------------------------------------------------------------------------


# Theorems -----------------------------------------------------------------------------------------------------------
EQUATION_9 = Theorem(
    id="bietti.4.5.equation-9",
    title="Generalisation of PPSGD at the noise of a target",
    statement=(
        "E f(z̄_n) − f* ≤ 4L_α‖z*‖²/n + 3‖z*‖√((ασ̄_w² + σ̄_θ²)/(Nn)) + 3‖z*‖ c √(αd_wG² ln(1/δ))/(Nε). The last term "
        "is the cost of privacy"
    ),
    source=Source("bietti2022", "(9)"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "constant-suffices",
            (
                "The noise constant c is at least kε/(μ*(ε, δ)√ln(1/δ)), the least one that is valid at this target. "
                "If c is absent, the least one is shown"
            ),
            _constant_suffices,
        ),
        CONVEX_SMOOTH,
        FRESH,
    ),
    constants="hidden",
    formula=privacy_cost,
    examples=(
        {
            "clients": 100,
            "rounds": 2000,
            "smoothness": 2.0,
            "personalization": 0.01,
            "weighted_optimum_norm": 2.0,
            "shared_gradient_std": 1.0,
            "local_gradient_std": 1.0,
            "shared_dimension": 20,
            "lipschitz": 1.0,
            "epsilon": 1.0,
            "delta": 1e-5,
        },
    ),
)
LOCAL_LIMIT = Theorem(
    id="bietti.4.5.local-limit",
    title="Learning locally only",
    statement=(
        "At α = 0 nothing is shared, and the bound is 4LΣ‖θ_i*‖²/(Nn) + 3√(σ̄_θ²Σ‖θ_i*‖²/(Nn)), with the optimum θ_i* "
        "of client i"
    ),
    source=Source("bietti2022", "Section 4, after Theorem 4.5"),
    status=Status.PROVED,
    conditions=(CONVEX_SMOOTH, FRESH),
    formula=local_limit,
    examples=({"clients": 100, "rounds": 500, "smoothness": 2.0, "optimum_norm": 1.0, "local_gradient_std": 1.0},),
)
GLOBAL_LIMIT = Theorem(
    id="bietti.4.5.global-limit",
    title="Learning globally only",
    statement="For clients that share one optimum v, the bound at α = ∞ is 4L‖v‖²/n + 3‖v‖√((σ̄_w²/N + d_wσ_ζ²)/n)",
    source=Source("bietti2022", "Section 4, after Theorem 4.5"),
    status=Status.PROVED,
    conditions=(CONVEX_SMOOTH, FRESH, ADDITIVE),
    formula=global_limit,
    examples=(
        {
            "clients": 100,
            "rounds": 500,
            "smoothness": 2.0,
            "optimum_norm": 1.0,
            "shared_gradient_std": 1.0,
            "shared_dimension": 50,
            "noise_std": 0.05,
        },
    ),
)
ENOUGH_ROUNDS = Condition(
    "enough-rounds",
    (
        "The number n of rounds is at least N(N − 1)σ²ε²/(c²d_wG² ln(1/δ)), where c is the least noise constant at "
        "this target. The variance term then never falls in α"
    ),
    lambda inputs: Sides.at_least(inputs.rounds, inputs.threshold("corrected")),
)
_EXAMPLE: Fields = {
    "clients": 100,
    "optimum_norm": 1.0,
    "gradient_std": 1.0,
    "shared_dimension": 50,
    "lipschitz": 1.0,
    "delta": 1e-5,
}
LEMMA_4_6 = Theorem(
    id="bietti.lemma-4.6",
    title="When to share nothing",
    statement=(
        "Let the losses depend on w + θ_i, and let all N clients share one optimum v. The variance term is ‖v‖√(N/(αN "
        "+ 1) ((α + 1)σ²/(Nn) + c²αd_wG² ln(1/δ)/(Nε)²)). It never falls in α if and only if n ≥ N(N − 1)σ²ε²/(c²d_wG² "
        "ln(1/δ))"
    ),
    source=Source("bietti2022", "Lemma 4.6, (10)"),
    status=Status.PROVED,
    conditions=(ENOUGH_ROUNDS, ADDITIVE),
    errata=(EPSILON_SQUARED,),
    constants="hidden",
    inputs=VarianceTermInputs,
    formula=variance_term,
    examples=(
        {**_EXAMPLE, "rounds": 300, "personalization": 0.01, "epsilon": 4.0},
        {**_EXAMPLE, "rounds": 50, "personalization": "unbounded", "epsilon": 1.0},
    ),
)

THEOREMS: tuple[Theorem, ...] = (EQUATION_9, LOCAL_LIMIT, GLOBAL_LIMIT, LEMMA_4_6)

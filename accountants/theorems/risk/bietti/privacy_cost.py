"""Privacy cost of PPSGD: Theorem 4.5 of Bietti et al. at the noise of a target, and when to share nothing.

(9) is the bound at the noise for a target (ε, δ). If nothing is shared (α = 0), there is no noise. If everything is
shared (α = ∞), there is one model for all clients. Lemma 4.6 compares both cases for clients with one optimum.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.json_types import Fields
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.quantities import (
    ANY_SCALE,
    BATCH_SIZE,
    RELATION,
    SQUARES,
    Clients,
    DeltaFields,
    Epsilon,
    GivenLogDelta,
    Lipschitz,
    Relation,
    Rounds,
    Smoothness,
    request,
)
from epsilond.accountants.quantities.algorithms import (
    FINITE_PERSONALIZATION,
    LOCAL_GRADIENT_STD,
    NOISE_CONSTANT,
    OPTIMUM_NORM,
    OPTIMUM_SPREAD,
    SHARED_GRADIENT_STD,
    SHARED_NOISE_STD,
    Personalization,
    SharedDimension,
    personalization_value,
)
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.theorem import Condition, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.bietti.noise import least_constant, noise_with_constant
from epsilond.accountants.theorems.risk.bietti.errata import EPSILON_SQUARED
from epsilond.accountants.theorems.risk.bietti.full_participation import (
    ADDITIVE,
    CONVEX_SMOOTH,
    FRESH,
    WeightedOptimum,
    theorem_bound,
)


# The bound at the noise of a target ---------------------------------------------------------------------------------
def _least_noise_constant(*, epsilon: float, log_delta: float, relation: Relation) -> float:
    """Return the least constant c with which the printed noise meets the target under the relation."""
    factor = sensitivity_factor(relation)
    return least_constant(epsilon=epsilon, log_delta=log_delta, sensitivity_factor=factor)


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
    """Return the bound (9) of Bietti et al. on the excess risk, at the noise for a target (ε, δ).

    Args:
        optimum: distance ‖z*‖_α of the initial model from the minimiser.
        clients: number N of clients.
        rounds: number n of rounds.
        smoothness: smoothness L of the losses.
        personalization: weight α of the shared part, finite.
        shared_gradient_std: standard deviation σ̄_w of the shared gradient.
        local_gradient_std: standard deviation σ̄_θ of the local gradient.
        shared_dimension: number d_w of shared coordinates.
        lipschitz: bound G on the norm of a message.
        epsilon: ε of the target.
        log_delta: log δ of the target.
        relation: relation of neighbouring data sets.
        noise_constant: constant c of the noise; if absent, the least one for the target.

    Returns:
        The noise, the three terms and their sum; `joined_excess_risk` has the last two under one root.
    """
    alpha, norm = personalization, optimum.norm
    if noise_constant is None:
        noise_constant = _least_noise_constant(epsilon=epsilon, log_delta=log_delta, relation=relation)
    std = noise_with_constant(
        constant=noise_constant,
        clipping_norm=lipschitz,
        contributions=clients,
        rounds=rounds,
        epsilon=epsilon,
        log_delta=log_delta,
    )
    optimisation = 4.0 * smoothness * max(alpha, 1.0 / clients) * norm * norm / rounds
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
    """Compare the constant c of the request with the least constant for the target, which is the default."""
    least = _least_noise_constant(epsilon=epsilon, log_delta=log_delta, relation=relation)
    return Sides.at_least(least if noise_constant is None else noise_constant, least)


# Nothing shared, and everything --------------------------------------------------------------------------------------
def _limit(smooth: float, variance: float, rounds: int) -> Outputs:
    """Return the bound of Theorem 4.5 with its terms; both factors include the squared distance ‖z*‖²."""
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
    """Return the bound of Theorem 4.5 at α = 0, 4LΣ‖θ_i*‖²/(Nn) + 3√(σ̄_θ²Σ‖θ_i*‖²/(Nn)): nothing is shared.

    Args:
        clients: number N of clients with optima θ_i*; the bound does not depend on it.
        rounds: number n of rounds.
        smoothness: smoothness L of the losses.
        optimum_norm: norm of the mean of the optima.
        optimum_spread: root mean square distance of the optima from their mean.
        local_gradient_std: standard deviation σ̄_θ of the local gradient.
    """
    squared = optimum_norm**2 + optimum_spread**2
    return _limit(smoothness * squared, local_gradient_std**2 * squared, rounds)


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
    """Return the bound of Theorem 4.5 at α = ∞, 4L‖v‖²/n + 3‖v‖√((σ̄_w²/N + d_wσ_ζ²)/n): everything is shared.

    Args:
        clients: number N of clients.
        rounds: number n of rounds.
        smoothness: smoothness L of the losses.
        optimum_norm: norm ‖v‖ of the common optimum.
        shared_gradient_std: standard deviation σ̄_w of the shared gradient.
        shared_dimension: number d_w of shared coordinates.
        noise_std: standard deviation σ_ζ of the noise per shared coordinate.
    """
    squared = optimum_norm**2
    variance = shared_gradient_std**2 / clients + shared_dimension * noise_std**2
    return _limit(smoothness * squared, variance * squared, rounds)


# When to share nothing ----------------------------------------------------------------------------------------------
@request
class VarianceTermInputs(DeltaFields):
    """Equal clients with one optimum, all in every round, and a target.

    `gradient_std` is the standard deviation σ of one record's gradient; a batch has σ²/`batch_size`.
    """

    clients: Clients
    rounds: Rounds
    personalization: Personalization
    optimum_norm: Annotated[float, OPTIMUM_NORM]
    gradient_std: Annotated[float, SHARED_GRADIENT_STD]
    batch_size: Annotated[int, BATCH_SIZE] = 1
    shared_dimension: SharedDimension
    lipschitz: Lipschitz
    epsilon: Annotated[Epsilon, SQUARES]
    relation: Annotated[Relation, RELATION] = "replace-one"
    noise_constant: Annotated[float | None, NOISE_CONSTANT] = None

    def check(self) -> None:
        """Check that α is a number from 0 to 1e100 or "unbounded"."""
        personalization_value(self.personalization)

    @property
    def gradient_variance(self) -> float:
        """The variance σ²/m of a batch."""
        return self.gradient_std**2 / self.batch_size

    def constant(self, reading: Reading) -> float:
        """Return the constant c of the noise, given in the request or a default.

        Args:
            reading: default if absent. "printed" has 1, as the paper hides c; "corrected" has the least for the target.
        """
        if self.noise_constant is not None:
            return self.noise_constant
        if reading == "printed":
            return 1.0
        return _least_noise_constant(epsilon=self.epsilon, log_delta=self.log_delta, relation=self.relation)

    def threshold(self, reading: Reading) -> float:
        """Return the rounds N(N − 1)σ²ε²/(c²d_wG² ln(1/δ)) from which on α = 0 has the least variance term."""
        ordered_pairs = float(self.clients) * (self.clients - 1)  # N(N − 1)
        noise_scale = self.constant(reading) * self.lipschitz  # cG
        sampling = ordered_pairs * self.gradient_variance * self.epsilon**2
        privacy = noise_scale * noise_scale * self.shared_dimension * -self.log_delta
        return sampling / privacy


def variance_term(inputs: VarianceTermInputs, reading: Reading = "printed") -> Outputs:
    """Return the variance term of the bound at α, 0 and ∞, and when α = 0 is best (Lemma 4.6 of Bietti et al.).

    With s = σ²/(Nn) and r = c²G²d_w ln(1/δ)/(Nε)², the term is ‖v‖√(N((α + 1)s + αr)/(αN + 1)), or ‖v‖√(s + r) at α =
    ∞. σ² is the variance of a batch's gradient. α = 0 is best from `threshold_rounds` on, by equation (10) in ε²;
    `appendix_threshold_rounds`, by Appendix B.3, is in ε (erratum E-B4).

    Args:
        inputs: N clients, n rounds, the optimum's norm ‖v‖, Lipschitz constant G, d_w shared coordinates, and c.
        reading: default of an absent c: 1 for "printed", the least constant for the target for "corrected".
    """
    alpha, clients, rounds = personalization_value(inputs.personalization), inputs.clients, inputs.rounds
    noise_scale = inputs.constant(reading) * inputs.lipschitz  # cG
    privacy = noise_scale * noise_scale * inputs.shared_dimension * -inputs.log_delta
    r = privacy / (float(clients) * inputs.epsilon) ** 2
    s = inputs.gradient_variance / (float(clients) * rounds)

    def term_at(alpha: float) -> float:
        """Return the variance term at an α in [0, ∞]."""
        if math.isinf(alpha):
            return inputs.optimum_norm * math.sqrt(s + r)
        weight = clients / (alpha * clients + 1.0)
        return inputs.optimum_norm * math.sqrt(weight * ((alpha + 1.0) * s + alpha * r))

    threshold = inputs.threshold(reading)
    return {
        "variance_term": term_at(alpha),
        "local_variance_term": term_at(0.0),
        "global_variance_term": term_at(math.inf),
        "noise_constant": inputs.constant(reading),
        "threshold_rounds": threshold,
        "appendix_threshold_rounds": threshold / inputs.epsilon,
        "threshold_epsilon": threshold_epsilon(inputs),
        "local_is_better": rounds >= threshold,
    }


def threshold_epsilon(inputs: VarianceTermInputs) -> float:
    """Return the ε up to which α = 0 has the smallest variance term at the least noise; infinite if it always has."""
    pairs = float(inputs.clients) * (inputs.clients - 1) * inputs.gradient_variance
    if pairs == 0.0:
        return math.inf
    scale = math.sqrt(float(inputs.rounds) * inputs.shared_dimension / pairs)
    mu = sensitivity_factor(inputs.relation) * inputs.lipschitz * scale
    return gaussian_pair(mu).epsilon(inputs.log_delta).upper


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

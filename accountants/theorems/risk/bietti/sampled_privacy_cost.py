"""Privacy cost of PPSGD with randomly drawn clients: (14) and (36) of Bietti et al., at the noise of (12).

Theorems 5.2 and B.4 hold for any noise σ_ζ. Here it is c₂ C √(T ln(1/δ))/(Wε) with C = Gω, the smallest norm that clips
nothing. W = Σ m_i and ω = m_max if clients are weighted by their records; W = N and ω = 1 if they have equal weights.
The constant c₂ is hidden in the paper and depends on the target (E-B9). The calibrator `ppsgd` gives a certified noise.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.federation import read_members
from epsilond.accountants.formula import in_doubles
from epsilond.accountants.quantities import (
    CLIENT_GROUPS,
    SQUARES,
    BudgetFields,
    Epsilon,
    Lipschitz,
    Rate,
    Rounds,
    Smoothness,
    request,
)
from epsilond.accountants.quantities.algorithms import (
    FINITE_PERSONALIZATION,
    NOISE_CONSTANT,
    SharedDimension,
    Weighting,
)
from epsilond.accountants.theorem import Condition, Outputs, Reading, Source, Status, Theorem
from epsilond.accountants.theorems.papers.bietti.noise import noise_with_constant
from epsilond.accountants.theorems.papers.bietti.sampled_noise import (
    EPSILON_RANGE,
    HIDDEN_RANGE,
    RANGE_CONSTANT,
    check_groups,
    noise_multiplier_of,
)
from epsilond.accountants.theorems.risk.bietti.full_participation import (
    CONVEX_SMOOTH,
    FRESH,
    UNCLIPPED,
    WeightedOptimum,
    theorem_bound,
    theorem_step,
)
from epsilond.accountants.theorems.risk.bietti.sampled_participation import (
    EXAMPLE,
    NO_RATE,
    PRINTED_SMOOTHNESS,
    PRINTED_VARIANCE,
    RATE_TOO_MANY,
    SYMBOLS,
    DrawnGradients,
    GroupOfUsers,
)


@request
class SampledTargetInputs(WeightedOptimum, BudgetFields):
    """Clients drawn independently at rate q, at a finite α, and the target from which (12) gives the noise."""

    client_groups: Annotated[tuple[GroupOfUsers, ...], CLIENT_GROUPS]
    rounds: Rounds
    participation_rate: Annotated[Rate, SQUARES]
    smoothness: Smoothness
    personalization: Annotated[float, FINITE_PERSONALIZATION]
    shared_dimension: SharedDimension
    lipschitz: Lipschitz
    epsilon: Annotated[Epsilon, SQUARES]
    noise_constant: Annotated[float, NOISE_CONSTANT]
    range_constant: Annotated[float | None, RANGE_CONSTANT] = None

    def check(self) -> None:
        """Reject groups with wrong fields, and fewer than 1 or more than 1000 groups.

        Raises:
            InvalidInput: for either.
        """
        read_members(self, "client_groups", GroupOfUsers)
        check_groups(self.client_groups)

    def federation(self, weighting: Weighting) -> DrawnGradients:
        """Return the clients with a weighting."""
        return DrawnGradients(groups=self.client_groups, weighting=weighting, rate=self.participation_rate)


def _at_target(inputs: SampledTargetInputs, weighting: Weighting, reading: Reading) -> dict[str, float]:
    """Return the bound on the excess risk at the noise for a target (ε, δ), with its terms.

    Args:
        inputs: clients, rounds, constants of the losses, and the target (ε, δ).
        weighting: whether clients are weighted by their records (`samples`) or equally.
        reading: "printed" has the smoothness and variance as stated; "corrected" those of errata E-B5 and E-B6.

    Returns:
        The noise, the step size and the terms of the bound. With equal weights also `coarser_variance`, as if every
        batch had the smallest size, and the bound with it.
    """
    federation, alpha = inputs.federation(weighting), inputs.personalization
    dimension, squared = inputs.shared_dimension, inputs.norm * inputs.norm
    clipping_norm = inputs.lipschitz * federation.largest_message
    std = noise_with_constant(
        constant=inputs.noise_constant,
        clipping_norm=clipping_norm,
        contributions=federation.weight,
        rounds=inputs.rounds,
        epsilon=inputs.epsilon,
        log_delta=inputs.log_delta,
    )
    shared, local = federation.smoothness_factors(reading)
    smoothness = inputs.smoothness * max(alpha * shared, local)
    steep, flat = federation.variance_factors(noise_std=0.0, dimension=dimension, reading=reading)
    sampled, private = alpha * steep + flat, alpha * dimension * std * std
    bound = theorem_bound(smooth=smoothness * squared, variance=(sampled + private) * squared, rounds=inputs.rounds)
    outputs = {
        "noise_std": std,
        "noise_multiplier": noise_multiplier_of(
            noise_std=std, rate=federation.rate, weight=federation.weight, clipping_norm=clipping_norm
        ),
        "weighted_smoothness": smoothness,
        "variance": sampled + private,
        "step_size": theorem_step(
            smoothness=smoothness, norm=inputs.norm, variance=sampled + private, rounds=inputs.rounds
        ),
        "optimisation_term": bound.optimisation,
        "statistical_term": 3.0 * inputs.norm * math.sqrt(sampled / inputs.rounds),
        "privacy_term": 3.0 * inputs.norm * math.sqrt(private / inputs.rounds),
        "excess_risk": bound.total,
    }
    if weighting == "samples":
        return outputs
    coarser = private + federation.coarser_variance(alpha=alpha, noise_std=0.0, dimension=dimension, reading=reading)
    coarser_bound = theorem_bound(smooth=smoothness * squared, variance=coarser * squared, rounds=inputs.rounds)
    return {**outputs, "coarser_variance": coarser, "coarser_excess_risk": coarser_bound.total}


@in_doubles
def cost_by_samples(inputs: SampledTargetInputs, reading: Reading = "printed") -> Outputs:
    """Return the bound (14), in which clients are weighted by their records, at the noise (12) for the target.

    Args:
        inputs: the clients, the run and the target.
        reading: "printed" for the statement; "corrected" for smoothness and variance by errata E-B5 and E-B6.

    Returns:
        The noise σ_ζ, the bound and its terms. The bound has the last two terms under one root.
    """
    return _at_target(inputs, "samples", reading)


@in_doubles
def cost_by_clients(inputs: SampledTargetInputs, reading: Reading = "printed") -> Outputs:
    """Return the bound for clients with equal weights, at the noise (12) for the target.

    Args:
        inputs: the clients, the run and the target.
        reading: "printed" for the statement; "corrected" for smoothness and variance by errata E-B5 and E-B6.

    Returns:
        The noise σ_ζ, the bound and its terms, and `coarser_excess_risk`, the bound (36) with the smallest batch for
        all clients.
    """
    return _at_target(inputs, "clients", reading)


NOISE_SUFFICES = Condition(
    "constant-suffices", "c₂ is large enough for this target: bietti.5.1 does not say which is", undecidable=True
)
CONDITIONS = (EPSILON_RANGE, NOISE_SUFFICES, PRINTED_SMOOTHNESS, PRINTED_VARIANCE, CONVEX_SMOOTH, FRESH, UNCLIPPED)
ERRATA = (NO_RATE, RATE_TOO_MANY, SYMBOLS, HIDDEN_RANGE)
_RUN = {name: value for name, value in EXAMPLE.items() if name != "noise_std"}
_EXAMPLE = {
    **_RUN,
    "participation_rate": 0.25,
    "lipschitz": 1.0,
    "epsilon": 1.0,
    "delta": 1e-5,
    "noise_constant": 2.0,
}

EQUATION_14 = Theorem(
    id="bietti.5.2.equation-14",
    title="Generalisation of PPSGD at the noise of a target, clients weighed by their records",
    statement=(
        "E f(z̄_T) − f* ≤ 4L_{m,α}‖z*‖²_α/T + 3‖z*‖_α √((ασ̄²_w + ασ̃²_w + σ̄²_θ)/(qMT) + αd_wG_m²c₂² "
        "ln(1/δ)/(M²ε²)). Here G_m = G m_max. The values of L_{m,α} and σ̃ are the corrected ones"
    ),
    source=Source("bietti2022", "(14)"),
    status=Status.REFUTED,
    conditions=CONDITIONS,
    errata=ERRATA,
    constants="hidden",
    inputs=SampledTargetInputs,
    formula=cost_by_samples,
    examples=(_EXAMPLE,),
)
EQUATION_36 = Theorem(
    id="bietti.b.4.equation-36",
    title="Generalisation of PPSGD at the noise of a target, clients weighed equally",
    statement=(
        "E f(z̄_T) − f* ≤ 4L_α‖z*‖²_α/T + 3‖z*‖_α √((ασ̄²_w + σ̄²_θ)/(qNm_minT) + ασ̃²_w/(qNT) + "
        "αd_wG²c₂² ln(1/δ)/(N²ε²)); L_α and σ̃ as corrected"
    ),
    source=Source("bietti2022", "(16) and (36)"),
    status=Status.REFUTED,
    conditions=CONDITIONS,
    errata=ERRATA,
    constants="hidden",
    inputs=SampledTargetInputs,
    formula=cost_by_clients,
    examples=(_EXAMPLE,),
)
THEOREMS: tuple[Theorem, ...] = (EQUATION_14, EQUATION_36)

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
from epsilond.accountants.theorems.papers.bietti.errata import HIDDEN_RANGE
from epsilond.accountants.theorems.papers.bietti.noise import noise_with_constant
from epsilond.accountants.theorems.papers.bietti.sampled_noise import (
    EPSILON_RANGE,
    RANGE_CONSTANT,
    check_groups,
    noise_multiplier_of,
)
from epsilond.accountants.theorems.risk.bietti.drawn_gradients import DrawnGradients, GroupOfUsers
from epsilond.accountants.theorems.risk.bietti.errata import NO_RATE, RATE_TOO_MANY, SYMBOLS
from epsilond.accountants.theorems.risk.bietti.full_participation import (
    CONVEX_SMOOTH,
    FRESH,
    UNCLIPPED,
    WeightedOptimum,
)
from epsilond.accountants.theorems.risk.bietti.sampled_participation import (
    EXAMPLE,
    PRINTED_SMOOTHNESS,
    PRINTED_VARIANCE,
)
from epsilond.accountants.theorems.risk.bietti.step_bounds import theorem_bound, theorem_step


@request
class SampledTargetInputs(WeightedOptimum, BudgetFields):
    """Clients that are drawn independently at rate q, a finite weight α of the shared part, and a target (ε, δ).

    Equation (12) of the paper gives the noise for the target.
    """

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
        """Check that there are 1 to 1000 groups, each with the fields of a group.

        Raises:
            InvalidInput: there are fewer or more groups, or one has wrong fields.
        """
        read_members(self, "client_groups", GroupOfUsers)
        check_groups(self.client_groups)

    def federation(self, weighting: Weighting) -> DrawnGradients:
        """Return the clients of the request, weighted equally (`clients`) or by their records (`samples`)."""
        return DrawnGradients(groups=self.client_groups, weighting=weighting, rate=self.participation_rate)


def _bound_at_target(inputs: SampledTargetInputs, federation: DrawnGradients, reading: Reading) -> dict[str, float]:
    """Compute the bound on the excess risk of personalised SGD at the noise for a target (ε, δ), with its terms.

    A model has a part w that all clients share, with the weight α and d_w coordinates, and an own part θ_i of each
    client. The squared α-norm of a model is ‖w‖²/α + Σ‖θ_i‖². In this norm, the variance of a step is:

        αA + B + αd_wσ_ζ²,

    where A and B are the variances of the shared and the own gradients by sampling. σ_ζ is the standard deviation of
    the noise per shared coordinate of the mean message.

    Args:
        inputs: clients, rounds, constants of the losses, and the target (ε, δ).
        federation: the clients with their weighting.
        reading: "printed" for smoothness and variance as in the paper; "corrected" by errata E-B5 and E-B6.

    Returns:
        `noise_std`, `noise_multiplier`: σ_ζ, and the noise of a round's sum of messages over the bound on a message.
        `weighted_smoothness`, `variance`, `step_size`: smoothness and variance in the α-norm, and the step size.
        `excess_risk`: the bound, `optimisation_term` + √(`statistical_term`² + `privacy_term`²), in loss units.
        `statistical_term`, `privacy_term`: the terms that are due to sampling and to noise.
    """
    alpha, dimension, rounds = inputs.personalization, inputs.shared_dimension, inputs.rounds

    std = _noise_std(inputs, federation)
    multiplier = noise_multiplier_of(
        noise_std=std,
        rate=federation.rate,
        weight=federation.weight,
        clipping_norm=_clipping_norm(inputs, federation),
    )

    smoothness = _smoothness(inputs, federation, reading)
    shared_variance, local_variance = federation.variance_factors(noise_std=0.0, dimension=dimension, reading=reading)
    sampling_variance = alpha * shared_variance + local_variance
    noise_variance = alpha * dimension * std * std
    variance = sampling_variance + noise_variance

    # Theorem 4.5 holds for any smoothness and variance, so it covers randomly drawn clients too.
    norm = inputs.norm
    squared_norm = norm * norm
    bound = theorem_bound(smooth=smoothness * squared_norm, variance=variance * squared_norm, rounds=rounds)
    return {
        "noise_std": std,
        "noise_multiplier": multiplier,
        "weighted_smoothness": smoothness,
        "variance": variance,
        "step_size": theorem_step(smoothness=smoothness, norm=norm, variance=variance, rounds=rounds),
        "optimisation_term": bound.optimisation,
        "statistical_term": 3.0 * norm * math.sqrt(sampling_variance / rounds),
        "privacy_term": 3.0 * norm * math.sqrt(noise_variance / rounds),
        "excess_risk": bound.total,
    }


def _clipping_norm(inputs: SampledTargetInputs, federation: DrawnGradients) -> float:
    """Return the bound on the norm of a message: the bound G on a gradient times the most gradients in a message."""
    return inputs.lipschitz * federation.largest_message


def _noise_std(inputs: SampledTargetInputs, federation: DrawnGradients) -> float:
    """Compute the noise σ_ζ of equation (12) of Bietti et al. for a target (ε, δ).

    Only the part of the model that all clients share is sent and gets noise.

    Args:
        inputs: number of rounds, constant of the noise, and the target.
        federation: the clients, with their total weight.

    Returns:
        The standard deviation σ_ζ per coordinate of the mean message, in the unit of a gradient.
    """
    return noise_with_constant(
        constant=inputs.noise_constant,
        clipping_norm=_clipping_norm(inputs, federation),
        contributions=federation.weight,
        rounds=inputs.rounds,
        epsilon=inputs.epsilon,
        log_delta=inputs.log_delta,
    )


def _smoothness(inputs: SampledTargetInputs, federation: DrawnGradients, reading: Reading) -> float:
    """Compute the smoothness L max{αa, b} of the loss of personalised models, in the norm √(‖w‖²/α + Σ‖θ_i‖²).

    A model has a part w that all clients share, and an own part θ_i of each client. The factor a belongs to the shared
    part, and b to the own parts.

    Args:
        inputs: the run, with smoothness L of the losses and weight α of the shared part.
        federation: the clients. Their weighting determines a and b.
        reading: "printed" for a and b as in Bietti et al.; "corrected" by erratum E-B5.

    Returns:
        The smoothness, in the unit of L.
    """
    shared_factor, local_factor = federation.smoothness_factors(reading)
    return inputs.smoothness * max(inputs.personalization * shared_factor, local_factor)


def _bound_with_smallest_batches(
    inputs: SampledTargetInputs, federation: DrawnGradients, reading: Reading
) -> dict[str, float]:
    """Compute the bound on the excess risk of personalised SGD as if every batch had the smallest batch size.

    The variance of a step is then that of equation (36) of Bietti et al. It is at least the true variance, so the bound
    is larger, and valid too.

    Args:
        inputs: clients, rounds, constants of the losses, and the target (ε, δ).
        federation: the clients with equal weights.
        reading: "printed" for smoothness and variance as in the paper; "corrected" by errata E-B5 and E-B6.

    Returns:
        `coarser_variance` in squared gradient units, and `coarser_excess_risk` in loss units.
    """
    alpha, dimension = inputs.personalization, inputs.shared_dimension
    std = _noise_std(inputs, federation)
    noise_variance = alpha * dimension * std * std
    sampling_variance = federation.coarser_variance(alpha=alpha, noise_std=0.0, dimension=dimension, reading=reading)
    variance = noise_variance + sampling_variance
    squared_norm = inputs.norm * inputs.norm
    smoothness = _smoothness(inputs, federation, reading)
    bound = theorem_bound(smooth=smoothness * squared_norm, variance=variance * squared_norm, rounds=inputs.rounds)
    return {"coarser_variance": variance, "coarser_excess_risk": bound.total}


@in_doubles
def cost_by_samples(inputs: SampledTargetInputs, reading: Reading = "printed") -> Outputs:
    """Bound the excess risk of personalised SGD at the noise for a target (ε, δ), with clients weighted by records.

    The bound is equation (14) of Bietti et al., and the noise is their equation (12).

    Args:
        inputs: the clients, the run and the target.
        reading: "printed" for smoothness and variance as in the paper; "corrected" by errata E-B5 and E-B6.

    Returns:
        The noise, and the bound `excess_risk` with its terms: `optimisation_term` + √(`statistical_term`² +
        `privacy_term`²).
    """
    return _bound_at_target(inputs, inputs.federation("samples"), reading)


@in_doubles
def cost_by_clients(inputs: SampledTargetInputs, reading: Reading = "printed") -> Outputs:
    """Bound the excess risk of personalised SGD at the noise for a target (ε, δ), with equal weights of the clients.

    The bound is that of Theorem B.4 of Bietti et al., and the noise is their equation (12).

    Args:
        inputs: the clients, the run and the target.
        reading: "printed" for smoothness and variance as in the paper; "corrected" by errata E-B5 and E-B6.

    Returns:
        The noise, and the bound `excess_risk` with its terms. `coarser_excess_risk` is the larger bound by the paper's
        equation (36), as if all batches had the smallest size.
    """
    federation = inputs.federation("clients")
    bound = _bound_at_target(inputs, federation, reading)
    coarser_bound = _bound_with_smallest_batches(inputs, federation, reading)
    return {**bound, **coarser_bound}


NOISE_SUFFICES = Condition(
    "constant-suffices",
    (
        "The noise constant c₂ is large enough for this target. Theorem 5.1 does not say which constants are "
        "(bietti.5.1)"
    ),
    undecidable=True,
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
        "E f(z̄_T) − f* ≤ 4L_{m,α}‖z*‖²_α/T + 3‖z*‖_α √((ασ̄²_w + ασ̃²_w + σ̄²_θ)/(qMT) + αd_wG_m²c₂² ln(1/δ)/(M²ε²)), "
        "with G_m = G m_max. The largest batch has m_max of all M records. The printed values of L_{m,α} and σ̃ fail, "
        "and the corrected ones hold (E-B5, E-B6)"
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
        "E f(z̄_T) − f* ≤ 4L_α‖z*‖²_α/T + 3‖z*‖_α √((ασ̄²_w + σ̄²_θ)/(qNm_minT) + ασ̃²_w/(qNT) + αd_wG²c₂² "
        "ln(1/δ)/(N²ε²)). The smallest batch has m_min records. The printed values of L_α and σ̃ fail, and the "
        "corrected ones hold (E-B5, E-B6)"
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

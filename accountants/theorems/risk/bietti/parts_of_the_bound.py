"""Remarks of Bietti et al. on single terms of the bound of PPSGD: the variance term, and the bias at q = 1/N.

Losses are of the form w + θ_i, and all clients have one optimum v. Let u = αN/(αN + 1), and let each client be drawn at
rate q. Then:

    bias = 4L‖v‖² max{(1 + (1 − q)/(qN)) u, (1 − u)/q}/T,
    variance = 3‖v‖ √([((1 − u)σ̄_θ² + uσ̄_w²/N)/(qm) + u d_wσ_ζ²]/T).

The variance is monotone in u, so its best α is 0 or ∞. The bias is least in between.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import (
    SQUARES,
    BatchSize,
    Clients,
    Quantity,
    Rate,
    Rounds,
    SamplesPerClient,
    Smoothness,
)
from epsilond.accountants.quantities.algorithms import (
    LOCAL_GRADIENT_STD,
    OPTIMUM_NORM,
    SHARED_GRADIENT_STD,
    SHARED_NOISE_STD,
    Personalization,
    SharedDimension,
    personalization_value,
)
from epsilond.accountants.theorem import Outputs, Reading, Source, Status, Theorem
from epsilond.accountants.theorems.risk.bietti.drawn_gradients import DrawnGradients, GroupOfUsers
from epsilond.accountants.theorems.risk.bietti.errata import NO_RATE
from epsilond.accountants.theorems.risk.bietti.full_participation import ADDITIVE, CONVEX_SMOOTH, FRESH
from epsilond.accountants.theorems.risk.bietti.minimal_norm import minimal_norm

RATE_OF_DRAWS = Quantity(
    symbol="q", gt=0, le=1, scale=SQUARES, description="probability that a client is drawn in a round; absent: 1/N"
)


# The variance alone ---------------------------------------------------------------------------------------------------
@formula(given="Equal clients of one optimum of norm `optimum_norm`, each drawn with probability q in a round.")
def variance_alone(
    *,
    clients: Clients,
    rounds: Rounds,
    participation_rate: Annotated[Rate, SQUARES] = 1.0,
    batch_size: BatchSize = 1,
    optimum_norm: Annotated[float, OPTIMUM_NORM],
    shared_gradient_std: Annotated[float, SHARED_GRADIENT_STD],
    local_gradient_std: Annotated[float, LOCAL_GRADIENT_STD],
    shared_dimension: SharedDimension,
    noise_std: Annotated[float, SHARED_NOISE_STD],
) -> Outputs:
    """Return the weight α of the shared part at which the variance term of the bound on the excess risk is least.

    The bound is that of Bietti et al. on PPSGD (personalised private SGD) for clients with a common optimum v. The
    variance term, due to sampling and noise, is 3‖v‖√(V/T). Its V is monotone in α between:

        σ̄_θ²/(qm) at α = 0    and    σ̄_w²/(Nqm) + d_wσ_ζ² at α = ∞.

    Args:
        clients: number N of clients.
        rounds: number T of rounds.
        participation_rate: probability q that a client is drawn in a round.
        batch_size: records m of a batch.
        optimum_norm: norm ‖v‖ of the common optimum.
        shared_gradient_std: standard deviation σ̄_w of one record's shared gradient.
        local_gradient_std: standard deviation σ̄_θ of one record's local gradient.
        shared_dimension: number d_w of shared coordinates.
        noise_std: standard deviation σ_ζ of the noise per shared coordinate.

    Returns:
        `personalization`: the best α, which is 0 or ∞; 0 if both give the same term.
        `variance_term`: the variance term at the best α, in units of the loss.
        `local_variance_term`, `global_variance_term`: the term at α = 0 and at α = ∞.
        `threshold_noise_variance`: the noise variance σ_ζ² at which the terms at 0 and ∞ are equal.
    """
    # V at α = 0, where nothing is shared, and at α = ∞, where the whole model is shared.
    expected_records = participation_rate * batch_size
    local_variance = local_gradient_std**2 / expected_records
    sampling_variance = shared_gradient_std**2 / clients / expected_records
    shared_variance = sampling_variance + shared_dimension * noise_std**2

    def term(variance: float) -> float:
        """Return the variance term 3‖v‖√(variance/T) of the bound."""
        return 3.0 * optimum_norm * math.sqrt(variance / rounds)

    best_alpha = 0.0 if local_variance <= shared_variance else math.inf
    saved_variance = max(local_variance - sampling_variance, 0.0)
    return {
        "personalization": best_alpha,
        "variance_term": term(min(local_variance, shared_variance)),
        "local_variance_term": term(local_variance),
        "global_variance_term": term(shared_variance),
        "threshold_noise_variance": saved_variance / shared_dimension,
    }


VARIANCE_ALONE = Theorem(
    id="epsilond.personalization-by-variance",
    title="How much of a model to share, by the variance only",
    statement=(
        "Let the losses depend on w + θ_i, and let all N clients share one optimum. The variance term of the bound is "
        "least at α = 0 if σ̄_w²/(Nqm) + d_wσ_ζ² ≥ σ̄_θ²/(qm). Otherwise it is least at α = ∞. Here each client is "
        "drawn with probability q, and its batch has m records"
    ),
    source=Source("epsilond", "accountants/theorems/risk/bietti/parts_of_the_bound.py"),
    status=Status.PROVED,
    conditions=(ADDITIVE,),
    formula=variance_alone,
    examples=(
        {
            "clients": 50,
            "rounds": 2000,
            "batch_size": 10,
            "participation_rate": 0.5,
            "optimum_norm": 3.0,
            "shared_gradient_std": 1.0,
            "local_gradient_std": 1.0,
            "shared_dimension": 20,
            "noise_std": 0.05,
        },
    ),
)


# The bias where a client is drawn once in N rounds --------------------------------------------------------------------
def _check_personalization(inputs: object) -> None:
    """Require an α that is a number from 0 to 1e100 or "unbounded".

    Raises:
        InvalidInput: it is neither.
    """
    personalization_value(inputs.personalization)  # type: ignore[attr-defined]


@formula(
    given="Equal clients of one optimum, each of which uses so many records in the mean: T = n/(qm) rounds.",
    checks=(_check_personalization,),
)
def bias(
    *,
    clients: Clients,
    samples_per_client: SamplesPerClient,
    participation_rate: Annotated[float | None, RATE_OF_DRAWS] = None,
    batch_size: BatchSize = 1,
    smoothness: Smoothness,
    optimum_norm: Annotated[float, OPTIMUM_NORM],
    personalization: Personalization,
    reading: Reading = "printed",
) -> Outputs:
    """Return the optimisation term of the bound of Bietti et al. on the excess risk of PPSGD, at several weights α.

    α is the weight of the part of a model that all clients share. With the minimiser z* of least norm, the term is:

        4L max{αa, b}‖z*‖²/T.

    The factors a and b of the smoothness depend on the sampling of clients. At the balanced α = b/a, both are equal.

    Args:
        clients: number N of clients.
        samples_per_client: mean number n of records that a client uses in the run.
        participation_rate: probability q that a client is drawn in a round; if absent, 1/N.
        batch_size: records m of a batch.
        smoothness: smoothness L of the losses.
        optimum_norm: norm ‖v‖ of the common optimum.
        personalization: weight α of the shared part, or "unbounded" for ∞.
        reading: "printed" takes the smoothness of the statement of Theorem B.4, which is too small (erratum E-B5);
            "corrected" takes the proved one.

    Returns:
        `rounds`: number T = n/(qm) of rounds.
        `optimisation_term`: the term at the given α, in units of the loss.
        `local_…`, `global_…` and `balanced_optimisation_term`: the term at α = 0, at α = ∞ and at the balanced α.
        `balanced_personalization`: the balanced α = b/a.
        `ratio_to_claim`: the term at the given α divided by 4L‖v‖²m/(Nn), the term that the paper states, or 0.
    """
    # A client uses m records with probability q in each round, so n records in the mean need n/(qm) rounds.
    rate = 1.0 / clients if participation_rate is None else participation_rate
    rounds = samples_per_client / (rate * batch_size)

    # The factors a and b do not depend on the variance of gradients, which is therefore set to 0.
    group = GroupOfUsers(clients=clients, batch_size=batch_size, shared_gradient_std=0.0, local_gradient_std=0.0)
    federation = DrawnGradients(groups=(group,), weighting="clients", rate=rate)
    shared_factor, local_factor = federation.smoothness_factors(reading)
    balanced_alpha = local_factor / shared_factor
    squared_norm = optimum_norm * optimum_norm
    scale = 4.0 * smoothness * squared_norm / rounds

    def term_at(alpha: float) -> float:
        """Return the optimisation term at an α in [0, ∞]."""
        if math.isinf(alpha):
            return scale * shared_factor
        relative_norm = minimal_norm(alpha=alpha, clients=clients, mean_squared=1.0, spread_squared=0.0)
        return scale * max(alpha * shared_factor, local_factor) * relative_norm

    # The term that the paper states is 4L‖v‖²m/(Nn) = scale/(Nq).
    term = term_at(personalization_value(personalization))
    paper_claim = scale / (clients * rate)
    ratio = term / paper_claim if paper_claim > 0.0 else 0.0
    return {
        "rounds": rounds,
        "optimisation_term": term,
        "local_optimisation_term": term_at(0.0),
        "balanced_personalization": balanced_alpha,
        "balanced_optimisation_term": term_at(balanced_alpha),
        "global_optimisation_term": term_at(math.inf),
        "ratio_to_claim": ratio,
    }


BIAS = Theorem(
    id="bietti.section-5-bias",
    title="The bias where each client is drawn once in N rounds",
    statement=(
        "At q = 1/N and T = nN, the bias decreases as 1/(Nn). We read this for a fixed α > 0 and clients that share "
        "one optimum v. The bias is then 4L‖v‖² max{(1 + (1 − q)/(qN))u, (1 − u)/q}/T with u = αN/(αN + 1). It is at "
        "most max{2, 1/α} 4L‖v‖²/(Nn). At α = 0 it is 4L‖v‖²/n"
    ),
    source=Source("bietti2022", "Section 5, the remark on q = 1/N"),
    status=Status.PROVED,
    conditions=(CONVEX_SMOOTH, FRESH, ADDITIVE),
    errata=(NO_RATE,),
    formula=bias,
    examples=(
        {
            "clients": 1000,
            "samples_per_client": 100,
            "smoothness": 2.0,
            "optimum_norm": 3.0,
            "personalization": 0.5,
        },
        {
            "clients": 1000,
            "samples_per_client": 100,
            "smoothness": 2.0,
            "optimum_norm": 3.0,
            "personalization": 0.0,
        },
    ),
)
THEOREMS: tuple[Theorem, ...] = (VARIANCE_ALONE, BIAS)

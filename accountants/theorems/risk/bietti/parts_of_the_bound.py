"""What Bietti et al. say of single terms of the bound of PPSGD: the variance alone, and the bias at q = 1/N.

For losses of w + θ_i and clients of one optimum v, at u = αN/(αN + 1) and with clients drawn at rate q,

    bias = 4L‖v‖² max{(1 + (1 − q)/(qN)) u, (1 − u)/q}/T,
    variance = 3‖v‖ √([((1 − u)σ̄_θ² + uσ̄_w²/N)/(qm) + u d_wσ_ζ²]/T).

The second is monotone in u, so that its best α is 0 or ∞; the first is least in between.
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
from epsilond.accountants.theorems.risk.bietti.full_participation import ADDITIVE, CONVEX_SMOOTH, FRESH
from epsilond.accountants.theorems.risk.bietti.personalization import minimal_norm
from epsilond.accountants.theorems.risk.bietti.sampled_participation import NO_RATE, DrawnGradients, GroupOfUsers

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
    """The α of the least variance term, 0 on a tie; the term at both ends; and the σ_ζ² at which these are equal."""
    drawn = participation_rate * batch_size
    local = local_gradient_std**2 / drawn
    shared = shared_gradient_std**2 / clients / drawn
    whole = shared + shared_dimension * noise_std**2
    return {
        "personalization": 0.0 if local <= whole else math.inf,
        "variance_term": 3.0 * optimum_norm * math.sqrt(min(local, whole) / rounds),
        "local_variance_term": 3.0 * optimum_norm * math.sqrt(local / rounds),
        "global_variance_term": 3.0 * optimum_norm * math.sqrt(whole / rounds),
        "threshold_noise_variance": max(local - shared, 0.0) / shared_dimension,
    }


VARIANCE_ALONE = Theorem(
    id="epsilond.personalization-by-variance",
    title="How much of a model to share, by the variance alone",
    statement=(
        "for losses of w + θ_i and clients of one optimum the variance term of the bound is least at α = 0 where "
        "σ̄_w²/(Nqm) + d_wσ_ζ² ≥ σ̄_θ²/(qm), else at ∞"
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
    """The bias at α, at 0, at the balanced α and at ∞; and that of α in units of 4L‖v‖²m/(Nn).

    Printed: with the smoothness as the statement of Theorem B.4 has it. Corrected: with the true one.
    """
    rate = 1.0 / clients if participation_rate is None else participation_rate
    group = GroupOfUsers(clients=clients, batch_size=batch_size, shared_gradient_std=0.0, local_gradient_std=0.0)
    factors = DrawnGradients(groups=(group,), weighting="clients", rate=rate).smoothness_factors(reading)
    rounds, squared = samples_per_client / (rate * batch_size), optimum_norm * optimum_norm
    unit = 4.0 * smoothness * squared / rounds

    def at(alpha: float) -> float:
        if math.isinf(alpha):
            return unit * factors[0]
        norm = minimal_norm(alpha=alpha, clients=clients, mean_squared=1.0, spread_squared=0.0)
        return unit * max(alpha * factors[0], factors[1]) * norm

    alpha, balanced = personalization_value(personalization), factors[1] / factors[0]
    found = at(alpha)
    claimed = unit / (clients * rate)
    return {
        "rounds": rounds,
        "optimisation_term": found,
        "local_optimisation_term": at(0.0),
        "balanced_personalization": balanced,
        "balanced_optimisation_term": at(balanced),
        "global_optimisation_term": at(math.inf),
        "ratio_to_claim": found / claimed if claimed > 0.0 else 0.0,
    }


BIAS = Theorem(
    id="bietti.section-5-bias",
    title="The bias where each client is drawn once in N rounds",
    statement=(
        "at q = 1/N, T = nN, the bias decreases as 1/(Nn). Read here for a fixed α > 0 and clients of one optimum v: "
        "it is 4L‖v‖² max{(1 + (1 − q)/(qN))u, (1 − u)/q}/T, u = αN/(αN + 1), which is at most "
        "max{2, 1/α} 4L‖v‖²/(Nn). At α = 0 it is 4L‖v‖²/n"
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

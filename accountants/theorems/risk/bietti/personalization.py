"""Choice of the shared part of a model: the bound of PPSGD over α for losses of w + θ_i (Bietti et al., Lemma 4.6).

Let v̄ be the mean of the clients' optima and S = Σ‖v_i − v̄‖². The minimiser of least α-norm is w = αN/(αN + 1) v̄,
θ_i = v_i − w. It has ‖z*‖²_α = N‖v̄‖²/(αN + 1) + S. Let u = αN/(αN + 1), S = 0, smoothness L max{αa, b} and variance
αA + B. Then the bound is:

    4L‖v̄‖² max{au, bN(1 − u)}/T + 3‖v̄‖√((Au + BN(1 − u))/T).

It is concave where the maximum is one of its two sides, so its least value is at α = 0, b/a or ∞. With S > 0 the bound
is infinite at α = ∞, and the best α may be any number; a search finds it.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import FormulaRequest, formula
from epsilond.accountants.quantities import BatchSize, Clients, Rate, Rounds, Smoothness
from epsilond.accountants.quantities.algorithms import (
    LOCAL_GRADIENT_STD,
    OPTIMUM_NORM,
    OPTIMUM_SPREAD,
    SHARED_GRADIENT_STD,
    SHARED_NOISE_STD,
    Personalization,
    SharedDimension,
    personalization_value,
)
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.risk.bietti.drawn_gradients import DrawnGradients, GroupOfUsers
from epsilond.accountants.theorems.risk.bietti.full_participation import ADDITIVE, CONVEX_SMOOTH, FRESH
from epsilond.accountants.theorems.risk.bietti.landscape import Landscape
from epsilond.accountants.theorems.risk.bietti.minimal_norm import minimal_norm, shared_part


# The minimiser of least norm, and the best α ------------------------------------------------------------------------
def _check_personalization(inputs: FormulaRequest) -> None:
    """Require an α that is a number from 0 to 1e100 or "unbounded"."""
    personalization_value(inputs.personalization)


@formula(
    given="Clients whose own optima have a mean of norm `optimum_norm` and a root mean square spread about it.",
    checks=(_check_personalization,),
)
def minimal_norm_optimum(
    *,
    clients: Clients,
    personalization: Personalization,
    optimum_norm: Annotated[float, OPTIMUM_NORM],
    optimum_spread: Annotated[float, OPTIMUM_SPREAD] = 0.0,
) -> Outputs:
    """Return the minimiser of least norm among all models that give every client its optimum.

    Client i uses the sum w + θ_i of a shared part w and an own part θ_i, and its optimum is v_i. Many choices of
    z = (w, θ_1, …, θ_N) give the same sums. With the squared norm ‖z‖² = ‖w‖²/α + Σ‖θ_i‖² and the mean v̄ of the optima,
    the choice of least norm is:

        w = a v̄ and θ_i = v_i − a v̄,    with a = αN/(αN + 1).

    Args:
        clients: number N of clients.
        personalization: weight α of the shared part in the norm, or "unbounded" for ∞.
        optimum_norm: norm ‖v̄‖ of the mean of the optima.
        optimum_spread: root mean square distance of the optima from their mean.

    Returns:
        `shared_share`, `local_share`: the shares a and 1 − a of v̄ in w and in θ_i.
        `squared_norm`: the least squared norm ‖z‖².
    """
    alpha = personalization_value(personalization)
    local_share = 0.0  # the limit at α = ∞
    if not math.isinf(alpha):
        local_share = 1.0 / (alpha * clients + 1.0)
    squared_norm = minimal_norm(
        alpha=alpha, clients=clients, mean_squared=optimum_norm**2, spread_squared=clients * optimum_spread**2
    )
    return {
        "shared_share": shared_part(alpha=alpha, clients=clients),
        "local_share": local_share,
        "squared_norm": squared_norm,
    }


@formula(
    given="Equal clients, each drawn with probability q in a round, and what is known of their optima and gradients."
)
def optimum(
    *,
    clients: Clients,
    rounds: Rounds,
    participation_rate: Rate = 1.0,
    batch_size: BatchSize = 1,
    smoothness: Smoothness,
    optimum_norm: Annotated[float, OPTIMUM_NORM],
    optimum_spread: Annotated[float, OPTIMUM_SPREAD] = 0.0,
    shared_gradient_std: Annotated[float, SHARED_GRADIENT_STD],
    local_gradient_std: Annotated[float, LOCAL_GRADIENT_STD],
    shared_dimension: SharedDimension,
    noise_std: Annotated[float, SHARED_NOISE_STD],
) -> Outputs:
    """Return the weight α of the shared part that minimises the bound on the excess risk of personalised SGD.

    Client i uses the sum w + θ_i of a shared part w and an own part θ_i. The step size of w is α times that of θ_i. The
    bound is that of Bietti et al. for randomly drawn clients (Theorems 4.5 and B.4).

    Args:
        clients: number N of clients.
        rounds: number T of rounds.
        participation_rate: probability q that a client is drawn in a round.
        batch_size: records m of a batch.
        smoothness: smoothness L of the losses.
        optimum_norm: norm ‖v̄‖ of the mean of the optima.
        optimum_spread: root mean square distance of the optima from their mean.
        shared_gradient_std: standard deviation σ̄_w of one record's shared gradient.
        local_gradient_std: standard deviation σ̄_θ of one record's local gradient.
        shared_dimension: number d_w of shared coordinates.
        noise_std: standard deviation σ_ζ of the noise per shared coordinate.

    Returns:
        `personalization`: the best α, in [0, ∞].
        `excess_risk`: the bound at the best α, in units of the loss.
        `step_size`, `shared_step_size`: the step sizes of θ_i and of w at the best α.
        `local_excess_risk`: the bound at α = 0, where only θ_i is trained.
        `global_excess_risk`: the bound at α = ∞, where only w is trained.
        `balanced_personalization`, `balanced_excess_risk`: the α at which the problem is equally smooth in w and in
        θ_i, and the bound there.
    """
    group = GroupOfUsers(
        clients=clients,
        batch_size=batch_size,
        shared_gradient_std=shared_gradient_std,
        local_gradient_std=local_gradient_std,
    )
    landscape = Landscape.of(
        DrawnGradients(groups=(group,), weighting="clients", rate=participation_rate),
        rounds=rounds,
        smoothness=smoothness,
        optimum_norm=optimum_norm,
        optimum_spread=optimum_spread,
        noise_std=noise_std,
        dimension=shared_dimension,
    )

    best = landscape.best()
    return {
        "personalization": best.alpha,
        "excess_risk": best.total,
        "step_size": best.step_size,
        "shared_step_size": best.shared_step_size,
        "local_excess_risk": landscape.at(0.0).total,
        "balanced_personalization": landscape.balanced,
        "balanced_excess_risk": landscape.at(landscape.balanced).total,
        "global_excess_risk": landscape.at(math.inf).total,
    }


MINIMAL_NORM = Theorem(
    id="epsilond.minimal-norm-optimum",
    title="The optimum that PPSGD pays least for",
    statement=(
        "Let v_i be the optimum of client i, and v̄ the mean of all N optima. The parts w = αN/(αN + 1) v̄ and θ_i = "
        "v_i − w minimise ‖w‖²/α + Σ‖θ_i‖². The minimum is N‖v̄‖²/(αN + 1) + Σ‖v_i − v̄‖²"
    ),
    source=Source("epsilond", "accountants/theorems/risk/bietti/personalization.py"),
    status=Status.PROVED,
    conditions=(ADDITIVE,),
    formula=minimal_norm_optimum,
    examples=({"clients": 7, "personalization": 0.5, "optimum_norm": 1.5, "optimum_spread": 0.1},),
)
OPTIMUM = Theorem(
    id="epsilond.optimal-personalization",
    title="How much of a model to share",
    statement=(
        "Let the losses depend on w + θ_i, and let all N clients share one optimum. The bound on the excess risk is "
        "least at α = 0, at 1/(qN + 1 − q) or at ∞. For clients with different optima, a search minimises the bound "
        "over α ≥ 0. Every α gives a valid bound"
    ),
    source=Source("epsilond", "accountants/theorems/risk/bietti/personalization.py"),
    status=Status.PROVED,
    conditions=(CONVEX_SMOOTH, FRESH, ADDITIVE),
    formula=optimum,
    examples=(
        {
            "clients": 50,
            "rounds": 2000,
            "batch_size": 10,
            "smoothness": 2.0,
            "optimum_norm": 44.0,
            "shared_gradient_std": 0.02,
            "local_gradient_std": 0.02,
            "shared_dimension": 20,
            "noise_std": 0.001,
        },
    ),
)
THEOREMS: tuple[Theorem, ...] = (MINIMAL_NORM, OPTIMUM)

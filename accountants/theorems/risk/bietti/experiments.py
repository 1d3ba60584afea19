"""Experiments of Bietti et al.: smoothness of the squared loss, and constants of the synthetic data."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.power_sums import harmonic
from epsilond.accountants.quantities import SQUARES, AtMost, BatchSize, Clients, Dimension, Quantity
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.risk.bietti.errata import RISK_OF_THE_PLOTS

FEATURE_NORM = Quantity(symbol="R", ge=0, scale=SQUARES, description="bound on the ℓ2 norm of one record's features")
COMMON_STD = Quantity(
    symbol="s₀", ge=0, scale=SQUARES, description="standard deviation of a coordinate of the common model"
)
OWN_STD = Quantity(
    symbol="s_i", ge=0, scale=SQUARES, description="standard deviation of what a client adds to its own coordinates"
)
LABEL_STD = Quantity(symbol="τ", ge=0, scale=SQUARES, description="standard deviation of a label's noise")
OWN_COORDINATES = Quantity(
    symbol="d_i", ge=0, le=10**6, description="how many coordinates, the last ones, differ between clients"
)
STEP_SIZES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.2, 1.5, 1.8)
SCALED_PERSONALIZATIONS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, "unbounded")
NOISE_MULTIPLIERS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


@formula(given="Features of at most this norm.")
def squared_loss(*, feature_norm: Annotated[float, FEATURE_NORM]) -> Outputs:
    """Return the smoothness of the squared loss ½(y − (w + θ_i)ᵀx)² of personalised federated learning.

    The smoothness is a Lipschitz constant of the gradient.

    Args:
        feature_norm: bound R on the norm of the features x of a record.

    Returns:
        `smoothness`: 2R², in the pair (w, θ_i) of the shared and the own model.
        `smoothness_of_a_part`: R², in w or in θ_i if the other part is fixed.
    """
    squared = feature_norm * feature_norm
    return {"smoothness": 2.0 * squared, "smoothness_of_a_part": squared}


SQUARED_LOSS = Theorem(
    id="bietti.squared-loss",
    title="Smoothness of the squared loss of w + θ_i",
    statement=(
        "The squared loss ½(y − (w + θ_i)ᵀx)² with features ‖x‖ ≤ R is jointly convex and 2R²-smooth in (w, θ_i). It "
        "attains this smoothness"
    ),
    source=Source("bietti2022", "Section 4, the additive model with the squared loss"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "bounded-features",
            (
                "The features x of every record have a norm of at most R. Gaussian features, as in the experiments, "
                "have no such bound"
            ),
        ),
    ),
    formula=squared_loss,
    examples=({"feature_norm": 1.5},),
)


@formula(
    given="The synthetic data; the defaults are the paper's.",
    checks=(AtMost("own_coordinates", "dimension", "cannot exceed dimension"),),
)
def synthetic_constants(
    *,
    clients: Clients = 1000,
    dimension: Dimension = 100,
    own_coordinates: Annotated[int, OWN_COORDINATES] = 5,
    common_std: Annotated[float, COMMON_STD] = 10.0,
    own_std: Annotated[float, OWN_STD] = 0.01,
    label_std: Annotated[float, LABEL_STD] = 0.01,
    batch_size: BatchSize = 10,
) -> Outputs:
    """Return the constants of the synthetic data in Bietti et al., and the values over which their experiments search.

    The features have the covariance Σ = diag(1/k) for the coordinates k = 1, …, d, and client i has the true model
    θ_i*. The risk of models w + θ_i, in expectation over the random θ_i*, is:

        (1/N) Σ_i ‖w + θ_i − θ_i*‖²_Σ.

    Args:
        clients: number N of clients.
        dimension: number d of coordinates.
        own_coordinates: number d_i of last coordinates that differ between clients, at most d.
        common_std: standard deviation s₀ of a coordinate of the common model.
        own_std: standard deviation s_i of a client's deviation on its own coordinates.
        label_std: standard deviation τ of the noise of a label.
        batch_size: records m of a batch.

    Returns:
        `covariance_trace`, `squared_common_norm`: tr Σ, and the mean squared norm of the common model.
        `initial_risk`, `global_risk`: the risk before training, and the least risk of one model for all clients.
        `gradient_variance`: the variance of a batch's gradient at the optimum.
        `step_sizes`, `scaled_personalizations`, `noise_multipliers`: the values of the search. The noise multipliers
        are in units of the clipping norm divided by N.
    """
    covariance_trace = harmonic(dimension)

    first_own_coordinate = dimension - own_coordinates + 1
    own_trace = math.fsum(1.0 / coordinate for coordinate in range(first_own_coordinate, dimension + 1))
    own_risk = own_std * own_std * own_trace

    common_risk = common_std * common_std * covariance_trace
    gradient_variance = label_std * label_std * covariance_trace / batch_size
    return {
        "covariance_trace": covariance_trace,
        "squared_common_norm": dimension * common_std * common_std,
        "initial_risk": common_risk + own_risk,
        "global_risk": (clients - 1) / clients * own_risk,
        "gradient_variance": gradient_variance,
        "step_sizes": STEP_SIZES,
        "scaled_personalizations": SCALED_PERSONALIZATIONS,
        "noise_multipliers": NOISE_MULTIPLIERS,
    }


SYNTHETIC = Theorem(
    id="bietti.appendix-a",
    title="The constants of the synthetic data, and the grids of the search",
    statement=(
        "The data are x ~ N(0, diag(1/k)) and y = θ_i*ᵀx + N(0, τ²). Here θ_i* = θ₀ ~ N(0, s₀²I), except for N(0, "
        "s_i²) on the last d_i coordinates. Then tr Σ = H_d. The start has the risk s₀²H_d + s_i² Σ_{k>d−d_i} 1/k. One "
        "model for all has (1 − 1/N) times the last term. A batch's gradient at the optimum has the variance τ²H_d/m. "
        "The step η and αN are from the grids"
    ),
    source=Source("bietti2022", "Section 6 and Appendix A"),
    status=Status.PROVED,
    errata=(RISK_OF_THE_PLOTS,),
    formula=synthetic_constants,
    examples=({},),
)
THEOREMS: tuple[Theorem, ...] = (SQUARED_LOSS, SYNTHETIC)

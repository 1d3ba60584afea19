"""Two steps of Lowy and Razaviyayn that need ∇F(w*) = 0 at the minimiser w*: Lemma E.5, second inequality, and (16).

Both are about the averaged noisy gradient g of one round. Let φ_i be the standard deviation of client i's gradients at
w*, and v* the root mean square of the clients' mean gradients there. Conditioning on the clients gives exactly:

    E|g(w*)|² = |∇F(w*)|² + mean_i(φ_i²)/(MK) + v²/M (N − M)/(N − 1) + d mean_i(σ_i²)/M,   v² = v*² − |∇F(w*)|².

The printed second inequality has neither |∇F(w*)|² nor the difference of v² and v*². As (N − M)/((N − 1)M) ≤ 1, it is
too small by at most |∇F(w*)|², and right if ∇F(w*) = 0. Equation (16) bounds the distance from w* after one step:

    E|w_{r+1} − w*|² ≤ (1 − μη)E|w_r − w*|² − 2η(1 − 2βη)E[F̂(w_r) − F̂*] + 2η²(φ*²/K + Υ*²)/M + η²dσ²/M.

It uses that inequality for g(w*), and Lemma E.8 for g(w_r) − g(w*). Lemma E.4 and Theorem 4.1 follow from (16).
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from epsilond.accountants.formula import in_doubles
from epsilond.accountants.quantities import (
    CONVEXITY_WITHIN_SMOOTHNESS,
    SQUARES,
    BatchSize,
    Checks,
    Dimension,
    GradientStd,
    Heterogeneity,
    NoiseStd,
    Quantity,
    Smoothness,
    StepSize,
    StrongConvexity,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.client_statistics import ClientFields
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.gradient_variance import fresh_gradient_variance
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.noisy_descent import CONSTRAINED_MINIMUM
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import Variance

MEAN_GRADIENT = Quantity(
    symbol="|∇F(w*)|", unit="loss/length", ge=0, scale=SQUARES, description="norm of the gradient at the minimiser"
)
DISTANCE = Quantity(
    symbol="√E|w_r − w*|²", unit="length", ge=0, scale=SQUARES, description="distance of the iterate from the minimiser"
)
EXCESS = Quantity(
    symbol="E F̂(w_r) − F̂*", unit="loss", ge=0, scale=SQUARES, description="excess risk of the iterate on the data"
)


@request
class MinimiserRound(ClientFields):
    """A round of noisy mini-batch SGD at the minimiser w* of the objective F, with statistics of its gradients there.

    Clients may state their own gradient standard deviation and noise. `gradient_std` (φ*) and `noise_std` are for the
    others. `batch_size` is the smallest of any client. `heterogeneity` (v*) is the root mean square over clients of the
    norm of their mean gradients. If ∇F(w*) is not 0, at the boundary of the domain, v* includes it.
    """

    batch_size: BatchSize
    dimension: Dimension
    gradient_std: GradientStd
    heterogeneity: Heterogeneity = 0.0
    noise_std: NoiseStd
    mean_gradient_norm: Annotated[float, MEAN_GRADIENT] = 0.0

    def variance(self, reading: Reading, heterogeneity: float) -> Variance:
        """Return the variance of a round's averaged noisy gradient at the minimiser, split by its causes.

        Args:
            reading: how the variances of the clients are averaged. "corrected" uses their means, which are exact;
                "printed" the upper bounds of Lowy and Razaviyayn (docs/errata.md, E-31).
            heterogeneity: standard deviation of the clients' mean gradients, at least 0.

        Returns:
            The variance due to sampled records, to sampled clients, and to noise, in squared gradient units.
        """
        return fresh_gradient_variance(
            self.statistics(gradient_std=self.gradient_std, noise_std=self.noise_std),
            clients=self.clients,
            batch_size=self.batch_size,
            dimension=self.dimension,
            heterogeneity=heterogeneity,
            reading=reading,
        )


@in_doubles
def second_moment(inputs: MinimiserRound, reading: Reading = "printed") -> Outputs:
    """Return the mean square E|g|² of a round's averaged noisy gradient g at the minimiser w*, and its summands.

    Lemma E.5 of Lowy and Razaviyayn assumes ∇F(w*) = 0. The gradient may differ from 0 if the minimiser is on the
    boundary of the domain. The corrected value then has |∇F(w*)|² as a further summand.

    Args:
        inputs: the round, and statistics of the gradients at the minimiser.
        reading: "printed" for the second inequality of the lemma, "corrected" for the exact value (errata E-13, E-31).

    Returns:
        `mean_square`, and the summands of the variance by the sampling of records, the sampling of clients and the
        noise. All are in squared gradient units.
    """
    if reading == "printed":
        variance = inputs.variance(reading, inputs.heterogeneity)
        return {"mean_square": variance.total, **variance.parts}

    # The mean squared norm of the clients' mean gradients is their variance plus the square of their mean.
    squared_mean = inputs.mean_gradient_norm * inputs.mean_gradient_norm
    client_variance = max(inputs.heterogeneity * inputs.heterogeneity - squared_mean, 0.0)
    variance = inputs.variance(reading, math.sqrt(client_variance))
    return {"mean_square": variance.total + squared_mean, **variance.parts}


@request
class DescentStep(MinimiserRound):
    """One step of noisy mini-batch SGD from the iterate w_r, with statistics of the gradients at the minimiser w*.

    `distance` is that of w_r from w*, and `excess_risk` that of w_r on the data.
    """

    distance: Annotated[float, DISTANCE]
    excess_risk: Annotated[float, EXCESS] = 0.0
    step_size: StepSize
    smoothness: Smoothness
    strong_convexity: StrongConvexity = 0.0

    checks: ClassVar[Checks] = (CONVEXITY_WITHIN_SMOOTHNESS,)


@in_doubles
def one_step(inputs: DescentStep) -> Outputs:
    """Bound the mean squared distance of noisy SGD from the minimiser after one step (equation (16) of the paper).

    The bound is:

        (1 − μη)E|w_r − w*|² − 2η(1 − 2βη)E[F̂(w_r) − F̂*] + η²(2 · variance by sampling + variance of the noise).

    Here η is the step size, μ the strong convexity and β the smoothness of the empirical loss F̂. The iterate w_r has
    the excess risk E[F̂(w_r) − F̂*].

    Args:
        inputs: the step. An `excess_risk` of 0 gives a bound for every iterate at that distance, if ηβ ≤ 1/2.

    Returns:
        `squared_distance`: the bound.
        `contracted`: its first term, from the previous distance.
        `progress`: its second term, which is subtracted.
        `added_variance`: its third term.
    """
    step = inputs.step_size
    variance = inputs.variance("printed", inputs.heterogeneity)
    contracted = (1.0 - inputs.strong_convexity * step) * inputs.distance * inputs.distance
    progress = 2.0 * step * (1.0 - 2.0 * inputs.smoothness * step) * inputs.excess_risk
    sampling_variance = variance.sampling + variance.clients
    added = step * step * (2.0 * sampling_variance + variance.noise)
    return {
        "squared_distance": max(contracted - progress + added, 0.0),
        "contracted": contracted,
        "progress": progress,
        "added_variance": added,
    }


STATIONARY = Condition(
    "stationary-minimum",
    "the gradient of the objective is 0 at the minimiser over the domain, as it is at one inside the domain",
)
_CLIENTS = {"clients": 25, "batch_size": 100, "dimension": 20, "gradient_std": 1.0, "noise_std": 0.4}
_ROUND = {**_CLIENTS, "participants": 10}

MINIMISER = Theorem(
    id="lowy.lemma-e.5.minimiser",
    title="Mean square of one round's gradient at the minimiser",
    statement=(
        "At a minimiser w* over the domain, E|g|² ≤ min{Φ*²/(M'K), φ*²_max/(MK)} + (1 − (M − 1)/(N − 1)) v*²/M "
        "1{N > 1} + d min{Σ²/M', σ²_max/M}. Without ∇F(w*) = 0, |∇F(w*)|² is to be added"
    ),
    source=Source("lowy2023", "Lemma E.5, second inequality"),
    status=Status.REFUTED,
    conditions=(
        STATIONARY,
        Condition("fresh-records", "no record has been used in an earlier round"),
        Condition(
            "mean-within",
            "|∇F(w*)| ≤ v* for the root mean square v* of the clients' mean gradients",
            lambda inputs: Sides.at_most(inputs.mean_gradient_norm, inputs.heterogeneity),
        ),
    ),
    errata=(CONSTRAINED_MINIMUM,),
    inputs=MinimiserRound,
    formula=second_moment,
    examples=({**_ROUND, "heterogeneity": 0.7}, {**_ROUND, "heterogeneity": 0.7, "mean_gradient_norm": 0.5}),
)
EQUATION_16 = Theorem(
    id="lowy.equation-16",
    title="One step of noisy projected descent",
    statement=(
        "E|w_{r+1} − w*|² ≤ (1 − μη)E|w_r − w*|² − 2η(1 − 2βη)E[F̂(w_r) − F̂*] + 2η²(φ*²/K + Υ*²)/M + η²dσ²/M. "
        "Here w* minimises F̂ over the domain. We read it for ∇F̂(w*) = 0, and take the averages of Lemma E.4 over "
        "clients and participants"
    ),
    source=Source("lowy2023", "Equation (16), in the proof of Lemma E.4"),
    status=Status.REFUTED,
    conditions=(
        Condition(
            "step-size",
            "η β ≤ 1/4 for the step size η and the smoothness β",
            lambda inputs: Sides.at_most(inputs.step_size * inputs.smoothness, 0.25),
        ),
        STATIONARY,
        Condition("loss", "every record's loss is convex and β-smooth on the whole space, and F̂ μ-strongly convex"),
        Condition("fresh-noise", "every round has fresh noise and a fresh uniform batch"),
    ),
    errata=(CONSTRAINED_MINIMUM,),
    inputs=DescentStep,
    formula=one_step,
    examples=(
        {**_ROUND, "heterogeneity": 0.7, "distance": 1.5, "excess_risk": 0.3, "step_size": 0.1, "smoothness": 2.0},
        {
            **_CLIENTS,
            "participation": [{"participants": 4, "probability": 0.5}, {"participants": 8, "probability": 0.5}],
            "client_groups": [{"clients": 20}, {"clients": 5, "gradient_std": 2.0, "noise_std": 1.0}],
            "distance": 1.5,
            "step_size": 0.02,
            "smoothness": 2.0,
            "strong_convexity": 0.1,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (MINIMISER, EQUATION_16)

"""Lemma E.4 of Lowy and Razaviyayn: noisy projected descent, on a convex and on a strongly convex loss.

Both parts sum the recursion E|w_{r+1} − w*|² ≤ (1 − μη)E|w_r − w*|² − η E[F̂(w_r) − F̂*] + cη² with c = 2 min{Φ*²/(M'K),
φ*²_max/(MK)} + 2Υ*²/M + d min{Σ²/M', σ²_max/M}, for η ≤ 1/(4β): the convex one plainly, the strongly convex one, (14),
by Lemma E.9 with g = 4β. It needs ∇F̂(w*) = 0 (E-13). The corrected readings average w_1, …, w_R and do not
(`explicit_bound.py`).
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

from epsilond.accountants.quantities import (
    CONVEXITY_WITHIN_SMOOTHNESS,
    STEP_SIZE,
    BatchSize,
    Checks,
    Dimension,
    EmpiricalGradientStd,
    EmpiricalHeterogeneity,
    InitialDistance,
    NoiseStd,
    Quantity,
    Rounds,
    Smoothness,
    StepSize,
    request,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import optimisation_error
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.client_statistics import (
    ClientFields,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.descent_lemmas import (
    recursion_bound,
    recursion_scale,
    recursion_step_size,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.gradient_variance import Variance, client_factor

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_convergence.py"
_CONVEXITY = Quantity(symbol="μ", unit="loss/length²", gt=0, le=1e100, description="strong convexity of the loss")


def convex_bound_printed(
    *,
    initial_distance: float,
    step_size: float,
    rounds: int,
    sampling_variance: float,
    client_variance: float,
    noise_variance: float,
) -> float:
    """D²/(ηR) + 2η[sampling + clients + noise/2], for the average of w_0, …, w_{R−1} and η ≤ 1/(4β).

    The variances are per step, of the averaged gradient: min{Φ*²/(M'K), φ*²_max/(MK)}, Υ*²/M and
    d min{Σ²/M', σ²_max/M}, the first two at the minimiser. False where a constraint keeps ∇F(w*) from being 0 (E-13).
    """
    total = sampling_variance + client_variance + 0.5 * noise_variance
    return initial_distance * initial_distance / (step_size * rounds) + 2.0 * step_size * total


def convex_bound(
    *, initial_distance: float, step_size: float, rounds: int, smoothness: float, variance: float
) -> float:
    """D²/(2ηR) + ηV²/(2(1 − ηβ)), for the average of w_1, …, w_R and any η < 1/β: no stationarity needed.

    V² bounds the variance of one averaged noisy gradient over the whole domain. Proof in `explicit_bound.py`.
    """
    slack = 1.0 - step_size * smoothness
    if slack <= 0.0 < variance or slack < 0.0:
        return math.inf
    spread = 0.5 * step_size * variance / slack if variance > 0.0 else 0.0
    return 0.5 * initial_distance * initial_distance / (step_size * rounds) + spread


@request
class NoisyDescent(ClientFields):
    """Algorithm 1 on the data at hand; statistics at the minimiser. Absent: all clients take part, alike.

    `empirical_gradient_std` is φ* of clients that do not say theirs, `batch_size` K, the smallest of any client.
    """

    initial_distance: InitialDistance
    rounds: Rounds
    batch_size: BatchSize
    dimension: Dimension
    smoothness: Smoothness
    noise_std: NoiseStd
    empirical_gradient_std: EmpiricalGradientStd
    empirical_heterogeneity: EmpiricalHeterogeneity = 0.0

    def variance(self, reading: Reading) -> Variance:
        """Per step, of the averaged gradient. Corrected: plain means over clients, which are exact (E-31)."""
        seen = self.statistics(gradient_std=self.empirical_gradient_std, noise_std=self.noise_std)
        moments, exact = seen.moments, reading == "corrected"

        def least(average: Any) -> float:
            if exact:
                return float(average.mean / moments.mean)
            return float(min(average.over_largest / moments.rms, average.largest / moments.mean))

        between = client_factor(clients=self.clients, participants=moments.mean)
        return Variance(
            sampling=least(seen.gradients) / self.batch_size,
            clients=between * self.empirical_heterogeneity * self.empirical_heterogeneity,
            noise=self.dimension * least(seen.noise),
        )


@request
class ConvexDescent(NoisyDescent):
    """And the step size."""

    step_size: StepSize


@request
class StronglyConvexDescent(NoisyDescent):
    """And μ. Absent: the step size is that of Lemma E.9."""

    strong_convexity: Annotated[float, _CONVEXITY]
    step_size: Annotated[float | None, STEP_SIZE] = None

    checks: ClassVar[Checks] = (CONVEXITY_WITHIN_SMOOTHNESS,)

    @property
    def cost(self) -> float:
        """c of the recursion."""
        variance = self.variance("printed")
        return 2.0 * (variance.sampling + variance.clients) + variance.noise

    @property
    def step(self) -> float:
        """η as given, or min{1/(4β), ln(max{2, μ²D²R²/c})/(μR)}."""
        if self.step_size is not None:
            return self.step_size
        return recursion_step_size(
            contraction=self.strong_convexity,
            curvature=4.0 * self.smoothness,
            variance=self.cost,
            start=self.initial_distance * self.initial_distance,
            rounds=self.rounds,
        )


def convex_descent(inputs: ConvexDescent, reading: Reading = "printed") -> Outputs:
    """The bound on the empirical excess risk, and the three variances per step."""
    variance = inputs.variance(reading)
    start = {"initial_distance": inputs.initial_distance, "step_size": inputs.step_size}
    if reading == "printed":
        bound = convex_bound_printed(
            sampling_variance=variance.sampling,
            client_variance=variance.clients,
            noise_variance=variance.noise,
            rounds=inputs.rounds,
            **start,
        )
    else:
        bound = convex_bound(smoothness=inputs.smoothness, variance=variance.total, rounds=inputs.rounds, **start)
    return {"excess_risk": bound, **variance.parts}


def strongly_convex_descent(inputs: StronglyConvexDescent, reading: Reading = "printed") -> Outputs:
    """(14) as a scale, the bound that its proof gives, and the step size, averaging and variances they are at.

    `scale` hides a constant and a logarithm. `excess_risk` is (D²/η)(1 − μη)^R + cη by Lemma E.9; corrected it is
    D²μ/(2((1 − μη)^{−R} − 1)) + ηV²/(2(1 − ηβ)), which needs ηβ < 1 alone.
    """
    mu, squared, step = inputs.strong_convexity, inputs.initial_distance * inputs.initial_distance, inputs.step
    variance = inputs.variance(reading)
    if reading == "printed":
        bound = recursion_bound(
            contraction=mu, variance=inputs.cost, start=squared, step_size=step, averaged=inputs.rounds
        )
    else:
        shrunk = optimisation_error(
            initial_distance=inputs.initial_distance, step_size=step, rounds=inputs.rounds, strong_convexity=mu
        )
        slack = 1.0 - step * inputs.smoothness
        spread = 0.5 * step * variance.total / slack if slack > 0.0 else math.inf
        bound = shrunk + (spread if variance.total > 0.0 or slack < 0.0 else 0.0)
    left = 1.0 - mu * step
    return {
        "scale": recursion_scale(
            contraction=mu, curvature=4.0 * inputs.smoothness, variance=inputs.cost, start=squared, rounds=inputs.rounds
        ),
        "excess_risk": bound,
        "step_size": step,
        "averaging_ratio": 1.0 / left if left > 0.0 else math.inf,
        **variance.parts,
    }


CONSTRAINED_MINIMUM = Erratum(
    "E-13",
    grade=Grade.PROVED_WRONG,
    printed="Lemma E.4 and part 2 of Lemma E.5, for every minimiser over W, averaging w_0, …, w_{R−1}",
    truth=(
        "they need ∇F(w*) = 0; averaging w_1, …, w_R instead gives D²/(2ηR) + ηV²/(2(1 − ηβ)) without it. With R = 1 "
        "the printed output is the start itself, and f(w) = Lw on an interval refutes the lemma and the 272 LDν/√M~ of "
        "Theorem 2.1"
    ),
    test=f"{_TESTS}::test_a_constrained_minimum_refutes_the_printed_average",
)

LEMMA_E4 = Theorem(
    id="lowy.lemma-e.4",
    title="Noisy projected descent on a convex loss",
    statement=(
        "E F̂(ŵ) − F̂* ≤ D²/(ηR) + 2η[min{Φ*²/(M'K), φ*²_max/(MK)} + Υ*²/M + (d/2) min{Σ²/M', σ²_max/M}] for "
        "η ≤ 1/(4β) and ŵ the average of w_0, …, w_{R−1}"
    ),
    source=Source("lowy2023", "Lemma E.4"),
    status=Status.REFUTED,
    conditions=(
        Condition("step-size", "η β ≤ 1/4", lambda inputs: Sides.at_most(inputs.step_size * inputs.smoothness, 0.25)),
        Condition("stationary-minimum", "the gradient of the empirical loss vanishes at a minimiser in the domain"),
    ),
    errata=(CONSTRAINED_MINIMUM,),
    inputs=ConvexDescent,
    formula=convex_descent,
    examples=(
        {
            "initial_distance": 1.0,
            "step_size": 0.1,
            "rounds": 99,
            "clients": 10,
            "participants": 10,
            "batch_size": 100,
            "dimension": 20,
            "smoothness": 2.0,
            "noise_std": 0.4,
            "empirical_gradient_std": 2.0,
        },
    ),
)

_STATIONARY = Condition("stationary-minimum", "the gradient of the empirical loss vanishes at its minimiser")
LEMMA_E4_STRONGLY_CONVEX = Theorem(
    id="lowy.lemma-e.4.strongly-convex",
    title="Noisy projected descent on a strongly convex loss",
    statement=(
        "(14): E F̂(ŵ) − F̂* = Õ(βD² e^{−μR/(4β)} + c/(μR)) with c = 2 min{Φ*²/(M'K), φ*²_max/(MK)} + 2Υ*²/M + "
        "d min{Σ²/M', σ²_max/M}, η = min{1/(4β), ln(max{2, μ²D²R²/c})/(μR)}, and ŵ the average of w_0, …, w_{R−1} "
        "with weights (1 − μη)^{−(r+1)}; at any η ≤ 1/(4β) (D²/η)(1 − μη)^R + cη"
    ),
    source=Source("lowy2023", "Lemma E.4, equation (14)"),
    status=Status.REFUTED,
    conditions=(
        Condition("step-size", "η β ≤ 1/4", lambda inputs: Sides.at_most(inputs.step * inputs.smoothness, 0.25)),
        _STATIONARY,
        Condition("hidden-constants", "the constant and the logarithm that the scale leaves out", undecidable=True),
    ),
    errata=(
        Erratum(
            "E-13",
            grade=Grade.PROVED_WRONG,
            printed="for every minimiser over W, averaging w_0, …, w_{R−1}",
            truth=(
                "it needs ∇F̂(w*) = 0: f(w) = Lw + μw²/2 on [−1, 1] with R = 1 outputs the start, 2L above the least; "
                "averaging w_1, …, w_R gives D²μ/(2((1 − μη)^{−R} − 1)) + ηV²/(2(1 − ηβ)) without it"
            ),
            test="tests/theorems/risk/lowy_razaviyayn/test_noisy_descent.py::test_a_constrained_minimum_refutes_14",
        ),
    ),
    inputs=StronglyConvexDescent,
    formula=strongly_convex_descent,
    examples=(
        {
            "initial_distance": 1.0,
            "rounds": 400,
            "clients": 10,
            "participants": 10,
            "batch_size": 100,
            "dimension": 20,
            "smoothness": 2.0,
            "strong_convexity": 0.1,
            "noise_std": 0.4,
            "empirical_gradient_std": 2.0,
        },
        {
            "initial_distance": 1.0,
            "rounds": 400,
            "clients": 10,
            "participation": [{"participants": 4, "probability": 0.5}, {"participants": 8, "probability": 0.5}],
            "client_groups": [{"clients": 7}, {"clients": 3, "gradient_std": 3.0, "noise_std": 0.8}],
            "batch_size": 100,
            "dimension": 20,
            "smoothness": 2.0,
            "strong_convexity": 0.1,
            "noise_std": 0.4,
            "empirical_gradient_std": 2.0,
            "empirical_heterogeneity": 0.5,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_E4, LEMMA_E4_STRONGLY_CONVEX)

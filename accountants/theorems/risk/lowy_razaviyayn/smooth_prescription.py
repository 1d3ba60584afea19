"""What Theorem 2.1 of Lowy and Razaviyayn prescribes: rounds, step sizes, averaging, and the risk it claims for them.

The main text states it informally, with hidden constants; the appendix completely. Both prescribe the rounds R through
ξ, which itself grows with R: the smallest R ≥ 1 that meets the prescription is taken. The theorem itself stands in
`lowy_2_1`, the noise and its proof in `lowy_noise`, the explicit bound at any other σ, R and step in
`lowy_excess_risk`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from epsilond.accountants.theorem import Reading
from epsilond.accountants.theorems.papers.lowy_razaviyayn.clients import (
    Aggregates,
    Federation,
    smallest_round_count,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.convergence import (
    recursion_bound,
    recursion_step_size,
)

PRINTED_CONSTANT = 272.0
"""Of the complete convex bound. Our proof gives 174 (`constant_by_parts`)."""


@dataclass(frozen=True, kw_only=True)
class Prescription:
    """What a reading of Theorem 2.1 says to run, and the excess risk it claims for that.

    `prescribed_rounds` is the real right side of R ≥ … at the R that is run. The output is the average of the iterates
    with weights in the ratio `averaging_ratio` ≥ 1 from one to the next. `excess_risk` is in loss units; where
    `constants` is hidden it is a scale. `noise_stds` holds σ of each group of clients. An informal reading gives no
    step size.
    """

    rounds: int
    prescribed_rounds: float
    excess_risk: float
    constants: Literal["explicit", "hidden"]
    noise_stds: tuple[float, ...]
    step_size: float | None = None
    averaging_ratio: float | None = None
    aggregates: Aggregates | None = None
    terms: Mapping[str, float] = field(default_factory=dict)


def effective_samples(*, samples_per_client: int, epsilon: float, dimension: int) -> float:
    """min{n, ε² n²/d}: what privacy leaves of n records."""
    return min(float(samples_per_client), (epsilon * samples_per_client) ** 2 / dimension)


def informal(
    *,
    federation: Federation,
    dimension: int,
    lipschitz: float,
    diameter: float,
    smoothness: float,
    strong_convexity: float = 0.0,
    rounds: int | None = None,
) -> Prescription:
    """The informal statement for equal clients: (4) if μ = 0, (5) if μ > 0 (F-15, F-16).

    R = max{βD√M/L · √e, e/K}, e = min{n, ε²n²/d}, and LD/√M (1/√n + √(d ln(1/δ))/(εn)); for μ > 0
    R = max{8β/μ · ln(βD²μMε²n²/(dL²)), e/K} and L²/(μM) (1/n + d ln(1/δ)/(εn)²), which needs the logarithm's argument
    above 1. Up to logarithms and constants: the risk is a scale.
    """
    (group,) = federation.groups
    participants, n = federation.participation.mean, group.samples_per_client
    effective = effective_samples(samples_per_client=n, epsilon=group.epsilon, dimension=dimension)
    privacy = dimension * -group.log_delta / (group.epsilon * n) ** 2
    if strong_convexity > 0.0:
        inside = participants * (group.epsilon * n) ** 2 / dimension
        argument = smoothness * diameter * diameter * strong_convexity / (lipschitz * lipschitz) * inside
        first = _contraction_rounds(smoothness, strong_convexity, argument)
        scale = lipschitz * lipschitz / (strong_convexity * participants) * (1.0 / n + privacy)
        terms = {"logarithm_argument": argument}
    else:
        first = smoothness * diameter / lipschitz * math.sqrt(participants * effective)
        scale = lipschitz * diameter / math.sqrt(participants) * (math.sqrt(1.0 / n) + math.sqrt(privacy))
        terms = {}
    prescribed = max(first, effective / group.batch_size)
    chosen = rounds if rounds is not None else smallest_round_count(lambda _: prescribed)
    return Prescription(
        rounds=chosen,
        prescribed_rounds=prescribed,
        excess_risk=scale,
        constants="hidden",
        noise_stds=federation.noise_stds(lipschitz=lipschitz, rounds=chosen),
        terms=terms,
    )


def rate(*, aggregates: Aggregates, fewest_samples: int, dimension: int) -> float:
    """ν = max{1/√n_min, √(d Ξ~)}: the statistical or the privacy cost, whichever is larger."""
    return math.sqrt(max(1.0 / fewest_samples, dimension * aggregates.xi))


def batch_divisor(federation: Federation, reading: Reading) -> int:
    """What 1/ν² is divided by in the prescribed rounds.

    Printed: K. Corrected: K where all clients participate, 1 otherwise: then the empirical heterogeneity of clients
    counts, which identical distributions do not make zero and batches do not average out (E-14).
    """
    return federation.smallest_batch if reading == "printed" or federation.all_participate else 1


def complete_convex(
    *,
    federation: Federation,
    dimension: int,
    lipschitz: float,
    diameter: float,
    smoothness: float,
    rounds: int | None = None,
    reading: Reading = "corrected",
) -> Prescription:
    """The complete convex statement (F-17): E F(ŵ) − F* ≤ 272 L D ν/√M~ at explicit R, η, uniform average.

    η = min{1/(4β), D√M~/(LRν)}; R = ⌈max{βD√M~/(Lν), 1/(ν²K)}⌉, or the `rounds` given, for which the bound holds too
    if they are at least `prescribed_rounds`. `terms` holds the master inequality (27), D²/(ηR) +
    ηL²[R(2/(M n_min) + 256 d min{Ξ/M', ξ_max/M}) + 8/(MK)]. Printed reading: M~ = √M' (E-06), R without E-14.
    """

    def prescribed(count: int) -> float:
        seen = federation.aggregates(count, reading)
        nu = rate(aggregates=seen, fewest_samples=federation.fewest_samples, dimension=dimension)
        drift = smoothness * diameter * math.sqrt(seen.participants) / (lipschitz * nu)
        return max(drift, 1.0 / (nu * nu * divisor))

    divisor = batch_divisor(federation, reading)
    chosen = rounds if rounds is not None else smallest_round_count(prescribed)
    seen = federation.aggregates(chosen, reading)
    nu = rate(aggregates=seen, fewest_samples=federation.fewest_samples, dimension=dimension)
    balanced = diameter * math.sqrt(seen.participants) / (lipschitz * chosen * nu)
    step = min(0.25 / smoothness, balanced)
    unit = lipschitz * diameter * nu / math.sqrt(seen.participants)
    terms = master_inequality(
        federation=federation,
        dimension=dimension,
        lipschitz=lipschitz,
        initial_distance=diameter,
        rounds=chosen,
        step_size=step,
    )
    return Prescription(
        rounds=chosen,
        prescribed_rounds=prescribed(chosen),
        excess_risk=PRINTED_CONSTANT * unit,
        constants="explicit",
        noise_stds=federation.noise_stds(lipschitz=lipschitz, rounds=chosen),
        step_size=step,
        averaging_ratio=1.0,
        aggregates=seen,
        terms={**terms, "balanced_step_size": balanced, "rate": nu, "unit": unit},
    )


def master_inequality(
    *,
    federation: Federation,
    dimension: int,
    lipschitz: float,
    initial_distance: float,
    rounds: int,
    step_size: float,
) -> dict[str, float]:
    """The terms of (27) at the printed σ, for any η ≤ 1/(4β), in loss units; `master` is their sum (F-17).

    It is the paper's: it needs ∇F(w*) = 0, which a constraint may prevent (E-13).
    """
    moments, noise = federation.participation, federation.aggregates(rounds).noise_ratio
    scale = step_size * lipschitz * lipschitz
    terms = {
        "optimisation": initial_distance * initial_distance / (step_size * rounds),
        "sampling": 8.0 * scale / (moments.mean * federation.smallest_batch),
        "noise": 256.0 * scale * rounds * dimension * noise,
        "stability": 2.0 * scale * rounds / (moments.mean * federation.fewest_samples),
    }
    return terms | {"master": math.fsum(terms.values())}


def constant_by_parts(*, step_ratio: float, distance_ratio: float = 1.0) -> dict[str, float]:
    """The parts of (27) in units of L D ν/√M~, at η = x η~ with x = `step_ratio` in [1/4, 1], at their largest.

    `distance_ratio` is |w₀ − w*|/D. Since R ≥ βD√M~/(Lν), η = min{1/(4β), η~} is at least η~/4, and the parts are
    256x, 2x, at most 8x, and distance_ratio²/x. Each at its own worst gives 270 (the catalogue's figure), but no x
    does so for all: the sum is convex in x, at most 267. If |w₀ − w*| is up to 2D (D read as a radius), 282 and 270:
    272 holds under either reading (E-05).
    """
    return {
        "noise": 256.0 * step_ratio,
        "stability": 2.0 * step_ratio,
        "sampling": 8.0 * step_ratio,
        "optimisation": distance_ratio * distance_ratio / step_ratio,
    }


def complete_strongly_convex(
    *,
    federation: Federation,
    dimension: int,
    lipschitz: float,
    diameter: float,
    smoothness: float,
    strong_convexity: float,
    rounds: int | None = None,
    reading: Reading = "corrected",
) -> Prescription:
    """The complete strongly convex statement (F-18): a scale, (12), at explicit R, η and geometric average.

    R = ⌈max{8β/μ · ln(βD²μM~/(dΨ~)), L²/(dΨ~)}⌉ as printed, the second argument over K where M = N in the corrected
    reading (E-10, E-14). η = min{1/(4β), ln(max{2, μ²D²R²/c})/(μR)}, c = 8L²/(MK) + d min{Σ²/M', σ²_max/M}; the
    printed c has the noise twice, as Ξ² (E-16). Weights grow by 1/(1 − μη). `excess_risk` is
    L²/μ (1/(M n_min) + d min{Ξ/M', ξ_max/M}), hidden constant. `terms` adds the non-asymptotic bound of Lemma E.9 on
    the empirical excess, D²/η (1 − μη)^R + cη, and the stability 4L²/(μ(M n_min − 1)) of Lemma E.2.
    For M < N this c leaves client sampling out (E-14): use `lowy_excess_risk` there.
    """
    squared = lipschitz * lipschitz
    divisor = 1 if reading == "printed" else batch_divisor(federation, reading)

    def prescribed(count: int) -> float:
        seen = federation.aggregates(count, reading)
        argument = _logarithm_argument(seen, dimension, lipschitz, diameter, smoothness * strong_convexity)
        return max(_contraction_rounds(smoothness, strong_convexity, argument), 1.0 / (dimension * seen.xi * divisor))

    chosen = rounds if rounds is not None else smallest_round_count(prescribed)
    seen = federation.aggregates(chosen, reading)
    moments, fewest = federation.participation, federation.fewest_samples
    noise = 256.0 * squared * chosen * dimension * seen.noise_ratio
    variance = 8.0 * squared / (moments.mean * federation.smallest_batch)
    variance += 2.0 * noise if reading == "printed" else noise
    step = recursion_step_size(
        contraction=strong_convexity,
        curvature=4.0 * smoothness,
        variance=variance,
        start=diameter * diameter,
        rounds=chosen,
    )
    empirical = recursion_bound(
        contraction=strong_convexity,
        variance=variance,
        start=diameter * diameter,
        step_size=step,
        averaged=chosen,
    )
    left = moments.mean * fewest - 1.0
    return Prescription(
        rounds=chosen,
        prescribed_rounds=prescribed(chosen),
        excess_risk=squared / strong_convexity * (1.0 / (moments.mean * fewest) + dimension * seen.noise_ratio),
        constants="hidden",
        noise_stds=federation.noise_stds(lipschitz=lipschitz, rounds=chosen),
        step_size=step,
        averaging_ratio=1.0 / (1.0 - strong_convexity * step),
        aggregates=seen,
        terms={
            "empirical": empirical,
            "stability": 4.0 * squared / (strong_convexity * left) if left > 0.0 else math.inf,
            "logarithm_argument": _logarithm_argument(
                seen, dimension, lipschitz, diameter, smoothness * strong_convexity
            ),
        },
    )


def _logarithm_argument(
    seen: Aggregates, dimension: int, lipschitz: float, diameter: float, curvatures: float
) -> float:
    """β μ D² M~/(d Ψ~), with Ψ~ = L² Ξ~."""
    return curvatures * diameter * diameter * seen.participants / (dimension * lipschitz * lipschitz * seen.xi)


def _contraction_rounds(smoothness: float, strong_convexity: float, argument: float) -> float:
    """8β/μ · ln(argument), −∞ where the argument vanishes."""
    return 8.0 * smoothness / strong_convexity * math.log(argument) if argument > 0.0 else -math.inf

"""Corollary 2 of Asoodeh et al. 2021: the mean excess risk over one pass, up to an unspecified constant."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from epsilond.accountants.quantities import GRADIENT_STD, Dimension, Participants, Quantity, Smoothness, request
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Source, Status, Theorem
from epsilond.accountants.theorems.hidden_states.projected_contraction import ScheduledPass
from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import A_4, CURVATURE

_TESTS = "tests/theorems/papers/asoodeh/test_one_pass.py"
SHAMIR_CONSTANT = Quantity(symbol="c", gt=0, description="the constant of Shamir 2016, Theorem 3, which no paper gives")


@request
class AverageRisk(ScheduledPass):
    """One pass; the mean over steps of the excess risk. If `gradient_std` is absent, it is L."""

    participants: Participants = 1
    dimension: Dimension
    smoothness: Smoothness
    strong_convexity: Annotated[float, CURVATURE]
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    shamir_constant: Annotated[float | None, SHAMIR_CONSTANT] = None


def corollary_2(inputs: AverageRisk, reading: Reading = "printed") -> Outputs:
    """Return the bound of Corollary 2 on the mean excess risk, or only its noise term if the constant c is unknown.

    Args:
        inputs: the pass, and the constant c of Shamir's theorem if the caller knows it.
        reading: "printed" gives Σ_t η_t σ_t²/n as the noise term; "corrected" multiplies it by d/2 (erratum A-4), with
            the dimension d.
    """
    steps = inputs.steps
    sizes, noises = (np.asarray(values, dtype=np.float64) for values in (inputs.step_sizes, inputs.noise_stds))
    powers = sizes * noises**2  # of size 1 if both are constant, otherwise one value for each step
    factor = 1.0 if reading == "printed" else 0.5 * inputs.dimension
    noise = factor * float(np.sum(powers)) * (steps / powers.size) / inputs.clients
    if inputs.shamir_constant is None:
        return {"noise_term": noise}
    std = inputs.lipschitz if inputs.gradient_std is None else inputs.gradient_std
    square = (inputs.lipschitz + inputs.smoothness * inputs.radius) ** 2 + std**2
    scale = inputs.shamir_constant * inputs.participants / (inputs.strong_convexity * inputs.clients)
    optimisation = scale * square * math.log(steps)
    return {"noise_term": noise, "optimisation_term": optimisation, "excess_risk": optimisation + noise}


COROLLARY_2 = Theorem(
    id="asoodeh.corollary-2",
    title="Mean excess risk over one pass",
    statement="E (1/T) Σ_t F(W_t) − inf F ≤ c m ((L + μB)² + G²) log(n/m)/(λn) + Σ_t η_t σ_t²/n, c a constant",
    source=Source("asoodeh2021", "Corollary 2"),
    status=Status.UNPROVED,
    conditions=(
        Condition(
            "shamir-steps", "Steps as in Shamir 2016, Theorem 3. Apparently μ is the smoothness and B the radius"
        ),
        Condition("single-records", "m = 1: the mean of m losses is not of the form the theorem needs"),
    ),
    errata=(
        A_4,
        Erratum(
            "A-7",
            grade=Grade.UNCLEAR,
            printed="c, μ and B are not defined; batches by applying the statement to their mean",
            truth="order only: c is in no paper, and a mean of m scalar losses breaks the theorem's premise",
            test=f"{_TESTS}::test_without_the_constant_there_is_no_risk",
        ),
    ),
    constants="hidden",
    inputs=AverageRisk,
    formula=corollary_2,
    examples=(
        {
            "clients": 1000,
            "dimension": 100,
            "lipschitz": 1.0,
            "radius": 1.0,
            "smoothness": 2.0,
            "strong_convexity": 0.5,
            "step_sizes": (0.001,),
            "noise_stds": (2.0,),
        },
    ),
)


THEOREMS: tuple[Theorem, ...] = (COROLLARY_2,)

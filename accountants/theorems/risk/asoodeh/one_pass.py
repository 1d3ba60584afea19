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
SHAMIR_CONSTANT = Quantity(
    symbol="c", gt=0, description="constant factor in the bound of Shamir 2016, Theorem 3, which no paper specifies"
)


@request
class AverageRisk(ScheduledPass):
    """One pass of noisy projected SGD, for the mean over its steps of the excess risk.

    If absent, `gradient_std` is the Lipschitz constant. `shamir_constant` is the unpublished constant of Theorem 3 of
    Shamir 2016, which multiplies the optimisation term. Without it, only the noise term is known.
    """

    participants: Participants = 1
    dimension: Dimension
    smoothness: Smoothness
    strong_convexity: Annotated[float, CURVATURE]
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    shamir_constant: Annotated[float | None, SHAMIR_CONSTANT] = None


def corollary_2(inputs: AverageRisk, reading: Reading = "printed") -> Outputs:
    """Return the bound of Corollary 2 of Asoodeh et al. on the mean excess risk of one pass of noisy projected SGD.

    It is the sum of an optimisation term and a noise term:

        (cm/(λn)) ((L + βρ)² + s²) ln T + Σ_t η_t σ_t²/n.

    Here c is the unpublished constant of Theorem 3 of Shamir 2016.

    Args:
        inputs: T steps of sizes η_t with noise σ_t over n clients in batches of m, the radius ρ of the domain, and
            optionally c. The losses have Lipschitz constant L, smoothness β and strong convexity λ. s = `gradient_std`
            is the paper's G, a bound on the norm of a client's gradient.
        reading: "printed" for this noise term; "corrected" for d/2 times it, with the dimension d (erratum A-4).

    Returns:
        Both terms and their sum `excess_risk`; only `noise_term` if c is not given.
    """
    step_sizes = np.asarray(inputs.step_sizes, dtype=np.float64)
    noise_stds = np.asarray(inputs.noise_stds, dtype=np.float64)
    scaled_variances = step_sizes * noise_stds**2

    # There is one value for each step, or a single value that counts for all steps.
    repetitions = inputs.steps / scaled_variances.size
    factor = 1.0 if reading == "printed" else 0.5 * inputs.dimension
    noise = factor * float(np.sum(scaled_variances)) * repetitions / inputs.clients
    if inputs.shamir_constant is None:
        return {"noise_term": noise}

    gradient_std = inputs.lipschitz if inputs.gradient_std is None else inputs.gradient_std
    largest_gradient = inputs.lipschitz + inputs.smoothness * inputs.radius  # L + βρ
    squared_gradient = largest_gradient**2 + gradient_std**2
    scale = inputs.shamir_constant * inputs.participants / (inputs.strong_convexity * inputs.clients)
    optimisation = scale * squared_gradient * math.log(inputs.steps)
    return {"noise_term": noise, "optimisation_term": optimisation, "excess_risk": optimisation + noise}


COROLLARY_2 = Theorem(
    id="asoodeh.corollary-2",
    title="Mean excess risk over one pass",
    statement=(
        "The paper states E (1/T) Σ_t F(W_t) − inf F ≤ c m ((L + μB)² + G²) log(n/m)/(λn) + Σ_t η_t σ_t²/n. "
        "It is for one pass over n users in T = n/m batches, with an unspecified constant c. Here λ is the "
        "strong convexity, L the Lipschitz constant and G a bound on the gradients. In step t the step size "
        "is η_t and the noise σ_t."
    ),
    source=Source("asoodeh2021", "Corollary 2"),
    status=Status.UNPROVED,
    conditions=(
        Condition(
            "shamir-steps",
            "the steps are those of Shamir 2016, Theorem 3, where μ apparently is the smoothness and B the radius",
        ),
        Condition(
            "single-records",
            "each batch has one record (m = 1), as a mean of m losses lacks the form that Shamir's theorem needs",
        ),
    ),
    errata=(
        A_4,
        Erratum(
            "A-7",
            grade=Grade.UNCLEAR,
            place="Corollary 2, and the extension to batches after Remark 1",
            printed=(
                "The bound has a universal constant c without a value, and symbols μ and B that are not "
                "defined. The paper extends the bound to batches of m users by applying it to their mean "
                "losses."
            ),
            truth=(
                "The bound is an order only, because c is in no paper. A mean of m losses of one scalar "
                "each breaks a premise of the corollary."
            ),
            charitable=(
                "If μ is the smoothness and B the radius, the order at m = 1 is that of Shamir 2016, "
                "Theorem 3. The noise term is that of A-4."
            ),
            test=f"{_TESTS}::test_without_the_constant_there_is_no_risk",
        ),
        Erratum(
            "A-10",
            grade=Grade.MISPRINT,
            place="Section IV-B, Remark 1",
            printed=(
                "Remark 1 states that Theorem 2 is Theorem 3 of Shamir 2016 with noise in the update. Theorem 2 is on "
                "privacy, and Shamir's theorem on the risk."
            ),
            truth=(
                "Corollary 2 is the result that adds noise to Shamir's Theorem 3. Its noise term is proportional to "
                "the squared noise, and without noise only Shamir's term is left."
            ),
            charitable="If Corollary 2 is read for Theorem 2, the remark holds.",
            test=f"{_TESTS}::test_without_noise_only_the_earlier_bound_is_left",
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

"""Das et al., Lemma 3: the normalised update of a client is not short."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from epsilond.accountants.quantities import ANY_SCALE, DISTANCE, LocalSteps, Smoothness, StepSize, request
from epsilond.accountants.theorem import Condition, Erratum, Outputs, Reading, Sides, Source, Status, Theorem

_TESTS = "tests/theorems/risk/das/test_convergence.py"


@request
class UpdateNormInputs:
    """E gradient steps of size η from a model where the gradient has this norm."""

    scale: ClassVar = ANY_SCALE

    gradient_norm: Annotated[float, DISTANCE]
    local_steps: LocalSteps
    step_size: StepSize
    smoothness: Smoothness


def lemma_3(inputs: UpdateNormInputs, reading: Reading = "printed") -> Outputs:
    """Printed: 2/3 E ‖∇f‖. Corrected: E (1 − ηL(E − 1)) ‖∇f‖, at least 3/4 E ‖∇f‖; and what the printed proof gives."""
    steps = inputs.local_steps
    if reading == "printed":
        return {"update_norm": 2.0 / 3.0 * steps * inputs.gradient_norm}
    kept = 1.0 - inputs.step_size * inputs.smoothness * (steps - 1)
    return {
        "update_norm": steps * kept * inputs.gradient_norm,
        "constant_of_the_printed_proof": math.sqrt(31.0 / 128.0),
    }


LEMMA_3 = Theorem(
    id="das.lemma-3",
    title="A client's update is not short",
    statement="The sum of a client's E gradients has norm ≥ (2/3) E ‖∇f_i(w)‖ where ηLE ≤ 1/4",
    source=Source("das2021", "Lemma 3"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "short-steps",
            "ηLE ≤ 1/4",
            lambda inputs: Sides.at_most(inputs.step_size * inputs.smoothness * inputs.local_steps, 0.25),
        ),
    ),
    errata=(
        Erratum(
            "D-13",
            printed="(47) and (48) give ‖u‖² ≥ (31/64) E² ‖∇f‖²",
            truth="they give 31/128, 0.492² and not (2/3)²; the statement holds by (73): E (1 − ηL(E − 1)) ≥ 3E/4",
            test=f"{_TESTS}::test_the_update_of_a_quadratic_is_long_enough",
        ),
    ),
    inputs=UpdateNormInputs,
    formula=lemma_3,
    examples=({"gradient_norm": 1.0, "local_steps": 10, "step_size": 0.015625, "smoothness": 1.0},),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_3,)

"""The comparator of Das et al.: updates that are clipped, not normalised, with noise by each client or by the server.

Values are in units of the clipping norm C, rounded to a grid of 1/s. A server that averages r of them before it adds
noise sees steps of 1/(rs), of which one client moves as many as before, and of 1/s an r-th of that.
"""

from __future__ import annotations

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import Dimension, Participants
from epsilond.accountants.quantities.algorithms import QuantizationLevels
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.papers.das.sensitivity import outputs_of, trivial, unit_vector


@formula(given="Clipped updates of r clients on a grid of 1/s, in units of the clipping norm.", bounded=False)
def clipped(
    *, dimension: Dimension, quantization_levels: QuantizationLevels, participants: Participants = 1
) -> Outputs:
    """Δ∞ = 2s and Δ₁ = 2ds of one client's; those of the mean of r, in steps of 1/s; and what the ℓ2 ball gives."""
    cube = trivial(dimension, quantization_levels)
    ball = {f"sharper_{name}": value for name, value in outputs_of(unit_vector(dimension, quantization_levels)).items()}
    return {
        "l1_sensitivity": cube.l1,
        "linf_sensitivity": cube.linf,
        "mean_l1_sensitivity": cube.l1 / participants,
        "mean_linf_sensitivity": cube.linf / participants,
        **ball,
    }


CLIPPED = Theorem(
    id="das.clipped-updates",
    title="Sensitivities of clipped updates",
    statement=(
        "g/max(1, ‖g‖/C), in units of C on a grid of 1/s: Δ∞ = 2s and Δ₁ = 2ds a client, 2s/r and 2ds/r for the mean "
        "of r; sharper, Δ₁ = min(2ds, 2s√d + d) and Δ₂ = 2s + √d as for unit vectors, rounded together"
    ),
    source=Source("das2021", "the experiments with clipping"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "own-grid", "noise for the mean lives on the grid of 1/(rs), where the distances are 2s and 2ds again"
        ),
    ),
    formula=clipped,
    examples=({"dimension": 100, "quantization_levels": 64, "participants": 25},),
)

THEOREMS: tuple[Theorem, ...] = (CLIPPED,)

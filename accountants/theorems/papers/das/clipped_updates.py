"""The baseline of Das et al.: updates that are clipped and not normalised, with noise by each client or by the server.

Values are in units of the clipping norm C, rounded to a grid of step 1/s. The mean of r clients' values lies on a grid
of step 1/(rs). In these steps one client has the sensitivity 2s; in steps of 1/s it has 2s/r.
"""

from __future__ import annotations

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import Dimension, Participants
from epsilond.accountants.quantities.algorithms import QuantizationLevels
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.papers.das.sensitivity import movement_outputs, trivial_bounds, unit_vector_bounds


@formula(given="Clipped updates of r clients on a grid of 1/s, in units of the clipping norm.", bounded=False)
def clipped_sensitivities(
    *, dimension: Dimension, quantization_levels: QuantizationLevels, participants: Participants = 1
) -> Outputs:
    """Compute the ℓ1 and ℓ∞ sensitivities of clipped and rounded updates, in steps 1/s of the grid.

    A client's update has norm at most 1, in units of the clipping norm.

    Args:
        dimension: coordinates d of the update.
        quantization_levels: grid steps s in a unit.
        participants: number r of clients in the mean.

    Returns:
        Δ∞ = 2s and Δ₁ = 2ds for one client, and these divided by r for the mean of r clients (`mean_…`). Outputs with
        names `sharper_…` are bounds for one client that also use the ℓ2 norm of the update.
    """
    cube = trivial_bounds(dimension, quantization_levels)
    ball = movement_outputs(unit_vector_bounds(dimension, quantization_levels))
    sharper_outputs = {f"sharper_{name}": value for name, value in ball.items()}
    return {
        "l1_sensitivity": cube.l1,
        "linf_sensitivity": cube.linf,
        "mean_l1_sensitivity": cube.l1 / participants,
        "mean_linf_sensitivity": cube.linf / participants,
        **sharper_outputs,
    }


CLIPPED = Theorem(
    id="das.clipped-updates",
    title="Sensitivities of clipped updates",
    statement=(
        "The update g of a client is clipped to g/max(1, ‖g‖/C), in units of the norm C, and rounded to a "
        "grid of step 1/s in d dimensions. In grid steps its sensitivities are Δ∞ = 2s and Δ₁ = 2ds. Those of "
        "the mean of r clients are 2s/r and 2ds/r. If neighbours are rounded together, Δ₁ = min(2ds, 2s√d + "
        "d) and Δ₂ = 2s + √d are sharper, as for unit vectors."
    ),
    source=Source("das2021", "the experiments with clipping"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "own-grid",
            "the noise for the mean of r clients lies on the grid of step 1/(rs), in whose "
            "steps the sensitivities are 2s and 2ds",
        ),
    ),
    formula=clipped_sensitivities,
    examples=({"dimension": 100, "quantization_levels": 64, "participants": 25},),
)

THEOREMS: tuple[Theorem, ...] = (CLIPPED,)

"""Lemmas B.2 and B.3 of Bietti et al.: a step's distance from the step at the optimum, by the excess risk.

The noise is in both steps and cancels. D_i is the difference of client i's gradients at the model and at the optimum,
with the shared part D_{w,i} and the own part D_{θ,i}. The indicator b_i is 1 if client i is drawn.

    α‖Σ b_i D_{w,i}/(qM)‖² + Σ‖b_i D_{θ,i}/(qM)‖²

is the squared distance in the inverse α-norm.

Smoothness and convexity bound the
mean of the squared differences of records by 2L times the excess risk, as the gradient vanishes at the optimum.
"""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import ANY_SCALE, AtMost, Clients, Quantity, Rate, Smoothness
from epsilond.accountants.quantities.algorithms import FINITE_PERSONALIZATION
from epsilond.accountants.quantities.ranges import count
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.risk.bietti.full_participation import CONVEX_SMOOTH, FRESH

_TESTS = "tests/theorems/risk/bietti/test_gradient_distances.py"
MODEL_EXCESS = Quantity(
    symbol="f(z) − f(z*)",
    unit="loss",
    ge=0,
    scale=ANY_SCALE,
    description="excess risk of the model at which the gradients are taken",
)
RECORDS = count("M", "records in the batches of all clients")
LARGEST_BATCH = count("m_max", "records in the largest batch of a client")


@formula(given="All clients take a step from a model of this excess risk.")
def distance_of_all(
    *,
    clients: Clients,
    smoothness: Annotated[Smoothness, ANY_SCALE],
    personalization: Annotated[float, FINITE_PERSONALIZATION],
    excess_risk: Annotated[float, MODEL_EXCESS],
) -> Outputs:
    """Bound the squared distance between the gradient at a model z and that at the optimum z*, over all clients.

    By Lemma B.2 of Bietti et al., for a smooth convex loss f it is at most:

        2L_α (f(z) − f(z*)),   L_α = L max{α, 1/N}.

    Args:
        clients: number N of clients.
        smoothness: smoothness L of the losses.
        personalization: weight α of the part of the model that all clients share. The squared distance has the weight α
            for this part, and the weight 1 for the clients' own parts.
        excess_risk: excess risk f(z) − f(z*) of the model.

    Returns:
        `weighted_smoothness` L_α, and the bound `squared_distance`, in squared gradient units.
    """
    weighted = smoothness * max(personalization, 1.0 / clients)
    return {"weighted_smoothness": weighted, "squared_distance": 2.0 * weighted * excess_risk}


@formula(
    given="Clients are drawn, and take a step from a model of this excess risk.",
    checks=(AtMost("largest_batch", "records", "cannot exceed all records"),),
)
def distance_of_drawn(
    *,
    records: Annotated[int, RECORDS],
    largest_batch: Annotated[int, LARGEST_BATCH],
    participation_rate: Rate,
    smoothness: Annotated[Smoothness, ANY_SCALE],
    personalization: Annotated[float, FINITE_PERSONALIZATION],
    excess_risk: Annotated[float, MODEL_EXCESS],
) -> Outputs:
    """Bound the mean squared distance between the gradient at a model z and that at the optimum z*, for drawn clients.

    The clients of a step are drawn independently at random. Each bound is twice a smoothness times the excess risk. The
    first one is Lemma B.3 of Bietti et al., and the second one is sharper.

    Args:
        records: number M of records in the batches of all clients.
        largest_batch: number m_max of records in the largest batch.
        participation_rate: probability q that a client is drawn in a round.
        smoothness: smoothness L of the losses.
        personalization: weight α of the part of the model that all clients share.
        excess_risk: excess risk of the model, for the loss that weighs clients by the records in their batches.

    Returns:
        `weighted_smoothness`: L max{α + αm_max/(qM), m_max/(qM)}, the smoothness of the paper.
        `squared_distance`: twice that times the excess risk, in squared gradient units.
        `sharper_weighted_smoothness`, `sharper_squared_distance`: the same with α(1 − q) in place of the second α,
        because the variance of a draw has the factor 1 − q.
    """
    largest_share = largest_batch / (participation_rate * records)  # m_max/(qM)
    printed_part = personalization * (1.0 + largest_share)
    printed = smoothness * max(printed_part, largest_share)
    sharper_part = personalization * (1.0 + (1.0 - participation_rate) * largest_share)
    sharper = smoothness * max(sharper_part, largest_share)
    return {
        "weighted_smoothness": printed,
        "squared_distance": 2.0 * printed * excess_risk,
        "sharper_weighted_smoothness": sharper,
        "sharper_squared_distance": 2.0 * sharper * excess_risk,
    }


WRONG_SIGN = Erratum(
    "E-B14",
    grade=Grade.MISPRINT,
    place="Appendix B, proofs of Lemmas B.2 and B.3, the displays by smoothness",
    printed=(
        "Both proofs bound the squared difference of a record's gradients at z and at the optimum z*. The bound is 2L "
        "times a difference of losses plus ⟨∇f(z*), z − z*⟩, for L-smooth losses f."
    ),
    truth=(
        "The inner product must be subtracted. For f(w) = (w − 1)²/2, z* = 0 and z = 1, the left side is 1 and the "
        "printed right side −3. Both lemmas hold, as the mean of ∇f(z*) over clients and records is 0."
    ),
    charitable="If minus is read for plus, both proofs hold.",
    test=f"{_TESTS}::test_the_printed_sign_fails_for_one_record",
)
MINIMISER = Condition("minimiser", "z* minimises the objective, so that its gradient vanishes there")
LEMMA_B_2 = Theorem(
    id="bietti.lemma-b.2",
    title="A step's distance from the step at the optimum, all clients in every round",
    statement=(
        "Let g be the step from the model z, and g* the step from the minimiser z* with the same records and noise. "
        "Then E(α‖g_w − g*_w‖² + ‖g_θ − g*_θ‖²) ≤ 2L_α(f(z) − f(z*)) with L_α = L max(α, 1/N) (24). Here α is the "
        "weight of the shared part w, and N the number of clients."
    ),
    source=Source("bietti2022", "Lemma B.2, (24)"),
    status=Status.PROVED,
    conditions=(CONVEX_SMOOTH, FRESH, MINIMISER),
    errata=(WRONG_SIGN,),
    formula=distance_of_all,
    examples=({"clients": 100, "smoothness": 2.0, "personalization": 0.25, "excess_risk": 0.5},),
)
LEMMA_B_3 = Theorem(
    id="bietti.lemma-b.3",
    title="A step's distance from the step at the optimum, clients drawn independently",
    statement=(
        "Lemma B.2 holds for clients drawn at the rate q with L_{m,α} = L max{α + αm_max/(qM), m_max/(qM)} (34). "
        "Here the batches of all clients have M records, and the largest has m_max. A sharper first term is α + "
        "α(1 − q)m_max/(qM)."
    ),
    source=Source("bietti2022", "Lemma B.3, (30) and (34)"),
    status=Status.PROVED,
    conditions=(CONVEX_SMOOTH, FRESH, MINIMISER),
    errata=(WRONG_SIGN,),
    formula=distance_of_drawn,
    examples=(
        {
            "records": 200,
            "largest_batch": 8,
            "participation_rate": 0.25,
            "smoothness": 2.0,
            "personalization": 0.25,
            "excess_risk": 0.5,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_B_2, LEMMA_B_3)

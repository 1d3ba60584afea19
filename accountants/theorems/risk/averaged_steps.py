"""Projected steps along a noisy mean of clients' gradients: what their average is worth.

In a round the server takes w ← Π(w − η g) with g = (sum of the participants' gradients + noise)/M, M their expected
number. The clients' losses f_i are convex and their gradients, one per round, have norm at most L. With participants
drawn uniformly and afresh E g = ∇F(w), F the mean of all N clients' losses, and

    E‖g‖² ≤ s² = L² E K²/M² + d σ²,    K the number of participants, σ the noise of the mean per coordinate,

with K = M, or E K² = M² + M(1 − M/N) for a coin of each client's own. The distance to a minimiser gives, as for every
method of this kind, Σ E(F(w_t) − F*) ≤ D²/2η + η R s²/2, so that the mean of the R iterates, a function of what is
released, has at η = D/(s√R)

    E F(w̄) − F* ≤ D s/√R.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.outward import root_up
from epsilond.accountants.quantities import (
    NOISE_STD,
    PARTICIPANTS_AMONG_CLIENTS,
    SAMPLING,
    Clients,
    Diameter,
    Dimension,
    Lipschitz,
    Participants,
    Rounds,
)
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem

CohortSampling = Literal["full", "poisson", "without-replacement"]
"""How the participants of a round are drawn among the clients."""

RATE_ROUNDING = Fraction(1, 2**50)
"""A probability M/N is a double: the mean of a round is off by no larger share."""


def second_moment(
    *,
    sampling: CohortSampling,
    clients: int,
    participants: int,
    dimension: int,
    lipschitz: float,
    noise_std: float,
) -> Fraction:
    """s²: the bound on the mean squared norm of a round's noisy mean."""
    spread = Fraction(clients - participants, clients * participants) if sampling == "poisson" else Fraction(0)
    return Fraction(lipschitz) ** 2 * (1 + spread) + dimension * Fraction(noise_std) ** 2


@formula(
    given="Clients whose gradients, one a round, are averaged with noise; `noise_std` is that of the mean.",
    checks=(PARTICIPANTS_AMONG_CLIENTS,),
)
def averaged_steps(
    *,
    sampling: Annotated[CohortSampling, SAMPLING],
    clients: Clients,
    participants: Participants,
    dimension: Dimension,
    lipschitz: Lipschitz,
    diameter: Diameter,
    noise_std: Annotated[float, NOISE_STD],
    rounds: Rounds,
) -> Outputs:
    """The bound on the excess risk, what signal and noise have of it, and the step size that it is for."""
    if sampling == "full" and participants != clients:
        raise InvalidInput.at("/participants", "all clients take part in a full round", allowed=f"{clients}")
    moment = second_moment(
        sampling=sampling,
        clients=clients,
        participants=participants,
        dimension=dimension,
        lipschitz=lipschitz,
        noise_std=noise_std,
    )
    noise = dimension * Fraction(noise_std) ** 2
    slack = 1 + RATE_ROUNDING if sampling == "poisson" else 1
    far = Fraction(diameter) ** 2 / rounds * slack**2
    return {
        "excess_risk": root_up(far * moment),
        "without_noise": root_up(far * (moment - noise)),
        "noise_alone": root_up(far * noise),
        "step_size": diameter / root_up(moment * rounds),
    }


CONVEX_CLIENTS = Condition(
    "convex-client-losses",
    "every client's loss is convex on a domain of the given diameter; in a round a participant sends one subgradient "
    "of its own mean loss, of norm at most L",
)
FRESH_COHORTS = Condition(
    "fresh-cohorts", "participants are drawn uniformly and afresh in every round, and weigh the same"
)
AVERAGED_STEPS = Theorem(
    id="epsilond.averaged-noisy-steps",
    title="Projected steps along the noisy mean of clients' gradients",
    statement=(
        "E F(w̄) − F* ≤ D √((L² E K²/M² + dσ²)/R) for the mean of R iterates at step size D/√(R(L² E K²/M² + dσ²))"
    ),
    source=Source("epsilond", "accountants/theorems/risk/averaged_steps.py"),
    status=Status.PROVED,
    conditions=(CONVEX_CLIENTS, FRESH_COHORTS),
    formula=averaged_steps,
    examples=(
        {
            "sampling": "poisson",
            "clients": 1000,
            "participants": 50,
            "dimension": 100,
            "lipschitz": 1.0,
            "diameter": 2.0,
            "noise_std": 0.01,
            "rounds": 100,
        },
    ),
)
THEOREMS: tuple[Theorem, ...] = (AVERAGED_STEPS,)

"""Excess risk of the average of projected steps along a noisy mean of clients' gradients.

In each round the server takes w ← Π(w − η g) with g = (sum of the participants' gradients + noise)/M. M is the expected
number of participants. The clients' losses f_i are convex. Each client sends one gradient per round, of norm at most L.
Let F be the mean of all N clients' losses. If the participants are drawn uniformly and independently in each round,
then E g = ∇F(w), and:

    E‖g‖² ≤ s² = L² E K²/M² + d σ².

Here K is the number of participants and σ the noise of the mean per coordinate. A fixed number has K = M. If each
client takes part independently, then E K² = M² + M(1 − M/N). The usual argument by the distance to a minimiser gives Σ
E(F(w_t) − F*) ≤ D²/2η + η R s²/2. The mean w̄ of the R iterates is post-processing of the released messages. At
η = D/(s√R) it has:

    E F(w̄) − F* ≤ D s/√R.

At any other η the bound is D²/(2ηR) + ηs²/2.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.outward import root_up, round_up
from epsilond.accountants.quantities import (
    PARTICIPANTS_AMONG_CLIENTS,
    SAMPLING,
    STEP_SIZE,
    Clients,
    Diameter,
    Dimension,
    Lipschitz,
    Participants,
    Rounds,
)
from epsilond.accountants.quantities.ranges import in_squares_or_zero
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem

CohortSampling = Literal["full", "poisson", "without-replacement"]
"""Ways to draw the participants of a round from the clients."""

MEAN_NOISE_STD = in_squares_or_zero(
    "σ", "standard deviation per coordinate of the noise in the mean of a round; 0 for a run without noise", "gradient"
)
RATE_ROUNDING = Fraction(1, 2**50)
"""Relative rounding error of the mean of a round, as the probability M/N is stored as a double."""


def second_moment(
    *,
    sampling: CohortSampling,
    clients: int,
    participants: int,
    dimension: int,
    lipschitz: float,
    noise_std: float,
) -> Fraction:
    """Return an upper bound s² on the expected squared norm of the noisy mean gradient of a round.

    The bound is L² (1 + v) + dσ². For Poisson sampling, v = (1 − M/N)/M is the relative variance of the number of
    participants. Otherwise v = 0.

    Args:
        sampling: method by which a round's participants are drawn.
        clients: number N of clients.
        participants: number M of participants, or its expectation.
        dimension: number d of coordinates.
        lipschitz: bound L on the norm of a client's gradient.
        noise_std: standard deviation σ of the noise of the mean, per coordinate.

    Returns:
        s², without rounding.
    """
    relative_variance = Fraction(0)
    if sampling == "poisson":
        relative_variance = Fraction(clients - participants, clients * participants)
    gradient_part = Fraction(lipschitz) ** 2 * (1 + relative_variance)
    noise_part = dimension * Fraction(noise_std) ** 2
    return gradient_part + noise_part


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
    noise_std: Annotated[float, MEAN_NOISE_STD],
    rounds: Rounds,
    step_size: Annotated[float | None, STEP_SIZE] = None,
) -> Outputs:
    """Return a bound on the excess risk of noisy gradient descent that outputs the mean of its iterates.

    Let s² bound the mean squared norm of a round's noisy gradient (`second_moment`). After R rounds of step size η in a
    domain of diameter D, the expected loss is at most D²/(2ηR) + ηs²/2 above the least one. At the best step size
    η = D/(s√R) the bound is Ds/√R.

    Args:
        sampling: method by which a round's participants are drawn.
        clients: number N of clients.
        participants: number M of participants, or its expectation.
        dimension: number d of coordinates.
        lipschitz: bound L on the norm of a client's gradient.
        diameter: diameter D of the domain.
        noise_std: standard deviation σ of the noise of the mean, per coordinate.
        rounds: number R of rounds.
        step_size: step size η; if absent, the one that minimises the bound.

    Returns:
        `excess_risk`: the bound, in units of the loss.
        `step_size`: the step size η, given or the best one.
        `noise_alone`: for a given η, the summand ηdσ²/2; at the best η, the best bound for s² = dσ² by noise only.
        `without_noise`: for a given η, the rest of the bound; at the best η, the best bound without noise.
        All bounds are rounded up.

    Raises:
        InvalidInput: if `sampling` is "full" and not all clients participate.
    """
    if sampling == "full" and participants != clients:
        raise InvalidInput.at("/participants", "all clients take part in a full round", allowed=f"{clients}")

    # The mean squared norm s² of a round's gradient, and its parts.
    moment = second_moment(
        sampling=sampling,
        clients=clients,
        participants=participants,
        dimension=dimension,
        lipschitz=lipschitz,
        noise_std=noise_std,
    )
    noise_moment = dimension * Fraction(noise_std) ** 2
    gradient_moment = moment - noise_moment

    # The probability M/N of Poisson sampling is rounded to a double, so the mean is off by this factor at most.
    margin = 1 + RATE_ROUNDING if sampling == "poisson" else 1
    squared_distance = Fraction(diameter) ** 2 / rounds * margin**2  # D²/R

    if step_size is None:
        return {
            "excess_risk": root_up(squared_distance * moment),
            "without_noise": root_up(squared_distance * gradient_moment),
            "noise_alone": root_up(squared_distance * noise_moment),
            "step_size": diameter / root_up(moment * rounds),
        }

    exact_step_size = Fraction(step_size)  # η
    without_noise = squared_distance / (2 * exact_step_size) + exact_step_size * gradient_moment * margin**2 / 2
    noise_part = exact_step_size * noise_moment * margin**2 / 2
    return {
        "excess_risk": round_up(without_noise + noise_part),
        "without_noise": round_up(without_noise),
        "noise_alone": round_up(noise_part),
        "step_size": step_size,
    }


CONVEX_CLIENTS = Condition(
    "convex-client-losses",
    (
        "Every client's loss is convex on a domain of the given diameter. In a round a participant sends one "
        "subgradient of its own mean loss, of norm at most L"
    ),
)
FRESH_COHORTS = Condition(
    "fresh-cohorts", "participants are drawn uniformly and afresh in every round, and weigh the same"
)
AVERAGED_STEPS = Theorem(
    id="epsilond.averaged-noisy-steps",
    title="Projected steps along the noisy mean of clients' gradients",
    statement=(
        "Let w̄ be the mean of R iterates at step size D/√(R(L² E K²/M² + dσ²)). Then E F(w̄) − F* ≤ D √((L² E "
        "K²/M² + dσ²)/R). At any step size η it is at most D²/(2ηR) + η(L² E K²/M² + dσ²)/2"
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

"""Sampling errors of partial participation: Lemmas 2.1, 4.1, 4.2 and 4.3 of Reshef and Levy, and Appendix G."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula, in_doubles
from epsilond.accountants.quantities import (
    SQUARES,
    AtMost,
    Dimension,
    ParticipantFields,
    Participants,
    Quantity,
    Rounds,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Reading, Source, Status, Theorem
from epsilond.accountants.theorems.papers.reshef_levy.conversions import GaussianDpMu
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import ClippingNorm, printed_base_std
from epsilond.accountants.theorems.risk.reshef_levy.errata import GAPS, TYPOS

SPREAD = Quantity(
    symbol="σ", ge=0, scale=SQUARES, unit="loss/length", description="spread of records about their client's mean"
)
CLIENT_SPREAD = Quantity(
    symbol="ξ", ge=0, scale=SQUARES, unit="loss/length", description="spread of clients about their mean"
)


def client_share(*, clients: int, participants: int) -> float:
    """Return the factor (M − m)/(M − 1) of sampling without replacement.

    The variance of a mean of m of M values is reduced by this factor, compared with sampling with replacement.

    Args:
        clients: number M of clients.
        participants: number m of participants, from 1 to M.

    Returns:
        The factor, in [0, 1]; 0 if all clients take part, also for M = 1.
    """
    if clients == participants:
        return 0.0
    return (clients - participants) / (clients - 1)


@request
class SpreadInputs(ParticipantFields):
    """m of M clients with one record each, and the standard deviations of their gradients.

    `gradient_std` is σ, of a record's gradient about its client's mean. `heterogeneity` is ξ, of the clients' means
    about the mean of all clients.
    """

    gradient_std: Annotated[float, SPREAD]
    heterogeneity: Annotated[float, CLIENT_SPREAD]

    @property
    def variance(self) -> float:
        """Bound (σ² + (M − m)/(M − 1) ξ²)/m on the mean squared error of a round's mean gradient."""
        share = client_share(clients=self.clients, participants=self.participants)
        message_variance = self.gradient_std**2 + share * self.heterogeneity**2
        return message_variance / self.participants


@request
class SumInputs(SpreadInputs):
    """m of M clients over t rounds, one record each. Here σ and ξ denote σ̃ and ξ̃ of s_t."""

    round: Rounds


@in_doubles
def mean_variance(inputs: SpreadInputs) -> Outputs:
    """Return the bound (σ² + (M − m)/(M − 1) ξ²)/m on the mean squared error of a round's mean gradient.

    Args:
        inputs: m of M clients, and the standard deviations σ within a client and ξ between clients.

    Returns:
        `variance`, in squared gradient units.
    """
    return {"variance": inputs.variance}


@in_doubles
def sum_variance(inputs: SumInputs) -> Outputs:
    """Return bounds on the mean squared errors of q_t, the sum of the mean messages of rounds 1 to t, and of q_t/t.

    The error of each round has a mean square of at most (σ² + (M − m)/(M − 1) ξ²)/m. The errors are uncorrelated, so
    the bound for q_t is t times this.

    Args:
        inputs: m of M clients, the round t, and the standard deviations σ within a client and ξ between clients.

    Returns:
        `variance` for q_t, and `mean_variance` for q_t/t, in squared gradient units.
    """
    return {"variance": inputs.round * inputs.variance, "mean_variance": inputs.variance / inputs.round}


@formula(
    given="The schedule of Theorem 5.2 for a ρ, after t of T rounds.",
    checks=(AtMost("round", "rounds", "cannot exceed rounds"),),
)
def noise_in_sum(
    *,
    clipping_norm: Annotated[ClippingNorm, SQUARES],
    gaussian_dp_mu: Annotated[GaussianDpMu, SQUARES],
    rounds: Rounds,
    round: Rounds,  # noqa: A002  the field's name
    dimension: Dimension,
    participants: Participants,
) -> Outputs:
    """Return the expected squared norm of the noise in the sum of all rounds' mean messages up to round t.

    With cancellation, a client's new message removes its earlier noise. Without it, each message has fresh noise. Both
    have the same Gaussian DP parameter ρ.

    Args:
        clipping_norm: bound S on the norm of a message.
        gaussian_dp_mu: Gaussian DP parameter ρ.
        rounds: number T of rounds.
        round: round t, at most T.
        dimension: number d of coordinates.
        participants: clients m of a round.

    Returns:
        `cancelled_noise` with cancellation, and `independent_noise` without it.
    """
    base_std = printed_base_std(clipping_norm=clipping_norm, mu=gaussian_dp_mu, rounds=rounds)
    independent_std = 2.0 * clipping_norm / gaussian_dp_mu

    # The noise of a client has a variance proportional to its number of messages. All clients together sent mt messages
    # with d coordinates, and the mean of a round divides the variance by m².
    scale = dimension * (round / participants)
    return {
        "cancelled_noise": base_std * base_std * scale,
        "independent_noise": independent_std * independent_std * scale,
    }


@formula(given="m of M clients report in a round.", bounded=False)
def gap(*, run: ParticipantFields, reading: Reading = "printed") -> Outputs:
    """Return the factor by which the statistical term of the risk grows if messages are differences of gradients.

    The difference is that since the client's last report. The number of rounds since then is the gap; a client reports
    in a round with probability m/M.

    Args:
        run: the clients M and the participants m of a round.
        reading: "printed" gives √(M/m), as if all gaps were M/m; "corrected" gives √(2M/m − 1), which is valid for the
            geometric distribution that the gaps have.

    Returns:
        `factor`, at least 1.
    """
    mean_gap = run.clients / run.participants
    if reading == "printed":
        return {"factor": math.sqrt(mean_gap)}
    return {"factor": math.sqrt(2.0 * mean_gap - 1.0)}


UNIFORM = Condition(
    "uniform-participation", "the m participants of each round are a uniformly random set, drawn afresh"
)
FRESH_RECORDS = Condition(
    "fresh-records", "each message uses a record that is drawn afresh from its client's distribution"
)
_SPREADS = {"clients": 20, "participants": 4, "gradient_std": 0.9, "heterogeneity": 0.4}

LEMMA_2_1 = Theorem(
    id="reshef.lemma-2.1",
    title="Mean gradient of m of M clients",
    statement=(
        "The mean gradient g of m of M clients has E|g − ∇f|² ≤ (σ² + (M − m)/(M − 1) ξ²)/m. For differences of "
        "gradients at x and y, the same holds with σ_L and ξ_L times |x − y|"
    ),
    source=Source("reshef2025", "Lemma 2.1"),
    status=Status.PROVED,
    conditions=(UNIFORM, FRESH_RECORDS),
    inputs=SpreadInputs,
    formula=mean_variance,
    examples=(_SPREADS,),
)
LEMMA_4_1 = Theorem(
    id="reshef.lemma-4.1",
    title="The noise that cancellation leaves",
    statement=(
        "The noisy sum of all messages is q̃_t = q_t + (1/m) Σ_i Y_{t,i}. Of all noise that a client sent, only its "
        "last, Y_{t,i}, stays. Under the schedule of Theorem 5.2, E|Y_t|² = 4S²(1 + ln T) d t/(ρ²m) for the mean noise "
        "Y_t"
    ),
    source=Source("reshef2025", "Lemma 4.1 and Section 5"),
    status=Status.PROVED,
    conditions=(UNIFORM,),
    formula=noise_in_sum,
    examples=(
        {
            "clipping_norm": 2.0,
            "gaussian_dp_mu": 4.0,
            "rounds": 2000,
            "round": 100,
            "dimension": 10,
            "participants": 4,
        },
    ),
)
LEMMA_4_2 = Theorem(
    id="reshef.lemma-4.2",
    title="Mean of the weighted differences of one round",
    statement=(
        "Let s_t be the mean of the messages of m of M clients in round t, and s̄_t its expectation. Then E|s_t − "
        "s̄_t|² ≤ (σ̃² + (M − m)/(M − 1) ξ̃²)/m"
    ),
    source=Source("reshef2025", "Lemma 4.2"),
    status=Status.PROVED,
    conditions=(UNIFORM, FRESH_RECORDS),
    errata=(TYPOS,),
    inputs=SpreadInputs,
    formula=mean_variance,
    examples=(_SPREADS,),
)
LEMMA_4_3 = Theorem(
    id="reshef.lemma-4.3",
    title="Error of the sum of weighted differences",
    statement=(
        "The error ε_t of the sum of messages has E|ε_t|² ≤ tV, and that of the gradient has E|d_t − ∇f(x_t)|² ≤ V/t. "
        "Here V = (σ̃² + (M − m)/(M − 1) ξ̃²)/m for m of M clients in a round"
    ),
    source=Source("reshef2025", "Lemma 4.3"),
    status=Status.PROVED,
    conditions=(UNIFORM, FRESH_RECORDS),
    inputs=SumInputs,
    formula=sum_variance,
    examples=({**_SPREADS, "round": 50},),
)
APPENDIX_G = Theorem(
    id="reshef.appendix-g",
    title="Differences since a client's last report",
    statement=(
        "Let the message s_t span the gap since the client's last report, and let every gap be M/m. The statistical "
        "term then grows by √(M/m)"
    ),
    source=Source("reshef2025", "Appendix G"),
    status=Status.PROVED,
    conditions=(UNIFORM, Condition("alike-clients", "all clients have the same loss (ξ = 0), as Appendix G supposes")),
    errata=(GAPS,),
    formula=gap,
    examples=({"clients": 20, "participants": 4},),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_2_1, LEMMA_4_1, LEMMA_4_2, LEMMA_4_3, APPENDIX_G)

"""Theorem 5.1 of Bietti et al.: the noise of Algorithms 2 and 3 with independently drawn clients and hidden constants.

The paper gives neither the constants nor the range of ε. The calibrator accounts for the sampling exactly instead. This
module computes the printed σ_ζ, its noise multiplier, and the cost of heterogeneous batches.

Clients come in groups of equal clients, so that the time depends on the number of groups only. Algorithm 2 adds up the
gradients of a batch and weights a client by its records (`samples`). Algorithm 3 takes their mean and gives all clients
the same weight (`clients`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.federation import group_count_faults, read_members
from epsilond.accountants.formula import in_doubles
from epsilond.accountants.quantities import (
    CLIENT_GROUPS,
    SQUARES,
    BatchSize,
    BudgetFields,
    Clients,
    Epsilon,
    Quantity,
    Rate,
    Rounds,
    request,
)
from epsilond.accountants.quantities.algorithms import NOISE_CONSTANT, WEIGHTING, ClippingNorm, Weighting
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.bietti.errata import HIDDEN_RANGE
from epsilond.accountants.theorems.papers.bietti.noise import NORM_BOUNDED, noise_with_constant
from epsilond.accountants.verdict import Verdict

RANGE_CONSTANT = Quantity(symbol="c₁", gt=0, description="the constant of the printed range ε < c₁q²T, which is hidden")
ClientSampling = Literal["full", "poisson", "without-replacement"]


# Clients that are drawn ---------------------------------------------------------------------------------------------
@request
class EqualClients:
    """A group of equal clients: their number, and the records of a batch."""

    clients: Clients
    batch_size: BatchSize


@request
class Batches(EqualClients):
    """A group of equal clients: their number, and the records of a batch, 1 if absent."""

    batch_size: BatchSize = 1


@dataclass(frozen=True, kw_only=True)
class DrawnClients:
    """All clients of a run, some of which are drawn in each round.

    Attributes:
        groups: groups of equal clients, with their batch sizes m_i.
        weighting: whether clients have equal weights in the mean (`clients`), or weights by the records of their
            batches (`samples`).
        rate: probability q that a client is drawn in a round.
    """

    groups: tuple[EqualClients, ...]
    weighting: Weighting
    rate: float

    @property
    def clients(self) -> int:
        """Number of clients, N."""
        return sum(group.clients for group in self.groups)

    @property
    def samples(self) -> int:
        """Records of all batches, M = Σ m_i."""
        return sum(group.clients * group.batch_size for group in self.groups)

    @property
    def largest_batch(self) -> int:
        """Records of the largest batch, m_max."""
        return max(group.batch_size for group in self.groups)

    @property
    def weight(self) -> float:
        """Total weight W: N, or M if clients are weighted by records."""
        total = self.clients if self.weighting == "clients" else self.samples
        return float(total)

    @property
    def largest_message(self) -> float:
        """Largest number ω of gradients that are added up in one message; 1 if a message is a mean of gradients."""
        gradients = 1 if self.weighting == "clients" else self.largest_batch
        return float(gradients)

    @property
    def heterogeneity_cost(self) -> float:
        """Ratio N m_max/M ≥ 1 of the noise with weights by records to the noise with equal weights."""
        return self.clients * self.largest_batch / self.samples


def noise_multiplier_of(*, noise_std: float, rate: float, weight: float, clipping_norm: float) -> float:
    """Compute the noise multiplier z = σ_ζ qW/C: the noise of a round's sum, divided by the clipping norm.

    Args:
        noise_std: σ_ζ, standard deviation of the noise on the mean.
        rate: q, the probability that a client is drawn in a round.
        weight: W, the total weight of all clients; the sum is divided by qW.
        clipping_norm: bound C on the ℓ2 norm of a message, in the unit of σ_ζ.

    Returns:
        z, without unit.
    """
    return noise_std * rate * weight / clipping_norm


def participants_of(sampling: ClientSampling, *, rate: float, clients: int) -> int | None:
    """Return the number of clients in a round; None if it is random.

    Args:
        sampling: rule by which the clients of a round are drawn.
        rate: probability q that a client is drawn in a round.
        clients: number N of clients.

    Returns:
        N for `full`, qN for `without-replacement`, and None for `poisson`.

    Raises:
        InvalidInput: q is not 1 for `full`, or qN is not an integer of at least 1 for `without-replacement`.
    """
    if sampling == "full":
        if rate != 1.0:
            raise InvalidInput.at("/participation_rate", "is 1 where all clients take part", allowed="= 1")
        return clients
    if sampling == "poisson":
        return None
    # A rate such as 1/3 is a rounded double, so the product may differ from an integer by a relative error.
    expected_count = rate * clients
    count = round(expected_count)
    is_whole = abs(expected_count - count) <= 1e-9 * count
    if count < 1 or not is_whole:
        message = "times clients must be a whole number of participants"
        raise InvalidInput.at("/participation_rate", message, allowed=f"a multiple of 1/{clients}")
    return count


def check_groups(groups: Sequence[object]) -> None:
    """Check that a request has at least one group of equal clients, and at most 1000.

    Raises:
        InvalidInput: there are none, or more than 1000.
    """
    faults = group_count_faults(groups)
    if faults:
        raise InvalidInput(*faults)


# Theorem 5.1 --------------------------------------------------------------------------------------------------------
@request
class SampledNoiseInputs(BudgetFields):
    """Rounds of clients that are drawn independently at rate q, a target, and the constant of Theorem 5.1's noise."""

    client_groups: Annotated[tuple[Batches, ...], CLIENT_GROUPS]
    weighting: Annotated[Weighting, WEIGHTING] = "samples"
    rounds: Rounds
    participation_rate: Annotated[Rate, SQUARES]
    clipping_norm: ClippingNorm
    epsilon: Annotated[Epsilon, SQUARES]
    noise_constant: Annotated[float, NOISE_CONSTANT]
    range_constant: Annotated[float | None, RANGE_CONSTANT] = None

    def check(self) -> None:
        """Check that there are 1 to 1000 groups, each with the fields of a group."""
        read_members(self, "client_groups", Batches)
        check_groups(self.client_groups)


@in_doubles
def sampled_noise(inputs: SampledNoiseInputs) -> Outputs:
    """Compute the noise σ_ζ of Theorem 5.1 of Bietti et al., its noise multiplier, and the cost of unequal batches.

    Clients are drawn at random in each of T rounds. The standard deviation per coordinate of the mean message is:

        σ_ζ = c₂C√(T ln(1/δ))/(Wε).

    Args:
        inputs: `rounds` T, `clipping_norm` C, the target (ε, δ), the constant c₂ = `noise_constant`, and the clients
            with total weight W, which are drawn at rate q.

    Returns:
        `noise_std`: σ_ζ, in the unit of C.
        `noise_multiplier`: the noise of a round's sum over C.
        `total_weight`: W.
        `squared_rate_times_rounds`: q²T. The theorem is stated for ε < c₁q²T, but the paper does not give c₁.
        `heterogeneity_cost`: ratio of the noise with clients weighted by their records to that with equal weights.
    """
    clients = DrawnClients(groups=inputs.client_groups, weighting=inputs.weighting, rate=inputs.participation_rate)
    std = noise_with_constant(
        constant=inputs.noise_constant,
        clipping_norm=inputs.clipping_norm,
        contributions=clients.weight,
        rounds=inputs.rounds,
        epsilon=inputs.epsilon,
        log_delta=inputs.log_delta,
    )
    multiplier = noise_multiplier_of(
        noise_std=std, rate=clients.rate, weight=clients.weight, clipping_norm=inputs.clipping_norm
    )
    squared_rate_times_rounds = inputs.participation_rate**2 * inputs.rounds  # q²T
    return {
        "noise_std": std,
        "noise_multiplier": multiplier,
        "total_weight": clients.weight,
        "squared_rate_times_rounds": squared_rate_times_rounds,
        "heterogeneity_cost": clients.heterogeneity_cost,
    }


def _compare_epsilon(*, participation_rate: float, rounds: int, epsilon: float, range_constant: float | None) -> Sides:
    """Check that ε is below the limit c₁q²T of Theorem 5.1.

    This cannot be decided without the constant c₁, which the paper does not give.

    Args:
        participation_rate: probability q that a client is drawn in a round.
        rounds: number T of rounds.
        epsilon: ε of the target.
        range_constant: assumed constant c₁; None if none is assumed.

    Returns:
        The two sides of the condition, ε and c₁q²T, and whether it holds. Without c₁ the right side is q²T.
    """
    squared_rate_times_rounds = participation_rate**2 * rounds
    if range_constant is None:
        return Sides(Verdict.UNDECIDABLE, epsilon, squared_rate_times_rounds)
    return Sides.below(epsilon, range_constant * squared_rate_times_rounds)


EPSILON_RANGE = Condition(
    "epsilon-range",
    (
        "ε is below c₁q²T, with the rate q at which clients are drawn and T rounds. If c₁ is absent, the right side is "
        "q²T, and the condition is undecidable"
    ),
    _compare_epsilon,
)
THEOREM_5_1 = Theorem(
    id="bietti.5.1",
    title="The noise of PPSGD, clients drawn independently",
    statement=(
        "For ε < c₁q²T, noise σ_ζ ≥ c₂C√(T ln(1/δ))/(Mε) makes Algorithm 2 (ε, δ)-jointly private. With N for M, it "
        "makes Algorithm 3 private. Here each of N clients is drawn with probability q in each of T rounds. C is the "
        "clipping norm, and M the number of records of all batches"
    ),
    source=Source("bietti2022", "Theorem 5.1, (12)"),
    status=Status.UNPROVED,
    conditions=(EPSILON_RANGE, NORM_BOUNDED),
    errata=(HIDDEN_RANGE,),
    constants="hidden",
    inputs=SampledNoiseInputs,
    formula=sampled_noise,
    examples=(
        {
            "client_groups": [{"clients": 1000, "batch_size": 1}],
            "rounds": 100_000,
            "participation_rate": 0.001,
            "clipping_norm": 1.0,
            "epsilon": 1.0,
            "delta": 1e-5,
            "noise_constant": 1.28,
        },
    ),
)
THEOREMS: tuple[Theorem, ...] = (THEOREM_5_1,)

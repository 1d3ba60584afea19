"""The noise of Algorithm 1 of Lowy and Razaviyayn, and the limits of its privacy proof.

In each of R rounds a client draws K of its n records without replacement. It sends the mean of their gradients (norm at
most L) plus N(0, σ²) per coordinate. With the printed σ and K ≥ K_min, all messages of the client are (ε, δ) for each
of its records (replace-one). This holds for every behaviour of the server and the other clients.

Functions take ln δ, as δ may be below 1e-300. E-01 and so on are errata.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from epsilond.accountants.federation import ClientGroup, Federation
from epsilond.accountants.quantities import (
    BATCH_WITHIN_CLIENT,
    SAMPLING,
    SQUARES,
    BatchSize,
    BudgetFields,
    Checks,
    Epsilon,
    Lipschitz,
    Rounds,
    SamplesPerClient,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.composition.classical import expm1_or_infinity, subsampled_epsilon
from epsilond.accountants.theorems.papers.lowy_razaviyayn import errata
from epsilond.accountants.theorems.papers.lowy_razaviyayn.averages import rms_average_of_largest
from epsilond.accountants.theorems.papers.lowy_razaviyayn.proof_quantities import ProofChain

Branch = Literal["average", "largest"]
Range = Literal["complete", "informal", "extended"]
RANGES: dict[Range, float] = {"complete": 1.0, "informal": 2.0, "extended": 8.0}
"""Factors f of the range ε ≤ f ln(2/δ): in the appendix, in the main text (E-01), and in the corrected proof."""


def xi(*, epsilon: float, log_delta: float, samples_per_client: int, rounds: int) -> float:
    """Compute ξ = ln(2.5R/δ) ln(2/δ)/(nε)², a client's noise variance in Theorem 2.1 divided by 256 L² R.

    ξ increases with R. Appendix E.1 defines it so, except in its sentence on balanced data (E-29).

    Args:
        epsilon: ε of the whole run.
        log_delta: natural logarithm of δ.
        samples_per_client: records n of the client.
        rounds: number R of rounds.

    Returns:
        ξ, at least 0. A client's noise variance is 256 L² R ξ.
    """
    scale = samples_per_client * epsilon  # nε
    log_rounds_over_delta = math.log(2.5 * rounds) - log_delta
    log_2_over_delta = math.log(2.0) - log_delta
    return log_rounds_over_delta * log_2_over_delta / (scale * scale)


def noise_std(*, lipschitz: float, samples_per_client: int, rounds: int, epsilon: float, log_delta: float) -> float:
    """Compute the noise σ = 16 L √(R ln(2.5R/δ) ln(2/δ))/(nε) of Theorem 2.1 of Lowy and Razaviyayn.

    σ does not depend on the batch size K. It is 4 to 37 times the smallest sufficient σ (Table 1 of the errata), and is
    proved only for K ≥ `minimal_batch_size`.

    Args:
        lipschitz: bound L on the norm of a record's gradient; σ has its unit.
        samples_per_client: number n of records of a client.
        rounds: number R of rounds.
        epsilon: ε of the whole run.
        log_delta: natural logarithm of δ.

    Returns:
        The standard deviation σ per coordinate of a client's mean gradient, in the unit of L.
    """
    scaled_variance = xi(epsilon=epsilon, log_delta=log_delta, samples_per_client=samples_per_client, rounds=rounds)
    return 16.0 * lipschitz * math.sqrt(rounds * scaled_variance)


def minimal_batch_size_real(*, samples_per_client: int, rounds: int, epsilon: float, log_delta: float) -> float:
    """Compute the batch size εn/(4 √(2R ln(2/δ))) at which the noise of a round has ε = 1 before sampling.

    The proof of Theorem 2.1 requires that this ε is at most 1, and so at least this batch size.

    Args:
        samples_per_client: number n of the client's own records (erratum E-04).
        rounds: number R of rounds.
        epsilon: ε of the whole run.
        log_delta: natural logarithm of δ.

    Returns:
        The batch size as a real number, before rounding up. It may exceed n.
    """
    root = math.sqrt(2.0 * rounds * (math.log(2.0) - log_delta))  # √(2R ln(2/δ))
    return epsilon * samples_per_client / (4.0 * root)


def minimal_batch_size(*, samples_per_client: int, rounds: int, epsilon: float, log_delta: float) -> int:
    """Compute the least batch size for which the privacy proof of Theorem 2.1 of Lowy and Razaviyayn holds.

    It is εn/(4 √(2R ln(2/δ))), rounded up.

    Args:
        samples_per_client: number n of the client's own records. The paper does not define n (docs/errata.md, E-04).
        rounds: number R of rounds.
        epsilon: ε of the whole run.
        log_delta: natural logarithm of δ.

    Returns:
        The batch size, at least 1. If it exceeds n, no batch size is valid at this R.
    """
    real = minimal_batch_size_real(
        samples_per_client=samples_per_client, rounds=rounds, epsilon=epsilon, log_delta=log_delta
    )
    return max(1, math.ceil(real))


def epsilon_limit(*, log_delta: float, reading: Range = "informal") -> float:
    """Compute the largest ε of Theorem 2.1: ln(2/δ), 2 ln(2/δ) in the main text, or 8 ln(2/δ) in the corrected proof.

    Args:
        log_delta: natural logarithm of δ.
        reading: "complete" for the appendix, "informal" for the main text, "extended" for the corrected proof.

    Returns:
        The largest ε, in nats.
    """
    return RANGES[reading] * (math.log(2.0) - log_delta)


@dataclass(frozen=True, kw_only=True)
class Aggregates:
    """Averages of ξ (see `xi`) over the clients, and (M~, Ξ~), with which theorems prescribe a number of rounds.

    M = 1/E[1/M_r] and M' = 1/√E[1/M_r²] are averages of the number M_r of participants in a round.

    Attributes:
        average_xi: Ξ, the root mean square over M_r of the mean of the M_r largest ξ.
        largest_xi: ξ_max, the largest ξ of a client.
        branch: `average` if Ξ/M' is at most ξ_max/M, otherwise `largest`.
        participants: M~, equal to `plain_participants`; its square root if computed as printed (erratum E-06).
        plain_participants: M' if the branch is `average`, otherwise M.
        xi: Ξ~, which is Ξ if the branch is `average`, otherwise ξ_max.
        noise_ratio: min{Ξ/M', ξ_max/M}.
    """

    average_xi: float
    largest_xi: float
    branch: Branch
    participants: float
    plain_participants: float
    xi: float
    noise_ratio: float


def client_outputs(client: ClientGroup, std: float, *, rounds: int, reading: Range) -> dict[str, float]:
    """Return the noise of one client and its limits by name: σ, σK/L, 2L/K, the least batch size and the largest ε.

    Args:
        client: records, batch size K, Lipschitz constant L and target.
        std: σ, standard deviation of the noise on the mean gradient.
        rounds: number R of rounds.
        reading: statement that sets the largest ε, as in `epsilon_limit`.

    Returns:
        The five values, each by the name of its output.
    """
    return {
        "noise_std": std,
        "noise_multiplier": std * client.batch_size / client.lipschitz,
        "sensitivity": 2.0 * client.lipschitz / client.batch_size,
        "minimal_batch_size": minimal_batch_size(rounds=rounds, **client.records_and_target),
        "epsilon_limit": epsilon_limit(log_delta=client.log_delta, reading=reading),
    }


def with_own_lipschitz(group: ClientGroup, lipschitz: float) -> ClientGroup:
    """Return clients with Lipschitz constant 1 and ε/L for ε, for which the formulas give the same noise.

    Args:
        group: the clients. Their own Lipschitz constant is not read.
        lipschitz: Lipschitz constant L by which their noise is scaled.

    Returns:
        The clients. Their ε/L is not a privacy target, only a way to scale the noise.
    """
    return replace(group, epsilon=group.epsilon / lipschitz, lipschitz=1.0)


def aggregates(federation: Federation, rounds: int, reading: Reading = "corrected") -> Aggregates:
    """Compute averages over clients of their noise variances, for Theorems 2.1, 2.2 and 2.4 of Lowy and Razaviyayn.

    ξ of a client is its noise variance divided by 256L²R (`xi`), and M_r is the number of participants of a round.
    Averages are 1/M = E[1/M_r], 1/M'² = E[1/M_r²], and Ξ = √E[(mean of the M_r largest ξ)²]. The theorems use (M', Ξ)
    or (M, the largest ξ), the pair with the smaller ratio of the second number to the first. It is (M~, Ξ~).

    Args:
        federation: the clients, their targets, and the distribution of how many take part.
        rounds: number R of rounds, on which ξ depends.
        reading: `printed` sets M~ to √M' or √M, as Theorems 2.1 (convex), 2.2 and 2.4 define it (E-06); `corrected`
            sets M~ to M' or M.

    Returns:
        The averages, the pair that is chosen, and its ratio.
    """
    values = [(xi(rounds=rounds, **group.records_and_target), group.clients) for group in federation.groups]
    largest_xi = max(value for value, _ in values)
    average_xi = rms_average_of_largest(values, federation.counts)
    moments = federation.participation

    # Choose the pair with the smaller ratio.
    average_ratio = average_xi / moments.rms  # Ξ/M'
    largest_ratio = largest_xi / moments.mean  # ξ_max/M
    # The ratios of equal clients are the same number; the margin keeps rounding errors from deciding.
    branch: Branch
    if average_ratio <= largest_ratio * (1.0 + 2.0**-40):
        branch = "average"
        plain_participants, chosen_xi, noise_ratio = moments.rms, average_xi, average_ratio
    else:
        branch = "largest"
        plain_participants, chosen_xi, noise_ratio = moments.mean, largest_xi, largest_ratio
    participants = math.sqrt(plain_participants) if reading == "printed" else plain_participants
    return Aggregates(
        average_xi=average_xi,
        largest_xi=largest_xi,
        branch=branch,
        participants=participants,
        plain_participants=plain_participants,
        xi=chosen_xi,
        noise_ratio=noise_ratio,
    )


def proof_chain(
    *, samples_per_client: int, batch_size: int, rounds: int, epsilon: float, log_delta: float
) -> ProofChain:
    """Compute the quantities in the privacy proof of Theorem 2.1 at the noise σ of `noise_std`.

    Let ε̃ = ε/(2√(2R ln(2/δ))), δ̃ = δ/2R and ε' = nε̃/2K. A batch is (ε', δ̃) by the Gaussian mechanism, as σ² = 8L²
    ln(1.25/δ̃)/(ε'K)² at sensitivity 2L/K.

    The printed proof subsamples to 2ε'K/n = ε̃. Its total, R ε̃(e^ε̃ − 1) + √(2R ln(2/δ)) ε̃, exceeds ε near the upper
    bound of the range (erratum E-01). The corrected proof has ln(1 + (K/n)(e^ε' − 1)) ≤ 0.86 ε̃ for ε' ≤ 1. Its
    composition with tanh is at most ε if ε ≤ 8 ln(2/δ).

    Args:
        samples_per_client: number n of records of a client.
        batch_size: records K of a batch.
        rounds: number R of rounds.
        epsilon: ε of the whole run.
        log_delta: natural logarithm of δ.

    Returns:
        The quantities in the order of the proof. The `total` is the ε that the corrected proof gives.
    """
    root = math.sqrt(2.0 * rounds * (math.log(2.0) - log_delta))  # √(2R ln(2/δ))
    round_epsilon = epsilon / (2.0 * root)
    inner_epsilon = samples_per_client * round_epsilon / (2.0 * batch_size)
    amplified = subsampled_epsilon(epsilon=inner_epsilon, rate=batch_size / samples_per_client)

    # The ε of the whole run, by the printed composition and by two valid ones, of which the smaller is used.
    printed_total = root * round_epsilon + rounds * round_epsilon * expm1_or_infinity(round_epsilon)
    advanced_total = root * amplified + rounds * amplified * math.tanh(0.5 * amplified)
    return ProofChain(
        round_epsilon=round_epsilon,
        log_round_delta=log_delta - math.log(2.0 * rounds),
        inner_epsilon=inner_epsilon,
        amplified_epsilon=amplified,
        printed_total=printed_total,
        total=min(advanced_total, rounds * amplified),
    )


@request
class NoiseInputs(BudgetFields):
    """One client's run of noisy mini-batch SGD (Algorithm 1). Exactly one of `delta` and `log10_delta` is required."""

    epsilon: Annotated[Epsilon, SQUARES]
    samples_per_client: SamplesPerClient
    rounds: Rounds
    batch_size: BatchSize
    lipschitz: Lipschitz
    sampling: Annotated[Literal["without-replacement", "with-replacement"], SAMPLING] = "without-replacement"

    checks: ClassVar[Checks] = (BATCH_WITHIN_CLIENT,)

    @property
    def client(self) -> ClientGroup:
        """The client of the run."""
        return ClientGroup(
            clients=1,
            samples_per_client=self.samples_per_client,
            batch_size=self.batch_size,
            lipschitz=self.lipschitz,
            epsilon=self.epsilon,
            log_delta=self.log_delta,
        )


def noise(inputs: NoiseInputs) -> Outputs:
    """Compute the noise σ of Theorem 2.1 of Lowy and Razaviyayn, its smallest batch size, and the steps of its proof.

    Args:
        inputs: the run of one client, with its target (ε, δ).

    Returns:
        The outputs of `client_outputs` on the noise, and `round_epsilon`, `round_log10_delta`: the budget of a round.
        `inner_epsilon`, `amplified_epsilon`: ε of a round's noise without and with sampling.
        `printed_proof_epsilon`: ε of the run by the paper's composition at `round_epsilon`, which has an error.
        `proved_epsilon`: ε of the run by a valid composition at `amplified_epsilon`.
    """
    client, rounds = inputs.client, inputs.rounds
    std = noise_std(lipschitz=inputs.lipschitz, rounds=rounds, **client.records_and_target)
    chain = proof_chain(batch_size=inputs.batch_size, rounds=rounds, **client.records_and_target)
    return {
        **client_outputs(client, std, rounds=rounds, reading="extended"),
        "round_epsilon": chain.round_epsilon,
        "round_log10_delta": chain.log_round_delta / math.log(10.0),
        "inner_epsilon": chain.inner_epsilon,
        "amplified_epsilon": chain.amplified_epsilon,
        "printed_proof_epsilon": chain.printed_total,
        "proved_epsilon": chain.total,
    }


def batch_large_enough(inputs: NoiseInputs) -> Sides:
    """Compare the batch size K with its minimum εn/(4 √(2R ln(2/δ))) in the privacy proof.

    Args:
        inputs: the run of one client.

    Returns:
        The two sides of the condition, K and the minimum. It holds if K is at least the minimum.
    """
    least = minimal_batch_size_real(rounds=inputs.rounds, **inputs.client.records_and_target)
    return Sides.at_least(inputs.batch_size, least)


def compare_times_drawn(inputs: NoiseInputs) -> Sides:
    """Compare with 1 the largest number of times that a record may be drawn into one batch.

    Args:
        inputs: the run of one client. With replacement, a record may be drawn up to K times into a batch of K.

    Returns:
        The two sides of the condition, the number of times and 1. It holds if the number is at most 1.
    """
    times_drawn = 1
    if inputs.sampling == "with-replacement":
        times_drawn = inputs.batch_size
    return Sides.at_most(times_drawn, 1)


FRESH_NOISE = Condition("fresh-noise", "every round has fresh noise and a fresh uniform batch")
INSIDE_DOMAIN = Condition("bounded-gradients", "every record's gradient has norm at most L everywhere")
DRAWN_ONCE = Condition(
    "drawn-once", "no record is drawn into a batch more than once (times drawn ≤ 1)", compare_times_drawn
)
BATCH = Condition(
    "minimal-batch-size",
    "a batch of a run of R rounds has K ≥ ε n/(4 √(2R ln(2/δ))) of the client's own n records",
    batch_large_enough,
)

PRIVACY_ERRATA = errata.PRIVACY_ERRATA
SIGN_IN_XI = errata.SIGN_IN_XI

PRIVACY = Theorem(
    id="epsilond.mini-batch-sgd-noise",
    title="The noise of Algorithm 1, with a proof that closes",
    statement=(
        "Let the noise have σ² = 256 L² R ln(2.5R/δ) ln(2/δ)/(nε)² with ε ≤ 8 ln(2/δ), for R rounds on n records. Let "
        "a batch have K ≥ ε n/(4√(2R ln(2/δ))) distinct records. Then all R messages of a client are (ε, δ)-private "
        "for each of its records"
    ),
    source=Source("epsilond", "corrected proof of Theorem 2.1 of Lowy and Razaviyayn"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "epsilon-range",
            "the target (ε, δ) satisfies ε ≤ 8 ln(2/δ)",
            lambda inputs: Sides.at_most(inputs.epsilon, epsilon_limit(log_delta=inputs.log_delta, reading="extended")),
        ),
        BATCH,
        DRAWN_ONCE,
        INSIDE_DOMAIN,
        FRESH_NOISE,
    ),
    errata=PRIVACY_ERRATA,
    inputs=NoiseInputs,
    formula=noise,
    examples=(
        {"epsilon": 1.0, "delta": 1e-5, "samples_per_client": 1000, "rounds": 100, "batch_size": 6, "lipschitz": 1.0},
    ),
)

THEOREMS: tuple[Theorem, ...] = (PRIVACY,)

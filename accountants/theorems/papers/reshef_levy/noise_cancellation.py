"""Privacy of the noise cancellation of Reshef and Levy: Theorem 5.1, its noise schedule, and a trusted server.

In its k-th report, a client sends the message s_k with the noise y_k, minus the noise of the previous report:

    s_k + y_k − y_{k−1}.

The sum of its first k reports is s_1 + … + s_k + y_k, so that only the last noise remains. A record in s_j moves the
j-th and all later sums by the same vector. These sums are Gaussian mechanisms with the noises y_j, y_{j+1}, …

In functions, μ is the parameter of Gaussian differential privacy, which Reshef and Levy call ρ.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula, in_doubles
from epsilond.accountants.numerics.outward import product_up, raise_by_units
from epsilond.accountants.numerics.power_sums import PAD, harmonic
from epsilond.accountants.quantities import (
    LARGEST_COUNT,
    RELATION,
    AtMost,
    Participants,
    Quantity,
    Relation,
    Rounds,
    request,
)
from epsilond.accountants.quantities.algorithms import MOST_PARTICIPATIONS
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.theorem import Condition, Outputs, Reading, Source, Status, Theorem
from epsilond.accountants.theorems.papers.reshef_levy.client_reports import all_records_mu, check_listed, record_mus
from epsilond.accountants.theorems.papers.reshef_levy.conversions import GaussianDpMu
from epsilond.accountants.theorems.papers.reshef_levy.errata import LEFT_OVERS, MALICIOUS, SLACK

CLIPPING_NORM = Quantity(
    symbol="S", gt=0, unit="loss/length", description="bound on the ℓ2 norm of one weighted gradient difference s"
)
PARTICIPATIONS = Quantity(
    symbol="N", ge=1, le=LARGEST_COUNT, description="number of rounds in which a client has reported, this one included"
)
ClippingNorm = Annotated[float, CLIPPING_NORM]
Participations = Annotated[int, PARTICIPATIONS]
NOISE_STDS = Quantity(symbol="σ_{t,i}", description="σ of the noise drawn in each report of a client, in their order")
RELEASE_STDS = Quantity(symbol="σ_t", description="σ of the noise that the server adds in each round, in their order")
SENSITIVITIES = Quantity(
    symbol="Δ_j",
    description="most that one record moves s in each report of a client, in ℓ2 norm; absent: all equal",
)
Listed = Annotated[float, Quantity(description="one of them", gt=0)]


# The schedule ---------------------------------------------------------------------------------------------------------
def printed_base_std(*, clipping_norm: float, mu: float, rounds: int) -> float:
    """Compute the standard deviation of a client's first noise by the formula of Reshef and Levy.

    It is 2S√(1 + ln T)/μ. The noise of the N-th report has √N times this standard deviation.

    Args:
        clipping_norm: bound S on the ℓ2 norm of a message.
        mu: Gaussian DP parameter μ of the target.
        rounds: number T of rounds.

    Returns:
        The standard deviation in the unit of S.
    """
    return 2.0 * clipping_norm * math.sqrt(1.0 + math.log(rounds)) / mu


def base_std(*, sensitivity: float, mu: float, participations: int) -> float:
    """Compute the least standard deviation of a client's first noise that gives its records μ-Gaussian DP.

    It is Δ√H_K/μ, where H_K = 1 + 1/2 + … + 1/K. The noise of the k-th report has √k times this standard deviation.

    Args:
        sensitivity: Δ, the largest change of a report by one record, in ℓ2 norm.
        mu: μ of Gaussian differential privacy.
        participations: number K of reports of the client.

    Returns:
        The standard deviation in the unit of Δ.
    """
    return sensitivity * math.sqrt(harmonic(participations)) / mu


def upper_mu(*, sensitivity: float, base: float, participations: int) -> float:
    """Compute the Gaussian DP parameter of one record of a client that reports K times, rounded up.

    It is Δ√H_K/base, where H_K = 1 + 1/2 + … + 1/K.

    Args:
        sensitivity: Δ, the largest change of a report by one record, in ℓ2 norm.
        base: standard deviation of the client's first noise; the k-th noise has √k times this standard deviation.
        participations: number K of reports of the client.
    """
    return sensitivity * math.sqrt(harmonic(participations)) / base * (1.0 + PAD)


def client_mu(*, sensitivity: float, base: float, participations: int) -> float:
    """Compute the Gaussian DP parameter μ of a whole client that reports K times, rounded up.

    The records of all K reports may change at once. The sum of the first k reports then changes by at most kΔ, and its
    noise has standard deviation base √k. Therefore:

        μ² = Σ_k (kΔ)²/(base² k) = (Δ/base)² K(K + 1)/2.

    Args:
        sensitivity: Δ, the largest change of a report by one record, in ℓ2 norm.
        base: standard deviation of the client's first noise; the k-th noise has √k times this standard deviation.
        participations: number K of reports of the client.
    """
    sum_of_indices = 0.5 * participations * (participations + 1.0)
    return sensitivity * math.sqrt(sum_of_indices) / base * (1.0 + PAD)


def released_mu(*, sensitivity: float, noise_std: float, participants: int, releases: int) -> float:
    """Compute the Gaussian DP parameter of R means that a trusted server releases with noise, rounded up.

    By Theorem F.1 of Reshef and Levy, it is Δ√R/(mσ).

    Args:
        sensitivity: Δ, the largest change of a message by one record, in ℓ2 norm.
        noise_std: standard deviation σ of the noise in each coordinate of a mean.
        participants: number m of messages in a mean.
        releases: number R of released means.
    """
    return sensitivity / participants * math.sqrt(releases) / noise_std * (1.0 + PAD)


# Inputs ---------------------------------------------------------------------------------------------------------------
@request
class ReportsInputs:
    """The noise of each report of one client, and the ℓ2 sensitivity of each report's message before noise.

    Absent `sensitivities` are twice `clipping_norm` for replace-one, and `clipping_norm` for the other relations.
    """

    clipping_norm: ClippingNorm
    noise_stds: Annotated[tuple[Listed, ...], NOISE_STDS]
    relation: Annotated[Relation, RELATION] = "replace-one"
    sensitivities: Annotated[tuple[Listed, ...] | None, SENSITIVITIES] = None

    def check(self) -> None:
        """Check that the noises are finite and positive, and that each report has a sensitivity if there are any."""
        check_listed("noise_stds", self.noise_stds, least=0)
        if self.sensitivities is not None:
            check_listed("sensitivities", self.sensitivities, least=len(self.noise_stds), most=len(self.noise_stds))

    @property
    def distances(self) -> tuple[float, ...]:
        """The ℓ2 sensitivity Δ_j of each report's message before noise; if the request has none, all are equal."""
        if self.sensitivities is not None:
            return tuple(self.sensitivities)
        sensitivity = sensitivity_factor(self.relation) * self.clipping_norm
        return (sensitivity,) * len(self.noise_stds)


@in_doubles
def reports(inputs: ReportsInputs) -> Outputs:
    """Compute the privacy of every record of a client by Theorem 5.1 of Reshef and Levy.

    Let Δ be the sensitivity of a message by the clipping norm, and σ_k the noise of report k. Then:

        μ = Δ √(Σ_k 1/σ_k²).

    Args:
        inputs: the noises of the client's reports, the clipping norm, and the neighbouring relation.

    Returns:
        `gaussian_dp_mu`, which is μ, and `zcdp_rho`, which is μ²/2. Both are rounded up, and are 0 without reports.
    """
    sensitivity = sensitivity_factor(inputs.relation) * inputs.clipping_norm
    total_precision = math.fsum(1.0 / std / std for std in inputs.noise_stds)
    mu = raise_by_units(sensitivity * math.sqrt(total_precision), 8.0)
    return {"gaussian_dp_mu": mu, "zcdp_rho": product_up(0.5, mu, mu)}


@in_doubles
def records(inputs: ReportsInputs) -> Outputs:
    """Compute the Gaussian DP parameters of single records of a client, and of all its records at once.

    Args:
        inputs: the noises and the sensitivities of the client's reports.

    Returns:
        `gaussian_dp_mu`: the largest parameter of a single record.
        `first_record_gaussian_dp_mu` and `last_record_gaussian_dp_mu`: those of the records in the first and the last
        report.
        `client_gaussian_dp_mu`: the parameter of all records at once.
        All are rounded up, and are 0 without reports.
    """
    mus = record_mus(inputs.distances, inputs.noise_stds)
    if not mus:
        return {
            "gaussian_dp_mu": 0.0,
            "first_record_gaussian_dp_mu": 0.0,
            "last_record_gaussian_dp_mu": 0.0,
            "client_gaussian_dp_mu": 0.0,
        }
    return {
        "gaussian_dp_mu": max(mus),
        "first_record_gaussian_dp_mu": mus[0],
        "last_record_gaussian_dp_mu": mus[-1],
        "client_gaussian_dp_mu": all_records_mu(inputs.distances, inputs.noise_stds),
    }


@formula(
    given="The schedule for a ρ, read at a client's N-th report. `most_participations` is the cap, T if absent.",
    checks=(
        AtMost("most_participations", "rounds", "cannot exceed rounds"),
        AtMost("participations", "rounds", "cannot exceed rounds"),
        AtMost("participations", "most_participations", "cannot exceed the most there may be"),
    ),
)
def schedule(
    *,
    clipping_norm: ClippingNorm,
    gaussian_dp_mu: GaussianDpMu,
    rounds: Rounds,
    participations: Participations,
    most_participations: Annotated[int | None, MOST_PARTICIPATIONS] = None,
    reading: Reading = "printed",
) -> Outputs:
    """Compute the noise σ of a client's N-th report, and the Gaussian DP parameter after N reports.

    They are, for neighbours that replace one record:

        σ = base √N,
        μ = 2S √(1 + 1/2 + … + 1/N)/base.

    Args:
        clipping_norm: bound S on the ℓ2 norm of a message.
        gaussian_dp_mu: Gaussian DP parameter ρ of the target.
        rounds: number T of rounds.
        participations: number N of the client's reports so far, this one included.
        most_participations: largest number K of reports of a client, or T if None.
        reading: formula of `base`. `printed` is that of the paper, base² = 4S²(1 + ln T)/ρ². `corrected` gives the
            least base with the Gaussian DP parameter ρ after K reports, base² = 4S²(1 + 1/2 + … + 1/K)/ρ².

    Returns:
        `base_std`: the base, in the unit of S.
        `noise_std` and `noise_variance`: σ and σ².
        `true_gaussian_dp_mu`: μ.
        `printed_over_least`: ratio of the paper's base to the least one.
    """
    cap = rounds if most_participations is None else most_participations
    printed_base = printed_base_std(clipping_norm=clipping_norm, mu=gaussian_dp_mu, rounds=rounds)
    least_base = base_std(sensitivity=2.0 * clipping_norm, mu=gaussian_dp_mu, participations=cap)
    base = printed_base if reading == "printed" else least_base
    true_mu = 2.0 * clipping_norm * math.sqrt(harmonic(participations)) / base
    return {
        "base_std": base,
        "noise_std": base * math.sqrt(participations),
        "noise_variance": base * base * participations,
        "true_gaussian_dp_mu": true_mu,
        "printed_over_least": printed_base / least_base,
    }


@formula(
    given="The noises that a trusted server adds to the mean of m messages. x_1, …, x_T need those of rounds below T.",
    checks=(lambda inputs: check_listed("noise_stds", inputs.noise_stds, least=0),),
)
def trusted_server(
    *,
    clipping_norm: ClippingNorm,
    participants: Participants,
    noise_stds: Annotated[tuple[Listed, ...], RELEASE_STDS],
    relation: Annotated[Relation, RELATION] = "replace-one",
) -> Outputs:
    """Compute the privacy of a record if a trusted server adds the noise, by Theorem F.1 of Reshef and Levy.

    The server adds Gaussian noise to the mean of the clients' messages in each round t. One record moves the mean by at
    most kS/m. All rounds together have the Gaussian DP parameter:

        ρ = kS/m √(Σ_t 1/σ_t²).

    Args:
        clipping_norm: bound S on the ℓ2 norm of a message.
        participants: number m of messages in the mean.
        noise_stds: standard deviation σ_t of the noise in each round.
        relation: neighbouring relation of the records; k is 2 for replace-one and 1 for the others.

    Returns:
        `gaussian_dp_mu` and `zcdp_rho`: ρ and ρ²/2, where the latter is the parameter of zero-concentrated DP (zCDP).
        `released_gaussian_dp_mu`: ρ if the sum of the last round is not released.
        All are rounded up.
    """
    sensitivity = sensitivity_factor(relation) * clipping_norm / participants
    # Eight units of roundoff exceed the rounding error of the formula.
    precisions = [1.0 / std / std for std in noise_stds]
    mu = raise_by_units(sensitivity * math.sqrt(math.fsum(precisions)), 8.0)
    # The models x_1, …, x_T, which are released, need the noise of the rounds below T only.
    earlier_precisions = precisions[:-1]
    released_mu = raise_by_units(sensitivity * math.sqrt(math.fsum(earlier_precisions)), 8.0)
    return {"gaussian_dp_mu": mu, "zcdp_rho": product_up(0.5, mu, mu), "released_gaussian_dp_mu": released_mu}


# Conditions -----------------------------------------------------------------------------------------------------------
CLIPPED = Condition(
    "client-clips",
    (
        "Each client scales its message s down to an ℓ2 norm of at most S = G + 2LD before it adds noise. This S "
        "assumes models with |x_t − x_{t−1}| ≤ 2D/(t + 1), which an untrusted server need not send. If it sends such "
        "models, clipping changes nothing"
    ),
)
SERVER_CLIPPED = Condition(
    "bounded-messages",
    "Every message s has an ℓ2 norm of at most S. Either G and L hold for every record, or s is clipped to S",
)
ONE_MESSAGE = Condition(
    "one-message-per-record", "each record enters one message of its client and is never used again"
)
KEPT_STATE = Condition(
    "state-is-kept",
    (
        "A client keeps its last noise Y and its count N of reports between its reports. If it loses them, the last "
        "noise is not cancelled, and nothing else changes"
    ),
)
OBLIVIOUS = Condition(
    "oblivious-participation", "no data influence which client reports in which round, and which record it then uses"
)
FRESH = Condition("fresh-noise", "each report's noise is fresh, has the scheduled σ, and is known to its client only")
PLANNED_MEAN = Condition(
    "planned-divisor", "the server divides by the planned number m of clients, even in a round in which fewer report"
)
SILENT_LAST = Condition(
    "released-models-only",
    "the server releases the models x_1, …, x_T, and nothing that is computed from the sum of round T",
)


UNTRUSTED = Theorem(
    id="reshef.5.1",
    title="Privacy of noise cancellation against the server",
    statement=(
        "The messages of client i are ρ_i²/2-zCDP for each of its records, for every participation of the other "
        "clients. Here ρ_i = 2S√(Σ_{t ∈ T_i} 1/σ²_{t,i}), summed over its rounds T_i. We read this as ρ_i-Gaussian "
        "differential privacy, which the first record attains"
    ),
    source=Source("reshef2025", "Theorem 5.1"),
    status=Status.PROVED,
    conditions=(CLIPPED, ONE_MESSAGE, KEPT_STATE, OBLIVIOUS, FRESH),
    errata=(MALICIOUS,),
    inputs=ReportsInputs,
    formula=reports,
    examples=({"clipping_norm": 2.0, "noise_stds": [10.0, 12.0, 15.0]},),
)
RECORDS = Theorem(
    id="epsilond.noise-cancellation-records",
    title="Noise cancellation, record by record",
    statement=(
        "The record of a client's j-th report is Δ_j√(Σ_{k ≥ j} 1/σ_k²)-Gaussian differentially private, exactly. For "
        "all its records at once the parameter is √(Σ_k (Δ_1 + … + Δ_k)²/σ_k²)"
    ),
    source=Source("epsilond", "the running sums of a client's messages are Gaussian mechanisms"),
    status=Status.PROVED,
    conditions=UNTRUSTED.conditions,
    inputs=ReportsInputs,
    formula=records,
    examples=({"clipping_norm": 2.0, "noise_stds": [10.0, 12.0, 15.0], "sensitivities": [2.0, 3.0, 4.0]},),
)
SCHEDULE = Theorem(
    id="epsilond.noise-cancellation-schedule",
    title="Noise that grows with the root of a client's reports",
    statement=(
        "Let the noise be σ²_{t,i} = base² N_{t,i}, where N_{t,i} counts the reports of client i up to round t. A "
        "client of K reports then has the Gaussian privacy parameter 2S√H_K/base. Theorem 5.2 prints base² = 4S²(1 + "
        "ln T)/ρ²"
    ),
    source=Source("epsilond", "Theorem 5.1 at the schedule of Theorem 5.2 of Reshef and Levy"),
    status=Status.PROVED,
    conditions=UNTRUSTED.conditions,
    errata=(SLACK,),
    formula=schedule,
    examples=({"clipping_norm": 118.0, "gaussian_dp_mu": 8.0, "rounds": 1200, "participations": 600},),
)
TRUSTED = Theorem(
    id="reshef.f.1",
    title="Privacy of noise cancellation by a trusted server",
    statement=(
        "The models {x_t} are ρ²/2-zCDP for each record, with ρ = (2S/m)√(Σ_t 1/σ_t²). We read this as ρ-Gaussian "
        "differential privacy. Here S bounds a message, m clients take part in a round, and the server adds noise σ_t"
    ),
    source=Source("reshef2025", "Theorem F.1"),
    status=Status.PROVED,
    conditions=(SERVER_CLIPPED, ONE_MESSAGE, OBLIVIOUS, FRESH, PLANNED_MEAN),
    errata=(LEFT_OVERS,),
    formula=trusted_server,
    examples=({"clipping_norm": 2.0, "participants": 4, "noise_stds": [1.0, 2.0, 3.0]},),
)

THEOREMS: tuple[Theorem, ...] = (UNTRUSTED, RECORDS, SCHEDULE, TRUSTED)

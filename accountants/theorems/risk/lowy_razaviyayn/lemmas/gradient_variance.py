"""Lemmas E.5 and E.6 of Lowy and Razaviyayn: the variance of one averaged noisy gradient.

M of N clients are drawn without replacement, each draws K of its n records without replacement, and every client adds
its own Gaussian noise. Conditioning on the clients gives, exactly,

    V² = w²/M · (n − K)/((n − 1) K)  +  v²/M · (N − M)/(N − 1)  +  dσ²/M

with w² the mean over clients of the variance within a client and v² the variance of the clients' means; w² + v² is the
variance over all records (equal n). A random number of participants enters through M = 1/E[1/M_r] alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.federation import ClientGroup
from epsilond.accountants.formula import FormulaRequest, formula
from epsilond.accountants.quantities import (
    BATCH_WITHIN_CLIENT,
    AtMost,
    BatchSize,
    Dimension,
    EmpiricalGradientStd,
    EmpiricalHeterogeneity,
    GradientStd,
    Heterogeneity,
    NoiseStd,
    Population,
    Quantity,
    SamplesPerClient,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.client_statistics import (
    ClientFields,
)

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_variance.py"


def sampling_factor(*, population: int, drawn: float) -> float:
    """(N − m)/((N − 1) m): the variance of the mean of m of N values drawn without replacement, over their variance.

    0 for one value. `drawn` may be a harmonic mean of counts, since the factor is linear in 1/m.
    """
    return (population - drawn) / ((population - 1) * drawn) if population > 1 else 0.0


def client_factor(*, clients: int, participants: float) -> float:
    """(1 − (M − 1)/(N − 1))/M, 0 for one client: `sampling_factor` of clients, the Υ²/(M v²) of Appendix E.1."""
    return sampling_factor(population=clients, drawn=participants)


@dataclass(frozen=True, kw_only=True)
class Variance:
    """The parts of V², in squared gradient units."""

    sampling: float
    clients: float
    noise: float

    @property
    def total(self) -> float:
        """V², the sum of the parts."""
        return self.sampling + self.clients + self.noise

    @property
    def parts(self) -> dict[str, float]:
        """The parts, by the names that answers give them."""
        return {
            "sampling_variance": self.sampling,
            "client_variance": self.clients,
            "noise_variance": self.noise,
        }


def gradient_variance(
    *,
    clients: int,
    participants: float,
    samples_per_client: int,
    batch_size: int,
    dimension: int,
    noise_std: float,
    empirical_gradient_std: float,
    empirical_heterogeneity: float,
) -> Variance:
    """An upper bound of V² when Φ̂² bounds the variance over all records, and v̂² that between clients, at every w.

    The exact V² is w²a + v²b with a, b the two factors, w² ≤ Φ̂² − v² and v ≤ min{v̂, Φ̂}: linear in v², hence largest
    at an end. Φ̂ = v̂ = L is always safe, as is v̂ = Φ̂. Identically distributed clients do *not* have v̂ = 0 (E-14).
    `noise_std` is the root mean square over clients where it differs between them.
    """
    within = sampling_factor(population=samples_per_client, drawn=batch_size) / participants
    between = client_factor(clients=clients, participants=participants)
    whole = empirical_gradient_std * empirical_gradient_std
    spread = min(empirical_heterogeneity, empirical_gradient_std)
    apart = spread * spread if between > within else 0.0
    return Variance(
        sampling=max(whole - apart, 0.0) * within,
        clients=apart * between,
        noise=dimension * noise_std * noise_std / participants,
    )


def largest_variance(
    groups: Sequence[ClientGroup],
    *,
    factors: Sequence[float],
    between: float,
    most_within: float = math.inf,
    most_apart: float = math.inf,
    most_together: float = math.inf,
) -> tuple[float, float]:
    """The largest mean_i(a_i w_i²) + c s², by its two parts, for clients that differ.

    w_i² is the variance within client i, times `factors` a_i, and s² that between the clients' means, times `between`
    c. At every w they obey w_i² ≤ min{L_i², `most_within`}, s² ≤ `most_apart`, and mean_i(w_i²) + s² ≤ mean_i(L_i²)
    and ≤ `most_together`: a record's squared gradient is at most L_i², and s² is at most the mean of the means'
    squares. All is linear, so that the dearest is filled first.
    """
    clients = sum(group.clients for group in groups)
    shares = [group.clients / clients for group in groups]
    squares = [group.lipschitz * group.lipschitz for group in groups]
    dearest = sorted(range(len(groups)), key=lambda place: -factors[place])
    left = min(math.fsum(share * square for share, square in zip(shares, squares, strict=True)), most_together)
    within: list[float] = []
    apart: float | None = None
    for place in dearest:
        if apart is None and factors[place] < between:
            apart = min(most_apart, left)
            left -= apart
        filled = min(shares[place] * min(squares[place], most_within), left)
        within.append(factors[place] * filled)
        left -= filled
    return math.fsum(within), between * (min(most_apart, left) if apart is None else apart)


def fresh_gradient_variance(
    *,
    clients: int,
    participants: float,
    rms_participants: float,
    batch_size: int,
    average_gradient_variance: float,
    largest_gradient_variance: float,
    heterogeneity: float,
    dimension: int,
    average_noise_variance: float,
    largest_noise_variance: float,
) -> Variance:
    """The printed bound for records used once: min{Φ²/(M'K), φ²_max/(MK)} + Υ²/M + d min{Σ²/M', σ²_max/M}.

    Averages are root mean squares over the M_r largest; with equal clients both members of each minimum agree.
    """
    sampling = min(average_gradient_variance / rms_participants, largest_gradient_variance / participants)
    noise = min(average_noise_variance / rms_participants, largest_noise_variance / participants)
    between = client_factor(clients=clients, participants=participants)
    return Variance(
        sampling=sampling / batch_size, clients=between * heterogeneity * heterogeneity, noise=dimension * noise
    )


def reused_gradient_variance_printed(
    *,
    participants: float,
    rms_participants: float,
    batch_size: int,
    records: int,
    empirical_gradient_std: float,
    dimension: int,
    average_noise_variance: float,
    largest_noise_variance: float,
) -> Variance:
    """The printed bound for re-used records: Φ̂²/(MK) 1{MK < ñ} + noise, ñ all records. False for M < N (E-12)."""
    sampled = participants * batch_size
    noise = min(average_noise_variance / rms_participants, largest_noise_variance / participants)
    whole = empirical_gradient_std * empirical_gradient_std / sampled if sampled < records else 0.0
    return Variance(sampling=whole, clients=0.0, noise=dimension * noise)


def _outputs(variance: Variance) -> Outputs:
    return {"gradient_variance": variance.total, **variance.parts}


@formula(
    given="One round on records that were never used before; statistics of the distributions. Absent: all take part.",
)
def fresh_variance(
    *,
    federation: ClientFields,
    batch_size: BatchSize,
    dimension: Dimension,
    gradient_std: GradientStd,
    heterogeneity: Heterogeneity = 0.0,
    noise_std: NoiseStd,
    reading: Reading = "printed",
) -> Outputs:
    """V² and its parts. Corrected: plain means over clients for Φ²/M', φ²_max/M and those of σ, which is exact (E-31).

    `batch_size` is K, the smallest of any client. The two readings agree where clients are equal.
    """
    seen = federation.statistics(gradient_std=gradient_std, noise_std=noise_std)
    moments, gradients, noise = seen.moments, seen.gradients, seen.noise
    exact = reading == "corrected"
    return _outputs(
        fresh_gradient_variance(
            clients=federation.clients,
            participants=moments.mean,
            rms_participants=moments.mean if exact else moments.rms,
            batch_size=batch_size,
            average_gradient_variance=gradients.mean if exact else gradients.over_largest,
            largest_gradient_variance=gradients.largest,
            heterogeneity=heterogeneity,
            dimension=dimension,
            average_noise_variance=noise.mean if exact else noise.over_largest,
            largest_noise_variance=noise.largest,
        )
    )


def _no_statistics_of_records(record: FormulaRequest) -> None:
    """Φ̂ is one for all clients."""
    if any(group.gradient_std is not None for group in record.client_groups or ()):
        raise InvalidInput.at("/client_groups", "empirical_gradient_std is of all records; groups differ in noise_std")


@formula(
    given="One round on records that are drawn anew from the same data in every round. Absent: all take part.",
    checks=(BATCH_WITHIN_CLIENT, _no_statistics_of_records),
)
def reused_variance(
    *,
    federation: ClientFields,
    samples_per_client: SamplesPerClient,
    batch_size: BatchSize,
    dimension: Dimension,
    empirical_gradient_std: EmpiricalGradientStd,
    empirical_heterogeneity: EmpiricalHeterogeneity,
    noise_std: NoiseStd,
    reading: Reading = "printed",
) -> Outputs:
    """V² and its parts: the printed bound, or the two-level one, with the plain mean of σ_i² over clients."""
    seen = federation.statistics(gradient_std=0.0, noise_std=noise_std)
    moments, noise = seen.moments, seen.noise
    if reading == "corrected":
        return _outputs(
            gradient_variance(
                clients=federation.clients,
                participants=moments.mean,
                samples_per_client=samples_per_client,
                batch_size=batch_size,
                dimension=dimension,
                noise_std=math.sqrt(noise.mean),
                empirical_gradient_std=empirical_gradient_std,
                empirical_heterogeneity=empirical_heterogeneity,
            )
        )
    return _outputs(
        reused_gradient_variance_printed(
            participants=moments.mean,
            rms_participants=moments.rms,
            batch_size=batch_size,
            records=federation.clients * samples_per_client,
            empirical_gradient_std=empirical_gradient_std,
            dimension=dimension,
            average_noise_variance=noise.over_largest,
            largest_noise_variance=noise.largest,
        )
    )


@formula(
    given="m of N vectors of mean zero, drawn without replacement.",
    checks=(AtMost("batch_size", "population", "exceeds the population"),),
)
def subset_mean(
    *,
    population: Population,
    batch_size: BatchSize,
    mean_square: Annotated[float, Quantity(symbol="a²", ge=0, description="mean squared norm of the vectors")],
    reading: Reading = "printed",
) -> Outputs:
    """E|mean of the drawn|². Printed: the bound 1{m < N} a²/m. Corrected: the exact (N − m)/((N − 1) m) a²."""
    if reading == "corrected":
        factor = sampling_factor(population=population, drawn=batch_size)
    else:
        factor = 1.0 / batch_size if batch_size < population else 0.0
    return {"variance": factor * mean_square}


TWO_LEVELS = Erratum(
    "E-12",
    grade=Grade.PROVED_WRONG,
    printed="Φ̂²/(MK) 1{MK < ñ} bounds the sampling variance for every M ≤ N",
    truth=(
        "clients are drawn first: w²/(MK) (n − K)/(n − 1) + v²/M (N − M)/(N − 1). N = 2, M = 1, K = n = 100 and client "
        "gradients ±1 have variance 1, not 0.01"
    ),
    test=f"{_TESTS}::test_drawing_clients_first_refutes_the_printed_variance",
)
NOT_HOMOGENEOUS = Erratum(
    "E-14",
    grade=Grade.PROVED_WRONG,
    printed="identically distributed clients have v* = 0, and the bound for fresh samples serves in every round",
    truth=(
        "their empirical losses differ, v̂*² being of order L²/n; and a re-used batch drawn with replacement has "
        "φ²(1/K + 1/n − 1/(nK)) about the expected gradient"
    ),
    test=f"{_TESTS}::test_identical_distributions_leave_empirical_heterogeneity",
)
_ALL_TAKE_PART = Condition(
    "all-participate",
    "M = N, or identical data at every client (the least M_r ≥ N)",
    lambda inputs: Sides.at_least(
        min(one.participants for one in inputs.participation)
        if inputs.participation
        else inputs.participants or inputs.clients,
        inputs.clients,
    ),
)
_DISTINCT = Condition("drawn-once", "clients, and each client's records, are drawn without replacement")

LEMMA_E5_FRESH = Theorem(
    id="lowy.lemma-e.5",
    title="Variance of one round's gradient, records used once",
    statement="V² ≤ min{Φ²/(M'K), φ²_max/(MK)} + (1 − (M − 1)/(N − 1)) v²/M 1{N > 1} + d min{Σ²/M', σ²_max/M}",
    source=Source("lowy2023", "Lemma E.5"),
    status=Status.PROVED,
    conditions=(Condition("fresh-records", "no record has been used in an earlier round"),),
    errata=(NOT_HOMOGENEOUS,),
    formula=fresh_variance,
    examples=(
        {
            "clients": 25,
            "participants": 12,
            "batch_size": 100,
            "dimension": 20,
            "gradient_std": 1.0,
            "heterogeneity": 0.7,
            "noise_std": 0.4,
        },
        {
            "clients": 25,
            "participation": [{"participants": 10, "probability": 0.5}, {"participants": 20, "probability": 0.5}],
            "client_groups": [{"clients": 20}, {"clients": 5, "gradient_std": 2.0, "noise_std": 1.0}],
            "batch_size": 100,
            "dimension": 20,
            "gradient_std": 1.0,
            "heterogeneity": 0.7,
            "noise_std": 0.4,
        },
    ),
)
LEMMA_E5_REUSED = Theorem(
    id="lowy.lemma-e.5-erm",
    title="Variance of one round's gradient, records used again",
    statement="V² ≤ Φ̂²/(MK) 1{MK < ñ} + d min{Σ²/M', σ²_max/M}, ñ the number of all records",
    source=Source("lowy2023", "Lemma E.5, empirical part"),
    status=Status.REFUTED,
    conditions=(_ALL_TAKE_PART, _DISTINCT),
    errata=(TWO_LEVELS,),
    formula=reused_variance,
    examples=(
        {
            "clients": 10,
            "participants": 10,
            "samples_per_client": 1000,
            "batch_size": 100,
            "dimension": 20,
            "empirical_gradient_std": 2.0,
            "empirical_heterogeneity": 1.0,
            "noise_std": 0.4,
        },
    ),
)
LEMMA_E6 = Theorem(
    id="lowy.lemma-e.6",
    title="The mean of a random subset",
    statement="m of N vectors of mean 0, drawn without replacement: E|mean|² = (N − m)/((N − 1)m) a² ≤ 1{m < N} a²/m",
    source=Source("lowy2023", "Lemma E.6"),
    status=Status.PROVED,
    conditions=(_DISTINCT,),
    formula=subset_mean,
    examples=({"population": 10, "batch_size": 3, "mean_square": 1.0},),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_E5_FRESH, LEMMA_E5_REUSED, LEMMA_E6)

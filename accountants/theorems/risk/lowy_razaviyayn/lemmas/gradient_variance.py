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
from epsilond.accountants.json_types import Fields
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
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.client_statistics import ClientFields, ClientStatistics

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

    def scale(self, factor: float) -> Variance:
        """Return the parts times a factor, which may be infinite; a part of 0 stays 0."""
        sampling, clients, noise = (
            factor * part if part > 0.0 else 0.0 for part in (self.sampling, self.clients, self.noise)
        )
        return Variance(sampling=sampling, clients=clients, noise=noise)

    @property
    def parts(self) -> dict[str, float]:
        """The parts, by the names that answers give them."""
        return {
            "sampling_variance": self.sampling,
            "client_variance": self.clients,
            "noise_variance": self.noise,
        }


@dataclass(frozen=True, kw_only=True)
class EqualClientsRound:
    """M of N equal clients in a round, each with a batch of K of its n records and a message of d coordinates.

    `participants` may be 1/E[1/M_r] for a random number. σ is per coordinate of a message; the root mean square
    over clients where it differs.
    """

    clients: int
    participants: float
    samples_per_client: int
    batch_size: int
    dimension: int

    def fresh_variance(self, *, gradient_std: float, heterogeneity: float, noise_std: float) -> Variance:
        """Return V² = φ²/(MK) + (v²/M)(N − M)/(N − 1) + dσ²/M of records used once, about the expected gradient."""
        between = client_factor(clients=self.clients, participants=self.participants)
        return Variance(
            sampling=gradient_std * gradient_std / (self.participants * self.batch_size),
            clients=between * heterogeneity * heterogeneity,
            noise=self.dimension * noise_std * noise_std / self.participants,
        )

    def reused_variance(self, *, gradient_std: float, heterogeneity: float, noise_std: float) -> Variance:
        """Return an upper bound of V² when Φ̂² bounds the variance over all records, and v̂² that between clients.

        The exact V² is w²a + v²b with a, b the two factors, w² ≤ Φ̂² − v² and v ≤ min{v̂, Φ̂}: linear in v², hence
        largest at an end. Φ̂ = v̂ = L is always safe, as is v̂ = Φ̂. Identically distributed clients do *not* have
        v̂ = 0 (E-14).
        """
        within = sampling_factor(population=self.samples_per_client, drawn=self.batch_size) / self.participants
        between = client_factor(clients=self.clients, participants=self.participants)
        spread = min(heterogeneity, gradient_std)
        apart = spread * spread if between > within else 0.0
        return Variance(
            sampling=max(gradient_std * gradient_std - apart, 0.0) * within,
            clients=apart * between,
            noise=self.dimension * noise_std * noise_std / self.participants,
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
    statistics: ClientStatistics,
    *,
    clients: int,
    batch_size: int,
    dimension: int,
    heterogeneity: float,
    reading: Reading = "printed",
) -> Variance:
    """Return the printed bound for records used once: min{Φ²/(M'K), φ²_max/(MK)} + Υ²/M + d min{Σ²/M', σ²_max/M}.

    Args:
        statistics: M and M', and the averages of φ_i² and σ_i²: root mean squares over the M_r largest.
        clients: number N of clients.
        batch_size: K, the smallest of any client.
        dimension: d.
        heterogeneity: v.
        reading: "corrected" has plain means over clients for both minima, which is exact (E-31).
    """
    moments = statistics.moments
    between = client_factor(clients=clients, participants=moments.mean)
    return Variance(
        sampling=statistics.gradients.over_participants(moments, reading) / batch_size,
        clients=between * heterogeneity * heterogeneity,
        noise=dimension * statistics.noise.over_participants(moments, reading),
    )


def reused_gradient_variance_printed(
    statistics: ClientStatistics, *, batch_size: int, dimension: int, records: int, gradient_std: float
) -> Variance:
    """Return the printed bound for re-used records: Φ̂²/(MK) 1{MK < ñ} + noise. It is false for M < N (E-12).

    Args:
        statistics: M and M', and the averages of σ_i².
        batch_size: K, the smallest of any client.
        dimension: d.
        records: number ñ of all records.
        gradient_std: Φ̂.
    """
    sampled = statistics.moments.mean * batch_size
    noise = statistics.noise.over_participants(statistics.moments, "printed")
    whole = gradient_std * gradient_std / sampled if sampled < records else 0.0
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
    return _outputs(
        fresh_gradient_variance(
            federation.statistics(gradient_std=gradient_std, noise_std=noise_std),
            clients=federation.clients,
            batch_size=batch_size,
            dimension=dimension,
            heterogeneity=heterogeneity,
            reading=reading,
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
    statistics = federation.statistics(gradient_std=0.0, noise_std=noise_std)
    if reading == "corrected":
        equal = EqualClientsRound(
            clients=federation.clients,
            participants=statistics.moments.mean,
            samples_per_client=samples_per_client,
            batch_size=batch_size,
            dimension=dimension,
        )
        variance = equal.reused_variance(
            gradient_std=empirical_gradient_std,
            heterogeneity=empirical_heterogeneity,
            noise_std=math.sqrt(statistics.noise.mean),
        )
        return _outputs(variance)
    return _outputs(
        reused_gradient_variance_printed(
            statistics,
            batch_size=batch_size,
            dimension=dimension,
            records=federation.clients * samples_per_client,
            gradient_std=empirical_gradient_std,
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

_EXAMPLE: Fields = {
    "clients": 25,
    "batch_size": 100,
    "dimension": 20,
    "gradient_std": 1.0,
    "heterogeneity": 0.7,
    "noise_std": 0.4,
}

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
        {**_EXAMPLE, "participants": 12},
        {
            **_EXAMPLE,
            "participation": [{"participants": 10, "probability": 0.5}, {"participants": 20, "probability": 0.5}],
            "client_groups": [{"clients": 20}, {"clients": 5, "gradient_std": 2.0, "noise_std": 1.0}],
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

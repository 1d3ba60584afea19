"""Lemmas E.5 and E.6 of Lowy and Razaviyayn: the variance of one averaged noisy gradient.

M of N clients are drawn without replacement. Each draws K of its n records without replacement and adds its own
Gaussian noise. Conditioning on the clients gives exactly:

    V² = w²/M · (n − K)/((n − 1) K)  +  v²/M · (N − M)/(N − 1)  +  dσ²/M.

w² is the mean over clients of the variance within a client, and v² the variance of the clients' means. For equal n,
w² + v² is the variance over all records. A random number M_r of participants enters only through M = 1/E[1/M_r].
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
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
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import (
    EqualClientsRound,
    Variance,
    client_factor,
    sampling_factor,
)

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_variance.py"


def fresh_gradient_variance(
    statistics: ClientStatistics,
    *,
    clients: int,
    batch_size: int,
    dimension: int,
    heterogeneity: float,
    reading: Reading = "printed",
) -> Variance:
    """Return the variance of a round's averaged noisy gradient for records that are used once, split by its causes.

    The causes are the sampling of records, the sampling of clients, and the noise. Lemma E.5 of Lowy and Razaviyayn
    bounds the variance by:

        min{Φ²/(M'K), φ²_max/(MK)} + Υ²/M + d min{Σ²/M', σ²_max/M}.

    Φ² and Σ² are averages of the clients' gradient variances φ_i² and noise variances σ_i², with the maxima φ²_max and
    σ²_max. Υ² is v² times 1 − (M − 1)/(N − 1).

    Args:
        statistics: averages M and M' of the number of participants, and averages of φ_i² and σ_i² over clients.
        clients: number N of clients.
        batch_size: smallest batch size K of a client.
        dimension: number d of coordinates.
        heterogeneity: standard deviation v of the clients' expected gradients.
        reading: "printed" has the minima of the lemma. "corrected" has plain means over clients in their place, which
            are exact (erratum E-31).

    Returns:
        The three summands of the variance, in squared gradient units.
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
    """Return the bound of Lemma E.5 of Lowy and Razaviyayn on a round's gradient variance if records are re-used.

    Batches of the same records are drawn in every round. The bound is Φ̂²/(MK) if MK < ñ, otherwise 0, plus the
    variance of the noise. It may fail if only some of the clients participate (erratum E-12).

    Args:
        statistics: averages M and M' of the number of participants, and averages of the noise variances σ_i².
        batch_size: smallest batch size K of a client.
        dimension: number d of coordinates of the model.
        records: number ñ of records of all clients.
        gradient_std: standard deviation Φ̂ of the gradients of all records.

    Returns:
        The summands of the bound by records, clients and noise, in squared gradient units. That of the sampling of
        clients is 0.
    """
    sampled_records = statistics.moments.mean * batch_size  # MK
    sampling = 0.0
    if sampled_records < records:
        sampling = gradient_std * gradient_std / sampled_records
    noise_per_coordinate = statistics.noise.over_participants(statistics.moments, "printed")
    return Variance(sampling=sampling, clients=0.0, noise=dimension * noise_per_coordinate)


def _outputs(variance: Variance) -> Outputs:
    """Return the variance V² of a round's gradient as `gradient_variance`, and its summands, by name."""
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
    """Return the variance V² of a round's averaged noisy gradient, for records that are used once.

    Its three summands are due to the sampling of records, the sampling of clients, and the noise.

    Args:
        federation: the clients and the number of participants.
        batch_size: records K of a batch, the smallest of any client.
        dimension: number d of coordinates.
        gradient_std: standard deviation φ of a record's gradient, for clients that do not state their own.
        heterogeneity: standard deviation v of the clients' expected gradients.
        noise_std: noise σ per coordinate, for clients that do not state their own.
        reading: "printed" has the bound of Lemma E.5 of Lowy and Razaviyayn. "corrected" has plain means over clients
            in it, which are exact (erratum E-31). Both agree if clients are equal.

    Returns:
        `gradient_variance` V², and its three summands, in squared gradient units.
    """
    variance = fresh_gradient_variance(
        federation.statistics(gradient_std=gradient_std, noise_std=noise_std),
        clients=federation.clients,
        batch_size=batch_size,
        dimension=dimension,
        heterogeneity=heterogeneity,
        reading=reading,
    )
    return _outputs(variance)


def _check_no_gradient_std(record: FormulaRequest) -> None:
    """Reject groups of clients with standard deviations of their gradients, as the formula uses that of all records.

    Args:
        record: the request, with its groups of clients.

    Raises:
        InvalidInput: a group has a `gradient_std`.
    """
    if any(group.gradient_std is not None for group in record.client_groups or ()):
        raise InvalidInput.at("/client_groups", "empirical_gradient_std is of all records; groups differ in noise_std")


@formula(
    given="One round on records that are drawn anew from the same data in every round. Absent: all take part.",
    checks=(BATCH_WITHIN_CLIENT, _check_no_gradient_std),
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
    """Return the variance V² of a round's averaged noisy gradient, for batches that re-use the records.

    Its three summands are due to the sampling of records, the sampling of clients, and the noise.

    Args:
        federation: the clients and the number of participants.
        samples_per_client: records n of a client.
        batch_size: records K of a batch.
        dimension: number d of coordinates.
        empirical_gradient_std: standard deviation Φ̂ of the gradients of all records.
        empirical_heterogeneity: standard deviation v̂ of the clients' mean gradients.
        noise_std: noise σ per coordinate of clients for which `federation` has no σ_i.
        reading: "printed" for the bound of Lemma E.5 of Lowy and Razaviyayn, which has errors (docs/errata.md, E-12).
            "corrected" for the largest variance if clients are drawn first, and then their records, with the mean of
            σ_i².

    Returns:
        `gradient_variance` V², and its three summands, in squared gradient units.
    """
    # Only the noise and the participants of these statistics are used, so the gradient variance 0 has no effect.
    statistics = federation.statistics(gradient_std=0.0, noise_std=noise_std)
    if reading == "printed":
        printed = reused_gradient_variance_printed(
            statistics,
            batch_size=batch_size,
            dimension=dimension,
            records=federation.clients * samples_per_client,
            gradient_std=empirical_gradient_std,
        )
        return _outputs(printed)

    clients_round = EqualClientsRound(
        clients=federation.clients,
        participants=statistics.moments.mean,
        samples_per_client=samples_per_client,
        batch_size=batch_size,
        dimension=dimension,
    )
    corrected = clients_round.reused_variance(
        gradient_std=empirical_gradient_std,
        heterogeneity=empirical_heterogeneity,
        noise_std=math.sqrt(statistics.noise.mean),
    )
    return _outputs(corrected)


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
    """Return the expected squared norm of the mean of m vectors, drawn without replacement from N vectors of mean zero.

    Args:
        population: number N of vectors.
        batch_size: number m of drawn vectors.
        mean_square: mean squared norm a² of the vectors.
        reading: "printed" has the bound 1{m < N} a²/m, which the proof of Lemma E.5 uses. "corrected" has the exact
            (N − m)/((N − 1) m) a². The lemma states both.

    Returns:
        `variance`, the bound or the exact value by `reading`, and `exact_variance`, the exact value.
    """
    exact = sampling_factor(population=population, drawn=batch_size) * mean_square
    if reading == "corrected":
        return {"variance": exact, "exact_variance": exact}
    bound = mean_square / batch_size if batch_size < population else 0.0
    return {"variance": bound, "exact_variance": exact}


TWO_LEVELS = Erratum(
    "E-12",
    grade=Grade.PROVED_WRONG,
    printed=(
        "Lemma E.5 states that sampling adds at most Φ̂²/(MK) 1{MK < ñ} to the variance, for every number M ≤ N of "
        "participants. Φ̂² is the variance of the gradients of all ñ records, N the number of clients, and K the "
        "batch size. The proof takes the drawn records for a uniform sample of all records."
    ),
    truth=(
        "Clients are drawn first, and then their records. The variance is w²/(MK) (n − K)/(n − 1) + v²/M (N − M)/(N "
        "− 1), for n records per client. Here w² is the variance within clients, and v² that of the clients' means. "
        "N = 2, M = 1, K = n = 100 and client gradients ±1 have variance 1, not 0.01."
    ),
    test=f"{_TESTS}::test_drawing_clients_first_refutes_the_printed_variance",
    place="Lemma E.5, last inequality, and the end of its proof",
    charitable=(
        "If all clients take part (M = N) and hold n records each, it holds for records drawn without replacement. It "
        "also holds with N for ñ in Φ̂², as the complete version of Theorem E.1 has it. With the Φ̂² of Lemma E.5 no "
        "reading that we know makes it hold for M < N."
    ),
)
NOT_HOMOGENEOUS = Erratum(
    "E-14",
    grade=Grade.PROVED_WRONG,
    printed=(
        "Appendix E.1 states that identically distributed clients have the heterogeneity v*² = 0 at the minimiser. "
        "The proof of Theorem 2.1 uses this for the empirical loss. It also uses the variance bound for fresh "
        "samples in every round."
    ),
    truth=(
        "The clients' empirical losses differ, and their heterogeneity v̂*² is of order L²/n. Here L is the "
        "Lipschitz constant, and n the number of records of a client. A reused batch of K records drawn with "
        "replacement has the variance φ²(1/K + 1/n − 1/(nK)) about the expected gradient. Here φ² is the variance of "
        "one record's gradient."
    ),
    test=f"{_TESTS}::test_identical_distributions_leave_empirical_heterogeneity",
    place="Appendix E.1, definition of v*²; proof of Theorem 2.1, before (23)",
    charitable=(
        "If v*² is that of the expected losses, v*² = 0 holds. If all clients take part, the term has the factor 0. "
        "The proof needs v*² = 0 for the empirical losses, and no reading that we know makes it hold there."
    ),
)


def _participation_sides(inputs: FormulaRequest) -> Sides:
    """Return the least number of participants, and the number N of clients, which it must reach."""
    fewest = min(count for count, _ in inputs.counts)
    return Sides.at_least(fewest, inputs.clients)


_ALL_TAKE_PART = Condition(
    "all-participate",
    "all N clients take part in every round (the least M_r is N), or all clients have identical data",
    _participation_sides,
)
_DISTINCT = Condition("drawn-once", "clients are drawn without replacement, and so are the records of each client")

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
    statement=(
        "The variance is V² ≤ min{Φ²/(M'K), φ²_max/(MK)} + (1 − (M − 1)/(N − 1)) v²/M 1{N > 1} + d min{Σ²/M', σ²_max/M}"
    ),
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
    statement="The variance is V² ≤ Φ̂²/(MK) 1{MK < ñ} + d min{Σ²/M', σ²_max/M}, for ñ records of all clients",
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
    statement=(
        "Draw m of N vectors of mean 0 and mean square a² without replacement. Their mean has E|mean|² = "
        "(N − m)/((N − 1)m) a² ≤ 1{m < N} a²/m"
    ),
    source=Source("lowy2023", "Lemma E.6"),
    status=Status.PROVED,
    conditions=(_DISTINCT,),
    formula=subset_mean,
    examples=({"population": 10, "batch_size": 3, "mean_square": 1.0},),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_E5_FRESH, LEMMA_E5_REUSED, LEMMA_E6)

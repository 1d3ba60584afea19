"""Requests of the lower bounds on the excess risk, and the orders that follow from them.

L is the Lipschitz constant, D the diameter or radius, and φ the standard deviation of gradients. μ is the strong
convexity, n the number of records of each of N clients, d the dimension, and ε the privacy parameter. All orders leave
out constants and logarithms.

The statistical term is φD/√(nN) for convex losses and min{φ²/(μnN), φD/√(nN)} for μ-strongly convex losses. The
second form follows from losses f(w, x) = −φxw + μw²/2 on an interval of length D, where x = ±1 has mean ±1/(2√(nN)).
No algorithm infers the sign of the mean with certainty. The wrong sign costs φD/√(nN) in order if φ/√(nN) ≥ μD, and
φ²/(μnN) otherwise. The paper prints φ²/(μnN) for every μ, which exceeds the largest possible excess LD as μ → 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from epsilond.accountants.quantities import (
    ANY_SCALE,
    EPSILON,
    GRADIENT_STD,
    Clients,
    Diameter,
    Dimension,
    Epsilon,
    Lipschitz,
    Quantity,
    SamplesPerClient,
    StrongConvexity,
    request,
)
from epsilond.accountants.quantities.algorithms import Radius

COMPOSITIONALITY = Quantity(
    symbol="C",
    ge=1,
    le=1e9,
    description="compositionality of the algorithms that the lower bound covers: √(Σ_r (ε₀^r)²)/ε₀, at least 1. "
    "ε₀^r is the ε of one client's report in round r, ε₀ that of the run. It is 1 for sequential "
    "algorithms",
)
ROUND_EPSILON = Quantity(
    symbol="ε₀^r",
    unit="nat",
    gt=0,
    le=EPSILON.le,
    description="largest ε of one client's report in one round. Absent: the ε of the whole run",
)
ROUND_DELTA = Quantity(symbol="δ₀^r", gt=0, lt=1, description="smallest δ of one client's report in one round")


@dataclass(frozen=True, kw_only=True)
class LossScales:
    """Orders of the smallest possible excess risk of a class of losses, without constants.

    Attributes:
        lipschitz: Lipschitz constant L of the loss.
        diameter: diameter or radius D of the domain; LD is the largest possible excess risk.
        strong_convexity: strong convexity μ of the loss; 0 if it is only convex.
    """

    lipschitz: float
    diameter: float
    strong_convexity: float

    def statistical(self, gradient_std: float, records: float) -> float:
        """Return the order of the smallest possible excess risk without privacy, which is due to finitely many records.

        It is φD/√(nN) for convex losses, and min{φ²/(μnN), φD/√(nN)} for strong convexity μ > 0.

        Args:
            gradient_std: standard deviation φ ≥ 0 of a record's gradient; the smaller one of φ and L is used.
            records: number nN ≥ 1 of records of all clients.

        Returns:
            The order, in units of the loss.
        """
        deviation = min(gradient_std, self.lipschitz)
        convex = deviation * self.diameter / math.sqrt(records)
        if self.strong_convexity == 0.0:
            return convex
        return min(self.printed_statistical(deviation, records), convex)

    def printed_statistical(self, gradient_std: float, records: float) -> float:
        """Return φ²/(μnN), the statistical term that the paper prints for strongly convex losses; infinite on overflow.

        Args:
            gradient_std: standard deviation φ of a record's gradient.
            records: number nN of records of all clients.
        """
        return gradient_std * gradient_std / (self.strong_convexity * records)

    def privacy(self, ratio: float) -> float:
        """Return the order of the cost of privacy: LD min{1, r}, or LD min{1, r²} for strongly convex losses.

        LD, the Lipschitz constant times the diameter, is the largest possible excess risk.

        Args:
            ratio: privacy ratio r, from `local_ratio` or `central_ratio`.

        Returns:
            The order, in units of the loss.
        """
        relative_cost = ratio
        if self.strong_convexity > 0.0:
            relative_cost = ratio * ratio
        return self.lipschitz * self.diameter * min(1.0, relative_cost)

    def cap(self, *terms: float) -> float:
        """Return the sum of the terms of an excess risk, but at most LD.

        LD, the Lipschitz constant times the diameter, is the largest possible excess risk.

        Args:
            terms: terms of the excess risk, in units of the loss.
        """
        return min(math.fsum(terms), self.lipschitz * self.diameter)


def local_ratio(
    *, epsilon: float, dimension: int, samples_per_client: int, clients: int, compositionality: float = 1.0
) -> float:
    """Return the ratio r = √d/(ε₀n√N C²), on which the cost of privacy depends if clients trust only themselves.

    Up to constants, the cost is min{1, r} times the largest possible excess risk, or min{1, r²} times it for strongly
    convex losses.

    Args:
        epsilon: ε₀ of a record against all parties except its client.
        dimension: number d of coordinates.
        samples_per_client: records n of a client.
        clients: number N of clients.
        compositionality: C ≥ 1, the root of the sum of the squared ε of the rounds, divided by ε₀.

    Returns:
        The ratio, a positive number without a unit.
    """
    effective_records = epsilon * samples_per_client * math.sqrt(clients)  # ε₀n√N
    return math.sqrt(dimension) / (effective_records * compositionality * compositionality)


def central_ratio(*, epsilon: float, dimension: int, samples_per_client: int, clients: int) -> float:
    """Return the ratio r = √d/(εnN), on which the cost of privacy depends if the server or a shuffler is trusted.

    Up to constants, the cost is min{1, r} times the largest possible excess risk, or min{1, r²} times it for strongly
    convex losses.

    Args:
        epsilon: privacy parameter ε > 0 of a record against an observer of the server's output.
        dimension: number d of coordinates of the model, at least 1.
        samples_per_client: number n of records of a client, at least 1.
        clients: number N of clients, at least 1.

    Returns:
        The ratio, a positive number without a unit.
    """
    return math.sqrt(dimension) / (epsilon * samples_per_client * clients)


@request
class LowerBoundFields:
    """Number of clients and records, dimension, loss, and privacy parameter that every lower bound depends on.

    `epsilon` is the ε of every record. If clients trust only themselves, it holds against all others, the server
    included. If the server is trusted, it holds against observers of its output.
    """

    samples_per_client: SamplesPerClient
    clients: Clients
    dimension: Dimension
    lipschitz: Lipschitz
    strong_convexity: StrongConvexity = 0.0
    epsilon: Epsilon

    def scales(self, diameter: float) -> LossScales:
        """Return the constants of the losses and of a domain, from which the orders of the excess risk follow.

        Args:
            diameter: diameter or radius D of the domain.
        """
        return LossScales(lipschitz=self.lipschitz, diameter=diameter, strong_convexity=self.strong_convexity)

    def statistical_outputs(self, gradient_std: float | None, scales: LossScales) -> dict[str, float]:
        """Return the order of the smallest possible excess risk without privacy, as fields of an answer.

        Args:
            gradient_std: standard deviation φ of a record's gradient; None for the Lipschitz constant, its largest
                value.
            scales: constants of the losses and of the domain.

        Returns:
            `statistical_term`: the order, in units of the loss.
            `printed_statistical_term`: the term that the paper prints, only for strongly convex losses. It may exceed
            every possible risk (erratum E-37).
        """
        std = self.lipschitz if gradient_std is None else gradient_std  # φ
        records = float(self.samples_per_client) * self.clients
        outputs = {"statistical_term": scales.statistical(std, records)}
        if self.strong_convexity > 0.0:
            outputs["printed_statistical_term"] = scales.printed_statistical(std, records)
        return outputs

    @property
    def central_ratio(self) -> float:
        """Ratio √d/(εnN), on which the cost of privacy depends if the server is trusted."""
        return central_ratio(
            epsilon=self.epsilon,
            dimension=self.dimension,
            samples_per_client=self.samples_per_client,
            clients=self.clients,
        )


@request
class LocalFederation(LowerBoundFields):
    """A federation in which clients trust only themselves, and the privacy parameters of a single report.

    Each report of a client in a round r is (ε₀^r, δ₀^r)-differentially private for its records. `round_epsilon` is the
    largest ε₀^r of all reports, `epsilon` if absent. `round_delta` is their smallest δ₀^r.
    """

    round_epsilon: Annotated[float | None, ROUND_EPSILON] = None
    round_delta: Annotated[float, ROUND_DELTA]

    @property
    def largest_round_epsilon(self) -> float:
        """Largest ε of a single report of a client."""
        return self.epsilon if self.round_epsilon is None else self.round_epsilon

    def local_ratio(self, compositionality: float = 1.0) -> float:
        """Return √d/(ε₀n√N C²), which determines the cost of privacy if clients trust only themselves.

        Here d is the dimension, ε₀ the privacy parameter `epsilon`, and n the number of records of each of N clients.

        Args:
            compositionality: number C ≥ 1 with √(Σ_r (ε₀^r)²) ≤ Cε₀, where ε₀^r is the largest ε of a report in round
                r.

        Returns:
            The ratio, a positive number without a unit.
        """
        return local_ratio(
            epsilon=self.epsilon,
            dimension=self.dimension,
            samples_per_client=self.samples_per_client,
            clients=self.clients,
            compositionality=compositionality,
        )


@request
class LocalInputs(LocalFederation):
    """Inputs of the lower bound for the expected loss if clients trust only themselves (Theorem 3.1).

    N = `clients` have n = `samples_per_client` records each. ε₀^r is the largest ε of a report, and δ₀ = `round_delta`
    its smallest δ. If absent, `gradient_std` is the Lipschitz constant.
    """

    compositionality: Annotated[float, COMPOSITIONALITY] = 1.0
    diameter: Diameter
    gradient_std: Annotated[float | None, GRADIENT_STD, ANY_SCALE] = None

    @property
    def printed_least_clients(self) -> float:
        """Number 16 ln(2/(nδ₀)) of clients that the printed theorem requires, at least 0 and not rounded."""
        logarithm = math.log(2.0) - math.log(self.samples_per_client) - math.log(self.round_delta)  # ln(2/(nδ₀))
        return 16.0 * max(logarithm, 0.0)

    @property
    def least_clients(self) -> float:
        """Number of clients that the proof requires, by Theorem F.2 of Lowy and Razaviyayn, not rounded.

        For N clients with n records each and (ε₀^r, δ₀)-private reports, it is:

            16 e^{nε₀^r} ln(2/(Nnδ₀)).

        It is infinite if Nnδ₀ ≥ 1, where Theorem F.2 does not apply, and on overflow.
        """
        log_total_delta = math.log(self.samples_per_client) + math.log(self.clients) + math.log(self.round_delta)
        if log_total_delta >= 0.0:
            return math.inf
        exponent = self.samples_per_client * self.largest_round_epsilon  # nε₀^r
        largest_exponent = 700.0  # e^709.8 is the largest double, and further factors follow
        if exponent > largest_exponent:
            return math.inf
        return 16.0 * math.exp(exponent) * (math.log(2.0) - log_total_delta)


@request
class CentralInputs(LowerBoundFields):
    """Privacy of every record against an observer of the output of a trusted server, for the expected loss."""

    radius: Radius
    gradient_std: Annotated[float | None, GRADIENT_STD, ANY_SCALE] = None


@request
class LocalEmpiricalInputs(LocalFederation):
    """Inputs of the lower bound for the mean loss on the data if clients trust only themselves.

    The bound is Theorem F.4 of Lowy and Razaviyayn.
    """

    radius: Radius

    def log10_least_round_delta(self, exponent: float) -> float:
        """Return log10 of the smallest δ of a client's report for which the lower bound is proved.

        For N clients with n records each, this δ is 2e^{−Ne^{−x}/16}/(Nn), which may be too small for a double.

        Args:
            exponent: exponent x ≥ 0. The proof needs x = nε₀, where ε₀ is that of a record. The theorem as printed has
                x = 0, which is an error (docs/errata.md, E-21).
        """
        decay = self.clients * math.exp(-exponent) / 16.0  # Ne^{−x}/16
        log_least = math.log(2.0) - decay - math.log(self.clients) - math.log(self.samples_per_client)
        return log_least / math.log(10.0)


@request
class CentralEmpiricalInputs(LowerBoundFields):
    """Privacy against an observer of the output of a trusted server, for the mean loss on the data at hand."""

    radius: Radius

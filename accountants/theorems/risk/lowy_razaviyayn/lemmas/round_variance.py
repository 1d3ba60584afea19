"""Variance of one averaged noisy gradient, of equal clients and of clients that differ.

The derivation is in `gradient_variance.py`, next to the printed lemmas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from epsilond.accountants.federation import ClientGroup


def sampling_factor(*, population: int, drawn: float) -> float:
    """Return (N − m)/((N − 1) m), the relative variance of the mean of m of N values drawn without replacement.

    It is relative to the variance of the N values, and 0 for N = 1.

    Args:
        population: number N of values.
        drawn: number m of drawn values; it may be a harmonic mean of counts, as the factor is linear in 1/m.
    """
    return (population - drawn) / ((population - 1) * drawn) if population > 1 else 0.0


def client_factor(*, clients: int, participants: float) -> float:
    """Return (1 − (M − 1)/(N − 1))/M, the `sampling_factor` of clients: Υ²/(M v²) of Appendix E.1. 0 for N = 1."""
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

        def scale_part(part: float) -> float:
            """Return the product; 0 for a part of 0, also if the factor is infinite."""
            return factor * part if part > 0.0 else 0.0

        return Variance(
            sampling=scale_part(self.sampling), clients=scale_part(self.clients), noise=scale_part(self.noise)
        )

    @property
    def parts(self) -> dict[str, float]:
        """The parts, under the names of the answers."""
        return {
            "sampling_variance": self.sampling,
            "client_variance": self.clients,
            "noise_variance": self.noise,
        }


@dataclass(frozen=True, kw_only=True)
class EqualClientsRound:
    """A round of M of N equal clients, each with a batch of K of its n records and a message of d coordinates.

    `participants` may be 1/E[1/M_r] for a random number. The noise σ is per coordinate of a message, and the root mean
    square over clients if it differs.
    """

    clients: int
    participants: float
    samples_per_client: int
    batch_size: int
    dimension: int

    def fresh_variance(self, *, gradient_std: float, heterogeneity: float, noise_std: float) -> Variance:
        """Return the variance of a round's gradient, for records that are used once.

        It is φ²/(MK) + (v²/M)(N − M)/(N − 1) + dσ²/M.

        Args:
            gradient_std: standard deviation φ of a record's gradient about its client's expected one.
            heterogeneity: standard deviation v of the clients' expected gradients.
            noise_std: noise σ per coordinate of a message.
        """
        between = client_factor(clients=self.clients, participants=self.participants)
        return Variance(
            sampling=gradient_std * gradient_std / (self.participants * self.batch_size),
            clients=between * heterogeneity * heterogeneity,
            noise=self.dimension * noise_std * noise_std / self.participants,
        )

    def reused_variance(self, *, gradient_std: float, heterogeneity: float, noise_std: float) -> Variance:
        """Return an upper bound on the variance of a round's gradient, for batches that re-use the records.

        Without noise the variance is w²a + v²b, with w² within clients, v² between clients, and factors a and b of
        sampling. As w² ≤ Φ̂² − v² and v ≤ min{v̂, Φ̂}, it is linear in v² and hence largest at a bound of v². The
        values Φ̂ = v̂ = L are always valid, and so is v̂ = Φ̂. Clients with one distribution do *not* have v̂ = 0
        (erratum E-14).

        Args:
            gradient_std: Φ̂; Φ̂² bounds the variance over all records.
            heterogeneity: v̂; v̂² bounds the variance between clients.
            noise_std: noise σ per coordinate of a message.
        """
        within = sampling_factor(population=self.samples_per_client, drawn=self.batch_size) / self.participants
        between = client_factor(clients=self.clients, participants=self.participants)
        client_std = min(heterogeneity, gradient_std)
        client_variance = client_std * client_std if between > within else 0.0
        return Variance(
            sampling=max(gradient_std * gradient_std - client_variance, 0.0) * within,
            clients=client_variance * between,
            noise=self.dimension * noise_std * noise_std / self.participants,
        )


def largest_variance(
    groups: Sequence[ClientGroup],
    *,
    factors: Sequence[float],
    between: float,
    largest_within: float = math.inf,
    largest_between: float = math.inf,
    largest_total: float = math.inf,
) -> tuple[float, float]:
    """Return the largest possible variance by sampling, mean_i(a_i w_i²) + c s², for clients that differ.

    w_i² is the variance within client i, and s² the variance of the clients' means. The constraints at every point are
    w_i² ≤ min{L_i², `largest_within`}, s² ≤ `largest_between`, and mean_i(w_i²) + s² ≤ min{mean_i(L_i²),
    `largest_total`}. Indeed, a record's squared gradient is at most L_i², and s² is at most the mean of the means'
    squares. The problem is linear. Hence the variances are assigned in decreasing order of their factors.

    Args:
        groups: the clients, with their Lipschitz constants L_i.
        factors: factor a_i of the variance within a client, for each group.
        between: factor c of the variance between clients.
        largest_within: bound on every w_i².
        largest_between: bound on s².
        largest_total: bound on mean_i(w_i²) + s².

    Returns:
        Both summands: the variance by sampling records, and that by sampling clients.
    """
    clients = sum(group.clients for group in groups)
    shares = [group.clients / clients for group in groups]
    squares = [group.lipschitz * group.lipschitz for group in groups]
    mean_square = math.fsum(share * square for share, square in zip(shares, squares, strict=True))
    remaining = min(mean_square, largest_total)
    within: list[float] = []
    client_variance: float | None = None
    for index in sorted(range(len(groups)), key=lambda index: -factors[index]):
        if client_variance is None and factors[index] < between:
            client_variance = min(largest_between, remaining)
            remaining -= client_variance
        variance = min(shares[index] * min(squares[index], largest_within), remaining)
        within.append(factors[index] * variance)
        remaining -= variance
    if client_variance is None:
        client_variance = min(largest_between, remaining)
    return math.fsum(within), between * client_variance

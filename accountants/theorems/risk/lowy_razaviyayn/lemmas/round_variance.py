"""Variance of one averaged noisy gradient, of equal clients and of clients that differ.

The derivation is in `gradient_variance.py`, next to the printed lemmas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from epsilond.accountants.federation import ClientGroup


def sampling_factor(*, population: int, drawn: float) -> float:
    """Return the variance of the mean of m of N values drawn without replacement, relative to that of the N values.

    It is (N − m)/((N − 1) m), with the finite population correction of survey sampling.

    Args:
        population: number N ≥ 1 of values.
        drawn: number m of drawn values, in (0, N]. For a random number it is the harmonic mean, because the factor is
            linear in 1/m.

    Returns:
        The factor, in [0, 1] for m ≥ 1. It is 0 for N = 1, as a single value has no variance.
    """
    if population == 1:
        return 0.0
    return (population - drawn) / ((population - 1) * drawn)


def client_factor(*, clients: int, participants: float) -> float:
    """Return the relative variance of the mean over M of N clients that are drawn without replacement.

    It is (N − M)/((N − 1) M). Appendix E.1 of Lowy and Razaviyayn writes it as Υ²/(M v²).

    Args:
        clients: number N ≥ 1 of clients.
        participants: number M of participants, or 1/E[1/M_r] for a random number M_r.

    Returns:
        The factor by which the variance v² of the clients' values is multiplied. It is 0 for N = 1.
    """
    return sampling_factor(population=clients, drawn=participants)


@dataclass(frozen=True, kw_only=True)
class Variance:
    """The variance V² of one round's averaged noisy gradient by its causes, in squared gradient units.

    Attributes:
        sampling: part by the sampling of records.
        clients: part by the sampling of clients.
        noise: part by the noise of the messages.
    """

    sampling: float
    clients: float
    noise: float

    @property
    def total(self) -> float:
        """V², the sum of the parts."""
        return self.sampling + self.clients + self.noise

    def scale(self, factor: float) -> Variance:
        """Return the variance with all its summands multiplied by a factor.

        Args:
            factor: the factor, at least 0; it may be infinite. A summand of 0 stays 0.

        Returns:
            A new object; this one is unchanged.
        """

        def scale_part(part: float) -> float:
            """Return the factor times a part; 0 for a part of 0, also if the factor is infinite."""
            if part > 0.0:
                return factor * part
            return 0.0

        return Variance(
            sampling=scale_part(self.sampling), clients=scale_part(self.clients), noise=scale_part(self.noise)
        )

    @property
    def parts(self) -> dict[str, float]:
        """The parts, as the fields of a response."""
        return {
            "sampling_variance": self.sampling,
            "client_variance": self.clients,
            "noise_variance": self.noise,
        }


@dataclass(frozen=True, kw_only=True)
class EqualClientsRound:
    """A round in which M of N equal clients send the noisy mean gradient of a batch of their records.

    Attributes:
        clients: number N of clients.
        participants: number M of clients that take part; 1/E[1/M_r] if their number M_r is random.
        samples_per_client: records n of a client.
        batch_size: records K of a batch.
        dimension: number d of coordinates of a message.
    """

    clients: int
    participants: float
    samples_per_client: int
    batch_size: int
    dimension: int

    def fresh_variance(self, *, gradient_std: float, heterogeneity: float, noise_std: float) -> Variance:
        """Return the variance of a round's averaged noisy gradient for records that are used once, split by its causes.

        The variance is:

            φ²/(MK) + (v²/M)(N − M)/(N − 1) + dσ²/M.

        The three causes are independent: the batch of K fresh records of each client, the choice of M of N clients, and
        the noise in d coordinates.

        Args:
            gradient_std: standard deviation φ ≥ 0 of a record's gradient about its client's expected one.
            heterogeneity: standard deviation v ≥ 0 of the clients' expected gradients.
            noise_std: standard deviation σ ≥ 0 of a message's noise per coordinate. If it differs between clients, it
                is the root mean square.

        Returns:
            The variance due to sampled records, to sampled clients, and to noise, in squared gradient units.
        """
        between_factor = client_factor(clients=self.clients, participants=self.participants)
        return Variance(
            sampling=gradient_std * gradient_std / (self.participants * self.batch_size),
            clients=between_factor * heterogeneity * heterogeneity,
            noise=self.dimension * noise_std * noise_std / self.participants,
        )

    def reused_variance(self, *, gradient_std: float, heterogeneity: float, noise_std: float) -> Variance:
        """Return an upper bound on the variance of a round's gradient, for batches that re-use the records.

        Let w² be the variance within clients and v² that between clients. Sampling multiplies them by factors a and b,
        so that without noise the variance is:

            a w² + b v²,   with w² + v² ≤ Φ̂² and v² ≤ v̂².

        It is linear, so its maximum is at v² = 0 or at v² = min{v̂, Φ̂}². For a Lipschitz constant L, the values Φ̂ = v̂ =
        L are always valid. Clients with the same distribution do *not* have v̂ = 0, as their data differ (erratum E-14).

        Args:
            gradient_std: Φ̂; Φ̂² bounds the variance over all records.
            heterogeneity: v̂; v̂² bounds the variance between clients.
            noise_std: noise σ per coordinate of a message; the root mean square over clients if it differs.

        Returns:
            The summands of the bound by records, clients and noise, in squared gradient units.
        """
        within_factor = sampling_factor(population=self.samples_per_client, drawn=self.batch_size) / self.participants
        between_factor = client_factor(clients=self.clients, participants=self.participants)

        # The larger factor gets as much of the variance as the bounds allow.
        between_variance = 0.0
        if between_factor > within_factor:
            client_std = min(heterogeneity, gradient_std)
            between_variance = client_std * client_std
        within_variance = max(gradient_std * gradient_std - between_variance, 0.0)

        return Variance(
            sampling=within_variance * within_factor,
            clients=between_variance * between_factor,
            noise=self.dimension * noise_std * noise_std / self.participants,
        )


def largest_variance(
    groups: Sequence[ClientGroup],
    *,
    factors: Sequence[float],
    between_factor: float,
    largest_within: float = math.inf,
    largest_between: float = math.inf,
    largest_total: float = math.inf,
) -> tuple[float, float]:
    """Return the largest variance that sampling can give a round's gradient, if clients have different losses.

    The variance is mean_i(a_i w_i²) + c s², where w_i² is the variance within client i, and s² the variance of the
    clients' means. It is maximised under three constraints:

    - w_i² ≤ min{L_i², `largest_within`},
    - s² ≤ `largest_between`,
    - mean_i(w_i²) + s² ≤ min{mean_i(L_i²), `largest_total`}.

    The L_i bound the norm of a record's gradient. The problem is linear, so the largest factors get as much of the
    total variance as their constraints allow.

    Args:
        groups: the clients, with their Lipschitz constants L_i.
        factors: factor a_i of the variance within a client, for each group.
        between_factor: factor c of the variance between clients.
        largest_within: bound on every w_i².
        largest_between: bound on s².
        largest_total: bound on mean_i(w_i²) + s².

    Returns:
        Both summands: the variance by sampling records, and that by sampling clients.
    """
    clients = sum(group.clients for group in groups)
    weights = [group.clients / clients for group in groups]
    squares = [group.lipschitz * group.lipschitz for group in groups]

    # A group's variance counts in the mean with its share of the clients, and so does its limit.
    mean_square = math.fsum(weight * square for weight, square in zip(weights, squares, strict=True))
    limits = [weight * min(square, largest_within) for weight, square in zip(weights, squares, strict=True)]
    total = min(mean_square, largest_total)

    # The last variable is the variance between clients.
    all_factors = [*factors, between_factor]
    all_limits = [*limits, largest_between]
    *within_variances, between_variance = _greedy_variances(all_factors, all_limits, total)
    by_records = math.fsum(factor * variance for factor, variance in zip(factors, within_variances, strict=True))
    by_clients = between_factor * between_variance
    return by_records, by_clients


def _greedy_variances(factors: Sequence[float], limits: Sequence[float], total: float) -> list[float]:
    """Return the numbers x_j that maximise Σ factor_j x_j under the constraints 0 ≤ x_j ≤ limit_j and Σ x_j ≤ total.

    This is a fractional knapsack problem. Filling the variables in decreasing order of their factors solves it exactly.

    Args:
        factors: factor of each variable in the objective, at least 0.
        limits: upper bound on each variable, at least 0; it may be infinite.
        total: upper bound on the sum of the variables; it may be infinite.

    Returns:
        The variables, in the order of the factors.
    """
    variances = [0.0] * len(factors)
    remaining = total
    by_decreasing_factor = sorted(range(len(factors)), key=lambda index: -factors[index])
    for index in by_decreasing_factor:
        variances[index] = min(limits[index], remaining)
        remaining -= variances[index]
    return variances

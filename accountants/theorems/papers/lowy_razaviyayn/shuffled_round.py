"""One shuffled round of Lowy and Razaviyayn as numbers: ε^r of (39), and the δ̃ that counts the reports' own δ₀."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilond.accountants.theorem import Reading

LN10 = math.log(10.0)


def local_epsilon_limit(*, clients: int, samples_per_client: int, log_delta: float) -> float:
    """Compute the largest ε₀ of a report for which Theorem F.2 of Lowy and Razaviyayn on shuffling holds.

    It is ln(N/(16 ln(2/δ)))/n.

    Args:
        clients: number N of clients, at least 1.
        samples_per_client: number n of records of a client, at least 1.
        log_delta: natural logarithm of δ.

    Returns:
        The limit. If it is negative, the theorem holds for no ε₀. It is −∞ for δ ≥ 1, which the theorem excludes.
    """
    if log_delta >= 0.0:
        return -math.inf
    least_clients = 16.0 * (math.log(2.0) - log_delta)
    return (math.log(clients) - math.log(least_clients)) / samples_per_client


def transferred_log_delta(*, epsilon: float, log_delta: float, log_distance: float) -> float:
    """Compute ln δ of two distributions that are near two (ε, δ)-indistinguishable distributions.

    Each of the two is within total variation distance t of one of the indistinguishable distributions. So they are
    (ε, δ + (e^ε + 1) t)-indistinguishable (Lemma F.6 of Lowy and Razaviyayn).

    Args:
        epsilon: privacy parameter ε ≥ 0 of the indistinguishable distributions.
        log_delta: natural logarithm of their δ.
        log_distance: natural logarithm of t; −∞ for t = 0.

    Returns:
        The natural logarithm of the new δ, which may exceed 0.
    """
    if log_distance == -math.inf:
        return log_delta
    # The sum is formed from logarithms, because δ and t may be too small for a double.
    log_factor = float(np.logaddexp(0.0, epsilon))  # ln(e^ε + 1)
    return float(np.logaddexp(log_delta, log_factor + log_distance))


@dataclass(frozen=True, kw_only=True)
class ShuffledRound:
    """A shuffled round of N clients with n records each, with (ε₀, δ₀)-differentially private reports.

    Attributes:
        clients: number N of clients.
        samples_per_client: number n of records of each client.
        local_epsilon: ε₀ of a report for each record of its client.
        local_log_delta: natural logarithm of δ₀; −∞ for δ₀ = 0.
    """

    clients: int
    samples_per_client: int
    local_epsilon: float
    local_log_delta: float

    def epsilon(self, log_delta: float) -> float:
        """Compute the ε^r of a shuffled round by equation (39) of Lowy and Razaviyayn.

            ε^r = ln[1 + tanh(ε₀/2)(8√(e^{nε₀} ln(4/δ)/N) + 8e^{nε₀}/N)]

        N clients report, each with n records, and ε₀ is the privacy parameter of a report.

        Args:
            log_delta: natural logarithm of δ, without the reports' own δ₀.

        Returns:
            ε^r; infinity if e^{nε₀}/N exceeds e^600, because the terms may overflow.
        """
        log_ratio = self.samples_per_client * self.local_epsilon - math.log(self.clients)  # ln(e^{nε₀}/N)
        if log_ratio > 600.0:
            return math.inf
        ratio = math.exp(log_ratio)
        log_4_over_delta = max(math.log(4.0) - log_delta, 0.0)
        factor = 8.0 * math.sqrt(ratio * log_4_over_delta) + 8.0 * ratio
        return math.log1p(math.tanh(0.5 * self.local_epsilon) * factor)

    def log_distance(self, *, sharp: bool = False) -> float:
        """Bound the total variation distance of the round from a round in which the reports have δ₀ = 0.

        The bound of Lowy and Razaviyayn is 2Nn e^{(n−1)ε₀} δ₀. A sharper one is N(n e^{(n−1)ε₀} + e^{−nε₀}/2) δ₀.

        Args:
            sharp: whether to use the sharper bound.

        Returns:
            The natural logarithm of the bound; −∞ if the reports have δ₀ = 0.
        """
        records, epsilon = self.samples_per_client, self.local_epsilon
        # ln(n e^{(n−1)ε₀}), the factor by which group privacy multiplies δ₀ for all n records of a client.
        log_group = math.log(records) + (records - 1) * epsilon
        if sharp:
            log_factor = float(np.logaddexp(log_group, -records * epsilon - math.log(2.0)))
        else:
            log_factor = log_group + math.log(2.0)
        return math.log(self.clients) + log_factor + self.local_log_delta

    def log_delta(self, log_delta: float, *, reading: Reading = "corrected", sharp: bool = False) -> float:
        """Compute ln δ̃ of the round, where δ̃ also counts the δ₀ of the (ε₀, δ₀)-private reports.

        N clients with n records each send the reports.

        Args:
            log_delta: natural logarithm of the δ at which `epsilon` is computed, without the reports' own δ₀.
            reading: "printed" for δ̃ = δ + 2Nn e^{(n−1)ε₀} δ₀, as in the paper. "corrected" multiplies the second term
                by e^ε + 1, with the ε of the round (docs/errata.md, E-20).
            sharp: whether to replace 2Nn e^{(n−1)ε₀} by the smaller factor of `log_distance`.

        Returns:
            The natural logarithm of δ̃, which may exceed 0.
        """
        distance = self.log_distance(sharp=sharp)
        if reading == "printed":
            return float(np.logaddexp(log_delta, distance))
        epsilon = self.epsilon(log_delta)
        return transferred_log_delta(epsilon=epsilon, log_delta=log_delta, log_distance=distance)


def log10(delta: float) -> float:
    """Compute the decimal logarithm of a δ that may be 0; −∞ for 0."""
    if delta <= 0.0:
        return -math.inf
    return math.log10(delta)

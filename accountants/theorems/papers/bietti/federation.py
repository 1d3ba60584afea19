"""Clients whose mini-batches differ, drawn at random: what the bounds of Bietti et al. see of them (P22 to P31).

Clients come in groups of equal ones, so that a million clients cost as much as their number of groups. Algorithm 2 adds
up the gradients of a batch and weighs a client by its records (`samples`); Algorithm 3 takes their mean and weighs all
clients alike (`clients`). With b_i whether client i is drawn, D_i the difference of its message to that at the optimum,
W the total weight and ω the largest message (W = N, ω = 1 for `clients`; W = Σ m_i, ω = m_max for `samples`),

    E‖Σ b_i D_i/(qW)‖² ≤ ‖Σ D_i/W‖² + κ/(qW²) Σ‖D_i‖²,

with κ = 1 − q for independent draws, where it is an equality, and κ = (1 − q) N/(N − 1) for a fixed number Q = qN: two
clients are then both drawn with probability q² − q(1 − q)/(N − 1), and −Σ_{i≠j}⟨D_i, D_j⟩ ≤ Σ‖D_i‖². Hence the
smoothness L max{α + ακω/(qW), ω/(qW)} and, at the optimum, where the weighted sum of all ∇_w f_i is 0, the term
κ Σ‖∇_w f_i‖²/(qW²) of the variance. Printed, both have q in other places (E-B5, E-B6).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import (
    LOCAL_GRADIENT_STD,
    SHARED_GRADIENT_NORM,
    SHARED_GRADIENT_STD,
    BatchSize,
    Clients,
    Weighting,
    request,
)
from epsilond.accountants.theorem import Reading

Draw = Literal["independent", "fixed-number"]
ClientSampling = Literal["full", "poisson", "without-replacement"]
MOST_GROUPS = 1000


@request
class GroupOfUsers:
    """Clients that are alike: how many, the records of a batch, and what is known of their gradients at the optimum.

    The standard deviations are those of one record's gradient; a batch of m has them over √m.
    """

    clients: Clients
    batch_size: BatchSize
    shared_gradient_std: Annotated[float, SHARED_GRADIENT_STD]
    local_gradient_std: Annotated[float, LOCAL_GRADIENT_STD]
    shared_gradient_norm: Annotated[float, SHARED_GRADIENT_NORM] = 0.0


@dataclass(frozen=True, kw_only=True)
class Variances:
    """σ̄²_w, σ̃²_w and σ̄²_θ of (13) and (35), as the bound adds them up, over one round with every client drawn."""

    shared: float
    selection: float
    local: float


@dataclass(frozen=True, kw_only=True)
class Federation:
    """All clients, how they are weighted, and how they are drawn: each with probability q."""

    groups: tuple[GroupOfUsers, ...]
    weighting: Weighting
    rate: float
    draw: Draw = "independent"

    @property
    def clients(self) -> int:
        """N."""
        return sum(group.clients for group in self.groups)

    @property
    def samples(self) -> int:
        """M = Σ m_i, records of one round if every client took part."""
        return sum(group.clients * group.batch_size for group in self.groups)

    @property
    def largest_batch(self) -> int:
        """m_max."""
        return max(group.batch_size for group in self.groups)

    @property
    def smallest_batch(self) -> int:
        """m_min."""
        return min(group.batch_size for group in self.groups)

    @property
    def weight(self) -> float:
        """W: N, or M."""
        return float(self.clients if self.weighting == "clients" else self.samples)

    @property
    def largest_message(self) -> float:
        """ω: the most gradients that are added up in one message, 1 for a mean."""
        return float(1 if self.weighting == "clients" else self.largest_batch)

    @property
    def selection(self) -> float:
        """κ."""
        absent = 1.0 - self.rate
        if self.draw == "independent" or absent == 0.0:
            return absent
        return absent * self.clients / (self.clients - 1)

    @property
    def heterogeneity_cost(self) -> float:
        """N m_max/M ≥ 1: how much more noise weighing by records needs than weighing clients alike (P31)."""
        return self.clients * self.largest_batch / self.samples

    def mean(self, value: Callable[[GroupOfUsers], float]) -> float:
        """Σ_i of a client's value, over W."""
        return math.fsum(group.clients * value(group) for group in self.groups) / self.weight

    def smoothness_factors(self, reading: Reading | Literal["proof"] = "corrected") -> tuple[float, float]:
        """(a, b) with smoothness L max{αa, b} (P25, P28): statement, proof, or corrected."""
        local = self.largest_message / (self.rate * self.weight)
        if reading == "printed":
            whole = self.largest_message / self.weight
            return 1.0 + whole, whole
        return 1.0 + (local if reading == "proof" else self.selection * local), local

    def variances(self, reading: Reading = "corrected") -> Variances:
        """The three variances (P26, P29). Printed, the second has a q too many (E-B6)."""
        kappa = self.rate * (1.0 - self.rate) if reading == "printed" else self.selection
        if self.weighting == "clients":
            return Variances(
                shared=self.mean(lambda group: group.shared_gradient_std**2 / group.batch_size),
                selection=kappa * self.mean(lambda group: group.shared_gradient_norm**2),
                local=self.mean(lambda group: group.local_gradient_std**2 / group.batch_size),
            )
        return Variances(
            shared=self.mean(lambda group: group.batch_size * group.shared_gradient_std**2),
            selection=kappa * self.mean(lambda group: (group.batch_size * group.shared_gradient_norm) ** 2),
            local=self.mean(lambda group: group.batch_size * group.local_gradient_std**2),
        )

    def variance_factors(
        self, *, noise_std: float, dimension: int, reading: Reading = "corrected"
    ) -> tuple[float, float]:
        """(A, B) with σ²_{m,α} = αA + B."""
        found, drawn = self.variances(reading), self.rate * self.weight
        return (found.shared + found.selection) / drawn + dimension * noise_std * noise_std, found.local / drawn

    def coarser_variance(self, *, alpha: float, noise_std: float, dimension: int) -> float:
        """(36): the variance with every batch taken to be the smallest; for `clients` only."""
        drawn = self.rate * self.weight
        shared = self.mean(lambda group: group.shared_gradient_std**2)
        local = self.mean(lambda group: group.local_gradient_std**2)
        sampled = (alpha * shared + local) / (drawn * self.smallest_batch)
        return sampled + alpha * self.variances().selection / drawn + alpha * dimension * noise_std * noise_std


def noise_multiplier_of(*, noise_std: float, rate: float, weight: float, clipping_norm: float) -> float:
    """z = σ_ζ qW/C: the noise over the clipping norm, both before the division by qW (P22)."""
    return noise_std * rate * weight / clipping_norm


def participants_of(sampling: ClientSampling, *, rate: float, clients: int) -> int | None:
    """Clients of one round: Q = qN of a fixed number, N of all, None where the number is random.

    Raises:
        InvalidInput: qN is not a whole number of at least one client, or not all take part in `full`.
    """
    if sampling == "full":
        if rate != 1.0:
            raise InvalidInput.at("/participation_rate", "is 1 where all clients take part", allowed="= 1")
        return clients
    if sampling == "poisson":
        return None
    count = round(rate * clients)
    if count < 1 or abs(rate * clients - count) > 1e-9 * count:
        message = "times clients must be a whole number of participants"
        raise InvalidInput.at("/participation_rate", message, allowed=f"a multiple of 1/{clients}")
    return count


def check_groups(groups: Sequence[object]) -> None:
    """Refuse none, or too many.

    Raises:
        InvalidInput: fewer than one group or more than `MOST_GROUPS`.
    """
    if not 1 <= len(groups) <= MOST_GROUPS:
        raise InvalidInput.at("/client_groups", "has too few or too many groups", allowed=f"1 to {MOST_GROUPS}")

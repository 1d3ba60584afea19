"""Variance and smoothness of a gradient step with randomly drawn clients, as in Bietti et al."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Literal

from epsilond.accountants.quantities import BatchSize, request
from epsilond.accountants.quantities.algorithms import (
    LOCAL_GRADIENT_STD,
    SHARED_GRADIENT_NORM,
    SHARED_GRADIENT_STD,
)
from epsilond.accountants.theorem import Reading
from epsilond.accountants.theorems.papers.bietti.sampled_noise import (
    DrawnClients,
    EqualClients,
)

Draw = Literal["independent", "fixed-number"]


@request
class GroupOfUsers(EqualClients):
    """Clients of one kind: their number, the records of a batch, and the constants of their gradients at the optimum.

    The standard deviations are those of one record's gradient; those of a batch of m records are smaller by √m.
    """

    batch_size: BatchSize = field()  # required here
    shared_gradient_std: Annotated[float, SHARED_GRADIENT_STD]
    local_gradient_std: Annotated[float, LOCAL_GRADIENT_STD]
    shared_gradient_norm: Annotated[float, SHARED_GRADIENT_NORM] = 0.0


@dataclass(frozen=True, kw_only=True)
class Variances:
    """Three parts of the variance of a round's mean gradient, in squared gradient units.

    Each is a mean over the clients by their weights. For the variance of a round, it is still to be divided by the
    expected weight of the clients in a round.

    Attributes:
        shared: part for the parameters that all clients share, due to the sampling of records.
        selection: part for the same parameters, due to the random choice of clients.
        local: part for each client's own parameters, due to the sampling of records.
    """

    shared: float
    selection: float
    local: float


@dataclass(frozen=True, kw_only=True)
class DrawnGradients(DrawnClients):
    """The clients of a federation, with their gradients and the way in which the clients of a round are drawn.

    Inherits the number of clients, their weights and the probability q that a client is drawn (`rate`).

    Attributes:
        groups: groups of equal clients, with batch sizes and standard deviations of gradients.
        draw: "independent" if each client is drawn independently, "fixed-number" if every round has the same number.
    """

    groups: tuple[GroupOfUsers, ...]
    draw: Draw = "independent"

    @property
    def selection(self) -> float:
        """The factor κ of the variance that the random choice of clients adds.

        It is 1 − q for independent draws at rate q, and (1 − q)N/(N − 1) for a fixed number of the N clients.
        """
        absence_rate = 1.0 - self.rate
        if self.draw == "independent" or absence_rate == 0.0:
            return absence_rate
        return absence_rate * self.clients / (self.clients - 1)

    def mean(self, value: Callable[[GroupOfUsers], float]) -> float:
        """Return the sum over all clients of a value of each client, divided by their total weight W.

        Args:
            value: function of a group that returns the value of one of its clients, all of which are equal.
        """
        return math.fsum(group.clients * value(group) for group in self.groups) / self.weight

    def smoothness_factors(self, reading: Reading | Literal["proof"] = "corrected") -> tuple[float, float]:
        """Return the factors (a, b) in the smoothness L max{αa, b} of personalised SGD with randomly drawn clients.

        A model has a part that all clients share, with the weight α, and an own part of each client. The factor a
        belongs to the shared part, and b to the clients' own parts. Below, q is the probability that a client is drawn,
        W the total weight of the clients, and ω the largest number of gradients in a message (`largest_message`).

        Args:
            reading: "printed" for b = ω/W and a = 1 + b, as in the theorem of Bietti et al. "proof" for b = ω/(qW) and
                a = 1 + b, as in its proof. "corrected" for the same b and a = 1 + κb (docs/errata.md, E-B5). Here κ is
                about 1 − q (`selection`).

        Returns:
            The pair (a, b), without unit.
        """
        if reading == "printed":
            local_factor = self.largest_message / self.weight
            return 1.0 + local_factor, local_factor
        local_factor = self.largest_message / (self.rate * self.weight)
        selection_factor = 1.0 if reading == "proof" else self.selection
        return 1.0 + selection_factor * local_factor, local_factor

    def variances(self, reading: Reading = "corrected") -> Variances:
        """Compute the parts of the variance of a step of personalised SGD, equations (13) and (35) of Bietti et al.

        If clients have equal weights (`clients`), a client sends the mean gradient of its batch of m records, with the
        variance of one record divided by m. If they are weighted by their records (`samples`), a client sends the sum,
        with m times the variance of one record.

        Args:
            reading: "printed" for the factor q(1 − q) in the part due to the choice of clients, as in the paper.
                "corrected" for the factor κ of `selection` (erratum E-B6).

        Returns:
            The parts due to the records of the shared gradients, to the choice of clients, and to the records of the
            own gradients.
        """
        if self.weighting == "clients":
            shared = self.mean(lambda group: group.shared_gradient_std**2 / group.batch_size)
            selection = self.mean(lambda group: group.shared_gradient_norm**2)
            local = self.mean(lambda group: group.local_gradient_std**2 / group.batch_size)
        else:
            shared = self.mean(lambda group: group.batch_size * group.shared_gradient_std**2)
            selection = self.mean(lambda group: (group.batch_size * group.shared_gradient_norm) ** 2)
            local = self.mean(lambda group: group.batch_size * group.local_gradient_std**2)

        selection_factor = self.selection
        if reading == "printed":
            selection_factor = self.rate * (1.0 - self.rate)
        return Variances(shared=shared, selection=selection_factor * selection, local=local)

    def variance_factors(
        self, *, noise_std: float, dimension: int, reading: Reading = "corrected"
    ) -> tuple[float, float]:
        """Return the factors (A, B) in the variance αA + B of a step of personalised SGD with randomly drawn clients.

        A model has a part that all clients share, with the weight α, and an own part of each client.

        Args:
            noise_std: standard deviation σ_ζ of the noise per shared coordinate.
            dimension: number d_w of shared coordinates.
            reading: "printed" or "corrected" variances, as `variances` explains.

        Returns:
            The pair (A, B) in squared gradient units. A is due to sampling and noise of the shared part, and B to
            sampling of the clients' own parts.
        """
        variances = self.variances(reading)
        expected_weight = self.rate * self.weight
        sampling_variance = (variances.shared + variances.selection) / expected_weight
        noise_variance = dimension * noise_std * noise_std
        local_variance = variances.local / expected_weight
        return sampling_variance + noise_variance, local_variance

    def coarser_variance(
        self, *, alpha: float, noise_std: float, dimension: int, reading: Reading = "corrected"
    ) -> float:
        """Return the variance of a step of personalised SGD as if all batches had the smallest batch size.

        It is equation (36) of Bietti et al., for clients with equal weights.

        Args:
            alpha: weight α of the shared part, finite.
            noise_std: standard deviation σ_ζ of the noise per shared coordinate.
            dimension: number d_w of shared coordinates.
            reading: "printed" or "corrected" variances, as `variances` explains.

        Returns:
            The variance in squared gradient units.

        Guarantees:
            With the reading "corrected", the result is at least the true variance of a step, because a smaller batch
            has a larger variance.
        """
        expected_weight = self.rate * self.weight
        smallest_batch = min(group.batch_size for group in self.groups)
        shared = self.mean(lambda group: group.shared_gradient_std**2)
        local = self.mean(lambda group: group.local_gradient_std**2)

        sampling_variance = (alpha * shared + local) / (expected_weight * smallest_batch)
        selection_variance = alpha * self.variances(reading).selection / expected_weight
        noise_variance = alpha * dimension * noise_std * noise_std
        return sampling_variance + selection_variance + noise_variance

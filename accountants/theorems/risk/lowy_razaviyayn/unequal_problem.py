"""The variance and the stability of a run of clients that differ. `unequal_clients.py` derives them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from epsilond.accountants.federation import ClientGroup
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import (
    Variance,
    client_factor,
    largest_variance,
    sampling_factor,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import ExcessRiskProblem


def unequal_variance(
    groups: Sequence[ClientGroup],
    *,
    participants: float,
    dimension: int,
    noise_std: float,
    used_once: bool = False,
    **bounds: float,
) -> Variance:
    """Return an upper bound on the variance of a round's averaged noisy gradient for clients that differ.

    The variance is split by its causes: the sampling of records, the sampling of clients, and the noise. The first two
    are maximised jointly over all gradients that the Lipschitz constants allow.

    Args:
        groups: the clients, with the Lipschitz constants of their weighted losses.
        participants: M = 1/E[1/M_r] for the number M_r of participants in a round.
        dimension: number d of coordinates.
        noise_std: root mean square over clients of the noise per coordinate.
        used_once: whether every record is used once. Otherwise batches are drawn from the same data in every round.
        bounds: further limits on the variance of gradients, by the names of `largest_variance`: `largest_within` a
            client, `largest_between` clients, and `largest_total`.

    Returns:
        The variance due to sampled records, to sampled clients, and to noise, in squared gradient units.
    """
    # For each client, the variance of a batch's mean gradient divided by the variance of one record's gradient.
    if used_once:
        factors = [1.0 / group.batch_size for group in groups]
    else:
        factors = [sampling_factor(population=group.samples_per_client, drawn=group.batch_size) for group in groups]

    number_of_clients = sum(group.clients for group in groups)
    by_records, by_clients = largest_variance(
        groups,
        factors=[factor / participants for factor in factors],
        between_factor=client_factor(clients=number_of_clients, participants=participants),
        **bounds,
    )
    noise = dimension * noise_std * noise_std / participants
    return Variance(sampling=by_records, clients=by_clients, noise=noise)


@dataclass(frozen=True, kw_only=True)
class UnequalProblem(ExcessRiskProblem):
    """A run of noisy SGD with clients that differ, and its loss, without the noise, the rounds and the step size.

    The inherited fields for equal clients have the least number of records, the smallest batch size and the largest
    Lipschitz constant of any client.

    Attributes:
        groups: the clients, with the Lipschitz constants L_i of their weighted losses.
    """

    groups: tuple[ClientGroup, ...]

    @classmethod
    def of(cls, groups: Sequence[ClientGroup], **fields: Any) -> UnequalProblem:
        """Return the run of noisy SGD of a federation with several groups of equal clients.

        Args:
            groups: the clients, with the Lipschitz constants of their weighted losses.
            fields: the fields of `ExcessRiskProblem` that do not follow from the groups. `smoothness` is that of the
                mean of the weighted losses, or infinite if the loss is not smooth. `steepest` is the largest smoothness
                of one weighted loss. `strong_convexity` is the smallest of one weighted loss.

        Returns:
            The problem that describes all clients.
        """
        return cls(
            clients=sum(group.clients for group in groups),
            samples_per_client=min(group.samples_per_client for group in groups),
            batch_size=min(group.batch_size for group in groups),
            lipschitz=max(group.lipschitz for group in groups),
            groups=tuple(groups),
            **fields,
        )

    def variance(self, noise_std: float) -> Variance:
        """Return an upper bound on the variance V² of one averaged noisy gradient, split by its causes.

        The bound is:

            mean_i(L_i² max{a_i/M, c}) + d mean_i(σ_i²)/M

        over clients i. The factor a_i/M is that of the sampling of records, and c that of the sampling of clients. L_i
        is the Lipschitz constant of client i's weighted loss, M the number of participants, and d the dimension.

        Args:
            noise_std: root mean square over clients of the noise's standard deviation σ_i per coordinate, at least 0.

        Returns:
            The summands of the bound by records, clients and noise, in squared gradient units.
        """
        return unequal_variance(
            self.groups, participants=self.participants, dimension=self.dimension, noise_std=noise_std
        )

    @property
    def influence(self) -> float:
        """The effect mean_i(L_i²/n_i)/N of one record on the expected loss in a round, divided by 2η.

        η is the step size. Client i of N has n_i records, and its weighted loss has the Lipschitz constant L_i.
        """
        summands = [
            group.clients / self.clients * group.lipschitz * group.lipschitz / group.samples_per_client
            for group in self.groups
        ]
        return math.fsum(summands) / self.clients

    @property
    def squared_lipschitz(self) -> float:
        """The mean over clients of L_i², the squared Lipschitz constant of a client's weighted loss."""
        summands = (group.clients / self.clients * group.lipschitz**2 for group in self.groups)
        return math.fsum(summands)

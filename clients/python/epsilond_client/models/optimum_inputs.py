from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="OptimumInputs")


@_attrs_define
class OptimumInputs:
    """Equal clients, each drawn with probability q in every round, and what is known of their optima and gradients."""

    clients: int
    """ clients in the federation """
    rounds: int
    """ communication rounds """
    smoothness: float
    """ Lipschitz constant of the gradient """
    optimum_norm: float
    """ norm of the mean of the clients' own optima, from the start """
    shared_gradient_std: float
    """ root mean square distance, at the optimum, of a record's shared gradient from its expected one """
    local_gradient_std: float
    """ root mean square norm, at the optimum, of a record's gradient in its client's own part """
    shared_dimension: int
    """ coordinates of the shared part of the model """
    noise_std: float
    """ standard deviation per coordinate of the server's noise on the averaged shared gradient """
    participation_rate: float | Unset = 1.0
    """ probability that a given record, or client where clients are drawn, is in a batch """
    batch_size: int | Unset = 1
    """ records of one client per round """
    optimum_spread: float | Unset = 0.0
    """ root mean square distance of the clients' own optima from their mean, 0 if all are equal """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        rounds = self.rounds

        smoothness = self.smoothness

        optimum_norm = self.optimum_norm

        shared_gradient_std = self.shared_gradient_std

        local_gradient_std = self.local_gradient_std

        shared_dimension = self.shared_dimension

        noise_std = self.noise_std

        participation_rate = self.participation_rate

        batch_size = self.batch_size

        optimum_spread = self.optimum_spread

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "rounds": rounds,
                "smoothness": smoothness,
                "optimum_norm": optimum_norm,
                "shared_gradient_std": shared_gradient_std,
                "local_gradient_std": local_gradient_std,
                "shared_dimension": shared_dimension,
                "noise_std": noise_std,
            }
        )
        if participation_rate is not UNSET:
            field_dict["participation_rate"] = participation_rate
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if optimum_spread is not UNSET:
            field_dict["optimum_spread"] = optimum_spread

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        rounds = d.pop("rounds")

        smoothness = d.pop("smoothness")

        optimum_norm = d.pop("optimum_norm")

        shared_gradient_std = d.pop("shared_gradient_std")

        local_gradient_std = d.pop("local_gradient_std")

        shared_dimension = d.pop("shared_dimension")

        noise_std = d.pop("noise_std")

        participation_rate = d.pop("participation_rate", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        optimum_spread = d.pop("optimum_spread", UNSET)

        optimum_inputs = cls(
            clients=clients,
            rounds=rounds,
            smoothness=smoothness,
            optimum_norm=optimum_norm,
            shared_gradient_std=shared_gradient_std,
            local_gradient_std=local_gradient_std,
            shared_dimension=shared_dimension,
            noise_std=noise_std,
            participation_rate=participation_rate,
            batch_size=batch_size,
            optimum_spread=optimum_spread,
        )

        return optimum_inputs

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="GlobalLimitInputs")


@_attrs_define
class GlobalLimitInputs:
    """α = ∞, all clients sharing one optimum. `optimum_norm` is its norm ‖v‖."""

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
    shared_dimension: int
    """ coordinates of the shared part of the model """
    noise_std: float
    """ standard deviation per coordinate of the server's noise on the averaged shared gradient """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        rounds = self.rounds

        smoothness = self.smoothness

        optimum_norm = self.optimum_norm

        shared_gradient_std = self.shared_gradient_std

        shared_dimension = self.shared_dimension

        noise_std = self.noise_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "rounds": rounds,
                "smoothness": smoothness,
                "optimum_norm": optimum_norm,
                "shared_gradient_std": shared_gradient_std,
                "shared_dimension": shared_dimension,
                "noise_std": noise_std,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        rounds = d.pop("rounds")

        smoothness = d.pop("smoothness")

        optimum_norm = d.pop("optimum_norm")

        shared_gradient_std = d.pop("shared_gradient_std")

        shared_dimension = d.pop("shared_dimension")

        noise_std = d.pop("noise_std")

        global_limit_inputs = cls(
            clients=clients,
            rounds=rounds,
            smoothness=smoothness,
            optimum_norm=optimum_norm,
            shared_gradient_std=shared_gradient_std,
            shared_dimension=shared_dimension,
            noise_std=noise_std,
        )

        return global_limit_inputs

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="LocalLimitInputs")


@_attrs_define
class LocalLimitInputs:
    """α = 0. `optimum_norm` is √(Σ‖θ_i*‖²/N), the root mean square over clients."""

    clients: int
    """ clients in the federation """
    rounds: int
    """ communication rounds """
    smoothness: float
    """ Lipschitz constant of the gradient """
    optimum_norm: float
    """ norm of the mean of the clients' own optima, from the start """
    local_gradient_std: float
    """ root mean square norm, at the optimum, of a record's gradient in its client's own part """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        rounds = self.rounds

        smoothness = self.smoothness

        optimum_norm = self.optimum_norm

        local_gradient_std = self.local_gradient_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "rounds": rounds,
                "smoothness": smoothness,
                "optimum_norm": optimum_norm,
                "local_gradient_std": local_gradient_std,
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

        local_gradient_std = d.pop("local_gradient_std")

        local_limit_inputs = cls(
            clients=clients,
            rounds=rounds,
            smoothness=smoothness,
            optimum_norm=optimum_norm,
            local_gradient_std=local_gradient_std,
        )

        return local_limit_inputs

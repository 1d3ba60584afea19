from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="LocalLimitInputs")


@_attrs_define
class LocalLimitInputs:
    """α = 0, where every client has its own optimum: Σ‖θ_i*‖²/N = `optimum_norm`² + `optimum_spread`²."""

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
    optimum_spread: float | Unset = 0.0
    """ root mean square distance of the clients' own optima from their mean, 0 if all are equal """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        rounds = self.rounds

        smoothness = self.smoothness

        optimum_norm = self.optimum_norm

        local_gradient_std = self.local_gradient_std

        optimum_spread = self.optimum_spread

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

        local_gradient_std = d.pop("local_gradient_std")

        optimum_spread = d.pop("optimum_spread", UNSET)

        local_limit_inputs = cls(
            clients=clients,
            rounds=rounds,
            smoothness=smoothness,
            optimum_norm=optimum_norm,
            local_gradient_std=local_gradient_std,
            optimum_spread=optimum_spread,
        )

        return local_limit_inputs

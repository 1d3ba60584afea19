from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ApproximateClonesInputs")


@_attrs_define
class ApproximateClonesInputs:
    """Reports that are (ε₀, δ₀), and the ε at which what δ₀ adds is asked for."""

    clients: int
    """ clients in the federation """
    local_epsilon: float
    """ ε of what one client sends, to whoever sees it with its sender """
    local_delta: float
    """ δ of what one client sends, beside its ε₀; 0 if pure """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        local_epsilon = self.local_epsilon

        local_delta = self.local_delta

        epsilon = self.epsilon

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "local_epsilon": local_epsilon,
                "local_delta": local_delta,
                "epsilon": epsilon,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        local_epsilon = d.pop("local_epsilon")

        local_delta = d.pop("local_delta")

        epsilon = d.pop("epsilon")

        approximate_clones_inputs = cls(
            clients=clients,
            local_epsilon=local_epsilon,
            local_delta=local_delta,
            epsilon=epsilon,
        )

        return approximate_clones_inputs

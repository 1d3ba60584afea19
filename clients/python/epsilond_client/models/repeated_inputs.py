from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RepeatedInputs")


@_attrs_define
class RepeatedInputs:
    """`rounds` such rounds, each of whose reports may depend on what came before."""

    clients: int
    """ clients in the federation """
    local_epsilon: float
    """ ε of what one client sends, to whoever sees it with its sender """
    local_delta: float
    """ δ of what one client sends, beside its ε₀ """
    rounds: int
    """ communication rounds """
    samples_per_client: int | Unset = 1
    """ records of one client """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        local_epsilon = self.local_epsilon

        local_delta = self.local_delta

        rounds = self.rounds

        samples_per_client = self.samples_per_client

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "local_epsilon": local_epsilon,
                "local_delta": local_delta,
                "rounds": rounds,
            }
        )
        if samples_per_client is not UNSET:
            field_dict["samples_per_client"] = samples_per_client

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        local_epsilon = d.pop("local_epsilon")

        local_delta = d.pop("local_delta")

        rounds = d.pop("rounds")

        samples_per_client = d.pop("samples_per_client", UNSET)

        repeated_inputs = cls(
            clients=clients,
            local_epsilon=local_epsilon,
            local_delta=local_delta,
            rounds=rounds,
            samples_per_client=samples_per_client,
        )

        return repeated_inputs

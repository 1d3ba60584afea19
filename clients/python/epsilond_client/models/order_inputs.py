from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.order_inputs_server import OrderInputsServer, check_order_inputs_server

T = TypeVar("T", bound="OrderInputs")


@_attrs_define
class OrderInputs:
    """n = mT records in all, d coordinates, ε; M clients where the server is not trusted."""

    server: OrderInputsServer
    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    rounds: int
    """ communication rounds """
    dimension: int
    """ coordinates of the model """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """

    def to_dict(self) -> dict[str, Any]:
        server: str = self.server

        clients = self.clients

        participants = self.participants

        rounds = self.rounds

        dimension = self.dimension

        epsilon = self.epsilon

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "server": server,
                "clients": clients,
                "participants": participants,
                "rounds": rounds,
                "dimension": dimension,
                "epsilon": epsilon,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        server = check_order_inputs_server(d.pop("server"))

        clients = d.pop("clients")

        participants = d.pop("participants")

        rounds = d.pop("rounds")

        dimension = d.pop("dimension")

        epsilon = d.pop("epsilon")

        order_inputs = cls(
            server=server,
            clients=clients,
            participants=participants,
            rounds=rounds,
            dimension=dimension,
            epsilon=epsilon,
        )

        return order_inputs

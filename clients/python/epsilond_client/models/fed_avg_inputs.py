from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="FedAvgInputs")


@_attrs_define
class FedAvgInputs:
    """A run of FedAvg, whose updates are sent as they are."""

    smoothness: float
    """ Lipschitz constant of the gradient """
    quasar_convexity: float
    """ quasar-convexity of every client's loss, 1 if convex """
    initial_distance: float
    """ bound on the distance from the start to a minimiser """
    rounds: int
    """ communication rounds """
    local_steps: int
    """ gradient steps of one client per round """
    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    client_optimum_distance: float | Unset = 0.0
    """ distance of a client's own minimiser from the common one """

    def to_dict(self) -> dict[str, Any]:
        smoothness = self.smoothness

        quasar_convexity = self.quasar_convexity

        initial_distance = self.initial_distance

        rounds = self.rounds

        local_steps = self.local_steps

        clients = self.clients

        participants = self.participants

        client_optimum_distance = self.client_optimum_distance

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "smoothness": smoothness,
                "quasar_convexity": quasar_convexity,
                "initial_distance": initial_distance,
                "rounds": rounds,
                "local_steps": local_steps,
                "clients": clients,
                "participants": participants,
            }
        )
        if client_optimum_distance is not UNSET:
            field_dict["client_optimum_distance"] = client_optimum_distance

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        smoothness = d.pop("smoothness")

        quasar_convexity = d.pop("quasar_convexity")

        initial_distance = d.pop("initial_distance")

        rounds = d.pop("rounds")

        local_steps = d.pop("local_steps")

        clients = d.pop("clients")

        participants = d.pop("participants")

        client_optimum_distance = d.pop("client_optimum_distance", UNSET)

        fed_avg_inputs = cls(
            smoothness=smoothness,
            quasar_convexity=quasar_convexity,
            initial_distance=initial_distance,
            rounds=rounds,
            local_steps=local_steps,
            clients=clients,
            participants=participants,
            client_optimum_distance=client_optimum_distance,
        )

        return fed_avg_inputs

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="StabilityInputs")


@_attrs_define
class StabilityInputs:
    """A run of Algorithm 1 with a constant step size, equal clients."""

    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    samples_per_client: int
    """ records of one client """
    rounds: int
    """ communication rounds """
    step_size: float
    """ step size """
    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    smoothness: float
    """ Lipschitz constant of the gradient """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        participants = self.participants

        samples_per_client = self.samples_per_client

        rounds = self.rounds

        step_size = self.step_size

        lipschitz = self.lipschitz

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "participants": participants,
                "samples_per_client": samples_per_client,
                "rounds": rounds,
                "step_size": step_size,
                "lipschitz": lipschitz,
                "smoothness": smoothness,
            }
        )
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        participants = d.pop("participants")

        samples_per_client = d.pop("samples_per_client")

        rounds = d.pop("rounds")

        step_size = d.pop("step_size")

        lipschitz = d.pop("lipschitz")

        smoothness = d.pop("smoothness")

        strong_convexity = d.pop("strong_convexity", UNSET)

        stability_inputs = cls(
            clients=clients,
            participants=participants,
            samples_per_client=samples_per_client,
            rounds=rounds,
            step_size=step_size,
            lipschitz=lipschitz,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
        )

        return stability_inputs

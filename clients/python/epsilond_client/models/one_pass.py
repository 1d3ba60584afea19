from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="OnePass")


@_attrs_define
class OnePass:
    """One pass over the clients in ⌊n/m⌋ batches of m; replace-one, so that two gradients differ by at most 2L."""

    epsilon: float
    """ privacy loss ε ≥ 0, natural logs """
    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    radius: float
    """ radius of the domain """
    smoothness: float
    """ Lipschitz constant of the gradient """
    step_sizes: list[float]
    """ step sizes: one for all steps, or one for each """
    noise_stds: list[float]
    """ one client's noise per coordinate: one for all steps, or one for each """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        clients = self.clients

        participants = self.participants

        lipschitz = self.lipschitz

        radius = self.radius

        smoothness = self.smoothness

        step_sizes = self.step_sizes

        noise_stds = self.noise_stds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "clients": clients,
                "participants": participants,
                "lipschitz": lipschitz,
                "radius": radius,
                "smoothness": smoothness,
                "step_sizes": step_sizes,
                "noise_stds": noise_stds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        clients = d.pop("clients")

        participants = d.pop("participants")

        lipschitz = d.pop("lipschitz")

        radius = d.pop("radius")

        smoothness = d.pop("smoothness")

        step_sizes = cast(list[float], d.pop("step_sizes"))

        noise_stds = cast(list[float], d.pop("noise_stds"))

        one_pass = cls(
            epsilon=epsilon,
            clients=clients,
            participants=participants,
            lipschitz=lipschitz,
            radius=radius,
            smoothness=smoothness,
            step_sizes=step_sizes,
            noise_stds=noise_stds,
        )

        return one_pass

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="InverseTimeSteps")


@_attrs_define
class InverseTimeSteps:
    """One pass with η_t = 1/(λt) and one noise. Absent: bounds of the mean gradient and its spread are L."""

    epsilon: float
    """ privacy loss ε ≥ 0, natural logs """
    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    dimension: int
    """ coordinates of the model """
    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    radius: float
    """ radius of the domain """
    smoothness: float
    """ Lipschitz constant of the gradient """
    strong_convexity: float
    """ strong convexity of the objective """
    noise_std: float
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """
    gradient_bound: float | Unset = UNSET
    """ bound on the mean gradient's norm """
    gradient_std: float | Unset = UNSET
    """ root mean square distance of a record's gradient from its client's expected one, at its largest """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        clients = self.clients

        participants = self.participants

        dimension = self.dimension

        lipschitz = self.lipschitz

        radius = self.radius

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        noise_std = self.noise_std

        gradient_bound = self.gradient_bound

        gradient_std = self.gradient_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "clients": clients,
                "participants": participants,
                "dimension": dimension,
                "lipschitz": lipschitz,
                "radius": radius,
                "smoothness": smoothness,
                "strong_convexity": strong_convexity,
                "noise_std": noise_std,
            }
        )
        if gradient_bound is not UNSET:
            field_dict["gradient_bound"] = gradient_bound
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        clients = d.pop("clients")

        participants = d.pop("participants")

        dimension = d.pop("dimension")

        lipschitz = d.pop("lipschitz")

        radius = d.pop("radius")

        smoothness = d.pop("smoothness")

        strong_convexity = d.pop("strong_convexity")

        noise_std = d.pop("noise_std")

        gradient_bound = d.pop("gradient_bound", UNSET)

        gradient_std = d.pop("gradient_std", UNSET)

        inverse_time_steps = cls(
            epsilon=epsilon,
            clients=clients,
            participants=participants,
            dimension=dimension,
            lipschitz=lipschitz,
            radius=radius,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            noise_std=noise_std,
            gradient_bound=gradient_bound,
            gradient_std=gradient_std,
        )

        return inverse_time_steps

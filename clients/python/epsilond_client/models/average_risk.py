from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AverageRisk")


@_attrs_define
class AverageRisk:
    """One pass; the mean over steps of the excess risk. Absent: the spread of the gradient is L."""

    clients: int
    """ clients in the federation """
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
    step_sizes: list[float]
    """ step sizes: one for all steps, or one for each """
    noise_stds: list[float]
    """ one client's noise per coordinate: one for all steps, or one for each """
    participants: int | Unset = 1
    """ clients that report in one round """
    gradient_std: float | Unset = UNSET
    """ root mean square distance of a record's gradient from its client's expected one, at its largest """
    shamir_constant: float | Unset = UNSET
    """ the constant of Shamir 2016, Theorem 3, which no paper gives """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        dimension = self.dimension

        lipschitz = self.lipschitz

        radius = self.radius

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        step_sizes = self.step_sizes

        noise_stds = self.noise_stds

        participants = self.participants

        gradient_std = self.gradient_std

        shamir_constant = self.shamir_constant

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "dimension": dimension,
                "lipschitz": lipschitz,
                "radius": radius,
                "smoothness": smoothness,
                "strong_convexity": strong_convexity,
                "step_sizes": step_sizes,
                "noise_stds": noise_stds,
            }
        )
        if participants is not UNSET:
            field_dict["participants"] = participants
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if shamir_constant is not UNSET:
            field_dict["shamir_constant"] = shamir_constant

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        dimension = d.pop("dimension")

        lipschitz = d.pop("lipschitz")

        radius = d.pop("radius")

        smoothness = d.pop("smoothness")

        strong_convexity = d.pop("strong_convexity")

        step_sizes = cast(list[float], d.pop("step_sizes"))

        noise_stds = cast(list[float], d.pop("noise_stds"))

        participants = d.pop("participants", UNSET)

        gradient_std = d.pop("gradient_std", UNSET)

        shamir_constant = d.pop("shamir_constant", UNSET)

        average_risk = cls(
            clients=clients,
            dimension=dimension,
            lipschitz=lipschitz,
            radius=radius,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            step_sizes=step_sizes,
            noise_stds=noise_stds,
            participants=participants,
            gradient_std=gradient_std,
            shamir_constant=shamir_constant,
        )

        return average_risk

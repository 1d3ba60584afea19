from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AnyOnePass")


@_attrs_define
class AnyOnePass:
    """One pass over the clients, of losses that may be neither convex nor smooth; replace-one.

    `smoothness` absent: the gradient has no Lipschitz constant. `strong_convexity` needs smoothness to help.

    """

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
    step_sizes: list[float]
    """ step sizes: one for all steps, or one for each """
    noise_stds: list[float]
    """ one client's noise per coordinate: one for all steps, or one for each """
    smoothness: float | Unset = UNSET
    """ Lipschitz constant of the gradient """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """
    convex: bool | Unset = True
    """ whether every record's loss is convex """
    first_stop: int | Unset = UNSET
    """ release at a uniform step from this one on; absent: at the last """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        clients = self.clients

        participants = self.participants

        lipschitz = self.lipschitz

        radius = self.radius

        step_sizes = self.step_sizes

        noise_stds = self.noise_stds

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        convex = self.convex

        first_stop = self.first_stop

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "clients": clients,
                "participants": participants,
                "lipschitz": lipschitz,
                "radius": radius,
                "step_sizes": step_sizes,
                "noise_stds": noise_stds,
            }
        )
        if smoothness is not UNSET:
            field_dict["smoothness"] = smoothness
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if convex is not UNSET:
            field_dict["convex"] = convex
        if first_stop is not UNSET:
            field_dict["first_stop"] = first_stop

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        clients = d.pop("clients")

        participants = d.pop("participants")

        lipschitz = d.pop("lipschitz")

        radius = d.pop("radius")

        step_sizes = cast(list[float], d.pop("step_sizes"))

        noise_stds = cast(list[float], d.pop("noise_stds"))

        smoothness = d.pop("smoothness", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        convex = d.pop("convex", UNSET)

        first_stop = d.pop("first_stop", UNSET)

        any_one_pass = cls(
            epsilon=epsilon,
            clients=clients,
            participants=participants,
            lipschitz=lipschitz,
            radius=radius,
            step_sizes=step_sizes,
            noise_stds=noise_stds,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            convex=convex,
            first_stop=first_stop,
        )

        return any_one_pass

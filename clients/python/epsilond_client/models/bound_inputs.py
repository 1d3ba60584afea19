from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="BoundInputs")


@_attrs_define
class BoundInputs:
    """All clients in every round, at a finite α."""

    clients: int
    """ clients in the federation """
    rounds: int
    """ communication rounds """
    smoothness: float
    """ Lipschitz constant of the gradient """
    personalization: float
    """ step size of the shared part over N times that of a client's own part """
    shared_gradient_std: float
    """ root mean square distance, at the optimum, of a record's shared gradient from its expected one """
    local_gradient_std: float
    """ root mean square norm, at the optimum, of a record's gradient in its client's own part """
    shared_dimension: int
    """ coordinates of the shared part of the model """
    noise_std: float
    """ standard deviation per coordinate of the server's noise on the averaged shared gradient """
    weighted_optimum_norm: float | Unset = UNSET
    """ √(‖w*‖²/α + Σ‖θ_i*‖²), the distance that the bound pays for """
    optimum_norm: float | Unset = UNSET
    """ older name of weighted_optimum_norm here, √(‖w*‖²/α + Σ‖θ_i*‖²); give one of the two. Elsewhere optimum_norm
    is ‖v̄‖, the norm of the mean of the clients' own optima """
    lipschitz: float | Unset = UNSET
    """ bound on the ℓ2 norm of one record's gradient """
    clipping_norm: float | Unset = UNSET
    """ bound on the ℓ2 norm of one record's gradient """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        rounds = self.rounds

        smoothness = self.smoothness

        personalization = self.personalization

        shared_gradient_std = self.shared_gradient_std

        local_gradient_std = self.local_gradient_std

        shared_dimension = self.shared_dimension

        noise_std = self.noise_std

        weighted_optimum_norm = self.weighted_optimum_norm

        optimum_norm = self.optimum_norm

        lipschitz = self.lipschitz

        clipping_norm = self.clipping_norm

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "rounds": rounds,
                "smoothness": smoothness,
                "personalization": personalization,
                "shared_gradient_std": shared_gradient_std,
                "local_gradient_std": local_gradient_std,
                "shared_dimension": shared_dimension,
                "noise_std": noise_std,
            }
        )
        if weighted_optimum_norm is not UNSET:
            field_dict["weighted_optimum_norm"] = weighted_optimum_norm
        if optimum_norm is not UNSET:
            field_dict["optimum_norm"] = optimum_norm
        if lipschitz is not UNSET:
            field_dict["lipschitz"] = lipschitz
        if clipping_norm is not UNSET:
            field_dict["clipping_norm"] = clipping_norm

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        rounds = d.pop("rounds")

        smoothness = d.pop("smoothness")

        personalization = d.pop("personalization")

        shared_gradient_std = d.pop("shared_gradient_std")

        local_gradient_std = d.pop("local_gradient_std")

        shared_dimension = d.pop("shared_dimension")

        noise_std = d.pop("noise_std")

        weighted_optimum_norm = d.pop("weighted_optimum_norm", UNSET)

        optimum_norm = d.pop("optimum_norm", UNSET)

        lipschitz = d.pop("lipschitz", UNSET)

        clipping_norm = d.pop("clipping_norm", UNSET)

        bound_inputs = cls(
            clients=clients,
            rounds=rounds,
            smoothness=smoothness,
            personalization=personalization,
            shared_gradient_std=shared_gradient_std,
            local_gradient_std=local_gradient_std,
            shared_dimension=shared_dimension,
            noise_std=noise_std,
            weighted_optimum_norm=weighted_optimum_norm,
            optimum_norm=optimum_norm,
            lipschitz=lipschitz,
            clipping_norm=clipping_norm,
        )

        return bound_inputs

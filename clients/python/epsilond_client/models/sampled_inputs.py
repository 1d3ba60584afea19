from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.group_of_users import GroupOfUsers


T = TypeVar("T", bound="SampledInputs")


@_attrs_define
class SampledInputs:
    """Clients drawn independently at rate q, at a finite α."""

    client_groups: list[GroupOfUsers]
    """ clients that are alike, as counts; what a group leaves out is as for all """
    rounds: int
    """ communication rounds """
    smoothness: float
    """ Lipschitz constant of the gradient """
    personalization: float
    """ step size of the shared part over N times that of a client's own part """
    shared_dimension: int
    """ coordinates of the shared part of the model """
    noise_std: float
    """ standard deviation per coordinate of the server's noise on the averaged shared gradient """
    participation_rate: float
    """ probability that a given record, or client where clients are drawn, is in a batch """
    weighted_optimum_norm: float | Unset = UNSET
    """ √(‖w*‖²/α + Σ‖θ_i*‖²), the distance that the bound pays for """
    optimum_norm: float | Unset = UNSET
    """ older name of weighted_optimum_norm here, √(‖w*‖²/α + Σ‖θ_i*‖²); give one of the two. Elsewhere optimum_norm
    is ‖v̄‖, the norm of the mean of the clients' own optima """

    def to_dict(self) -> dict[str, Any]:
        client_groups = []
        for client_groups_item_data in self.client_groups:
            client_groups_item = client_groups_item_data.to_dict()
            client_groups.append(client_groups_item)

        rounds = self.rounds

        smoothness = self.smoothness

        personalization = self.personalization

        shared_dimension = self.shared_dimension

        noise_std = self.noise_std

        participation_rate = self.participation_rate

        weighted_optimum_norm = self.weighted_optimum_norm

        optimum_norm = self.optimum_norm

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "client_groups": client_groups,
                "rounds": rounds,
                "smoothness": smoothness,
                "personalization": personalization,
                "shared_dimension": shared_dimension,
                "noise_std": noise_std,
                "participation_rate": participation_rate,
            }
        )
        if weighted_optimum_norm is not UNSET:
            field_dict["weighted_optimum_norm"] = weighted_optimum_norm
        if optimum_norm is not UNSET:
            field_dict["optimum_norm"] = optimum_norm

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.group_of_users import GroupOfUsers

        d = dict(src_dict)
        client_groups = []
        _client_groups = d.pop("client_groups")
        for client_groups_item_data in _client_groups:
            client_groups_item = GroupOfUsers.from_dict(client_groups_item_data)

            client_groups.append(client_groups_item)

        rounds = d.pop("rounds")

        smoothness = d.pop("smoothness")

        personalization = d.pop("personalization")

        shared_dimension = d.pop("shared_dimension")

        noise_std = d.pop("noise_std")

        participation_rate = d.pop("participation_rate")

        weighted_optimum_norm = d.pop("weighted_optimum_norm", UNSET)

        optimum_norm = d.pop("optimum_norm", UNSET)

        sampled_inputs = cls(
            client_groups=client_groups,
            rounds=rounds,
            smoothness=smoothness,
            personalization=personalization,
            shared_dimension=shared_dimension,
            noise_std=noise_std,
            participation_rate=participation_rate,
            weighted_optimum_norm=weighted_optimum_norm,
            optimum_norm=optimum_norm,
        )

        return sampled_inputs

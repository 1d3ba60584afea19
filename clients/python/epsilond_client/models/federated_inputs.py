from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.group_run import GroupRun
    from ..models.participation_count import ParticipationCount


T = TypeVar("T", bound="FederatedInputs")


@_attrs_define
class FederatedInputs:
    """A run of Algorithm 1 with a constant step size. Absent: smoothness means the envelope, the rest is the best."""

    client_groups: list[GroupRun]
    """ clients that are alike, as counts; what a group leaves out is as for all """
    participation: list[ParticipationCount]
    """ law of the number of clients that report in one round """
    rounds: int
    """ communication rounds """
    dimension: int
    """ coordinates of the model """
    initial_distance: float
    """ bound on the distance from the start to a minimiser """
    smoothness: float | Unset = UNSET
    """ Lipschitz constant of the gradient """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """
    step_size: float | Unset = UNSET
    """ step size """
    envelope_smoothness: float | Unset = UNSET
    """ smoothness of the Moreau envelope that stands in for the loss """

    def to_dict(self) -> dict[str, Any]:
        client_groups = []
        for client_groups_item_data in self.client_groups:
            client_groups_item = client_groups_item_data.to_dict()
            client_groups.append(client_groups_item)

        participation = []
        for participation_item_data in self.participation:
            participation_item = participation_item_data.to_dict()
            participation.append(participation_item)

        rounds = self.rounds

        dimension = self.dimension

        initial_distance = self.initial_distance

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        step_size = self.step_size

        envelope_smoothness = self.envelope_smoothness

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "client_groups": client_groups,
                "participation": participation,
                "rounds": rounds,
                "dimension": dimension,
                "initial_distance": initial_distance,
            }
        )
        if smoothness is not UNSET:
            field_dict["smoothness"] = smoothness
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if step_size is not UNSET:
            field_dict["step_size"] = step_size
        if envelope_smoothness is not UNSET:
            field_dict["envelope_smoothness"] = envelope_smoothness

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.group_run import GroupRun
        from ..models.participation_count import ParticipationCount

        d = dict(src_dict)
        client_groups = []
        _client_groups = d.pop("client_groups")
        for client_groups_item_data in _client_groups:
            client_groups_item = GroupRun.from_dict(client_groups_item_data)

            client_groups.append(client_groups_item)

        participation = []
        _participation = d.pop("participation")
        for participation_item_data in _participation:
            participation_item = ParticipationCount.from_dict(participation_item_data)

            participation.append(participation_item)

        rounds = d.pop("rounds")

        dimension = d.pop("dimension")

        initial_distance = d.pop("initial_distance")

        smoothness = d.pop("smoothness", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        step_size = d.pop("step_size", UNSET)

        envelope_smoothness = d.pop("envelope_smoothness", UNSET)

        federated_inputs = cls(
            client_groups=client_groups,
            participation=participation,
            rounds=rounds,
            dimension=dimension,
            initial_distance=initial_distance,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            step_size=step_size,
            envelope_smoothness=envelope_smoothness,
        )

        return federated_inputs

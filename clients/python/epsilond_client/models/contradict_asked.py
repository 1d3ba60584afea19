from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.observation import Observation


T = TypeVar("T", bound="ContradictAsked")


@_attrs_define
class ContradictAsked:
    """Observations that contradict a run which was paid from the ledger.

    Attributes:
        observations (list[Observation]): observations that contradict the run; at least one
        reservations (list[str] | Unset): ids of the reservations that paid for the run. Absent: all reservations with
            committed runs
    """

    observations: list[Observation]
    reservations: list[str] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        observations = []
        for observations_item_data in self.observations:
            observations_item = observations_item_data.to_dict()
            observations.append(observations_item)

        reservations: list[str] | Unset = UNSET
        if not isinstance(self.reservations, Unset):
            reservations = self.reservations

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "observations": observations,
            }
        )
        if reservations is not UNSET:
            field_dict["reservations"] = reservations

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.observation import Observation

        d = dict(src_dict)
        observations = []
        _observations = d.pop("observations")
        for observations_item_data in _observations:
            observations_item = Observation.from_dict(observations_item_data)

            observations.append(observations_item)

        reservations = cast(list[str], d.pop("reservations", UNSET))

        contradict_asked = cls(
            observations=observations,
            reservations=reservations,
        )

        return contradict_asked

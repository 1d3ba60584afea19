from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.simulation_summary import SimulationSummary


T = TypeVar("T", bound="SimulationList")


@_attrs_define
class SimulationList:
    """A page of simulations, newest first."""

    simulations: list[SimulationSummary] | Unset = UNSET
    next_: str | Unset = UNSET
    """ where older ones are; absent on the last page """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        simulations: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.simulations, Unset):
            simulations = []
            for simulations_item_data in self.simulations:
                simulations_item = simulations_item_data.to_dict()
                simulations.append(simulations_item)

        next_ = self.next_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if simulations is not UNSET:
            field_dict["simulations"] = simulations
        if next_ is not UNSET:
            field_dict["next"] = next_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.simulation_summary import SimulationSummary

        d = dict(src_dict)
        _simulations = d.pop("simulations", UNSET)
        simulations: list[SimulationSummary] | Unset = UNSET
        if _simulations is not UNSET:
            simulations = []
            for simulations_item_data in _simulations:
                simulations_item = SimulationSummary.from_dict(simulations_item_data)

                simulations.append(simulations_item)

        next_ = d.pop("next", UNSET)

        simulation_list = cls(
            simulations=simulations,
            next_=next_,
        )

        simulation_list.additional_properties = d
        return simulation_list

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties

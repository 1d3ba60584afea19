from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.sweep import Sweep


T = TypeVar("T", bound="SweepProblem")


@_attrs_define
class SweepProblem:
    """The fields of a calibration except the swept one, and `sweep` with the name and the values of that field.

    Attributes:
        sweep (Sweep): One field of a calibration and the values it takes.
    """

    sweep: Sweep
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        sweep = self.sweep.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "sweep": sweep,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.sweep import Sweep

        d = dict(src_dict)
        sweep = Sweep.from_dict(d.pop("sweep"))

        sweep_problem = cls(
            sweep=sweep,
        )

        sweep_problem.additional_properties = d
        return sweep_problem

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

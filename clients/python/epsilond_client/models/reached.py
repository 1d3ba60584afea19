from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.solve_for import SolveFor
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.tried import Tried


T = TypeVar("T", bound="Reached")


@_attrs_define
class Reached:
    """The smallest value found that reaches the risk, and the next smaller one, which does not.

    Attributes:
        solve_for (SolveFor):
        value (float):
        risk (float): the explicit bound at that value, certified; at most the risk asked for
        below (Tried | Unset): A value that was tried, and the bound on the risk there; absent where nothing is
            certified there.
        minimal (str | Unset): a still smaller value is excluded as far as the risk falls with it
    """

    solve_for: SolveFor
    value: float
    risk: float
    below: Tried | Unset = UNSET
    minimal: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        solve_for = self.solve_for.value

        value = self.value

        risk = self.risk

        below: dict[str, Any] | Unset = UNSET
        if not isinstance(self.below, Unset):
            below = self.below.to_dict()

        minimal = self.minimal

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "solve_for": solve_for,
                "value": value,
                "risk": risk,
            }
        )
        if below is not UNSET:
            field_dict["below"] = below
        if minimal is not UNSET:
            field_dict["minimal"] = minimal

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.tried import Tried

        d = dict(src_dict)
        solve_for = SolveFor(d.pop("solve_for"))

        value = d.pop("value")

        risk = d.pop("risk")

        _below = d.pop("below", UNSET)
        below: Tried | Unset
        if isinstance(_below, Unset):
            below = UNSET
        else:
            below = Tried.from_dict(_below)

        minimal = d.pop("minimal", UNSET)

        reached = cls(
            solve_for=solve_for,
            value=value,
            risk=risk,
            below=below,
            minimal=minimal,
        )

        reached.additional_properties = d
        return reached

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

from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.reached_solve_for import ReachedSolveFor, check_reached_solve_for
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.tried import Tried


T = TypeVar("T", bound="Reached")


@_attrs_define
class Reached:
    """The smallest value found that reaches the risk, and the next smaller one, which does not."""

    solve_for: ReachedSolveFor
    value: float
    risk: float
    """ the explicit bound at that value, certified; at most the risk asked for """
    below: Tried | Unset = UNSET
    """ A value that was tried, and the bound on the risk there; absent where nothing is certified there. """
    minimal: Literal["searched"] | Unset = UNSET
    """ a still smaller value is excluded as far as the risk falls with it """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        solve_for: str = self.solve_for

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
        solve_for = check_reached_solve_for(d.pop("solve_for"))

        value = d.pop("value")

        risk = d.pop("risk")

        _below = d.pop("below", UNSET)
        below: Tried | Unset
        if isinstance(_below, Unset):
            below = UNSET
        else:
            below = Tried.from_dict(_below)

        minimal = cast(Literal["searched"] | Unset, d.pop("minimal", UNSET))
        if minimal != "searched" and not isinstance(minimal, Unset):
            raise ValueError(f"minimal must match const 'searched', got '{minimal}'")

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

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.solve_for import SolveFor
from ..models.unbounded import Unbounded
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.tried import Tried


T = TypeVar("T", bound="Reached")


@_attrs_define
class Reached:
    """A value of the field that was solved for, with the bound on the excess risk there.

    Attributes:
        value (float):
        solve_for (SolveFor | Unset):
        risk (float | Unbounded | Unset): a number; "unbounded" or "-unbounded" if it is infinite
        below (Tried | Unset): A value of the field that was tried, with its risk bound; `risk` is absent if the value
            has no answer.
        minimal (str | Unset): searched: the value was found by a search. No smaller value suffices if the risk
            decreases as the field grows; this is not proved
    """

    value: float
    solve_for: SolveFor | Unset = UNSET
    risk: float | Unbounded | Unset = UNSET
    below: Tried | Unset = UNSET
    minimal: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        value = self.value

        solve_for: str | Unset = UNSET
        if not isinstance(self.solve_for, Unset):
            solve_for = self.solve_for.value

        risk: float | str | Unset
        if isinstance(self.risk, Unset):
            risk = UNSET
        elif isinstance(self.risk, Unbounded):
            risk = self.risk.value
        else:
            risk = self.risk

        below: dict[str, Any] | Unset = UNSET
        if not isinstance(self.below, Unset):
            below = self.below.to_dict()

        minimal = self.minimal

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "value": value,
            }
        )
        if solve_for is not UNSET:
            field_dict["solve_for"] = solve_for
        if risk is not UNSET:
            field_dict["risk"] = risk
        if below is not UNSET:
            field_dict["below"] = below
        if minimal is not UNSET:
            field_dict["minimal"] = minimal

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.tried import Tried

        d = dict(src_dict)
        value = d.pop("value")

        _solve_for = d.pop("solve_for", UNSET)
        solve_for: SolveFor | Unset
        if isinstance(_solve_for, Unset):
            solve_for = UNSET
        else:
            solve_for = SolveFor(_solve_for)

        def _parse_risk(data: object) -> float | Unbounded | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded | Unset, data)

        risk = _parse_risk(d.pop("risk", UNSET))

        _below = d.pop("below", UNSET)
        below: Tried | Unset
        if isinstance(_below, Unset):
            below = UNSET
        else:
            below = Tried.from_dict(_below)

        minimal = d.pop("minimal", UNSET)

        reached = cls(
            value=value,
            solve_for=solve_for,
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

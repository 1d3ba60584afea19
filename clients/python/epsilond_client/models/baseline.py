from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.unbounded import Unbounded
from ..types import UNSET, Unset

T = TypeVar("T", bound="Baseline")


@_attrs_define
class Baseline:
    """A bound on the risk of the initial model, before any training, to compare other bounds with.

    Attributes:
        value (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
        formula (str): formula of the bound; its symbols are those of the request's quantities
        theorem (str | Unset): id of the theorem that proves the bound. Absent: epsilond.excess-risk-of-the-start, or
            the given initial_gap
    """

    value: float | Unbounded
    formula: str
    theorem: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        value: float | str
        if isinstance(self.value, Unbounded):
            value = self.value.value
        else:
            value = self.value

        formula = self.formula

        theorem = self.theorem

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "value": value,
                "formula": formula,
            }
        )
        if theorem is not UNSET:
            field_dict["theorem"] = theorem

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_value(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        value = _parse_value(d.pop("value"))

        formula = d.pop("formula")

        theorem = d.pop("theorem", UNSET)

        baseline = cls(
            value=value,
            formula=formula,
            theorem=theorem,
        )

        baseline.additional_properties = d
        return baseline

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

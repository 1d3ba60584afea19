from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.risk_bound_constant import RiskBoundConstant, check_risk_bound_constant
from ..models.risk_bound_value_type_1 import (
    RiskBoundValueType1,
    check_risk_bound_value_type_1,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.risk_bound_terms import RiskBoundTerms


T = TypeVar("T", bound="RiskBound")


@_attrs_define
class RiskBound:
    """One side of the excess risk. A `hidden` constant makes the value a rate, never a bound, and never vacuous."""

    value: float | RiskBoundValueType1
    """ a number, or unbounded """
    constant: RiskBoundConstant
    theorem: str
    terms: RiskBoundTerms
    vacuous: bool | Unset = UNSET
    """ of an upper bound with explicit constants: whether it is no better than the baseline """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        value: float | str
        if isinstance(self.value, str):
            value = self.value
        else:
            value = self.value

        constant: str = self.constant

        theorem = self.theorem

        terms = self.terms.to_dict()

        vacuous = self.vacuous

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "value": value,
                "constant": constant,
                "theorem": theorem,
                "terms": terms,
            }
        )
        if vacuous is not UNSET:
            field_dict["vacuous"] = vacuous

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.risk_bound_terms import RiskBoundTerms

        d = dict(src_dict)

        def _parse_value(data: object) -> float | RiskBoundValueType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                value_type_1 = check_risk_bound_value_type_1(data)

                return value_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | RiskBoundValueType1, data)

        value = _parse_value(d.pop("value"))

        constant = check_risk_bound_constant(d.pop("constant"))

        theorem = d.pop("theorem")

        terms = RiskBoundTerms.from_dict(d.pop("terms"))

        vacuous = d.pop("vacuous", UNSET)

        risk_bound = cls(
            value=value,
            constant=constant,
            theorem=theorem,
            terms=terms,
            vacuous=vacuous,
        )

        risk_bound.additional_properties = d
        return risk_bound

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

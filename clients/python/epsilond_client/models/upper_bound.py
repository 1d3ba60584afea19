from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.upper_bound_constant import UpperBoundConstant, check_upper_bound_constant
from ..models.upper_bound_reading import UpperBoundReading, check_upper_bound_reading
from ..models.upper_bound_value_type_0_type_1 import (
    UpperBoundValueType0Type1,
    check_upper_bound_value_type_0_type_1,
)
from ..models.upper_bound_value_type_1 import (
    UpperBoundValueType1,
    check_upper_bound_value_type_1,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.condition_answer import ConditionAnswer
    from ..models.upper_bound_terms import UpperBoundTerms


T = TypeVar("T", bound="UpperBound")


@_attrs_define
class UpperBound:
    """A bound on the excess risk from above, or its order."""

    theorem: str
    reading: UpperBoundReading
    constant: UpperBoundConstant
    terms: UpperBoundTerms
    conditions: list[ConditionAnswer]
    value: float | Unset | UpperBoundValueType0Type1 | UpperBoundValueType1 = UNSET
    """ the bound; absent where a constant is hidden """
    scale: float | Unset = UNSET
    """ the order; absent where every constant is given, or where the statement gives none """
    vacuous: bool | Unset = UNSET
    """ whether the bound is no better than the baseline, and so says nothing """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        reading: str = self.reading

        constant: str = self.constant

        terms = self.terms.to_dict()

        conditions = []
        for conditions_item_data in self.conditions:
            conditions_item = conditions_item_data.to_dict()
            conditions.append(conditions_item)

        value: float | str | Unset
        if isinstance(self.value, Unset):
            value = UNSET
        elif isinstance(self.value, str) or isinstance(self.value, str):
            value = self.value
        else:
            value = self.value

        scale = self.scale

        vacuous = self.vacuous

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "reading": reading,
                "constant": constant,
                "terms": terms,
                "conditions": conditions,
            }
        )
        if value is not UNSET:
            field_dict["value"] = value
        if scale is not UNSET:
            field_dict["scale"] = scale
        if vacuous is not UNSET:
            field_dict["vacuous"] = vacuous

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.condition_answer import ConditionAnswer
        from ..models.upper_bound_terms import UpperBoundTerms

        d = dict(src_dict)
        theorem = d.pop("theorem")

        reading = check_upper_bound_reading(d.pop("reading"))

        constant = check_upper_bound_constant(d.pop("constant"))

        terms = UpperBoundTerms.from_dict(d.pop("terms"))

        conditions = []
        _conditions = d.pop("conditions")
        for conditions_item_data in _conditions:
            conditions_item = ConditionAnswer.from_dict(conditions_item_data)

            conditions.append(conditions_item)

        def _parse_value(data: object) -> float | Unset | UpperBoundValueType0Type1 | UpperBoundValueType1:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                value_type_0_type_1 = check_upper_bound_value_type_0_type_1(data)

                return value_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                value_type_1 = check_upper_bound_value_type_1(data)

                return value_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unset | UpperBoundValueType0Type1 | UpperBoundValueType1, data)

        value = _parse_value(d.pop("value", UNSET))

        scale = d.pop("scale", UNSET)

        vacuous = d.pop("vacuous", UNSET)

        upper_bound = cls(
            theorem=theorem,
            reading=reading,
            constant=constant,
            terms=terms,
            conditions=conditions,
            value=value,
            scale=scale,
            vacuous=vacuous,
        )

        upper_bound.additional_properties = d
        return upper_bound

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

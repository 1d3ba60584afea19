from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.condition_document_left_type_0_type_1 import (
    ConditionDocumentLeftType0Type1,
    check_condition_document_left_type_0_type_1,
)
from ..models.condition_document_left_type_1 import (
    ConditionDocumentLeftType1,
    check_condition_document_left_type_1,
)
from ..models.condition_document_right_type_0_type_1 import (
    ConditionDocumentRightType0Type1,
    check_condition_document_right_type_0_type_1,
)
from ..models.condition_document_right_type_1 import (
    ConditionDocumentRightType1,
    check_condition_document_right_type_1,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="ConditionDocument")


@_attrs_define
class ConditionDocument:
    """The condition that fails, with both sides where they are numbers."""

    id: str
    statement: str
    left: ConditionDocumentLeftType0Type1 | ConditionDocumentLeftType1 | float | Unset = UNSET
    """ left side """
    right: ConditionDocumentRightType0Type1 | ConditionDocumentRightType1 | float | Unset = UNSET
    """ right side """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        statement = self.statement

        left: float | str | Unset
        if isinstance(self.left, Unset):
            left = UNSET
        elif isinstance(self.left, str) or isinstance(self.left, str):
            left = self.left
        else:
            left = self.left

        right: float | str | Unset
        if isinstance(self.right, Unset):
            right = UNSET
        elif isinstance(self.right, str) or isinstance(self.right, str):
            right = self.right
        else:
            right = self.right

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "statement": statement,
            }
        )
        if left is not UNSET:
            field_dict["left"] = left
        if right is not UNSET:
            field_dict["right"] = right

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        statement = d.pop("statement")

        def _parse_left(data: object) -> ConditionDocumentLeftType0Type1 | ConditionDocumentLeftType1 | float | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                left_type_0_type_1 = check_condition_document_left_type_0_type_1(data)

                return left_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                left_type_1 = check_condition_document_left_type_1(data)

                return left_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ConditionDocumentLeftType0Type1 | ConditionDocumentLeftType1 | float | Unset, data)

        left = _parse_left(d.pop("left", UNSET))

        def _parse_right(
            data: object,
        ) -> ConditionDocumentRightType0Type1 | ConditionDocumentRightType1 | float | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                right_type_0_type_1 = check_condition_document_right_type_0_type_1(data)

                return right_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                right_type_1 = check_condition_document_right_type_1(data)

                return right_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ConditionDocumentRightType0Type1 | ConditionDocumentRightType1 | float | Unset, data)

        right = _parse_right(d.pop("right", UNSET))

        condition_document = cls(
            id=id,
            statement=statement,
            left=left,
            right=right,
        )

        condition_document.additional_properties = d
        return condition_document

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

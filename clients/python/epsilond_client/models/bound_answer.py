from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.bound_answer_constant import (
    BoundAnswerConstant,
    check_bound_answer_constant,
)
from ..models.bound_answer_holds import BoundAnswerHolds, check_bound_answer_holds
from ..models.bound_answer_ratio_type_0_type_1 import (
    BoundAnswerRatioType0Type1,
    check_bound_answer_ratio_type_0_type_1,
)
from ..models.bound_answer_ratio_type_1 import (
    BoundAnswerRatioType1,
    check_bound_answer_ratio_type_1,
)
from ..models.bound_answer_value_type_0_type_1 import (
    BoundAnswerValueType0Type1,
    check_bound_answer_value_type_0_type_1,
)
from ..models.bound_answer_value_type_1 import (
    BoundAnswerValueType1,
    check_bound_answer_value_type_1,
)
from ..models.status import Status, check_status
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.condition_result import ConditionResult


T = TypeVar("T", bound="BoundAnswer")


@_attrs_define
class BoundAnswer:
    """A theorem's bound on the mean excess risk at the run's own parameters, and whether the measurement obeys it."""

    theorem: str
    status: Status
    """ Whether the statement, read as it is used here, holds. """
    value: BoundAnswerValueType0Type1 | BoundAnswerValueType1 | float
    """ the bound; an order where the constant is hidden """
    quantity: str
    """ what it bounds the mean of: excess, of the output; or a diagnostic, by its name """
    constant: BoundAnswerConstant
    conditions: list[ConditionResult]
    compared: bool
    reason: str | Unset = UNSET
    """ why it is not compared """
    ratio: BoundAnswerRatioType0Type1 | BoundAnswerRatioType1 | float | Unset = UNSET
    """ bound over measured mean; absent where nothing is compared, and where both are below optimum_gap """
    holds: BoundAnswerHolds | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        status: str = self.status

        value: float | str
        if isinstance(self.value, str) or isinstance(self.value, str):
            value = self.value
        else:
            value = self.value

        quantity = self.quantity

        constant: str = self.constant

        conditions = []
        for conditions_item_data in self.conditions:
            conditions_item = conditions_item_data.to_dict()
            conditions.append(conditions_item)

        compared = self.compared

        reason = self.reason

        ratio: float | str | Unset
        if isinstance(self.ratio, Unset):
            ratio = UNSET
        elif isinstance(self.ratio, str) or isinstance(self.ratio, str):
            ratio = self.ratio
        else:
            ratio = self.ratio

        holds: str | Unset = UNSET
        if not isinstance(self.holds, Unset):
            holds = self.holds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "status": status,
                "value": value,
                "quantity": quantity,
                "constant": constant,
                "conditions": conditions,
                "compared": compared,
            }
        )
        if reason is not UNSET:
            field_dict["reason"] = reason
        if ratio is not UNSET:
            field_dict["ratio"] = ratio
        if holds is not UNSET:
            field_dict["holds"] = holds

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.condition_result import ConditionResult

        d = dict(src_dict)
        theorem = d.pop("theorem")

        status = check_status(d.pop("status"))

        def _parse_value(data: object) -> BoundAnswerValueType0Type1 | BoundAnswerValueType1 | float:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                value_type_0_type_1 = check_bound_answer_value_type_0_type_1(data)

                return value_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                value_type_1 = check_bound_answer_value_type_1(data)

                return value_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(BoundAnswerValueType0Type1 | BoundAnswerValueType1 | float, data)

        value = _parse_value(d.pop("value"))

        quantity = d.pop("quantity")

        constant = check_bound_answer_constant(d.pop("constant"))

        conditions = []
        _conditions = d.pop("conditions")
        for conditions_item_data in _conditions:
            conditions_item = ConditionResult.from_dict(conditions_item_data)

            conditions.append(conditions_item)

        compared = d.pop("compared")

        reason = d.pop("reason", UNSET)

        def _parse_ratio(data: object) -> BoundAnswerRatioType0Type1 | BoundAnswerRatioType1 | float | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ratio_type_0_type_1 = check_bound_answer_ratio_type_0_type_1(data)

                return ratio_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ratio_type_1 = check_bound_answer_ratio_type_1(data)

                return ratio_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(BoundAnswerRatioType0Type1 | BoundAnswerRatioType1 | float | Unset, data)

        ratio = _parse_ratio(d.pop("ratio", UNSET))

        _holds = d.pop("holds", UNSET)
        holds: BoundAnswerHolds | Unset
        if isinstance(_holds, Unset):
            holds = UNSET
        else:
            holds = check_bound_answer_holds(_holds)

        bound_answer = cls(
            theorem=theorem,
            status=status,
            value=value,
            quantity=quantity,
            constant=constant,
            conditions=conditions,
            compared=compared,
            reason=reason,
            ratio=ratio,
            holds=holds,
        )

        bound_answer.additional_properties = d
        return bound_answer

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

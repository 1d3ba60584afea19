from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.calibration import Calibration
    from ..models.problem import Problem


T = TypeVar("T", bound="AtValue")


@_attrs_define
class AtValue:
    """The answer at one value of the swept field, or the problem with this value.

    Attributes:
        value (Any):
        answer (Calibration | Unset): The answer to a calibration: the parameters to run with, their certified
            guarantee, and its proof.
        problem (Problem | Unset): A problem document (RFC 9457): the reason why a request was rejected or failed.
    """

    value: Any
    answer: Calibration | Unset = UNSET
    problem: Problem | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        value = self.value

        answer: dict[str, Any] | Unset = UNSET
        if not isinstance(self.answer, Unset):
            answer = self.answer.to_dict()

        problem: dict[str, Any] | Unset = UNSET
        if not isinstance(self.problem, Unset):
            problem = self.problem.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "value": value,
            }
        )
        if answer is not UNSET:
            field_dict["answer"] = answer
        if problem is not UNSET:
            field_dict["problem"] = problem

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.calibration import Calibration
        from ..models.problem import Problem

        d = dict(src_dict)
        value = d.pop("value")

        _answer = d.pop("answer", UNSET)
        answer: Calibration | Unset
        if isinstance(_answer, Unset):
            answer = UNSET
        else:
            answer = Calibration.from_dict(_answer)

        _problem = d.pop("problem", UNSET)
        problem: Problem | Unset
        if isinstance(_problem, Unset):
            problem = UNSET
        else:
            problem = Problem.from_dict(_problem)

        at_value = cls(
            value=value,
            answer=answer,
            problem=problem,
        )

        at_value.additional_properties = d
        return at_value

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

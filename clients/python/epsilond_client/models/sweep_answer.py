from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.at_value import AtValue
    from ..models.sweep import Sweep


T = TypeVar("T", bound="SweepAnswer")


@_attrs_define
class SweepAnswer:
    """The answers of a calibration at many values, in their order.

    Attributes:
        algorithm (str):
        sweep (Sweep): One field of a calibration and the values it takes.
        answers (list[AtValue]):
    """

    algorithm: str
    sweep: Sweep
    answers: list[AtValue]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        algorithm = self.algorithm

        sweep = self.sweep.to_dict()

        answers = []
        for answers_item_data in self.answers:
            answers_item = answers_item_data.to_dict()
            answers.append(answers_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "algorithm": algorithm,
                "sweep": sweep,
                "answers": answers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.at_value import AtValue
        from ..models.sweep import Sweep

        d = dict(src_dict)
        algorithm = d.pop("algorithm")

        sweep = Sweep.from_dict(d.pop("sweep"))

        answers = []
        _answers = d.pop("answers")
        for answers_item_data in _answers:
            answers_item = AtValue.from_dict(answers_item_data)

            answers.append(answers_item)

        sweep_answer = cls(
            algorithm=algorithm,
            sweep=sweep,
            answers=answers,
        )

        sweep_answer.additional_properties = d
        return sweep_answer

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

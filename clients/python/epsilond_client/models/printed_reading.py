from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.printed_reading_reading import (
    PrintedReadingReading,
    check_printed_reading_reading,
)
from ..models.status import Status, check_status
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.claims import Claims
    from ..models.condition_answer import ConditionAnswer
    from ..models.evaluation_asked import EvaluationAsked
    from ..models.printed_reading_parameters import PrintedReadingParameters
    from ..models.true_figures import TrueFigures


T = TypeVar("T", bound="PrintedReading")


@_attrs_define
class PrintedReading:
    """One reading of the printed statement: its parameters, its claims, and the truth there."""

    theorem: str
    reading: PrintedReadingReading
    status: Status
    """ Whether the statement, read as it is used here, holds. """
    parameters: PrintedReadingParameters
    claims: Claims
    """ What the printed statement promises at its parameters. The last three stand where it claims a risk. """
    conditions: list[ConditionAnswer]
    true_: TrueFigures | Unset = UNSET
    """ What is really guaranteed at the printed parameters. """
    reason: str | Unset = UNSET
    """ why the status is not proved, where it depends on the request """
    evaluations: list[EvaluationAsked] | Unset = UNSET
    """ the registered evaluations that the parameters and the claimed risk are of """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        reading: str = self.reading

        status: str = self.status

        parameters = self.parameters.to_dict()

        claims = self.claims.to_dict()

        conditions = []
        for conditions_item_data in self.conditions:
            conditions_item = conditions_item_data.to_dict()
            conditions.append(conditions_item)

        true_: dict[str, Any] | Unset = UNSET
        if not isinstance(self.true_, Unset):
            true_ = self.true_.to_dict()

        reason = self.reason

        evaluations: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.evaluations, Unset):
            evaluations = []
            for evaluations_item_data in self.evaluations:
                evaluations_item = evaluations_item_data.to_dict()
                evaluations.append(evaluations_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "reading": reading,
                "status": status,
                "parameters": parameters,
                "claims": claims,
                "conditions": conditions,
            }
        )
        if true_ is not UNSET:
            field_dict["true"] = true_
        if reason is not UNSET:
            field_dict["reason"] = reason
        if evaluations is not UNSET:
            field_dict["evaluations"] = evaluations

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.claims import Claims
        from ..models.condition_answer import ConditionAnswer
        from ..models.evaluation_asked import EvaluationAsked
        from ..models.printed_reading_parameters import PrintedReadingParameters
        from ..models.true_figures import TrueFigures

        d = dict(src_dict)
        theorem = d.pop("theorem")

        reading = check_printed_reading_reading(d.pop("reading"))

        status = check_status(d.pop("status"))

        parameters = PrintedReadingParameters.from_dict(d.pop("parameters"))

        claims = Claims.from_dict(d.pop("claims"))

        conditions = []
        _conditions = d.pop("conditions")
        for conditions_item_data in _conditions:
            conditions_item = ConditionAnswer.from_dict(conditions_item_data)

            conditions.append(conditions_item)

        _true_ = d.pop("true", UNSET)
        true_: TrueFigures | Unset
        if isinstance(_true_, Unset):
            true_ = UNSET
        else:
            true_ = TrueFigures.from_dict(_true_)

        reason = d.pop("reason", UNSET)

        _evaluations = d.pop("evaluations", UNSET)
        evaluations: list[EvaluationAsked] | Unset = UNSET
        if _evaluations is not UNSET:
            evaluations = []
            for evaluations_item_data in _evaluations:
                evaluations_item = EvaluationAsked.from_dict(evaluations_item_data)

                evaluations.append(evaluations_item)

        printed_reading = cls(
            theorem=theorem,
            reading=reading,
            status=status,
            parameters=parameters,
            claims=claims,
            conditions=conditions,
            true_=true_,
            reason=reason,
            evaluations=evaluations,
        )

        printed_reading.additional_properties = d
        return printed_reading

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

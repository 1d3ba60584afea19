from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.condition import Condition
    from ..models.considered_answer import ConsideredAnswer
    from ..models.field_error import FieldError
    from ..models.observation import Observation
    from ..models.values import Values


T = TypeVar("T", bound="Problem")


@_attrs_define
class Problem:
    """A problem document (RFC 9457): the reason why a request was rejected or failed.

    Attributes:
        type_ (str):
        title (str):
        status (int):
        detail (str):
        errors (list[FieldError] | Unset):
        condition (Condition | Unset): A condition of a theorem or of a guarantee. If it was evaluated, it has the
            values of both sides.
        nearest (Values | Unset): numbers or texts by name
        considered (list[ConsideredAnswer] | Unset): theorems that were tried, each with the reason why it was rejected
        observations (list[Observation] | Unset): observations that contradict the record of a run
    """

    type_: str
    title: str
    status: int
    detail: str
    errors: list[FieldError] | Unset = UNSET
    condition: Condition | Unset = UNSET
    nearest: Values | Unset = UNSET
    considered: list[ConsideredAnswer] | Unset = UNSET
    observations: list[Observation] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        title = self.title

        status = self.status

        detail = self.detail

        errors: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.errors, Unset):
            errors = []
            for errors_item_data in self.errors:
                errors_item = errors_item_data.to_dict()
                errors.append(errors_item)

        condition: dict[str, Any] | Unset = UNSET
        if not isinstance(self.condition, Unset):
            condition = self.condition.to_dict()

        nearest: dict[str, Any] | Unset = UNSET
        if not isinstance(self.nearest, Unset):
            nearest = self.nearest.to_dict()

        considered: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.considered, Unset):
            considered = []
            for considered_item_data in self.considered:
                considered_item = considered_item_data.to_dict()
                considered.append(considered_item)

        observations: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.observations, Unset):
            observations = []
            for observations_item_data in self.observations:
                observations_item = observations_item_data.to_dict()
                observations.append(observations_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "title": title,
                "status": status,
                "detail": detail,
            }
        )
        if errors is not UNSET:
            field_dict["errors"] = errors
        if condition is not UNSET:
            field_dict["condition"] = condition
        if nearest is not UNSET:
            field_dict["nearest"] = nearest
        if considered is not UNSET:
            field_dict["considered"] = considered
        if observations is not UNSET:
            field_dict["observations"] = observations

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.condition import Condition
        from ..models.considered_answer import ConsideredAnswer
        from ..models.field_error import FieldError
        from ..models.observation import Observation
        from ..models.values import Values

        d = dict(src_dict)
        type_ = d.pop("type")

        title = d.pop("title")

        status = d.pop("status")

        detail = d.pop("detail")

        _errors = d.pop("errors", UNSET)
        errors: list[FieldError] | Unset = UNSET
        if _errors is not UNSET:
            errors = []
            for errors_item_data in _errors:
                errors_item = FieldError.from_dict(errors_item_data)

                errors.append(errors_item)

        _condition = d.pop("condition", UNSET)
        condition: Condition | Unset
        if isinstance(_condition, Unset):
            condition = UNSET
        else:
            condition = Condition.from_dict(_condition)

        _nearest = d.pop("nearest", UNSET)
        nearest: Values | Unset
        if isinstance(_nearest, Unset):
            nearest = UNSET
        else:
            nearest = Values.from_dict(_nearest)

        _considered = d.pop("considered", UNSET)
        considered: list[ConsideredAnswer] | Unset = UNSET
        if _considered is not UNSET:
            considered = []
            for considered_item_data in _considered:
                considered_item = ConsideredAnswer.from_dict(considered_item_data)

                considered.append(considered_item)

        _observations = d.pop("observations", UNSET)
        observations: list[Observation] | Unset = UNSET
        if _observations is not UNSET:
            observations = []
            for observations_item_data in _observations:
                observations_item = Observation.from_dict(observations_item_data)

                observations.append(observations_item)

        problem = cls(
            type_=type_,
            title=title,
            status=status,
            detail=detail,
            errors=errors,
            condition=condition,
            nearest=nearest,
            considered=considered,
            observations=observations,
        )

        problem.additional_properties = d
        return problem

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

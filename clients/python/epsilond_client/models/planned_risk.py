from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.planned_risk_constant import (
    PlannedRiskConstant,
    check_planned_risk_constant,
)
from ..models.planned_risk_objective import (
    PlannedRiskObjective,
    check_planned_risk_objective,
)
from ..models.planned_risk_value_type_1 import (
    PlannedRiskValueType1,
    check_planned_risk_value_type_1,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.baseline import Baseline


T = TypeVar("T", bound="PlannedRisk")


@_attrs_define
class PlannedRisk:
    """An upper bound on the excess risk. An order with a hidden constant, and a vacuous bound, are never ranked."""

    value: float | PlannedRiskValueType1
    """ a number, or unbounded """
    constant: PlannedRiskConstant
    theorem: str
    objective: PlannedRiskObjective | Unset = UNSET
    baseline: Baseline | Unset = UNSET
    """ What doing nothing gives: a bound that holds for the start itself, before any training. """
    vacuous: bool | Unset = UNSET
    """ whether the bound is no better than the baseline, and so says nothing """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        value: float | str
        if isinstance(self.value, str):
            value = self.value
        else:
            value = self.value

        constant: str = self.constant

        theorem = self.theorem

        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective

        baseline: dict[str, Any] | Unset = UNSET
        if not isinstance(self.baseline, Unset):
            baseline = self.baseline.to_dict()

        vacuous = self.vacuous

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "value": value,
                "constant": constant,
                "theorem": theorem,
            }
        )
        if objective is not UNSET:
            field_dict["objective"] = objective
        if baseline is not UNSET:
            field_dict["baseline"] = baseline
        if vacuous is not UNSET:
            field_dict["vacuous"] = vacuous

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.baseline import Baseline

        d = dict(src_dict)

        def _parse_value(data: object) -> float | PlannedRiskValueType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                value_type_1 = check_planned_risk_value_type_1(data)

                return value_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | PlannedRiskValueType1, data)

        value = _parse_value(d.pop("value"))

        constant = check_planned_risk_constant(d.pop("constant"))

        theorem = d.pop("theorem")

        _objective = d.pop("objective", UNSET)
        objective: PlannedRiskObjective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = check_planned_risk_objective(_objective)

        _baseline = d.pop("baseline", UNSET)
        baseline: Baseline | Unset
        if isinstance(_baseline, Unset):
            baseline = UNSET
        else:
            baseline = Baseline.from_dict(_baseline)

        vacuous = d.pop("vacuous", UNSET)

        planned_risk = cls(
            value=value,
            constant=constant,
            theorem=theorem,
            objective=objective,
            baseline=baseline,
            vacuous=vacuous,
        )

        planned_risk.additional_properties = d
        return planned_risk

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

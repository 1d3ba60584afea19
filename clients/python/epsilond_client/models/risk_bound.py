from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.constant_kind import ConstantKind
from ..models.definition import Definition
from ..models.objective import Objective
from ..models.reading import Reading
from ..models.status import Status
from ..models.unbounded import Unbounded
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.baseline import Baseline
    from ..models.condition import Condition
    from ..models.numbers import Numbers


T = TypeVar("T", bound="RiskBound")


@_attrs_define
class RiskBound:
    """An upper or lower bound on the excess risk by `theorem`, with the `terms` that it consists of. If `constant` is
    `hidden`, the theorem leaves a constant factor open, and the bound is only an order of growth.

        Attributes:
            theorem (str):
            trust (Definition | Unset):
            problem (Objective | Unset):
            constant (ConstantKind | Unset):
            scale (float | Unset): order of growth of the bound, up to a hidden constant. Absent if all constants are given,
                or if the theorem states no order
            terms (Numbers | Unset): numbers by name
            conditions (list[Condition] | Unset):
            value (float | Unbounded | Unset): a number; "unbounded" or "-unbounded" if it is infinite
            objective (Objective | Unset):
            baseline (Baseline | Unset): A bound on the risk of the initial model, before any training, to compare other
                bounds with.
            vacuous (bool | Unset): Depends on the object:

                - true: the bound is not below the baseline and carries no information
                - true: the upper bound is not below the baseline and carries no information. Absent for a bound with a hidden
                constant
            reading (Reading | Unset):
            status (Status | Unset): Whether the statement, read as it is used here, holds.
    """

    theorem: str
    trust: Definition | Unset = UNSET
    problem: Objective | Unset = UNSET
    constant: ConstantKind | Unset = UNSET
    scale: float | Unset = UNSET
    terms: Numbers | Unset = UNSET
    conditions: list[Condition] | Unset = UNSET
    value: float | Unbounded | Unset = UNSET
    objective: Objective | Unset = UNSET
    baseline: Baseline | Unset = UNSET
    vacuous: bool | Unset = UNSET
    reading: Reading | Unset = UNSET
    status: Status | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        trust: str | Unset = UNSET
        if not isinstance(self.trust, Unset):
            trust = self.trust.value

        problem: str | Unset = UNSET
        if not isinstance(self.problem, Unset):
            problem = self.problem.value

        constant: str | Unset = UNSET
        if not isinstance(self.constant, Unset):
            constant = self.constant.value

        scale = self.scale

        terms: dict[str, Any] | Unset = UNSET
        if not isinstance(self.terms, Unset):
            terms = self.terms.to_dict()

        conditions: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.conditions, Unset):
            conditions = []
            for conditions_item_data in self.conditions:
                conditions_item = conditions_item_data.to_dict()
                conditions.append(conditions_item)

        value: float | str | Unset
        if isinstance(self.value, Unset):
            value = UNSET
        elif isinstance(self.value, Unbounded):
            value = self.value.value
        else:
            value = self.value

        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective.value

        baseline: dict[str, Any] | Unset = UNSET
        if not isinstance(self.baseline, Unset):
            baseline = self.baseline.to_dict()

        vacuous = self.vacuous

        reading: str | Unset = UNSET
        if not isinstance(self.reading, Unset):
            reading = self.reading.value

        status: str | Unset = UNSET
        if not isinstance(self.status, Unset):
            status = self.status.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
            }
        )
        if trust is not UNSET:
            field_dict["trust"] = trust
        if problem is not UNSET:
            field_dict["problem"] = problem
        if constant is not UNSET:
            field_dict["constant"] = constant
        if scale is not UNSET:
            field_dict["scale"] = scale
        if terms is not UNSET:
            field_dict["terms"] = terms
        if conditions is not UNSET:
            field_dict["conditions"] = conditions
        if value is not UNSET:
            field_dict["value"] = value
        if objective is not UNSET:
            field_dict["objective"] = objective
        if baseline is not UNSET:
            field_dict["baseline"] = baseline
        if vacuous is not UNSET:
            field_dict["vacuous"] = vacuous
        if reading is not UNSET:
            field_dict["reading"] = reading
        if status is not UNSET:
            field_dict["status"] = status

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.baseline import Baseline
        from ..models.condition import Condition
        from ..models.numbers import Numbers

        d = dict(src_dict)
        theorem = d.pop("theorem")

        _trust = d.pop("trust", UNSET)
        trust: Definition | Unset
        if isinstance(_trust, Unset):
            trust = UNSET
        else:
            trust = Definition(_trust)

        _problem = d.pop("problem", UNSET)
        problem: Objective | Unset
        if isinstance(_problem, Unset):
            problem = UNSET
        else:
            problem = Objective(_problem)

        _constant = d.pop("constant", UNSET)
        constant: ConstantKind | Unset
        if isinstance(_constant, Unset):
            constant = UNSET
        else:
            constant = ConstantKind(_constant)

        scale = d.pop("scale", UNSET)

        _terms = d.pop("terms", UNSET)
        terms: Numbers | Unset
        if isinstance(_terms, Unset):
            terms = UNSET
        else:
            terms = Numbers.from_dict(_terms)

        _conditions = d.pop("conditions", UNSET)
        conditions: list[Condition] | Unset = UNSET
        if _conditions is not UNSET:
            conditions = []
            for conditions_item_data in _conditions:
                conditions_item = Condition.from_dict(conditions_item_data)

                conditions.append(conditions_item)

        def _parse_value(data: object) -> float | Unbounded | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded | Unset, data)

        value = _parse_value(d.pop("value", UNSET))

        _objective = d.pop("objective", UNSET)
        objective: Objective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = Objective(_objective)

        _baseline = d.pop("baseline", UNSET)
        baseline: Baseline | Unset
        if isinstance(_baseline, Unset):
            baseline = UNSET
        else:
            baseline = Baseline.from_dict(_baseline)

        vacuous = d.pop("vacuous", UNSET)

        _reading = d.pop("reading", UNSET)
        reading: Reading | Unset
        if isinstance(_reading, Unset):
            reading = UNSET
        else:
            reading = Reading(_reading)

        _status = d.pop("status", UNSET)
        status: Status | Unset
        if isinstance(_status, Unset):
            status = UNSET
        else:
            status = Status(_status)

        risk_bound = cls(
            theorem=theorem,
            trust=trust,
            problem=problem,
            constant=constant,
            scale=scale,
            terms=terms,
            conditions=conditions,
            value=value,
            objective=objective,
            baseline=baseline,
            vacuous=vacuous,
            reading=reading,
            status=status,
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

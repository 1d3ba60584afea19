from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.lower_bound_problem import LowerBoundProblem, check_lower_bound_problem
from ..models.lower_bound_trust import LowerBoundTrust, check_lower_bound_trust
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.condition_answer import ConditionAnswer
    from ..models.lower_bound_terms import LowerBoundTerms


T = TypeVar("T", bound="LowerBound")


@_attrs_define
class LowerBound:
    """The order of the least excess risk that any algorithm of its class can have. Its constant is hidden."""

    theorem: str
    trust: LowerBoundTrust
    problem: LowerBoundProblem
    scale: float
    terms: LowerBoundTerms
    conditions: list[ConditionAnswer]
    constant: Literal["hidden"] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        trust: str = self.trust

        problem: str = self.problem

        scale = self.scale

        terms = self.terms.to_dict()

        conditions = []
        for conditions_item_data in self.conditions:
            conditions_item = conditions_item_data.to_dict()
            conditions.append(conditions_item)

        constant = self.constant

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "trust": trust,
                "problem": problem,
                "scale": scale,
                "terms": terms,
                "conditions": conditions,
            }
        )
        if constant is not UNSET:
            field_dict["constant"] = constant

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.condition_answer import ConditionAnswer
        from ..models.lower_bound_terms import LowerBoundTerms

        d = dict(src_dict)
        theorem = d.pop("theorem")

        trust = check_lower_bound_trust(d.pop("trust"))

        problem = check_lower_bound_problem(d.pop("problem"))

        scale = d.pop("scale")

        terms = LowerBoundTerms.from_dict(d.pop("terms"))

        conditions = []
        _conditions = d.pop("conditions")
        for conditions_item_data in _conditions:
            conditions_item = ConditionAnswer.from_dict(conditions_item_data)

            conditions.append(conditions_item)

        constant = cast(Literal["hidden"] | Unset, d.pop("constant", UNSET))
        if constant != "hidden" and not isinstance(constant, Unset):
            raise ValueError(f"constant must match const 'hidden', got '{constant}'")

        lower_bound = cls(
            theorem=theorem,
            trust=trust,
            problem=problem,
            scale=scale,
            terms=terms,
            conditions=conditions,
            constant=constant,
        )

        lower_bound.additional_properties = d
        return lower_bound

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

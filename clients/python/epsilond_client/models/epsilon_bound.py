from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.rule_answer import RuleAnswer


T = TypeVar("T", bound="EpsilonBound")


@_attrs_define
class EpsilonBound:
    """A lower bound on ε at the audit's δ; nothing is assumed of the mechanism."""

    lower: float
    test: RuleAnswer
    """ The test that gave a bound, and its counts on the half of the samples that did not choose it. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lower = self.lower

        test = self.test.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lower": lower,
                "test": test,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.rule_answer import RuleAnswer

        d = dict(src_dict)
        lower = d.pop("lower")

        test = RuleAnswer.from_dict(d.pop("test"))

        epsilon_bound = cls(
            lower=lower,
            test=test,
        )

        epsilon_bound.additional_properties = d
        return epsilon_bound

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

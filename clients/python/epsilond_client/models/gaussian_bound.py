from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.rule_answer import RuleAnswer


T = TypeVar("T", bound="GaussianBound")


@_attrs_define
class GaussianBound:
    """A lower bound on μ of Gaussian differential privacy; nothing is assumed for that."""

    mu_lower: float
    test: RuleAnswer
    """ The test that gave a bound, and its counts on the half of the samples that did not choose it. """
    epsilon_if_gaussian: float
    """ ε at the audit's δ of a Gaussian mechanism with that μ: a bound only where the mechanism is Gaussian """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        mu_lower = self.mu_lower

        test = self.test.to_dict()

        epsilon_if_gaussian = self.epsilon_if_gaussian

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "mu_lower": mu_lower,
                "test": test,
                "epsilon_if_gaussian": epsilon_if_gaussian,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.rule_answer import RuleAnswer

        d = dict(src_dict)
        mu_lower = d.pop("mu_lower")

        test = RuleAnswer.from_dict(d.pop("test"))

        epsilon_if_gaussian = d.pop("epsilon_if_gaussian")

        gaussian_bound = cls(
            mu_lower=mu_lower,
            test=test,
            epsilon_if_gaussian=epsilon_if_gaussian,
        )

        gaussian_bound.additional_properties = d
        return gaussian_bound

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

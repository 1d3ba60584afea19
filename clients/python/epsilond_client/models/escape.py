from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.escape_epsilon_lower_type_0_type_1 import (
    EscapeEpsilonLowerType0Type1,
    check_escape_epsilon_lower_type_0_type_1,
)
from ..models.escape_epsilon_lower_type_1 import (
    EscapeEpsilonLowerType1,
    check_escape_epsilon_lower_type_1,
)

T = TypeVar("T", bound="Escape")


@_attrs_define
class Escape:
    """Outputs that the other data set cannot give, by the support of the noise that is drawn."""

    probability_lower: float
    """ lower bound on their probability: δ is at least that at every ε """
    observed: int
    """ among all runs on both data sets """
    epsilon_lower: EscapeEpsilonLowerType0Type1 | EscapeEpsilonLowerType1 | float
    """ unbounded where that probability is above δ, so that no ε holds; else 0 """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        probability_lower = self.probability_lower

        observed = self.observed

        epsilon_lower: float | str
        if isinstance(self.epsilon_lower, str) or isinstance(self.epsilon_lower, str):
            epsilon_lower = self.epsilon_lower
        else:
            epsilon_lower = self.epsilon_lower

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "probability_lower": probability_lower,
                "observed": observed,
                "epsilon_lower": epsilon_lower,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        probability_lower = d.pop("probability_lower")

        observed = d.pop("observed")

        def _parse_epsilon_lower(data: object) -> EscapeEpsilonLowerType0Type1 | EscapeEpsilonLowerType1 | float:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                epsilon_lower_type_0_type_1 = check_escape_epsilon_lower_type_0_type_1(data)

                return epsilon_lower_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                epsilon_lower_type_1 = check_escape_epsilon_lower_type_1(data)

                return epsilon_lower_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EscapeEpsilonLowerType0Type1 | EscapeEpsilonLowerType1 | float, data)

        epsilon_lower = _parse_epsilon_lower(d.pop("epsilon_lower"))

        escape = cls(
            probability_lower=probability_lower,
            observed=observed,
            epsilon_lower=epsilon_lower,
        )

        escape.additional_properties = d
        return escape

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

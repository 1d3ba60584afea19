from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.claim_checked_ratio_type_1 import (
    ClaimCheckedRatioType1,
    check_claim_checked_ratio_type_1,
)

T = TypeVar("T", bound="ClaimChecked")


@_attrs_define
class ClaimChecked:
    """What the audit and the certificate say of a claimed ε at the audit's δ."""

    epsilon: float
    violated: bool | Literal["undecidable"]
    """ true: the samples disprove it; false: it is certified; undecidable: neither """
    delta_lower: float
    """ lower bound on the true δ at the claimed ε, from the samples """
    ratio: ClaimCheckedRatioType1 | float
    """ lower bound on ε over the claimed ε: above 1 is a violation """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        violated: bool | Literal["undecidable"]
        violated = self.violated

        delta_lower = self.delta_lower

        ratio: float | str
        if isinstance(self.ratio, str):
            ratio = self.ratio
        else:
            ratio = self.ratio

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "epsilon": epsilon,
                "violated": violated,
                "delta_lower": delta_lower,
                "ratio": ratio,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        def _parse_violated(data: object) -> bool | Literal["undecidable"]:
            violated_type_1 = cast(Literal["undecidable"], data)
            if violated_type_1 != "undecidable":
                raise ValueError(f"violated_type_1 must match const 'undecidable', got '{violated_type_1}'")
            return violated_type_1
            return cast(bool | Literal["undecidable"], data)

        violated = _parse_violated(d.pop("violated"))

        delta_lower = d.pop("delta_lower")

        def _parse_ratio(data: object) -> ClaimCheckedRatioType1 | float:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ratio_type_1 = check_claim_checked_ratio_type_1(data)

                return ratio_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ClaimCheckedRatioType1 | float, data)

        ratio = _parse_ratio(d.pop("ratio"))

        claim_checked = cls(
            epsilon=epsilon,
            violated=violated,
            delta_lower=delta_lower,
            ratio=ratio,
        )

        claim_checked.additional_properties = d
        return claim_checked

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

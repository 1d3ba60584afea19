from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.ends import Ends


T = TypeVar("T", bound="TrueAtPrinted")


@_attrs_define
class TrueAtPrinted:
    """The certified guarantee at the printed parameters: ε at the target δ, and log10 δ at the target ε.

    Both are rounded outward to 6 significant digits.

        Attributes:
            epsilon (Ends): A lower and an upper bound, between which the true value is.
            log10_delta (Ends): A lower and an upper bound, between which the true value is.
            log10_one_minus_delta (float | Unset): base-10 logarithm of 1 − δ; absent unless δ is near 1
    """

    epsilon: Ends
    log10_delta: Ends
    log10_one_minus_delta: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon.to_dict()

        log10_delta = self.log10_delta.to_dict()

        log10_one_minus_delta = self.log10_one_minus_delta

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "epsilon": epsilon,
                "log10_delta": log10_delta,
            }
        )
        if log10_one_minus_delta is not UNSET:
            field_dict["log10_one_minus_delta"] = log10_one_minus_delta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends

        d = dict(src_dict)
        epsilon = Ends.from_dict(d.pop("epsilon"))

        log10_delta = Ends.from_dict(d.pop("log10_delta"))

        log10_one_minus_delta = d.pop("log10_one_minus_delta", UNSET)

        true_at_printed = cls(
            epsilon=epsilon,
            log10_delta=log10_delta,
            log10_one_minus_delta=log10_one_minus_delta,
        )

        true_at_printed.additional_properties = d
        return true_at_printed

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

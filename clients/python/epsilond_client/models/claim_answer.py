from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.verdict import Verdict
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.ends import Ends


T = TypeVar("T", bound="ClaimAnswer")


@_attrs_define
class ClaimAnswer:
    """Verdict on a claimed (ε, δ). It is `undecidable` if the claim is between the upper and the lower bound.

    Attributes:
        holds (Verdict): Whether a statement is true: `yes`, `no`, or `undecidable` from what is known.
        epsilon (float):
        log10_delta (float):
        margin_epsilon (Ends): A lower and an upper bound, between which the true value is.
        margin_log10_delta (Ends): A lower and an upper bound, between which the true value is.
        delta (float | Unset): claimed δ; absent if it is too small for a double
    """

    holds: Verdict
    epsilon: float
    log10_delta: float
    margin_epsilon: Ends
    margin_log10_delta: Ends
    delta: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        holds = self.holds.value

        epsilon = self.epsilon

        log10_delta = self.log10_delta

        margin_epsilon = self.margin_epsilon.to_dict()

        margin_log10_delta = self.margin_log10_delta.to_dict()

        delta = self.delta

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "holds": holds,
                "epsilon": epsilon,
                "log10_delta": log10_delta,
                "margin_epsilon": margin_epsilon,
                "margin_log10_delta": margin_log10_delta,
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends

        d = dict(src_dict)
        holds = Verdict(d.pop("holds"))

        epsilon = d.pop("epsilon")

        log10_delta = d.pop("log10_delta")

        margin_epsilon = Ends.from_dict(d.pop("margin_epsilon"))

        margin_log10_delta = Ends.from_dict(d.pop("margin_log10_delta"))

        delta = d.pop("delta", UNSET)

        claim_answer = cls(
            holds=holds,
            epsilon=epsilon,
            log10_delta=log10_delta,
            margin_epsilon=margin_epsilon,
            margin_log10_delta=margin_log10_delta,
            delta=delta,
        )

        claim_answer.additional_properties = d
        return claim_answer

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

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.condition import Condition


T = TypeVar("T", bound="ReferenceAnswer")


@_attrs_define
class ReferenceAnswer:
    """Orders of growth of the excess risk for comparison, up to constants and logarithms.

    Attributes:
        theorem (str):
        non_private_scale (float):
        one_record_scale (float): order of the cost of local privacy, if each client had only one record
        central_scale (float): order of the excess risk if the server is trusted
        free_privacy_epsilon (float): √(d/n), for d coordinates of the model and n records of a client. For larger ε,
            local privacy costs no more than the sampling of the records, up to constants
        free_privacy (Condition): A condition of a theorem or of a guarantee. If it was evaluated, it has the values of
            both sides.
    """

    theorem: str
    non_private_scale: float
    one_record_scale: float
    central_scale: float
    free_privacy_epsilon: float
    free_privacy: Condition
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        non_private_scale = self.non_private_scale

        one_record_scale = self.one_record_scale

        central_scale = self.central_scale

        free_privacy_epsilon = self.free_privacy_epsilon

        free_privacy = self.free_privacy.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "non_private_scale": non_private_scale,
                "one_record_scale": one_record_scale,
                "central_scale": central_scale,
                "free_privacy_epsilon": free_privacy_epsilon,
                "free_privacy": free_privacy,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.condition import Condition

        d = dict(src_dict)
        theorem = d.pop("theorem")

        non_private_scale = d.pop("non_private_scale")

        one_record_scale = d.pop("one_record_scale")

        central_scale = d.pop("central_scale")

        free_privacy_epsilon = d.pop("free_privacy_epsilon")

        free_privacy = Condition.from_dict(d.pop("free_privacy"))

        reference_answer = cls(
            theorem=theorem,
            non_private_scale=non_private_scale,
            one_record_scale=one_record_scale,
            central_scale=central_scale,
            free_privacy_epsilon=free_privacy_epsilon,
            free_privacy=free_privacy,
        )

        reference_answer.additional_properties = d
        return reference_answer

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

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.unbounded import Unbounded

T = TypeVar("T", bound="SharingThreshold")


@_attrs_define
class SharingThreshold:
    """Rounds and ε at which sharing nothing has the least variance, at the least noise (Bietti et al., Lemma 4.6).

    Attributes:
        rounds (float): number of rounds from which on α = 0 (nothing is shared) has the smallest variance term of the
            bound
        epsilon (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
    """

    rounds: float
    epsilon: float | Unbounded
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        rounds = self.rounds

        epsilon: float | str
        if isinstance(self.epsilon, Unbounded):
            epsilon = self.epsilon.value
        else:
            epsilon = self.epsilon

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "rounds": rounds,
                "epsilon": epsilon,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        rounds = d.pop("rounds")

        def _parse_epsilon(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        epsilon = _parse_epsilon(d.pop("epsilon"))

        sharing_threshold = cls(
            rounds=rounds,
            epsilon=epsilon,
        )

        sharing_threshold.additional_properties = d
        return sharing_threshold

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

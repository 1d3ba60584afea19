from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Target")


@_attrs_define
class Target:
    """An ε that was claimed at the audit's δ.

    Attributes:
        epsilon (float): privacy loss bound ε of (ε, δ), natural logs
        delta (float | Unset): failure probability δ of (ε, δ); or absent where it is below every double
        log10_delta (float | Unset): base-10 logarithm of δ, for a δ below any double
    """

    epsilon: float
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        target = cls(
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
        )

        return target

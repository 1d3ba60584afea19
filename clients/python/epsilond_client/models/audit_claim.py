from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="AuditClaim")


@_attrs_define
class AuditClaim:
    """An ε that was claimed at the audit's δ."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        audit_claim = cls(
            epsilon=epsilon,
        )

        return audit_claim

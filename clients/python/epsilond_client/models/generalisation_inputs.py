from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="GeneralisationInputs")


@_attrs_define
class GeneralisationInputs:
    """An algorithm's stability, and its expected excess risk on the data at hand."""

    stability: float
    """ most that replacing one record changes the expected loss of the output """
    empirical_excess_risk: float
    """ expected loss above the least one """

    def to_dict(self) -> dict[str, Any]:
        stability = self.stability

        empirical_excess_risk = self.empirical_excess_risk

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "stability": stability,
                "empirical_excess_risk": empirical_excess_risk,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        stability = d.pop("stability")

        empirical_excess_risk = d.pop("empirical_excess_risk")

        generalisation_inputs = cls(
            stability=stability,
            empirical_excess_risk=empirical_excess_risk,
        )

        return generalisation_inputs

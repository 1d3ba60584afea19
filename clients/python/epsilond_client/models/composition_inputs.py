from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CompositionInputs")


@_attrs_define
class CompositionInputs:
    """Mechanisms to be run one after another, the whole list `times` over."""

    epsilons: list[float]
    """ ε of each mechanism, in any order """
    deltas: list[float]
    """ δ of each mechanism, in the same order; 0 for a pure one """
    slack_delta: float
    """ failure probability spent by composition itself """
    times: int | Unset = 1
    """ how often the mechanism is run """

    def to_dict(self) -> dict[str, Any]:
        epsilons = self.epsilons

        deltas = self.deltas

        slack_delta = self.slack_delta

        times = self.times

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilons": epsilons,
                "deltas": deltas,
                "slack_delta": slack_delta,
            }
        )
        if times is not UNSET:
            field_dict["times"] = times

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilons = cast(list[float], d.pop("epsilons"))

        deltas = cast(list[float], d.pop("deltas"))

        slack_delta = d.pop("slack_delta")

        times = d.pop("times", UNSET)

        composition_inputs = cls(
            epsilons=epsilons,
            deltas=deltas,
            slack_delta=slack_delta,
            times=times,
        )

        return composition_inputs

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RecursionInputs")


@_attrs_define
class RecursionInputs:
    """r_{t+1} ≤ (1 − aη) r_t − bη s_t + cη² for t = 0, …, T − 1, at every η ≤ 1/g."""

    contraction: float
    """ rate of the recursion, before the step size """
    variance: float
    """ variance of the recursion, before the squared step size """
    curvature: float
    """ one over the largest admissible step size """
    start: float
    """ first value of the recursion """
    rounds: int
    """ communication rounds """
    progress: float | Unset = 1.0
    """ weight of the excess in the recursion """

    def to_dict(self) -> dict[str, Any]:
        contraction = self.contraction

        variance = self.variance

        curvature = self.curvature

        start = self.start

        rounds = self.rounds

        progress = self.progress

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "contraction": contraction,
                "variance": variance,
                "curvature": curvature,
                "start": start,
                "rounds": rounds,
            }
        )
        if progress is not UNSET:
            field_dict["progress"] = progress

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        contraction = d.pop("contraction")

        variance = d.pop("variance")

        curvature = d.pop("curvature")

        start = d.pop("start")

        rounds = d.pop("rounds")

        progress = d.pop("progress", UNSET)

        recursion_inputs = cls(
            contraction=contraction,
            variance=variance,
            curvature=curvature,
            start=start,
            rounds=rounds,
            progress=progress,
        )

        return recursion_inputs

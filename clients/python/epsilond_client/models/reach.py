from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.solve_for import SolveFor

T = TypeVar("T", bound="Reach")


@_attrs_define
class Reach:
    """A question for the smallest value of one field at which the upper bound on the excess risk is at most `risk`.

    Attributes:
        risk (float): excess risk: expected loss of the trained model minus the least expected loss
        solve_for (SolveFor):
    """

    risk: float
    solve_for: SolveFor

    def to_dict(self) -> dict[str, Any]:
        risk = self.risk

        solve_for = self.solve_for.value

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "risk": risk,
                "solve_for": solve_for,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        risk = d.pop("risk")

        solve_for = SolveFor(d.pop("solve_for"))

        reach = cls(
            risk=risk,
            solve_for=solve_for,
        )

        return reach

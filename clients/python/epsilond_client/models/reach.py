from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.reach_solve_for import ReachSolveFor, check_reach_solve_for

T = TypeVar("T", bound="Reach")


@_attrs_define
class Reach:
    """The smallest value of one field at which an explicit bound on the excess risk is at most `risk`."""

    risk: float
    """ expected loss above the least one """
    solve_for: ReachSolveFor

    def to_dict(self) -> dict[str, Any]:
        risk = self.risk

        solve_for: str = self.solve_for

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

        solve_for = check_reach_solve_for(d.pop("solve_for"))

        reach = cls(
            risk=risk,
            solve_for=solve_for,
        )

        return reach

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="FiniteChannel")


@_attrs_define
class FiniteChannel:
    """A channel with finitely many inputs and outputs."""

    epsilon: float
    """ privacy loss ε ≥ 0, natural logs """
    rows: list[list[float]]
    """ rows of a channel: each is the law of the output at one input """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        rows = []
        for rows_item_data in self.rows:
            rows_item = rows_item_data

            rows.append(rows_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "rows": rows,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        rows = []
        _rows = d.pop("rows")
        for rows_item_data in _rows:
            rows_item = cast(list[float], rows_item_data)

            rows.append(rows_item)

        finite_channel = cls(
            epsilon=epsilon,
            rows=rows,
        )

        return finite_channel

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="BudgetInputs")


@_attrs_define
class BudgetInputs:
    """Clients with some records each, on a grid of 1/√d or √d/r."""

    participants: int
    """ clients that report in one round """
    dimension: int
    """ coordinates of the model """
    samples_per_client: int
    """ records of one client """
    growth_ratio: float
    """ largest norm of a record's gradient over that of its client's mean one """

    def to_dict(self) -> dict[str, Any]:
        participants = self.participants

        dimension = self.dimension

        samples_per_client = self.samples_per_client

        growth_ratio = self.growth_ratio

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "participants": participants,
                "dimension": dimension,
                "samples_per_client": samples_per_client,
                "growth_ratio": growth_ratio,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        participants = d.pop("participants")

        dimension = d.pop("dimension")

        samples_per_client = d.pop("samples_per_client")

        growth_ratio = d.pop("growth_ratio")

        budget_inputs = cls(
            participants=participants,
            dimension=dimension,
            samples_per_client=samples_per_client,
            growth_ratio=growth_ratio,
        )

        return budget_inputs

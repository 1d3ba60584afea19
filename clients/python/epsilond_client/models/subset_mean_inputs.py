from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="SubsetMeanInputs")


@_attrs_define
class SubsetMeanInputs:
    """m of N vectors of mean zero, drawn without replacement."""

    population: int
    """ how many records, or clients where clients are drawn, a batch is drawn from """
    batch_size: int
    """ records of one client per round """
    mean_square: float
    """ mean squared norm of the vectors """

    def to_dict(self) -> dict[str, Any]:
        population = self.population

        batch_size = self.batch_size

        mean_square = self.mean_square

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "population": population,
                "batch_size": batch_size,
                "mean_square": mean_square,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        population = d.pop("population")

        batch_size = d.pop("batch_size")

        mean_square = d.pop("mean_square")

        subset_mean_inputs = cls(
            population=population,
            batch_size=batch_size,
            mean_square=mean_square,
        )

        return subset_mean_inputs

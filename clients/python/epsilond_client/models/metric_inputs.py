from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="MetricInputs")


@_attrs_define
class MetricInputs:
    """True values, predictions, and the training mean."""

    values: list[float]
    """ true values of the test records """
    predictions: list[float]
    """ their predictions, in the same order """
    training_mean: float
    """ mean of the training records' true values """

    def to_dict(self) -> dict[str, Any]:
        values = self.values

        predictions = self.predictions

        training_mean = self.training_mean

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "values": values,
                "predictions": predictions,
                "training_mean": training_mean,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        values = cast(list[float], d.pop("values"))

        predictions = cast(list[float], d.pop("predictions"))

        training_mean = d.pop("training_mean")

        metric_inputs = cls(
            values=values,
            predictions=predictions,
            training_mean=training_mean,
        )

        return metric_inputs

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="QuantizedMessage")


@_attrs_define
class QuantizedMessage:
    """A client's message for one of two updates. The attacker knows both, and has to find out which was sent.

    Each coordinate is rounded at random to a multiple of 1/s, without bias, where s is `quantization_levels`. Then
    truncated discrete Laplace noise is added.

        Attributes:
            first (list[float]): one of the two updates, with ℓ2 norm at most 1, as a list of its coordinates
            second (list[float]): one of the two updates, with ℓ2 norm at most 1, as a list of its coordinates
            quantization_levels (int): number s of grid steps in a unit: coordinates in [−1, 1] are rounded to multiples of
                1/s
            noise_levels (int): largest absolute value of the integer noise, in grid steps
            decay_rate (float): decay rate α of the integer noise: the value y has probability proportional to e^(−α|y|)
    """

    first: list[float]
    second: list[float]
    quantization_levels: int
    noise_levels: int
    decay_rate: float

    def to_dict(self) -> dict[str, Any]:
        first = self.first

        second = self.second

        quantization_levels = self.quantization_levels

        noise_levels = self.noise_levels

        decay_rate = self.decay_rate

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "first": first,
                "second": second,
                "quantization_levels": quantization_levels,
                "noise_levels": noise_levels,
                "decay_rate": decay_rate,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        first = cast(list[float], d.pop("first"))

        second = cast(list[float], d.pop("second"))

        quantization_levels = d.pop("quantization_levels")

        noise_levels = d.pop("noise_levels")

        decay_rate = d.pop("decay_rate")

        quantized_message = cls(
            first=first,
            second=second,
            quantization_levels=quantization_levels,
            noise_levels=noise_levels,
            decay_rate=decay_rate,
        )

        return quantized_message

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="TrialsInputs")


@_attrs_define
class TrialsInputs:
    """The same, with the noise given."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float
    """ failure probability δ of (ε, δ) """
    dimension: int
    """ coordinates of the model """
    quantization_levels: int
    """ grid steps per unit: coordinates in [−1, 1] are rounded to multiples of 1/s """
    l1_sensitivity: float
    """ ℓ1 distance of the values on neighbouring data """
    l2_sensitivity: float
    """ ℓ2 distance of the values on neighbouring data """
    linf_sensitivity: float
    """ most that one coordinate differs between them """
    trials: int
    """ trials of the Binomial noise, each a fair coin """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        delta = self.delta

        dimension = self.dimension

        quantization_levels = self.quantization_levels

        l1_sensitivity = self.l1_sensitivity

        l2_sensitivity = self.l2_sensitivity

        linf_sensitivity = self.linf_sensitivity

        trials = self.trials

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "delta": delta,
                "dimension": dimension,
                "quantization_levels": quantization_levels,
                "l1_sensitivity": l1_sensitivity,
                "l2_sensitivity": l2_sensitivity,
                "linf_sensitivity": linf_sensitivity,
                "trials": trials,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        delta = d.pop("delta")

        dimension = d.pop("dimension")

        quantization_levels = d.pop("quantization_levels")

        l1_sensitivity = d.pop("l1_sensitivity")

        l2_sensitivity = d.pop("l2_sensitivity")

        linf_sensitivity = d.pop("linf_sensitivity")

        trials = d.pop("trials")

        trials_inputs = cls(
            epsilon=epsilon,
            delta=delta,
            dimension=dimension,
            quantization_levels=quantization_levels,
            l1_sensitivity=l1_sensitivity,
            l2_sensitivity=l2_sensitivity,
            linf_sensitivity=linf_sensitivity,
            trials=trials,
        )

        return trials_inputs

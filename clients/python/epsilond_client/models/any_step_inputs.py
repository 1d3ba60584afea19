from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="AnyStepInputs")


@_attrs_define
class AnyStepInputs:
    """A step size and the weighted problem: L_α, ‖z*‖_α and σ_{tot,α}."""

    rounds: int
    """ communication rounds """
    step_size: float
    """ step size """
    smoothness: float
    """ Lipschitz constant of the gradient """
    optimum_norm: float
    """ √(‖w*‖²/α + Σ‖θ_i*‖²), the distance that the bound pays for """
    gradient_std: float
    """ root mean square distance, at the optimum, of a record's shared gradient from its expected one """

    def to_dict(self) -> dict[str, Any]:
        rounds = self.rounds

        step_size = self.step_size

        smoothness = self.smoothness

        optimum_norm = self.optimum_norm

        gradient_std = self.gradient_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "rounds": rounds,
                "step_size": step_size,
                "smoothness": smoothness,
                "optimum_norm": optimum_norm,
                "gradient_std": gradient_std,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        rounds = d.pop("rounds")

        step_size = d.pop("step_size")

        smoothness = d.pop("smoothness")

        optimum_norm = d.pop("optimum_norm")

        gradient_std = d.pop("gradient_std")

        any_step_inputs = cls(
            rounds=rounds,
            step_size=step_size,
            smoothness=smoothness,
            optimum_norm=optimum_norm,
            gradient_std=gradient_std,
        )

        return any_step_inputs

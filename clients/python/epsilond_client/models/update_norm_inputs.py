from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="UpdateNormInputs")


@_attrs_define
class UpdateNormInputs:
    """E gradient steps of size η from a model where the gradient has this norm."""

    gradient_norm: float
    """ distance of two means """
    local_steps: int
    """ gradient steps of one client per round """
    step_size: float
    """ step size """
    smoothness: float
    """ Lipschitz constant of the gradient """

    def to_dict(self) -> dict[str, Any]:
        gradient_norm = self.gradient_norm

        local_steps = self.local_steps

        step_size = self.step_size

        smoothness = self.smoothness

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "gradient_norm": gradient_norm,
                "local_steps": local_steps,
                "step_size": step_size,
                "smoothness": smoothness,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        gradient_norm = d.pop("gradient_norm")

        local_steps = d.pop("local_steps")

        step_size = d.pop("step_size")

        smoothness = d.pop("smoothness")

        update_norm_inputs = cls(
            gradient_norm=gradient_norm,
            local_steps=local_steps,
            step_size=step_size,
            smoothness=smoothness,
        )

        return update_norm_inputs

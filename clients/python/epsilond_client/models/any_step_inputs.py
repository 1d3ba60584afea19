from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

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
    gradient_std: float
    """ root mean square distance, at the optimum, of a record's shared gradient from its expected one """
    weighted_optimum_norm: float | Unset = UNSET
    """ √(‖w*‖²/α + Σ‖θ_i*‖²), the distance that the bound pays for """
    optimum_norm: float | Unset = UNSET
    """ older name of weighted_optimum_norm here, √(‖w*‖²/α + Σ‖θ_i*‖²); give one of the two. Elsewhere optimum_norm
    is ‖v̄‖, the norm of the mean of the clients' own optima """

    def to_dict(self) -> dict[str, Any]:
        rounds = self.rounds

        step_size = self.step_size

        smoothness = self.smoothness

        gradient_std = self.gradient_std

        weighted_optimum_norm = self.weighted_optimum_norm

        optimum_norm = self.optimum_norm

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "rounds": rounds,
                "step_size": step_size,
                "smoothness": smoothness,
                "gradient_std": gradient_std,
            }
        )
        if weighted_optimum_norm is not UNSET:
            field_dict["weighted_optimum_norm"] = weighted_optimum_norm
        if optimum_norm is not UNSET:
            field_dict["optimum_norm"] = optimum_norm

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        rounds = d.pop("rounds")

        step_size = d.pop("step_size")

        smoothness = d.pop("smoothness")

        gradient_std = d.pop("gradient_std")

        weighted_optimum_norm = d.pop("weighted_optimum_norm", UNSET)

        optimum_norm = d.pop("optimum_norm", UNSET)

        any_step_inputs = cls(
            rounds=rounds,
            step_size=step_size,
            smoothness=smoothness,
            gradient_std=gradient_std,
            weighted_optimum_norm=weighted_optimum_norm,
            optimum_norm=optimum_norm,
        )

        return any_step_inputs

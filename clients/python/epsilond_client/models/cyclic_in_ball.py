from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CyclicInBall")


@_attrs_define
class CyclicInBall:
    """The same, projected onto a convex set of the given diameter; convex losses, c = 1."""

    sensitivity: float
    """ ℓ2 distance of the values on neighbouring data, at its largest """
    batch_size: int
    """ records in one batch; all of them for full gradients """
    noise_std: float
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """
    period: int
    """ batches in one pass; each record is in one of them """
    rounds: int
    """ communication rounds """
    step_size: float
    """ step size """
    diameter: float
    """ diameter of the domain """
    contraction: float | Unset = 1.0
    """ Lipschitz constant of a step's map, max(|1 − ηλ|, |1 − ηβ|) for η ≤ 2/β """

    def to_dict(self) -> dict[str, Any]:
        sensitivity = self.sensitivity

        batch_size = self.batch_size

        noise_std = self.noise_std

        period = self.period

        rounds = self.rounds

        step_size = self.step_size

        diameter = self.diameter

        contraction = self.contraction

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "sensitivity": sensitivity,
                "batch_size": batch_size,
                "noise_std": noise_std,
                "period": period,
                "rounds": rounds,
                "step_size": step_size,
                "diameter": diameter,
            }
        )
        if contraction is not UNSET:
            field_dict["contraction"] = contraction

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        sensitivity = d.pop("sensitivity")

        batch_size = d.pop("batch_size")

        noise_std = d.pop("noise_std")

        period = d.pop("period")

        rounds = d.pop("rounds")

        step_size = d.pop("step_size")

        diameter = d.pop("diameter")

        contraction = d.pop("contraction", UNSET)

        cyclic_in_ball = cls(
            sensitivity=sensitivity,
            batch_size=batch_size,
            noise_std=noise_std,
            period=period,
            rounds=rounds,
            step_size=step_size,
            diameter=diameter,
            contraction=contraction,
        )

        return cyclic_in_ball

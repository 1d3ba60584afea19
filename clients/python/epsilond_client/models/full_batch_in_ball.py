from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="FullBatchInBall")


@_attrs_define
class FullBatchInBall:
    """The same, projected onto a convex set of the given diameter; convex losses, c = 1."""

    sensitivity: float
    """ ℓ2 distance of the values on neighbouring data, at its largest """
    population: int
    """ how many records, or clients where clients are drawn, a batch is drawn from """
    noise_std: float
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """
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

        population = self.population

        noise_std = self.noise_std

        rounds = self.rounds

        step_size = self.step_size

        diameter = self.diameter

        contraction = self.contraction

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "sensitivity": sensitivity,
                "population": population,
                "noise_std": noise_std,
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

        population = d.pop("population")

        noise_std = d.pop("noise_std")

        rounds = d.pop("rounds")

        step_size = d.pop("step_size")

        diameter = d.pop("diameter")

        contraction = d.pop("contraction", UNSET)

        full_batch_in_ball = cls(
            sensitivity=sensitivity,
            population=population,
            noise_std=noise_std,
            rounds=rounds,
            step_size=step_size,
            diameter=diameter,
            contraction=contraction,
        )

        return full_batch_in_ball

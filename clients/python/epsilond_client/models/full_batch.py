from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="FullBatch")


@_attrs_define
class FullBatch:
    """X ← X − η(∇F(X) + Z), Z ~ N(0, σ²I), F the mean of n losses."""

    sensitivity: float
    """ ℓ2 distance of the values on neighbouring data, at its largest """
    population: int
    """ how many records, or clients where clients are drawn, a batch is drawn from """
    noise_std: float
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """
    contraction: float
    """ Lipschitz constant of a step's map, max(|1 − ηλ|, |1 − ηβ|) for η ≤ 2/β """
    rounds: int
    """ communication rounds """

    def to_dict(self) -> dict[str, Any]:
        sensitivity = self.sensitivity

        population = self.population

        noise_std = self.noise_std

        contraction = self.contraction

        rounds = self.rounds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "sensitivity": sensitivity,
                "population": population,
                "noise_std": noise_std,
                "contraction": contraction,
                "rounds": rounds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        sensitivity = d.pop("sensitivity")

        population = d.pop("population")

        noise_std = d.pop("noise_std")

        contraction = d.pop("contraction")

        rounds = d.pop("rounds")

        full_batch = cls(
            sensitivity=sensitivity,
            population=population,
            noise_std=noise_std,
            contraction=contraction,
            rounds=rounds,
        )

        return full_batch

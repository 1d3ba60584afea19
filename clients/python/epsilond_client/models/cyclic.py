from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Cyclic")


@_attrs_define
class Cyclic:
    """X ← X − η(mean gradient of batch k mod l + Z), `rounds` passes over l fixed disjoint batches of b records."""

    sensitivity: float
    """ ℓ2 distance of the values on neighbouring data, at its largest """
    batch_size: int
    """ records in one batch; all of them for full gradients """
    noise_std: float
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """
    contraction: float
    """ Lipschitz constant of a step's map, max(|1 − ηλ|, |1 − ηβ|) for η ≤ 2/β """
    period: int
    """ batches in one pass; each record is in one of them """
    rounds: int
    """ communication rounds """

    def to_dict(self) -> dict[str, Any]:
        sensitivity = self.sensitivity

        batch_size = self.batch_size

        noise_std = self.noise_std

        contraction = self.contraction

        period = self.period

        rounds = self.rounds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "sensitivity": sensitivity,
                "batch_size": batch_size,
                "noise_std": noise_std,
                "contraction": contraction,
                "period": period,
                "rounds": rounds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        sensitivity = d.pop("sensitivity")

        batch_size = d.pop("batch_size")

        noise_std = d.pop("noise_std")

        contraction = d.pop("contraction")

        period = d.pop("period")

        rounds = d.pop("rounds")

        cyclic = cls(
            sensitivity=sensitivity,
            batch_size=batch_size,
            noise_std=noise_std,
            contraction=contraction,
            period=period,
            rounds=rounds,
        )

        return cyclic

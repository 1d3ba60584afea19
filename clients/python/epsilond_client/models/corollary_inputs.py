from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="CorollaryInputs")


@_attrs_define
class CorollaryInputs:
    """A run of K rounds."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float
    """ failure probability δ of (ε, δ) """
    rounds: int
    """ communication rounds """
    dimension: int
    """ coordinates of the model """
    growth_ratio: float
    """ largest norm of a record's gradient over that of its client's mean one """
    samples_per_client: int
    """ records of one client """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        delta = self.delta

        rounds = self.rounds

        dimension = self.dimension

        growth_ratio = self.growth_ratio

        samples_per_client = self.samples_per_client

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "delta": delta,
                "rounds": rounds,
                "dimension": dimension,
                "growth_ratio": growth_ratio,
                "samples_per_client": samples_per_client,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        delta = d.pop("delta")

        rounds = d.pop("rounds")

        dimension = d.pop("dimension")

        growth_ratio = d.pop("growth_ratio")

        samples_per_client = d.pop("samples_per_client")

        corollary_inputs = cls(
            epsilon=epsilon,
            delta=delta,
            rounds=rounds,
            dimension=dimension,
            growth_ratio=growth_ratio,
            samples_per_client=samples_per_client,
        )

        return corollary_inputs

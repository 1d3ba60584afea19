from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.relation import Relation, check_relation

T = TypeVar("T", bound="RareStepsInputs")


@_attrs_define
class RareStepsInputs:
    """A Poisson-subsampled Gaussian, run so many times, and the ε at which its δ is asked for."""

    rate: float
    """ probability that a given record, or client where clients are drawn, is in a batch """
    noise_multiplier: float
    """ σ over the bound on the ℓ2 norm of one contribution to the noisy quantity, never over the sensitivity """
    rounds: int
    """ communication rounds """
    relation: Relation
    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """

    def to_dict(self) -> dict[str, Any]:
        rate = self.rate

        noise_multiplier = self.noise_multiplier

        rounds = self.rounds

        relation: str = self.relation

        epsilon = self.epsilon

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "rate": rate,
                "noise_multiplier": noise_multiplier,
                "rounds": rounds,
                "relation": relation,
                "epsilon": epsilon,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        rate = d.pop("rate")

        noise_multiplier = d.pop("noise_multiplier")

        rounds = d.pop("rounds")

        relation = check_relation(d.pop("relation"))

        epsilon = d.pop("epsilon")

        rare_steps_inputs = cls(
            rate=rate,
            noise_multiplier=noise_multiplier,
            rounds=rounds,
            relation=relation,
            epsilon=epsilon,
        )

        return rare_steps_inputs

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.relation import Relation, check_relation

T = TypeVar("T", bound="GaussianInputs")


@_attrs_define
class GaussianInputs:
    """One release of the Gaussian mechanism."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    noise_multiplier: float
    """ σ over the bound on the ℓ2 norm of one contribution to the noisy quantity, never over the sensitivity """
    relation: Relation

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        noise_multiplier = self.noise_multiplier

        relation: str = self.relation

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "noise_multiplier": noise_multiplier,
                "relation": relation,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        noise_multiplier = d.pop("noise_multiplier")

        relation = check_relation(d.pop("relation"))

        gaussian_inputs = cls(
            epsilon=epsilon,
            noise_multiplier=noise_multiplier,
            relation=relation,
        )

        return gaussian_inputs

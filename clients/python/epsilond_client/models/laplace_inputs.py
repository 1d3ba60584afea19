from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.relation import Relation, check_relation

T = TypeVar("T", bound="LaplaceInputs")


@_attrs_define
class LaplaceInputs:
    """One release of the Laplace mechanism."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    scale_multiplier: float
    """ Laplace scale over the bound on the ℓ1 norm of one contribution (never over the sensitivity) """
    relation: Relation

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        scale_multiplier = self.scale_multiplier

        relation: str = self.relation

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "scale_multiplier": scale_multiplier,
                "relation": relation,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        scale_multiplier = d.pop("scale_multiplier")

        relation = check_relation(d.pop("relation"))

        laplace_inputs = cls(
            epsilon=epsilon,
            scale_multiplier=scale_multiplier,
            relation=relation,
        )

        return laplace_inputs
